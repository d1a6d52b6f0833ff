/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of task records. All write the whole record. */
#ifndef AP_SIM_RECORD_H_
#define AP_SIM_RECORD_H_

#include <stdbool.h>
#include <stdint.h>

#define AP_SIM_MAGIC 0x6bd3u

enum { /* function of a STARS record */
    AP_FUNC_START = 0x00,
    AP_FUNC_END = 0x01,
    AP_FUNC_CONTEXT_START = 0x22,
    AP_FUNC_CONTEXT_END = 0x23,
    AP_FUNC_BLOCK_START = 0x24,
    AP_FUNC_BLOCK_END = 0x25,
    AP_FUNC_TASK_PMU = 0x28,
    AP_FUNC_BLOCK_PMU = 0x29,
    AP_FUNC_TASK_PMU_V6 = 0x2a
};

/* Task types that the hardware writes, by ap__sim_kind. */
uint32_t ap__sim_sqe(uint32_t records, uint32_t kind);

/* Stream and task as the hardware packs them; packing as in sim.h. */
void ap__sim_pack_ids(uint32_t packing, uint32_t stream, uint32_t task, uint32_t sqe,
                      uint16_t *stream_out, uint16_t *task_out);

/* Channel 50; 64 and 32 bytes. */
void ap__sim_acsq(unsigned char out[64], uint32_t func, uint32_t sqe, uint16_t stream,
                  uint16_t task, uint64_t cycles);
void ap__sim_acsq_v6(unsigned char out[32], uint32_t func, uint32_t sqe, uint32_t task,
                     uint64_t cycles);
void ap__sim_context(unsigned char out[64], uint32_t func, uint32_t type, uint16_t stream,
                     uint16_t task, uint16_t context, uint64_t cycles);

typedef struct ap__sim_pmu {
    uint32_t func;
    uint32_t sqe;
    uint16_t stream; /* V6: the task id's low half, and its high half */
    uint16_t task;
    bool vector;
    bool mix;
    bool main_core; /* V6 */
    uint8_t context_type;
    uint16_t context;
    uint8_t ffts_type;
    uint8_t core;
    uint16_t block;
    uint64_t total;
    uint64_t counter[10];
    uint64_t start;
    uint64_t end;
} ap__sim_pmu;

/* Channel 53, 128 bytes each. */
void ap__sim_pmu_v4(unsigned char out[128], const ap__sim_pmu *pmu);
void ap__sim_pmu_v6(unsigned char out[128], const ap__sim_pmu *pmu);

/* HWTS chips: channels 45 and 43. */
void ap__sim_hwts(unsigned char out[64], bool end, uint32_t type, uint32_t stream, uint32_t task,
                  uint64_t cycles);
void ap__sim_hwts_pmu(unsigned char out[128], const ap__sim_pmu *pmu);

/* Channel 44, 40 bytes; `type` as in the format. */
enum {
    AP_TS_TIMELINE = 3,
    AP_TS_STEP = 10,
    AP_TS_MEMCPY = 11,
    AP_TS_TASK_TYPE = 12,
    AP_TS_FLIP = 14,
    AP_TS_BLOCKS = 15
};
void ap__sim_ts_head(unsigned char out[40], uint32_t type, uint32_t bytes, uint64_t cycles);
void ap__sim_ts_step(unsigned char out[40], bool v6, uint64_t index, uint64_t model,
                     uint32_t stream, uint32_t task, uint32_t tag, uint64_t cycles);

#endif
