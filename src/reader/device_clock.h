/* SPDX-License-Identifier: Apache-2.0 */
/* A device's clock against the host's, from the snapshots that a capture of this library takes once
 * a second: one straight line where the drift is even, else a line between each two of them. */
#ifndef AP_READER_DEVICE_CLOCK_H_
#define AP_READER_DEVICE_CLOCK_H_

#include <stdbool.h>
#include <stdint.h>

#include "reader/notes.h"

typedef struct ap__clock_pair {
    uint64_t device_cycles;
    uint64_t host_ns; /* CLOCK_MONOTONIC_RAW */
    uint64_t error_ns;
} ap__clock_pair;

typedef struct ap__device_clock {
    uint32_t count; /* 0: nothing is known */
    ap__clock_pair *points; /* by cycles; a straight line has two */
    uint32_t snapshots;
    uint64_t error_ns; /* bound of what ap__device_clock_ns gives within the capture */
} ap__device_clock;

/* From host/.aclprof/devices.json; nothing known is no error. 0 or ENOMEM. */
int ap__device_clock_read(ap__device_clock *clock, int ext_fd, uint32_t device, ap__notes *notes);
/* The same from points in any order, which become the clock's. */
int ap__device_clock_fit(ap__device_clock *clock, ap__clock_pair *points, uint32_t count);
/* CLOCK_MONOTONIC_RAW of device cycles; count must be 2 or more. */
uint64_t ap__device_clock_ns(const ap__device_clock *clock, uint64_t cycles);
void ap__device_clock_free(ap__device_clock *clock);

#endif
