/* SPDX-License-Identifier: Apache-2.0 */
#include "session/registry.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "session/fork.h"

/* Handle: tag (16 bits), generation (28), slot (20). With this tag it is no address on any machine
 * that we build for: who dereferences one faults. The generation is odd while the slot is in use
 * and even otherwise; a slot whose generations are used up is not used again. */
#define AP_TAG 0x5AC1u
#define AP_SLOT_BITS 20u
#define AP_GENERATION_BITS 28u
#define AP_MAX_SLOTS (1u << AP_SLOT_BITS)
#define AP_LAST_GENERATION ((1u << AP_GENERATION_BITS) - 2u)
#define AP_FIRST_SLOTS 16u
#define AP_NO_SLOT UINT32_MAX

_Static_assert(sizeof(uintptr_t) == 8, "handles need 64-bit pointers");

typedef struct ap__slot {
    uint32_t generation;
    uint32_t next_free;
    ap__config *config; /* NULL when not in use */
} ap__slot;

static pthread_mutex_t ap__lock = PTHREAD_MUTEX_INITIALIZER;
static ap__slot *ap__slots;
static uint32_t ap__slot_count;
static uint32_t ap__slot_room;
static uint32_t ap__free = AP_NO_SLOT;

static aclprofConfig *ap__handle(uint32_t slot, uint32_t generation)
{
    return (aclprofConfig *)((uintptr_t)AP_TAG << 48 | (uintptr_t)generation << AP_SLOT_BITS |
                             slot);
}

/* The slot a handle names, whatever its generation; NULL when it was never made here. */
static ap__slot *ap__named(const aclprofConfig *handle, uint32_t *generation)
{
    uintptr_t bits = (uintptr_t)handle;
    uint32_t slot = (uint32_t)bits & (AP_MAX_SLOTS - 1u);

    *generation = (uint32_t)(bits >> AP_SLOT_BITS) & ((1u << AP_GENERATION_BITS) - 1u);
    if (bits >> 48 != AP_TAG || slot >= ap__slot_count || (*generation & 1u) == 0 ||
        *generation > ap__slots[slot].generation) {
        return NULL;
    }
    return &ap__slots[slot];
}

static ap__slot *ap__live(const aclprofConfig *handle)
{
    uint32_t generation = 0;
    ap__slot *slot = ap__named(handle, &generation);

    return slot != NULL && slot->generation == generation ? slot : NULL;
}

/* A slot that is not in use, taken off the free list; AP_NO_SLOT when there is no memory. */
static uint32_t ap__take_slot(void)
{
    uint32_t taken = ap__free;

    if (taken != AP_NO_SLOT) {
        ap__free = ap__slots[taken].next_free;
        return taken;
    }
    if (ap__slot_count == ap__slot_room) {
        uint32_t room = ap__slot_room != 0 ? ap__slot_room * 2 : AP_FIRST_SLOTS;
        ap__slot *slots = room <= AP_MAX_SLOTS ? realloc(ap__slots, room * sizeof(*slots)) : NULL;

        if (slots == NULL) {
            return AP_NO_SLOT;
        }
        ap__slots = slots;
        ap__slot_room = room;
    }
    ap__slots[ap__slot_count] = (ap__slot){0, AP_NO_SLOT, NULL};
    return ap__slot_count++;
}

bool ap__registry_is_handle(const void *value)
{
    return (uintptr_t)value >> 48 == AP_TAG;
}

aclprofConfig *ap__registry_add(const ap__config *config)
{
    ap__config *copy = malloc(sizeof(*copy));
    aclprofConfig *handle = NULL;
    uint32_t taken = AP_NO_SLOT;

    if (copy == NULL) {
        return NULL;
    }
    *copy = *config;
    (void)ap__fork_install(); /* before the first lock that a fork could catch */
    pthread_mutex_lock(&ap__lock);
    taken = ap__take_slot();
    if (taken != AP_NO_SLOT) {
        ap__slot *slot = &ap__slots[taken];

        slot->generation++;
        slot->config = copy;
        handle = ap__handle(taken, slot->generation);
        copy = NULL;
    }
    pthread_mutex_unlock(&ap__lock);
    free(copy);
    return handle;
}

bool ap__registry_get(const aclprofConfig *handle, ap__config *out)
{
    ap__slot *slot = NULL;

    pthread_mutex_lock(&ap__lock);
    slot = ap__live(handle);
    if (slot != NULL) {
        *out = *slot->config;
    }
    pthread_mutex_unlock(&ap__lock);
    return slot != NULL;
}

bool ap__registry_remove(const aclprofConfig *handle)
{
    ap__config *config = NULL;
    ap__slot *slot = NULL;

    pthread_mutex_lock(&ap__lock);
    slot = ap__live(handle);
    if (slot != NULL) {
        config = slot->config;
        slot->config = NULL;
        slot->generation++;
        if (slot->generation <= AP_LAST_GENERATION) {
            slot->next_free = ap__free;
            ap__free = (uint32_t)(slot - ap__slots);
        }
    }
    pthread_mutex_unlock(&ap__lock);
    free(config);
    return slot != NULL;
}

bool ap__registry_was_destroyed(const aclprofConfig *handle)
{
    uint32_t generation = 0;
    ap__slot *slot = NULL;
    bool destroyed = false;

    pthread_mutex_lock(&ap__lock);
    slot = ap__named(handle, &generation);
    destroyed = slot != NULL && slot->generation != generation;
    pthread_mutex_unlock(&ap__lock);
    return destroyed;
}

void ap__registry_prefork(void)
{
    pthread_mutex_lock(&ap__lock);
}

void ap__registry_postfork(void)
{
    pthread_mutex_unlock(&ap__lock);
}
