/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sim/emit.h"

#include "drivers/sim/bytes.h"
#include "drivers/sim/pmu.h"
#include "drivers/sim/record.h"
#include "drivers/sim/truth.h"

#define AP_COPY_MEMCPY 0x04000000u /* of the copies of channel 44 */
#define AP_CONTEXT_MIX_AIC 6
#define AP_FFTS_PLUS 4
#define AP_CTX_CUBE 0
#define AP_CTX_VECTOR 1

static const ap__sim_channel *ap__live(const ap__sim_device *device, uint32_t channel)
{
    return device->channel[channel].live ? &device->channel[channel] : NULL;
}

/* Channel 44 with records of 40 bytes; chip 0 has task times of 32 bytes in it instead. */
static const ap__sim_channel *ap__track_live(const ap__sim_device *device)
{
    return device->sim->chip->records == AP_SIM_MINI ? NULL : ap__live(device, 44);
}

static bool ap__kernel(const ap__sim_task *task)
{
    return task->kind <= AP_SIM_MIX;
}

static uint64_t ap__cycles(const ap__sim_device *device, uint64_t ns)
{
    return ap__sim_clock_cycles(&device->clock, ns);
}

static void ap__track(ap__sim_device *device, uint32_t type, const ap__sim_task *task, uint64_t ns,
                      uint32_t at20, uint32_t at22)
{
    unsigned char record[40];

    ap__sim_ts_head(record, type, 40, ap__cycles(device, ns));
    ap__put16(record, 16, task->stream);
    ap__put16(record, 18, task->task);
    ap__put16(record, 20, at20);
    ap__put16(record, 22, at22);
    ap__sim_put(device, 44, record, sizeof(record), AP_HEAD_NONE);
}

/* Chip 0 has its task times in channel 44. */
static void ap__timeline(ap__sim_device *device, const ap__sim_task *task, bool end)
{
    unsigned char record[40];

    ap__sim_ts_head(record, AP_TS_TIMELINE, 32, 0);
    ap__put16(record, 8, ap__sim_sqe(AP_SIM_MINI, task->kind));
    ap__put16(record, 10, ap__kernel(task) ? (end ? 8 : 7) : (end ? 3 : 2));
    ap__put16(record, 12, task->stream);
    ap__put16(record, 14, task->task);
    ap__put64(record, 16, ap__cycles(device, end ? task->end_ns : task->start_ns));
    ap__put32(record, 28, device->id);
    ap__sim_put(device, 44, record, 32, AP_HEAD_NONE);
}

/* A start or end in the channel that the chip has for it. Whether there was one. */
static bool ap__task_edge(ap__sim_device *device, const ap__sim_task *task, bool end)
{
    uint32_t records = device->sim->chip->records;
    uint32_t sqe = ap__sim_sqe(records, task->kind);
    uint64_t cycles = ap__cycles(device, end ? task->end_ns : task->start_ns);
    const ap__sim_channel *log = ap__live(device, records == AP_SIM_MINI   ? 44
                                                  : records == AP_SIM_HWTS ? 45
                                                                           : 50);
    unsigned char record[64];
    uint16_t stream = 0;
    uint16_t id = 0;

    if (log == NULL || (records == AP_SIM_MINI && !log->config.timeline) ||
        (records >= AP_SIM_STARS && !log->config.acsq_task)) {
        return false;
    }
    switch (records) {
    case AP_SIM_MINI:
        ap__timeline(device, task, end);
        break;
    case AP_SIM_HWTS:
        ap__sim_hwts(record, end, sqe, task->stream, task->task, cycles);
        ap__sim_put(device, 45, record, 64, AP_HEAD_HWTS);
        break;
    case AP_SIM_STARS:
        ap__sim_pack_ids(device->sim->options.packing, task->stream, task->task, sqe, &stream, &id);
        ap__sim_acsq(record, end ? AP_FUNC_END : AP_FUNC_START, sqe, stream, id, cycles);
        ap__sim_put(device, 50, record, 64, AP_HEAD_STARS);
        break;
    default:
        ap__sim_acsq_v6(record, end ? AP_FUNC_END : AP_FUNC_START, sqe, task->task, cycles);
        ap__sim_put(device, 50, record, 32, AP_HEAD_STARS);
        break;
    }
    return true;
}

static void ap__start(ap__sim_device *device, ap__sim_task *task)
{
    const ap__sim_channel *track = ap__track_live(device);
    uint32_t records = device->sim->chip->records;

    if (ap__task_edge(device, task, false)) {
        task->seen |= AP_SIM_SEEN_START;
    }
    if (track == NULL) {
        return;
    }
    if (track->config.task_track) {
        ap__track(device, AP_TS_TASK_TYPE, task, task->start_ns, ap__sim_sqe(records, task->kind),
                  0);
    }
    if (track->config.block_number && ap__kernel(task) && task->blocks > 0) {
        ap__track(device, AP_TS_BLOCKS, task, task->start_ns, task->blocks, 0);
    }
    if (task->kind == AP_SIM_MEMCPY && (track->config.copies & AP_COPY_MEMCPY) != 0) {
        ap__track(device, AP_TS_MEMCPY, task, task->start_ns, 0, 0);
        ap__track(device, AP_TS_MEMCPY, task, task->start_ns, 1, 0);
    }
}

/* A context of an FFTS+ task begins or ends. */
static void ap__context(ap__sim_device *device, const ap__sim_task *task)
{
    const ap__sim_channel *log = ap__live(device, 50);
    bool end = task->phase > task->contexts;
    uint32_t context = (task->phase - 1u) % task->contexts;
    unsigned char record[64];
    uint16_t stream = 0;
    uint16_t id = 0;

    if (log == NULL || !log->config.ffts_context || device->sim->chip->records != AP_SIM_STARS) {
        return;
    }
    ap__sim_pack_ids(device->sim->options.packing, task->stream, task->task, 0, &stream, &id);
    ap__sim_context(record, end ? AP_FUNC_CONTEXT_END : AP_FUNC_CONTEXT_START,
                    task->kind == AP_SIM_MIX   ? AP_CONTEXT_MIX_AIC
                    : task->kind == AP_SIM_AIV ? AP_CTX_VECTOR
                                               : AP_CTX_CUBE,
                    stream, id, (uint16_t)context,
                    ap__cycles(device, ap__sim_phase_ns(task, task->phase)));
    ap__sim_put(device, 50, record, 64, AP_HEAD_STARS);
}

static void ap__pmu_put(ap__sim_device *device, const ap__sim_pmu *pmu)
{
    unsigned char record[128];

    if (device->sim->chip->records == AP_SIM_STARS_V6) {
        ap__sim_pmu_v6(record, pmu);
    } else {
        ap__sim_pmu_v4(record, pmu);
    }
    ap__sim_put(device, 53, record, sizeof(record), AP_HEAD_STARS);
}

/* A record for each core that ran blocks, which share the cycles. */
static void ap__pmu_blocks(ap__sim_device *device, const ap__sim_task *task, ap__sim_pmu *pmu,
                           const ap__sim_pmu_half *half)
{
    uint32_t cores = pmu->vector && device->sim->aiv > 0 ? device->sim->aiv : device->sim->aic;
    uint32_t n = task->blocks < cores ? task->blocks : cores;
    uint64_t total = pmu->total;

    pmu->func = AP_FUNC_BLOCK_PMU;
    for (uint32_t i = 0; i < n; i++) {
        pmu->core = (uint8_t)i;
        pmu->block = (uint16_t)i;
        pmu->total = total / n;
        ap__sim_counters(task, half, pmu->total, pmu->counter);
        ap__pmu_put(device, pmu);
    }
    pmu->total = total;
}

static uint64_t ap__pmu_half(ap__sim_device *device, const ap__sim_task *task,
                             const ap__sim_pmu_half *half, bool vector)
{
    bool v6 = device->sim->chip->records == AP_SIM_STARS_V6;
    bool mix = task->kind == AP_SIM_MIX;
    ap__sim_pmu pmu = {
        .func = v6 ? AP_FUNC_TASK_PMU_V6 : AP_FUNC_TASK_PMU,
        .sqe = ap__sim_sqe(device->sim->chip->records, task->kind),
        .vector = vector,
        .mix = mix,
        .main_core = !mix || !vector,
        .ffts_type = (uint8_t)(task->contexts > 0 ? AP_FFTS_PLUS
                               : mix              ? 5
                               : vector           ? 1
                                                  : 0),
        .context_type = (uint8_t)(mix      ? AP_CONTEXT_MIX_AIC + vector
                                  : vector ? 1
                                           : 0),
        .start = ap__cycles(device, task->start_ns),
        .end = ap__cycles(device, task->end_ns),
    };

    if (v6) {
        pmu.stream = (uint16_t)task->task;
        pmu.task = (uint16_t)(task->task >> 16);
    } else {
        ap__sim_pack_ids(device->sim->options.packing, task->stream, task->task, pmu.sqe,
                         &pmu.stream, &pmu.task);
    }
    pmu.total = ap__sim_total_cycles(device, task, task->end_ns - task->start_ns, vector);
    if ((half->type & AP_SIM_TYPE_TASK) != 0) {
        ap__sim_counters(task, half, pmu.total, pmu.counter);
        ap__pmu_put(device, &pmu);
    }
    if ((half->type & AP_SIM_TYPE_BLOCK) != 0) {
        ap__pmu_blocks(device, task, &pmu, half);
    }
    return pmu.total;
}

/* On chips with HWTS, channels 43 and 85. */
static uint64_t ap__pmu_hwts(ap__sim_device *device, const ap__sim_task *task)
{
    bool vector = task->kind == AP_SIM_AIV && ap__live(device, 85) != NULL;
    uint32_t channel = vector ? 85 : 43;
    const ap__sim_channel *ch = ap__live(device, channel);
    unsigned char record[128];
    ap__sim_pmu pmu = {.stream = (uint16_t)task->stream, .task = (uint16_t)task->task};

    if (ch == NULL || (ch->config.half[vector].type & AP_SIM_TYPE_TASK) == 0) {
        return 0;
    }
    pmu.total = ap__sim_total_cycles(device, task, task->end_ns - task->start_ns, vector);
    ap__sim_counters(task, &ch->config.half[vector], pmu.total, pmu.counter);
    ap__sim_hwts_pmu(record, &pmu);
    ap__sim_put(device, channel, record, sizeof(record), AP_HEAD_HWTS);
    return pmu.total;
}

/* Cycles recorded; 0: no record. */
static uint64_t ap__pmu(ap__sim_device *device, const ap__sim_task *task)
{
    const ap__sim_channel *ch = ap__live(device, 53);
    uint64_t total = 0;

    if (device->sim->chip->records < AP_SIM_STARS) {
        return ap__pmu_hwts(device, task);
    }
    if (ch == NULL) {
        return 0;
    }
    if (task->kind != AP_SIM_AIV && ch->config.aic) {
        total += ap__pmu_half(device, task, &ch->config.half[0], false);
    }
    if (task->kind != AP_SIM_AIC && ch->config.aiv) {
        total += ap__pmu_half(device, task, &ch->config.half[1], true);
    }
    return total;
}

/* Cache counters: channel 47, or the home agents' of channel 134. */
static void ap__cache(ap__sim_device *device, const ap__sim_task *task)
{
    bool v6 = device->sim->chip->records == AP_SIM_STARS_V6;
    const ap__sim_channel *l2 = ap__live(device, 47);
    const ap__sim_channel *soc = ap__live(device, 134);
    uint64_t requests = (task->end_ns - task->start_ns) / 4 + 16;
    const uint32_t kinds[2] = {soc != NULL && soc->config.ha ? 1 : 0,
                               soc != NULL && soc->config.smmu ? 2 : 0};
    unsigned char record[80] = {0};

    if (l2 != NULL) {
        ap__put16(record, 2, task->stream);
        ap__put16(record, 4, task->task);
        for (uint32_t i = 0; i < l2->config.event_count; i++) {
            ap__put64(record, 8 + 8 * i, requests >> i);
        }
        ap__sim_put(device, 47, record, 72, AP_HEAD_NONE);
    }
    for (unsigned k = 0; k < 2; k++) {
        if (kinds[k] == 0) {
            continue;
        }
        memset(record, 0, sizeof(record));
        if (v6) {
            ap__put16(record, 6, kinds[k]);
            ap__put16(record, 10, task->stream);
            ap__put32(record, 12, task->task);
        } else {
            ap__put16(record, 10, task->stream);
            ap__put16(record, 12, task->task);
            ap__put16(record, 14, kinds[k]);
        }
        for (uint32_t i = 0; i < 8; i++) {
            ap__put64(record, 16 + 8 * i, requests >> i);
        }
        ap__sim_put(device, 134, record, 80, AP_HEAD_NONE);
    }
}

/* An operator on the AI CPUs, as an additional record of 256 bytes in channel 143. */
static void ap__ai_cpu(ap__sim_device *device, const ap__sim_task *task)
{
    unsigned char record[256] = {0};
    uint64_t start = ap__cycles(device, task->start_ns);
    uint64_t end = ap__cycles(device, task->end_ns);
    uint64_t part = (end - start) / 8;

    ap__put16(record, 0, 0x5a5a);
    ap__put16(record, 2, 6000); /* level; type 0: node */
    ap__put32(record, 12, 128); /* bytes of data */
    ap__put64(record, 16, start);
    ap__put16(record, 24, task->stream);
    ap__put16(record, 26, task->task);
    ap__put64(record, 32, start); /* run */
    ap__put64(record, 40, start);
    ap__put64(record, 48, start + part);   /* compute */
    ap__put64(record, 56, end - 2 * part); /* memory copy */
    ap__put64(record, 64, end - part);
    ap__put64(record, 72, end);
    ap__put64(record, 80, end);
    ap__put32(record, 88, 11); /* thread */
    ap__put32(record, 92, device->id);
    ap__put64(record, 96, start - 3 * part); /* submitted, scheduled, dispatched, answered */
    ap__put64(record, 104, start - 2 * part);
    ap__put64(record, 112, start - part);
    ap__put64(record, 120, end + part);
    ap__put32(record, 128, 1);
    ap__put32(record, 132, 2 * part);
    ap__put32(record, 136, end - start + 4 * part);
    ap__sim_put(device, 143, record, sizeof(record), AP_HEAD_NONE);
}

static void ap__end(ap__sim_device *device, ap__sim_task *task)
{
    const ap__sim_channel *track = ap__track_live(device);
    uint64_t cycles = 0;

    if (ap__task_edge(device, task, true)) {
        task->seen |= AP_SIM_SEEN_END;
        device->tasks++;
    }
    if (ap__kernel(task)) {
        uint64_t cores = task->blocks < device->sim->aic ? task->blocks : device->sim->aic;

        cycles = ap__pmu(device, task);
        task->seen |= cycles != 0 ? AP_SIM_SEEN_PMU : 0;
        device->busy_ns += (task->end_ns - task->start_ns) * (cores > 0 ? cores : 1);
        ap__cache(device, task);
    } else if (task->kind == AP_SIM_MEMCPY) {
        device->memory += 4096; /* something to see in the memory channels */
        if (track != NULL && (track->config.copies & AP_COPY_MEMCPY) != 0) {
            ap__track(device, AP_TS_MEMCPY, task, task->end_ns, 2, 0);
        }
    } else if (task->kind == AP_SIM_AICPU && ap__live(device, 143) != NULL) {
        ap__ai_cpu(device, task);
    }
    ap__sim_truth_task(device, task, ap__sim_sqe(device->sim->chip->records, task->kind), cycles);
}

static void ap__step(ap__sim_device *device, const ap__sim_task *task)
{
    const ap__sim_channel *track = ap__track_live(device);
    unsigned char record[40];

    if (track == NULL || !track->config.key_point) {
        return;
    }
    ap__sim_ts_step(record, device->sim->chip->records == AP_SIM_STARS_V6, task->index, task->model,
                    task->stream, task->task, task->step_tag, ap__cycles(device, task->start_ns));
    ap__sim_put(device, 44, record, sizeof(record), AP_HEAD_NONE);
}

void ap__sim_emit(ap__sim_device *device, ap__sim_task *task)
{
    if (task->kind == AP_SIM_STEP) {
        if (task->phase == 0) {
            ap__step(device, task);
        }
    } else if (task->phase == 0) {
        ap__start(device, task);
    } else if (task->phase + 1u < ap__sim_phases(task)) {
        ap__context(device, task);
    } else {
        ap__end(device, task);
    }
}

void ap__sim_emit_flip(ap__sim_device *device, const ap__sim_task *task)
{
    unsigned char record[40];

    ap__sim_truth_flip(device, task);
    if (ap__track_live(device) == NULL) {
        return;
    }
    ap__sim_ts_head(record, AP_TS_FLIP, 40, ap__cycles(device, task->flip_ns));
    ap__put16(record, 16, task->stream);
    ap__put16(record, 18, task->flip);
    ap__put16(record, 22, task->task);
    ap__sim_put(device, 44, record, sizeof(record), AP_HEAD_NONE);
}
