/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that take the data out of the driver: per device one for task records, one for counters
 * and the rest. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/collector_internal.h"

#define AP_RING_BYTES (4u * 1024u * 1024u - 4096u) /* of the real driver */
#define AP_AICPU_RING_BYTES (8u * 1024u * 1024u - 4096u)
#define AP_SWEEP_FAST_MS 10u
#define AP_SWEEP_STOP_MS 2u

void ap__reader_notice(ap__reader *r, uint32_t channel_index)
{
    pthread_mutex_lock(&r->lock);
    r->pending[channel_index / 64] |= (uint64_t)1 << channel_index % 64;
    pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->lock);
}

void ap__reader_wake(ap__reader *r)
{
    pthread_mutex_lock(&r->lock);
    pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->lock);
}

void ap__reader_quit(ap__reader *r)
{
    pthread_mutex_lock(&r->lock);
    r->quit = true;
    pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->lock);
}

/* Text behind the records of an AICPU channel; what finds no room is counted as dropped. */
static bool ap__take_names(ap__channel *ch, const uint8_t *text, size_t bytes)
{
    if (ch->names_used + bytes > ch->names_room) {
        size_t room = 2 * (ch->names_used + bytes);
        char *more = room <= AP_NAMES_MAX ? realloc(ch->names, room) : NULL;

        if (more == NULL) {
            return false;
        }
        ch->names = more;
        ch->names_room = room;
    }
    memcpy(ch->names + ch->names_used, text, bytes);
    return true;
}

/* How many of the bytes are records; *mark = bytes of the mark behind them, if it is there. */
static size_t ap__records_end(ap__channel *ch, const uint8_t *data, size_t bytes, size_t *mark)
{
    const uint8_t *at = NULL;

    *mark = 0;
    if (ch->in_names) {
        return 0;
    }
    if (ch->plan.channel == 143 || ch->plan.channel == 144) {
        at = memmem(data, bytes, AP_NAMES_MARK, sizeof(AP_NAMES_MARK) - 1);
    }
    if (at == NULL) {
        return bytes;
    }
    ch->in_names = true;
    *mark = sizeof(AP_NAMES_MARK) - 1;
    return (size_t)(at - data);
}

/* Hands over the whole records among `bytes` new ones that follow the tail in scratch. */
static void ap__take_in(ap__reader *r, ap__channel *ch, size_t tail, size_t bytes)
{
    ap__device *d = r->device;
    size_t mark = 0;
    size_t all = ap__records_end(ch, r->scratch, tail + bytes, &mark);
    size_t names = tail + bytes - all - mark;
    bool named = names == 0 || ap__take_names(ch, r->scratch + all + mark, names);
    size_t rest = 0;
    size_t whole = ap__record_check_cut(&ch->check, r->scratch, all, all > AP_TAIL_MAX, &rest);
    bool stored = true;

    if (rest > AP_TAIL_MAX) { /* a line longer than any that a driver writes */
        whole += rest;
        rest = 0;
    }
    memcpy(ch->tail, r->scratch + whole, rest);
    if (whole != 0) {
        stored = ap__sink_push(d->c, d, ch, r->scratch, whole);
    }
    pthread_mutex_lock(&r->lock);
    ch->tail_bytes = (uint32_t)rest;
    ch->read_bytes += bytes;
    ch->names_bytes += mark + (named ? names : 0);
    ch->names_used += named ? names : 0;
    ch->dropped_bytes += named ? 0 : names;
    if (!stored) {
        ch->dropped_bytes += whole;
        ch->dropped_records += ch->plan.record_bytes != 0 ? whole / ch->plan.record_bytes : 0;
    }
    ch->seen = ch->check;
    pthread_mutex_unlock(&r->lock);
}

static void ap__read_failed(ap__reader *r, ap__channel *ch, int rc)
{
    if (rc == AP_HAL_DEVICE_LOST) {
        atomic_store(&r->device->lost, true);
    }
    pthread_mutex_lock(&r->lock);
    ch->read_errors += rc != AP_HAL_STOPPED && rc != AP_HAL_AGAIN;
    pthread_mutex_unlock(&r->lock);
}

/* Reads until there is nothing or the turn is over. Returns the bytes. */
static size_t ap__drain_channel(ap__reader *r, ap__channel *ch)
{
    ap__device *d = r->device;
    ap__collector *c = d->c;
    size_t ring = ch->plan.channel == 143 ? AP_AICPU_RING_BYTES : AP_RING_BYTES;
    size_t total = 0;
    int n = 0;

    while (total < AP_TURN_BYTES && !atomic_load_explicit(&d->lost, memory_order_relaxed)) {
        size_t tail = ch->tail_bytes;

        n = c->ops->read(c->driver, d->id, ch->plan.channel, r->scratch + tail, AP_READ_BYTES);
        if (n <= 0 || n > (int)AP_READ_BYTES) {
            break;
        }
        memcpy(r->scratch, ch->tail, tail);
        ap__take_in(r, ch, tail, (size_t)n);
        total += (size_t)n;
    }
    if (n < 0) {
        ap__read_failed(r, ch, -n);
    }
    pthread_mutex_lock(&r->lock);
    ch->empty_reads += n <= 0;
    ch->near_full += total >= ring / 10 * 9;
    pthread_mutex_unlock(&r->lock);
    return total;
}

static bool ap__readable(const ap__channel *ch)
{
    int state = atomic_load_explicit(&ch->state, memory_order_acquire);

    return state == AP_CHANNEL_RUNNING || state == AP_CHANNEL_STARTING;
}

/* One pass over the channels in `set`, or all; returns the bytes. */
static size_t ap__reader_pass(ap__reader *r, const uint64_t set[3], bool all)
{
    ap__device *d = r->device;
    size_t total = 0;

    for (uint32_t i = 0; i < d->channel_count; i++) {
        ap__channel *ch = &d->channels[i];
        bool named = (set[i / 64] >> i % 64 & 1) != 0;
        size_t n = 0;

        if (&d->readers[ch->reader] != r || !(named || all) || !ap__readable(ch)) {
            continue;
        }
        n = ap__drain_channel(r, ch);
        total += n;
        if (n >= AP_TURN_BYTES) {
            ap__reader_notice(r, i);
        }
        if (n != 0 && !named && !atomic_load(&d->stopping)) {
            pthread_mutex_lock(&r->lock);
            ch->unannounced++;
            pthread_mutex_unlock(&r->lock);
            r->sweep_ms = AP_SWEEP_FAST_MS; /* poll does not do its part */
        }
    }
    return total;
}

static bool ap__reader_wait(ap__reader *r, uint64_t set[3], bool *quit)
{
    uint64_t since = ap__now_ms();
    bool sweep = false;

    pthread_mutex_lock(&r->lock);
    while ((r->pending[0] | r->pending[1] | r->pending[2]) == 0 && !r->quit && !sweep) {
        uint32_t ms = atomic_load(&r->device->stopping) ? AP_SWEEP_STOP_MS : r->sweep_ms;

        if (ap__now_ms() - since >= ms) {
            sweep = true;
        } else {
            ap__cond_until(&r->wake, &r->lock, since + ms);
        }
    }
    memcpy(set, r->pending, sizeof(r->pending));
    memset(r->pending, 0, sizeof(r->pending));
    *quit = r->quit;
    pthread_mutex_unlock(&r->lock);
    return sweep;
}

static void ap__reader_main(void *arg)
{
    ap__reader *r = arg;
    ap__collector *c = r->device->c;
    uint64_t last_sweep = ap__now_ms();
    uint64_t set[3];
    bool quit = false;

    while (!quit) {
        bool sweep = ap__reader_wait(r, set, &quit);
        uint64_t now = ap__now_ms();

        /* events of one channel must not keep the others from being looked at */
        if (sweep || quit || atomic_load(&r->device->stopping) || now - last_sweep >= r->sweep_ms) {
            uint32_t longest = c->limits.sweep_ms;

            r->sweep_ms = r->sweep_ms * 2 < longest ? r->sweep_ms * 2 : longest;
            last_sweep = now;
            sweep = true;
        }
        (void)ap__reader_pass(r, set, sweep);
    }
    pthread_mutex_lock(&c->lock);
    r->gone = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

int ap__reader_begin(ap__device *d, uint32_t index)
{
    ap__reader *r = &d->readers[index];
    int rc = 0;

    r->device = d;
    r->sweep_ms = d->c->limits.sweep_ms;
    r->scratch = malloc(AP_TAIL_MAX + AP_READ_BYTES);
    if (r->scratch == NULL) {
        return ENOMEM;
    }
    pthread_mutex_init(&r->lock, NULL);
    ap__cond_init(&r->wake);
    rc = ap__thread_start(d->c, index == 0 ? "aclprof-read0" : "aclprof-read1", ap__reader_main, r);
    if (rc != 0) {
        pthread_cond_destroy(&r->wake);
        pthread_mutex_destroy(&r->lock);
        free(r->scratch);
        r->scratch = NULL;
        return rc;
    }
    pthread_mutex_lock(&d->c->lock);
    r->begun = true;
    pthread_mutex_unlock(&d->c->lock);
    return 0;
}
