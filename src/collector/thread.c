/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/own_thread.h"
#include "collector/collector_internal.h"

typedef struct ap__start {
    ap__collector *c;
    ap__thread_fn fn;
    void *arg;
} ap__start;

void ap__cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

void ap__cond_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t until)
{
    struct timespec ts = {(time_t)(until / 1000u), (long)(until % 1000u) * 1000000L};

    (void)pthread_cond_timedwait(cond, lock, &ts);
}

static void ap__collector_destroy(ap__collector *c)
{
    for (uint32_t i = 0; i < c->device_count; i++) {
        ap__device_free(c->devices[i]);
    }
    if (c->prof_fd >= 0) {
        (void)close(c->prof_fd);
    }
    if (c->ext_fd >= 0) {
        (void)close(c->ext_fd);
    }
    pthread_cond_destroy(&c->sink.room);
    pthread_cond_destroy(&c->sink.wake);
    pthread_mutex_destroy(&c->sink.lock);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c->result_dir);
    free(c);
}

void ap__collector_release(ap__collector *c)
{
    bool last = false;

    pthread_mutex_lock(&c->lock);
    last = c->owner_gone && c->threads == 0;
    pthread_mutex_unlock(&c->lock);
    if (last) {
        ap__collector_destroy(c);
    }
}

static void *ap__thread_main(void *arg)
{
    ap__start start = *(ap__start *)arg;
    bool last = false;

    free(arg);
    start.fn(start.arg);
    pthread_mutex_lock(&start.c->lock);
    start.c->threads--;
    last = start.c->owner_gone && start.c->threads == 0;
    pthread_cond_broadcast(&start.c->changed);
    pthread_mutex_unlock(&start.c->lock);
    if (last) {
        ap__collector_destroy(start.c);
    }
    return NULL;
}

int ap__thread_start(ap__collector *c, const char *name, ap__thread_fn fn, void *arg)
{
    ap__start *start = calloc(1, sizeof(*start));
    int rc = 0;

    if (start == NULL) {
        return ENOMEM;
    }
    start->c = c;
    start->fn = fn;
    start->arg = arg;
    pthread_mutex_lock(&c->lock);
    c->threads++;
    pthread_mutex_unlock(&c->lock);
    rc = ap__own_thread(NULL, name, ap__thread_main, start);
    if (rc != 0) {
        pthread_mutex_lock(&c->lock);
        c->threads--;
        pthread_mutex_unlock(&c->lock);
        free(start);
    }
    return rc;
}
