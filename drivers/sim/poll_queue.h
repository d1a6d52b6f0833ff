/* SPDX-License-Identifier: Apache-2.0 */
/* The poll of the real driver: one queue for the process, told by edges. */
#ifndef AP_SIM_POLL_QUEUE_H_
#define AP_SIM_POLL_QUEUE_H_

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "drivers/hal.h"

#define AP_SIM_POLL_ENTRIES 512u

typedef struct ap__sim_poll_queue {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    ap__hal_event entry[AP_SIM_POLL_ENTRIES];
    uint32_t head;
    uint32_t count;
    uint32_t posts;   /* one per entry; a poll takes one, however many entries it takes */
    uint32_t started; /* channels */
    uint8_t pending[AP_HAL_MAX_DEVICES][AP_HAL_MAX_CHANNELS];
} ap__sim_poll_queue;

int ap__sim_poll_open(ap__sim_poll_queue *queue);
void ap__sim_poll_close(ap__sim_poll_queue *queue);

/* Names a channel unless it is named already. With a full queue the edge is lost. */
void ap__sim_poll_tell(ap__sim_poll_queue *queue, uint32_t device, uint32_t channel);
/* An entry of a channel whatever its state. */
void ap__sim_poll_stale(ap__sim_poll_queue *queue, uint32_t device, uint32_t channel);
void ap__sim_poll_started(ap__sim_poll_queue *queue);
/* Entries of the channel stay in the queue. The last one wakes the poller. */
void ap__sim_poll_stopped(ap__sim_poll_queue *queue, uint32_t device, uint32_t channel);
/* Entries taken (0: time is up, or an early zero), or -4 when nothing is started. */
int ap__sim_poll_wait(ap__sim_poll_queue *queue, ap__hal_event *out, int capacity, int seconds);

#endif
