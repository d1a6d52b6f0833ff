/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sim/poll_queue.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "drivers/ascend/vendor_abi.h"

int ap__sim_poll_open(ap__sim_poll_queue *queue)
{
    pthread_condattr_t attr;
    int rc;

    memset(queue, 0, sizeof(*queue));
    if (pthread_mutex_init(&queue->lock, NULL) != 0) {
        return -1;
    }
    if (pthread_condattr_init(&attr) != 0) {
        pthread_mutex_destroy(&queue->lock);
        return -1;
    }
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    rc = pthread_cond_init(&queue->wake, &attr);
    pthread_condattr_destroy(&attr);
    if (rc != 0) {
        pthread_mutex_destroy(&queue->lock);
        return -1;
    }
    return 0;
}

void ap__sim_poll_close(ap__sim_poll_queue *queue)
{
    pthread_cond_destroy(&queue->wake);
    pthread_mutex_destroy(&queue->lock);
}

static bool ap__push(ap__sim_poll_queue *queue, uint32_t device, uint32_t channel)
{
    ap__hal_event *entry;

    if (queue->count == AP_SIM_POLL_ENTRIES) {
        return false;
    }
    entry = &queue->entry[(queue->head + queue->count++) % AP_SIM_POLL_ENTRIES];
    entry->device = device;
    entry->channel = channel;
    queue->posts++;
    pthread_cond_signal(&queue->wake);
    return true;
}

void ap__sim_poll_tell(ap__sim_poll_queue *queue, uint32_t device, uint32_t channel)
{
    pthread_mutex_lock(&queue->lock);
    if (!queue->pending[device][channel] && ap__push(queue, device, channel)) {
        queue->pending[device][channel] = 1;
    }
    pthread_mutex_unlock(&queue->lock);
}

void ap__sim_poll_stale(ap__sim_poll_queue *queue, uint32_t device, uint32_t channel)
{
    pthread_mutex_lock(&queue->lock);
    ap__push(queue, device, channel);
    pthread_mutex_unlock(&queue->lock);
}

void ap__sim_poll_started(ap__sim_poll_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->started++;
    pthread_mutex_unlock(&queue->lock);
}

void ap__sim_poll_stopped(ap__sim_poll_queue *queue, uint32_t device, uint32_t channel)
{
    pthread_mutex_lock(&queue->lock);
    queue->pending[device][channel] = 0;
    if (--queue->started == 0) {
        queue->posts++;
        pthread_cond_broadcast(&queue->wake);
    }
    pthread_mutex_unlock(&queue->lock);
}

int ap__sim_poll_wait(ap__sim_poll_queue *queue, ap__hal_event *out, int capacity, int seconds)
{
    struct timespec end;
    int n = 0;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    pthread_mutex_lock(&queue->lock);
    if (queue->started == 0) {
        pthread_mutex_unlock(&queue->lock);
        return AP_VENDOR_STOPPED_ALREADY;
    }
    while (queue->posts == 0 &&
           pthread_cond_timedwait(&queue->wake, &queue->lock, &end) != ETIMEDOUT) {
    }
    if (queue->posts > 0) {
        queue->posts--;
    }
    for (; n < capacity && queue->count > 0; n++) {
        out[n] = queue->entry[queue->head];
        queue->head = (queue->head + 1) % AP_SIM_POLL_ENTRIES;
        queue->count--;
        queue->pending[out[n].device][out[n].channel] = 0;
    }
    pthread_mutex_unlock(&queue->lock);
    return n;
}
