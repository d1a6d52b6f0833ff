/* SPDX-License-Identifier: Apache-2.0 */
/* Clock choice, snapshots with error bound, and cycles → nanoseconds. */
#ifndef AP_CLOCK_CLOCK_H_
#define AP_CLOCK_CLOCK_H_

#include <stdint.h>

#include "clock/cycles.h"
#include "ring/arena_layout.h"

/* Chooses the clock; idempotent, thread-safe. ACLPROF_CLOCK=raw forces CLOCK_MONOTONIC_RAW. */
void ap__clock_init(void);

/* Reads all clocks, bracketed by the cycle counter; the tightest of several tries. */
void ap__clock_read(ap__clock_point *out);

/* A straight line between two points; converts cycles near or between them. */
typedef struct ap__clock_line {
    uint64_t cycles0;
    uint64_t ns0;
    uint64_t mult; /* ns per cycle, 16.48 fixed point */
} ap__clock_line;

/* b must lie after a (equal: the line is flat at a, mult 0; is_ns: mult is exactly 1). */
void ap__clock_line_make(ap__clock_line *line, const ap__clock_point *a, const ap__clock_point *b,
                         uint32_t is_ns);

static inline uint64_t ap__clock_line_ns(const ap__clock_line *line, uint64_t cycles)
{
    int64_t d = (int64_t)(cycles - line->cycles0);
    __int128 ns = ((__int128)d * (__int128)line->mult) >> 48;

    return line->ns0 + (uint64_t)(int64_t)ns;
}

#endif
