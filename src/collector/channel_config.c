/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/channel_config.h"

#include <stdlib.h>
#include <string.h>

#include "writer/pmu_names.h"

#define AP_EVENTS_MAX 10u
#define AP_ALL_CORES 0xFFFFFFFFu
#define AP_ALMOST_FULL 26214u
#define AP_TS_AICPU 0x82000001u
#define AP_TS_MEMCPY 0x84000001u
#define AP_TS_MANAGEMENT 0x81000001u
#define AP_API_INSTR_LOSS 0x07241au /* interface from which instr channels report losses */

enum { AP_TYPE_TASK = 1, AP_TYPE_SAMPLE = 2 };

static void ap__u32(ap__channel_plan *plan, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++) {
        plan->config[plan->config_bytes++] = (uint8_t)(v >> 8 * i);
    }
}

static void ap__u16(ap__channel_plan *plan, uint32_t v)
{
    plan->config[plan->config_bytes++] = (uint8_t)v;
    plan->config[plan->config_bytes++] = (uint8_t)(v >> 8);
}

/* Numbers of a comma list as C writes them; what is none ends it. */
static uint32_t ap__events(const char *list, uint32_t *events, uint32_t max)
{
    uint32_t n = 0;

    while (n < max && *list != '\0') {
        char *end = NULL;
        unsigned long v = strtoul(list, &end, 0);

        if (end == list) {
            break;
        }
        events[n++] = (uint32_t)v;
        list = *end == ',' ? end + 1 : end;
    }
    return n;
}

static uint32_t ap__interval_ms(uint32_t hz, bool bit, uint32_t bit_ms)
{
    if (hz != 0) {
        return hz < 1000 ? 1000 / hz : 1;
    }
    return bit ? bit_ms : 0;
}

void ap__intervals_of(const ap__channel_request *request, ap__intervals *out)
{
    const ap__settings *s = request->settings;
    uint64_t bits = request->data_types;

    out->mem = ap__interval_ms(s->hardware_mem_hz, (bits & AP_BIT_HARDWARE_MEM) != 0, 100);
    out->io = ap__interval_ms(s->io_hz, (bits & AP_BIT_IO) != 0, 100);
    out->link = ap__interval_ms(s->interconnection_hz, (bits & AP_BIT_INTERCONNECTION) != 0, 100);
    out->dvpp = ap__interval_ms(s->dvpp_hz, (bits & AP_BIT_DVPP) != 0, 100);
    out->cpu = ap__interval_ms(s->cpu_hz, (bits & AP_BIT_CPU) != 0, 20);
    out->sample =
        ap__interval_ms(0, (bits & (AP_BIT_AIC_SAMPLE | AP_BIT_AIV_SAMPLE)) != 0, 10);
    out->power = ap__interval_ms(s->low_power_hz, false, 0);
}

uint32_t ap__qos_ids(const ap__settings *settings, uint8_t ids[20])
{
    uint32_t values[20];
    uint32_t n = ap__events(settings->mem_serviceflow, values, 20);

    for (uint32_t i = 0; i < n; i++) {
        ids[i] = (uint8_t)values[i];
    }
    return n;
}

static void ap__qos(ap__channel_plan *plan, const ap__settings *settings, uint32_t period)
{
    uint8_t ids[20] = {0};
    uint32_t n = ap__qos_ids(settings, ids);

    ap__u32(plan, n != 0 ? period : 0);
    ap__u16(plan, n);
    ap__u16(plan, 0);
    memcpy(plan->config + plan->config_bytes, ids, sizeof(ids));
    plan->config_bytes += sizeof(ids);
}

/* Channel 52: each of seven kinds with a switch and a period. */
static void ap__soc_profile(ap__channel_plan *plan, const ap__channel_request *request,
                            const ap__platform *platform, const ap__intervals *iv)
{
    bool v6 = platform->kind == AP_CLASS_STARS_V6;
    const uint32_t periods[7] = {iv->mem, iv->mem, iv->link, iv->link, iv->power, 0,
                                 v6 ? iv->link : 0};

    for (unsigned i = 0; i < 7; i++) {
        ap__u32(plan, periods[i] != 0);
        ap__u32(plan, periods[i]);
    }
    if (v6) {
        ap__qos(plan, request->settings, iv->mem);
    }
}

/* One core type's half of channels 53 and 54. */
static void ap__counter_half(ap__channel_plan *plan, const ap__channel_request *request,
                             bool vector, bool sampled, uint32_t slots, uint32_t period)
{
    uint32_t events[AP_EVENTS_MAX] = {0};
    ap__pmu_set set = ap__pmu_set_of(request->metrics, request->chip, vector);
    uint32_t n = ap__events(set.events, events, slots);

    ap__u32(plan, sampled ? AP_TYPE_SAMPLE : AP_TYPE_TASK);
    ap__u32(plan, period);
    ap__u32(plan, AP_ALL_CORES);
    ap__u32(plan, n);
    for (uint32_t i = 0; i < slots; i++) {
        ap__u16(plan, events[i]);
    }
}

static void ap__counters(ap__channel_plan *plan, const ap__channel_request *request,
                         const ap__platform *platform, bool sampled, const ap__intervals *iv)
{
    bool v6 = platform->kind == AP_CLASS_STARS_V6;
    uint64_t aic = sampled ? AP_BIT_AIC_SAMPLE : ACL_PROF_AICORE_METRICS;
    uint64_t aiv = sampled ? AP_BIT_AIV_SAMPLE : ACL_PROF_AICORE_METRICS | AP_BIT_AIV_METRICS;
    uint32_t period = sampled ? iv->sample : 0;
    uint32_t slots = v6 ? 10 : 8;
    uint32_t mode = 0;

    mode |= (request->data_types & aic) != 0 ? 1u : 0;
    mode |= (request->data_types & aiv) != 0 ? 2u : 0;
    ap__u32(plan, mode);
    ap__counter_half(plan, request, false, sampled, slots, period);
    ap__counter_half(plan, request, true, sampled, slots, period);
    ap__u32(plan, 0); /* tag; on 8-counter chips its high half is "partial" */
    if (v6) {
        ap__u32(plan, 0); /* block_shrink */
        ap__u32(plan, 0); /* partial */
    }
}

static void ap__aicore(ap__channel_plan *plan, const ap__channel_request *request, bool sampled,
                       const ap__intervals *iv)
{
    uint32_t events[8] = {0};
    ap__pmu_set set = ap__pmu_set_of(request->metrics, request->chip, plan->channel == 85);
    uint32_t n = ap__events(set.events, events, 8);

    ap__u32(plan, sampled);
    ap__u32(plan, sampled ? AP_ALMOST_FULL : 0);
    ap__u32(plan, sampled ? iv->sample : 0);
    ap__u32(plan, AP_ALL_CORES);
    ap__u32(plan, n);
    for (unsigned i = 0; i < 8; i++) {
        ap__u32(plan, events[i]);
    }
    ap__u32(plan, 0);
}

static void ap__tsfw(ap__channel_plan *plan, const ap__channel_request *request,
                     const ap__platform *platform)
{
    uint32_t switches = ap__channel_switches(request);
    bool task = (switches & AP_SW_TASK) != 0;
    uint32_t copies = 0;

    copies |= task ? AP_TS_MEMCPY : 0;
    copies |= (switches & AP_SW_AICPU) != 0 ? AP_TS_AICPU : 0;
    copies |= (request->data_types & AP_BIT_TSFW) != 0 ? AP_TS_MANAGEMENT : 0;
    ap__u32(plan, plan->period_ms);
    ap__u32(plan, 0); /* task_track */
    ap__u32(plan, 0); /* cpu_usage */
    ap__u32(plan, 0); /* aicore_status */
    ap__u32(plan, task && platform->kind == AP_CLASS_MINI); /* timeline: its only task times */
    ap__u32(plan, 0); /* aiv_status */
    ap__u32(plan, 1); /* keypoint */
    ap__u32(plan, copies);
    ap__u32(plan, 1); /* block numbers */
}

static void ap__soclog(ap__channel_plan *plan, const ap__channel_request *request)
{
    uint32_t task = (ap__channel_switches(request) & AP_SW_TASK) != 0;

    for (unsigned i = 0; i < 11; i++) {
        ap__u32(plan, i == 0 || i == 6 ? task : 0); /* acsq_task, ffts_context */
    }
}

static void ap__bandwidth(ap__channel_plan *plan)
{
    ap__u32(plan, plan->period_ms);
    ap__u32(plan, 0xFFFFFFFFu); /* every master */
    ap__u32(plan, 2);
    ap__u32(plan, 0); /* read */
    ap__u32(plan, 1); /* write */
}

static void ap__mem(ap__channel_plan *plan, uint32_t in_cycles, uint32_t event)
{
    ap__u32(plan, plan->period_ms);
    ap__u32(plan, in_cycles);
    ap__u32(plan, event);
    ap__u32(plan, 0);
}

static void ap__l2(ap__channel_plan *plan, const ap__channel_request *request)
{
    uint32_t events[8];
    uint32_t n = ap__events(ap__pmu_l2_events(request->chip), events, 8);

    ap__u32(plan, n);
    for (uint32_t i = 0; i < n; i++) {
        ap__u32(plan, events[i]);
    }
}

/* Channel 134: the L2 counters, which sit in the home agents. */
static void ap__soc_pmu(ap__channel_plan *plan, const ap__channel_request *request)
{
    uint32_t events[8] = {0};
    uint32_t n = ap__events(ap__pmu_l2_events(request->chip), events, 8);

    ap__u16(plan, 0);
    ap__u16(plan, 4 + 4 + 20); /* with this head */
    ap__u16(plan, 1);
    ap__u16(plan, 20);
    ap__u32(plan, n);
    for (unsigned i = 0; i < 8; i++) {
        ap__u16(plan, events[i]);
    }
}

/* Group and core type of an instruction channel. */
static void ap__instr_group(uint32_t channel, uint32_t *group, uint32_t *type)
{
    uint32_t n = 0;

    if (channel <= 42) {
        n = channel - 11;
    } else if (channel <= 84) {
        n = channel - 55 + 32;
    } else {
        n = channel - 86 + 62; /* 85 is not one of them */
    }
    *group = n / 3;
    *type = n % 3;
}

static void ap__instr(ap__channel_plan *plan, const ap__channel_request *request,
                      const ap__platform *platform)
{
    uint32_t group = 0;
    uint32_t type = 0;

    ap__u32(plan, 16); /* period; ignored outside sampling of the program counter */
    ap__u32(plan, 0);  /* trace */
    if (platform->kind == AP_CLASS_STARS_V6) {
        ap__instr_group(plan->channel, &group, &type);
        ap__u32(plan, type);
        ap__u32(plan, group);
        if (request->api_version >= AP_API_INSTR_LOSS) {
            plan->config[plan->config_bytes++] = 1; /* report losses */
        }
    }
}

static void ap__nts(ap__channel_plan *plan, const ap__channel_request *request)
{
    const char *text = request->settings->nts_metrics;
    uint32_t events[10] = {0};
    uint32_t n = 0;

    if (strncmp(text, "Custom:", 7) == 0) {
        n = ap__events(text + 7, events, 10);
    } else {
        n = ap__events(ap__pmu_set_of(ACL_AICORE_PIPE_UTILIZATION, request->chip, false).events,
                       events, 10);
    }
    ap__u32(plan, n);
    for (unsigned i = 0; i < 10; i++) {
        ap__u16(plan, events[i]);
    }
}

void ap__channel_config(ap__config_kind kind, bool sampled, const ap__channel_request *request,
                        const ap__platform *platform, const ap__intervals *iv,
                        ap__channel_plan *plan)
{
    plan->config_bytes = 0;
    switch (kind) {
    case AP_CONFIG_NONE:
        break;
    case AP_CONFIG_BANDWIDTH:
        ap__bandwidth(plan);
        break;
    case AP_CONFIG_LLC:
        ap__u32(plan, plan->period_ms);
        ap__u32(plan, strcmp(request->settings->llc_mode, "write") == 0 ? 2 : 1);
        break;
    case AP_CONFIG_TSCPU:
        ap__u32(plan, plan->period_ms);
        ap__u32(plan, 2);
        ap__u32(plan, 0x11); /* cycles, instructions */
        ap__u32(plan, 0x8);
        break;
    case AP_CONFIG_AICORE:
        ap__aicore(plan, request, sampled, iv);
        break;
    case AP_CONFIG_TSFW:
        ap__tsfw(plan, request, platform);
        break;
    case AP_CONFIG_TAG:
        ap__u32(plan, 0); /* begin at once */
        break;
    case AP_CONFIG_L2:
        ap__l2(plan, request);
        break;
    case AP_CONFIG_SOCLOG:
        ap__soclog(plan, request);
        break;
    case AP_CONFIG_SOCPROFILE:
        ap__soc_profile(plan, request, platform, iv);
        break;
    case AP_CONFIG_COUNTERS:
        ap__counters(plan, request, platform, sampled, iv);
        break;
    case AP_CONFIG_MEM_APP:
        ap__mem(plan, 0, 0);
        break;
    case AP_CONFIG_MEM_DEVICE:
        ap__mem(plan, 0, 1);
        break;
    case AP_CONFIG_MEM_MODULE:
        ap__mem(plan, request->host_counter, 0);
        break;
    case AP_CONFIG_LPM:
        ap__u32(plan, plan->period_ms);
        ap__u32(plan, 1);
        break;
    case AP_CONFIG_QOS:
        ap__qos(plan, request->settings, plan->period_ms);
        break;
    case AP_CONFIG_SOCPMU:
        ap__soc_pmu(plan, request);
        break;
    case AP_CONFIG_INSTR:
        ap__instr(plan, request, platform);
        break;
    case AP_CONFIG_NTS:
        ap__nts(plan, request);
        break;
    }
}
