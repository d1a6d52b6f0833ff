/* SPDX-License-Identifier: Apache-2.0 */
/* The one clock of the stamp path: the CPU's cycle counter where it is invariant, else
 * CLOCK_MONOTONIC_RAW in nanoseconds. Chosen once, before the first capture records. */
#ifndef AP_CLOCK_CYCLES_H_
#define AP_CLOCK_CYCLES_H_

#include <stdint.h>
#include <time.h>

/* set by ap__clock_init(); read-only afterwards */
extern uint32_t ap__clock_is_ns __attribute__((visibility("hidden")));

static inline uint64_t ap__mono_raw_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* For deadlines: what pthread_cond_timedwait and clock_nanosleep of CLOCK_MONOTONIC count by. */
static inline uint64_t ap__now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000u + (uint64_t)ts.tv_nsec / 1000000u;
}

/* The counter itself; only where ap__clock_is_ns is 0. */
static inline uint64_t ap__counter(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t v;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
    return v;
#else
    return ap__mono_raw_ns();
#endif
}

static inline uint64_t ap__cycles(void)
{
    return __builtin_expect(ap__clock_is_ns == 0, 1) ? ap__counter() : ap__mono_raw_ns();
}

#endif
