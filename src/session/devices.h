/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver reports of the machine's devices. */
#ifndef AP_SESSION_DEVICES_H_
#define AP_SESSION_DEVICES_H_

#include <stdbool.h>
#include <stdint.h>

/* Chooses and opens the driver, if that has not happened yet. May take the loader's lock: to be
 * called without any of ours before the calls below. */
void ap__devices_load(void);

/* Why there are no devices, one line; "" when there are, or when nobody has asked yet. */
const char *ap__devices_why_none(void);

/* Number of devices, or -1 when there is no Ascend driver. */
int32_t ap__device_count(void);
/* Collector chip number of a device (5 = 910B), or -1. */
int32_t ap__device_chip(uint32_t device);

/* Devices that the process has set; writes at most `max` ids and returns how many. */
uint32_t ap__device_active(uint32_t *devices, uint32_t max);
/* The process sets or resets a device. Any thread, wait-free. */
void ap__device_note_set(uint32_t device, bool set);

/* Behind the three; tests put a table of their own here. */
typedef struct ap__device_table {
    int32_t (*count)(void);
    int32_t (*chip)(uint32_t device);
    uint32_t (*active)(uint32_t *devices, uint32_t max);
} ap__device_table;
extern const ap__device_table *ap__devices;

#endif
