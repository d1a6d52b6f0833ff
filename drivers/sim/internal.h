/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's state. Locks, in the order in which they are taken: a device's, a channel's, the
 * poll queue's or the faults'. The simulator's own lock is taken alone.
 */
#ifndef AP_SIM_INTERNAL_H_
#define AP_SIM_INTERNAL_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "drivers/hal.h"
#include "drivers/sim/chip.h"
#include "drivers/sim/clock.h"
#include "drivers/sim/config.h"
#include "drivers/sim/fault.h"
#include "drivers/sim/options.h"
#include "drivers/sim/poll_queue.h"
#include "drivers/sim/ring.h"
#include "drivers/sim/sim.h"
#include "drivers/sim/task.h"

enum { AP_SIM_STOPPED, AP_SIM_STARTING, AP_SIM_RUNNING, AP_SIM_STOPPING };

#define AP_SIM_RECORD_MAX 888u
#define AP_SIM_WINDOW 4u /* records that may change places */

/* Where a record has its running number. */
typedef enum ap__sim_head { AP_HEAD_NONE, AP_HEAD_STARS, AP_HEAD_HWTS } ap__sim_head;

typedef struct ap__sim_channel {
    pthread_mutex_t lock;
    uint32_t state;
    ap__sim_ring ring;

    /* under the device's lock: what the device has not handed over yet */
    bool live;
    uint8_t number;  /* 4 bits, of the next record */
    uint8_t waiting; /* records in the window */
    uint8_t passed;  /* how often the window's oldest was left behind */
    unsigned char *held;
    size_t held_bytes;
    size_t held_capacity;
    uint64_t held_since;
    uint64_t next_ns; /* of periodic data */
    uint64_t live_ns; /* since when */
    uint64_t last_busy_ns;
    ap__sim_config config;
    ap__sim_counts counts;
    unsigned char window[AP_SIM_WINDOW][64];
} ap__sim_channel;

typedef struct ap__sim_device {
    struct ap__sim *sim;
    uint32_t id;
    pthread_mutex_t lock;
    ap__sim_clock clock;
    uint64_t random;
    uint32_t list_calls;
    char config_error[160];

    uint32_t live;         /* channels */
    uint64_t generated_ns; /* everything before is emitted */
    ap__sim_heap heap;
    ap__sim_stream *streams;                   /* AP_SIM_STREAMS */
    uint64_t stream_used[AP_SIM_STREAMS / 64]; /* by programs; stream 0 always is */
    uint64_t program_end_ns;                   /* of what programs have submitted */
    uint32_t next_task;                        /* of chips whose ids are the device's */
    struct ap__sim_source *source;
    uint64_t tasks;
    uint64_t busy_ns; /* core time of tasks, for the load model */
    uint64_t memory;  /* bytes in use */
    ap__sim_channel channel[AP_HAL_MAX_CHANNELS];
} ap__sim_device;

struct ap__sim {
    ap__sim_options options;
    const ap__sim_chip *chip;
    uint32_t aic;
    uint32_t aiv;
    uint32_t mhz;
    uint64_t opened_ns;
    atomic_uint_least64_t virtual_ns; /* with options.step */
    ap__sim_faults faults;
    ap__sim_poll_queue poll;
    struct ap__sim_scenario *scenario;
    pthread_mutex_t truth_lock;
    FILE *truth;

    pthread_mutex_t lock; /* what follows */
    pthread_cond_t wake;
    bool closing;
    bool thread_runs;
    bool work; /* something is live */
    pthread_t thread;
    uint32_t inside;         /* calls that may wait */
    ap__sim_device device[]; /* options.devices */
};

/* ---- sim.c ---- */
/* Waits; true when the simulator closes meanwhile. ms is divided by the speed. */
bool ap__sim_wait(ap__sim *sim, uint64_t ms, bool for_ever);
void ap__sim_enter(ap__sim *sim);
void ap__sim_leave(ap__sim *sim);
/* Waits its time and is true when the device is lost. */
bool ap__sim_lost_call(ap__sim *sim, uint32_t device);
bool ap__sim_lost(ap__sim *sim, uint32_t device);

static inline bool ap__sim_strikes(ap__sim *sim, ap__sim_fault_kind kind, uint32_t device,
                                   uint32_t channel, ap__sim_fault *hit)
{
    return ap__sim_fault_listed(&sim->faults, kind) &&
           ap__sim_fault_happens(&sim->faults, kind, device, channel,
                                 ap__sim_now(sim) - sim->opened_ns, hit);
}

/* ---- put.c; under the device's lock ---- */
void ap__sim_put(ap__sim_device *device, uint32_t channel, const void *record, uint32_t bytes,
                 ap__sim_head head);
/* Records that may still change places go to the device's buffer. */
void ap__sim_put_window(ap__sim_device *device, uint32_t channel);
/* Hands what is held to the ring; what does not fit stays with mode=block. */
void ap__sim_deliver(ap__sim_device *device, uint32_t channel);
/* The channel's name into the poll queue. */
void ap__sim_tell(ap__sim_device *device, uint32_t channel);

/* ---- generator.c ---- */
/* Emits what falls before now, and hands over batches that are due. Under the device's lock. */
void ap__sim_advance(ap__sim_device *device, uint64_t now);
/* Makes the thread when there is none, wakes it. */
int ap__sim_generator_wake(ap__sim *sim);
void ap__sim_generator_end(ap__sim *sim);

#endif
