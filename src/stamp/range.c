/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "stamp/range.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#define AP_MID_BITS 13u                              /* blocks under one directory page */
#define AP_TOP_COUNT (1u << (32 - 7 - AP_MID_BITS))  /* 2^32 ids / 128 / 2^13 */
#define AP_RECYCLE_LOOKS 8u

typedef struct ap__range_block {
    struct ap__range_block *next; /* in the list of used-up blocks */
    uint32_t first_id;
    ap__range ranges[AP_RANGE_BLOCK];
} ap__range_block;

typedef struct ap__range_page {
    _Atomic(ap__range_block *) blocks[1u << AP_MID_BITS];
    uint32_t live; /* blocks that are not NULL */
    struct ap__range_page *next_spare;
} ap__range_page;

static _Atomic(ap__range_page *) ap__pages[AP_TOP_COUNT];

static pthread_mutex_t ap__block_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t ap__block_number;      /* the next one to hand out */
static ap__range_block *ap__used_head; /* every block but those being filled, oldest first */
static ap__range_block *ap__used_tail;
static ap__range_page *ap__spare_pages; /* empty, may still be read by a late claim: all NULL */
static ap__range_block *ap__spare_block;

static void ap__enter(sigset_t *saved)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, saved);
    pthread_mutex_lock(&ap__block_lock);
}

static void ap__leave(const sigset_t *saved)
{
    pthread_mutex_unlock(&ap__block_lock);
    pthread_sigmask(SIG_SETMASK, saved, NULL);
}

static void *ap__map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static _Atomic(ap__range_page *) *ap__page_of(uint32_t number)
{
    return &ap__pages[number >> AP_MID_BITS];
}

static ap__range_block *ap__dir_get(uint32_t number)
{
    ap__range_page *page = atomic_load_explicit(ap__page_of(number), memory_order_acquire);

    return page == NULL ? NULL
                        : atomic_load_explicit(&page->blocks[number & ((1u << AP_MID_BITS) - 1)],
                                               memory_order_acquire);
}

static bool ap__dir_put(uint32_t number, ap__range_block *block)
{
    ap__range_page *page = atomic_load_explicit(ap__page_of(number), memory_order_relaxed);

    if (page == NULL) {
        page = ap__spare_pages;
        if (page != NULL) {
            ap__spare_pages = page->next_spare;
        } else {
            page = ap__map(sizeof(*page));
        }
        if (page == NULL) {
            return false;
        }
        atomic_store_explicit(ap__page_of(number), page, memory_order_release);
    }
    page->live++;
    atomic_store_explicit(&page->blocks[number & ((1u << AP_MID_BITS) - 1)], block,
                          memory_order_release);
    return true;
}

static void ap__dir_remove(uint32_t number)
{
    ap__range_page *page = atomic_load_explicit(ap__page_of(number), memory_order_relaxed);

    atomic_store_explicit(&page->blocks[number & ((1u << AP_MID_BITS) - 1)], NULL,
                          memory_order_release);
    if (--page->live == 0 && number >> AP_MID_BITS != ap__block_number >> AP_MID_BITS) {
        atomic_store_explicit(ap__page_of(number), NULL, memory_order_release);
        page->next_spare = ap__spare_pages;
        ap__spare_pages = page;
    }
}

static bool ap__block_is_over(const ap__range_block *block)
{
    for (uint32_t i = 0; i < AP_RANGE_BLOCK; i++) {
        uint64_t tag = atomic_load_explicit(&block->ranges[i].tag, memory_order_acquire);

        if ((tag & 3) == AP_RANGE_OPEN || (tag & 3) == AP_RANGE_STOPPING) {
            return false;
        }
    }
    return true;
}

static void ap__used_append(ap__range_block *block)
{
    block->next = NULL;
    if (ap__used_tail != NULL) {
        ap__used_tail->next = block;
    } else {
        ap__used_head = block;
    }
    ap__used_tail = block;
}

static ap__range_block *ap__used_pop(void)
{
    ap__range_block *block = ap__used_head;

    if (block != NULL) {
        ap__used_head = block->next;
        if (ap__used_head == NULL) {
            ap__used_tail = NULL;
        }
    }
    return block;
}

/* A block whose ranges are all over, out of the directory; NULL when a few looks find none. */
static ap__range_block *ap__recycle(void)
{
    for (uint32_t i = 0; i < AP_RECYCLE_LOOKS; i++) {
        ap__range_block *block = ap__used_pop();

        if (block == NULL) {
            return NULL;
        }
        if (ap__block_is_over(block)) {
            ap__dir_remove(block->first_id / AP_RANGE_BLOCK);
            return block;
        }
        ap__used_append(block);
    }
    return NULL;
}

/* Caller holds the lock. */
static ap__range_block *ap__block_new(void)
{
    ap__range_block *block = ap__spare_block;
    uint32_t number = 0;

    ap__spare_block = NULL;
    if (block == NULL) {
        block = ap__recycle();
    }
    if (block == NULL) {
        block = ap__map(sizeof(*block));
    }
    if (block == NULL) {
        return NULL;
    }
    do { /* after 2^32 ids: pass over numbers whose ranges are still open */
        number = ap__block_number;
        ap__block_number = (ap__block_number + 1) & (UINT32_MAX / AP_RANGE_BLOCK);
    } while (ap__dir_get(number) != NULL);
    block->first_id = number * AP_RANGE_BLOCK;
    if (!ap__dir_put(number, block)) {
        ap__spare_block = block;
        return NULL;
    }
    return block;
}

static bool ap__take_block(ap__thread *thread)
{
    int saved_errno = errno;
    sigset_t saved;

    ap__enter(&saved);
    if (thread->block != NULL) {
        ap__used_append(thread->block);
    }
    thread->block = ap__block_new();
    ap__leave(&saved);
    errno = saved_errno;
    thread->range_left = 0;
    if (thread->block != NULL) {
        uint32_t skip = thread->block->first_id == 0 ? 1 : 0; /* 0 is no id */

        thread->range_at = thread->block->ranges + skip;
        thread->range_id = thread->block->first_id + skip;
        thread->range_left = AP_RANGE_BLOCK - skip;
    }
    return thread->range_left != 0;
}

ap__range *ap__range_next(ap__thread *thread, uint32_t *id)
{
    if (!ap__range_at_hand(thread) && !ap__take_block(thread)) {
        return NULL;
    }
    return ap__range_take(thread, id);
}

static ap__range *ap__range_claim_any(uint32_t id)
{
    ap__range_block *block = ap__dir_get(id / AP_RANGE_BLOCK);
    uint64_t open = (uint64_t)id << 2 | AP_RANGE_OPEN;
    ap__range *range = NULL;

    if (block == NULL) {
        return NULL;
    }
    range = &block->ranges[id % AP_RANGE_BLOCK];
    if (!atomic_compare_exchange_strong_explicit(&range->tag, &open,
                                                 (uint64_t)id << 2 | AP_RANGE_STOPPING,
                                                 memory_order_acquire, memory_order_relaxed)) {
        return NULL;
    }
    return range;
}

ap__range *ap__range_claim(uint32_t id, uint64_t key)
{
    ap__range *range = ap__range_claim_any(id);

    if (range != NULL && range->key != (uint32_t)key) {
        ap__range_close(range, id);
        return NULL;
    }
    return range;
}

uint64_t ap__range_void(uint64_t key)
{
    uint64_t voided = 0;
    sigset_t saved;

    ap__enter(&saved);
    for (uint32_t t = 0; t < AP_TOP_COUNT; t++) {
        ap__range_page *page = atomic_load_explicit(&ap__pages[t], memory_order_acquire);

        for (uint32_t b = 0; page != NULL && b < 1u << AP_MID_BITS; b++) {
            ap__range_block *block = atomic_load_explicit(&page->blocks[b], memory_order_acquire);

            for (uint32_t i = 0; block != NULL && i < AP_RANGE_BLOCK; i++) {
                uint32_t id = block->first_id + i;
                ap__range *range = ap__range_claim_any(id);

                if (range == NULL) {
                    continue;
                }
                voided += range->key == (uint32_t)key;
                ap__range_close(range, id);
            }
        }
    }
    ap__leave(&saved);
    return voided;
}

void ap__range_release(ap__thread *thread)
{
    sigset_t saved;

    if (thread->block != NULL) {
        ap__enter(&saved);
        ap__used_append(thread->block);
        ap__leave(&saved);
        thread->block = NULL;
        thread->range_left = 0;
    }
}

void ap__range_lock(void)
{
    pthread_mutex_lock(&ap__block_lock);
}

void ap__range_unlock(void)
{
    pthread_mutex_unlock(&ap__block_lock);
}

void ap__range_child(void)
{
    pthread_mutex_unlock(&ap__block_lock);
}
