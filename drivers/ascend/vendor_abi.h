/* SPDX-License-Identifier: Apache-2.0 */
/* Binary interface of libascend_hal.so, as far as it is used here (LP64, little-endian). */
#ifndef AP_ASCEND_VENDOR_ABI_H_
#define AP_ASCEND_VENDOR_ABI_H_

#include <stddef.h>
#include <stdint.h>

#include "drivers/hal.h"

typedef struct ap__vendor_start {
    int32_t channel_type; /* 0 task scheduler, 1 peripheral */
    uint32_t period_ms;
    uint32_t real_time;
    void *user_data; /* copied by the driver */
    uint32_t user_data_size;
} ap__vendor_start;

typedef struct ap__vendor_channel {
    char name[32];
    uint32_t type;
    uint32_t id;
} ap__vendor_channel;

/* The driver writes the number and the ids only. */
typedef struct ap__vendor_channels {
    uint32_t chip_type;
    uint32_t count;
    ap__vendor_channel channel[AP_HAL_MAX_CHANNELS];
} ap__vendor_channels;

#if defined(__LP64__)
_Static_assert(sizeof(ap__vendor_start) == 32, "start");
_Static_assert(sizeof(ap__vendor_channel) == 40, "channel");
_Static_assert(sizeof(ap__vendor_channels) == 6408, "channels");
#endif

/* poll fills an array of {device, channel} */
_Static_assert(sizeof(ap__hal_event) == 8 && offsetof(ap__hal_event, channel) == 4, "event");

/* Result codes of two families: small negative numbers of the profiling calls, positive numbers
 * of the driver at large. */
enum {
    AP_VENDOR_ERROR = -1,
    AP_VENDOR_TIMEOUT = -2,
    AP_VENDOR_STARTED_ALREADY = -3,
    AP_VENDOR_STOPPED_ALREADY = -4,
    AP_VENDOR_RESTART = -5,
    AP_VENDOR_NOT_READABLE = -6,
    AP_VENDOR_NOT_OFFERED = -7,
    AP_VENDOR_BUSY = -8,
    AP_VENDOR_SHORT_BUFFER = -9,
    AP_VENDOR_NO_SUB_CHANNEL = -10, /* another process has the channel */
    AP_VENDOR_VF_FULL = -11,
    AP_VENDOR_CONTAINER = -12,
    AP_VENDOR_PHYSICAL = -13,
    AP_VENDOR_INVALID = 3,
    AP_VENDOR_WAIT_TIMEOUT = 16,
    AP_VENDOR_STATUS = 30, /* the channel's state does not allow the call */
    AP_VENDOR_NO_CONTROL_PROCESS = 115,
    AP_VENDOR_DATA_LOST = 0x916,
    AP_VENDOR_NOT_SUPPORTED = 0xfffe
};

/* What halGetDeviceInfo can be asked. */
enum {
    AP_MODULE_SYSTEM = 0,
    AP_MODULE_AICPU = 1,
    AP_MODULE_CTRL_CPU = 2,
    AP_MODULE_AICORE = 4,
    AP_MODULE_TS_CPU = 5,
    AP_MODULE_VECTOR_CORE = 7
};
enum {
    AP_INFO_ENV = 0,
    AP_INFO_VERSION = 1, /* chip in bits 8 to 15 */
    AP_INFO_CORE_NUM = 3,
    AP_INFO_MHZ = 4,
    AP_INFO_OCCUPY = 8,
    AP_INFO_ID = 9,
    AP_INFO_ENDIAN = 11,
    AP_INFO_SYS_COUNT = 13,
    AP_INFO_MONOTONIC_RAW = 14,
    AP_INFO_HOST_KHZ = 24,
    AP_INFO_DEVICE_KHZ = 25
};

#define AP_API_COUNTER_KHZ 0x071905 /* first version that knows the two rates */
#define AP_STATUS_COMMUNICATION_LOST 4

/* The simulated libascend_hal.so has an object of this name: its data are invented. */
#define AP_SIMULATED_MARK "aclprof_simulated_hal"

typedef struct ap__vendor_calls {
    /* required */
    int (*get_channels)(unsigned device, ap__vendor_channels *list);
    int (*start)(unsigned device, unsigned channel, ap__vendor_start *start);
    int (*stop)(unsigned device, unsigned channel);
    int (*read)(unsigned device, unsigned channel, char *buffer, unsigned bytes);
    int (*poll)(ap__hal_event *events, int capacity, int timeout_s);
    int (*device_count)(uint32_t *count);
    int (*device_ids)(uint32_t *ids, uint32_t capacity);
    int (*device_info)(uint32_t device, int32_t module, int32_t info, int64_t *value);
    int (*api_version)(int *version);
    /* optional, NULL when absent */
    int (*flush)(unsigned device, unsigned channel, unsigned *bytes);
    int (*device_status)(uint32_t device, int *status);
    int (*physical_id)(uint32_t device, uint32_t *physical);
} ap__vendor_calls;

#endif
