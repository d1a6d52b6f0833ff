/* SPDX-License-Identifier: Apache-2.0 */
/* The writer's clock: a chain of straight lines from snapshot to snapshot, so that converted
 * times are continuous, never run backwards, and are off by no more than the snapshots are. */
#ifndef AP_WRITER_CONVERT_H_
#define AP_WRITER_CONVERT_H_

#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"

#define AP_CONVERT_POINTS 4096u

typedef struct ap__convert {
    uint32_t is_ns;
    ap__clock_point from; /* ends of the newest line */
    ap__clock_point to;
    ap__clock_line line;
    ap__clock_point points[AP_CONVERT_POINTS]; /* history, at least a second apart */
    uint32_t point_count;
    uint64_t spacing_ns; /* doubles when the history is full */
} ap__convert;

void ap__convert_init(ap__convert *c, const ap__clock_point *start, uint32_t is_ns);
/* Takes a snapshot: the newest line now ends here. */
void ap__convert_advance(ap__convert *c);
/* Keeps the newest line's beginning in the history when it is time for that. */
void ap__convert_note(ap__convert *c);
/* For cycles before the newest line. */
uint64_t ap__convert_old(const ap__convert *c, uint64_t cycles);

static inline uint64_t ap__convert_ns(const ap__convert *c, uint64_t cycles)
{
    if (__builtin_expect((int64_t)(cycles - c->line.cycles0) < 0, 0)) {
        return ap__convert_old(c, cycles);
    }
    return ap__clock_line_ns(&c->line, cycles);
}

#endif
