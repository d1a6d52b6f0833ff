/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/clock_sample.h"

#include <stdbool.h>

/* Nanoseconds stand for cycles where a driver leaves the counter out. */
static uint64_t ap__width(const ap__hal_clock *k)
{
    uint64_t cycles = k->host_cycles[2] - k->host_cycles[1];

    return k->host_cycles[1] != 0 ? cycles : k->host_ns[1] - k->host_ns[0];
}

static uint64_t ap__mean4(const uint64_t v[4])
{
    uint64_t sum = 0;

    for (unsigned i = 1; i < 4; i++) {
        sum += v[i] - v[0];
    }
    return v[0] + sum / 4;
}

int ap__device_point_read(const ap__hal_ops *ops, void *driver, uint32_t device, unsigned warm_ups,
                          unsigned rounds, ap__device_point *out)
{
    uint64_t best = UINT64_MAX;
    int last_rc = AP_HAL_IO;
    bool found = false;

    for (unsigned i = 0; i < warm_ups + rounds; i++) {
        ap__hal_clock k = {{0}, {0}, 0, 0};
        int rc = ops->clock(driver, device, &k);

        if (rc != AP_HAL_OK) {
            last_rc = rc;
            if (rc == AP_HAL_DEVICE_LOST || rc == AP_HAL_UNSUPPORTED || rc == AP_HAL_TIMEOUT) {
                break;
            }
            continue;
        }
        if (i >= warm_ups && k.host_ns[1] >= k.host_ns[0] && ap__width(&k) < best) {
            best = ap__width(&k);
            out->host_ns = k.host_ns[0] + (k.host_ns[1] - k.host_ns[0]) / 2;
            out->host_cycles = ap__mean4(k.host_cycles);
            out->device_ns = k.device_ns;
            out->device_cycles = k.device_cycles;
            out->error_ns = (k.host_ns[1] - k.host_ns[0]) / 2 + 1;
            found = true;
        }
    }
    return found ? AP_HAL_OK : last_rc;
}
