/* SPDX-License-Identifier: Apache-2.0 */
/* The control files of host/: who was profiled, and how to turn record times into nanoseconds. */
#ifndef AP_READER_META_H_
#define AP_READER_META_H_

#include <stdbool.h>
#include <stdint.h>

#include "reader/notes.h"

/* A record's time is either CLOCK_MONOTONIC_RAW ns already, or ticks of a counter:
 * ns = (ticks - cntvct + cntvct_diff) * 1000 / MHz + clock_monotonic_raw, all in integers. */
typedef struct ap__host_clock {
    bool is_ticks;
    uint64_t mhz;       /* the frequency is mhz / mhz_scale MHz */
    uint64_t mhz_scale; /* a power of ten */
    uint64_t cntvct;
    int64_t cntvct_diff;
    uint64_t mono_raw_ns; /* at cntvct */
    bool has_wall;
    int64_t wall_offset_ns; /* wall clock minus CLOCK_MONOTONIC_RAW */
} ap__host_clock;

typedef struct ap__meta {
    bool has_info;
    bool has_sample;
    bool has_start;
    bool has_end;
    bool has_host_start;
    char host_name[128];
    char host_uid[64];
    char os[128];
    char process_name[256];
    char platform_version[16];
    char cann_version[64];
    char devices[128]; /* of sample.json */
    uint32_t pid;
    uint32_t cpus;        /* of the machine; 0: not told, as the next three */
    uint32_t clock_ticks; /* a second, of CPU times */
    uint64_t memory_kb;
    uint64_t net_mbit; /* of all cards together */
    uint32_t disk_hz;  /* samples of disk use a second; 0: not told */
    int64_t rank;
    uint64_t begin_wall_us; /* of start_info */
    uint64_t begin_mono_ns;
    uint64_t end_wall_us; /* of end_info, 0 when there is none */
    uint64_t end_mono_ns;
    ap__host_clock clock;
} ap__meta;

/* "100.000000" MHz into the clock; "" or 0: its times are nanoseconds. A note when it is neither.
 */
void ap__host_clock_parse_mhz(const char *text, ap__host_clock *clock, ap__notes *notes);
/* The pair clock_monotonic_raw and cntvct of a start log, which is changed. Bits: 1 and 2, which of
 * them were there. */
unsigned ap__host_clock_parse_log(char *text, ap__host_clock *clock);

/* Reads what is there; what is missing or damaged makes a note. */
void ap__meta_read(int host_fd, ap__meta *meta, ap__notes *notes);

/* CLOCK_MONOTONIC_RAW ns of a record's time. */
uint64_t ap__host_clock_ns(const ap__host_clock *clock, uint64_t time);
/* Wall clock ns since 1970 of CLOCK_MONOTONIC_RAW ns; the value itself without has_wall. */
uint64_t ap__host_clock_wall_ns(const ap__host_clock *clock, uint64_t mono_raw_ns);

#endif
