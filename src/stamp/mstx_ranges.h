/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of mstx that are open. Their ids have nothing in the low half, where those of
 * aclprofRangeStart have theirs: neither kind can be taken for the other. A signal handler that
 * interrupts a call here gets no range.
 */
#ifndef AP_STAMP_MSTX_RANGES_H_
#define AP_STAMP_MSTX_RANGES_H_

#include <stddef.h>
#include <stdint.h>

#define AP_MSTX_TEXT 176u /* longer ones are malloc'ed */

typedef struct ap__mstx_range {
    struct ap__mstx_range *next;
    uint64_t id;
    uint64_t key;    /* the gate's, of its capture */
    uint64_t domain; /* id of its name */
    uint64_t mark_id;
    uint64_t start_ns;
    void *stream;
    char *text; /* not terminated */
    size_t length;
    uint32_t thread;
    char room[AP_MSTX_TEXT];
} ap__mstx_range;

/* Keeps a copy, with the text, and gives its id; 0 without memory. */
uint64_t ap__mstx_range_open(const ap__mstx_range *range, const char *text, size_t length);
/* Takes out the range of an id, when it is of the domain; NULL: there is none. The caller frees it. */
ap__mstx_range *ap__mstx_range_take(uint64_t id, uint64_t domain);
void ap__mstx_range_free(ap__mstx_range *range);

/* Ends those of a capture without a record; returns how many. */
uint64_t ap__mstx_ranges_void(uint64_t key);
/* A child of fork has none. */
void ap__mstx_ranges_child(void);

#endif
