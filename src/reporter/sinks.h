/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks of tools that want to see reports themselves (MsprofRegisterProfileCallback), one for
 * each kind. */
#ifndef AP_REPORTER_SINKS_H_
#define AP_REPORTER_SINKS_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    AP_SINK_COMPACT = 4,
    AP_SINK_ADDITIONAL = 5,
    AP_SINK_API = 9,
    AP_SINK_EVENT = 10,
    AP_SINK_TYPE = 11,
    AP_SINK_HASH = 12,
    AP_SINK_HOST_FREQ = 13,
    AP_SINK_SET_DEVICE = 16,
    AP_SINKS = 17
};

extern _Atomic(void *) ap__sinks[AP_SINKS];

/* NULL: none. */
static inline void *ap__sink(uint32_t type)
{
    return atomic_load_explicit(&ap__sinks[type], memory_order_acquire);
}

/* false: there is no such type. Types without an effect are taken and forgotten. */
bool ap__sink_set(int32_t type, void *callback);

/* Tells the device sink of a device; of all that are set, for a new one. */
void ap__sink_tell_device(uint32_t chip, uint32_t device, bool open);
void ap__sink_tell_set_devices(uint64_t devices);

#endif
