/* SPDX-License-Identifier: Apache-2.0 */
/* The channel table: every chip class, data type and setting; the bytes that the driver gets. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/channels.h"

#define L0 ACL_PROF_TASK_TIME_L0
#define L1 (ACL_PROF_TASK_TIME | L0)
#define L2 (ACL_PROF_TASK_TIME_L2 | L1)

typedef struct asked {
    ap__channel_request r;
    ap__settings s;
    ap__channel_plan plan[AP_HAL_MAX_CHANNELS];
    size_t count;
} asked;

static void ask(asked *a, uint32_t chip, uint64_t bits, int32_t metrics)
{
    memset(&a->r, 0, sizeof(a->r));
    a->r = (ap__channel_request){.chip = chip, .api_version = 0x072418, .data_types = bits,
                                 .metrics = metrics, .settings = &a->s};
    a->count = ap__channel_plan_make(&a->r, NULL, a->plan);
}

static const ap__channel_plan *of(const asked *a, uint32_t channel)
{
    for (size_t i = 0; i < a->count; i++) {
        if (a->plan[i].channel == channel) {
            return &a->plan[i];
        }
    }
    fail_msg("no channel %u", channel);
    return NULL;
}

static uint32_t u32(const ap__channel_plan *p, size_t at)
{
    assert_true(at + 4 <= p->config_bytes);
    return (uint32_t)p->config[at] | (uint32_t)p->config[at + 1] << 8 |
           (uint32_t)p->config[at + 2] << 16 | (uint32_t)p->config[at + 3] << 24;
}

static uint32_t u16(const ap__channel_plan *p, size_t at)
{
    assert_true(at + 2 <= p->config_bytes);
    return (uint32_t)p->config[at] | (uint32_t)p->config[at + 1] << 8;
}

/* The plan as "44 50 53", ascending. */
static void assert_channels(const asked *a, const char *expected)
{
    char text[1024] = "";
    size_t used = 0;

    for (uint32_t c = 0; c < AP_HAL_MAX_CHANNELS; c++) {
        for (size_t i = 0; i < a->count; i++) {
            if (a->plan[i].channel == c) {
                used += (size_t)snprintf(text + used, sizeof(text) - used, used != 0 ? " %u" : "%u",
                                         c);
            }
        }
    }
    if (strcmp(text, expected) != 0) {
        fail_msg("chip %u, bits %llx: %s instead of %s", a->r.chip,
                 (unsigned long long)a->r.data_types, text, expected);
    }
}

static void test_bits_by_chip(void **state)
{
    static const struct {
        uint64_t bits;
        const char *mini;  /* 0 */
        const char *c910;  /* 1 */
        const char *c310p; /* 4 */
        const char *a2;    /* 5 */
        const char *c310b; /* 7 */
        const char *a5;    /* 15 */
    } rows[] = {
        {ACL_PROF_MSPROFTX, "44", "44", "44", "44 50", "44 50", "44 50"},
        {ACL_PROF_ACL_API | ACL_PROF_HCCL_TRACE | ACL_PROF_RUNTIME_API | ACL_PROF_GE_API_L0 |
             ACL_PROF_GE_API_L1 | ACL_PROF_TASK_MEMORY | ACL_PROF_AICORE_SHAPE,
         "44", "44", "44", "44 50 143 144", "44 50", "44 50 143 144"},
        {ACL_PROF_API_STATS | ACL_PROF_ACL_API, "", "", "", "", "", ""},
        {L0, "44", "44 45", "44 45", "44 50 143 144", "44 50", "44 50 143 144"},
        {L1, "44", "44 45", "44 45", "44 50 143 144", "44 50", "44 50 143 144 147 149"},
        {ACL_PROF_OP_ATTR | L1, "44", "44 45", "44 45", "44 50 143 144", "44 50",
         "44 50 143 144 147 149"},
        {L2, "44", "44 45", "44 45", "44 50 143 144", "44 50",
         "44 50 143 144 147 148 149 151"},
        {ACL_PROF_TASK_TIME_L3 | L2, "44", "44 45", "44 45", "44 50 143 144", "44 50",
         "44 50 143 144 147 148 149 151"},
        {ACL_PROF_AICORE_METRICS, "43 44", "43 44 85", "43 44 85 132", "44 50 53 132",
         "44 50 53 132", "44 50 53 132"},
        {ACL_PROF_AICPU, "44 143 144", "44 143 144", "44 143 144", "44 50 143 144",
         "44 50 143 144", "44 50 143 144"},
        {ACL_PROF_L2CACHE, "44", "44 47", "44 47", "44 50 134", "44 47 50", "44 50 134"},
        {ACL_PROF_TRAINING_TRACE, "44 46", "44 46", "44 46", "44 50", "44 50", "44 50"},
        {AP_BIT_CPU, "10 44", "10 44", "10 44", "10 44 50", "10 44 50", "10 44 50"},
        {AP_BIT_HARDWARE_MEM, "7 44 130 131 142", "1 7 8 44 130 131 142", "7 8 44 130 131 142",
         "1 8 44 50 52 130 131 142", "7 8 44 50 52 130 131 142", "1 8 44 50 52 130 131 142"},
        {AP_BIT_IO, "4 44", "4 44 129", "44", "4 44 50 129", "4 44 50", "44 50 129 146"},
        {AP_BIT_INTERCONNECTION, "44", "3 9 44", "3 44", "3 9 44 50 52", "44 50 52",
         "3 9 44 50 52 146"},
        {AP_BIT_DVPP, "6 44", "6 44", "44 135 136 137 138 139 140 141",
         "44 50 135 136 137 138 139 140 141", "44 50 135 136 137 138 139 140 141",
         "44 50 135 136 137 138 139 140 141"},
        {AP_BIT_AIC_SAMPLE, "43 44", "43 44 85", "43 44 85", "44 50 54", "44 50 54", "44 50 54"},
        {AP_BIT_AIC_SAMPLE | ACL_PROF_AICORE_METRICS, "43 44", "43 44 85", "43 44 85 132",
         "44 50 53 132", "44 50 53 132", "44 50 53 132"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        static const uint32_t chips[] = {0, 1, 4, 5, 7, 15};
        const char *const expected[] = {rows[i].mini, rows[i].c910,  rows[i].c310p,
                                        rows[i].a2,   rows[i].c310b, rows[i].a5};

        for (size_t k = 0; k < 6; k++) {
            asked a = {0};

            ask(&a, chips[k], rows[i].bits, ACL_AICORE_MEMORY_BANDWIDTH);
            assert_channels(&a, expected[k]);
        }
    }
}

static void test_all_other_chips(void **state)
{
    static const struct {
        uint32_t chip;
        const char *expected; /* task time with metrics */
    } rows[] = {{2, "43 44 45 48 49 85"}, {3, "43 44 45 85"}, {8, "44 50 53"},
                {9, "150"},               {11, "44 50 53"},   {12, "44 50 53"},
                {16, "44 50 53 132 143 144 147 149"},         {17, "44 50 53 152"},
                {18, "44 50 53 152"},     {21, "44 50 53"},
                {99, "44 50 53 132 143 144 147 149"} /* not known: as the newest */};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        asked a = {0};

        ask(&a, rows[i].chip, L1 | ACL_PROF_AICORE_METRICS, ACL_AICORE_PIPE_UTILIZATION);
        assert_channels(&a, rows[i].expected);
    }
}

static void test_instr(void **state)
{
    asked a = {0};
    size_t count = 0;

    (void)state;
    ask(&a, 5, AP_BIT_INSTR, ACL_AICORE_NONE);
    for (size_t i = 0; i < a.count; i++) {
        count += strncmp(a.plan[i].file, "instr.", 6) == 0;
    }
    assert_int_equal(count, 75); /* 25 groups of three */
    assert_string_equal(of(&a, 11)->file, "instr.group_0_aic");
    assert_string_equal(of(&a, 40)->file, "instr.group_9_aiv1");
    assert_string_equal(of(&a, 42)->file, "instr.group_10_aiv0");
    assert_string_equal(of(&a, 55)->file, "instr.group_10_aiv1");
    assert_string_equal(of(&a, 56)->file, "instr.group_11_aic");
    assert_string_equal(of(&a, 84)->file, "instr.group_20_aiv0");
    assert_string_equal(of(&a, 86)->file, "instr.group_20_aiv1");
    assert_string_equal(of(&a, 87)->file, "instr.group_21_aic");
    assert_string_equal(of(&a, 98)->file, "instr.group_24_aiv1");
    assert_int_equal(of(&a, 98)->config_bytes, 8);
    ask(&a, 15, AP_BIT_INSTR, ACL_AICORE_NONE);
    assert_string_equal(of(&a, 98)->file, "instr.biu_perf_group24_aiv1");
    assert_int_equal(of(&a, 98)->config_bytes, 16);
    assert_int_equal(u32(of(&a, 98), 8), 2);
    assert_int_equal(u32(of(&a, 98), 12), 24);
    a.r.api_version = 0x07241a;
    a.count = ap__channel_plan_make(&a.r, NULL, a.plan);
    assert_int_equal(of(&a, 98)->config_bytes, 17);
    assert_int_equal(of(&a, 98)->config[16], 1);
}

static void test_order_and_offered(void **state)
{
    asked a = {0};
    ap__hal_channels offered = {{0}};

    (void)state;
    a.s.hardware_mem_hz = 50;
    a.s.interconnection_hz = 10;
    ask(&a, 5, L1 | ACL_PROF_AICORE_METRICS | ACL_PROF_L2CACHE | ACL_PROF_AICPU, 1);
    assert_int_equal(a.plan[0].channel, 44);
    assert_int_equal(a.plan[1].channel, 50);
    assert_int_equal(a.plan[2].channel, 53);
    for (size_t i = 1; i < a.count; i++) {
        assert_true(a.plan[i].order >= a.plan[i - 1].order);
    }
    /* what the driver lacks is not planned, but for what may come; 47 stands in for 134 */
    offered.bits[0] = 1ull << 50 | 1ull << 47 | 1ull << 3;
    a.count = ap__channel_plan_make(&a.r, &offered, a.plan);
    assert_channels(&a, "3 47 50 143 144");
    assert_true(of(&a, 143)->late);
    assert_false(of(&a, 50)->late);
}

/* Sizes, periods and files of the specification's table. */
static void test_table(void **state)
{
    static const struct {
        uint32_t chip;
        uint32_t channel;
        const char *file;
        uint32_t record;
        uint32_t period;
        uint32_t config;
    } rows[] = {
        {5, 1, "hbm.data", 24, 20, 20},
        {5, 3, "pcie.data", 96, 50, 0},
        {5, 4, "nic.data", 0, 25, 0},
        {1, 6, "dvpp.data", 0, 100, 0},
        {4, 7, "ddr.data", 20, 20, 20},
        {5, 8, "llc.data", 24, 20, 8},
        {5, 9, "hccs.data", 0, 50, 0},
        {5, 10, "tscpu.data", 304, 40, 16},
        {1, 43, "aicore.data", 128, 0, 56},
        {5, 44, "ts_track.data", 40, 40, 36},
        {0, 44, "ts_track.data", 32, 40, 36},
        {15, 44, "ts_track.data", 40, 0, 36},
        {1, 45, "hwts.data", 64, 0, 4},
        {1, 46, "training_trace.data", 1, 0, 4},
        {2, 48, "hwts.aiv_data", 64, 0, 4},
        {2, 49, "ts_track.aiv_data", 40, 40, 36},
        {1, 47, "l2_cache.data", 72, 0, 36},
        {5, 50, "stars_soc.data", 64, 0, 44},
        {15, 50, "stars_soc.data", 32, 0, 44},
        {5, 52, "stars_soc_profile.data", 64, 0, 56},
        {15, 52, "stars_soc_profile.data", 64, 0, 84},
        {5, 53, "ffts_profile.data", 128, 0, 72},
        {15, 53, "ffts_profile.data", 128, 0, 88},
        {1, 85, "aiVectorCore.data", 128, 0, 56},
        {5, 129, "roce.data", 0, 25, 0},
        {5, 130, "npu_mem.app", 32, 20, 16},
        {5, 131, "npu_mem.data", 32, 20, 16},
        {5, 132, "lpmInfoConv.data", 888, 100, 8},
        {7, 132, "lpmFreqConv.data", 888, 100, 8},
        {5, 133, "qos.data", 64, 20, 28},
        {5, 134, "socpmu.data", 80, 0, 28},
        {5, 135, "dvpp.venc", 0, 100, 0},
        {5, 141, "dvpp.scd", 0, 100, 0},
        {5, 142, "npu_module_mem.data", 24, 20, 16},
        {5, 143, "aicpu.data", 256, 10, 0},
        {15, 146, "ub.data", 128, 50, 0},
        {15, 147, "ccu0.instr", 64, 0, 0},
        {15, 151, "ccu1.stat", 2816, 0, 0},
        {9, 150, "nano_stars_profile.data", 64, 0, 0},
        {17, 153, "nts_pmu.data", 1, 0, 24},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        asked a = {0};
        const ap__channel_plan *p = NULL;

        a.s.hardware_mem_hz = 50;
        a.s.interconnection_hz = 20;
        a.s.io_hz = 40;
        a.s.dvpp_hz = 10;
        a.s.cpu_hz = 25;
        strcpy(a.s.mem_serviceflow, "3,7");
        strcpy(a.s.nts_metrics, "Custom:0x1,2");
        ask(&a, rows[i].chip,
            L2 | ACL_PROF_AICORE_METRICS | ACL_PROF_L2CACHE | ACL_PROF_AICPU |
                ACL_PROF_TRAINING_TRACE,
            ACL_AICORE_MEMORY_BANDWIDTH);
        p = of(&a, rows[i].channel);
        assert_string_equal(p->file, rows[i].file);
        assert_int_equal(p->record_bytes, rows[i].record);
        assert_int_equal(p->period_ms, rows[i].period);
        assert_int_equal(p->config_bytes, rows[i].config);
    }
}

static void test_track_bytes(void **state)
{
    asked a = {0};
    const ap__channel_plan *p = NULL;

    (void)state;
    ask(&a, 5, ACL_PROF_MSPROFTX, ACL_AICORE_NONE);
    p = of(&a, 44);
    assert_int_equal(u32(p, 0), 20);
    assert_int_equal(u32(p, 24), 1); /* key points are always on */
    assert_int_equal(u32(p, 28), 0);
    assert_int_equal(u32(p, 32), 1);
    ask(&a, 5, L0 | ACL_PROF_AICPU | AP_BIT_TSFW, ACL_AICORE_NONE);
    assert_int_equal(u32(of(&a, 44), 28), 0x82000001u | 0x84000001u | 0x81000001u);
    assert_int_equal(u32(of(&a, 44), 16), 0);
    ask(&a, 0, L0, ACL_AICORE_NONE);
    assert_int_equal(u32(of(&a, 44), 16), 1);
}

static void test_task_bytes(void **state)
{
    asked a = {0};
    const ap__channel_plan *p = NULL;

    (void)state;
    ask(&a, 5, L0, ACL_AICORE_NONE);
    p = of(&a, 50);
    for (size_t at = 0; at < 44; at += 4) {
        assert_int_equal(u32(p, at), at == 0 || at == 24);
    }
    ask(&a, 5, ACL_PROF_MSPROFTX, ACL_AICORE_NONE);
    for (size_t at = 0; at < 44; at += 4) {
        assert_int_equal(u32(of(&a, 50), at), 0);
    }
}

static void test_counter_bytes(void **state)
{
    static const uint32_t cube[] = {0x416, 0x417, 0x9, 0x302, 0xc, 0x303, 0x54, 0x55};
    static const uint32_t vector[] = {0x8, 0xa, 0x9, 0xb, 0xc, 0xd, 0x54, 0x55};
    static const uint32_t v6[] = {0x501, 0x301, 0x1, 0x701, 0x202, 0x203, 0x34, 0x35, 0x714, 0};
    asked a = {0};
    const ap__channel_plan *p = NULL;

    (void)state;
    ask(&a, 5, ACL_PROF_AICORE_METRICS, ACL_AICORE_PIPE_UTILIZATION);
    p = of(&a, 53);
    assert_int_equal(u32(p, 0), 3);
    for (size_t half = 0; half < 2; half++) {
        size_t at = 4 + 32 * half;

        assert_int_equal(u32(p, at), 1); /* per task */
        assert_int_equal(u32(p, at + 4), 0);
        assert_int_equal(u32(p, at + 8), 0xFFFFFFFFu);
        assert_int_equal(u32(p, at + 12), 8);
        for (size_t i = 0; i < 8; i++) {
            assert_int_equal(u16(p, at + 16 + 2 * i), half == 0 ? cube[i] : vector[i]);
        }
    }
    assert_int_equal(u32(p, 68), 0);
    ask(&a, 5, AP_BIT_AIV_METRICS, ACL_AICORE_PIPE_UTILIZATION);
    assert_int_equal(u32(of(&a, 53), 0), 2);
    ask(&a, 15, ACL_PROF_AICORE_METRICS, ACL_AICORE_PIPE_UTILIZATION);
    p = of(&a, 53);
    assert_int_equal(u32(p, 16), 9);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(u16(p, 20 + 2 * i), v6[i]);
        assert_int_equal(u16(p, 40 + 16 + 2 * i), v6[i]);
    }
    ask(&a, 5, AP_BIT_AIC_SAMPLE | AP_BIT_AIV_SAMPLE, ACL_AICORE_RESOURCE_CONFLICT_RATIO);
    p = of(&a, 54);
    assert_int_equal(u32(p, 0), 3);
    assert_int_equal(u32(p, 4), 2); /* by time */
    assert_int_equal(u32(p, 8), 10);
    assert_int_equal(u32(p, 16), 3);
    assert_int_equal(p->record_bytes, 96);
    ask(&a, 15, AP_BIT_AIC_SAMPLE, ACL_AICORE_RESOURCE_CONFLICT_RATIO);
    assert_int_equal(of(&a, 54)->record_bytes, 112);
    ask(&a, 1, AP_BIT_AIC_SAMPLE, ACL_AICORE_RESOURCE_CONFLICT_RATIO);
    p = of(&a, 43);
    assert_int_equal(u32(p, 0), 1);
    assert_int_equal(u32(p, 4), 26214);
    assert_int_equal(u32(p, 8), 10);
    assert_int_equal(u32(p, 16), 3);
    assert_int_equal(u32(p, 20), 0x64);
    assert_int_equal(p->record_bytes, 96);
    ask(&a, 5, ACL_PROF_AICORE_METRICS, ACL_AICORE_NONE);
    assert_channels(&a, "44 50");
}

static void test_memory_bytes(void **state)
{
    asked a = {0};

    (void)state;
    a.s.hardware_mem_hz = 100;
    strcpy(a.s.llc_mode, "write");
    ask(&a, 5, L0, ACL_AICORE_NONE);
    assert_int_equal(u32(of(&a, 1), 0), 10);
    assert_int_equal(u32(of(&a, 1), 4), 0xFFFFFFFFu);
    assert_int_equal(u32(of(&a, 1), 8), 2);
    assert_int_equal(u32(of(&a, 1), 12), 0);
    assert_int_equal(u32(of(&a, 1), 16), 1);
    assert_int_equal(u32(of(&a, 8), 4), 2);
    assert_int_equal(u32(of(&a, 130), 8), 0);
    assert_int_equal(u32(of(&a, 131), 8), 1);
    assert_int_equal(u32(of(&a, 142), 4), 0); /* nanoseconds, as host records hold them */
    a.r.host_counter = true;
    a.count = ap__channel_plan_make(&a.r, NULL, a.plan);
    assert_int_equal(u32(of(&a, 142), 4), 1);
    a.s.llc_mode[0] = '\0';
    a.s.hardware_mem_hz = 3;
    ask(&a, 5, L0, ACL_AICORE_NONE);
    assert_int_equal(u32(of(&a, 8), 4), 1);
    assert_int_equal(of(&a, 8)->period_ms, 333);
    a.s.hardware_mem_hz = 10000; /* newer chips; no driver takes less than 10 ms here */
    ask(&a, 15, L0, ACL_AICORE_NONE);
    assert_int_equal(of(&a, 1)->period_ms, 10);
}

static void test_soc_profile_bytes(void **state)
{
    static const uint32_t on_5[14] = {1, 20, 1, 20, 1, 50, 1, 50, 0, 0, 0, 0, 0, 0};
    static const uint32_t on_15[14] = {1, 20, 1, 20, 1, 50, 1, 50, 1, 100, 0, 0, 1, 50};
    asked a = {0};

    (void)state;
    a.s.hardware_mem_hz = 50;
    a.s.interconnection_hz = 20;
    ask(&a, 5, L0, ACL_AICORE_NONE);
    for (size_t i = 0; i < 14; i++) {
        assert_int_equal(u32(of(&a, 52), 4 * i), on_5[i]);
    }
    a.s.low_power_hz = 10;
    strcpy(a.s.mem_serviceflow, "4,9,12");
    ask(&a, 15, L0, ACL_AICORE_NONE);
    for (size_t i = 0; i < 14; i++) {
        assert_int_equal(u32(of(&a, 52), 4 * i), on_15[i]);
    }
    assert_int_equal(u32(of(&a, 52), 56), 20);
    assert_int_equal(u16(of(&a, 52), 60), 3);
    assert_int_equal(of(&a, 52)->config[64], 4);
    assert_int_equal(of(&a, 52)->config[66], 12);
    assert_int_equal(of(&a, 52)->config[67], 0);
    assert_int_equal(u16(of(&a, 133), 4), 3);
    assert_int_equal(of(&a, 133)->config[9], 9);
}

static void test_l2_bytes(void **state)
{
    static const struct {
        uint32_t chip;
        uint16_t events[8];
    } lists[] = {
        {5, {0xf6, 0xfb, 0xfc, 0xbf, 0x90, 0x91, 0x9c, 0x9d}},
        {7, {0xf6, 0xfb, 0xfc, 0xbf, 0x90, 0x91, 0x9c, 0x9d}},
        {1, {0x5b, 0x59, 0x5c, 0x7d, 0x7e, 0x71, 0x79, 0x7c}},
        {4, {0x78, 0x79, 0x77, 0x71, 0x6a, 0x6c, 0x74, 0x62}},
        {2, {0x78, 0x79, 0x77, 0x71, 0x6a, 0x6c, 0x74, 0x62}},
        {17, {0x00, 0x75, 0x76, 0x77, 0x66, 0x67, 0x68, 0x69}},
    };
    asked a = {0};
    const ap__channel_plan *p = NULL;

    (void)state;
    ask(&a, 5, ACL_PROF_L2CACHE, ACL_AICORE_NONE);
    p = of(&a, 134);
    assert_int_equal(u16(p, 0), 0);
    assert_int_equal(u16(p, 2), p->config_bytes);
    assert_int_equal(u16(p, 4), 1);
    assert_int_equal(u16(p, 6), 20);
    assert_int_equal(u32(p, 8), 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(u16(p, 12 + 2 * i), lists[0].events[i]);
    }
    for (size_t k = 1; k < sizeof(lists) / sizeof(lists[0]); k++) {
        ask(&a, lists[k].chip, ACL_PROF_L2CACHE, ACL_AICORE_NONE);
        p = of(&a, 47);
        assert_int_equal(p->config_bytes, 36);
        assert_int_equal(u32(p, 0), 8);
        for (size_t i = 0; i < 8; i++) {
            assert_int_equal(u32(p, 4 + 4 * i), lists[k].events[i]);
        }
    }
    ask(&a, 15, ACL_PROF_L2CACHE, ACL_AICORE_NONE);
    assert_int_equal(u32(of(&a, 134), 8), 6);
}

static void test_no_config_is_too_long(void **state)
{
    (void)state;
    for (uint32_t chip = 0; chip < 24; chip++) {
        asked a = {0};

        a.s.hardware_mem_hz = a.s.io_hz = a.s.interconnection_hz = a.s.dvpp_hz = 10;
        a.s.low_power_hz = a.s.cpu_hz = 10;
        ask(&a, chip, ~(uint64_t)ACL_PROF_API_STATS, ACL_AICORE_MEMORY_ACCESS);
        for (size_t i = 0; i < a.count; i++) {
            assert_true(a.plan[i].config_bytes <= AP_HAL_MAX_CONFIG);
            assert_true(a.plan[i].file[0] != '\0');
            for (size_t k = 0; k < i; k++) {
                assert_true(a.plan[i].channel != a.plan[k].channel);
            }
        }
    }
}

static void assert_verdict(asked *a, uint32_t chip, uint64_t bits, aclError code,
                           const char *part)
{
    char text[256];

    ask(a, chip, bits, ACL_AICORE_PIPE_UTILIZATION);
    assert_int_equal(ap__channel_check(&a->r, NULL, text, sizeof(text)), code);
    if (strstr(text, part) == NULL) {
        fail_msg("no \"%s\" in: %s", part, text);
    }
}

static void test_unsupported(void **state)
{
    asked a = {0};
    ap__hal_channels offered = {{1ull << 44 | 1ull << 50, 0, 0}};
    char text[256];

    (void)state;
    for (uint32_t chip = 0; chip < 19; chip++) { /* every chip has its task times */
        if (chip != 6 && chip != 10 && chip != 13 && chip != 14) {
            assert_verdict(&a, chip, L2, ACL_SUCCESS, "");
        }
    }
    assert_verdict(&a, 5, L2 | ACL_PROF_AICORE_METRICS | ACL_PROF_L2CACHE | ACL_PROF_AICPU,
                 ACL_SUCCESS, "");
    assert_verdict(&a, 0, ACL_PROF_L2CACHE, ACL_ERROR_PROFILING_FAILURE, "ACL_PROF_L2CACHE");
    assert_verdict(&a, 9, ACL_PROF_AICPU, ACL_ERROR_PROFILING_FAILURE, "ACL_PROF_AICPU");
    assert_verdict(&a, 4, AP_BIT_IO, ACL_ERROR_PROFILING_FAILURE, "IO profiling");
    assert_verdict(&a, 1, AP_BIT_INSTR, ACL_ERROR_PROFILING_FAILURE, "instruction");
    a.s.io_hz = 10;
    assert_verdict(&a, 4, L0, ACL_ERROR_INVALID_PROFILING_CONFIG, "ACL_PROF_SYS_IO_FREQ");
    assert_verdict(&a, 5, L0, ACL_SUCCESS, "");
    a.s.io_hz = 0;
    a.s.low_power_hz = 10;
    assert_verdict(&a, 5, L0, ACL_ERROR_INVALID_PROFILING_CONFIG, "ACL_PROF_LOW_POWER_FREQ");
    assert_verdict(&a, 15, L0, ACL_SUCCESS, "");
    a.s.low_power_hz = 0;
    strcpy(a.s.nts_metrics, "PipeUtilization");
    assert_verdict(&a, 15, L0, ACL_ERROR_INVALID_PROFILING_CONFIG, "ACL_PROF_NTS_METRICS");
    assert_verdict(&a, 17, L0, ACL_SUCCESS, "");
    a.s.nts_metrics[0] = '\0';
    /* the chip has it, this device's driver does not */
    ask(&a, 5, L0 | ACL_PROF_AICORE_METRICS, ACL_AICORE_PIPE_UTILIZATION);
    assert_int_equal(ap__channel_check(&a.r, &offered, text, sizeof(text)),
                     ACL_ERROR_PROFILING_FAILURE);
    assert_non_null(strstr(text, "driver"));
    assert_non_null(strstr(text, "ACL_PROF_AICORE_METRICS"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_by_chip),
        cmocka_unit_test(test_all_other_chips),
        cmocka_unit_test(test_instr),
        cmocka_unit_test(test_order_and_offered),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_track_bytes),
        cmocka_unit_test(test_task_bytes),
        cmocka_unit_test(test_counter_bytes),
        cmocka_unit_test(test_memory_bytes),
        cmocka_unit_test(test_soc_profile_bytes),
        cmocka_unit_test(test_l2_bytes),
        cmocka_unit_test(test_no_config_is_too_long),
        cmocka_unit_test(test_unsupported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
