/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "stamp/pool.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#define AP_SLAB_STAMPS (1u << AP_STAMP_SLAB_BITS)
/* Where a free stamp keeps the next one's index: behind what a setter that comes too late, after
 * the stamp was destroyed, can write. */
#define AP_FREE_LINK (AP_BODY_MAX_WORDS + 3)

_Atomic(ap__stamp *) ap__stamp_slabs[AP_STAMP_SLABS];

/* The shared part: whole free list as a stack of indices chained through the stamps' bodies. */
static pthread_mutex_t ap__pool_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t ap__free_head; /* index + 1; 0: empty */
static uint32_t ap__slab_count;

static ap__stamp *ap__stamp_at(uint32_t index)
{
    ap__stamp *slab = atomic_load_explicit(&ap__stamp_slabs[index >> AP_STAMP_SLAB_BITS],
                                           memory_order_acquire);

    return slab + (index & (AP_SLAB_STAMPS - 1));
}

static void ap__pool_enter(sigset_t *saved)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, saved);
    pthread_mutex_lock(&ap__pool_lock);
}

static void ap__pool_leave(const sigset_t *saved)
{
    pthread_mutex_unlock(&ap__pool_lock);
    pthread_sigmask(SIG_SETMASK, saved, NULL);
}

static void ap__push_free(uint32_t index)
{
    __atomic_store_n(&ap__stamp_at(index)->body[AP_FREE_LINK], ap__free_head, __ATOMIC_RELAXED);
    ap__free_head = index + 1;
}

static bool ap__grow(void)
{
    ap__stamp *slab = NULL;
    uint32_t first = ap__slab_count << AP_STAMP_SLAB_BITS;

    if (ap__slab_count == AP_STAMP_SLABS) {
        return false;
    }
    slab = mmap(NULL, sizeof(*slab) * AP_SLAB_STAMPS, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (slab == MAP_FAILED) {
        return false;
    }
    for (uint32_t i = 0; i < AP_SLAB_STAMPS; i++) {
        slab[i].last = AP_STAMP_TAG | (uint64_t)(first + i) << 4;
    }
    if (first == 0) {
        /* NULL leads to slot 0, and would be the handle of its free state: never free, never had */
        atomic_store_explicit(&slab[0].handle, UINT64_MAX, memory_order_relaxed);
    }
    atomic_store_explicit(&ap__stamp_slabs[ap__slab_count], slab, memory_order_release);
    ap__slab_count++;
    for (uint32_t i = AP_SLAB_STAMPS; i > (first == 0 ? 1 : 0); i--) {
        ap__push_free(first + i - 1);
    }
    return true;
}

/* Half the cache, so that a thread at either edge does not come here at every call. */
static void ap__cache_fill(ap__thread *thread)
{
    int saved_errno = errno;
    sigset_t saved;

    ap__pool_enter(&saved);
    while (thread->stamp_count < AP_STAMP_CACHE / 2) {
        ap__stamp *stamp = NULL;

        if (ap__free_head == 0 && !ap__grow()) {
            break;
        }
        stamp = ap__stamp_at(ap__free_head - 1);
        thread->stamps[thread->stamp_count++] = ap__free_head - 1;
        ap__free_head = (uint32_t)__atomic_load_n(&stamp->body[AP_FREE_LINK], __ATOMIC_RELAXED);
    }
    ap__pool_leave(&saved);
    errno = saved_errno;
}

static void ap__cache_drain(ap__thread *thread, uint32_t keep)
{
    sigset_t saved;

    ap__pool_enter(&saved);
    while (thread->stamp_count > keep) {
        ap__push_free(thread->stamps[--thread->stamp_count]);
    }
    ap__pool_leave(&saved);
}

/* The slot's next generation. The shape's sequence moves on and is even, so that a reader or setter
 * of the former life notices, and the new one is not shut out by a setter that never came back. */
static uint64_t ap__stamp_enliven(ap__stamp *stamp)
{
    uint64_t handle = stamp->last + AP_STAMP_GEN_ONE;
    uint64_t shape = atomic_load_explicit(&stamp->shape, memory_order_relaxed);
    uint64_t fresh = 0;

    do {
        fresh = ((shape >> 32 | 1) + 1) << 32;
    } while (!atomic_compare_exchange_weak_explicit(&stamp->shape, &shape, fresh,
                                                    memory_order_relaxed, memory_order_relaxed));
    stamp->last = handle;
    atomic_store_explicit(&stamp->handle, handle, memory_order_release);
    return handle;
}

uint64_t ap__stamp_create(ap__thread *thread)
{
    if (__builtin_expect(thread->stamp_count == 0, 0)) {
        ap__cache_fill(thread);
        if (thread->stamp_count == 0) {
            return 0;
        }
    }
    return ap__stamp_enliven(ap__stamp_at(thread->stamps[--thread->stamp_count]));
}

uint64_t ap__stamp_create_shared(void)
{
    int saved_errno = errno;
    uint64_t handle = 0;
    sigset_t saved;

    ap__pool_enter(&saved);
    if (ap__free_head != 0 || ap__grow()) {
        ap__stamp *stamp = ap__stamp_at(ap__free_head - 1);

        ap__free_head = (uint32_t)__atomic_load_n(&stamp->body[AP_FREE_LINK], __ATOMIC_RELAXED);
        handle = ap__stamp_enliven(stamp);
    }
    ap__pool_leave(&saved);
    errno = saved_errno;
    return handle;
}

bool ap__stamp_destroy(ap__thread *thread, uint64_t handle)
{
    ap__stamp *stamp = ap__stamp_get(handle);
    uint64_t live = handle;
    uint32_t index = (uint32_t)handle >> 4;

    if (stamp == NULL ||
        !atomic_compare_exchange_strong_explicit(&stamp->handle, &live, 0, memory_order_acq_rel,
                                                 memory_order_relaxed)) {
        return false; /* not live, or another thread was first */
    }
    if ((handle >> 32 & AP_STAMP_GEN_MAX) == AP_STAMP_GEN_MAX) {
        return true; /* generations used up: the slot retires, so that no handle ever repeats */
    }
    if (thread == NULL) {
        sigset_t saved;

        ap__pool_enter(&saved);
        ap__push_free(index);
        ap__pool_leave(&saved);
        return true;
    }
    if (thread->stamp_count == AP_STAMP_CACHE) {
        ap__cache_drain(thread, AP_STAMP_CACHE / 2);
    }
    thread->stamps[thread->stamp_count++] = index;
    return true;
}

void ap__stamp_pool_return(ap__thread *thread)
{
    if (thread->stamp_count != 0) {
        ap__cache_drain(thread, 0);
    }
}

void ap__stamp_pool_lock(void)
{
    pthread_mutex_lock(&ap__pool_lock);
}

void ap__stamp_pool_unlock(void)
{
    pthread_mutex_unlock(&ap__pool_lock);
}

void ap__stamp_pool_child(void)
{
    pthread_mutex_unlock(&ap__pool_lock);
}
