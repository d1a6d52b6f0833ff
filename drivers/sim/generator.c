/* SPDX-License-Identifier: Apache-2.0 */
/* Moves the devices' time on: a thread, or steps of virtual time. */
#define _GNU_SOURCE
#include <time.h>

#include "base/own_thread.h"
#include "drivers/sim/emit.h"
#include "drivers/sim/internal.h"
#include "drivers/sim/periodic.h"
#include "drivers/sim/source.h"

/* mode=block: a reader this far behind stops the device */
#define AP_HELD_STALL (64u * 1024 * 1024)

static void ap__happen(ap__sim_device *device, ap__sim_task *task)
{
    if (task->phase == 0 && task->flip_ns != 0) {
        ap__sim_emit_flip(device, task);
        task->flip_ns = 0;
    } else {
        ap__sim_emit(device, task);
        task->phase++;
    }
    if (task->phase < ap__sim_phases(task)) {
        if (ap__sim_heap_push(&device->heap, task) != 0) {
            ap__sim_task_free(&device->heap, task);
        }
    } else if (task->slot != NULL) {
        ap__sim_source_next(device, task);
    } else {
        ap__sim_task_free(&device->heap, task);
    }
}

/* Batches whose time has come. True when a reader is too far behind. */
static bool ap__hand_over(ap__sim_device *device, uint64_t now)
{
    uint64_t age = device->sim->options.batch_ms * UINT64_C(1000000);
    bool stalled = false;

    for (uint32_t i = 0; i < AP_HAL_MAX_CHANNELS; i++) {
        ap__sim_channel *ch = &device->channel[i];

        if (!ch->live) {
            continue;
        }
        if (ch->waiting > 0 && ch->held_bytes == 0) {
            ap__sim_put_window(device, i);
        }
        if (ch->held_bytes > 0 && now - ch->held_since >= age) {
            ap__sim_put_window(device, i);
            ap__sim_deliver(device, i);
        }
        stalled = stalled || ch->held_bytes > AP_HELD_STALL;
    }
    return stalled;
}

void ap__sim_advance(ap__sim_device *device, uint64_t now)
{
    ap__sim_task *task = NULL;

    if (ap__hand_over(device, now) || now <= device->generated_ns) {
        return;
    }
    ap__sim_source_fill(device, now);
    while ((task = ap__sim_heap_pop(&device->heap, now)) != NULL) {
        ap__happen(device, task);
    }
    ap__sim_periodic(device, now);
    device->generated_ns = now;
    (void)ap__hand_over(device, now);
}

/* Returns whether any channel is live. */
static bool ap__advance_all(ap__sim *sim)
{
    bool live = false;

    for (uint32_t i = 0; i < sim->options.devices; i++) {
        ap__sim_device *device = &sim->device[i];

        pthread_mutex_lock(&device->lock);
        if (device->live > 0) {
            live = true;
            if (!ap__sim_lost(sim, i)) {
                ap__sim_advance(device, ap__sim_now(sim));
            }
        }
        pthread_mutex_unlock(&device->lock);
    }
    return live;
}

static void *ap__generate(void *argument)
{
    ap__sim *sim = argument;
    struct timespec next;
    bool live = true;

    pthread_mutex_lock(&sim->lock);
    while (!sim->closing) {
        if (!live && !sim->work) {
            pthread_cond_wait(&sim->wake, &sim->lock);
            continue;
        }
        sim->work = false;
        pthread_mutex_unlock(&sim->lock);
        live = ap__advance_all(sim);
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_nsec += (long)sim->options.tick_ms * 1000000;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        pthread_mutex_lock(&sim->lock);
        if (!sim->closing) {
            (void)pthread_cond_timedwait(&sim->wake, &sim->lock, &next);
        }
    }
    pthread_mutex_unlock(&sim->lock);
    return NULL;
}

int ap__sim_generator_wake(ap__sim *sim)
{
    int rc = 0;

    if (sim->options.step != 0) {
        return 0;
    }
    pthread_mutex_lock(&sim->lock);
    if (!sim->thread_runs && !sim->closing) {
        rc = ap__own_thread(&sim->thread, "aclprof-sim", ap__generate, sim);
        sim->thread_runs = rc == 0;
    }
    sim->work = true;
    pthread_cond_broadcast(&sim->wake);
    pthread_mutex_unlock(&sim->lock);
    return rc == 0 ? 0 : -1;
}

void ap__sim_generator_end(ap__sim *sim)
{
    if (sim->thread_runs) {
        (void)pthread_join(sim->thread, NULL);
        sim->thread_runs = false;
    }
}

void ap__sim_step(ap__sim *sim, uint64_t ns)
{
    atomic_fetch_add(&sim->virtual_ns, ns);
    (void)ap__advance_all(sim);
}
