/* SPDX-License-Identifier: Apache-2.0 */
/* No driver is part of this release: there are no devices. */
#include "session/devices.h"

static int32_t ap__no_driver(void)
{
    return -1;
}

static int32_t ap__no_chip(uint32_t device)
{
    (void)device;
    return -1;
}

static uint32_t ap__none_active(uint32_t *devices, uint32_t max)
{
    (void)devices;
    (void)max;
    return 0;
}

static const ap__device_table ap__no_devices = {
    .count = ap__no_driver,
    .chip = ap__no_chip,
    .active = ap__none_active,
};

const ap__device_table *ap__devices = &ap__no_devices;

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
