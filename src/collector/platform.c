/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/platform.h"

#include <stddef.h>

static const ap__platform ap__platforms[] = {
    {0, AP_CLASS_MINI, 19200, 680, 2, 0, false},
    {1, AP_CLASS_HWTS, 100000, 800, 32, 0, false},
    {2, AP_CLASS_HWTS, 38400, 960, 10, 8, false},
    {3, AP_CLASS_HWTS, 38400, 960, 10, 8, false},
    {4, AP_CLASS_HWTS, 38400, 1150, 8, 0, false},
    {5, AP_CLASS_STARS, 50000, 800, 24, 48, false},
    {7, AP_CLASS_STARS, 48000, 1250, 1, 0, false},
    {8, AP_CLASS_STARS, 48000, 1250, 1, 0, false},
    {9, AP_CLASS_NANO, 48000, 1250, 1, 0, false},
    {11, AP_CLASS_STARS, 48000, 1250, 1, 0, false},
    {12, AP_CLASS_STARS, 38400, 1250, 1, 0, false},
    {15, AP_CLASS_STARS_V6, 1000000, 800, 18, 18, true},
    {16, AP_CLASS_STARS_V6, 1000000, 1650, 18, 18, true},
    {17, AP_CLASS_STARS_V6, 38400, 1400, 1, 1, false},
    {18, AP_CLASS_STARS_V6, 38400, 1500, 1, 1, false},
    {21, AP_CLASS_STARS, 20000, 20, 1, 1, false},
};

ap__platform ap__platform_of(uint32_t chip)
{
    ap__platform unknown = {chip, AP_CLASS_STARS_V6, 1000000, 800, 18, 18, false};

    for (size_t i = 0; i < sizeof(ap__platforms) / sizeof(ap__platforms[0]); i++) {
        if (ap__platforms[i].chip == chip) {
            return ap__platforms[i];
        }
    }
    return unknown;
}
