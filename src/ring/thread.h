/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread owns: its place in the running capture's arena, its push stack, its caches of
 * stamps and range ids. Made at the thread's first stamp call, freed at its exit. The pages are
 * mapped, never malloc'ed: a first stamp may come from a signal handler or an allocator's hook.
 */
#ifndef AP_RING_THREAD_H_
#define AP_RING_THREAD_H_

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "ring/arena.h"
#include "ring/gate.h"

#define AP_STAMP_CACHE 64u

struct ap__range_block;

typedef struct ap__thread {
    /* the stamp path's line: written by the owner; others read `armed` and, when it is not
     * AP_INSIDE and the gate is closed, the rest */
    _Alignas(64) _Atomic uint64_t armed; /* AP_INSIDE, AP_IDLE, or the key it may enter with */
    uint8_t *at;        /* where the next record goes */
    uint8_t *end;       /* `at` may advance so far without a look at the writer */
    uint64_t delta;     /* at + delta = bytes ever reserved */
    ap__ring_head *ring_head;
    ap__frame *frames;
    uint32_t depth;
    uint32_t frame_room;

    _Alignas(64) uint64_t key; /* of the capture that the ring belongs to */
    uint8_t *ring;             /* NULL: none could be had for this key */
    uint64_t ring_bytes;
    uint32_t tid;
    uint32_t no_ring_tries;
    ap__frame *heap_frames; /* when the stack outgrew the slot */
    size_t heap_bytes;
    struct ap__range_block *block; /* range ids are taken from here: */
    struct ap__range *range_at;
    uint32_t range_id;
    uint32_t range_left;
    uint32_t stamp_count;
    uint32_t stamps[AP_STAMP_CACHE]; /* free stamp indices */
    struct ap__thread *next;
    struct ap__thread *prev;
} ap__thread;

/* values of ap__thread.armed beside keys, which are greater */
#define AP_INSIDE 0u
#define AP_IDLE 1u

/* The calling thread's, &ap__nobody before its first event. Initial-exec: no call to reach it;
 * eight bytes of the static TLS that every loader keeps for late libraries. */
extern __thread ap__thread *ap__self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
extern ap__thread ap__nobody __attribute__((visibility("hidden")));

/* Totals over threads that had no ring, per capture. */
typedef struct ap__no_ring_counters {
    _Atomic uint64_t emitted; /* all of them lost */
    _Atomic uint64_t reentrant;
} ap__no_ring_counters;
extern ap__no_ring_counters ap__no_ring __attribute__((visibility("hidden")));

/* A thread of ours, which is not counted below. */
extern __thread bool ap__thread_helps
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
/* Threads that have state here: have recorded, or started a capture. The last one's exit wakes the
 * writer. */
extern _Atomic uint32_t ap__threads_known __attribute__((visibility("hidden")));

/* The calling thread's state, made when missing; NULL only when memory is exhausted or the call
 * came from inside this very function. Preserves errno. */
ap__thread *ap__thread_self(void);

/* Gives the thread a ring of the capture that `key` names. false: the gate has changed. Caller
 * is inside a stamp call of its own thread. The thread then records, or counts losses. */
bool ap__thread_attach(ap__thread *thread, uint64_t key);

/* ---- control side ---- */

/* Makes `arena` the one that threads attach to under `key`; then the gate may open. */
void ap__threads_begin(ap__arena *arena, uint64_t key);

/* Closes the gate and waits for the calls that are inside. Returns the number of threads that
 * are still inside after the grace time (their rings must stay mapped): 0 but for a thread that
 * is stopped or never returns from a signal handler. Adds up open pushes of this capture. */
uint32_t ap__threads_quiesce(uint64_t *open_pushes);

/* Forgets the arena; threads re-attach when they next record. */
void ap__threads_end(void);

/* Lock over the thread list and arena ownership, with all signals blocked. */
void ap__threads_lock(sigset_t *saved);
void ap__threads_unlock(const sigset_t *saved);

/* After fork, in the child: only the calling thread is left; it has no ring. */
void ap__threads_child(void);

#endif
