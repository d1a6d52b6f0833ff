/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thin HAL between this project and whatever produces device data: one table of functions per
 * driver, one open instance per process. drivers/ascend reaches Huawei's libascend_hal.so by
 * dlopen, drivers/sim simulates devices.
 *
 * Codes: every function but those that say otherwise returns ap__hal_rc as a positive int, 0 being
 * success. Byte counts and event counts are ≥ 0, errors there are -ap__hal_rc.
 *
 * Rules that callers must keep (they are the real driver's):
 *  - poll: one thread per process. It is edge-triggered: a channel is named when data arrives, not
 *    while data is there, so a reader reads until 0. It may return 0 before the time is up, and may
 *    name a channel that has been stopped meanwhile.
 *  - read: any thread, one at a time per channel; returns whatever bytes there are, not whole
 *    records; holds the channel's lock for the copy, so ask for at most 1 MiB.
 *  - stop: blocks until the ring is empty or about a second has passed; keep reading from another
 *    thread meanwhile. Afterwards what was not read is gone. Different channels may be stopped in
 *    parallel.
 *  - after fork nothing may be called in the child.
 */
#ifndef AP_DRIVERS_HAL_H_
#define AP_DRIVERS_HAL_H_

#include <stddef.h>
#include <stdint.h>

#define AP_HAL_ABI 1u
#define AP_HAL_MAX_DEVICES 64u
#define AP_HAL_MAX_CHANNELS 160u
#define AP_HAL_MAX_CONFIG 128u /* bytes of ap__hal_start.config */
#define AP_HAL_MAX_POLL 160

typedef enum ap__hal_rc {
    AP_HAL_OK = 0,
    AP_HAL_AGAIN,       /* nothing now */
    AP_HAL_STOPPED,     /* channel, or every channel, is not running */
    AP_HAL_BUSY,        /* already started in this process, or changing state */
    AP_HAL_TAKEN,       /* another process or virtual function has it */
    AP_HAL_UNSUPPORTED, /* channel, value or call not offered here */
    AP_HAL_NO_CONTEXT,  /* the process has not set the device yet: try again when it has */
    AP_HAL_TIMEOUT,     /* the device did not answer */
    AP_HAL_LOSS,        /* stopped, and the device says that data was lost */
    AP_HAL_INVALID,     /* bad argument */
    AP_HAL_DEVICE_LOST,
    AP_HAL_IO           /* anything else */
} ap__hal_rc;

typedef enum ap__hal_info {
    AP_HAL_CHIP,        /* collector chip number: 5 = 910B */
    AP_HAL_AIC_NUM,
    AP_HAL_AIC_MHZ,
    AP_HAL_AIV_NUM,
    AP_HAL_AIV_MHZ,
    AP_HAL_AICPU_NUM,
    AP_HAL_CTRL_CPU_NUM,
    AP_HAL_TS_CPU_NUM,
    AP_HAL_AICPU_ID,
    AP_HAL_AICPU_OCCUPY,
    AP_HAL_AIC_ID,
    AP_HAL_CTRL_CPU_ID,
    AP_HAL_CTRL_CPU_ENDIAN,
    AP_HAL_DEVICE_KHZ,  /* of the device counter */
    AP_HAL_HOST_KHZ,    /* of the host counter */
    AP_HAL_PHYSICAL_ID,
    AP_HAL_ENV          /* FPGA, emulator, chip */
} ap__hal_info;

/* One bracketed reading of both sides' clocks. Host cycles are the CPU's counter. */
typedef struct ap__hal_clock {
    uint64_t host_cycles[4]; /* before and after each host_ns */
    uint64_t host_ns[2];     /* CLOCK_MONOTONIC_RAW before and after the device was read */
    uint64_t device_ns;
    uint64_t device_cycles;
} ap__hal_clock;

typedef struct ap__hal_start {
    uint32_t period_ms;
    uint32_t flags;         /* AP_HAL_START_* */
    const void *config;     /* user_data, copied */
    uint32_t config_bytes;  /* ≤ AP_HAL_MAX_CONFIG */
} ap__hal_start;
#define AP_HAL_START_PERIPHERAL 1u /* channel_type 1 instead of 0 */
#define AP_HAL_START_REAL_TIME 2u

typedef struct ap__hal_event {
    uint32_t device;
    uint32_t channel;
} ap__hal_event;

typedef struct ap__hal_channels {
    uint64_t bits[(AP_HAL_MAX_CHANNELS + 63) / 64];
} ap__hal_channels;

static inline int ap__hal_has(const ap__hal_channels *c, uint32_t channel)
{
    return channel < AP_HAL_MAX_CHANNELS && (c->bits[channel / 64] >> (channel % 64) & 1) != 0;
}

typedef struct ap__hal_ops {
    uint32_t abi; /* AP_HAL_ABI */
    const char *name;
    int simulated; /* 1: data are invented and must be marked so wherever they go */

    /* Loads or sets up. options: driver-specific text, "" for defaults. Blocks for a file search at
     * most. AP_HAL_UNSUPPORTED: no such driver on this machine. */
    int (*open)(void **context, const char *options);
    /* No other call may be in progress. Never unloads a vendor library. */
    void (*close)(void *context);

    /* Ids of the devices; returns their number (may exceed capacity) or -rc. */
    int (*devices)(void *context, uint32_t *ids, uint32_t capacity);
    /* AP_HAL_UNSUPPORTED: take the platform table's value. May cost a device round trip. */
    int (*info)(void *context, uint32_t device, ap__hal_info what, int64_t *value);
    /* Version of the driver's interface such as 0x072418; 0 unknown. */
    int (*api_version)(void *context);
    /* One round; the caller repeats and picks the tightest. One device round trip. */
    int (*clock)(void *context, uint32_t device, ap__hal_clock *clock);
    /* Channels that the device offers now (143 and the like may appear later). Blocks up to 60 s
     * in the real driver. */
    int (*channels)(void *context, uint32_t device, ap__hal_channels *channels);
    /* Blocks up to 10 s in the real driver. */
    int (*start)(void *context, uint32_t device, uint32_t channel, const ap__hal_start *start);
    int (*stop)(void *context, uint32_t device, uint32_t channel);
    /* Events, or -rc; -AP_HAL_STOPPED at once when no channel runs. The real driver rounds the time
     * up to whole seconds, at most 5. */
    int (*poll)(void *context, ap__hal_event *events, int capacity, int timeout_ms);
    /* Bytes (0: empty) or -rc. Does not block. */
    int (*read)(void *context, uint32_t device, uint32_t channel, void *buffer, uint32_t bytes);
    /* Asks the device for what it holds; *pending = bytes now waiting. Blocks up to 20 s. */
    int (*flush)(void *context, uint32_t device, uint32_t channel, uint32_t *pending);
    /* AP_HAL_OK or AP_HAL_DEVICE_LOST. */
    int (*status)(void *context, uint32_t device);
} ap__hal_ops;

extern const ap__hal_ops ap__hal_ascend; /* options: path of the library, "" = search */
extern const ap__hal_ops ap__hal_sim;    /* options: drivers/sim/sim.h */

#endif
