/* SPDX-License-Identifier: Apache-2.0 */
/* Devices as the process's driver reports them. */
#include "session/devices.h"

#include <stdatomic.h>

#include "drivers/choose.h"
#include "session/registry.h"
#include "session/set_device.h"

#define AP_CHIP_UNASKED 0 /* in the table below: a chip number is stored with 1 added */

static _Atomic int32_t ap__chips[AP_MAX_DEVICES];
static _Atomic uint64_t ap__set_devices;

static int32_t ap__driver_count(void)
{
    const ap__driver *driver = ap__driver_now();
    int count = driver->ops != NULL ? driver->ops->devices(driver->context, NULL, 0) : 0;

    return driver->ops != NULL && count >= 0 ? count : -1;
}

static int32_t ap__driver_chip(uint32_t device)
{
    const ap__driver *driver = ap__driver_now();
    int64_t chip = -1;
    int32_t known = 0;

    if (driver->ops == NULL || device >= AP_MAX_DEVICES) {
        return -1;
    }
    known = atomic_load_explicit(&ap__chips[device], memory_order_relaxed);
    if (known != AP_CHIP_UNASKED) {
        return known - 1;
    }
    if (driver->ops->info(driver->context, device, AP_HAL_CHIP, &chip) != AP_HAL_OK || chip < 0 ||
        chip > INT16_MAX) {
        return -1; /* asked again next time */
    }
    atomic_store_explicit(&ap__chips[device], (int32_t)chip + 1, memory_order_relaxed);
    return (int32_t)chip;
}

static uint32_t ap__set_list(uint32_t *devices, uint32_t max)
{
    uint64_t set = atomic_load_explicit(&ap__set_devices, memory_order_relaxed);
    uint32_t count = 0;

    for (; set != 0 && count < max; set &= set - 1) {
        devices[count++] = (uint32_t)__builtin_ctzll(set);
    }
    return count;
}

static const ap__device_table ap__driver_devices = {
    .count = ap__driver_count,
    .chip = ap__driver_chip,
    .active = ap__set_list,
};

const ap__device_table *ap__devices = &ap__driver_devices;

void ap__devices_load(void)
{
    if (ap__devices == &ap__driver_devices) {
        (void)ap__driver_now();
        ap__session_link_simulator();
    }
}

const char *ap__devices_why_none(void)
{
    const ap__driver *driver = ap__driver_peek();

    return driver != NULL ? driver->why : "";
}

int32_t ap__device_count(void)
{
    return ap__devices->count();
}

int32_t ap__device_chip(uint32_t device)
{
    return ap__devices->chip(device);
}

uint32_t ap__device_active(uint32_t *devices, uint32_t max)
{
    return ap__devices->active(devices, max);
}

void ap__device_note_set(uint32_t device, bool set)
{
    if (device >= AP_MAX_DEVICES) {
        return;
    }
    if (set) {
        atomic_fetch_or(&ap__set_devices, 1ull << device);
    } else {
        atomic_fetch_and(&ap__set_devices, ~(1ull << device));
    }
}
