/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "stamp/mstx_ranges.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define AP_SHARDS 32u
#define AP_HEADS 256u /* lists in a shard */
#define AP_SLAB 128u  /* ranges that are mapped at once */
#define AP_LAST_NUMBER 0x7FFFFFFFu

/* Mapped, not malloc'ed: a handler may have interrupted malloc. */
typedef struct ap__shard {
    pthread_mutex_t lock;
    ap__mstx_range *spare;
    ap__mstx_range *heads[AP_HEADS];
} ap__shard;

static ap__shard ap__shards[AP_SHARDS] = {
    [0 ... AP_SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
static __thread bool ap__inside __attribute__((tls_model("initial-exec")));

static ap__shard *ap__shard_of(uint64_t id)
{
    return &ap__shards[(id >> 32) % AP_SHARDS];
}

static ap__mstx_range **ap__head_of(ap__shard *shard, uint64_t id)
{
    return &shard->heads[(id >> 32) / AP_SHARDS % AP_HEADS];
}

/* false: this thread is in it already. */
static bool ap__enter(ap__shard *shard)
{
    if (ap__inside) {
        return false;
    }
    ap__inside = true;
    atomic_signal_fence(memory_order_seq_cst);
    pthread_mutex_lock(&shard->lock);
    return true;
}

static void ap__leave(ap__shard *shard)
{
    pthread_mutex_unlock(&shard->lock);
    atomic_signal_fence(memory_order_seq_cst);
    ap__inside = false;
}

/* Of the shard's spare ones; with the lock. */
static ap__mstx_range *ap__spare(ap__shard *shard)
{
    ap__mstx_range *range = shard->spare;

    if (range == NULL) {
        range = mmap(NULL, AP_SLAB * sizeof(*range), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (range == MAP_FAILED) {
            return NULL;
        }
        for (uint32_t i = 0; i + 1 < AP_SLAB; i++) {
            range[i].next = &range[i + 1];
        }
    }
    shard->spare = range->next;
    return range;
}

static ap__mstx_range *ap__find(ap__shard *shard, uint64_t id)
{
    ap__mstx_range *range = *ap__head_of(shard, id);

    while (range != NULL && range->id != id) {
        range = range->next;
    }
    return range;
}

static uint64_t ap__next_id(void)
{
    static _Atomic uint32_t last;
    uint32_t number = 0;

    do {
        number = (atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1) & AP_LAST_NUMBER;
    } while (number == 0);
    return (uint64_t)number << 32;
}

uint64_t ap__mstx_range_open(const ap__mstx_range *model, const char *text, size_t length)
{
    uint64_t id = 0;
    ap__shard *shard = NULL;
    ap__mstx_range *range = NULL;
    char *copy = length > AP_MSTX_TEXT ? malloc(length) : NULL;

    if (length > AP_MSTX_TEXT && copy == NULL) {
        return 0;
    }
    do { /* after 2^31 ranges: not the number of one that is still open */
        id = ap__next_id();
        shard = ap__shard_of(id);
        if (!ap__enter(shard)) {
            free(copy);
            return 0;
        }
        if (ap__find(shard, id) == NULL) {
            range = ap__spare(shard);
            break;
        }
        ap__leave(shard);
    } while (true);
    if (range != NULL) {
        *range = *model;
        range->id = id;
        range->text = copy != NULL ? copy : range->room;
        range->length = length;
        memcpy(range->text, text, length);
        range->next = *ap__head_of(shard, id);
        *ap__head_of(shard, id) = range;
    }
    ap__leave(shard);
    if (range == NULL) {
        free(copy);
        return 0;
    }
    return id;
}

ap__mstx_range *ap__mstx_range_take(uint64_t id, uint64_t domain)
{
    ap__shard *shard = ap__shard_of(id);
    ap__mstx_range **at = NULL;
    ap__mstx_range *range = NULL;

    if (!ap__enter(shard)) {
        return NULL;
    }
    at = ap__head_of(shard, id);
    while (*at != NULL && ((*at)->id != id || (*at)->domain != domain)) {
        at = &(*at)->next;
    }
    range = *at;
    if (range != NULL) {
        *at = range->next;
    }
    ap__leave(shard);
    return range;
}

void ap__mstx_range_free(ap__mstx_range *range)
{
    ap__shard *shard = ap__shard_of(range->id);

    if (range->text != range->room) {
        free(range->text);
    }
    if (ap__enter(shard)) { /* else it is not used again */
        range->next = shard->spare;
        shard->spare = range;
        ap__leave(shard);
    }
}

uint64_t ap__mstx_ranges_void(uint64_t key)
{
    uint64_t voided = 0;

    for (uint32_t i = 0; i < AP_SHARDS; i++) {
        ap__shard *shard = &ap__shards[i];

        if (!ap__enter(shard)) {
            break;
        }
        for (uint32_t h = 0; h < AP_HEADS; h++) {
            ap__mstx_range **at = &shard->heads[h];

            while (*at != NULL) {
                ap__mstx_range *range = *at;

                if (range->key != key) {
                    at = &range->next;
                    continue;
                }
                *at = range->next;
                if (range->text != range->room) {
                    free(range->text);
                }
                range->next = shard->spare;
                shard->spare = range;
                voided++;
            }
        }
        ap__leave(shard);
    }
    return voided;
}

/* Another thread of the parent may have been in the middle of a list: all are left behind. */
void ap__mstx_ranges_child(void)
{
    for (uint32_t i = 0; i < AP_SHARDS; i++) {
        (void)pthread_mutex_init(&ap__shards[i].lock, NULL);
        ap__shards[i].spare = NULL;
        memset(ap__shards[i].heads, 0, sizeof(ap__shards[i].heads));
    }
}
