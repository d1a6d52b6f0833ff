/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/option_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AP_MAX_SECONDS 4000000.0
#define AP_DEVICES 64u

bool ap__option_ms(const char *text, uint64_t *ms)
{
    char *end = NULL;
    double seconds = strtod(text, &end);
    bool ok = end != text && *end == '\0' && seconds >= 0 && seconds <= AP_MAX_SECONDS;

    *ms = ok ? (uint64_t)llround(seconds * 1000) : 0;
    return ok;
}

bool ap__option_devices(const char *text, uint64_t *mask)
{
    char *end = NULL;

    *mask = strcmp(text, "all") == 0 ? UINT64_MAX : 0;
    while (*mask != UINT64_MAX) {
        unsigned long device = strtoul(text, &end, 10);

        if (text[0] < '0' || text[0] > '9' || device >= AP_DEVICES) {
            return false;
        }
        *mask |= UINT64_C(1) << device;
        if (*end == '\0') {
            return true;
        }
        if (*end != ',') {
            return false;
        }
        text = end + 1;
    }
    return true;
}
