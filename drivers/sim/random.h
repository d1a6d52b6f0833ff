/* SPDX-License-Identifier: Apache-2.0 */
/* A small generator: the same numbers from the same seed everywhere. */
#ifndef AP_SIM_RANDOM_H_
#define AP_SIM_RANDOM_H_

#include <stdint.h>

static inline uint64_t ap__sim_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline uint64_t ap__sim_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return ap__sim_mix(*state);
}

/* [0, 1) */
static inline double ap__sim_random_unit(uint64_t *state)
{
    return (double)(ap__sim_random(state) >> 11) * 0x1p-53;
}

/* [0, n) */
static inline uint32_t ap__sim_random_below(uint64_t *state, uint32_t n)
{
    return n == 0 ? 0 : (uint32_t)((ap__sim_random(state) >> 32) * n >> 32);
}

#endif
