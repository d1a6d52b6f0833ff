/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stamps: any number, in slabs that are never unmapped. A handle is not an address: it encodes
 * slot index and generation under a tag that no user-space pointer carries, and its slot holds the
 * whole handle while it lives, so that any value a program passes can be judged without touching
 * memory that is not ours.
 *
 *   bits 63..60 tag 0101 | 59..32 generation | 31..4 index | 3..0 zero
 */
#ifndef AP_STAMP_POOL_H_
#define AP_STAMP_POOL_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ring/arena_layout.h"
#include "ring/thread.h"

#define AP_STAMP_SLAB_BITS 10u
#define AP_STAMP_INDEX_BITS 28u
#define AP_STAMP_SLABS (1u << (AP_STAMP_INDEX_BITS - AP_STAMP_SLAB_BITS))
#define AP_STAMP_GEN_MAX 0x0fffffffULL
#define AP_STAMP_TAG 0x5000000000000000ULL
#define AP_STAMP_GEN_ONE (1ULL << 32)

/* A body and its shape are guarded by a sequence lock whose readers never wait: they give the
 * text up after a few tries.
 * shape: bits 7..0 words of body | 31..24 ap__body_flags | 63..32 sequence, odd while a setter is
 * at work. The low half is laid out as in ap__rec_head. */
typedef struct ap__stamp {
    _Atomic uint64_t handle; /* 0: not live */
    _Atomic uint64_t shape;
    uint64_t last; /* handle of the latest life; whoever owns the free slot reads it */
    uint64_t body[AP_BODY_MAX_WORDS + 4]; /* + what block copies may read beyond */
} ap__stamp;

#define AP_SHAPE_WORDS(shape) ((uint32_t)(shape) & 0xffu)
#define AP_SHAPE_FLAGS(shape) ((uint32_t)(shape) >> 24)

_Static_assert(sizeof(ap__stamp) == 256, "ap__stamp_get scales by it");

extern _Atomic(ap__stamp *) ap__stamp_slabs[AP_STAMP_SLABS] __attribute__((visibility("hidden")));

/* NULL when the handle is not that of a live stamp. */
static inline ap__stamp *ap__stamp_get(uint64_t handle)
{
    ap__stamp *s = atomic_load_explicit(&ap__stamp_slabs[(uint32_t)handle >> (4 + AP_STAMP_SLAB_BITS)],
                                        memory_order_acquire);

    if (__builtin_expect(s == NULL, 0)) {
        return NULL;
    }
    s = (ap__stamp *)(void *)((uint8_t *)s +
                              ((handle & (((1u << AP_STAMP_SLAB_BITS) - 1) << 4)) << 4));
    if (__builtin_expect(atomic_load_explicit(&s->handle, memory_order_acquire) != handle, 0)) {
        return NULL;
    }
    return s;
}

/* A zeroed stamp from the thread's cache; 0 when memory is exhausted. */
uint64_t ap__stamp_create(ap__thread *thread);
/* The same without a thread's cache. */
uint64_t ap__stamp_create_shared(void);
/* false when the handle is not live. thread may be NULL. */
bool ap__stamp_destroy(ap__thread *thread, uint64_t handle);
/* Gives a thread's cached free stamps back, at its exit. */
void ap__stamp_pool_return(ap__thread *thread);

/* fork: hold the pool over it; the child starts with the lock free */
void ap__stamp_pool_lock(void);
void ap__stamp_pool_unlock(void);
void ap__stamp_pool_child(void);

#endif
