/* SPDX-License-Identifier: Apache-2.0 */
#include "ring/ring.h"

#include <errno.h>

#define AP_SUB_BUFFERS 8u
#define AP_RETRY_RING 1024u /* a thread without a ring asks again after so many events */

_Atomic uint32_t ap__writer_rest;

static void ap__count(_Atomic uint64_t *counter)
{
    /* one writer (the owner, or its own signal handler): no locked instruction needed */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* Fills the rest of the ring with a pad, so that the next record starts at its beginning. */
static void ap__pad_to_end(ap__thread *thread)
{
    uint8_t *lap_end = thread->ring + thread->ring_bytes;
    ap__rec_head *pad = (ap__rec_head *)(void *)thread->at;

    if (thread->at != lap_end) {
        pad->words = (uint16_t)((size_t)(lap_end - thread->at) / 8);
        pad->kind = AP_REC_PAD;
        pad->flags = 0;
        pad->seq = 0;
        ap__ring_publish(thread, lap_end);
    }
    thread->at = thread->ring;
    thread->delta += thread->ring_bytes;
}

static bool ap__lose(ap__thread *thread)
{
    ap__count(&thread->ring_head->emitted);
    ap__count(&thread->ring_head->lost_full);
    thread->end = thread->at;
    ap__writer_wake();
    return false;
}

static bool ap__lose_without_ring(ap__thread *thread)
{
    atomic_fetch_add_explicit(&ap__no_ring.emitted, 1, memory_order_relaxed);
    if (++thread->no_ring_tries >= AP_RETRY_RING) {
        thread->no_ring_tries = 0;
        thread->key = 0; /* the next call attaches anew */
    }
    return false;
}

/* At sub-buffer ends, while there is still time to drain. */
static void ap__wake_if_due(const ap__thread *thread, uint64_t room)
{
    uint32_t rest = 0;

    atomic_thread_fence(memory_order_seq_cst); /* pairs with the one before the writer's last look */
    rest = atomic_load_explicit(&ap__writer_rest, memory_order_relaxed);
    if (rest == AP_WRITER_SLEEP || (rest == AP_WRITER_NAP && room < thread->ring_bytes / 2)) {
        ap__writer_wake();
    }
}

bool ap__ring_refill(ap__thread *thread, uint32_t bytes)
{
    uint64_t sub = thread->ring_bytes / AP_SUB_BUFFERS;
    uint64_t head = 0;
    uint64_t room = 0;
    uint64_t lap = 0;
    uint64_t run = 0;

    if (thread->ring == NULL) {
        return ap__lose_without_ring(thread);
    }
    head = (uintptr_t)thread->at + thread->delta;
    room = atomic_load_explicit(&thread->ring_head->tail, memory_order_acquire) +
           thread->ring_bytes - AP_RING_SLACK;
    room = room > head ? room - head : 0; /* slack: head may be beyond for a moment */
    lap = (size_t)(thread->ring + thread->ring_bytes - thread->at);
    if (bytes > lap) {
        if (lap + bytes > room) {
            return ap__lose(thread);
        }
        ap__pad_to_end(thread);
        head += lap;
        room -= lap;
        lap = thread->ring_bytes;
    } else if (bytes > room) {
        return ap__lose(thread);
    }
    run = sub - head % sub;
    if (run < bytes) {
        run = bytes;
    }
    if (run > lap) {
        run = lap;
    }
    if (run > room) {
        run = room;
    }
    thread->end = thread->at + run;
    ap__wake_if_due(thread, room);
    return true;
}

void ap__lose_reentrant(ap__thread *thread, uint64_t key)
{
    /* until it has attached, the interrupted call's ring is that of a former capture: gone */
    if (thread->ring_head != NULL && thread->key == key) {
        /* emitted belongs to the interrupted call: the account adds this counter to it */
        ap__count(&thread->ring_head->lost_reentrant);
    } else {
        atomic_fetch_add_explicit(&ap__no_ring.reentrant, 1, memory_order_relaxed);
    }
}

/* `event`: a loss is counted. */
static ap__thread *ap__enter(bool event, bool *counted)
{
    uint64_t key = ap__gate_key();
    ap__thread *thread = NULL;

    *counted = false;
    if (key <= AP_GATE_WARM) {
        *counted = key == AP_GATE_WARM; /* succeeds, nothing to count */
        return NULL;
    }
    thread = ap__thread_self();
    if (thread == NULL) {
        if (event) {
            atomic_fetch_add_explicit(&ap__no_ring.emitted, 1, memory_order_relaxed);
        }
        *counted = true;
        return NULL;
    }
    if (atomic_load_explicit(&thread->armed, memory_order_relaxed) == AP_INSIDE) {
        if (event) {
            ap__lose_reentrant(thread, key);
        }
        *counted = true;
        return NULL;
    }
    for (;;) {
        atomic_store_explicit(&thread->armed, AP_INSIDE, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
        if (ap__gate_key() == key && (thread->key == key || ap__thread_attach(thread, key))) {
            return thread;
        }
        atomic_store_explicit(&thread->armed, AP_IDLE, memory_order_release);
        key = ap__gate_key();
        if (key <= AP_GATE_WARM) {
            *counted = key == AP_GATE_WARM;
            return NULL;
        }
    }
}

ap__thread *ap__stamp_enter(bool *counted)
{
    return ap__enter(true, counted);
}

ap__thread *ap__stamp_enter_silent(bool *counted)
{
    return ap__enter(false, counted);
}

void ap__cost_sample(ap__thread *thread, uint64_t since)
{
    ap__ring_head *rh = thread->ring_head;
    uint64_t spent = ap__cycles() - since;

    atomic_store_explicit(&rh->sampled_cycles,
                          atomic_load_explicit(&rh->sampled_cycles, memory_order_relaxed) + spent,
                          memory_order_relaxed);
    ap__count(&rh->sampled_calls);
}
