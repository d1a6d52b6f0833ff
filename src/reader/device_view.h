/* SPDX-License-Identifier: Apache-2.0 */
/* The device_<n>/ directories of a PROF_* directory. */
#ifndef AP_READER_DEVICE_VIEW_H_
#define AP_READER_DEVICE_VIEW_H_

#include <stdbool.h>
#include <stdint.h>

#include "reader/device_clock.h"
#include "reader/meta.h"
#include "reader/reader.h"
#include "reader/slice_cursor.h"
#include "reader/sources.h"

typedef struct ap__device_view {
    uint32_t device;
    int fd;
    int data_fd; /* -1: none */
    uint32_t chip;
    uint32_t aic_mhz;
    uint32_t aiv_mhz;
    uint32_t aic_num;
    uint32_t aiv_num;
    bool simulated;
    bool finished; /* there is an end_info */
    bool pmu_by_task;
    char metrics[64]; /* of sample.json: "PipeUtilization", "" */
    char qos_events[256]; /* the same: names, with commas between */
    uint32_t l2_events[8]; /* numbers of the counters in l2_cache.data, in their order */
    uint32_t l2_event_count;
    ap__host_clock
        clock; /* device cycles to the host's CLOCK_MONOTONIC_RAW, and that to wall clock */
    ap__device_clock precise; /* of an aligned reader (ap__reader_align), else empty */
    uint64_t mono_raw_ns; /* the device's CLOCK_MONOTONIC_RAW when the clocks were compared */
    char ctrl_cpu[64];    /* "0": the cores that run the system, and the AI CPU's */
    char ai_cpu[64];
    ap__sources sources;
} ap__device_view;

/* All of them, by number; at most `max`. What is missing or damaged makes a note of the reader. */
uint32_t ap__device_views_open(ap__reader *reader, ap__device_view *views, uint32_t max);
void ap__device_views_close(ap__device_view *views, uint32_t count);

/* Ends the directory of a device whose capture was killed: torn records are cut, .done files and
 * end_info written. ext_fd: host/.aclprof. 0 or errno. */
int ap__device_view_finish(ap__device_view *view, int ext_fd, const ap__clock_point *end,
                           ap__notes *notes);

/* Wall clock, ns since 1970, of device cycles. */
uint64_t ap__device_wall_ns(const ap__device_view *view, uint64_t cycles);

/* … of the device's CLOCK_MONOTONIC_RAW. */
uint64_t ap__device_mono_wall_ns(const ap__device_view *view, uint64_t mono_ns);

/* Begins on the records of a file such as "stars_soc.data". false: there is none. */
bool ap__device_records(const ap__device_view *view, ap__reader *reader, const char *file,
                        uint32_t record_bytes, uint16_t magic, uint32_t magic_at,
                        ap__slice_cursor *cursor);

#endif
