/* SPDX-License-Identifier: Apache-2.0 */
/* A scripted driver for tests of the collector: the test feeds bytes and chooses faults. Include
 * after cmocka.h. */
#ifndef AP_TESTS_UNIT_COLLECTOR_FAKE_H_
#define AP_TESTS_UNIT_COLLECTOR_FAKE_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drivers/hal.h"

#define FAKE_DEVICES 8u
#define FAKE_LOG 1024u

enum fake_hang {
    FAKE_HANG_STATUS = 1,
    FAKE_HANG_CHANNELS = 2,
    FAKE_HANG_CLOCK = 4,
    FAKE_HANG_START = 8, /* of fake_channel.hang */
    FAKE_HANG_STOP = 16,
    FAKE_HANG_READ = 32,
    FAKE_HANG_FLUSH = 64
};

enum fake_poll {
    FAKE_POLL_GOOD,
    FAKE_POLL_SILENT,
    FAKE_POLL_STORM,
    FAKE_POLL_ERROR,
    FAKE_POLL_STALE
};

typedef struct fake_channel {
    bool offered;
    bool running;
    bool pending;
    uint8_t *data;
    size_t bytes;
    size_t at;
    size_t held; /* of the bytes, those that the device gives out at a flush or stop only */
    /* script */
    int start_rc;
    unsigned start_rc_times; /* 0 and start_rc: always */
    unsigned hang;           /* fake_hang of the calls for this channel */
    uint32_t short_read;     /* at most so many bytes, 0: no limit */
    unsigned read_errors;    /* so many reads fail first */
    unsigned read_zeros;     /* so many return nothing although there is data */
    int read_rc;
    int stop_rc;
    uint32_t stop_ms; /* takes so long besides draining */
    int flush_rc;
    uint32_t flush_more; /* says so many bytes too many */
    /* seen */
    ap__hal_start start;
    uint8_t config[AP_HAL_MAX_CONFIG];
    unsigned starts;
    unsigned stops;
} fake_channel;

typedef struct fake_device {
    bool there;
    bool lost;
    bool lost_quietly; /* only its status tells */
    uint32_t chip;
    unsigned hang;
    unsigned clocks;
    fake_channel channels[AP_HAL_MAX_CHANNELS];
} fake_device;

typedef struct fake {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool released; /* hung calls return */
    int poll_mode;
    unsigned polls;
    unsigned pollers;      /* in poll now */
    unsigned pollers_most;
    unsigned hung;
    ap__hal_event queue[512];
    unsigned queued;
    uint32_t drain_ms; /* a stop waits so long for its ring */
    fake_device devices[FAKE_DEVICES];
    uint32_t log[FAKE_LOG]; /* device << 16 | channel, | 0x80000000: stop */
    unsigned log_count;
} fake;

static inline uint64_t fake_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000u + (uint64_t)ts.tv_nsec / 1000000u;
}

/* Under the lock. */
static inline void fake_wait_ms(fake *f, uint64_t until)
{
    struct timespec ts = {(time_t)(until / 1000u), (long)(until % 1000u) * 1000000L};

    pthread_cond_timedwait(&f->changed, &f->lock, &ts);
}

static inline fake *fake_new(void)
{
    fake *f = calloc(1, sizeof(*f));
    pthread_condattr_t attr;

    assert_non_null(f);
    pthread_mutex_init(&f->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&f->changed, &attr);
    pthread_condattr_destroy(&attr);
    f->drain_ms = 1000;
    return f;
}

static inline fake_channel *fake_ch(fake *f, uint32_t device, uint32_t channel)
{
    return &f->devices[device].channels[channel];
}

static inline void fake_offer(fake *f, uint32_t device, uint32_t chip, const uint32_t *channels,
                              size_t count)
{
    f->devices[device].there = true;
    f->devices[device].chip = chip;
    for (size_t i = 0; i < count; i++) {
        fake_ch(f, device, channels[i])->offered = true;
    }
}

static inline void fake_release(fake *f)
{
    pthread_mutex_lock(&f->lock);
    f->released = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static inline void fake_free(fake *f)
{
    for (uint32_t d = 0; d < FAKE_DEVICES; d++) {
        for (uint32_t c = 0; c < AP_HAL_MAX_CHANNELS; c++) {
            free(f->devices[d].channels[c].data);
        }
    }
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

/* Under the lock. */
static inline void fake_announce(fake *f, uint32_t device, uint32_t channel)
{
    fake_channel *ch = fake_ch(f, device, channel);

    if (!ch->pending && f->queued < 512) {
        ch->pending = true;
        f->queue[f->queued++] = (ap__hal_event){device, channel};
    }
    pthread_cond_broadcast(&f->changed);
}

/* Data arrive; `held`: the device keeps them back until a flush or stop. */
static inline void fake_feed(fake *f, uint32_t device, uint32_t channel, const void *data,
                             size_t bytes, bool held)
{
    fake_channel *ch = fake_ch(f, device, channel);
    uint8_t *more = NULL;

    pthread_mutex_lock(&f->lock);
    more = realloc(ch->data, ch->bytes + bytes + 1);
    assert_non_null(more);
    ch->data = more;
    memcpy(ch->data + ch->bytes, data, bytes);
    ch->bytes += bytes;
    if (held) {
        ch->held += bytes;
    } else if (bytes != 0) {
        fake_announce(f, device, channel);
    }
    pthread_mutex_unlock(&f->lock);
}

/* Under the lock. */
static inline void fake_hang_if(fake *f, unsigned script, unsigned what)
{
    if ((script & what) != 0) {
        f->hung++;
        pthread_cond_broadcast(&f->changed);
        while (!f->released) {
            pthread_cond_wait(&f->changed, &f->lock);
        }
        f->hung--;
    }
}

static int fake_devices_op(void *context, uint32_t *ids, uint32_t capacity)
{
    fake *f = context;
    int n = 0;

    for (uint32_t d = 0; d < FAKE_DEVICES; d++) {
        if (f->devices[d].there) {
            if ((uint32_t)n < capacity) {
                ids[n] = d;
            }
            n++;
        }
    }
    return n;
}

static int fake_info_op(void *context, uint32_t device, ap__hal_info what, int64_t *value)
{
    fake *f = context;

    if (device >= FAKE_DEVICES || !f->devices[device].there) {
        return AP_HAL_INVALID;
    }
    switch (what) {
    case AP_HAL_CHIP:
        *value = f->devices[device].chip;
        return AP_HAL_OK;
    case AP_HAL_AIC_NUM:
        *value = 20;
        return AP_HAL_OK;
    case AP_HAL_AICPU_OCCUPY:
        *value = 0xfc;
        return AP_HAL_OK;
    default:
        return AP_HAL_UNSUPPORTED;
    }
}

static int fake_api_op(void *context)
{
    (void)context;
    return 0x072418;
}

static int fake_clock_op(void *context, uint32_t device, ap__hal_clock *clock)
{
    fake *f = context;
    struct timespec ts;

    pthread_mutex_lock(&f->lock);
    fake_hang_if(f, f->devices[device].hang, FAKE_HANG_CLOCK);
    f->devices[device].clocks++;
    clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
    clock->host_ns[0] = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
    clock->host_ns[1] = clock->host_ns[0] + 2000 - f->devices[device].clocks % 5;
    for (unsigned i = 0; i < 4; i++) {
        clock->host_cycles[i] = 5000000 + i * (100 - f->devices[device].clocks % 5);
    }
    clock->device_ns = clock->host_ns[0] + 1000;
    clock->device_cycles = clock->device_ns / 20;
    pthread_mutex_unlock(&f->lock);
    return AP_HAL_OK;
}

static int fake_channels_op(void *context, uint32_t device, ap__hal_channels *channels)
{
    fake *f = context;

    pthread_mutex_lock(&f->lock);
    fake_hang_if(f, f->devices[device].hang, FAKE_HANG_CHANNELS);
    for (uint32_t c = 0; c < AP_HAL_MAX_CHANNELS; c++) {
        if (fake_ch(f, device, c)->offered) {
            channels->bits[c / 64] |= (uint64_t)1 << c % 64;
        }
    }
    pthread_mutex_unlock(&f->lock);
    return AP_HAL_OK;
}

static int fake_start_op(void *context, uint32_t device, uint32_t channel,
                         const ap__hal_start *start)
{
    fake *f = context;
    fake_channel *ch = fake_ch(f, device, channel);
    int rc = AP_HAL_OK;

    pthread_mutex_lock(&f->lock);
    fake_hang_if(f, ch->hang, FAKE_HANG_START);
    ch->starts++;
    ch->start = *start;
    if (start->config_bytes != 0) {
        memcpy(ch->config, start->config, start->config_bytes);
    }
    if (f->devices[device].lost) {
        rc = AP_HAL_DEVICE_LOST;
    } else if (!ch->offered) {
        rc = AP_HAL_UNSUPPORTED;
    } else if (ch->start_rc != AP_HAL_OK &&
               (ch->start_rc_times == 0 || ch->starts <= ch->start_rc_times)) {
        rc = ch->start_rc;
    } else if (ch->running) {
        rc = AP_HAL_BUSY;
    } else {
        ch->running = true;
        if (f->log_count < FAKE_LOG) {
            f->log[f->log_count++] = device << 16 | channel;
        }
        if (ch->bytes - ch->held > ch->at) {
            fake_announce(f, device, channel);
        }
        pthread_cond_broadcast(&f->changed);
    }
    pthread_mutex_unlock(&f->lock);
    return rc;
}

static int fake_stop_op(void *context, uint32_t device, uint32_t channel)
{
    fake *f = context;
    fake_channel *ch = fake_ch(f, device, channel);
    uint64_t until = 0;
    int rc = AP_HAL_OK;

    pthread_mutex_lock(&f->lock);
    fake_hang_if(f, ch->hang, FAKE_HANG_STOP);
    ch->stops++;
    if (f->log_count < FAKE_LOG) {
        f->log[f->log_count++] = 0x80000000u | device << 16 | channel;
    }
    if (!ch->running) {
        rc = AP_HAL_BUSY;
        goto out;
    }
    until = fake_ms() + ch->stop_ms;
    while (fake_ms() < until) {
        fake_wait_ms(f, until);
    }
    ch->held = 0;
    fake_announce(f, device, channel);
    until = fake_ms() + f->drain_ms;
    while (ch->at < ch->bytes && fake_ms() < until) {
        fake_wait_ms(f, until);
    }
    ch->running = false;
    rc = ch->stop_rc;
out:
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    return rc;
}

/* Under the lock. */
static inline bool fake_any_running(const fake *f)
{
    for (uint32_t d = 0; d < FAKE_DEVICES; d++) {
        for (uint32_t c = 0; f->devices[d].there && c < AP_HAL_MAX_CHANNELS; c++) {
            if (f->devices[d].channels[c].running) {
                return true;
            }
        }
    }
    return false;
}

static int fake_poll_op(void *context, ap__hal_event *events, int capacity, int timeout_ms)
{
    fake *f = context;
    uint64_t until = fake_ms() + (uint64_t)timeout_ms;
    int n = 0;

    pthread_mutex_lock(&f->lock);
    f->polls++;
    f->pollers++;
    f->pollers_most = f->pollers > f->pollers_most ? f->pollers : f->pollers_most;
    if (!fake_any_running(f)) {
        n = -AP_HAL_STOPPED;
    } else if (f->poll_mode == FAKE_POLL_ERROR) {
        n = -AP_HAL_IO;
    } else if (f->poll_mode == FAKE_POLL_STALE) {
        events[0] = (ap__hal_event){0, 9};   /* never started */
        events[1] = (ap__hal_event){63, 50}; /* no such device */
        n = 2;
        f->poll_mode = FAKE_POLL_GOOD;
    } else if (f->poll_mode != FAKE_POLL_STORM) {
        while ((f->queued == 0 || f->poll_mode == FAKE_POLL_SILENT) && fake_ms() < until &&
               fake_any_running(f)) {
            fake_wait_ms(f, until);
        }
        while (f->poll_mode == FAKE_POLL_GOOD && n < capacity && (unsigned)n < f->queued) {
            events[n] = f->queue[n];
            fake_ch(f, events[n].device, events[n].channel)->pending = false;
            n++;
        }
        memmove(f->queue, f->queue + n, (f->queued - (unsigned)n) * sizeof(f->queue[0]));
        f->queued -= (unsigned)n;
    }
    f->pollers--;
    pthread_mutex_unlock(&f->lock);
    return n;
}

static int fake_read_op(void *context, uint32_t device, uint32_t channel, void *buffer,
                        uint32_t bytes)
{
    fake *f = context;
    fake_channel *ch = fake_ch(f, device, channel);
    size_t there = 0;
    int n = 0;

    pthread_mutex_lock(&f->lock);
    fake_hang_if(f, ch->hang, FAKE_HANG_READ);
    there = ch->bytes - ch->held - ch->at;
    if (f->devices[device].lost) {
        n = -AP_HAL_DEVICE_LOST;
    } else if (!ch->running) {
        n = -AP_HAL_STOPPED;
    } else if (there != 0 && ch->read_errors != 0) {
        ch->read_errors--;
        n = -(ch->read_rc != 0 ? ch->read_rc : AP_HAL_IO);
    } else if (there != 0 && ch->read_zeros != 0) {
        ch->read_zeros--;
    } else {
        there = there < bytes ? there : bytes;
        there = ch->short_read != 0 && there > ch->short_read ? ch->short_read : there;
        if (there != 0) {
            memcpy(buffer, ch->data + ch->at, there);
        }
        ch->at += there;
        n = (int)there;
        if (ch->at == ch->bytes) {
            pthread_cond_broadcast(&f->changed);
        }
    }
    pthread_mutex_unlock(&f->lock);
    return n;
}

static int fake_flush_op(void *context, uint32_t device, uint32_t channel, uint32_t *pending)
{
    fake *f = context;
    fake_channel *ch = fake_ch(f, device, channel);
    int rc = AP_HAL_OK;

    pthread_mutex_lock(&f->lock);
    fake_hang_if(f, ch->hang, FAKE_HANG_FLUSH);
    rc = ch->running ? ch->flush_rc : AP_HAL_STOPPED;
    if (rc == AP_HAL_OK) {
        ch->held = 0;
        *pending = (uint32_t)(ch->bytes - ch->at) + ch->flush_more;
        fake_announce(f, device, channel);
    }
    pthread_mutex_unlock(&f->lock);
    return rc;
}

static int fake_status_op(void *context, uint32_t device)
{
    fake *f = context;
    int rc = AP_HAL_OK;

    pthread_mutex_lock(&f->lock);
    fake_hang_if(f, f->devices[device].hang, FAKE_HANG_STATUS);
    rc = f->devices[device].lost || f->devices[device].lost_quietly ? AP_HAL_DEVICE_LOST
                                                                     : AP_HAL_OK;
    pthread_mutex_unlock(&f->lock);
    return rc;
}

static const ap__hal_ops fake_ops = {
    .abi = AP_HAL_ABI,
    .name = "fake",
    .simulated = 1,
    .open = NULL,
    .close = NULL,
    .devices = fake_devices_op,
    .info = fake_info_op,
    .api_version = fake_api_op,
    .clock = fake_clock_op,
    .channels = fake_channels_op,
    .start = fake_start_op,
    .stop = fake_stop_op,
    .poll = fake_poll_op,
    .read = fake_read_op,
    .flush = fake_flush_op,
    .status = fake_status_op,
};

#endif
