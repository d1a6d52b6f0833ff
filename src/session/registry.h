/* SPDX-License-Identifier: Apache-2.0 */
/* Owner of aclprofConfig handles. A handle is never dereferenced: it encodes a slot and a
 * generation, so that stale, foreign and destroyed handles are told apart from live ones. */
#ifndef AP_SESSION_REGISTRY_H_
#define AP_SESSION_REGISTRY_H_

#include <stdbool.h>
#include <stdint.h>

#include "acl/acl_prof.h"

#define AP_MAX_DEVICES 64u

typedef struct ap__config {
    uint32_t device_count;
    uint32_t devices[AP_MAX_DEVICES];
    int32_t metrics;
    uint64_t requested;  /* mask as the caller gave it */
    uint64_t data_types; /* after the expansion rules */
} ap__config;

/* Whether a value looks like a handle of ours, live or not: then it is no address. */
bool ap__registry_is_handle(const void *value);
/* NULL when out of memory. */
aclprofConfig *ap__registry_add(const ap__config *config);
/* Copies the config; false when the handle is not live. */
bool ap__registry_get(const aclprofConfig *handle, ap__config *out);
/* false when the handle is not live (never made here, or destroyed already). */
bool ap__registry_remove(const aclprofConfig *handle);
/* true when the handle was once valid and has been destroyed (for the text). */
bool ap__registry_was_destroyed(const aclprofConfig *handle);

/* Around fork: hold the registry's lock over it. */
void ap__registry_prefork(void);
void ap__registry_postfork(void);

#endif
