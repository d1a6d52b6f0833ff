/* SPDX-License-Identifier: Apache-2.0 */
/* What a test sees of a fake libascend_hal.so and tells it to do: dlsym "fake_hal". */
#ifndef AP_TESTS_FAKE_HAL_H_
#define AP_TESTS_FAKE_HAL_H_

#include <stdint.h>

typedef struct fake_hal_state {
    /* what the calls return, 0 to begin with; poll and read: the count */
    int get_channels, start, stop, read, poll, device_count, device_ids, device_info, api_version;
    int flush, device_status, physical_id;
    /* codes of two of the values of halGetDeviceInfo, on top of device_info */
    int sys_count, monotonic_raw;

    /* what they write */
    uint32_t devices; /* ids are 2, 4, 6 ... */
    uint32_t channel_count;
    uint32_t channels[200];
    int version;
    int status;
    int64_t info_value;
    int info_silent; /* success, but nothing written */
    uint32_t event_channel;
    uint32_t pending;

    /* what they were given */
    unsigned calls; /* of all functions */
    unsigned device, channel;
    int list_was_zero;
    int channel_type;
    uint32_t period, real_time, user_bytes;
    char user_data[256];
    int poll_capacity, poll_seconds;
    unsigned read_bytes;
    uint32_t ids_capacity;
    int32_t module, info;
    uint64_t asked_ns[2]; /* CLOCK_MONOTONIC_RAW when the two clocks were read */
} fake_hal_state;

#endif
