/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver reports of the machine's devices. */
#ifndef AP_SESSION_DEVICES_H_
#define AP_SESSION_DEVICES_H_

#include <stdint.h>

/* Number of devices, or -1 when there is no Ascend driver. */
int32_t ap__device_count(void);
/* Collector chip number of a device (5 = 910B), or -1. */
int32_t ap__device_chip(uint32_t device);

/* Devices that the process has set; writes at most `max` ids and returns how many. */
uint32_t ap__device_active(uint32_t *devices, uint32_t max);

/* Behind the three; tests put a table of their own here. */
typedef struct ap__device_table {
    int32_t (*count)(void);
    int32_t (*chip)(uint32_t device);
    uint32_t (*active)(uint32_t *devices, uint32_t max);
} ap__device_table;
extern const ap__device_table *ap__devices;

#endif
