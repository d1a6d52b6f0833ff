/* SPDX-License-Identifier: Apache-2.0 */
/* A libascend_hal.so that does as it is told; the start of each of the variants:
 *   -DFAKE_HALF         the second half of the functions is absent
 *   -DFAKE_NO_OPTIONAL  only what is required
 *   -DFAKE_CODE=n       every function returns n
 *   -DFAKE_STUB         every function returns 0 and writes nothing
 *   -DFAKE_SIMULATED    with the mark of the simulated NPU */
#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "fake_hal.h"

#define EXPORT __attribute__((visibility("default")))

#if defined(FAKE_STUB)
#define ANSWER() return 0
#elif defined(FAKE_CODE)
#define ANSWER() return FAKE_CODE
#else
#define ANSWER() (void)0
#endif

EXPORT fake_hal_state fake_hal = {.devices = 2, .version = 0x072418, .info_value = 1 << 30};

#ifdef FAKE_SIMULATED
EXPORT const int aclprof_simulated_hal = 1;
#endif

static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void called(unsigned device, unsigned channel)
{
    fake_hal.calls++;
    fake_hal.device = device;
    fake_hal.channel = channel;
}

struct list {
    uint32_t chip, count;
    struct {
        char name[32];
        uint32_t type, id;
    } channel[160];
};

EXPORT int prof_drv_get_channels(unsigned device, struct list *list)
{
    ANSWER();
    called(device, 0);
    fake_hal.list_was_zero = 1;
    for (size_t i = 0; i < sizeof(*list); i++) {
        fake_hal.list_was_zero &= ((const char *)list)[i] == 0;
    }
    if (fake_hal.get_channels == 0) {
        list->count = fake_hal.channel_count;
        for (uint32_t i = 0; i < fake_hal.channel_count && i < 160; i++) {
            list->channel[i].id = fake_hal.channels[i];
        }
    }
    return fake_hal.get_channels;
}

struct start {
    int channel_type;
    uint32_t period, real_time;
    void *user_data;
    uint32_t user_bytes;
};

EXPORT int prof_drv_start(unsigned device, unsigned channel, struct start *start)
{
    ANSWER();
    called(device, channel);
    fake_hal.channel_type = start->channel_type;
    fake_hal.period = start->period;
    fake_hal.real_time = start->real_time;
    fake_hal.user_bytes = start->user_bytes;
    if (start->user_bytes != 0) {
        memcpy(fake_hal.user_data, start->user_data, start->user_bytes);
    }
    return fake_hal.start;
}

EXPORT int prof_stop(unsigned device, unsigned channel)
{
    ANSWER();
    called(device, channel);
    return fake_hal.stop;
}

EXPORT int drvGetDevNum(uint32_t *count)
{
    ANSWER();
    if (fake_hal.device_count == 0) {
        *count = fake_hal.devices;
    }
    return fake_hal.device_count;
}

EXPORT int halGetAPIVersion(int *version)
{
    ANSWER();
    if (fake_hal.api_version == 0) {
        *version = fake_hal.version;
    }
    return fake_hal.api_version;
}

#ifndef FAKE_HALF

EXPORT int prof_channel_read(unsigned device, unsigned channel, char *buffer, unsigned bytes)
{
    ANSWER();
    called(device, channel);
    fake_hal.read_bytes = bytes;
    if (fake_hal.read > 0 && (unsigned)fake_hal.read <= bytes) {
        memset(buffer, 0x5a, (size_t)fake_hal.read);
    }
    return fake_hal.read;
}

struct event {
    uint32_t device, channel;
};

EXPORT int prof_channel_poll(struct event *events, int capacity, int seconds)
{
    ANSWER();
    called(0, 0);
    fake_hal.poll_capacity = capacity;
    fake_hal.poll_seconds = seconds;
    for (int i = 0; i < fake_hal.poll && i < capacity; i++) {
        events[i].device = (uint32_t)i;
        events[i].channel = fake_hal.event_channel;
    }
    return fake_hal.poll;
}

EXPORT int drvGetDevIDs(uint32_t *ids, uint32_t capacity)
{
    ANSWER();
    called(0, 0);
    fake_hal.ids_capacity = capacity;
    for (uint32_t i = 0; fake_hal.device_ids == 0 && i < capacity && i < fake_hal.devices; i++) {
        ids[i] = 2 * (i + 1);
    }
    return fake_hal.device_ids;
}

EXPORT int halGetDeviceInfo(uint32_t device, int32_t module, int32_t info, int64_t *value)
{
    int code = fake_hal.device_info;

    ANSWER();
    called(device, 0);
    fake_hal.module = module;
    fake_hal.info = info;
    if (module == 0 && info == 14) {
        fake_hal.asked_ns[0] = now_ns();
        code = code != 0 ? code : fake_hal.monotonic_raw;
    } else if (module == 0 && info == 13) {
        fake_hal.asked_ns[1] = now_ns();
        code = code != 0 ? code : fake_hal.sys_count;
    }
    if (code == 0 && !fake_hal.info_silent) {
        *value = fake_hal.info_value;
    }
    return code;
}

#ifndef FAKE_NO_OPTIONAL

EXPORT int halProfDataFlush(unsigned device, unsigned channel, unsigned *bytes)
{
    ANSWER();
    called(device, channel);
    *bytes = fake_hal.pending;
    return fake_hal.flush;
}

EXPORT int drvDeviceStatus(uint32_t device, int *status)
{
    ANSWER();
    called(device, 0);
    *status = fake_hal.status;
    return fake_hal.device_status;
}

EXPORT int drvDeviceGetPhyIdByIndex(uint32_t device, uint32_t *physical)
{
    ANSWER();
    called(device, 0);
    *physical = device + 8;
    return fake_hal.physical_id;
}

#endif
#endif
