/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer's side of a ring, inline: enter, publish, leave. Wait-free; no lock, no allocation,
 * no system call but in the cold functions.
 *
 * Memory order: `committed` release (publish) pairs with the drain's acquire; `tail` release
 * (drain) pairs with the acquire in ap__ring_refill; `armed` release (leave) pairs with the
 * acquire in ap__threads_quiesce.
 */
#ifndef AP_RING_RING_H_
#define AP_RING_RING_H_

#include <stdbool.h>
#include <string.h>

#include "clock/cycles.h"
#include "ring/thread.h"

#define AP_LIKELY(x) __builtin_expect(!!(x), 1)
#define AP_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Copies run in blocks of this size, one at least: bytes beyond a record are scribbled on. The
 * ring keeps as much free before the writer's position, the slot has a guard page. */
#define AP_COPY_BLOCK 32u
#define AP_RING_SLACK 64u

#define AP_COST_SAMPLE 1024u /* every n-th event's call is timed */

#ifdef AP_TESTPOINTS
void ap__testpoint(const char *name);
#define AP_TESTPOINT(name) ap__testpoint(name)
#else
#define AP_TESTPOINT(name) ((void)0)
#endif

#if defined(__SANITIZE_THREAD__)
#define AP_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define AP_TSAN 1
#endif
#endif

/* Moves past a boundary: end of the ring, end of a sub-buffer, or what the writer has freed.
 * false: no room, the loss is counted. */
bool ap__ring_refill(ap__thread *thread, uint32_t bytes);

/* What the writer says of itself before it waits; cleared by whoever wakes it. */
enum ap__writer_rest {
    AP_WRITER_AWAKE = 0,
    AP_WRITER_NAP = 1,  /* back within milliseconds: woken early only by a ring half full */
    AP_WRITER_SLEEP = 2 /* until woken */
};
extern _Atomic uint32_t ap__writer_rest __attribute__((visibility("hidden")));
/* Wakes the writer if it rests (one eventfd write then, else nothing). Only inside a stamp call:
 * the capture that owns the writer outlives those. */
void ap__writer_wake(void);

/* The general way in: first event of a thread, new capture, call inside a call, no membarrier.
 * NULL: nothing may be recorded; *counted tells that the call is accounted for as lost, or that the
 * capture is only warming up (it then succeeds), else no capture runs. */
ap__thread *ap__stamp_enter(bool *counted);
/* The same for a call that makes no event (create, push, range start): *counted tells that it is
 * to succeed, but nothing is counted. */
ap__thread *ap__stamp_enter_silent(bool *counted);
/* A call inside a call of the same thread: a signal handler's. */
void ap__lose_reentrant(ap__thread *thread, uint64_t key);
void ap__cost_sample(ap__thread *thread, uint64_t since);

/* The way in for a thread that has been here before; false: take the general one. */
static inline bool ap__stamp_enter_fast(ap__thread *thread, uint64_t key)
{
    if (AP_UNLIKELY(atomic_load_explicit(&thread->armed, memory_order_relaxed) != key)) {
        return false;
    }
    atomic_store_explicit(&thread->armed, AP_INSIDE, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* the closer's membarrier does the rest */
    if (AP_UNLIKELY(ap__gate_key() != key)) {
        atomic_store_explicit(&thread->armed, key, memory_order_release);
        return false;
    }
    return true;
}

static inline void ap__stamp_leave(ap__thread *thread, uint64_t key)
{
    atomic_store_explicit(&thread->armed, key, memory_order_release);
}

/* After ap__stamp_enter: armed for the fast way next time, where that is allowed. */
static inline void ap__stamp_leave_slow(ap__thread *thread)
{
    uint64_t key = thread->key;

    ap__stamp_leave(thread, key != 0 && (key & AP_GATE_SLOW) == 0 ? key : AP_IDLE);
}

static inline bool ap__ring_reserve(ap__thread *thread, uint32_t bytes)
{
    return AP_LIKELY(bytes <= (size_t)(thread->end - thread->at)) ||
           ap__ring_refill(thread, bytes);
}

static inline void ap__ring_publish(ap__thread *thread, uint8_t *next)
{
    AP_TESTPOINT("ring.publish");
    thread->at = next;
    atomic_store_explicit(&thread->ring_head->committed, (uintptr_t)next + thread->delta,
                          memory_order_release);
}

#define AP_COPY_WORDS (AP_COPY_BLOCK / 8)

/* words ≤ AP_BODY_MAX_WORDS; may write up to AP_COPY_BLOCK bytes more than asked. The source may
 * change meanwhile (the caller checks its sequence afterwards). */
static inline void ap__copy_body(uint64_t *dst, const uint64_t *src, uint32_t words)
{
#ifdef AP_TSAN
    for (uint32_t i = 0; i < words; i++) {
        dst[i] = __atomic_load_n(&src[i], __ATOMIC_RELAXED);
    }
#else
    for (uint32_t i = 0; i < words; i += AP_COPY_WORDS) {
        memcpy(dst + i, src + i, AP_COPY_BLOCK);
    }
#endif
}

/* For at most AP_COPY_WORDS. */
static inline void ap__copy_short(uint64_t *dst, const uint64_t *src, uint32_t words)
{
#ifdef AP_TSAN
    ap__copy_body(dst, src, words);
#else
    (void)words;
    memcpy(dst, src, AP_COPY_BLOCK);
#endif
}

#endif
