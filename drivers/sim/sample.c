/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sim/sample.h"

#include <inttypes.h>

#include "clock/cycles.h"
#include "drivers/sim/bytes.h"
#include "drivers/sim/random.h"

#define AP_HBM_STACKS 8u
#define AP_HBM_COUNT 1600u      /* per millisecond and stack at full load */
#define AP_LINK_BYTES 30000000u /* per millisecond at full load */
#define AP_DEVICE_MEMORY (UINT64_C(64) << 30)

static void ap__record(ap__sim_device *device, uint32_t channel, const unsigned char *record,
                       uint32_t bytes)
{
    ap__sim_put(device, channel, record, bytes, AP_HEAD_NONE);
}

static uint64_t ap__us(const ap__sim_device *device, uint32_t channel, uint64_t ns)
{
    return (ns - device->channel[channel].live_ns) / 1000;
}

static uint32_t ap__noise(ap__sim_device *device, uint32_t value)
{
    return value + ap__sim_random_below(&device->random, value / 8 + 1);
}

/* Channels 1 and 7. */
static void ap__bandwidth(ap__sim_device *device, uint32_t channel, uint64_t ns, uint32_t load)
{
    const ap__sim_config *config = &device->channel[channel].config;
    uint32_t full = AP_HBM_COUNT * config->period_ms * load / 1000;
    uint32_t ids = channel == 1 ? AP_HBM_STACKS : 1;
    unsigned char record[24] = {0};

    for (uint32_t id = 0; id < ids; id++) {
        for (uint32_t event = 0; event < 2; event++) {
            uint32_t count = ap__noise(device, event == 0 ? full : full / 2);

            if (!config->bandwidth[event]) {
                continue;
            }
            if (channel == 1) {
                ap__put64(record, 0, ap__us(device, channel, ns));
                ap__put64(record, 8, count);
                ap__put32(record, 16, event);
                ap__put32(record, 20, id);
                ap__record(device, channel, record, 24);
            } else {
                ap__put32(record, 0, ap__us(device, channel, ns));
                ap__put32(record, 4, count);
                ap__put32(record, 8, event);
                ap__put32(record, 12, id);
                ap__put32(record, 16, 0);
                ap__record(device, channel, record, 20);
            }
        }
    }
}

static void ap__llc(ap__sim_device *device, uint32_t channel, uint64_t ns, uint32_t load)
{
    static const uint8_t events[] = {0x00, 0x01, 0x02, 0x13, 0x20, 0x22, 0x34, 0x36};
    uint32_t slices = device->sim->chip->records == AP_SIM_HWTS ? 4
                      : device->sim->chip->id == 7              ? 1
                                                                : 2;
    uint32_t full = 500 * device->channel[channel].config.period_ms * load / 1000;
    unsigned char record[24];

    for (uint32_t slice = 0; slice < slices; slice++) {
        for (uint32_t i = 0; i < sizeof(events); i++) {
            ap__put64(record, 0, ap__us(device, channel, ns));
            ap__put64(record, 8, ap__noise(device, full / (1 + i % 4)));
            ap__put32(record, 16, events[i]);
            ap__put32(record, 20, slice);
            ap__record(device, channel, record, sizeof(record));
        }
    }
}

static void ap__pcie(ap__sim_device *device, uint32_t channel, uint64_t ns, uint32_t load)
{
    unsigned char record[96] = {0};

    ap__put64(record, 0, ap__sim_clock_ns(&device->clock, ns));
    ap__put32(record, 8, device->id);
    for (uint32_t i = 0; i < 21; i++) {
        /* sets of minimum, maximum and mean */
        ap__put32(record, 12 + 4 * i, (100 + load) * (i % 3 == 0 ? 1 : i % 3 == 1 ? 3 : 2));
    }
    ap__record(device, channel, record, sizeof(record));
}

/* A line; the first one of a channel follows a head. */
static void ap__text(ap__sim_device *device, uint32_t channel, uint64_t ns, const char *head,
                     const char *line)
{
    char both[512];
    bool first = ns - device->channel[channel].live_ns <=
                 device->channel[channel].config.period_ms * UINT64_C(1000000);
    int n = snprintf(both, sizeof(both), "%s%s", first ? head : "", line);

    ap__record(device, channel, (const unsigned char *)both, (uint32_t)n);
}

/* Channels 4 and 129. */
static void ap__network(ap__sim_device *device, uint32_t channel, uint64_t ns, uint32_t load)
{
    uint64_t ms = (ns - device->channel[channel].live_ns) / 1000000;
    uint32_t rate = ap__noise(device, load * 20);
    char line[256];

    (void)snprintf(line, sizeof(line),
                   "%" PRIu64 ": 200000 %u %u %" PRIu64 " %" PRIu64 " 0 0 %u %u %" PRIu64
                   " %" PRIu64 " 0 0 0\n",
                   ap__sim_clock_ns(&device->clock, ns), rate, rate * 1500, ms * rate / 1000,
                   ms * rate * 3 / 2, rate, rate * 1500, ms * rate / 1000, ms * rate * 3 / 2);
    ap__text(device, channel, ns,
             "timestamp bandwidth rxPacket/s rxByte/s rxPackets rxBytes rxErrors rxDropped "
             "txPacket/s txByte/s txPackets txBytes txErrors txDropped funcId\n",
             line);
}

static void ap__link(ap__sim_device *device, uint32_t channel, uint64_t ns, uint32_t load)
{
    uint64_t ms = (ns - device->channel[channel].live_ns) / 1000000;
    char line[96];

    (void)snprintf(line, sizeof(line), "%" PRIu64 ": %" PRIu64 " %" PRIu64 "\n",
                   ap__sim_clock_ns(&device->clock, ns), ms * AP_LINK_BYTES / 1000 * load / 1000,
                   ms * AP_LINK_BYTES / 1000 * load / 500);
    ap__text(device, channel, ns, "timestamp txamount rxamount\n", line);
}

/* Channels 6 and 135 to 141: one engine. */
static void ap__media(ap__sim_device *device, uint32_t channel, uint64_t ns, uint32_t load)
{
    uint64_t us = ap__sim_clock_ns(&device->clock, ns) / 1000;
    uint32_t engine = channel == 6 ? 4 : channel - 135;
    uint32_t part = load / 10;
    char line[128];

    (void)snprintf(line, sizeof(line),
                   "%" PRIu64 ":%06" PRIu64 " %u %u 0 %u %u %u %u 0 0 %u%% %u%%\n", us / 1000000,
                   us % 1000000, device->id, engine, load * 10, load / 20, part, part * 2, part,
                   part);
    ap__text(device, channel, ns, "", line);
}

/* Channels 130 and 131. */
static void ap__memory(ap__sim_device *device, uint32_t channel, uint64_t ns, uint32_t load)
{
    unsigned char record[32] = {0};
    uint64_t used = channel == 130 ? device->memory : device->memory + (UINT64_C(3) << 30);

    (void)load;
    ap__put32(record, 0, ap__us(device, channel, ns));
    ap__put32(record, 4, channel == 131);
    ap__put64(record, 16, 0);
    ap__put64(record, 24, used < AP_DEVICE_MEMORY ? used : AP_DEVICE_MEMORY);
    ap__record(device, channel, record, sizeof(record));
}

/* Channel 142: the driver's part on the host counts it, in the host's time. */
static void ap__module_memory(ap__sim_device *device, uint32_t channel, uint64_t ns, uint32_t load)
{
    static const struct {
        uint32_t module;
        uint32_t share;
    } modules[] = {{0, 1}, {7, 4}, {33, 11}};
    bool counter = device->channel[channel].config.in_cycles && device->sim->options.step == 0;
    unsigned char record[24];

    (void)load;
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
        ap__put32(record, 0, modules[i].module);
        ap__put32(record, 4, 0);
        ap__put64(record, 8, counter ? ap__counter() : ns);
        ap__put64(record, 16, device->memory * modules[i].share / 16);
        ap__record(device, channel, record, sizeof(record));
    }
}

static void ap__traffic(ap__sim_device *device, uint32_t channel, uint64_t ns, uint32_t load)
{
    const ap__sim_config *config = &device->channel[channel].config;
    unsigned char record[64] = {0};

    ap__put64(record, 16, ap__sim_clock_cycles(&device->clock, ns));
    for (uint32_t i = 0; i < 10; i++) {
        ap__put32(record, 24 + 4 * i, i < config->qos_count ? load * 10 / (1 + i) : 0);
    }
    ap__record(device, channel, record, sizeof(record));
}

static void ap__unified_bus(ap__sim_device *device, uint32_t channel, uint64_t ns, uint32_t load)
{
    unsigned char record[128] = {0};

    for (uint32_t port = 0; port < 2; port++) {
        ap__put16(record, 0, 0x5a5a);
        ap__put16(record, 4, port);
        ap__put64(record, 8, ap__sim_clock_ns(&device->clock, ns));
        for (uint32_t i = 0; i < 14; i++) {
            ap__put64(record, 16 + 8 * i, ap__noise(device, load * (i + 1)));
        }
        ap__record(device, channel, record, sizeof(record));
    }
}

ap__sim_sampler ap__sim_sampler_of(uint32_t channel)
{
    static const ap__sim_sampler samplers[AP_HAL_MAX_CHANNELS] = {
        [1] = ap__bandwidth,
        [3] = ap__pcie,
        [4] = ap__network,
        [6] = ap__media,
        [7] = ap__bandwidth,
        [8] = ap__llc,
        [9] = ap__link,
        [10] = ap__sim_sample_tscpu,
        [43] = ap__sim_sample_cores,
        [54] = ap__sim_sample_cores,
        [85] = ap__sim_sample_cores,
        [129] = ap__network,
        [130] = ap__memory,
        [131] = ap__memory,
        [132] = ap__sim_sample_power,
        [133] = ap__traffic,
        [135] = ap__media,
        [136] = ap__media,
        [137] = ap__media,
        [138] = ap__media,
        [139] = ap__media,
        [140] = ap__media,
        [141] = ap__media,
        [142] = ap__module_memory,
        [146] = ap__unified_bus,
    };

    return samplers[channel];
}
