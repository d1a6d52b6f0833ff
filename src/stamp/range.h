/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges that start in one thread and may stop in another. Ids count up over the process, 32 bits,
 * never 0; a thread takes them from a block of its own, so that starting touches no shared line.
 * Blocks are mapped, recycled once all their ranges are over, and never unmapped: a stale id finds
 * an entry that bears another one.
 */
#ifndef AP_STAMP_RANGE_H_
#define AP_STAMP_RANGE_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ring/thread.h"

#define AP_RANGE_BLOCK 128u /* ids a block */

enum ap__range_state { AP_RANGE_FREE = 0, AP_RANGE_OPEN = 1, AP_RANGE_STOPPING = 2, AP_RANGE_OVER = 3 };

typedef struct ap__range {
    _Atomic uint64_t tag; /* id << 2 | ap__range_state; release when opened */
    uint64_t cycles;
    uint64_t stamp; /* handle */
    uint32_t shape; /* as ap__frame */
    uint32_t key;   /* low half of its capture's gate key */
    uint64_t body[AP_BODY_MAX_WORDS + 3]; /* + what block copies may write beyond */
} ap__range;

_Static_assert(sizeof(ap__range) == 256, "range");

static inline bool ap__range_at_hand(const ap__thread *thread)
{
    return thread->range_left != 0;
}

/* The entry for a new range, its fields free to fill; one is at hand. */
static inline ap__range *ap__range_take(ap__thread *thread, uint32_t *id)
{
    thread->range_left--;
    *id = thread->range_id++;
    return thread->range_at++;
}

/* The same, from a new block when there is need; NULL when memory is exhausted. */
ap__range *ap__range_next(ap__thread *thread, uint32_t *id);
/* Makes it known. */
static inline void ap__range_open(ap__range *range, uint32_t id)
{
    atomic_store_explicit(&range->tag, (uint64_t)id << 2 | AP_RANGE_OPEN, memory_order_release);
}

/* Claims an open range of the capture `key` for its one stop; NULL when the id is not open there
 * (of another capture: one that a forked child inherited, and that ends with this). */
ap__range *ap__range_claim(uint32_t id, uint64_t key);
static inline void ap__range_close(ap__range *range, uint32_t id)
{
    atomic_store_explicit(&range->tag, (uint64_t)id << 2 | AP_RANGE_OVER, memory_order_release);
}

/* Voids every range still open under `key`; returns how many. The gate is closed. */
uint64_t ap__range_void(uint64_t key);

/* At a thread's exit: its block is filled no further. */
void ap__range_release(ap__thread *thread);

void ap__range_lock(void);
void ap__range_unlock(void);
void ap__range_child(void);

#endif
