/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer's clock: one function from cycles to nanoseconds, a chain of straight lines. What has
 * been converted once is frozen: the same cycles give the same time whenever they are converted
 * again, so that a range ends up around what happened inside it, however much later it is written.
 * The function is continuous, never runs backwards, and is steered to stay within the snapshots'
 * error of CLOCK_MONOTONIC_RAW.
 */
#ifndef AP_WRITER_CONVERT_H_
#define AP_WRITER_CONVERT_H_

#include <stdint.h>

#include "clock/clock.h"

#define AP_CONVERT_KNOTS 4096u
#define AP_CONVERT_POINTS 4096u

typedef struct ap__convert {
    uint32_t is_ns;
    ap__clock_line line; /* the newest: from the last knot on */
    uint64_t frozen;     /* cycles up to which times have been given out */
    ap__clock_point start;
    ap__clock_point last; /* newest snapshot */

    ap__clock_line knots[AP_CONVERT_KNOTS]; /* where each line begins, oldest first */
    uint32_t knot_count;

    ap__clock_point points[AP_CONVERT_POINTS]; /* snapshots for the account, a second apart */
    uint32_t point_count;
    uint64_t spacing_ns; /* doubles when they are too many */
} ap__convert;

/* `ready` lies a little after start and gives the first rate. */
void ap__convert_init(ap__convert *c, const ap__clock_point *start, const ap__clock_point *ready,
                      uint32_t is_ns);
/* Takes note of a snapshot; cycles up to it may be converted from now on. */
void ap__convert_note(ap__convert *c, const ap__clock_point *now);
/* The same with a snapshot of this moment. */
void ap__convert_advance(ap__convert *c);
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
