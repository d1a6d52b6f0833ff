/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device side of one capture: channels, readers, device_<n>/ directories, clocks, account.
 *
 * Every call into the driver is made by a thread that may be left behind: no call here waits
 * longer than the limits say, whatever a device does. A thread that is left behind keeps the
 * collector's memory alive and ends by itself when the driver answers.
 */
#ifndef AP_COLLECTOR_COLLECTOR_H_
#define AP_COLLECTOR_COLLECTOR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/clock_sample.h"
#include "drivers/hal.h"
#include "writer/control_files.h"

typedef struct ap__collector ap__collector;

/* A driver that does not answer holds Start and Stop up for less than 5 seconds, however many devices
 * and calls hang: they are waited for side by side, and the silence is limited. One that is slow but
 * goes on answering has up to 12 seconds. */
typedef struct ap__collector_limits { /* 0: the default in brackets */
    uint32_t start_silent_ms; /* ap__collector_add_devices waits so long without an answer [3500] */
    uint32_t start_ms;        /* and so long in all [10000] */
    uint32_t flush_ms;        /* the device's answer to a flush [500] */
    uint32_t stop_ms;         /* stops of one phase; then the next begins beside them [500] */
    uint32_t stop_silent_ms;  /* ap__collector_stop waits so long without an answer [4200] */
    uint32_t total_stop_ms;   /* all of ap__collector_stop, but for writing files [12000] */
    uint32_t tick_ms;       /* clock snapshots, late channels [1000] */
    uint32_t sweep_ms;      /* longest time until a channel that poll never names is read [250] */
    size_t queue_bytes;     /* read but not yet written; more is dropped and counted [64 MiB] */
} ap__collector_limits;

typedef struct ap__collector_params {
    int prof_fd;  /* PROF_*; duplicated */
    int ext_fd;   /* host/.aclprof, same file system; duplicated */
    const ap__host_meta *meta; /* copied; host/info.json must be written already */
    ap__collector_limits limits;
    /* Names of device-side operators that come at the end of channels 143 and 144: comma separated,
     * to be added to the host's dictionary. Called by ap__collector_stop; may be NULL. */
    void (*on_names)(void *context, uint32_t device, const char *text, size_t bytes);
    void *on_names_context;
} ap__collector_params;

/* 0 or errno. ops and driver must live until ap__collector_free has been called and
 * ap__collector_stop has returned 0 (else for ever). */
int ap__collector_open(const ap__hal_ops *ops, void *driver, const ap__collector_params *params,
                       ap__collector **out);

/* Begins collecting on further devices, side by side. Returns 0 when all of them run, else the
 * ap__hal_rc of the first that does not (AP_HAL_TIMEOUT: it has not answered yet; it joins when it
 * does). The others run all the same. A device that is there already is asked again for channels
 * that it refused for want of a context: to be called when the program sets a device. */
int ap__collector_add_devices(ap__collector *c, const uint32_t *devices, uint32_t count);

/* Stops and finishes some devices. One that is added again goes on in its directory, and has a second
 * entry in the account (AP_HAL_BUSY: a driver call of its first time has not come back, or there have
 * been AP_HAL_MAX_DEVICES entries). Returns as ap__collector_stop. */
uint32_t ap__collector_remove_devices(ap__collector *c, const uint32_t *devices, uint32_t count);

/* Stops everything: flush, channels in reverse order, remaining bytes, files. Whole records that
 * the driver had are on disk then. Writes host/.aclprof/devices.json. Returns the number of
 * threads left behind in the driver (not 0: never close the driver). */
uint32_t ap__collector_stop(ap__collector *c);

void ap__collector_free(ap__collector *c); /* after ap__collector_stop; NULL is allowed */

/* In a forked child: closes its copies of the files; the memory is given up. */
void ap__collector_abandon(ap__collector *c);

/* ---- account ---- */

typedef enum ap__channel_state {
    AP_CHANNEL_IDLE,     /* not offered yet, or not asked */
    AP_CHANNEL_STARTING,
    AP_CHANNEL_RUNNING,
    AP_CHANNEL_WAITING,  /* refused until the program has set the device */
    AP_CHANNEL_FAILED,   /* rc tells why */
    AP_CHANNEL_STOPPED
} ap__channel_state;

typedef struct ap__channel_account {
    uint32_t channel;
    uint32_t record_bytes;
    ap__channel_state state;
    int start_rc;
    int stop_rc;            /* AP_HAL_TIMEOUT: no answer; AP_HAL_LOSS: the device lost data */
    uint64_t read_bytes;    /* = stored + dropped + lost_disk + torn + tail + names (+ queued) */
    uint64_t stored_bytes;  /* in data files, before ageing */
    uint64_t records;       /* whole ones that came; text: lines */
    uint64_t dropped_bytes; /* the queue was full */
    uint64_t dropped_records;
    uint64_t lost_disk_bytes;
    uint64_t gaps;          /* jumps of the running number, tears */
    uint64_t missing;       /* records missing there, at least */
    uint64_t duplicates;
    uint64_t bad_magic;
    uint64_t torn_bytes;
    uint64_t tail_bytes;    /* of a record that never became whole; kept in host/.aclprof */
    uint64_t names_bytes;   /* given to on_names, the mark before them included */
    uint64_t near_full;     /* times that the driver's ring was over 9/10 full */
    uint64_t read_errors;
    uint64_t unannounced;   /* times that data were there which poll had not named */
    char file[36];
} ap__channel_account;

typedef struct ap__device_account {
    uint32_t device;
    uint32_t chip;
    bool simulated;
    bool running;
    bool lost;             /* the device went away */
    int start_rc;          /* ap__hal_rc */
    int disk_errno;        /* first write error */
    uint32_t stuck;        /* driver calls that never answered */
    uint64_t aged_bytes;   /* deleted for the storage limit */
    uint32_t channel_count;
    uint32_t point_count;  /* clock snapshots kept */
} ap__device_account;

typedef struct ap__collector_totals {
    uint32_t devices;
    uint64_t bytes;   /* stored */
    uint64_t records;
    uint64_t lost_records; /* dropped + missing (at least) */
    uint64_t lost_bytes;   /* dropped, disk, torn */
} ap__collector_totals;

/* At any time, from any thread. Devices by index in order of addition; false: no such one. */
bool ap__collector_device(ap__collector *c, uint32_t index, ap__device_account *out);
bool ap__collector_channel(ap__collector *c, uint32_t device_index, uint32_t index,
                           ap__channel_account *out);
/* Copies clock snapshots in time order; returns how many. */
uint32_t ap__collector_points(ap__collector *c, uint32_t device_index, ap__device_point *out,
                              uint32_t max);
void ap__collector_sum(ap__collector *c, ap__collector_totals *out);

const char *ap__hal_rc_text(int rc);

#endif
