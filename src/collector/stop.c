/* SPDX-License-Identifier: Apache-2.0 */
/* Stopping devices side by side. Each goes through the phases by itself; every driver call is made
 * by a worker, and a phase that takes too long is left behind. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "collector/collector_internal.h"

#define AP_KEEPER_MS 300u
#define AP_FLUSHED_MS 200u /* for flushed bytes to come through; the stop waits for them as well */
#define AP_CLOCK_MS 300u
#define AP_READERS_MS 2000u
#define AP_READERS_HUNG_MS 400u /* with calls that have not come back: the time is up already */
#define AP_LOOK_MS 5u

/* ---- driver calls ---- */

/* A call at the end has failed: the tick that would have noticed a lost device comes no more. */
static void ap__ask_lost(ap__device *d, int rc)
{
    if (rc == AP_HAL_OK || rc == AP_HAL_LOSS || rc == AP_HAL_UNSUPPORTED) {
        return;
    }
    if (rc == AP_HAL_DEVICE_LOST ||
        d->c->ops->status(d->c->driver, d->id) == AP_HAL_DEVICE_LOST) {
        atomic_store(&d->lost, true);
    }
}

static void ap__do_flush(ap__device *d, ap__channel *ch)
{
    ap__reader *r = &d->readers[ch->reader];
    uint32_t pending = 0;
    int rc = d->c->ops->flush(d->c->driver, d->id, ch->plan.channel, &pending);

    if (rc == AP_HAL_OK && pending != 0) {
        pthread_mutex_lock(&r->lock);
        ch->flush_until = ch->read_bytes + pending;
        ch->empty_reads = 0;
        pthread_mutex_unlock(&r->lock);
        ap__reader_notice(r, (uint32_t)(ch - d->channels));
    }
    ap__ask_lost(d, rc);
}

static void ap__do_stop(ap__device *d, ap__channel *ch)
{
    int rc = d->c->ops->stop(d->c->driver, d->id, ch->plan.channel);

    ap__ask_lost(d, rc);
    pthread_mutex_lock(&d->c->lock);
    ch->stop_rc = rc;
    d->c->running--;
    atomic_store_explicit(&ch->state, AP_CHANNEL_STOPPED, memory_order_release);
    pthread_mutex_unlock(&d->c->lock);
}

static void ap__do_clock(ap__device *d)
{
    ap__device_point point;

    if (ap__device_point_read(d->c->ops, d->c->driver, d->id, 1, AP_START_ROUNDS, &point) ==
        AP_HAL_OK) {
        ap__device_add_point(d, &point, true);
    }
}

static void ap__worker_main(void *arg)
{
    ap__jobs *jobs = arg;
    ap__device *d = jobs->device;
    ap__collector *c = d->c;

    pthread_mutex_lock(&c->lock);
    while (jobs->next < jobs->count) {
        uint32_t i = jobs->next++;
        ap__channel *ch = jobs->kind != AP_JOB_CLOCK ? &d->channels[jobs->list[i]] : NULL;

        d->busy++;
        pthread_mutex_unlock(&c->lock);
        if (jobs->kind == AP_JOB_FLUSH) {
            ap__do_flush(d, ch);
        } else if (jobs->kind == AP_JOB_STOP) {
            ap__do_stop(d, ch);
        } else {
            ap__do_clock(d);
        }
        pthread_mutex_lock(&c->lock);
        d->busy--;
        jobs->done++;
        d->answered_ms = ap__now_ms();
        pthread_cond_broadcast(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
}

/* Under the lock, which it lets go. */
static void ap__jobs_start(ap__device *d, ap__phase phase)
{
    ap__jobs *jobs = &d->jobs[phase];
    uint32_t workers = jobs->count < AP_STOP_WORKERS ? jobs->count : AP_STOP_WORKERS;
    uint32_t begun = 0;

    pthread_mutex_unlock(&d->c->lock);
    for (uint32_t i = 0; i < workers; i++) {
        begun += ap__thread_start(d->c, "aclprof-stop", ap__worker_main, jobs) == 0;
    }
    if (begun == 0 && workers != 0) {
        ap__worker_main(jobs); /* no thread to be had: the program is in worse trouble */
    }
    pthread_mutex_lock(&d->c->lock);
}

/* ---- phases ---- */

static bool ap__runs(const ap__channel *ch)
{
    return atomic_load(&ch->state) == AP_CHANNEL_RUNNING;
}

static bool ap__in_phase(const ap__channel *ch, ap__phase phase)
{
    switch (phase) {
    case AP_PHASE_FLUSH:
        return ch->plan.flush;
    case AP_PHASE_STOP_OTHER:
        return ch->plan.order == AP_ORDER_OTHER;
    case AP_PHASE_STOP_COUNTERS:
        return ch->plan.order == AP_ORDER_COUNTERS;
    case AP_PHASE_STOP_TASK:
        return ch->plan.order == AP_ORDER_TASK;
    default:
        return ch->plan.order == AP_ORDER_TRACK;
    }
}

static void ap__begin_jobs(ap__device *d, ap__phase phase, ap__job_kind kind)
{
    ap__jobs *jobs = &d->jobs[phase];

    jobs->device = d;
    jobs->kind = kind;
    jobs->count = 0;
    if (kind == AP_JOB_CLOCK) {
        jobs->count = 1;
    }
    for (uint32_t i = 0; kind != AP_JOB_CLOCK && i < d->channel_count; i++) {
        if (ap__runs(&d->channels[i]) && ap__in_phase(&d->channels[i], phase)) {
            jobs->list[jobs->count++] = (uint8_t)i;
        }
    }
    ap__jobs_start(d, phase);
}

static bool ap__flushed(ap__device *d)
{
    for (uint32_t i = 0; i < d->channel_count; i++) {
        ap__channel *ch = &d->channels[i];
        ap__reader *r = &d->readers[ch->reader];
        bool through = true;

        if (!ch->plan.flush || !ap__runs(ch)) {
            continue;
        }
        pthread_mutex_lock(&r->lock);
        through = ch->read_bytes >= ch->flush_until || ch->empty_reads >= 2;
        pthread_mutex_unlock(&r->lock);
        if (!through) {
            return false;
        }
    }
    return true;
}

static bool ap__readers_gone(const ap__device *d)
{
    for (uint32_t i = 0; i < d->reader_count; i++) {
        if (d->readers[i].begun && !d->readers[i].gone) {
            return false;
        }
    }
    return true;
}

/* Whether the phase has nothing more to wait for. */
static bool ap__phase_over(ap__device *d)
{
    switch (d->phase) {
    case AP_PHASE_KEEPER:
        return d->keeper_gone;
    case AP_PHASE_FLUSHED:
        return atomic_load(&d->lost) || ap__flushed(d);
    case AP_PHASE_LINGER:
        return d->busy == 0;
    case AP_PHASE_READERS:
        return ap__readers_gone(d);
    case AP_PHASE_FILES:
        return d->files_done;
    default:
        return d->jobs[d->phase].done >= d->jobs[d->phase].count;
    }
}

static void ap__wake_readers(ap__device *d)
{
    for (uint32_t i = 0; i < d->reader_count; i++) {
        if (d->readers[i].begun) {
            ap__reader_wake(&d->readers[i]);
        }
    }
}

static void ap__quit_readers(ap__device *d)
{
    for (uint32_t i = 0; i < d->reader_count; i++) {
        if (d->readers[i].begun) {
            ap__reader_quit(&d->readers[i]);
        }
    }
}

static uint32_t ap__readers_ms(const ap__device *d)
{
    uint32_t ms = d->busy != 0 || !d->keeper_gone ? AP_READERS_HUNG_MS : AP_READERS_MS;

    return ms < d->c->limits.total_stop_ms ? ms : d->c->limits.total_stop_ms;
}

/* When the device must be let go: silence counts from the begin, or from the last answer of one that
 * is slow. */
static uint64_t ap__hard_end(const ap__device *d, uint64_t begin)
{
    const ap__collector_limits *limits = &d->c->limits;
    uint64_t all = begin + limits->total_stop_ms;
    uint64_t silent = begin + limits->stop_silent_ms;

    if (d->answered_ms > begin + limits->stop_silent_ms / 2) {
        silent = d->answered_ms + limits->stop_silent_ms;
    }
    return silent < all ? silent : all;
}

/* Enters the next phase; returns how long it may last. */
static uint32_t ap__next_phase(ap__device *d)
{
    const ap__collector_limits *limits = &d->c->limits;
    uint32_t stop_ms = atomic_load(&d->lost) ? limits->stop_ms / 8 : limits->stop_ms;

    d->phase++;
    if (!d->ready && d->phase > AP_PHASE_KEEPER) {
        while (d->writing) { /* its directory comes, complete, or not at all */
            pthread_cond_wait(&d->c->changed, &d->c->lock);
        }
        if (!d->ready) {
            d->phase = AP_PHASE_END;
        }
    }
    switch (d->phase) {
    case AP_PHASE_KEEPER:
        d->quit = true;
        pthread_cond_broadcast(&d->c->changed);
        return AP_KEEPER_MS < limits->stop_ms ? AP_KEEPER_MS : limits->stop_ms;
    case AP_PHASE_FLUSH:
        atomic_store(&d->stopping, true);
        ap__wake_readers(d);
        if (!atomic_load(&d->lost)) {
            ap__begin_jobs(d, d->phase, AP_JOB_FLUSH);
        }
        return limits->flush_ms;
    case AP_PHASE_FLUSHED:
        return AP_FLUSHED_MS;
    case AP_PHASE_STOP_OTHER:
    case AP_PHASE_STOP_COUNTERS:
    case AP_PHASE_STOP_TASK:
    case AP_PHASE_STOP_TRACK:
        ap__begin_jobs(d, d->phase, AP_JOB_STOP);
        return stop_ms;
    case AP_PHASE_CLOCK:
        if (d->keeper_gone && !atomic_load(&d->lost)) { /* else the clock hangs */
            ap__begin_jobs(d, d->phase, AP_JOB_CLOCK);
        }
        return AP_CLOCK_MS < limits->stop_ms ? AP_CLOCK_MS : limits->stop_ms;
    case AP_PHASE_LINGER:
        return atomic_load(&d->lost) ? stop_ms : limits->total_stop_ms;
    case AP_PHASE_READERS:
        ap__quit_readers(d);
        return ap__readers_ms(d);
    case AP_PHASE_FILES:
        if (!ap__sink_finish_device(d->c, d)) {
            d->phase = AP_PHASE_END; /* no memory for one block; ap__sink_end still comes */
        }
        return UINT32_MAX;
    default:
        return UINT32_MAX;
    }
}

/* Channels of which the driver has not let go. */
static void ap__note_hung(ap__device *d)
{
    for (uint32_t i = 0; i < d->channel_count; i++) {
        ap__channel *ch = &d->channels[i];
        int state = atomic_load(&ch->state);

        if (state == AP_CHANNEL_RUNNING || state == AP_CHANNEL_STARTING) {
            ch->stop_rc = AP_HAL_TIMEOUT;
        }
    }
}

/* true: the device is through. */
static bool ap__advance(ap__device *d, uint64_t begin)
{
    uint64_t now = ap__now_ms();

    if (d->phase == AP_PHASE_LINGER) { /* an answer may have come meanwhile */
        d->phase_until = d->linger_until < ap__hard_end(d, begin) ? d->linger_until
                                                                 : ap__hard_end(d, begin);
    }
    while (d->phase != AP_PHASE_END &&
           (d->phase == AP_PHASE_NONE || ap__phase_over(d) ||
            (now >= d->phase_until && d->phase != AP_PHASE_FILES))) {
        uint32_t ms = ap__next_phase(d);
        uint64_t hard_end = ap__hard_end(d, begin);

        now = ap__now_ms();
        d->phase_until = now + ms;
        d->linger_until = d->phase_until;
        if (d->phase_until > hard_end && d->phase != AP_PHASE_READERS) {
            d->phase_until = hard_end;
        }
        if (d->phase == AP_PHASE_READERS) {
            ap__note_hung(d);
        }
    }
    return d->phase == AP_PHASE_END;
}

static uint64_t ap__next_look(ap__collector *c, uint64_t which)
{
    uint64_t next = ap__now_ms() + 1000u;

    for (uint32_t i = 0; i < c->device_count; i++) {
        const ap__device *d = c->devices[i];

        if ((which >> i & 1) == 0 || d->phase == AP_PHASE_END) {
            continue;
        }
        if (d->phase == AP_PHASE_FLUSHED) {
            next = ap__now_ms() + AP_LOOK_MS;
        } else if (d->phase != AP_PHASE_FILES && d->phase_until < next) {
            next = d->phase_until;
        }
    }
    return next;
}

/* From here on readers look by themselves, and nobody need poll for them. */
static bool ap__only_linger(const ap__collector *c)
{
    for (uint32_t i = 0; i < c->device_count; i++) {
        if (c->devices[i]->phase < AP_PHASE_LINGER) {
            return false;
        }
    }
    return true;
}

void ap__stop_devices(ap__collector *c, uint64_t which, bool for_good)
{
    uint64_t begin = ap__now_ms();
    bool all = false;

    pthread_mutex_lock(&c->lock);
    while (!all) {
        all = true;
        for (uint32_t i = 0; i < c->device_count; i++) {
            if ((which >> i & 1) != 0) {
                all = ap__advance(c->devices[i], begin) && all;
            }
        }
        if (for_good && !c->poller_quit && ap__only_linger(c)) {
            c->poller_quit = true;
            c->poller_quit_ms = ap__now_ms();
            pthread_cond_broadcast(&c->changed);
        }
        if (!all) {
            ap__cond_until(&c->changed, &c->lock, ap__next_look(c, which));
        }
    }
    pthread_mutex_unlock(&c->lock);
}
