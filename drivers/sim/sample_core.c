/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of the cores, the scheduler's CPU, power, and the chip's fabric. */
#include "drivers/sim/bytes.h"
#include "drivers/sim/pmu.h"
#include "drivers/sim/random.h"
#include "drivers/sim/record.h"
#include "drivers/sim/sample.h"

#define AP_FREQUENCIES_MAX 55u
#define AP_CORE_MV 900u
#define AP_BUS_MV 800u

enum {
    AP_FUNC_DIE = 0x19,
    AP_FUNC_ACC = 0x1a,
    AP_FUNC_CHIP = 0x1b,
    AP_FUNC_FABRIC = 0x1c,
    AP_FUNC_POWER = 0x1d
};

static void ap__core(ap__sim_device *device, uint32_t channel, uint64_t ns, uint32_t load,
                     const ap__sim_pmu_half *half, uint32_t core)
{
    bool v6 = device->sim->chip->records == AP_SIM_STARS_V6;
    uint32_t counters = v6 ? 10 : 8;
    uint32_t tail = 8 + 8 * counters;
    uint64_t cycles = half->period_ms * UINT64_C(1000) * ap__sim_mhz_at(device, ns) / 1000 * load;
    unsigned char record[112] = {0};

    record[0] = 1;
    for (uint32_t i = 0; i < half->count; i++) {
        ap__put64(record, 8 + 8 * i, cycles * ap__sim_event_share("sample", half->event[i]) / 1000);
    }
    ap__put64(record, tail, cycles);
    ap__put64(record, tail + 8,
              v6 ? ap__sim_clock_cycles(&device->clock, ns) : ap__sim_clock_ns(&device->clock, ns));
    record[tail + 16] = (unsigned char)half->count;
    record[tail + 17] = (unsigned char)core;
    ap__sim_put(device, channel, record, v6 ? 112 : 96, AP_HEAD_NONE);
}

/* Channels 43, 54 and 85 when they sample; vector cores are numbered after the cube cores. */
void ap__sim_sample_cores(ap__sim_device *device, uint32_t channel, uint64_t ns, uint32_t load)
{
    const ap__sim_config *config = &device->channel[channel].config;
    const uint32_t cores[2] = {config->aic ? device->sim->aic : 0,
                               config->aiv ? device->sim->aiv : 0};

    for (uint32_t vector = 0; vector < 2; vector++) {
        for (uint32_t i = 0; i < cores[vector]; i++) {
            ap__core(device, channel, ns, load, &config->half[vector],
                     i + (vector != 0 ? device->sim->aic : 0));
        }
    }
}

void ap__sim_sample_tscpu(ap__sim_device *device, uint32_t channel, uint64_t ns, uint32_t load)
{
    const ap__sim_config *config = &device->channel[channel].config;
    unsigned char record[304] = {0};

    ap__put32(record, 0, 0xabababab);
    ap__put64(record, 8, 0x1000);
    ap__put64(record, 16, 0x2000);
    ap__put64(record, 176, 0x4000 + ap__sim_random_below(&device->random, 64) * 4);
    ap__put64(record, 184, ap__sim_clock_cycles(&device->clock, ns));
    for (uint32_t i = 0; i < config->event_count && i < 7; i++) {
        ap__put64(record, 192 + 16 * i, config->event[i]);
        ap__put64(record, 200 + 16 * i, UINT64_C(1000) * (load + 1));
    }
    ap__sim_put(device, channel, record, sizeof(record), AP_HEAD_NONE);
}

static void ap__power_record(ap__sim_device *device, uint32_t channel, uint32_t kind, uint64_t ns,
                             uint32_t value)
{
    unsigned char record[8 + 16 * AP_FREQUENCIES_MAX] = {0};

    ap__put32(record, 0, 1);
    ap__put32(record, 4, kind);
    ap__put64(record, 8, ap__sim_clock_cycles(&device->clock, ns));
    ap__put32(record, 16, value);
    ap__sim_put(device, channel, record, sizeof(record), AP_HEAD_NONE);
}

/* Channel 132: what has changed since the last sample, and what there was at the start. */
void ap__sim_sample_power(ap__sim_device *device, uint32_t channel, uint64_t ns, uint32_t load)
{
    const ap__sim_channel *ch = &device->channel[channel];
    uint64_t period = ch->config.period_ms * UINT64_C(1000000);
    uint64_t since = ns - period;
    bool first = since <= ch->live_ns;
    uint32_t before = ap__sim_mhz_at(device, since);
    uint32_t after = ap__sim_mhz_at(device, ns);
    bool voltages = device->sim->chip->id == 5;

    (void)load;
    if (first) {
        ap__power_record(device, channel, 0, since, before);
    }
    if (after != before) {
        uint64_t every = device->sim->options.throttle_ms * UINT64_C(1000000);
        uint64_t at = ns - (ns - device->sim->opened_ns) % every;

        ap__power_record(device, channel, 0, at, after);
    }
    if (voltages && (first || after != before)) {
        ap__power_record(device, channel, 1, ns, AP_CORE_MV * after / device->sim->mhz);
        ap__power_record(device, channel, 2, ns, AP_BUS_MV);
    }
}

static void ap__soc_put(ap__sim_device *device, unsigned char *record, uint32_t func, uint32_t high,
                        uint64_t ns)
{
    ap__put16(record, 0, func | high << 10);
    ap__put16(record, 2, AP_SIM_MAGIC);
    ap__put64(record, 8, ap__sim_clock_cycles(&device->clock, ns));
    ap__sim_put(device, 52, record, 64, AP_HEAD_STARS);
}

static void ap__soc_links(ap__sim_device *device, uint64_t ns, uint32_t value)
{
    bool v6 = device->sim->chip->records == AP_SIM_STARS_V6;
    unsigned char record[64] = {0};

    for (unsigned i = 0; i < 2; i++) {
        ap__put64(record, v6 ? 16 : 32, value);
        ap__put64(record, v6 ? 24 : 40, value * 2);
        /* V6: the die; else a link to a neighbour or PCIe */
        ap__soc_put(device, record, AP_FUNC_CHIP, v6 ? i : i == 0 ? 0x3f : 0x22, ns);
    }
}

void ap__sim_sample_soc(ap__sim_device *device, uint32_t kind, uint64_t ns)
{
    bool v6 = device->sim->chip->records == AP_SIM_STARS_V6;
    unsigned char record[64] = {0};
    uint32_t value = 100 + ap__sim_random_below(&device->random, 100);

    switch (kind) {
    case AP_SOC_ACC_PMU:
        for (uint32_t i = 0; i < 4; i++) {
            ap__put64(record, 32 + 8 * i, value / (1 + i));
        }
        ap__soc_put(device, record, AP_FUNC_ACC, 0, ns);
        break;
    case AP_SOC_ON_CHIP:
        ap__put16(record, 32, (value & 7) | (value / 2 & 0x3ff) << 3);
        ap__soc_put(device, record, AP_FUNC_FABRIC, 0, ns);
        break;
    case AP_SOC_INTER_DIE:
        for (uint32_t i = 0; i < (v6 ? 10 : 8); i++) {
            ap__put32(record, (v6 ? 24 : 32) + 4 * i, value + i);
        }
        ap__soc_put(device, record, AP_FUNC_DIE, 0, ns);
        break;
    case AP_SOC_INTER_CHIP:
        ap__soc_links(device, ns, value);
        break;
    case AP_SOC_POWER:
        for (uint32_t i = 0; i < 20; i++) {
            ap__put16(record, 24 + 2 * i, value + i);
        }
        ap__soc_put(device, record, AP_FUNC_POWER, 0, ns);
        break;
    default:
        break;
    }
}
