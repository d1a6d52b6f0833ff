/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes given to a channel's start, read back and checked. */
#ifndef AP_SIM_CONFIG_H_
#define AP_SIM_CONFIG_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/sim/chip.h"

#define AP_SIM_TYPE_TASK 1u
#define AP_SIM_TYPE_SAMPLE 2u
#define AP_SIM_TYPE_BLOCK 4u
#define AP_SIM_TYPE_SUB_TASK 8u

enum { /* places of ap__sim_config.soc */
    AP_SOC_ACC_PMU,
    AP_SOC_ON_CHIP,
    AP_SOC_INTER_DIE,
    AP_SOC_INTER_CHIP,
    AP_SOC_POWER,
    AP_SOC_STARS,
    AP_SOC_UB,
    AP_SOC_KINDS
};

typedef struct ap__sim_pmu_half {
    uint32_t type; /* AP_SIM_TYPE_* */
    uint32_t period_ms;
    uint32_t core_mask;
    uint32_t count;
    uint16_t event[10];
} ap__sim_pmu_half;

typedef struct ap__sim_config {
    uint32_t period_ms;
    bool acsq_task;   /* 50 */
    bool ffts_context;
    bool ffts_block;
    bool timeline;    /* 44 */
    bool key_point;
    bool task_track;
    bool block_number;
    uint32_t copies;
    bool aic;         /* 43, 53, 54, 85 */
    bool aiv;
    ap__sim_pmu_half half[2]; /* cube, vector */
    uint32_t event_count; /* 10, 47 */
    uint32_t event[8];
    bool ha; /* 134 */
    bool smmu;
    bool noc;
    uint32_t soc_period[AP_SOC_KINDS]; /* 52; 0 off */
    uint32_t qos_period;               /* 52, 133 */
    uint32_t qos_count;
    uint32_t memory_event; /* 130, 131, 142 */
    bool in_cycles;
    bool llc_write;        /* 8 */
    bool bandwidth[2];     /* 1, 7: read, write */
} ap__sim_config;

/* 0, or -1 with one sentence. Without strict only what cannot be understood is refused. */
int ap__sim_config_read(ap__sim_config *out, const ap__sim_chip *chip, uint32_t channel,
                        uint32_t period_ms, const void *data, uint32_t bytes, bool strict,
                        char *error, size_t size);

#endif
