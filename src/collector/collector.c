/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "collector/collector.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock/clock.h"
#include "collector/collector_internal.h"

#define AP_POLLER_MS 1500u /* a driver's poll may last a second */
#define AP_POLLER_MORE_MS 100u

static uint32_t ap__or(uint32_t value, uint32_t otherwise)
{
    return value != 0 ? value : otherwise;
}

static void ap__set_limits(ap__collector_limits *l, const ap__collector_limits *given)
{
    l->start_silent_ms = ap__or(given->start_silent_ms, 3500);
    l->start_ms = ap__or(given->start_ms, 10000);
    l->flush_ms = ap__or(given->flush_ms, 500);
    l->stop_ms = ap__or(given->stop_ms, 500);
    l->stop_silent_ms = ap__or(given->stop_silent_ms, 4200);
    l->total_stop_ms = ap__or(given->total_stop_ms, 12000);
    l->tick_ms = ap__or(given->tick_ms, 1000);
    l->sweep_ms = ap__or(given->sweep_ms, 250);
    l->queue_bytes = given->queue_bytes != 0 ? given->queue_bytes : (size_t)64 << 20;
}

int ap__collector_open(const ap__hal_ops *ops, void *driver, const ap__collector_params *params,
                       ap__collector **out)
{
    ap__collector *c = calloc(1, sizeof(*c));
    int err = ENOMEM;

    *out = NULL;
    if (c == NULL) {
        return ENOMEM;
    }
    ap__clock_init();
    c->ops = ops;
    c->driver = driver;
    c->prof_fd = -1;
    c->ext_fd = -1;
    c->meta = *params->meta;
    c->settings = *params->meta->settings;
    c->meta.settings = &c->settings;
    c->meta.devices = "";
    c->result_dir = strdup(params->meta->result_dir);
    if (c->result_dir == NULL) {
        goto fail;
    }
    c->meta.result_dir = c->result_dir;
    ap__set_limits(&c->limits, &params->limits);
    c->prof_fd = fcntl(params->prof_fd, F_DUPFD_CLOEXEC, 3);
    c->ext_fd = c->prof_fd >= 0 ? fcntl(params->ext_fd, F_DUPFD_CLOEXEC, 3) : -1;
    if (c->ext_fd < 0) {
        err = errno;
        goto fail;
    }
    c->on_names = params->on_names;
    c->on_names_context = params->on_names_context;
    c->api_version = (uint32_t)ops->api_version(driver);
    pthread_mutex_init(&c->lock, NULL);
    ap__cond_init(&c->changed);
    pthread_mutex_init(&c->sink.lock, NULL);
    ap__cond_init(&c->sink.wake);
    ap__cond_init(&c->sink.room);
    c->sink.last = &c->sink.first;
    c->sink.limit = c->limits.queue_bytes;
    *out = c;
    return 0;

fail:
    if (c->prof_fd >= 0) {
        (void)close(c->prof_fd);
    }
    free(c->result_dir);
    free(c);
    return err;
}

/* ---- devices ---- */

/* Index, or -1. */
static int ap__slot(const ap__collector *c, uint32_t device)
{
    return device < AP_HAL_MAX_DEVICES
               ? (int)atomic_load_explicit(&c->slot_of[device], memory_order_acquire) - 1
               : -1;
}

/* A device that is there is asked to try again. false: it has left. */
static bool ap__poke(ap__collector *c, ap__device *d)
{
    bool there = false;

    pthread_mutex_lock(&c->lock);
    there = d->phase == AP_PHASE_NONE;
    d->poked = d->poked || there;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    return there;
}

/* Whether nothing of a device that has left touches its files any more. */
static bool ap__settled(ap__collector *c, const ap__device *d)
{
    bool settled = false;

    pthread_mutex_lock(&c->lock);
    settled = d->phase == AP_PHASE_END && d->busy == 0 && d->keeper_gone &&
              (d->files_done || !d->ready);
    for (uint32_t k = 0; k < AP_READERS_MAX; k++) {
        settled = settled && (!d->readers[k].begun || d->readers[k].gone);
    }
    pthread_mutex_unlock(&c->lock);
    return settled;
}

/* 0, or ap__hal_rc. */
static int ap__add_device(ap__collector *c, uint32_t id)
{
    ap__device *d = NULL;
    ap__device *before = NULL;
    int slot = ap__slot(c, id);

    if (id >= AP_HAL_MAX_DEVICES) {
        return AP_HAL_INVALID;
    }
    if (slot >= 0) {
        before = c->devices[slot];
        if (ap__poke(c, before)) {
            return AP_HAL_OK;
        }
        if (c->device_count == AP_HAL_MAX_DEVICES || !ap__settled(c, before)) {
            return AP_HAL_BUSY;
        }
    }
    d = ap__device_new(c, id);
    if (d == NULL) {
        return AP_HAL_IO;
    }
    d->before = before != NULL && before->ready ? before : NULL;
    if (ap__device_begin(d) != 0) {
        ap__device_free(d);
        return AP_HAL_IO;
    }
    pthread_mutex_lock(&c->lock);
    c->devices[c->device_count++] = d;
    atomic_store_explicit(&c->slot_of[id], (uint8_t)c->device_count, memory_order_release);
    pthread_mutex_unlock(&c->lock);
    return AP_HAL_OK;
}

/* Under the lock. */
static uint64_t ap__start_end(const ap__collector *c, const ap__device *d, uint64_t begin)
{
    uint64_t last = d->answered_ms > begin ? d->answered_ms : begin;
    uint64_t silent = last + c->limits.start_silent_ms;
    uint64_t all = begin + c->limits.start_ms;

    return silent < all ? silent : all;
}

static int ap__wait_started(ap__collector *c, uint32_t device, uint64_t begin)
{
    ap__device *d = c->devices[ap__slot(c, device)];
    int rc = AP_HAL_TIMEOUT;

    pthread_mutex_lock(&c->lock);
    while (!d->started && ap__now_ms() < ap__start_end(c, d, begin)) {
        ap__cond_until(&c->changed, &c->lock, ap__start_end(c, d, begin));
    }
    if (d->started) {
        rc = d->start_rc;
    }
    pthread_mutex_unlock(&c->lock);
    return rc;
}

int ap__collector_add_devices(ap__collector *c, const uint32_t *devices, uint32_t count)
{
    uint64_t begin = ap__now_ms();
    int first = AP_HAL_OK;

    if (c->stopped || ap__sink_begin(c) != 0 || ap__poller_begin(c) != 0) {
        return AP_HAL_IO;
    }
    for (uint32_t i = 0; i < count; i++) {
        int rc = ap__add_device(c, devices[i]);

        first = first != AP_HAL_OK ? first : rc;
    }
    for (uint32_t i = 0; i < count; i++) {
        int rc = ap__slot(c, devices[i]) >= 0 ? ap__wait_started(c, devices[i], begin) : AP_HAL_OK;

        first = first != AP_HAL_OK ? first : rc;
    }
    return first;
}

static uint32_t ap__stuck(ap__collector *c)
{
    uint32_t stuck = 0;

    pthread_mutex_lock(&c->lock);
    for (uint32_t i = 0; i < c->device_count; i++) {
        const ap__device *d = c->devices[i];

        if (d->phase == AP_PHASE_END) {
            stuck += d->busy + (d->keeper_gone ? 0 : 1);
            for (uint32_t k = 0; k < AP_READERS_MAX; k++) {
                stuck += d->readers[k].begun && !d->readers[k].gone;
            }
        }
    }
    stuck += c->stopped && c->poller_begun && !c->poller_gone;
    pthread_mutex_unlock(&c->lock);
    return stuck;
}

uint32_t ap__collector_remove_devices(ap__collector *c, const uint32_t *devices, uint32_t count)
{
    uint64_t which = 0;

    for (uint32_t i = 0; i < count; i++) {
        int slot = ap__slot(c, devices[i]);

        which |= slot >= 0 ? (uint64_t)1 << slot : 0;
    }
    ap__stop_devices(c, which, false);
    return ap__stuck(c);
}

/* ap__stop_devices has told it to end. */
static void ap__stop_poller(ap__collector *c)
{
    uint64_t until = ap__now_ms() + AP_POLLER_MORE_MS;

    pthread_mutex_lock(&c->lock);
    if (until < c->poller_quit_ms + AP_POLLER_MS) {
        until = c->poller_quit_ms + AP_POLLER_MS;
    }
    while (c->poller_begun && !c->poller_gone && ap__now_ms() < until) {
        ap__cond_until(&c->changed, &c->lock, until);
    }
    pthread_mutex_unlock(&c->lock);
}

/* Of channels whose reader has ended. */
static void ap__give_names(ap__collector *c)
{
    for (uint32_t i = 0; c->on_names != NULL && i < c->device_count; i++) {
        ap__device *d = c->devices[i];

        for (uint32_t k = 0; d->phase == AP_PHASE_END && d->ready && k < d->channel_count; k++) {
            ap__channel *ch = &d->channels[k];

            if (d->readers[ch->reader].gone && ch->names_used != 0) {
                c->on_names(c->on_names_context, d->id, ch->names, ch->names_used);
            }
        }
    }
}

uint32_t ap__collector_stop(ap__collector *c)
{
    if (c->stopped) {
        return ap__stuck(c);
    }
    ap__stop_devices(c, UINT64_MAX, true);
    ap__stop_poller(c);
    ap__sink_end(c);
    ap__give_names(c);
    pthread_mutex_lock(&c->lock);
    c->stopped = true;
    pthread_mutex_unlock(&c->lock);
    ap__report_write(c);
    ap__report_say(c);
    return ap__stuck(c);
}

void ap__collector_free(ap__collector *c)
{
    if (c != NULL) {
        pthread_mutex_lock(&c->lock);
        c->owner_gone = true;
        pthread_mutex_unlock(&c->lock);
        ap__collector_release(c);
    }
}

void ap__collector_abandon(ap__collector *c)
{
    ap__poller_child();
    if (c == NULL) {
        return;
    }
    /* no lock: a thread that is not here may hold it; and nothing is freed for the same reason */
    for (uint32_t i = 0; i < c->device_count; i++) {
        ap__device *d = c->devices[i];

        for (uint32_t k = 0; k < d->stream_count; k++) {
            ap__stream_abandon(&d->streams[k]);
        }
        ap__device_dir_close(&d->dir);
        if (d->clock_fd >= 0) {
            (void)close(d->clock_fd);
            d->clock_fd = -1;
        }
    }
    (void)close(c->prof_fd);
    (void)close(c->ext_fd);
    c->prof_fd = -1;
    c->ext_fd = -1;
}
