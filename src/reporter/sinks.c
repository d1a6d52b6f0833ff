/* SPDX-License-Identifier: Apache-2.0 */
#include "reporter/sinks.h"

#include <stddef.h>

#include "aclprof_reporter.h"

_Atomic(void *) ap__sinks[AP_SINKS];

bool ap__sink_set(int32_t type, void *callback)
{
    switch (type) {
    case AP_SINK_COMPACT:
    case AP_SINK_ADDITIONAL:
    case AP_SINK_API:
    case AP_SINK_EVENT:
    case AP_SINK_TYPE:
    case AP_SINK_HASH:
    case AP_SINK_HOST_FREQ:
    case AP_SINK_SET_DEVICE:
        atomic_store_explicit(&ap__sinks[type], callback, memory_order_release);
        return true;
    default:
        return type >= 0 && type < AP_SINKS;
    }
}

void ap__sink_tell_device(uint32_t chip, uint32_t device, bool open)
{
    int32_t (*callback)(ProfSetDevPara *, uint32_t) = NULL;
    ProfSetDevPara parameters = {chip, device, open};

    *(void **)&callback = ap__sink(AP_SINK_SET_DEVICE);
    if (callback != NULL) {
        (void)callback(&parameters, sizeof(parameters));
    }
}

void ap__sink_tell_set_devices(uint64_t devices)
{
    for (; devices != 0; devices &= devices - 1) {
        ap__sink_tell_device(0, (uint32_t)__builtin_ctzll(devices), true);
    }
}
