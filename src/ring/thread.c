/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "ring/thread.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ring/ring.h"
#include "ring/shield.h"
#include "stamp/pool.h"
#include "stamp/range.h"

#define AP_GRACE_NS 500000000u /* wait for a call that is inside when the gate closes */

ap__thread ap__nobody = {.armed = AP_IDLE};
__thread ap__thread *ap__self __attribute__((tls_model("initial-exec"))) = &ap__nobody;
static __thread bool ap__making_self __attribute__((tls_model("initial-exec")));

ap__no_ring_counters ap__no_ring;
_Atomic uint32_t ap__threads_known;
__thread bool ap__thread_helps __attribute__((tls_model("initial-exec")));

static pthread_mutex_t ap__list_lock = PTHREAD_MUTEX_INITIALIZER;
static ap__thread *ap__list;
static ap__arena *ap__arena_now;
static uint64_t ap__key_now;

static pthread_key_t ap__exit_key;
static bool ap__exit_key_made;

void ap__threads_lock(sigset_t *saved)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, saved);
    pthread_mutex_lock(&ap__list_lock);
}

void ap__threads_unlock(const sigset_t *saved)
{
    pthread_mutex_unlock(&ap__list_lock);
    pthread_sigmask(SIG_SETMASK, saved, NULL);
}

static void ap__release_ring(ap__thread *thread)
{
    if (thread->ring_head != NULL && thread->key == ap__key_now && ap__arena_now != NULL) {
        ap__arena_give(thread->ring_head);
    }
    thread->key = 0;
    thread->ring = NULL;
    thread->ring_head = NULL;
}

/* The writer then looks whether the whole process is over, see loop.c. */
static void ap__say_goodbye(ap__thread *thread)
{
    if (ap__thread_helps || atomic_fetch_sub(&ap__threads_known, 1) != 1) {
        return;
    }
    /* inside, as a stamp call is: the writer stays until we are out */
    atomic_store_explicit(&thread->armed, AP_INSIDE, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (ap__gate_key() != 0 || ap__report_key() != 0) {
        ap__writer_wake();
    }
    atomic_store_explicit(&thread->armed, AP_IDLE, memory_order_release);
}

/* pthread key destructor. Destructors of other keys may stamp after it: the state is then made
 * anew and this runs again, as often as PTHREAD_DESTRUCTOR_ITERATIONS allows. */
static void ap__thread_exit(void *arg)
{
    ap__thread *thread = arg;
    sigset_t saved;

    ap__say_goodbye(thread);
    ap__threads_lock(&saved);
    ap__self = &ap__nobody;
    ap__release_ring(thread);
    if (thread->next != NULL) {
        thread->next->prev = thread->prev;
    }
    if (thread->prev != NULL) {
        thread->prev->next = thread->next;
    } else {
        ap__list = thread->next;
    }
    ap__threads_unlock(&saved);
    ap__stamp_pool_return(thread);
    ap__range_release(thread);
    if (thread->heap_frames != NULL) {
        munmap(thread->heap_frames, thread->heap_bytes);
    }
    munmap(thread, sizeof(*thread));
}

static ap__thread *ap__thread_make(void)
{
    ap__thread *thread = mmap(NULL, sizeof(*thread), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigset_t saved;

    if (thread == MAP_FAILED) {
        return NULL;
    }
    thread->tid = (uint32_t)syscall(SYS_gettid);
    atomic_store_explicit(&thread->armed, AP_IDLE, memory_order_relaxed);
    ap__threads_lock(&saved);
    if (!ap__exit_key_made) {
        ap__exit_key_made = pthread_key_create(&ap__exit_key, ap__thread_exit) == 0;
    }
    if (ap__exit_key_made) {
        /* failing only means that this thread's pages stay until the process ends */
        (void)pthread_setspecific(ap__exit_key, thread);
    }
    thread->next = ap__list;
    if (ap__list != NULL) {
        ap__list->prev = thread;
    }
    ap__list = thread;
    ap__self = thread;
    if (!ap__thread_helps) {
        atomic_fetch_add(&ap__threads_known, 1);
    }
    ap__threads_unlock(&saved);
    return thread;
}

ap__thread *ap__thread_self(void)
{
    int saved_errno = errno;
    ap__thread *thread = ap__self;

    if (thread != &ap__nobody) {
        return thread;
    }
    thread = NULL;
    if (!ap__making_self) {
        ap__making_self = true;
        atomic_signal_fence(memory_order_seq_cst);
        thread = ap__thread_make();
        atomic_signal_fence(memory_order_seq_cst);
        ap__making_self = false;
        errno = saved_errno;
    }
    return thread;
}

/* The first record of a new owner: the drain learns whose events follow. */
static void ap__announce_owner(ap__thread *thread)
{
    ap__ring_head *rh = thread->ring_head;
    ap__rec_thread *rec = NULL;

    if (!ap__ring_reserve(thread, sizeof(*rec))) {
        return; /* cannot happen: a slot is taken with half its ring free */
    }
    rec = (ap__rec_thread *)(void *)thread->at;
    rec->head.words = sizeof(*rec) / 8;
    rec->head.kind = AP_REC_THREAD;
    rec->head.flags = 0;
    rec->head.seq = (uint32_t)atomic_load_explicit(&rh->emitted, memory_order_relaxed);
    rec->tid = thread->tid;
    rec->pad = 0;
    rec->emitted_base = atomic_load_explicit(&rh->emitted, memory_order_relaxed);
    rec->lost_full_base = atomic_load_explicit(&rh->lost_full, memory_order_relaxed);
    rec->lost_reentrant_base = atomic_load_explicit(&rh->lost_reentrant, memory_order_relaxed);
    rec->reserved = 0;
    ap__ring_publish(thread, thread->at + sizeof(*rec));
    atomic_store_explicit(&rh->tid, thread->tid, memory_order_relaxed);
}

static void ap__bind_ring(ap__thread *thread, ap__ring_head *rh)
{
    uint64_t head = atomic_load_explicit(&rh->committed, memory_order_relaxed);

    thread->ring_head = rh;
    thread->ring = ap__ring_data(ap__arena_now, rh);
    thread->ring_bytes = ap__arena_now->head->ring_bytes;
    thread->at = thread->ring + (head & (thread->ring_bytes - 1));
    thread->delta = head - (uintptr_t)thread->at;
    thread->end = thread->at;
    if (thread->heap_frames == NULL) {
        thread->frames = (ap__frame *)ap__ring_stack(rh);
        thread->frame_room = ap__arena_now->head->stack_bytes / sizeof(ap__frame);
    }
    atomic_store_explicit(&rh->depth, 0, memory_order_relaxed);
}

bool ap__thread_attach(ap__thread *thread, uint64_t key)
{
    int saved_errno = errno;
    sigset_t saved;
    ap__shield shield; /* the arena's file may not grow beyond the host's limit */
    ap__ring_head *rh = NULL;
    bool ok = false;

    ap__shield_raise(&shield);
    ap__threads_lock(&saved);
    if (ap__arena_now != NULL && ap__key_now == key) {
        ok = true;
        thread->key = key;
        thread->depth = 0; /* pushes of an earlier capture are void */
        thread->at = NULL;
        thread->end = NULL;
        thread->ring = NULL;
        thread->ring_head = NULL;
        thread->no_ring_tries = 0;
        if (thread->heap_frames == NULL) {
            thread->frames = NULL;
            thread->frame_room = 0;
        }
        rh = ap__arena_take(ap__arena_now);
        if (rh != NULL) {
            ap__bind_ring(thread, rh);
        }
    }
    ap__threads_unlock(&saved);
    ap__shield_drop(&shield);
    if (rh != NULL) {
        ap__announce_owner(thread);
        ap__writer_wake();
    }
    errno = saved_errno;
    return ok;
}

void ap__threads_begin(ap__arena *arena, uint64_t key)
{
    sigset_t saved;

    ap__threads_lock(&saved);
    ap__arena_now = arena;
    ap__key_now = key;
    atomic_store_explicit(&ap__no_ring.emitted, 0, memory_order_relaxed);
    atomic_store_explicit(&ap__no_ring.reentrant, 0, memory_order_relaxed);
    ap__threads_unlock(&saved);
}

static uint64_t ap__now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint32_t ap__threads_quiesce(uint64_t *open_pushes)
{
    uint64_t deadline = ap__now_ns() + AP_GRACE_NS;
    uint32_t stuck = 0;
    sigset_t saved;

    /* the gate closes before the lock is taken: a thread inside ap__thread_attach needs the lock
     * to leave, so the wait must let it have the lock */
    ap__gate_close(AP_GATE_CLOSED);
    for (;;) {
        ap__thread *busy = NULL;

        ap__threads_lock(&saved);
        stuck = 0;
        for (ap__thread *t = ap__list; t != NULL; t = t->next) {
            if (atomic_load_explicit(&t->armed, memory_order_acquire) == AP_INSIDE) {
                busy = t;
                stuck++;
            }
        }
        if (busy == NULL || ap__now_ns() > deadline || (stuck == 1 && busy == ap__self)) {
            break;
        }
        ap__threads_unlock(&saved);
        nanosleep(&(struct timespec){0, 20000}, NULL);
    }
    *open_pushes = 0;
    for (ap__thread *t = ap__list; t != NULL; t = t->next) {
        if (t->key == ap__key_now &&
            atomic_load_explicit(&t->armed, memory_order_acquire) != AP_INSIDE) {
            *open_pushes += t->depth;
        }
    }
    ap__threads_unlock(&saved);
    return stuck;
}

void ap__threads_end(void)
{
    sigset_t saved;

    ap__threads_lock(&saved);
    ap__arena_now = NULL;
    ap__key_now = 0;
    ap__threads_unlock(&saved);
}

void ap__threads_child(void)
{
    ap__thread *self = ap__self;

    ap__arena_now = NULL;
    ap__key_now = 0;
    ap__list = NULL;
    atomic_store(&ap__threads_known, self != &ap__nobody ? 1 : 0);
    if (self != &ap__nobody) {
        ap__list = self;
        self->next = NULL;
        self->prev = NULL;
        self->tid = (uint32_t)syscall(SYS_gettid);
        self->key = 0;
        self->ring = NULL;
        self->ring_head = NULL;
        self->depth = 0;
        atomic_store_explicit(&self->armed, AP_IDLE, memory_order_relaxed);
    }
    pthread_mutex_unlock(&ap__list_lock);
}
