/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/device_layout.h"

#include "format/wire_device.h"

/* ---- STARS, 64-byte records: 910B, 310B ---- */

static bool ap__stars_log(ap__blob record, ap__task_log *out)
{
    ap__wire_stars_log log;
    uint32_t function = 0;
    bool part = false;

    if (!ap__blob_copy(record, 0, &log, sizeof(log))) {
        return false;
    }
    function = AP_STARS_FUNCTION(log.head);
    part = function == AP_STARS_PART_START || function == AP_STARS_PART_END;
    *out = (ap__task_log){
        .end = function == AP_STARS_END || function == AP_STARS_PART_END,
        .kind = part ? log.sub_type : AP_STARS_KIND(log.head),
        .stream = log.stream,
        .task = log.task,
        .part = part ? log.accelerator : AP_NONE,
        .cycles = log.cycles,
    };
    return part || function == AP_STARS_START || function == AP_STARS_END;
}

static bool ap__stars_pmu(ap__blob record, const ap__device_view *view, ap__task_pmu *out)
{
    ap__wire_stars_pmu w;

    (void)view;
    if (!ap__blob_copy(record, 0, &w, sizeof(w)) ||
        AP_STARS_FUNCTION(w.head) != AP_STARS_TASK_PMU || w.ffts_type >> 13 > 1) {
        return false; /* parts of FFTS+ tasks are not joined */
    }
    *out = (ap__task_pmu){.stream = w.stream, .task = w.task, .start_cycles = w.start_cycles};
    out->counters.vector = w.ffts_type >> 13 == 1;
    out->counters.cycles = w.total_cycles;
    memcpy(out->counters.values, w.counters, sizeof(w.counters));
    return true;
}

/* ---- STARS, 32-byte records: 950 ---- */

#define AP_V6_TASK_PMU 0x2Au /* 101010 */
#define AP_V6_MAIN_CORE 1u   /* else what a mixed kernel's other cores counted */

static bool ap__v6_log(ap__blob record, ap__task_log *out)
{
    uint32_t function = AP_STARS_FUNCTION(ap__blob_u16(record, 0));

    *out = (ap__task_log){
        .end = function == AP_STARS_END,
        .kind = AP_STARS_KIND(ap__blob_u16(record, 0)),
        .task = ap__blob_u32(record, 4),
        .part = AP_NONE,
        .cycles = ap__blob_u64(record, 8),
    };
    return function == AP_STARS_START || function == AP_STARS_END;
}

static bool ap__v6_pmu(ap__blob record, const ap__device_view *view, ap__task_pmu *out)
{
    uint8_t flags = 0;
    uint8_t core = 0;
    uint64_t end = ap__blob_u64(record, 120);

    if (AP_STARS_FUNCTION(ap__blob_u16(record, 0)) != AP_V6_TASK_PMU ||
        !ap__blob_copy(record, 17, &flags, 1) || !ap__blob_copy(record, 20, &core, 1) ||
        (flags & AP_V6_MAIN_CORE) == 0) {
        return false;
    }
    *out =
        (ap__task_pmu){.task = ap__blob_u32(record, 4), .start_cycles = ap__blob_u64(record, 112)};
    out->counters.vector = core == 1;
    out->counters.cycles = ap__blob_u64(record, 8);
    out->counters.ns = end > out->start_cycles ? ap__device_wall_ns(view, end) -
                                                     ap__device_wall_ns(view, out->start_cycles)
                                               : 0;
    return ap__blob_copy(record, 32, out->counters.values, sizeof(out->counters.values));
}

/* ---- HWTS: 910, 310P ---- */

#define AP_HWTS_START 0u
#define AP_HWTS_END 1u
#define AP_HWTS_PMU 2u

static uint32_t ap__first_byte(ap__blob record, size_t offset)
{
    uint8_t byte = 0;

    (void)ap__blob_copy(record, offset, &byte, 1);
    return byte;
}

static bool ap__hwts_log(ap__blob record, ap__task_log *out)
{
    uint32_t type = ap__first_byte(record, 0) & 0xF;
    uint32_t kind = ap__first_byte(record, 1);

    *out = (ap__task_log){
        .end = type == AP_HWTS_END,
        .kind = kind <= AP_SQE_AICPU ? kind : AP_KIND_OTHER + kind,
        .stream = ap__blob_u32(record, 16) & 0xFFFF,
        .task = ap__blob_u16(record, 6),
        .part = AP_NONE,
        .cycles = ap__blob_u64(record, 8),
    };
    return type == AP_HWTS_START || type == AP_HWTS_END;
}

static bool ap__hwts_pmu(ap__blob record, const ap__device_view *view, ap__task_pmu *out)
{
    (void)view;
    *out = (ap__task_pmu){.stream = ap__blob_u32(record, 96) & 0xFFFF,
                          .task = ap__blob_u16(record, 6),
                          .start_cycles = AP_NO_CYCLES};
    out->counters.cycles = ap__blob_u64(record, 16);
    return (ap__first_byte(record, 0) & 0xF) == AP_HWTS_PMU &&
           ap__blob_copy(record, 32, out->counters.values, 8 * sizeof(uint64_t));
}

const ap__device_layout *ap__device_layout_of(uint32_t chip)
{
    static const ap__device_layout stars = {
        "stars_soc.data", 64, ap__stars_log, "ffts_profile.data", 128, ap__stars_pmu, false,
        true};
    static const ap__device_layout v6 = {
        "stars_soc.data", 32, ap__v6_log, "ffts_profile.data", 128, ap__v6_pmu, true, false};
    static const ap__device_layout hwts = {"hwts.data", 64,           ap__hwts_log, "aicore.data",
                                           128,         ap__hwts_pmu, false, false};

    switch (chip) {
    case 1:
    case 2:
    case 3:
    case 4:
        return &hwts;
    case 5:
    case 7:
    case 8:
    case 11:
        return &stars;
    case 15:
    case 16:
        return &v6;
    default:
        return NULL;
    }
}
