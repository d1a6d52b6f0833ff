/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sim/periodic.h"

#include "drivers/sim/random.h"
#include "drivers/sim/sample.h"

#define AP_NS_PER_MS UINT64_C(1000000)
#define AP_IDLE_LOAD 20u     /* in a thousand */
#define AP_BEHIND_MAX 10000u /* samples made up for in one go */

/* Share of the core time spent in tasks since the channel's last sample, in a thousand; never
 * quite still, as a real machine is. */
static uint32_t ap__load(ap__sim_device *device, ap__sim_channel *ch, uint64_t period_ns)
{
    uint64_t busy = device->busy_ns - ch->last_busy_ns;
    uint64_t all = period_ns * device->sim->aic;
    uint64_t load = all == 0 ? 0 : busy * 1000 / all;

    ch->last_busy_ns = device->busy_ns;
    load += AP_IDLE_LOAD + ap__sim_random_below(&device->random, AP_IDLE_LOAD);
    return load < 1000 ? (uint32_t)load : 1000;
}

static uint32_t ap__period_ms(const ap__sim_channel *ch, uint32_t channel)
{
    if (channel == 43 || channel == 54 || channel == 85) {
        const ap__sim_pmu_half *half = &ch->config.half[ch->config.aic ? 0 : 1];

        return (half->type & AP_SIM_TYPE_SAMPLE) != 0 ? half->period_ms : 0;
    }
    return channel == 133 ? ch->config.qos_period : ch->config.period_ms;
}

static void ap__channel(ap__sim_device *device, uint32_t channel, ap__sim_sampler sampler,
                        uint64_t now)
{
    ap__sim_channel *ch = &device->channel[channel];
    uint64_t period = ap__period_ms(ch, channel) * AP_NS_PER_MS;

    for (unsigned i = 0; period > 0 && ch->next_ns + period < now && i < AP_BEHIND_MAX; i++) {
        ch->next_ns += period;
        sampler(device, channel, ch->next_ns, ap__load(device, ch, period));
    }
}

/* Channel 52: every kind has its own period. */
static void ap__soc_profile(ap__sim_device *device, uint64_t now)
{
    ap__sim_channel *ch = &device->channel[52];

    for (uint32_t kind = 0; kind < AP_SOC_KINDS; kind++) {
        uint64_t period = ch->config.soc_period[kind] * AP_NS_PER_MS;
        uint64_t next = ch->next_ns;

        if (period == 0) {
            continue;
        }
        /* multiples of the period since the start that lie in [generated, now) */
        if (device->generated_ns > next) {
            next += (device->generated_ns - next + period - 1) / period * period;
        }
        for (; next < now; next += period) {
            if (next > ch->next_ns) {
                ap__sim_sample_soc(device, kind, next);
            }
        }
    }
}

void ap__sim_periodic(ap__sim_device *device, uint64_t now)
{
    for (uint32_t i = 0; i < AP_HAL_MAX_CHANNELS; i++) {
        ap__sim_sampler sampler = device->channel[i].live ? ap__sim_sampler_of(i) : NULL;

        if (sampler != NULL) {
            ap__channel(device, i, sampler, now);
        }
    }
    if (device->channel[52].live) {
        ap__soc_profile(device, now);
    }
}
