/* SPDX-License-Identifier: Apache-2.0 */
#include "writer/pmu_names.h"

#include <stddef.h>

#include "acl/acl_prof.h"

enum { AP_CHIP_910 = 1, AP_CHIP_910B = 5, AP_CHIP_310B = 7, AP_CHIP_TINY = 8, AP_CHIP_NANO = 9,
       AP_CHIP_MDC_MINI = 11, AP_CHIP_950 = 15, AP_CHIP_A5_NEXT = 16 };

typedef struct ap__pmu_row {
    int32_t metrics;
    const char *name;
    const char *events;      /* of most chips */
    const char *events_950;  /* chips 15 and 16 */
} ap__pmu_row;

static const ap__pmu_row ap__pmu_rows[] = {
    {ACL_AICORE_ARITHMETIC_UTILIZATION, "ArithmeticUtilization",
     "0x49,0x4a,0x4b,0x4c,0x4d,0x4e,0x4f", "0x323,0x324"},
    {ACL_AICORE_PIPE_UTILIZATION, "PipeUtilization",
     "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55",
     "0x501,0x301,0x1,0x701,0x202,0x203,0x34,0x35,0x714"},
    {ACL_AICORE_MEMORY_BANDWIDTH, "Memory",
     "0x15,0x16,0x31,0x32,0xf,0x10,0x12,0x13",
     "0x422,0x423,0x56f,0x571,0x570,0x572,0x707,0x709"},
    {ACL_AICORE_L0B_AND_WIDTH, "MemoryL0",
     "0x1b,0x1c,0x21,0x22,0x27,0x28,0x29,0x2a",
     "0x304,0x703,0x306,0x705,0x712,0x30a,0x308"},
    {ACL_AICORE_RESOURCE_CONFLICT_RATIO, "ResourceConflictRatio",
     "0x64,0x65,0x66", "0x540,0x556,0x502,0x528"},
    {ACL_AICORE_MEMORY_UB, "MemoryUB",
     "0x10,0x13,0x37,0x38,0x3d,0x3e,0x43,0x44",
     "0x3,0x5,0x70c,0x206,0x204,0x571,0x572"},
    {ACL_AICORE_L2_CACHE, "L2Cache",
     "0x500,0x502,0x504,0x506,0x508,0x50a",
     "0x424,0x425,0x426,0x42a,0x42b,0x42c"},
    {ACL_AICORE_PIPE_EXECUTE_UTILIZATION, "PipelineExecuteUtilization",
     "0x12c,0x49,0x4a,0x9,0x302,0xc,0xd,0x303", ""},
    {ACL_AICORE_MEMORY_ACCESS, "MemoryAccess",
     "0x32,0x3d,0x3e,0x206,0x20c,0x50c,0x50d,0x50e", ""},
};

ap__pmu_set ap__pmu_set_of(int32_t metrics, uint32_t chip, bool vector)
{
    ap__pmu_set set = {"", ""};

    for (size_t i = 0; i < sizeof(ap__pmu_rows) / sizeof(ap__pmu_rows[0]); i++) {
        const ap__pmu_row *row = &ap__pmu_rows[i];

        if (row->metrics == metrics) {
            set.name = row->name;
            set.events = chip == AP_CHIP_950 || chip == AP_CHIP_A5_NEXT ? row->events_950
                                                                        : row->events;
        }
    }
    if (metrics == ACL_AICORE_PIPE_UTILIZATION && chip == AP_CHIP_910B && !vector) {
        set.name = "PipeUtilizationExct"; /* what the vendor programs for 910B cube cores */
        set.events = "0x416,0x417,0x9,0x302,0xc,0x303,0x54,0x55";
    } else if (metrics == ACL_AICORE_PIPE_UTILIZATION && chip == AP_CHIP_NANO) {
        set.events = "0x300,0x400,0x100,0x200,0x201,0x202,0x302,0x203,0x101,0x102";
    } else if (metrics == ACL_AICORE_MEMORY_UB &&
               (chip == AP_CHIP_310B || chip == AP_CHIP_TINY || chip == AP_CHIP_MDC_MINI)) {
        set.events = "0x37,0x38,0x1a5,0x1a6,0x17f,0x180,0x191";
    }
    return set;
}

const char *ap__pmu_l2_events(uint32_t chip)
{
    switch (chip) {
    case AP_CHIP_910:
        return "0x59,0x5b,0x5c";
    case 2:
    case 3:
    case 4:
        return "0x78,0x79,0x6a,0x71";
    case AP_CHIP_950:
    case AP_CHIP_A5_NEXT:
        return "0x00,0x81,0x82,0x83,0x74,0x75";
    default:
        return "0xfb,0xfc,0x90,0x91,0x9c";
    }
}
