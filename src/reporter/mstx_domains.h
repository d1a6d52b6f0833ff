/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Domains of mstx. A handle is never dereferenced; one name has one handle while it is created more
 * often than destroyed. ACLPROF_MSTX_DOMAIN_INCLUDE and _EXCLUDE, lists of names with commas, say
 * whose marks a capture takes: all, or those of the one list, less those of the other. So do the
 * lists of a configuration, which come first.
 */
#ifndef AP_REPORTER_MSTX_DOMAINS_H_
#define AP_REPORTER_MSTX_DOMAINS_H_

#include <stdbool.h>
#include <stdint.h>

/* The domain of calls without one, "default"; no program has this handle. */
#define AP_MSTX_DEFAULT ((void *)((uintptr_t)0x5AC4 << 48))

/* Whether mstx takes a text: not empty, and nothing that a spreadsheet would take for a formula. */
bool ap__mstx_text_ok(const char *text);

/* NULL: bad name, 1024 bytes or longer, "default", or too many domains. */
void *ap__mstx_domain_create(const char *name);
void ap__mstx_domain_destroy(void *handle);

/* Id of the name of a live domain; false: there is none of this handle. */
bool ap__mstx_domain_id(void *handle, uint64_t *id);
/* The same, and whether the capture of that gate key wants its marks. */
bool ap__mstx_domain_wanted(void *handle, uint64_t key, uint64_t *id);

/* Lists for captures that begin from now on, at most 1024 bytes each; both empty: those of the
 * environment. */
void ap__mstx_choose(const char *include, const char *exclude);

void ap__mstx_domains_child(void);

#endif
