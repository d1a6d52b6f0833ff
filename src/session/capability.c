/* SPDX-License-Identifier: Apache-2.0 */
#include "session/capability.h"

#include <stddef.h>

#include "acl/acl_prof.h"
#include "session/devices.h"

/* Chip numbers: 0 310, 1 910, 2 MDC, 4 310P, 5 910B and 910_93, 7 310B, 8 Tiny, 9 Nano,
 * 11 and 12 MDC Mini, 15 950, 16 its successor, 17 and 18 MDC V2, 21 Modena. */
#define AP_CHIP(n) (1u << (n))
#define AP_CHIPS_15_TO_18 (AP_CHIP(15) | AP_CHIP(16) | AP_CHIP(17) | AP_CHIP(18))
#define AP_ALL_CHIPS 0xFFFFFFFFu

/* A chip that no table names has what all have. */
static bool ap__in(uint32_t chips, int32_t chip)
{
    return chips == AP_ALL_CHIPS ||
           (chip >= 0 && chip < 32 && (chips & AP_CHIP((uint32_t)chip)) != 0);
}

/* ---- bits ---- */

uint64_t ap__bits_expand(uint64_t requested)
{
    uint64_t bits = requested | AP_AICPU_MODEL;

    if ((bits & ACL_PROF_TASK_TIME) != 0) {
        bits |= ACL_PROF_TASK_TIME_L0;
    }
    if ((bits & (ACL_PROF_TASK_TIME_L2 | ACL_PROF_OP_ATTR)) != 0) {
        bits |= ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L0;
    }
    if ((bits & ACL_PROF_TASK_TIME_L3) != 0) {
        bits |= ACL_PROF_TASK_TIME_L2 | ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L0;
    }
    if ((bits & ACL_PROF_TASK_TIME_L0) != 0) {
        bits |= ACL_PROF_TRAINING_TRACE;
    }
    if ((bits & ACL_PROF_API_STATS) != 0) {
        bits = ACL_PROF_API_STATS | ACL_PROF_ACL_API;
    }
    return bits;
}

uint64_t ap__bits_lacking(uint64_t data_types, int32_t chip)
{
    uint64_t lacking = 0;

    if (!ap__in(AP_CHIP(5) | AP_CHIP(15), chip)) {
        lacking |= ACL_PROF_TASK_TIME_L3;
    }
    if (!ap__in(AP_CHIP(5) | AP_CHIP(15) | AP_CHIP(16), chip)) {
        lacking |= ACL_PROF_API_STATS;
    }
    return data_types & lacking;
}

/* ---- metrics ---- */

bool ap__metric_known(int32_t metric)
{
    return (metric >= ACL_AICORE_ARITHMETIC_UTILIZATION && metric <= ACL_AICORE_MEMORY_ACCESS) ||
           metric == ACL_AICORE_NONE;
}

bool ap__metric_on_chip(int32_t metric, int32_t chip)
{
    switch (metric) {
    case ACL_AICORE_L2_CACHE:
        return ap__in(AP_CHIP(5) | AP_CHIP(7) | AP_CHIP(8) | AP_CHIP(11) | AP_CHIPS_15_TO_18, chip);
    case ACL_AICORE_PIPE_EXECUTE_UTILIZATION:
        return ap__in(AP_CHIP(7) | AP_CHIP(11) | AP_CHIP(12), chip);
    case ACL_AICORE_MEMORY_ACCESS:
        return ap__in(AP_CHIP(5), chip);
    default:
        return ap__metric_known(metric);
    }
}

/* ---- settings ---- */

typedef struct ap__setting_row {
    uint32_t chips;
    bool alone; /* accepted where there is no device to judge by */
    const char *text;
} ap__setting_row;

static const ap__setting_row ap__rows[ACL_PROF_ARGS_MAX] = {
    [ACL_PROF_STORAGE_LIMIT] = {AP_ALL_CHIPS, true, NULL},
    [ACL_PROF_SYS_HARDWARE_MEM_FREQ] = {AP_CHIP(1) | AP_CHIP(4) | AP_CHIP(5) | AP_CHIP(7) |
                                            AP_CHIPS_15_TO_18,
                                        true, "910, 310P, 910B, 910_93, 310B, 950, MDC V2"},
    [ACL_PROF_LLC_MODE] = {AP_ALL_CHIPS & ~(AP_CHIP(0) | AP_CHIP(9)), true, "all but 310 and Nano"},
    [ACL_PROF_SYS_IO_FREQ] = {AP_ALL_CHIPS & ~(AP_CHIP(4) | AP_CHIP(9)), true,
                              "all but 310P and Nano"},
    [ACL_PROF_SYS_INTERCONNECTION_FREQ] = {AP_ALL_CHIPS & ~(AP_CHIP(0) | AP_CHIP(7) | AP_CHIP(9)),
                                           true, "all but 310, 310B and Nano"},
    [ACL_PROF_DVPP_FREQ] = {AP_ALL_CHIPS & ~AP_CHIP(9), true, "all but Nano"},
    [ACL_PROF_HOST_SYS] = {AP_ALL_CHIPS, true, NULL},
    [ACL_PROF_HOST_SYS_USAGE] = {AP_ALL_CHIPS, true, NULL},
    [ACL_PROF_HOST_SYS_USAGE_FREQ] = {AP_ALL_CHIPS, true, NULL},
    [ACL_PROF_LOW_POWER_FREQ] = {AP_CHIPS_15_TO_18, false, "950 and its successor, MDC V2"},
    [ACL_PROF_SYS_MEM_SERVICEFLOW] = {AP_CHIP(5) | AP_CHIPS_15_TO_18, false,
                                      "910B, 910_93, 950 and its successor, MDC V2"},
    [ACL_PROF_SYS_CPU_FREQ] = {AP_CHIP(16), false, "the successor of 950"},
    [ACL_PROF_OPTYPE] = {AP_CHIP(16), false, "the successor of 950"},
    [ACL_PROF_NTS_METRICS] = {AP_CHIP(17), false, "MDC V2"},
    [ACL_PROF_PATH] = {AP_ALL_CHIPS, true, NULL},
};

static const ap__setting_row *ap__row(int type)
{
    return type > 0 && type < ACL_PROF_ARGS_MAX ? &ap__rows[type] : &ap__rows[0];
}

static bool ap__some_device(uint32_t chips)
{
    int32_t count = ap__device_count();

    for (int32_t i = 0; i < count; i++) {
        if (ap__in(chips, ap__device_chip((uint32_t)i))) {
            return true;
        }
    }
    return false;
}

bool ap__setting_supported(int type)
{
    const ap__setting_row *row = ap__row(type);

    if (row->chips == AP_ALL_CHIPS || ap__device_count() <= 0) {
        return row->alone;
    }
    return ap__some_device(row->chips);
}

const char *ap__setting_chips(int type)
{
    return ap__row(type)->text;
}

uint32_t ap__hardware_mem_max_hz(void)
{
    return ap__some_device(AP_CHIPS_15_TO_18) ? 10000u : 100u;
}
