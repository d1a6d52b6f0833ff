/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sim/record.h"

#include <string.h>

#include "drivers/sim/bytes.h"
#include "drivers/sim/chip.h"
#include "drivers/sim/task.h"

#define AP_ACSQ_ID (1u << 6)

uint32_t ap__sim_sqe(uint32_t records, uint32_t kind)
{
    static const uint8_t table[3][AP_SIM_KINDS] = {
        /* AIC AIV MIX AICPU COPY REC WAIT NREC NWAIT STEP */
        {0, 2, 0, 1, 9, 4, 5, 6, 7, 3},  /* HWTS */
        {0, 2, 0, 1, 11, 4, 5, 6, 7, 3}, /* STARS */
        {0, 1, 0, 5, 11, 6, 7, 6, 7, 3}, /* V6 */
    };
    uint32_t row = records == AP_SIM_STARS_V6 ? 2 : records == AP_SIM_STARS ? 1 : 0;

    return table[row][kind];
}

void ap__sim_pack_ids(uint32_t packing, uint32_t stream, uint32_t task, uint32_t sqe,
                      uint16_t *stream_out, uint16_t *task_out)
{
    switch (packing) {
    case 1:
        *stream_out = (uint16_t)(0x1000 | (stream & 0x7ff) | (task & 0xe000));
        *task_out = (uint16_t)(task & 0x1fff);
        return;
    case 2:
        *stream_out = (uint16_t)(0x2000 | (task & 0xfff));
        *task_out = (uint16_t)((stream & 0xfff) | (task & 0xf000));
        return;
    case 3:
        if (sqe != 3 && sqe != 4) {
            *stream_out = (uint16_t)(0x8000 | (task & 0x7fff));
            *task_out = (uint16_t)((stream & 0x7fff) | (task & 0x8000));
            return;
        }
        break;
    default:
        break;
    }
    *stream_out = (uint16_t)stream;
    *task_out = (uint16_t)task;
}

/* The running number is put in by ap__sim_put. */
static void ap__stars_head(unsigned char *out, uint32_t func, uint32_t sqe)
{
    ap__put16(out, 0, func | sqe << 10);
    ap__put16(out, 2, AP_SIM_MAGIC);
}

void ap__sim_acsq(unsigned char out[64], uint32_t func, uint32_t sqe, uint16_t stream,
                  uint16_t task, uint64_t cycles)
{
    memset(out, 0, 64);
    ap__stars_head(out, func, sqe);
    ap__put16(out, 4, stream);
    ap__put16(out, 6, task);
    ap__put64(out, 8, cycles);
    ap__put16(out, 18, AP_ACSQ_ID);
}

void ap__sim_acsq_v6(unsigned char out[32], uint32_t func, uint32_t sqe, uint32_t task,
                     uint64_t cycles)
{
    memset(out, 0, 32);
    ap__stars_head(out, func, sqe);
    ap__put32(out, 4, task);
    ap__put64(out, 8, cycles);
    ap__put16(out, 18, AP_ACSQ_ID);
}

void ap__sim_context(unsigned char out[64], uint32_t func, uint32_t type, uint16_t stream,
                     uint16_t task, uint16_t context, uint64_t cycles)
{
    memset(out, 0, 64);
    ap__stars_head(out, func, 0);
    ap__put16(out, 4, stream);
    ap__put16(out, 6, task);
    ap__put64(out, 8, cycles);
    out[16] = (unsigned char)type;
    ap__put16(out, 18, context);
    ap__put16(out, 20, 4u << 13); /* FFTS+ */
}

void ap__sim_pmu_v4(unsigned char out[128], const ap__sim_pmu *pmu)
{
    memset(out, 0, 128);
    ap__stars_head(out, pmu->func, pmu->sqe);
    ap__put16(out, 4, pmu->stream);
    ap__put16(out, 6, pmu->task);
    ap__put16(out, 16, pmu->context_type);
    ap__put16(out, 18, pmu->context);
    if (pmu->func == AP_FUNC_BLOCK_PMU) {
        out[20] = (unsigned char)(pmu->vector | pmu->core << 1);
        out[21] = (unsigned char)(pmu->ffts_type << 5);
        ap__put16(out, 30, pmu->block);
    } else {
        ap__put16(out, 20, (uint32_t)pmu->ffts_type << 13);
    }
    ap__put64(out, 32, pmu->total);
    memcpy(out + 48, pmu->counter, 64);
    ap__put64(out, 112, pmu->start);
    ap__put64(out, 120, pmu->end);
}

void ap__sim_pmu_v6(unsigned char out[128], const ap__sim_pmu *pmu)
{
    memset(out, 0, 128);
    ap__stars_head(out, pmu->func, pmu->sqe);
    ap__put16(out, 4, pmu->stream);
    ap__put16(out, 6, pmu->task);
    ap__put64(out, 8, pmu->total);
    out[16] = pmu->context_type;
    out[17] = (unsigned char)(pmu->main_core | pmu->mix << 1);
    ap__put16(out, 18, pmu->context);
    out[20] = pmu->vector;
    out[21] = pmu->core;
    ap__put16(out, 26, pmu->block);
    memcpy(out + 32, pmu->counter, 80);
    ap__put64(out, 112, pmu->start);
    ap__put64(out, 120, pmu->end);
}

void ap__sim_hwts(unsigned char out[64], bool end, uint32_t type, uint32_t stream, uint32_t task,
                  uint64_t cycles)
{
    memset(out, 0, 64);
    out[0] = end;
    out[1] = (unsigned char)type;
    ap__put16(out, 2, AP_SIM_MAGIC);
    ap__put16(out, 6, task);
    ap__put64(out, 8, cycles);
    ap__put32(out, 16, stream);
}

void ap__sim_hwts_pmu(unsigned char out[128], const ap__sim_pmu *pmu)
{
    memset(out, 0, 128);
    out[0] = 2;
    ap__put16(out, 2, AP_SIM_MAGIC);
    ap__put16(out, 6, pmu->task);
    ap__put64(out, 16, pmu->total);
    memcpy(out + 32, pmu->counter, 64);
    ap__put32(out, 96, pmu->stream);
}

void ap__sim_ts_head(unsigned char out[40], uint32_t type, uint32_t bytes, uint64_t cycles)
{
    memset(out, 0, 40);
    out[1] = (unsigned char)type;
    ap__put16(out, 2, bytes);
    ap__put64(out, 8, cycles);
}

void ap__sim_ts_step(unsigned char out[40], bool v6, uint64_t index, uint64_t model,
                     uint32_t stream, uint32_t task, uint32_t tag, uint64_t cycles)
{
    ap__sim_ts_head(out, AP_TS_STEP, 40, cycles);
    ap__put64(out, 16, index);
    ap__put64(out, 24, model);
    if (v6) {
        ap__put16(out, 32, tag);
        ap__put16(out, 34, stream);
        ap__put32(out, 36, task);
    } else {
        ap__put16(out, 32, stream);
        ap__put16(out, 34, task);
        ap__put16(out, 36, tag);
    }
}
