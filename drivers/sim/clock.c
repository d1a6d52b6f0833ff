/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sim/clock.h"

#include <string.h>

#include "drivers/sim/random.h"

void ap__sim_clock_open(ap__sim_clock *clock, uint64_t now_ns, uint32_t khz, int32_t ppm,
                        int32_t nsppm, uint32_t wrap_ms, uint64_t random)
{
    memset(clock, 0, sizeof(*clock));
    clock->t0_ns = now_ns;
    clock->khz = khz;
    clock->ppm = ppm;
    clock->nsppm = nsppm;
    /* far from 0, and below 2^53: readers of the data go through double */
    clock->cycles0 = (UINT64_C(1) << 40) + ap__sim_mix(random) % (UINT64_C(1) << 42);
    clock->ns0 = UINT64_C(1000000000) + ap__sim_mix(random + 1) % UINT64_C(1000000000000000);
    if (wrap_ms != 0) {
        clock->cycles0 = (clock->cycles0 >> 32 << 32) - (uint64_t)khz * wrap_ms;
    }
}

static int64_t ap__scaled(int64_t ns, int64_t khz, int64_t ppm)
{
    return (int64_t)((__int128)ns * khz * (1000000 + ppm) / 1000000000000);
}

uint64_t ap__sim_clock_cycles(const ap__sim_clock *clock, uint64_t host_ns)
{
    int64_t elapsed = (int64_t)(host_ns - clock->t0_ns);
    uint64_t cycles = clock->cycles0 + (uint64_t)ap__scaled(elapsed, clock->khz, clock->ppm);

    for (uint32_t i = 0; i < clock->steps; i++) {
        if (host_ns >= clock->step[i].at_ns) {
            cycles += (uint64_t)clock->step[i].cycles;
        }
    }
    return cycles;
}

uint64_t ap__sim_clock_ns(const ap__sim_clock *clock, uint64_t host_ns)
{
    int64_t elapsed = (int64_t)(host_ns - clock->t0_ns);

    return clock->ns0 + (uint64_t)ap__scaled(elapsed, 1000000, clock->nsppm);
}
