/* SPDX-License-Identifier: Apache-2.0 */
/* Which driver channels a capture needs: chip × data types × settings → channel, period, bytes
 * given to the driver, file and record size. */
#ifndef AP_COLLECTOR_CHANNELS_H_
#define AP_COLLECTOR_CHANNELS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl_prof.h"
#include "drivers/hal.h"
#include "session/settings.h"

/* Bits of dataTypeConfig that aclprofStart refuses but the vendor's other front ends use. */
#define AP_BIT_TSFW 0x400ull
#define AP_BIT_CPU 0x10000ull
#define AP_BIT_HARDWARE_MEM 0x20000ull
#define AP_BIT_IO 0x40000ull
#define AP_BIT_INTERCONNECTION 0x80000ull
#define AP_BIT_DVPP 0x100000ull
#define AP_BIT_AIC_SAMPLE 0x200000ull
#define AP_BIT_AIV_SAMPLE 0x400000ull
#define AP_BIT_INSTR 0x800000ull
#define AP_BIT_AIV_METRICS 0x20000000ull

/* What a request asks for; one or more per row of the table. */
enum ap__switch {
    AP_SW_ALWAYS = 1u << 0,
    AP_SW_TASK = 1u << 1, /* any TASK_TIME level */
    AP_SW_TASK_L1 = 1u << 2,
    AP_SW_TASK_L2 = 1u << 3,
    AP_SW_METRICS = 1u << 4, /* counters per task */
    AP_SW_SAMPLE = 1u << 5,  /* counters by time */
    AP_SW_AICPU = 1u << 6,
    AP_SW_HCCL = 1u << 7,
    AP_SW_L2 = 1u << 8,
    AP_SW_TRAINING = 1u << 9,
    AP_SW_CPU = 1u << 10,
    AP_SW_MEM = 1u << 11,
    AP_SW_IO = 1u << 12,
    AP_SW_LINK = 1u << 13,
    AP_SW_DVPP = 1u << 14,
    AP_SW_INSTR = 1u << 15,
    AP_SW_POWER = 1u << 16,
    AP_SW_QOS = 1u << 17,
    AP_SW_NTS = 1u << 18
};

/* Head of the records, for the check of magic and running number. */
typedef enum ap__record_kind {
    AP_RECORD_PLAIN,
    AP_RECORD_STARS, /* u16 function:6 number:4 type:6, u16 magic */
    AP_RECORD_HWTS   /* u8 type:4 number:4, u8, u16 magic */
} ap__record_kind;

/* Start order; stopped in reverse. */
enum ap__channel_order { AP_ORDER_TRACK, AP_ORDER_TASK, AP_ORDER_COUNTERS, AP_ORDER_OTHER };

typedef struct ap__channel_request {
    uint32_t chip;
    uint32_t api_version; /* of the driver, 0 unknown */
    uint64_t data_types;  /* expanded mask */
    int32_t metrics;
    const ap__settings *settings;
    bool host_counter; /* host records hold counter ticks, not nanoseconds */
} ap__channel_request;

typedef struct ap__channel_plan {
    uint16_t channel;
    uint8_t order;        /* ap__channel_order */
    uint8_t check;        /* ap__record_kind */
    bool late;            /* may appear only when the program uses the feature */
    bool flush;           /* asked to deliver before a stop */
    uint32_t period_ms;
    uint32_t flags;       /* AP_HAL_START_* */
    uint32_t record_bytes; /* 0: lines of text, 1: not known */
    uint32_t config_bytes;
    uint8_t config[AP_HAL_MAX_CONFIG];
    char file[36]; /* without the device's suffix: "stars_soc.data" */
} ap__channel_plan;

/* AP_SW_* of a request. */
uint32_t ap__channel_switches(const ap__channel_request *request);

/* The channels wanted, in start order. offered: those of the driver; NULL: all that the chip may
 * have. Channels that appear late are listed whether offered or not. Returns their number. */
size_t ap__channel_plan_make(const ap__channel_request *request, const ap__hal_channels *offered,
                             ap__channel_plan plan[AP_HAL_MAX_CHANNELS]);

/* 0, or the code that aclprofStart or aclprofSetConfig has for a data type or setting that leads
 * to no channel on this chip, with one sentence in text. offered as above. */
aclError ap__channel_check(const ap__channel_request *request, const ap__hal_channels *offered,
                           char *text, size_t size);

#endif
