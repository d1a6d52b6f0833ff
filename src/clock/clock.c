/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "clock/clock.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define AP_READ_TRIES 8

uint32_t ap__clock_is_ns = 1;
static _Atomic uint32_t ap__clock_chosen;

#if defined(__x86_64__)
/* The kernel moves away from the TSC when it finds it unstable; its choice is the best witness. */
static bool ap__kernel_distrusts_tsc(void)
{
    static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    char name[32] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = 0;

    if (fd < 0) {
        return false;
    }
    n = read(fd, name, sizeof(name) - 1);
    close(fd);
    if (n <= 0) {
        return false;
    }
    return strncmp(name, "hpet", 4) == 0 || strncmp(name, "acpi_pm", 7) == 0 ||
           strncmp(name, "refined-jiffies", 15) == 0;
}

static bool ap__counter_is_invariant(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;

    if (__get_cpuid(0x80000007u, &a, &b, &c, &d) == 0 || (d & (1u << 8)) == 0) {
        return false;
    }
    return !ap__kernel_distrusts_tsc();
}
#elif defined(__aarch64__)
static bool ap__counter_is_invariant(void)
{
    return true; /* the generic timer is, by the architecture */
}
#else
static bool ap__counter_is_invariant(void)
{
    return false;
}
#endif

void ap__clock_init(void)
{
    const char *want = NULL;

    if (atomic_load_explicit(&ap__clock_chosen, memory_order_acquire) != 0) {
        return;
    }
    want = secure_getenv("ACLPROF_CLOCK");
    if (!(want != NULL && strcmp(want, "raw") == 0) && ap__counter_is_invariant()) {
        ap__clock_is_ns = 0;
    }
    atomic_store_explicit(&ap__clock_chosen, 1, memory_order_release);
}

static uint64_t ap__read_ns(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Value of clock `id` at the moment when CLOCK_MONOTONIC_RAW was `raw`. */
static uint64_t ap__at_raw(clockid_t id, uint64_t raw)
{
    uint64_t before = ap__mono_raw_ns();
    uint64_t value = ap__read_ns(id);
    uint64_t after = ap__mono_raw_ns();

    return value - (before + (after - before) / 2 - raw);
}

void ap__clock_read(ap__clock_point *out)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < AP_READ_TRIES; i++) {
        uint64_t before = ap__mono_raw_ns();
        uint64_t cycles = ap__cycles();
        uint64_t after = ap__mono_raw_ns();

        if (after - before < best) {
            best = after - before;
            out->cycles = cycles;
            out->mono_raw_ns = before + best / 2;
            out->error_ns = best / 2 + 1;
        }
    }
    if (ap__clock_is_ns != 0) {
        out->mono_raw_ns = out->cycles;
        out->error_ns = 0;
    }
    out->mono_ns = ap__at_raw(CLOCK_MONOTONIC, out->mono_raw_ns);
    out->real_ns = ap__at_raw(CLOCK_REALTIME, out->mono_raw_ns);
}

void ap__clock_line_make(ap__clock_line *line, const ap__clock_point *a, const ap__clock_point *b,
                         uint32_t is_ns)
{
    line->cycles0 = a->cycles;
    line->ns0 = a->mono_raw_ns;
    if (is_ns != 0) {
        line->mult = (uint64_t)1 << 48;
    } else if (b->cycles <= a->cycles || b->mono_raw_ns <= a->mono_raw_ns) {
        line->mult = 0;
    } else {
        unsigned __int128 ns = (unsigned __int128)(b->mono_raw_ns - a->mono_raw_ns) << 48;

        line->mult = (uint64_t)(ns / (b->cycles - a->cycles));
    }
}
