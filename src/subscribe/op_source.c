/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "subscribe/op_source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/own_thread.h"
#include "clock/cycles.h"
#include "collector/channels.h"
#include "collector/platform.h"
#include "drivers/choose.h"
#include "format/wire_device.h"

#define AP_STARS_CHANNEL 50u
#define AP_READ_BYTES 65536u
#define AP_REST_NS 5000000L
#define AP_CATCH_UP_RESTS 50 /* 250 ms */
#define AP_ERRORS_MAX 200u /* one after the other: a second */
#define AP_START_MS 3500u /* for the driver's answers */
#define AP_STOP_MS 2500u
#define AP_FLUSH_MS 250u
#define AP_READER_MS 1000u
#define AP_IMPATIENCE_MS 100u /* for any of them, when a call hangs already */

static _Atomic uint32_t ap__hanging; /* calls that were left behind in the driver */

/* Threads that are in the driver may be left behind: who comes out last frees it. */
struct ap__op_source {
    uint32_t device;
    uint32_t khz; /* of the device's counter */
    const ap__driver *driver;
    ap__op_sink sink;
    _Atomic bool ending;
    _Atomic uint32_t empties; /* reads that found nothing */
    _Atomic bool silent;  /* nobody wants to hear of anything any more */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* under the lock */
    uint32_t users;   /* the owner, threads */
    const char *why;  /* of a channel that does not start */
    bool started;     /* or not: there is an answer */
    bool left;        /* the owner has not waited for it */
    bool flushing;
    bool stopped;
    bool stop_left; /* the owner has not waited for it */
    bool reader_gone;
    ap__op_match *match;
    /* the reader's */
    uint32_t have; /* bytes of a record that has not come whole */
    uint8_t buffer[sizeof(ap__wire_stars_log) + AP_READ_BYTES];
};

static uint64_t ap__ns(const ap__op_source *s, uint64_t cycles)
{
    return cycles / s->khz * 1000000u + cycles % s->khz * 1000000u / s->khz;
}

static void ap__tell(ap__op_source *s, const ap__op_run *run)
{
    if (run->launch.op != 0 && run->launch.model != AP_NO_MODEL && !atomic_load(&s->silent)) {
        s->sink(s->device, &run->launch, ap__ns(s, run->start_cycles), ap__ns(s, run->end_cycles));
    }
}

/* ---- the thread ---- */

static void ap__take(ap__op_source *s, const ap__wire_stars_log *log, uint64_t now)
{
    uint16_t stream = log->stream;
    uint16_t task = log->task;
    ap__op_run run;
    bool complete = false;

    if (log->magic != AP_STARS_MAGIC) {
        return;
    }
    ap__stars_unpack(false, AP_STARS_KIND(log->head), &stream, &task);
    pthread_mutex_lock(&s->lock);
    if (AP_STARS_FUNCTION(log->head) == AP_STARS_START) {
        ap__op_match_start(s->match, stream, task, log->cycles, now);
    } else if (AP_STARS_FUNCTION(log->head) == AP_STARS_END) {
        complete = ap__op_match_end(s->match, stream, task, log->cycles, now, &run);
    }
    pthread_mutex_unlock(&s->lock);
    if (complete) {
        ap__tell(s, &run);
    }
}

static int ap__read(ap__op_source *s)
{
    const ap__driver *d = s->driver;
    int n = d->ops->read(d->context, s->device, AP_STARS_CHANNEL, s->buffer + s->have,
                         AP_READ_BYTES);
    uint64_t now = ap__now_ms();
    uint32_t at = 0;

    if (n <= 0) {
        return n;
    }
    s->have += (uint32_t)n;
    for (; s->have - at >= sizeof(ap__wire_stars_log); at += sizeof(ap__wire_stars_log)) {
        ap__wire_stars_log log;

        memcpy(&log, s->buffer + at, sizeof(log));
        ap__take(s, &log, now);
    }
    s->have -= at;
    memmove(s->buffer, s->buffer + at, s->have);
    return n;
}

static void ap__read_on(ap__op_source *s)
{
    static const struct timespec rest = {0, AP_REST_NS};
    uint64_t aged = ap__now_ms();
    uint32_t errors = 0;

    while (errors < AP_ERRORS_MAX) {
        bool ending = atomic_load_explicit(&s->ending, memory_order_acquire);
        int n = ap__read(s);
        uint64_t now = ap__now_ms();

        if (n <= 0 && ending) {
            break;
        }
        errors = n < 0 ? errors + 1 : 0;
        if (now >= aged + 1000) {
            pthread_mutex_lock(&s->lock);
            ap__op_match_age(s->match, now);
            pthread_mutex_unlock(&s->lock);
            aged = now;
        }
        if (n <= 0) {
            atomic_fetch_add_explicit(&s->empties, 1, memory_order_release);
            (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, NULL);
        }
    }
}

/* ---- start and stop ---- */

/* 0 or why not. */
static const char *ap__start_channel(ap__op_source *s)
{
    static const ap__settings none;
    const ap__driver *d = s->driver;
    ap__channel_plan *plan = calloc(AP_HAL_MAX_CHANNELS, sizeof(*plan));
    ap__hal_channels offered;
    ap__channel_request request = {.data_types = ACL_PROF_TASK_TIME,
                                   .metrics = ACL_AICORE_NONE,
                                   .settings = &none,
                                   .api_version = (uint32_t)d->ops->api_version(d->context)};
    const char *why = "the device does not offer the records of its task scheduler";
    ap__platform platform;
    int64_t value = 0;
    size_t n = 0;

    if (plan == NULL) {
        return "memory is short";
    }
    if (d->ops->info(d->context, s->device, AP_HAL_CHIP, &value) != AP_HAL_OK ||
        d->ops->channels(d->context, s->device, &offered) != AP_HAL_OK) {
        free(plan);
        return "the device does not answer";
    }
    platform = ap__platform_of((uint32_t)value);
    s->khz = platform.counter_khz;
    if (!platform.counter_fixed &&
        d->ops->info(d->context, s->device, AP_HAL_DEVICE_KHZ, &value) == AP_HAL_OK && value > 0) {
        s->khz = (uint32_t)value;
    }
    request.chip = platform.chip;
    n = platform.kind == AP_CLASS_STARS ? ap__channel_plan_make(&request, &offered, plan) : 0;
    for (size_t i = 0; i < n; i++) {
        if (plan[i].channel == AP_STARS_CHANNEL) {
            ap__hal_start start = {.period_ms = plan[i].period_ms,
                                   .flags = plan[i].flags,
                                   .config = plan[i].config,
                                   .config_bytes = plan[i].config_bytes};
            int rc = d->ops->start(d->context, s->device, AP_STARS_CHANNEL, &start);

            why = rc == AP_HAL_OK      ? NULL
                  : rc == AP_HAL_TAKEN ? "another process profiles the device"
                                       : "the driver refuses to start the task scheduler's records";
        }
    }
    free(plan);
    return why;
}

static void ap__release(ap__op_source *s)
{
    bool last = false;

    pthread_mutex_lock(&s->lock);
    last = --s->users == 0;
    pthread_mutex_unlock(&s->lock);
    if (last) {
        pthread_cond_destroy(&s->changed);
        pthread_mutex_destroy(&s->lock);
        ap__op_match_free(s->match);
        free(s);
    }
}

/* A thread that has the source. false: there is none. */
static bool ap__begin(ap__op_source *s, const char *name, void *(*run)(void *))
{
    bool begun = false;

    pthread_mutex_lock(&s->lock);
    s->users++;
    pthread_mutex_unlock(&s->lock);
    begun = ap__own_thread(NULL, name, run, s) == 0;
    if (!begun) {
        pthread_mutex_lock(&s->lock);
        s->users--;
        pthread_mutex_unlock(&s->lock);
    }
    return begun;
}

/* Under the lock, until *done or the patience is at an end; returns *done. */
static bool ap__await(ap__op_source *s, const bool *done, uint32_t ms)
{
    uint64_t until =
        ap__now_ms() + (atomic_load(&ap__hanging) != 0 && ms > AP_IMPATIENCE_MS ? AP_IMPATIENCE_MS
                                                                                : ms);
    struct timespec ts = {(time_t)(until / 1000u), (long)(until % 1000u) * 1000000L};

    while (!*done && ap__now_ms() < until) {
        (void)pthread_cond_timedwait(&s->changed, &s->lock, &ts);
    }
    return *done;
}

static void *ap__reader(void *arg)
{
    ap__op_source *s = arg;
    const char *why = ap__start_channel(s);
    bool left = false;

    pthread_mutex_lock(&s->lock);
    s->why = why;
    s->started = true;
    left = s->left;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (left) {
        atomic_fetch_sub(&ap__hanging, 1);
        if (why == NULL) { /* too late */
            (void)s->driver->ops->stop(s->driver->context, s->device, AP_STARS_CHANNEL);
        }
    } else if (why == NULL) {
        ap__read_on(s);
    }
    pthread_mutex_lock(&s->lock);
    s->reader_gone = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    ap__release(s);
    return NULL;
}

static ap__op_source *ap__new(uint32_t device, ap__op_sink sink)
{
    ap__op_source *s = calloc(1, sizeof(*s));
    pthread_condattr_t attr;

    if (s == NULL) {
        return NULL;
    }
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &attr);
    pthread_condattr_destroy(&attr);
    s->users = 1;
    s->device = device;
    s->sink = sink;
    s->match = ap__op_match_new();
    s->driver = ap__driver_now();
    return s;
}

ap__op_source *ap__op_source_start(uint32_t device, ap__op_sink sink, const char **why)
{
    ap__op_source *s = ap__new(device, sink);

    *why = "memory is short";
    if (s == NULL) {
        return NULL;
    }
    if (s->match == NULL || s->driver->ops == NULL) {
        *why = s->match == NULL ? *why : "no Ascend driver was found";
    } else if (!ap__begin(s, "aclprof-ops", ap__reader)) {
        *why = "no thread can be made";
    } else {
        pthread_mutex_lock(&s->lock);
        s->left = !ap__await(s, &s->started, AP_START_MS);
        *why = s->left ? "the device does not answer" : s->why;
        if (s->left) {
            atomic_fetch_add(&ap__hanging, 1);
        }
        pthread_mutex_unlock(&s->lock);
    }
    if (*why != NULL) {
        ap__release(s);
        return NULL;
    }
    return s;
}

void ap__op_source_launch(ap__op_source *s, uint16_t stream, uint16_t task,
                          const ap__op_launch *launch)
{
    ap__op_run run;
    bool complete = false;

    pthread_mutex_lock(&s->lock);
    complete = ap__op_match_launch(s->match, stream, task, launch, ap__now_ms(), &run);
    pthread_mutex_unlock(&s->lock);
    if (complete) {
        ap__tell(s, &run);
    }
}

void ap__op_source_rename(ap__op_source *s, uint16_t stream, uint16_t task, uint64_t op)
{
    pthread_mutex_lock(&s->lock);
    ap__op_match_rename(s->match, stream, task, op);
    pthread_mutex_unlock(&s->lock);
}

void ap__op_source_static(ap__op_source *s, uint16_t stream, uint16_t task,
                          const ap__op_launch *launch)
{
    pthread_mutex_lock(&s->lock);
    (void)ap__op_match_static(s->match, stream, task, launch);
    pthread_mutex_unlock(&s->lock);
}

uint64_t ap__op_source_missed(ap__op_source *s)
{
    uint64_t missed = 0;

    pthread_mutex_lock(&s->lock);
    missed = ap__op_match_missed(s->match, false);
    pthread_mutex_unlock(&s->lock);
    return missed;
}

static void *ap__flush(void *arg)
{
    ap__op_source *s = arg;
    uint32_t pending = 0;

    (void)s->driver->ops->flush(s->driver->context, s->device, AP_STARS_CHANNEL, &pending);
    pthread_mutex_lock(&s->lock);
    s->flushing = false;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    ap__release(s);
    return NULL;
}

/* One at a time: a flush that hangs is not asked for again. */
static void ap__flush_soon(ap__op_source *s)
{
    uint64_t until = ap__now_ms() + AP_FLUSH_MS;
    struct timespec ts = {(time_t)(until / 1000u), (long)(until % 1000u) * 1000000L};
    bool hangs = false;

    pthread_mutex_lock(&s->lock);
    hangs = s->flushing;
    s->flushing = true;
    pthread_mutex_unlock(&s->lock);
    if (hangs) {
        return;
    }
    if (!ap__begin(s, "aclprof-opflush", ap__flush)) {
        pthread_mutex_lock(&s->lock);
        s->flushing = false;
        pthread_mutex_unlock(&s->lock);
        return;
    }
    pthread_mutex_lock(&s->lock);
    while (s->flushing && ap__now_ms() < until) {
        (void)pthread_cond_timedwait(&s->changed, &s->lock, &ts);
    }
    pthread_mutex_unlock(&s->lock);
}

void ap__op_source_catch_up(ap__op_source *s)
{
    static const struct timespec rest = {0, AP_REST_NS};
    uint32_t before = 0;

    ap__flush_soon(s);
    before = atomic_load_explicit(&s->empties, memory_order_acquire);
    for (int i = 0; i < AP_CATCH_UP_RESTS; i++) {
        /* the first may have begun before the flush */
        if (atomic_load_explicit(&s->empties, memory_order_acquire) - before >= 2) {
            return;
        }
        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, NULL);
    }
}

static void *ap__stop(void *arg)
{
    ap__op_source *s = arg;
    bool late = false;

    (void)s->driver->ops->stop(s->driver->context, s->device, AP_STARS_CHANNEL);
    pthread_mutex_lock(&s->lock);
    s->stopped = true;
    late = s->stop_left;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (late) {
        atomic_fetch_sub(&ap__hanging, 1);
    }
    ap__release(s);
    return NULL;
}

uint64_t ap__op_source_stop(ap__op_source *s)
{
    bool begun = ap__begin(s, "aclprof-opstop", ap__stop);
    uint64_t missed = 0;

    if (!begun) {
        (void)s->driver->ops->stop(s->driver->context, s->device, AP_STARS_CHANNEL);
    }
    pthread_mutex_lock(&s->lock);
    s->stop_left = begun && !ap__await(s, &s->stopped, AP_STOP_MS);
    if (s->stop_left) {
        atomic_fetch_add(&ap__hanging, 1);
    }
    /* the thread reads meanwhile, which lets the driver empty its ring */
    atomic_store_explicit(&s->ending, true, memory_order_release);
    (void)ap__await(s, &s->reader_gone, AP_READER_MS);
    atomic_store_explicit(&s->silent, true, memory_order_release);
    missed = ap__op_match_missed(s->match, true);
    pthread_mutex_unlock(&s->lock);
    ap__release(s);
    return missed;
}
