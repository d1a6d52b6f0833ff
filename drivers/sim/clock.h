/* SPDX-License-Identifier: Apache-2.0 */
/* The two clocks of a device as functions of the host's CLOCK_MONOTONIC_RAW. */
#ifndef AP_SIM_CLOCK_H_
#define AP_SIM_CLOCK_H_

#include <stdint.h>

#define AP_SIM_CLOCK_STEPS 8u

typedef struct ap__sim_clock {
    uint64_t t0_ns;   /* host's */
    uint64_t cycles0; /* of the device then */
    uint64_t ns0;
    uint32_t khz;
    int32_t ppm;   /* error of the counter */
    int32_t nsppm; /* and of the nanoseconds */
    uint32_t steps;
    struct {
        uint64_t at_ns; /* host's */
        int64_t cycles;
    } step[AP_SIM_CLOCK_STEPS];
} ap__sim_clock;

/* wrap_ms: when the low 32 bits of the counter pass 0; 0: no matter. */
void ap__sim_clock_open(ap__sim_clock *clock, uint64_t now_ns, uint32_t khz, int32_t ppm,
                        int32_t nsppm, uint32_t wrap_ms, uint64_t random);

uint64_t ap__sim_clock_cycles(const ap__sim_clock *clock, uint64_t host_ns);
uint64_t ap__sim_clock_ns(const ap__sim_clock *clock, uint64_t host_ns);

#endif
