/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulator knows of each kind of chip. */
#ifndef AP_SIM_CHIP_H_
#define AP_SIM_CHIP_H_

#include <stdint.h>

#include "drivers/hal.h"

typedef enum ap__sim_records {
    AP_SIM_MINI,    /* task times in channel 44 */
    AP_SIM_HWTS,    /* 45 and 43 */
    AP_SIM_STARS,   /* 50 of 64 bytes, 53 with 8 events */
    AP_SIM_STARS_V6 /* 50 of 32 bytes, 53 with 10 events */
} ap__sim_records;

typedef struct ap__sim_chip {
    const char *name;
    uint8_t id;
    uint8_t records; /* ap__sim_records */
    uint8_t events;  /* counters at once */
    uint8_t aic;
    uint8_t aiv;
    uint8_t aicpu;
    uint16_t mhz;
    uint32_t khz;         /* of the device counter */
    const char *channels; /* "1,3,8-42" */
} ap__sim_chip;

/* By name or number; NULL when unknown. */
const ap__sim_chip *ap__sim_chip_find(const char *name);
void ap__sim_chip_channels(const ap__sim_chip *chip, ap__hal_channels *out);

static inline void ap__sim_channel_set(ap__hal_channels *set, uint32_t channel, int on)
{
    uint64_t bit = UINT64_C(1) << channel % 64;

    set->bits[channel / 64] = on ? set->bits[channel / 64] | bit : set->bits[channel / 64] & ~bit;
}

#endif
