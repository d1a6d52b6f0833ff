/* SPDX-License-Identifier: Apache-2.0 */
/* Where the device's clocks stand against the host's. */
#ifndef AP_COLLECTOR_CLOCK_SAMPLE_H_
#define AP_COLLECTOR_CLOCK_SAMPLE_H_

#include <stdint.h>

#include "drivers/hal.h"

typedef struct ap__device_point {
    uint64_t host_ns; /* CLOCK_MONOTONIC_RAW */
    uint64_t host_cycles;
    uint64_t device_ns;
    uint64_t device_cycles;
    uint64_t error_ns; /* |host_ns - the moment of the device's reading| is at most this */
} ap__device_point;

/* The vendor's rule for the start files: `warm_ups` readings thrown away, then the tightest of
 * `rounds`. ap__hal_rc. */
int ap__device_point_read(const ap__hal_ops *ops, void *driver, uint32_t device, unsigned warm_ups,
                          unsigned rounds, ap__device_point *out);

#define AP_START_WARM_UPS 5u
#define AP_START_ROUNDS 5u

#endif
