/* SPDX-License-Identifier: Apache-2.0 */
/* The one thread of the process that may poll the driver. */
#define _GNU_SOURCE
#include <time.h>

#include "collector/collector_internal.h"

#define AP_POLL_EVENTS 64
#define AP_POLL_MS 500
#define AP_EARLY_ZEROS 64u /* after one poll that returned n events, n - 1 may return 0 at once */
#define AP_BACKOFF_MAX_MS 20u

/* A poller that is left behind in the driver keeps the turn until it comes back. */
static pthread_mutex_t ap__turn_lock = PTHREAD_MUTEX_INITIALIZER;
static bool ap__turn_taken;

void ap__poller_child(void)
{
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    ap__turn_lock = fresh;
    ap__turn_taken = false;
}

static void ap__sleep_ms(uint32_t ms)
{
    struct timespec ts = {0, (long)ms * 1000000L};

    (void)nanosleep(&ts, NULL);
}

static bool ap__quitting(ap__collector *c)
{
    bool quit = false;

    pthread_mutex_lock(&c->lock);
    quit = c->poller_quit;
    pthread_mutex_unlock(&c->lock);
    return quit;
}

/* Waits while no channel runs. true: the end. */
static bool ap__wait_running(ap__collector *c)
{
    bool quit = false;

    pthread_mutex_lock(&c->lock);
    while (c->running == 0 && !c->poller_quit) {
        pthread_cond_wait(&c->changed, &c->lock);
    }
    quit = c->poller_quit;
    pthread_mutex_unlock(&c->lock);
    return quit;
}

static bool ap__take_turn(ap__collector *c)
{
    for (;;) {
        bool mine = false;

        pthread_mutex_lock(&ap__turn_lock);
        mine = !ap__turn_taken;
        ap__turn_taken = true;
        pthread_mutex_unlock(&ap__turn_lock);
        if (mine) {
            return true;
        }
        if (ap__quitting(c)) {
            return false;
        }
        ap__sleep_ms(10);
    }
}

static void ap__give_turn(void)
{
    pthread_mutex_lock(&ap__turn_lock);
    ap__turn_taken = false;
    pthread_mutex_unlock(&ap__turn_lock);
}

static void ap__dispatch(ap__collector *c, const ap__hal_event *events, int count)
{
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < count; i++) {
        uint8_t slot = 0;
        ap__device *d = NULL;
        uint8_t index = AP_NO_CHANNEL;

        if (events[i].device >= AP_HAL_MAX_DEVICES || events[i].channel >= AP_HAL_MAX_CHANNELS) {
            continue;
        }
        slot = atomic_load_explicit(&c->slot_of[events[i].device], memory_order_acquire);
        d = slot != 0 ? c->devices[slot - 1] : NULL;
        if (d == NULL || !d->ready) {
            continue;
        }
        index = d->index_of[events[i].channel];
        if (index != AP_NO_CHANNEL && d->readers[d->channels[index].reader].begun) {
            ap__reader_notice(&d->readers[d->channels[index].reader], index);
        }
    }
    pthread_mutex_unlock(&c->lock);
}

/* An error, or an answer at once without events, again and again: not faster than this. */
static void ap__back_off(uint32_t *zeros, uint32_t *backoff, bool error)
{
    if (!error && ++*zeros < AP_EARLY_ZEROS) {
        return;
    }
    *zeros = error ? *zeros : AP_EARLY_ZEROS;
    ap__sleep_ms(*backoff);
    *backoff = *backoff * 2 < AP_BACKOFF_MAX_MS ? *backoff * 2 : AP_BACKOFF_MAX_MS;
}

static void ap__poller_main(void *arg)
{
    ap__collector *c = arg;
    ap__hal_event events[AP_POLL_EVENTS];
    uint32_t zeros = 0;
    uint32_t backoff = 1;
    bool turn = ap__take_turn(c);

    while (turn && !ap__wait_running(c)) {
        uint64_t before = ap__now_ms();
        int n = c->ops->poll(c->driver, events, AP_POLL_EVENTS, AP_POLL_MS);

        if (n > 0) {
            ap__dispatch(c, events, n < AP_POLL_EVENTS ? n : AP_POLL_EVENTS);
            zeros = 0;
            backoff = 1;
        } else if (n < 0 || ap__now_ms() - before < 2) {
            ap__back_off(&zeros, &backoff, n < 0); /* never ends for an error: it may pass */
        } else {
            zeros = 0;
            backoff = 1;
        }
    }
    if (turn) {
        ap__give_turn();
    }
    pthread_mutex_lock(&c->lock);
    c->poller_gone = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

int ap__poller_begin(ap__collector *c)
{
    int rc = 0;

    if (!c->poller_begun) {
        rc = ap__thread_start(c, "aclprof-poll", ap__poller_main, c);
        c->poller_begun = rc == 0;
    }
    return rc;
}
