/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that writes what the readers have read, so that no reader waits for a disk. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock/clock.h"
#include "collector/collector_internal.h"
#include "session/errtext.h"

#define AP_AGEING_EVERY (4u << 20)
/* A reader waits so long for room: what comes meanwhile fits into the driver's ring (4 MiB) at any
 * rate that the bus has, while a ring that runs over loses data without a trace. */
#define AP_ROOM_MS 20u

/* ---- queue ---- */

static void ap__sink_add(ap__sink *s, ap__block *block)
{
    block->next = NULL;
    *s->last = block;
    s->last = &block->next;
    pthread_cond_signal(&s->wake);
}

/* Under the lock. */
static void ap__wait_room(ap__sink *s, size_t bytes)
{
    uint64_t until = ap__now_ms() + AP_ROOM_MS;

    while (!s->quit && s->bytes + bytes > s->limit && ap__now_ms() < until) {
        ap__cond_until(&s->room, &s->lock, until);
    }
}

bool ap__sink_push(ap__collector *c, ap__device *d, ap__channel *ch, const void *data,
                   size_t bytes)
{
    ap__sink *s = &c->sink;
    ap__block *block = NULL;
    bool taken = false;

    pthread_mutex_lock(&s->lock);
    if (s->bytes + bytes > s->limit && bytes <= s->limit) {
        ap__wait_room(s, bytes);
    }
    taken = !s->quit && !d->shut && s->bytes + bytes <= s->limit;
    s->bytes += taken ? bytes : 0;
    pthread_mutex_unlock(&s->lock);
    if (!taken) {
        return false;
    }
    block = malloc(sizeof(*block) + bytes);
    if (block != NULL) {
        block->device = d;
        block->channel = ch;
        block->bytes = bytes;
        memcpy(block->data, data, bytes);
    }
    pthread_mutex_lock(&s->lock);
    taken = block != NULL && !s->quit && !d->shut;
    if (taken) {
        ap__sink_add(s, block);
    } else {
        s->bytes -= bytes;
    }
    pthread_mutex_unlock(&s->lock);
    if (!taken) {
        free(block);
    }
    return taken;
}

bool ap__sink_finish_device(ap__collector *c, ap__device *d)
{
    ap__sink *s = &c->sink;
    ap__block *block = calloc(1, sizeof(*block));

    if (block == NULL) {
        return false;
    }
    block->device = d;
    pthread_mutex_lock(&s->lock);
    d->shut = true;
    ap__sink_add(s, block);
    pthread_mutex_unlock(&s->lock);
    return true;
}

/* ---- writing ---- */

static void ap__note_error(ap__sink *s, ap__device *d, int err)
{
    char reason[64] = "";
    bool said = false;

    pthread_mutex_lock(&s->lock);
    if (d->disk_errno == 0) {
        d->disk_errno = err;
    }
    said = s->full_said;
    s->full_said = true;
    pthread_mutex_unlock(&s->lock);
    if (!said) {
        ap__log(AP_LOG_WARN,
                "data of device %" PRIu32 " cannot be written (%s): what is lost is counted", d->id,
                strerror_r(err, reason, sizeof(reason)));
    }
}

static void ap__sink_write(ap__sink *s, const ap__block *b)
{
    ap__device *d = b->device;
    ap__stream *stream = &d->streams[b->channel->stream];
    size_t written = 0;
    int err = ap__stream_append(stream, b->data, b->bytes, &written);

    if ((err == ENOSPC || err == EDQUOT) && written < b->bytes &&
        ap__ageing_make_room(&d->ageing, b->bytes - written, &d->aged) != 0) {
        size_t more = 0;

        err = ap__stream_append(stream, b->data + written, b->bytes - written, &more);
        written += more;
    }
    if (err != 0) {
        ap__note_error(s, d, err);
    }
    d->since_ageing += written;
    if (d->since_ageing >= AP_AGEING_EVERY) {
        d->since_ageing = 0;
        ap__ageing_run(&d->ageing, &d->aged);
    }
    pthread_mutex_lock(&s->lock);
    b->channel->stored_bytes += written;
    b->channel->lost_disk_bytes += b->bytes - written;
    pthread_mutex_unlock(&s->lock);
}

static void ap__sink_finish(ap__collector *c, ap__device *d)
{
    ap__clock_point end;

    ap__reserve_release_device(d);
    for (uint32_t i = 0; i < d->stream_count; i++) {
        int err = ap__stream_finish(&d->streams[i]);

        if (err != 0) {
            ap__note_error(&c->sink, d, err);
            ap__stream_abandon(&d->streams[i]);
        }
    }
    ap__ageing_run(&d->ageing, &d->aged);
    ap__clock_read(&end);
    if (d->dir.fd >= 0) {
        int err = ap__device_dir_end(&d->dir, d->id, &end);

        if (err != 0) {
            ap__note_error(&c->sink, d, err);
        }
    }
    ap__device_dir_close(&d->dir);
    pthread_mutex_lock(&c->lock);
    d->files_done = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static ap__block *ap__sink_take(ap__sink *s)
{
    ap__block *b = NULL;

    pthread_mutex_lock(&s->lock);
    while (s->first == NULL && !s->quit) {
        pthread_cond_wait(&s->wake, &s->lock);
    }
    b = s->first;
    if (b != NULL) {
        s->first = b->next;
        if (s->first == NULL) {
            s->last = &s->first;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return b;
}

static void ap__sink_main(void *arg)
{
    ap__collector *c = arg;
    ap__sink *s = &c->sink;
    ap__block *b = NULL;

    while ((b = ap__sink_take(s)) != NULL) {
        if (b->channel != NULL) {
            ap__sink_write(s, b);
        } else {
            ap__sink_finish(c, b->device);
        }
        pthread_mutex_lock(&s->lock);
        s->bytes -= b->bytes;
        pthread_cond_broadcast(&s->room);
        pthread_mutex_unlock(&s->lock);
        free(b);
    }
    pthread_mutex_lock(&c->lock);
    s->gone = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

int ap__sink_begin(ap__collector *c)
{
    int rc = 0;

    if (!c->sink.begun) {
        rc = ap__thread_start(c, "aclprof-devout", ap__sink_main, c);
        c->sink.begun = rc == 0;
    }
    return rc;
}

void ap__sink_end(ap__collector *c)
{
    ap__sink *s = &c->sink;

    pthread_mutex_lock(&s->lock);
    s->quit = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_lock(&c->lock);
    while (s->begun && !s->gone) {
        pthread_cond_wait(&c->changed, &c->lock);
    }
    pthread_mutex_unlock(&c->lock);
}
