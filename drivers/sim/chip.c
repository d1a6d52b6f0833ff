/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sim/chip.h"

#include <stdlib.h>
#include <string.h>

#define AP_CHANNELS_910B "1,3,4,6,8-42,44,47,50,52-84,86-98,129-142"

static const ap__sim_chip ap__chips[] = {
    {"910B", 5, AP_SIM_STARS, 8, 24, 48, 6, 1800, 50000, AP_CHANNELS_910B},
    {"910_93", 5, AP_SIM_STARS, 8, 24, 48, 6, 1800, 50000, AP_CHANNELS_910B},
    {"910", 1, AP_SIM_HWTS, 8, 32, 0, 14, 1000, 100000, "1,3,4,6-10,43-47,129-142"},
    {"310P", 4, AP_SIM_HWTS, 8, 8, 7, 7, 1150, 38400, "3,7,8,10,43-47,130,131,134-139,142"},
    {"310", 0, AP_SIM_MINI, 8, 2, 0, 4, 680, 19200, "4,6,7,10,43,44,130,131,142"},
    {"310B", 7, AP_SIM_STARS, 8, 1, 1, 3, 1250, 48000,
     "4,6,7,8,10,44,47,50,52-54,130,131,132,134,135,137"},
    {"950", 15, AP_SIM_STARS_V6, 10, 18, 18, 8, 1650, 1000000, AP_CHANNELS_910B ",146-149,151"},
};

const ap__sim_chip *ap__sim_chip_find(const char *name)
{
    char *end = NULL;
    unsigned long id = strtoul(name, &end, 10);

    for (size_t i = 0; i < sizeof(ap__chips) / sizeof(ap__chips[0]); i++) {
        if (strcmp(name, ap__chips[i].name) == 0) {
            return &ap__chips[i];
        }
    }
    for (size_t i = 0; *end == '\0' && end != name && i < sizeof(ap__chips) / sizeof(ap__chips[0]);
         i++) {
        if (ap__chips[i].id == id) {
            return &ap__chips[i];
        }
    }
    return NULL;
}

void ap__sim_chip_channels(const ap__sim_chip *chip, ap__hal_channels *out)
{
    const char *at = chip->channels;

    memset(out, 0, sizeof(*out));
    while (*at != '\0') {
        char *end = NULL;
        unsigned long first = strtoul(at, &end, 10);
        unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

        for (; first <= last; first++) {
            ap__sim_channel_set(out, (uint32_t)first, 1);
        }
        at = end + (*end == ',');
    }
}
