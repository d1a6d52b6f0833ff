/* SPDX-License-Identifier: Apache-2.0 */
/* What the devices say of themselves. */
#include <time.h>

#include "clock/cycles.h"
#include "drivers/ascend/vendor_abi.h"
#include "drivers/sim/internal.h"
#include "drivers/sim/random.h"

#define AP_INFO_PHYSICAL_ID 18
#define AP_ENV_ASIC 3
#define AP_CTRL_CPU_ID 0x48d01 /* TaishanV110 */

uint32_t ap__sim_devices(const ap__sim *sim)
{
    return sim->options.devices;
}

int ap__sim_api_version(const ap__sim *sim)
{
    return (int)sim->options.api;
}

/* Of the host's counter; 0 where the machine does not tell. */
static int64_t ap__host_khz(void)
{
#if defined(__aarch64__)
    uint64_t hz = 0;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    return (int64_t)(hz / 1000);
#else
    return 0;
#endif
}

/* A reading takes its time, most of it after the device was read. */
static uint64_t ap__read_clock(ap__sim_device *device, bool cycles)
{
    ap__sim *sim = device->sim;
    const uint32_t *range = sim->options.latency_us;
    uint64_t latency = 0;
    uint64_t at = 0;

    pthread_mutex_lock(&device->lock);
    latency = range[0] * UINT64_C(1000) +
              ap__sim_random_below(&device->random, (range[1] - range[0]) * 1000 + 1);
    pthread_mutex_unlock(&device->lock);
    if (sim->options.step != 0) {
        at = atomic_fetch_add(&sim->virtual_ns, latency) + latency * 3 / 10;
    } else {
        uint64_t begin = ap__mono_raw_ns();

        do {
            at = ap__mono_raw_ns();
        } while (at - begin < latency * 3 / 10);
        while (ap__mono_raw_ns() - begin < latency) {
        }
    }
    return cycles ? ap__sim_clock_cycles(&device->clock, at) : ap__sim_clock_ns(&device->clock, at);
}

static int ap__system(ap__sim_device *device, int32_t info, int64_t *value)
{
    const ap__sim *sim = device->sim;

    switch (info) {
    case AP_INFO_ENV:
        *value = AP_ENV_ASIC;
        return 0;
    case AP_INFO_VERSION:
        *value = (int64_t)sim->chip->id << 8;
        return 0;
    case AP_INFO_SYS_COUNT:
        *value = (int64_t)ap__read_clock(device, true);
        return 0;
    case AP_INFO_MONOTONIC_RAW:
        *value = (int64_t)ap__read_clock(device, false);
        return 0;
    case AP_INFO_PHYSICAL_ID:
        *value = device->id;
        return 0;
    case AP_INFO_DEVICE_KHZ:
        *value = sim->chip->khz;
        return sim->options.api >= AP_API_COUNTER_KHZ ? 0 : AP_VENDOR_NOT_SUPPORTED;
    case AP_INFO_HOST_KHZ:
        *value = ap__host_khz();
        return *value != 0 && sim->options.api >= AP_API_COUNTER_KHZ ? 0 : AP_VENDOR_NOT_SUPPORTED;
    default:
        return AP_VENDOR_NOT_SUPPORTED;
    }
}

static int ap__cores(const ap__sim_device *device, int32_t module, int32_t info, int64_t *value)
{
    const ap__sim *sim = device->sim;
    int64_t ai_cpus = sim->chip->aicpu;
    const struct {
        int32_t module;
        int32_t info;
        int64_t value;
    } table[] = {
        {AP_MODULE_AICORE, AP_INFO_CORE_NUM, sim->aic},
        {AP_MODULE_AICORE, AP_INFO_MHZ, sim->mhz},
        {AP_MODULE_AICORE, AP_INFO_ID, 0},
        {AP_MODULE_VECTOR_CORE, AP_INFO_CORE_NUM, sim->aiv},
        {AP_MODULE_VECTOR_CORE, AP_INFO_MHZ, sim->mhz},
        {AP_MODULE_AICPU, AP_INFO_CORE_NUM, ai_cpus},
        {AP_MODULE_AICPU, AP_INFO_ID, 2}, /* after the control and the scheduler's CPU */
        {AP_MODULE_AICPU, AP_INFO_OCCUPY, ((INT64_C(1) << ai_cpus) - 1) << 2},
        {AP_MODULE_CTRL_CPU, AP_INFO_CORE_NUM, 1},
        {AP_MODULE_CTRL_CPU, AP_INFO_ID, AP_CTRL_CPU_ID},
        {AP_MODULE_CTRL_CPU, AP_INFO_ENDIAN, 1},
        {AP_MODULE_TS_CPU, AP_INFO_CORE_NUM, 1},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].module == module && table[i].info == info) {
            *value = table[i].value;
            return 0;
        }
    }
    return AP_VENDOR_NOT_SUPPORTED;
}

int ap__sim_info(ap__sim *sim, uint32_t device, int32_t module, int32_t info, int64_t *value)
{
    ap__sim_fault hit;
    int rc = AP_VENDOR_INVALID;

    if (device >= sim->options.devices || value == NULL) {
        return rc;
    }
    if (ap__sim_strikes(sim, AP_FAULT_INFO_RC, device, (uint32_t)info, &hit)) {
        return (int)hit.v;
    }
    ap__sim_enter(sim);
    if (ap__sim_lost_call(sim, device)) {
        rc = AP_VENDOR_WAIT_TIMEOUT;
    } else if (module == AP_MODULE_SYSTEM) {
        rc = ap__system(&sim->device[device], info, value);
    } else {
        rc = ap__cores(&sim->device[device], module, info, value);
    }
    ap__sim_leave(sim);
    return rc;
}

int ap__sim_state(ap__sim *sim, uint32_t device)
{
    return device < sim->options.devices && ap__sim_lost(sim, device) ? AP_STATUS_COMMUNICATION_LOST
                                                                      : 0;
}

uint64_t ap__sim_cycles_at(ap__sim *sim, uint32_t device, uint64_t ns)
{
    return ap__sim_clock_cycles(&sim->device[device].clock, ns);
}
