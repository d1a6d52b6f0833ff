/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/channels.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collector/channel_config.h"

#define AP_API_AICPU_5MS 0x072419u
#define AP_MEM_MIN_MS 10u

#define AP_B(n) AP_CHIP_BIT(n)
#define AP_CHIPS_ALL 0xFFFFFFFFu
#define AP_CHIPS_V4 (AP_B(5) | AP_B(7) | AP_B(8) | AP_B(11) | AP_B(12) | AP_B(21))
#define AP_CHIPS_V6 (AP_B(15) | AP_B(16) | AP_B(17) | AP_B(18))
#define AP_CHIPS_STARS (AP_CHIPS_V4 | AP_CHIPS_V6)
#define AP_CHIPS_HWTS (AP_B(1) | AP_B(2) | AP_B(3) | AP_B(4))
#define AP_CHIPS_MINI AP_B(0)
#define AP_CHIPS_MDC AP_B(2)
#define AP_CHIPS_NANO AP_B(9)
#define AP_CHIPS_950 (AP_B(15) | AP_B(16))
#define AP_CHIPS_DVPP_EX (AP_B(4) | AP_B(5) | AP_B(7) | AP_CHIPS_950)

typedef enum ap__period_kind {
    AP_PERIOD_0,
    AP_PERIOD_MEM,
    AP_PERIOD_MEM_10, /* not below 10 ms */
    AP_PERIOD_IO,
    AP_PERIOD_LINK,
    AP_PERIOD_DVPP,
    AP_PERIOD_CPU,
    AP_PERIOD_SAMPLE,
    AP_PERIOD_100,
    AP_PERIOD_AICPU,
    AP_PERIOD_TSFW
} ap__period_kind;

enum ap__row_flags {
    AP_ROW_LATE = 1,
    AP_ROW_FLUSH = 2,
    AP_ROW_SAMPLED = 4, /* the configuration is for sampling by time */
    AP_ROW_UNLESS_BEFORE = 8 /* only when the row before it was not taken: the same data */
};

typedef struct ap__channel_row {
    uint16_t channel;
    uint16_t last; /* 0, or the end of a range of like channels */
    uint8_t order;
    uint8_t check;
    uint8_t flags;
    uint8_t config;
    uint8_t period;
    uint32_t chips;
    uint32_t switches; /* any of them */
    uint32_t record_bytes;
    const char *file;
} ap__channel_row;

#define AP_PMU (AP_SW_METRICS)

static const ap__channel_row ap__rows[] = {
    /* task data */
    {44, 0, AP_ORDER_TRACK, AP_RECORD_PLAIN, AP_ROW_FLUSH, AP_CONFIG_TSFW, AP_PERIOD_TSFW,
     AP_CHIPS_ALL & ~(AP_CHIPS_MINI | AP_CHIPS_NANO), AP_SW_ALWAYS | AP_SW_TRAINING, 40,
     "ts_track.data"},
    {44, 0, AP_ORDER_TRACK, AP_RECORD_PLAIN, AP_ROW_FLUSH, AP_CONFIG_TSFW, AP_PERIOD_TSFW,
     AP_CHIPS_MINI, AP_SW_ALWAYS | AP_SW_TRAINING | AP_SW_TASK, 32, "ts_track.data"},
    {49, 0, AP_ORDER_TRACK, AP_RECORD_PLAIN, 0, AP_CONFIG_TSFW, AP_PERIOD_TSFW, AP_CHIPS_MDC,
     AP_SW_ALWAYS, 40, "ts_track.aiv_data"},
    {50, 0, AP_ORDER_TASK, AP_RECORD_STARS, AP_ROW_FLUSH, AP_CONFIG_SOCLOG, AP_PERIOD_0,
     AP_CHIPS_V4, AP_SW_ALWAYS | AP_SW_TASK, 64, "stars_soc.data"},
    {50, 0, AP_ORDER_TASK, AP_RECORD_STARS, AP_ROW_FLUSH, AP_CONFIG_SOCLOG, AP_PERIOD_0,
     AP_CHIPS_V6, AP_SW_ALWAYS | AP_SW_TASK, 32, "stars_soc.data"},
    {45, 0, AP_ORDER_TASK, AP_RECORD_HWTS, AP_ROW_FLUSH, AP_CONFIG_TAG, AP_PERIOD_0,
     AP_CHIPS_HWTS, AP_SW_TASK, 64, "hwts.data"},
    {48, 0, AP_ORDER_TASK, AP_RECORD_HWTS, 0, AP_CONFIG_TAG, AP_PERIOD_0, AP_CHIPS_MDC, AP_SW_TASK,
     64, "hwts.aiv_data"},
    {150, 0, AP_ORDER_TASK, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_0, AP_CHIPS_NANO,
     AP_SW_TASK | AP_PMU, 64, "nano_stars_profile.data"},
    {152, 0, AP_ORDER_TASK, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_0, AP_B(17) | AP_B(18),
     AP_SW_TASK, 1, "nts_task.data"},
    {53, 0, AP_ORDER_COUNTERS, AP_RECORD_STARS, AP_ROW_FLUSH, AP_CONFIG_COUNTERS, AP_PERIOD_0,
     AP_CHIPS_STARS, AP_PMU, 128, "ffts_profile.data"},
    {43, 0, AP_ORDER_COUNTERS, AP_RECORD_HWTS, AP_ROW_FLUSH, AP_CONFIG_AICORE, AP_PERIOD_0,
     AP_CHIPS_HWTS | AP_CHIPS_MINI, AP_PMU, 128, "aicore.data"},
    {43, 0, AP_ORDER_COUNTERS, AP_RECORD_PLAIN, AP_ROW_FLUSH | AP_ROW_SAMPLED, AP_CONFIG_AICORE,
     AP_PERIOD_SAMPLE, AP_CHIPS_HWTS | AP_CHIPS_MINI, AP_SW_SAMPLE, 96, "aicore.data"},
    {85, 0, AP_ORDER_COUNTERS, AP_RECORD_HWTS, 0, AP_CONFIG_AICORE, AP_PERIOD_0, AP_CHIPS_HWTS,
     AP_PMU, 128, "aiVectorCore.data"},
    {85, 0, AP_ORDER_COUNTERS, AP_RECORD_PLAIN, AP_ROW_SAMPLED, AP_CONFIG_AICORE, AP_PERIOD_SAMPLE,
     AP_CHIPS_HWTS, AP_SW_SAMPLE, 96, "aiVectorCore.data"},
    {153, 0, AP_ORDER_COUNTERS, AP_RECORD_PLAIN, 0, AP_CONFIG_NTS, AP_PERIOD_0,
     AP_B(17) | AP_B(18), AP_SW_NTS, 1, "nts_pmu.data"},
    /* by time, or seldom */
    {54, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, AP_ROW_SAMPLED, AP_CONFIG_COUNTERS, AP_PERIOD_SAMPLE,
     AP_CHIPS_V4, AP_SW_SAMPLE, 96, "ffts_profile.data"},
    {54, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, AP_ROW_SAMPLED, AP_CONFIG_COUNTERS, AP_PERIOD_SAMPLE,
     AP_CHIPS_V6, AP_SW_SAMPLE, 112, "ffts_profile.data"},
    {46, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_TAG, AP_PERIOD_0,
     AP_CHIPS_HWTS | AP_CHIPS_MINI, AP_SW_TRAINING, 1, "training_trace.data"},
    {134, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_SOCPMU, AP_PERIOD_0,
     AP_B(5) | AP_CHIPS_950, AP_SW_L2, 80, "socpmu.data"},
    {47, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, AP_ROW_FLUSH | AP_ROW_UNLESS_BEFORE, AP_CONFIG_L2,
     AP_PERIOD_0, AP_CHIPS_ALL & ~(AP_CHIPS_MINI | AP_CHIPS_NANO), AP_SW_L2, 72, "l2_cache.data"},
    {132, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_LPM, AP_PERIOD_100, AP_B(5), AP_PMU, 888,
     "lpmInfoConv.data"},
    {132, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_LPM, AP_PERIOD_100,
     AP_B(4) | AP_B(7) | AP_CHIPS_950, AP_PMU, 888, "lpmFreqConv.data"},
    {143, 144, AP_ORDER_OTHER, AP_RECORD_PLAIN, AP_ROW_LATE | AP_ROW_FLUSH, AP_CONFIG_NONE,
     AP_PERIOD_AICPU, AP_CHIPS_ALL & ~AP_CHIPS_NANO, AP_SW_AICPU, 256, "aicpu.data"},
    {143, 144, AP_ORDER_OTHER, AP_RECORD_PLAIN, AP_ROW_LATE | AP_ROW_FLUSH | AP_ROW_UNLESS_BEFORE,
     AP_CONFIG_NONE, AP_PERIOD_AICPU, AP_B(5) | AP_CHIPS_950, AP_SW_HCCL | AP_SW_TASK, 256,
     "aicpu.data"},
    {52, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_SOCPROFILE, AP_PERIOD_0, AP_CHIPS_V4,
     AP_SW_MEM | AP_SW_LINK, 64, "stars_soc_profile.data"},
    {52, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_SOCPROFILE, AP_PERIOD_0, AP_CHIPS_V6,
     AP_SW_MEM | AP_SW_LINK | AP_SW_POWER, 64, "stars_soc_profile.data"},
    {1, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_BANDWIDTH, AP_PERIOD_MEM_10,
     AP_B(1) | AP_B(5) | AP_CHIPS_V6, AP_SW_MEM, 24, "hbm.data"},
    {7, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_BANDWIDTH, AP_PERIOD_MEM_10,
     AP_CHIPS_MINI | AP_CHIPS_HWTS | AP_B(7) | AP_B(8) | AP_B(11) | AP_B(12), AP_SW_MEM, 20,
     "ddr.data"},
    {8, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_LLC, AP_PERIOD_MEM_10,
     AP_CHIPS_ALL & ~(AP_CHIPS_MINI | AP_CHIPS_NANO), AP_SW_MEM, 24, "llc.data"},
    {130, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, AP_ROW_FLUSH, AP_CONFIG_MEM_APP, AP_PERIOD_MEM_10,
     AP_CHIPS_ALL & ~AP_CHIPS_NANO, AP_SW_MEM, 32, "npu_mem.app"},
    {131, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, AP_ROW_FLUSH, AP_CONFIG_MEM_DEVICE, AP_PERIOD_MEM_10,
     AP_CHIPS_ALL & ~AP_CHIPS_NANO, AP_SW_MEM, 32, "npu_mem.data"},
    {142, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, AP_ROW_FLUSH, AP_CONFIG_MEM_MODULE, AP_PERIOD_MEM_10,
     AP_CHIPS_ALL & ~AP_CHIPS_NANO, AP_SW_MEM, 24, "npu_module_mem.data"},
    {133, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_QOS, AP_PERIOD_MEM,
     AP_B(5) | AP_CHIPS_V6, AP_SW_QOS, 64, "qos.data"},
    {4, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_IO,
     AP_CHIPS_MINI | AP_B(1) | AP_B(5) | AP_B(7) | AP_B(8) | AP_B(11), AP_SW_IO, 0, "nic.data"},
    {129, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_IO,
     AP_B(1) | AP_B(5) | AP_CHIPS_950, AP_SW_IO, 0, "roce.data"},
    {146, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_LINK, AP_CHIPS_950,
     AP_SW_LINK, 128, "ub.data"},
    {146, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_IO, AP_CHIPS_950,
     AP_SW_IO, 128, "ub.data"},
    {3, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_LINK,
     AP_CHIPS_HWTS | AP_B(5) | AP_CHIPS_950, AP_SW_LINK, 96, "pcie.data"},
    {9, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_LINK,
     AP_B(1) | AP_B(5) | AP_CHIPS_950, AP_SW_LINK, 0, "hccs.data"},
    {6, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_DVPP,
     AP_CHIPS_MINI | AP_B(1), AP_SW_DVPP, 0, "dvpp.data"},
    {135, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_DVPP, AP_CHIPS_DVPP_EX,
     AP_SW_DVPP, 0, "dvpp.venc"},
    {136, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_DVPP, AP_CHIPS_DVPP_EX,
     AP_SW_DVPP, 0, "dvpp.jpege"},
    {137, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_DVPP, AP_CHIPS_DVPP_EX,
     AP_SW_DVPP, 0, "dvpp.vdec"},
    {138, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_DVPP, AP_CHIPS_DVPP_EX,
     AP_SW_DVPP, 0, "dvpp.jpegd"},
    {139, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_DVPP, AP_CHIPS_DVPP_EX,
     AP_SW_DVPP, 0, "dvpp.vpc"},
    {140, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_DVPP, AP_CHIPS_DVPP_EX,
     AP_SW_DVPP, 0, "dvpp.png"},
    {141, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_DVPP, AP_CHIPS_DVPP_EX,
     AP_SW_DVPP, 0, "dvpp.scd"},
    {10, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_TSCPU, AP_PERIOD_CPU,
     AP_CHIPS_ALL & ~AP_CHIPS_NANO, AP_SW_CPU, 304, "tscpu.data"},
    {147, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_0, AP_CHIPS_950,
     AP_SW_TASK_L1, 64, "ccu0.instr"},
    {149, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_0, AP_CHIPS_950,
     AP_SW_TASK_L1, 64, "ccu1.instr"},
    {148, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_0, AP_CHIPS_950,
     AP_SW_TASK_L2, 2816, "ccu0.stat"},
    {151, 0, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_NONE, AP_PERIOD_0, AP_CHIPS_950,
     AP_SW_TASK_L2, 2816, "ccu1.stat"},
    {11, 42, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_INSTR, AP_PERIOD_0,
     AP_B(5) | AP_CHIPS_950, AP_SW_INSTR, 4, NULL},
    {55, 84, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_INSTR, AP_PERIOD_0,
     AP_B(5) | AP_CHIPS_950, AP_SW_INSTR, 4, NULL},
    {86, 98, AP_ORDER_OTHER, AP_RECORD_PLAIN, 0, AP_CONFIG_INSTR, AP_PERIOD_0,
     AP_B(5) | AP_CHIPS_950, AP_SW_INSTR, 4, NULL},
};

#define AP_ROWS (sizeof(ap__rows) / sizeof(ap__rows[0]))

/* Of a chip that no table names: as the newest. */
static uint32_t ap__row_chips(uint32_t chip)
{
    const uint32_t known = AP_CHIPS_STARS | AP_CHIPS_HWTS | AP_CHIPS_MINI | AP_CHIPS_NANO;

    return chip < 32 && (known >> chip & 1) != 0 ? AP_CHIP_BIT(chip) : AP_CHIP_BIT(15);
}

static uint32_t ap__task_switches(uint64_t bits)
{
    uint32_t sw = 0;

    if ((bits & (ACL_PROF_TASK_TIME_L2 | ACL_PROF_TASK_TIME_L3)) != 0) {
        sw |= AP_SW_TASK | AP_SW_TASK_L1 | AP_SW_TASK_L2;
    }
    if ((bits & (ACL_PROF_TASK_TIME | ACL_PROF_OP_ATTR)) != 0) {
        sw |= AP_SW_TASK | AP_SW_TASK_L1;
    }
    if ((bits & ACL_PROF_TASK_TIME_L0) != 0) {
        sw |= AP_SW_TASK;
    }
    return sw;
}

uint32_t ap__channel_switches(const ap__channel_request *request)
{
    const ap__settings *s = request->settings;
    uint64_t bits = request->data_types;
    uint32_t sw = AP_SW_ALWAYS;
    uint8_t ids[20];
    const struct {
        uint32_t sw;
        bool on;
    } plain[] = {
        {AP_SW_METRICS, (bits & (ACL_PROF_AICORE_METRICS | AP_BIT_AIV_METRICS)) != 0 &&
                            request->metrics != ACL_AICORE_NONE},
        {AP_SW_SAMPLE, (bits & (AP_BIT_AIC_SAMPLE | AP_BIT_AIV_SAMPLE)) != 0 &&
                           request->metrics != ACL_AICORE_NONE},
        {AP_SW_AICPU, (bits & ACL_PROF_AICPU) != 0},
        {AP_SW_HCCL, (bits & ACL_PROF_HCCL_TRACE) != 0},
        {AP_SW_L2, (bits & ACL_PROF_L2CACHE) != 0},
        {AP_SW_TRAINING, (bits & ACL_PROF_TRAINING_TRACE) != 0},
        {AP_SW_CPU, (bits & AP_BIT_CPU) != 0 || s->cpu_hz != 0},
        {AP_SW_MEM, (bits & AP_BIT_HARDWARE_MEM) != 0 || s->hardware_mem_hz != 0},
        {AP_SW_IO, (bits & AP_BIT_IO) != 0 || s->io_hz != 0},
        {AP_SW_LINK, (bits & AP_BIT_INTERCONNECTION) != 0 || s->interconnection_hz != 0},
        {AP_SW_DVPP, (bits & AP_BIT_DVPP) != 0 || s->dvpp_hz != 0},
        {AP_SW_INSTR, (bits & AP_BIT_INSTR) != 0},
        {AP_SW_POWER, s->low_power_hz != 0},
        {AP_SW_NTS, s->nts_metrics[0] != '\0'},
    };

    if ((bits & ACL_PROF_API_STATS) != 0) {
        return 0; /* counts calls on the host, nothing of devices */
    }
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        sw |= plain[i].on ? plain[i].sw : 0;
    }
    sw |= ap__task_switches(bits);
    if ((sw & AP_SW_METRICS) != 0) {
        sw &= ~(uint32_t)AP_SW_SAMPLE; /* one file, one kind of records */
    }
    if ((sw & AP_SW_MEM) != 0 && ap__qos_ids(s, ids) != 0) {
        sw |= AP_SW_QOS;
    }
    return sw;
}

static uint32_t ap__period(const ap__channel_row *row, const ap__channel_request *request,
                           const ap__intervals *iv)
{
    switch (row->period) {
    case AP_PERIOD_MEM:
        return iv->mem;
    case AP_PERIOD_MEM_10:
        return iv->mem > AP_MEM_MIN_MS ? iv->mem : AP_MEM_MIN_MS;
    case AP_PERIOD_IO:
        return iv->io;
    case AP_PERIOD_LINK:
        return iv->link;
    case AP_PERIOD_DVPP:
        return iv->dvpp;
    case AP_PERIOD_CPU:
        return iv->cpu;
    case AP_PERIOD_SAMPLE:
        return iv->sample;
    case AP_PERIOD_100:
        return 100;
    case AP_PERIOD_AICPU:
        return (request->chip == 15 || request->chip == 16) &&
                       request->api_version >= AP_API_AICPU_5MS
                   ? 5
                   : 10;
    case AP_PERIOD_TSFW:
        if (ap__platform_of(request->chip).kind == AP_CLASS_STARS_V6) {
            return 0;
        }
        return iv->cpu != 0 ? iv->cpu : 20;
    default:
        return 0;
    }
}

static void ap__instr_file(ap__channel_plan *plan, ap__chip_class kind)
{
    static const char *const types[] = {"aic", "aiv0", "aiv1"};
    uint32_t c = plan->channel;
    uint32_t n = c <= 42 ? c - 11 : c <= 84 ? c - 55 + 32 : c - 86 + 62;

    (void)snprintf(plan->file, sizeof(plan->file),
                   kind == AP_CLASS_STARS_V6 ? "instr.biu_perf_group%" PRIu32 "_%s"
                                             : "instr.group_%" PRIu32 "_%s",
                   n / 3, types[n % 3]);
}

static void ap__plan_one(ap__channel_plan *plan, const ap__channel_row *row, uint32_t channel,
                         const ap__channel_request *request, const ap__platform *platform,
                         const ap__intervals *iv)
{
    memset(plan, 0, sizeof(*plan));
    plan->channel = (uint16_t)channel;
    plan->order = row->order;
    plan->check = row->check;
    plan->late = (row->flags & AP_ROW_LATE) != 0;
    plan->flush = (row->flags & AP_ROW_FLUSH) != 0;
    plan->period_ms = ap__period(row, request, iv);
    plan->flags = AP_HAL_START_REAL_TIME;
    plan->flags |= row->order == AP_ORDER_OTHER && plan->period_ms != 0 && !plan->late
                       ? AP_HAL_START_PERIPHERAL
                       : 0;
    plan->record_bytes = row->record_bytes;
    if (row->file != NULL) {
        (void)snprintf(plan->file, sizeof(plan->file), "%s", row->file);
    } else {
        ap__instr_file(plan, platform->kind);
    }
    ap__channel_config((ap__config_kind)row->config, (row->flags & AP_ROW_SAMPLED) != 0, request,
                       platform, iv, plan);
}

static bool ap__planned(const ap__channel_plan *plan, size_t count, uint32_t channel)
{
    for (size_t i = 0; i < count; i++) {
        if (plan[i].channel == channel) {
            return true;
        }
    }
    return false;
}

size_t ap__channel_plan_make(const ap__channel_request *request, const ap__hal_channels *offered,
                             ap__channel_plan plan[AP_HAL_MAX_CHANNELS])
{
    uint32_t switches = ap__channel_switches(request);
    ap__platform platform = ap__platform_of(request->chip);
    uint32_t chip = ap__row_chips(request->chip);
    ap__intervals iv;
    size_t count = 0;
    bool before = false;

    ap__intervals_of(request, &iv);
    for (size_t i = 0; i < AP_ROWS; i++) {
        const ap__channel_row *row = &ap__rows[i];
        uint32_t last = row->last != 0 ? row->last : row->channel;
        bool taken = false;

        if ((row->chips & chip) != 0 && (row->switches & switches) != 0 &&
            !((row->flags & AP_ROW_UNLESS_BEFORE) != 0 && before)) {
            for (uint32_t c = row->channel; c <= last; c++) {
                bool there = offered == NULL || ap__hal_has(offered, c) ||
                             (row->flags & AP_ROW_LATE) != 0;

                if (there && !ap__planned(plan, count, c)) {
                    ap__plan_one(&plan[count++], row, c, request, &platform, &iv);
                    taken = true;
                }
            }
        }
        before = taken;
    }
    return count;
}

/* ---- what cannot be had ---- */

typedef struct ap__asked {
    uint32_t sw;
    const char *bit;     /* constant that asks by dataTypeConfig */
    const char *setting; /* constant that asks by aclprofSetConfig */
} ap__asked;

static const ap__asked ap__checked[] = {
    {AP_SW_TASK, "ACL_PROF_TASK_TIME", NULL},
    {AP_SW_METRICS, "ACL_PROF_AICORE_METRICS", NULL},
    {AP_SW_SAMPLE, "AI core sampling", NULL},
    {AP_SW_AICPU, "ACL_PROF_AICPU", NULL},
    {AP_SW_L2, "ACL_PROF_L2CACHE", NULL},
    {AP_SW_INSTR, "instruction profiling", NULL},
    {AP_SW_MEM, "hardware memory profiling", "ACL_PROF_SYS_HARDWARE_MEM_FREQ"},
    {AP_SW_IO, "IO profiling", "ACL_PROF_SYS_IO_FREQ"},
    {AP_SW_LINK, "interconnection profiling", "ACL_PROF_SYS_INTERCONNECTION_FREQ"},
    {AP_SW_DVPP, "DVPP profiling", "ACL_PROF_DVPP_FREQ"},
    {AP_SW_CPU, "CPU profiling", "ACL_PROF_SYS_CPU_FREQ"},
    {AP_SW_POWER, NULL, "ACL_PROF_LOW_POWER_FREQ"},
    {AP_SW_QOS, NULL, "ACL_PROF_SYS_MEM_SERVICEFLOW"},
    {AP_SW_NTS, NULL, "ACL_PROF_NTS_METRICS"},
};

static bool ap__has_row(uint32_t sw, uint32_t chip, const ap__hal_channels *offered)
{
    for (size_t i = 0; i < AP_ROWS; i++) {
        const ap__channel_row *row = &ap__rows[i];
        uint32_t last = row->last != 0 ? row->last : row->channel;

        if ((row->chips & chip) == 0 || (row->switches & sw) == 0) {
            continue;
        }
        for (uint32_t c = row->channel; c <= last; c++) {
            if (offered == NULL || (row->flags & AP_ROW_LATE) != 0 || ap__hal_has(offered, c)) {
                return true;
            }
        }
    }
    return false;
}

static bool ap__by_bit(const ap__asked *asked, uint64_t bits)
{
    switch (asked->sw) {
    case AP_SW_MEM:
        return (bits & AP_BIT_HARDWARE_MEM) != 0;
    case AP_SW_IO:
        return (bits & AP_BIT_IO) != 0;
    case AP_SW_LINK:
        return (bits & AP_BIT_INTERCONNECTION) != 0;
    case AP_SW_DVPP:
        return (bits & AP_BIT_DVPP) != 0;
    case AP_SW_CPU:
        return (bits & AP_BIT_CPU) != 0;
    default:
        return asked->bit != NULL;
    }
}

aclError ap__channel_check(const ap__channel_request *request, const ap__hal_channels *offered,
                           char *text, size_t size)
{
    uint32_t switches = ap__channel_switches(request);
    uint32_t chip = ap__row_chips(request->chip);
    aclError code = ACL_SUCCESS;

    for (size_t i = 0; i < sizeof(ap__checked) / sizeof(ap__checked[0]); i++) {
        const ap__asked *a = &ap__checked[i];

        if ((switches & a->sw) == 0 || ap__has_row(a->sw, chip, offered)) {
            continue;
        }
        code = ap__by_bit(a, request->data_types) ? ACL_ERROR_PROFILING_FAILURE
                                                  : ACL_ERROR_INVALID_PROFILING_CONFIG;
        (void)snprintf(text, size,
                       "The current system or device does not support %s. Reason: %s has no "
                       "channel for it; leave it out.",
                       code == ACL_ERROR_PROFILING_FAILURE ? a->bit : a->setting,
                       ap__has_row(a->sw, chip, NULL) ? "the driver of this device"
                                                      : "the chip of this device");
        return code;
    }
    if (size != 0) {
        text[0] = '\0';
    }
    return ACL_SUCCESS;
}
