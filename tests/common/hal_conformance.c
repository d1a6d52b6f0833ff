/* SPDX-License-Identifier: Apache-2.0 */
#include "hal_conformance.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AP_RING 4190208u /* bytes: 4 MiB less 4 KiB */
#define AP_NO_SUCH 51u   /* reserved, on no chip */
#define AP_TOO_LONG 58

typedef struct ap__t {
    const ap__hal_ops *ops;
    const ap__hal_conformance *how;
    void *context;
    uint32_t device;
    unsigned char *buffer; /* 2 × ring */
    bool bad;
    char why[512];
} ap__t;

static uint64_t ap__ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void ap__sleep(long ms)
{
    struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

    (void)nanosleep(&ts, NULL);
}

__attribute__((format(printf, 3, 4))) static void ap__check(ap__t *t, bool right,
                                                            const char *format, ...)
{
    va_list args;

    if (right || t->bad) {
        return;
    }
    t->bad = true;
    va_start(args, format);
    (void)vsnprintf(t->why, sizeof(t->why), format, args);
    va_end(args);
}

static void ap__equal(ap__t *t, const char *what, long is, long wanted)
{
    ap__check(t, is == wanted, "%s is %ld, not %ld", what, is, wanted);
}

static void ap__between(ap__t *t, const char *what, uint64_t is, uint64_t low, uint64_t high)
{
    ap__check(t, is >= low && is <= high, "%s is %llu, not %llu to %llu", what,
              (unsigned long long)is, (unsigned long long)low, (unsigned long long)high);
}

static void ap__put32(unsigned char *out, unsigned offset, uint32_t value)
{
    memcpy(out + offset, &value, 4);
}

uint32_t ap__hal_conformance_config(uint32_t channel, unsigned char out[AP_HAL_MAX_CONFIG])
{
    static const uint16_t events[] = {0x8, 0xa, 0x9, 0xb, 0xc, 0xd, 0x54, 0x55};

    memset(out, 0, AP_HAL_MAX_CONFIG);
    switch (channel) {
    case 44:
        ap__put32(out, 4, 1); /* task types */
        ap__put32(out, 24, 1);
        ap__put32(out, 28, 0x86000001);
        ap__put32(out, 32, 1);
        return 36;
    case 50:
        ap__put32(out, 0, 1);
        ap__put32(out, 24, 1);
        return 44;
    case 53:
        ap__put32(out, 0, 3);
        for (unsigned half = 4; half <= 36; half += 32) {
            ap__put32(out, half, 1);
            ap__put32(out, half + 8, UINT32_MAX);
            ap__put32(out, half + 12, 8);
            memcpy(out + half + 16, events, sizeof(events));
        }
        return 72;
    default:
        return 0;
    }
}

static int ap__start(ap__t *t, uint32_t channel)
{
    unsigned char config[AP_HAL_MAX_CONFIG];
    ap__hal_start start = {0};

    start.config_bytes = ap__hal_conformance_config(channel, config);
    start.config = start.config_bytes > 0 ? config : NULL;
    return t->ops->start(t->context, t->device, channel, &start);
}

static int ap__read(ap__t *t, uint32_t channel, void *buffer, uint32_t bytes)
{
    return t->ops->read(t->context, t->device, channel, buffer, bytes);
}

static int ap__report(ap__t *t, uint32_t channel, const void *data, size_t bytes)
{
    return t->how->report(t->how->user, t->context, t->device, channel, data, bytes);
}

static uint32_t ap__pending(ap__t *t, uint32_t channel)
{
    uint32_t n = UINT32_MAX;
    int rc = t->ops->flush(t->context, t->device, channel, &n);

    ap__equal(t, "flush", rc, AP_HAL_OK);
    return n;
}

/* Events of one poll, and how long it took. */
static int ap__poll(ap__t *t, ap__hal_event *events, int capacity, int seconds, uint64_t *took)
{
    uint64_t begin = ap__ms();
    int n = t->ops->poll(t->context, events, capacity, seconds * 1000);

    *took = ap__ms() - begin;
    return n;
}

static void ap__all_read(ap__t *t, uint32_t channel)
{
    while (ap__read(t, channel, t->buffer, 1 << 20) > 0) {
    }
}

/* ---- what the driver says of itself ---- */

static void ap__t_table(ap__t *t)
{
    ap__equal(t, "abi", t->ops->abi, AP_HAL_ABI);
    ap__check(t, t->ops->name != NULL && t->ops->name[0] != '\0', "no name");
}

static void ap__t_devices(ap__t *t)
{
    uint32_t ids[AP_HAL_MAX_DEVICES];
    int n = t->ops->devices(t->context, ids, AP_HAL_MAX_DEVICES);
    uint32_t guard[2] = {77, 77};

    ap__check(t, n >= 1 && n <= (int)AP_HAL_MAX_DEVICES, "%d devices", n);
    ap__equal(t, "devices with room for none", t->ops->devices(t->context, guard, 0), n);
    ap__equal(t, "what is beyond the room", guard[0], 77);
}

static void ap__t_version(ap__t *t)
{
    ap__check(t, t->ops->api_version(t->context) > 0x050000, "version 0x%x",
              (unsigned)t->ops->api_version(t->context));
}

static void ap__t_info(ap__t *t)
{
    int64_t chip = -1;
    int64_t cores = -1;
    int64_t khz = -1;

    ap__equal(t, "chip's rc", t->ops->info(t->context, t->device, AP_HAL_CHIP, &chip), 0);
    ap__check(t, chip >= 0 && chip < 64, "chip %lld", (long long)chip);
    ap__equal(t, "cores' rc", t->ops->info(t->context, t->device, AP_HAL_AIC_NUM, &cores), 0);
    ap__check(t, cores > 0 && cores <= 64, "%lld cores", (long long)cores);
    ap__equal(t, "rate's rc", t->ops->info(t->context, t->device, AP_HAL_DEVICE_KHZ, &khz), 0);
    ap__check(t, khz >= 1000, "%lld kHz", (long long)khz);
    ap__check(t, t->ops->info(t->context, 64, AP_HAL_CHIP, &chip) != 0, "device 64 has a chip");
}

static void ap__t_status(ap__t *t)
{
    ap__equal(t, "status", t->ops->status(t->context, t->device), AP_HAL_OK);
}

static void ap__t_channels(ap__t *t)
{
    ap__hal_channels list;

    memset(&list, 0xff, sizeof(list));
    ap__equal(t, "channels", t->ops->channels(t->context, t->device, &list), AP_HAL_OK);
    ap__check(t, ap__hal_has(&list, 44) && ap__hal_has(&list, 50) && ap__hal_has(&list, 53),
              "44, 50, 53 are not all offered");
    ap__check(t, !ap__hal_has(&list, AP_NO_SUCH) && !ap__hal_has(&list, 0),
              "a channel that cannot be is offered");
    ap__equal(t, "device 64", t->ops->channels(t->context, 64, &list), AP_HAL_INVALID);
}

static void ap__t_late_channel(ap__t *t)
{
    ap__hal_channels list = {{0}};

    for (int i = 0; i < 10 && !ap__hal_has(&list, 143); i++) {
        ap__check(t, t->ops->channels(t->context, t->device, &list) == 0, "channels");
        ap__check(t, i > 0 || !ap__hal_has(&list, 143), "143 is there at once");
    }
    ap__check(t, ap__hal_has(&list, 143), "143 never appears");
    ap__equal(t, "start of 143", ap__start(t, 143), AP_HAL_OK);
    ap__equal(t, "stop of 143", t->ops->stop(t->context, t->device, 143), AP_HAL_OK);
}

static void ap__t_clock(ap__t *t)
{
    ap__hal_clock a;
    ap__hal_clock b;
    int64_t khz = 0;
    double rate = 0;

    ap__equal(t, "clock", t->ops->clock(t->context, t->device, &a), AP_HAL_OK);
    ap__sleep(60);
    ap__equal(t, "clock", t->ops->clock(t->context, t->device, &b), AP_HAL_OK);
    for (int i = 0; i < 3; i++) {
        ap__check(t, a.host_cycles[i] <= a.host_cycles[i + 1], "host cycles run backwards");
    }
    ap__check(t, a.host_ns[0] <= a.host_ns[1], "host time runs backwards");
    ap__check(t, a.host_ns[1] <= b.host_ns[0], "host time runs backwards between rounds");
    ap__check(t, a.device_ns < b.device_ns && a.device_cycles < b.device_cycles,
              "a device clock stands");
    ap__equal(t, "rate's rc", t->ops->info(t->context, t->device, AP_HAL_DEVICE_KHZ, &khz), 0);
    rate = (double)(b.device_cycles - a.device_cycles) / (double)(b.device_ns - a.device_ns) * 1e6;
    ap__check(t, rate > 0.9 * (double)khz && rate < 1.1 * (double)khz, "%.0f kHz, not %lld", rate,
              (long long)khz);
    ap__check(t, t->ops->clock(t->context, 64, &a) != 0, "device 64 has a clock");
}

/* ---- states and codes ---- */

static void ap__t_bad_arguments(ap__t *t)
{
    ap__hal_start start = {0};
    uint32_t n = 0;

    ap__equal(t, "start of no channel", ap__start(t, AP_NO_SUCH), AP_HAL_UNSUPPORTED);
    ap__equal(t, "start, device 64", t->ops->start(t->context, 64, 50, &start), AP_HAL_INVALID);
    ap__equal(t, "start, channel 160", t->ops->start(t->context, t->device, 160, &start),
              AP_HAL_INVALID);
    ap__equal(t, "start of nothing", t->ops->start(t->context, t->device, 50, NULL),
              AP_HAL_INVALID);
    ap__equal(t, "stop, device 64", t->ops->stop(t->context, 64, 50), AP_HAL_INVALID);
    ap__equal(t, "stop, channel 160", t->ops->stop(t->context, t->device, 160), AP_HAL_INVALID);
    ap__equal(t, "flush, device 64", t->ops->flush(t->context, 64, 50, &n), AP_HAL_INVALID);
    ap__check(t, ap__read(t, 160, t->buffer, 64) < 0, "read, channel 160");
    ap__check(t, ap__read(t, 50, NULL, 64) < 0, "read into nothing");
}

static void ap__t_config_too_long(ap__t *t)
{
    unsigned char config[AP_HAL_MAX_CONFIG + 1] = {0};
    ap__hal_start start = {.config = config, .config_bytes = sizeof(config)};

    ap__equal(t, "start", t->ops->start(t->context, t->device, 50, &start), AP_HAL_INVALID);
    ap__equal(t, "start after that", ap__start(t, 50), AP_HAL_OK);
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
}

static void ap__t_not_started(ap__t *t)
{
    uint32_t n = 0;

    ap__equal(t, "read", ap__read(t, 50, t->buffer, 64), -AP_HAL_STOPPED);
    ap__equal(t, "flush", t->ops->flush(t->context, t->device, 50, &n), AP_HAL_STOPPED);
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 50), AP_HAL_BUSY);
}

static void ap__t_poll_not_started(ap__t *t)
{
    ap__hal_event event;
    uint64_t took = 0;

    ap__equal(t, "poll", ap__poll(t, &event, 1, 1, &took), -AP_HAL_STOPPED);
    ap__between(t, "its time", took, 0, 300);
}

static void ap__t_start_twice(ap__t *t)
{
    ap__equal(t, "start", ap__start(t, 50), AP_HAL_OK);
    ap__equal(t, "second start", ap__start(t, 50), AP_HAL_BUSY);
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
    ap__equal(t, "second stop", t->ops->stop(t->context, t->device, 50), AP_HAL_BUSY);
    ap__equal(t, "start again", ap__start(t, 50), AP_HAL_OK);
    ap__equal(t, "read of nothing", ap__read(t, 50, t->buffer, 64), 0);
    ap__equal(t, "stop again", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
    ap__equal(t, "read after that", ap__read(t, 50, t->buffer, 64), -AP_HAL_STOPPED);
}

/* ---- poll ---- */

static void ap__t_poll_arguments(ap__t *t)
{
    ap__hal_event events[AP_HAL_MAX_POLL + 1];

    ap__equal(t, "start", ap__start(t, 50), AP_HAL_OK);
    ap__check(t, t->ops->poll(t->context, events, 0, 1000) < 0, "poll for 0 events");
    ap__check(t, t->ops->poll(t->context, events, AP_HAL_MAX_POLL + 1, 1000) < 0,
              "poll for 161 events");
    ap__check(t, t->ops->poll(t->context, NULL, 1, 1000) < 0, "poll into nothing");
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
}

static void ap__t_poll_idle(ap__t *t)
{
    ap__hal_event event;
    uint64_t took = 0;

    ap__equal(t, "start", ap__start(t, 50), AP_HAL_OK);
    ap__equal(t, "poll", ap__poll(t, &event, 1, 1, &took), 0);
    ap__between(t, "its time", took, 950, 1500);
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
}

static void ap__t_poll_early_zeros(ap__t *t)
{
    static const uint32_t channels[] = {44, 50, 53};
    ap__hal_event events[6];
    uint64_t took = 0;
    unsigned seen = 0;

    for (int i = 0; i < 3; i++) {
        ap__equal(t, "start", ap__start(t, channels[i]), AP_HAL_OK);
        ap__equal(t, "report", ap__report(t, channels[i], t->buffer, 64), 0);
    }
    ap__equal(t, "first poll", ap__poll(t, events, 6, 1, &took), 3);
    for (int i = 0; !t->bad && i < 3; i++) {
        seen += events[i].device == t->device ? events[i].channel : 0;
    }
    ap__equal(t, "sum of the channels", seen, 44 + 50 + 53);
    for (int i = 0; i < 2; i++) {
        ap__equal(t, "early poll", ap__poll(t, events, 6, 1, &took), 0);
        ap__between(t, "its time", took, 0, 300);
    }
    ap__equal(t, "last poll", ap__poll(t, events, 6, 1, &took), 0);
    ap__between(t, "its time", took, 950, 1500);
    for (int i = 0; i < 3; i++) {
        ap__all_read(t, channels[i]);
        ap__equal(t, "stop", t->ops->stop(t->context, t->device, channels[i]), AP_HAL_OK);
    }
}

/* More channels than one poll takes: each is named, maybe after entries of stopped ones. */
static void ap__many(ap__t *t)
{
    static const uint32_t channels[] = {3,   4,   6,   9,   44,  50,  53, 129,
                                        135, 136, 137, 138, 139, 140, 141};
    const int n = sizeof(channels) / sizeof(channels[0]);
    bool seen[AP_HAL_MAX_CHANNELS] = {false};
    ap__hal_event events[4];
    uint64_t took = 0;
    int left = n;

    for (int i = 0; i < n; i++) {
        ap__equal(t, "start", ap__start(t, channels[i]), AP_HAL_OK);
        ap__equal(t, "report", ap__report(t, channels[i], t->buffer, 64), 0);
    }
    for (int i = 0; !t->bad && left > 0 && i < 2 * n; i++) {
        int k = ap__poll(t, events, 4, 1, &took);

        ap__check(t, k >= 0, "poll gave %d", k);
        for (int j = 0; j < k; j++) {
            bool *one = &seen[events[j].channel % AP_HAL_MAX_CHANNELS];

            left -= !*one;
            *one = true;
        }
    }
    ap__equal(t, "channels that poll did not name", left, 0);
    for (int i = 0; i < n; i++) {
        ap__all_read(t, channels[i]);
        ap__equal(t, "stop", t->ops->stop(t->context, t->device, channels[i]), AP_HAL_OK);
    }
}

static void ap__t_poll_one_by_one(ap__t *t)
{
    ap__hal_event event;
    uint64_t took = 0;

    for (uint32_t c = 44; c <= 53; c += 9) {
        ap__equal(t, "start", ap__start(t, c), AP_HAL_OK);
        ap__equal(t, "report", ap__report(t, c, t->buffer, 64), 0);
        ap__equal(t, "report again", ap__report(t, c, t->buffer, 64), 0);
    }
    ap__equal(t, "poll for one", ap__poll(t, &event, 1, 1, &took), 1);
    ap__equal(t, "its channel", event.channel, 44);
    ap__equal(t, "poll for one", ap__poll(t, &event, 1, 1, &took), 1);
    ap__equal(t, "its channel", event.channel, 53);
    ap__equal(t, "report after the poll", ap__report(t, 44, t->buffer, 64), 0);
    ap__equal(t, "poll for one", ap__poll(t, &event, 1, 1, &took), 1);
    ap__equal(t, "its channel", event.channel, 44);
    ap__equal(t, "bytes", ap__read(t, 44, t->buffer, 4096), 192);
    ap__equal(t, "bytes", ap__read(t, 53, t->buffer, 4096), 128);
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 44), AP_HAL_OK);
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 53), AP_HAL_OK);
    ap__many(t);
}

static void ap__t_poll_edge(ap__t *t)
{
    ap__hal_event event;
    uint64_t took = 0;

    ap__equal(t, "start", ap__start(t, 50), AP_HAL_OK);
    ap__equal(t, "report", ap__report(t, 50, t->buffer, 128), 0);
    ap__equal(t, "poll", ap__poll(t, &event, 1, 1, &took), 1);
    ap__equal(t, "read", ap__read(t, 50, t->buffer, 64), 64);
    ap__equal(t, "poll with half unread", ap__poll(t, &event, 1, 1, &took), 0);
    ap__between(t, "its time", took, 950, 1500);
    ap__equal(t, "rest", ap__read(t, 50, t->buffer, 4096), 64);
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
}

static void ap__t_poll_stale(ap__t *t)
{
    ap__hal_event event = {0};
    uint64_t took = 0;

    ap__equal(t, "start of another", ap__start(t, 44), AP_HAL_OK);
    ap__equal(t, "start", ap__start(t, 50), AP_HAL_OK);
    ap__equal(t, "report", ap__report(t, 50, t->buffer, 64), 0);
    ap__equal(t, "read without a poll", ap__read(t, 50, t->buffer, 64), 64);
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
    ap__equal(t, "poll after it", ap__poll(t, &event, 1, 1, &took), 1);
    ap__equal(t, "its channel", event.channel, 50);
    ap__equal(t, "read after it", ap__read(t, 50, t->buffer, 64), -AP_HAL_STOPPED);
    ap__equal(t, "stop of the other", t->ops->stop(t->context, t->device, 44), AP_HAL_OK);
}

typedef struct ap__poller {
    ap__t *t;
    int n;
    uint64_t took;
} ap__poller;

static void *ap__poll_thread(void *argument)
{
    ap__poller *p = argument;
    ap__hal_event event;

    do {
        p->n = ap__poll(p->t, &event, 1, 5, &p->took);
    } while (p->n > 0);
    return NULL;
}

static void ap__t_poll_woken(ap__t *t)
{
    ap__poller poller = {.t = t};
    pthread_t thread;

    ap__equal(t, "start", ap__start(t, 50), AP_HAL_OK);
    ap__check(t, pthread_create(&thread, NULL, ap__poll_thread, &poller) == 0, "thread");
    ap__sleep(100);
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
    (void)pthread_join(thread, NULL);
    ap__check(t, poller.n == 0 || poller.n == -AP_HAL_STOPPED, "poll gave %d", poller.n);
    ap__between(t, "time in the poll", poller.took, 0, 1500);
}

/* ---- ring ---- */

static void ap__fill(unsigned char *out, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++) {
        out[i] = (unsigned char)(i * 7 + (i >> 8) + seed);
    }
}

/* Nothing is left over from one start to the next. */
static void ap__restarts(ap__t *t)
{
    unsigned char in[64];

    for (unsigned i = 0; i < 50 && !t->bad; i++) {
        ap__fill(in, sizeof(in), i);
        ap__equal(t, "start", ap__start(t, 50), AP_HAL_OK);
        ap__equal(t, "report", ap__report(t, 50, in, sizeof(in)), 0);
        ap__equal(t, "read", ap__read(t, 50, t->buffer, 4096), sizeof(in));
        ap__check(t, memcmp(in, t->buffer, sizeof(in)) == 0, "bytes of an earlier round");
        ap__equal(t, "stop", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
    }
}

static void ap__t_read_parts(ap__t *t)
{
    unsigned char in[64];

    ap__fill(in, sizeof(in), 3);
    ap__equal(t, "start", ap__start(t, 50), AP_HAL_OK);
    ap__equal(t, "report", ap__report(t, 50, in, 64), 0);
    ap__equal(t, "read of size 0", ap__read(t, 50, t->buffer, 0), 0);
    ap__equal(t, "read of 17", ap__read(t, 50, t->buffer, 17), 17);
    ap__equal(t, "read of the rest", ap__read(t, 50, t->buffer + 17, 100), 47);
    ap__equal(t, "read of nothing", ap__read(t, 50, t->buffer, 100), 0);
    ap__check(t, memcmp(in, t->buffer, 17) == 0, "other bytes");
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
    ap__restarts(t);
}

static void ap__t_ring_joined(ap__t *t)
{
    unsigned char in[2000];

    ap__fill(in, sizeof(in), 5);
    ap__equal(t, "start", ap__start(t, 50), AP_HAL_OK);
    ap__equal(t, "long report", ap__report(t, 50, t->buffer, AP_RING - 1000), 0);
    ap__equal(t, "long read", ap__read(t, 50, t->buffer, AP_RING), AP_RING - 1000);
    ap__equal(t, "report over the end", ap__report(t, 50, in, sizeof(in)), 0);
    ap__equal(t, "read over the end", ap__read(t, 50, t->buffer, AP_RING), sizeof(in));
    ap__check(t, memcmp(in, t->buffer, sizeof(in)) == 0, "other bytes");
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
}

static void ap__t_ring_capacity(ap__t *t)
{
    ap__equal(t, "start", ap__start(t, 50), AP_HAL_OK);
    ap__fill(t->buffer, AP_RING, 9);
    ap__equal(t, "report", ap__report(t, 50, t->buffer, AP_RING - 1), 0);
    ap__equal(t, "waiting", ap__pending(t, 50), AP_RING - 1);
    ap__equal(t, "one more byte", ap__report(t, 50, t->buffer, 1), 0);
    ap__equal(t, "waiting in a full ring", ap__pending(t, 50), 0);
    ap__equal(t, "read of a full ring", ap__read(t, 50, t->buffer, AP_RING), 0);
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
}

static void ap__t_ring_overrun(ap__t *t)
{
    const unsigned records = AP_RING / 64 - 1;
    long got = 0;
    int n = 0;

    ap__equal(t, "start", ap__start(t, 50), AP_HAL_OK);
    for (unsigned i = 0; i < records && !t->bad; i++) {
        ap__equal(t, "report", ap__report(t, 50, t->buffer, 64), 0);
    }
    ap__equal(t, "waiting", ap__pending(t, 50), 4190144);
    for (unsigned i = 0; i < 8; i++) {
        ap__equal(t, "report", ap__report(t, 50, t->buffer, 64), 0);
        ap__equal(t, "waiting", ap__pending(t, 50), 64 * i);
    }
    while ((n = ap__read(t, 50, t->buffer, 1 << 20)) > 0) {
        got += n;
    }
    ap__equal(t, "bytes read of 4190656", got, 448);
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
}

static void ap__t_report_too_long(ap__t *t)
{
    void *much = calloc(1, 9u << 20);

    ap__check(t, much != NULL, "memory");
    ap__equal(t, "start", ap__start(t, 50), AP_HAL_OK);
    if (much != NULL) {
        ap__equal(t, "report of 9 MiB", ap__report(t, 50, much, 9u << 20), AP_TOO_LONG);
    }
    free(much);
    ap__all_read(t, 50);
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
    ap__check(t, ap__report(t, 50, t->buffer, 64) != 0, "report to a stopped channel");
}

static void ap__t_flush(ap__t *t)
{
    uint32_t n = 0;

    ap__equal(t, "start", ap__start(t, 50), AP_HAL_OK);
    ap__equal(t, "waiting", ap__pending(t, 50), 0);
    ap__equal(t, "report", ap__report(t, 50, t->buffer, 100), 0);
    ap__equal(t, "waiting", ap__pending(t, 50), 100);
    ap__equal(t, "read", ap__read(t, 50, t->buffer, 30), 30);
    ap__equal(t, "waiting", ap__pending(t, 50), 70);
    ap__all_read(t, 50);
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
    ap__equal(t, "flush after it", t->ops->flush(t->context, t->device, 50, &n), AP_HAL_STOPPED);
}

/* ---- stop ---- */

static void *ap__stop_thread(void *argument)
{
    ap__poller *p = argument;
    uint64_t begin = ap__ms();

    p->n = p->t->ops->stop(p->t->context, p->t->device, 50);
    p->took = ap__ms() - begin;
    return NULL;
}

static void ap__t_stop_drains(ap__t *t)
{
    ap__poller stopper = {.t = t};
    pthread_t thread;
    long got = 0;
    int n = 0;

    ap__equal(t, "start", ap__start(t, 50), AP_HAL_OK);
    ap__equal(t, "report", ap__report(t, 50, t->buffer, 1 << 20), 0);
    ap__check(t, pthread_create(&thread, NULL, ap__stop_thread, &stopper) == 0, "thread");
    while ((n = ap__read(t, 50, t->buffer, 10000)) >= 0 && got < 1 << 20) {
        got += n;
        ap__sleep(1);
    }
    (void)pthread_join(thread, NULL);
    ap__equal(t, "bytes read in a stop", got, 1 << 20);
    ap__equal(t, "stop", stopper.n, AP_HAL_OK);
    ap__between(t, "its time", stopper.took, 0, 1000);
}

static void ap__t_stop_gives_up(ap__t *t)
{
    uint64_t begin = 0;

    ap__equal(t, "start", ap__start(t, 50), AP_HAL_OK);
    ap__equal(t, "report", ap__report(t, 50, t->buffer, 64), 0);
    begin = ap__ms();
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
    ap__between(t, "its time", ap__ms() - begin, 950, 2500);
    ap__equal(t, "read after it", ap__read(t, 50, t->buffer, 64), -AP_HAL_STOPPED);
    ap__equal(t, "start again", ap__start(t, 50), AP_HAL_OK);
    ap__equal(t, "read of what was lost", ap__read(t, 50, t->buffer, 64), 0);
    ap__equal(t, "stop again", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
}

typedef struct ap__stopper {
    ap__t *t;
    uint32_t channel;
    int rc;
} ap__stopper;

static void *ap__stop_one(void *argument)
{
    ap__stopper *s = argument;

    s->rc = s->t->ops->stop(s->t->context, s->t->device, s->channel);
    return NULL;
}

static void ap__t_stop_parallel(ap__t *t)
{
    ap__stopper stopper[3] = {{t, 44, 0}, {t, 50, 0}, {t, 53, 0}};
    pthread_t thread[3];
    uint64_t begin = 0;

    for (int i = 0; i < 3; i++) {
        ap__equal(t, "start", ap__start(t, stopper[i].channel), AP_HAL_OK);
        ap__equal(t, "report", ap__report(t, stopper[i].channel, t->buffer, 64), 0);
    }
    begin = ap__ms();
    for (int i = 0; i < 3; i++) {
        ap__check(t, pthread_create(&thread[i], NULL, ap__stop_one, &stopper[i]) == 0, "thread");
    }
    for (int i = 0; i < 3; i++) {
        (void)pthread_join(thread[i], NULL);
        ap__equal(t, "stop", stopper[i].rc, AP_HAL_OK);
    }
    ap__between(t, "time of three stops", ap__ms() - begin, 950, 2500);
}

/* ---- all together ---- */

#define AP_STREAMED 20000u

static void *ap__report_thread(void *argument)
{
    ap__t *t = argument;
    unsigned char record[64] = {0};

    for (uint32_t i = 0; i < AP_STREAMED; i++) {
        memcpy(record, &i, sizeof(i));
        if (ap__report(t, 50, record, sizeof(record)) != 0) {
            break;
        }
    }
    return NULL;
}

/* A reader that keeps the rules loses nothing. */
static void ap__t_streamed(ap__t *t)
{
    ap__t writer = *t;
    ap__hal_event events[6];
    pthread_t thread;
    uint32_t next = 0;
    uint32_t tail = 0;
    uint64_t took = 0;
    uint64_t end = ap__ms() + 10000;

    ap__equal(t, "start", ap__start(t, 50), AP_HAL_OK);
    ap__check(t, pthread_create(&thread, NULL, ap__report_thread, &writer) == 0, "thread");
    while (!t->bad && next < AP_STREAMED && ap__ms() < end) {
        int n = 0;

        (void)ap__poll(t, events, 6, 1, &took);
        while ((n = ap__read(t, 50, t->buffer + tail, 9999)) > 0) {
            uint32_t have = tail + (uint32_t)n;
            uint32_t at = 0;

            for (; at + 64 <= have; at += 64) {
                uint32_t number = 0;

                memcpy(&number, t->buffer + at, sizeof(number));
                ap__equal(t, "record", number, next++);
            }
            tail = have - at;
            memmove(t->buffer, t->buffer + at, tail);
        }
    }
    (void)pthread_join(thread, NULL);
    ap__equal(t, "records", next, AP_STREAMED);
    ap__equal(t, "stop", t->ops->stop(t->context, t->device, 50), AP_HAL_OK);
}

enum { AP_NEEDS_REPORT = 1, AP_NEEDS_LATE = 2 };

static const struct {
    const char *name;
    void (*run)(ap__t *t);
    int needs;
} ap__checks[] = {
    {"table", ap__t_table, 0},
    {"devices", ap__t_devices, 0},
    {"version", ap__t_version, 0},
    {"info", ap__t_info, 0},
    {"status", ap__t_status, 0},
    {"channels", ap__t_channels, 0},
    {"late_channel", ap__t_late_channel, AP_NEEDS_LATE},
    {"clock", ap__t_clock, 0},
    {"bad_arguments", ap__t_bad_arguments, 0},
    {"config_too_long", ap__t_config_too_long, 0},
    {"not_started", ap__t_not_started, 0},
    {"poll_not_started", ap__t_poll_not_started, 0},
    {"start_twice", ap__t_start_twice, 0},
    {"poll_arguments", ap__t_poll_arguments, 0},
    {"poll_idle", ap__t_poll_idle, 0},
    {"poll_early_zeros", ap__t_poll_early_zeros, AP_NEEDS_REPORT},
    {"poll_one_by_one", ap__t_poll_one_by_one, AP_NEEDS_REPORT},
    {"poll_edge", ap__t_poll_edge, AP_NEEDS_REPORT},
    {"poll_stale", ap__t_poll_stale, AP_NEEDS_REPORT},
    {"poll_woken", ap__t_poll_woken, 0},
    {"read_parts", ap__t_read_parts, AP_NEEDS_REPORT},
    {"ring_joined", ap__t_ring_joined, AP_NEEDS_REPORT},
    {"ring_capacity", ap__t_ring_capacity, AP_NEEDS_REPORT},
    {"ring_overrun", ap__t_ring_overrun, AP_NEEDS_REPORT},
    {"report_too_long", ap__t_report_too_long, AP_NEEDS_REPORT},
    {"flush", ap__t_flush, AP_NEEDS_REPORT},
    {"stop_drains", ap__t_stop_drains, AP_NEEDS_REPORT},
    {"stop_gives_up", ap__t_stop_gives_up, AP_NEEDS_REPORT},
    {"stop_parallel", ap__t_stop_parallel, AP_NEEDS_REPORT},
    {"streamed", ap__t_streamed, AP_NEEDS_REPORT},
};

/* Ends what a failed check has left running. */
static void ap__tidy(ap__t *t)
{
    for (uint32_t c = 0; t->bad && c < AP_HAL_MAX_CHANNELS; c++) {
        while (ap__read(t, c, t->buffer, 1 << 20) > 0) {
        }
        (void)t->ops->stop(t->context, t->device, c);
    }
}

static void ap__one(ap__t *t, size_t i, ap__hal_conformance_result *result)
{
    size_t used = strlen(result->text);
    int rc = t->ops->open(&t->context, t->how->options);

    ap__equal(t, "open", rc, AP_HAL_OK);
    if (rc == AP_HAL_OK) {
        ap__checks[i].run(t);
        ap__tidy(t);
        t->ops->close(t->context);
    }
    if (t->bad) {
        (void)snprintf(result->text + used, sizeof(result->text) - used, "%s: %s\n",
                       ap__checks[i].name, t->why);
        result->failed++;
    } else {
        result->passed++;
    }
}

unsigned ap__hal_conformance_run(const ap__hal_ops *ops, const ap__hal_conformance *how,
                                 ap__hal_conformance_result *result)
{
    unsigned char *buffer = calloc(2, AP_RING);

    memset(result, 0, sizeof(*result));
    for (size_t i = 0; i < sizeof(ap__checks) / sizeof(ap__checks[0]); i++) {
        ap__t t = {.ops = ops, .how = how, .device = how->device, .buffer = buffer};
        int needs = ap__checks[i].needs;

        if (how->only != NULL && strcmp(how->only, ap__checks[i].name) != 0) {
            continue;
        }
        if (buffer == NULL || ((needs & AP_NEEDS_REPORT) != 0 && how->report == NULL) ||
            ((needs & AP_NEEDS_LATE) != 0 && !how->late_channel)) {
            result->skipped++;
            continue;
        }
        ap__one(&t, i, result);
    }
    free(buffer);
    return result->failed;
}
