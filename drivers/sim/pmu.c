/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sim/pmu.h"

#include "drivers/sim/random.h"

/* Pipes of PipeUtilization on both generations, in parts of a thousand; the others have a middling
 * one. What a kernel is changes them by up to a third. */
static const struct {
    uint16_t event;
    uint16_t share;
} ap__shares[] = {
    {0x08, 60},  {0x0a, 540},  {0x09, 110},  {0x0b, 320},  {0x0c, 450},  {0x0d, 180},  {0x54, 90},
    {0x55, 12},  {0x416, 520}, {0x417, 300}, {0x302, 420}, {0x303, 150}, {0x501, 540}, {0x301, 520},
    {0x01, 110}, {0x701, 60},  {0x202, 380}, {0x203, 170}, {0x34, 90},   {0x35, 12},   {0x714, 140},
};
#define AP_SHARE_OTHER 200u

uint32_t ap__sim_event_share(const char *kernel, uint32_t event)
{
    uint32_t share = AP_SHARE_OTHER;
    uint64_t hash = event;

    for (size_t i = 0; i < sizeof(ap__shares) / sizeof(ap__shares[0]); i++) {
        if (ap__shares[i].event == event) {
            share = ap__shares[i].share;
        }
    }
    for (; *kernel != '\0'; kernel++) {
        hash = hash * 131 + (unsigned char)*kernel;
    }
    share = share * 2 / 3 + (uint32_t)(ap__sim_mix(hash) % (share * 2 / 3 + 1));
    return share < 950 ? share : 950;
}

uint32_t ap__sim_mhz_at(const ap__sim_device *device, uint64_t ns)
{
    const ap__sim *sim = device->sim;
    uint64_t every = sim->options.throttle_ms * UINT64_C(1000000);

    if (every == 0 || (ns - sim->opened_ns) / every % 2 == 0) {
        return sim->mhz;
    }
    return sim->mhz * 3 / 4;
}

uint64_t ap__sim_total_cycles(const ap__sim_device *device, const ap__sim_task *task,
                              uint64_t length_ns, bool vector)
{
    uint64_t cores = vector && device->sim->aiv > 0 ? device->sim->aiv : device->sim->aic;
    uint64_t blocks = task->blocks > 0 ? task->blocks : 1;
    uint64_t rounds = (blocks + cores - 1) / cores;

    return length_ns * ap__sim_mhz_at(device, task->start_ns) * blocks / (1000 * rounds);
}

void ap__sim_counters(const ap__sim_task *task, const ap__sim_pmu_half *half, uint64_t total,
                      uint64_t counter[10])
{
    for (uint32_t i = 0; i < 10; i++) {
        if (i < half->count && i < task->counters) {
            counter[i] = task->counter[i];
        } else if (i < half->count) {
            counter[i] = total * ap__sim_event_share(task->name, half->event[i]) / 1000;
        } else {
            counter[i] = 0;
        }
    }
}
