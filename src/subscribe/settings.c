/* SPDX-License-Identifier: Apache-2.0 */
/* Handles of subscription settings: tag, generation and slot, as those of session/registry.c. */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "subscribe/internal.h"

#define AP_TAG 0x5AC2u
#define AP_SLOT_BITS 20u
#define AP_LAST_GENERATION ((1u << 28) - 2u)

typedef struct ap__slot {
    uint32_t generation; /* odd: in use */
    ap__subscribe_settings settings;
} ap__slot;

static ap__slot *ap__slots;
static uint32_t ap__count;

/* Under the lock. */
static ap__slot *ap__live(const aclprofSubscribeConfig *handle)
{
    uintptr_t bits = (uintptr_t)handle;
    uint32_t slot = (uint32_t)bits & ((1u << AP_SLOT_BITS) - 1u);
    uint32_t generation = (uint32_t)(bits >> AP_SLOT_BITS) & ((1u << 28) - 1u);

    return bits >> 48 == AP_TAG && slot < ap__count && (generation & 1u) != 0 &&
                   ap__slots[slot].generation == generation
               ? &ap__slots[slot]
               : NULL;
}

static ap__slot *ap__take(void)
{
    ap__slot *slots = NULL;

    for (uint32_t i = 0; i < ap__count; i++) {
        if ((ap__slots[i].generation & 1u) == 0 && ap__slots[i].generation < AP_LAST_GENERATION) {
            return &ap__slots[i];
        }
    }
    slots = ap__count < 1u << AP_SLOT_BITS ? realloc(ap__slots, (ap__count + 1) * sizeof(*slots))
                                           : NULL;
    if (slots == NULL) {
        return NULL;
    }
    ap__slots = slots;
    ap__slots[ap__count] = (ap__slot){0};
    return &ap__slots[ap__count++];
}

bool ap__subscribe_config_is_handle(const void *value)
{
    return (uintptr_t)value >> 48 == AP_TAG;
}

aclprofSubscribeConfig *ap__subscribe_config_add(const ap__subscribe_settings *settings)
{
    uintptr_t bits = 0;
    ap__slot *slot = NULL;

    ap__subscribe_lock();
    slot = ap__take();
    if (slot != NULL) {
        slot->generation++;
        slot->settings = *settings;
        bits = (uintptr_t)AP_TAG << 48 | (uintptr_t)slot->generation << AP_SLOT_BITS |
               (uintptr_t)(slot - ap__slots);
    }
    ap__subscribe_unlock();
    return (aclprofSubscribeConfig *)bits;
}

bool ap__subscribe_config_get(const aclprofSubscribeConfig *handle, ap__subscribe_settings *out)
{
    const ap__slot *slot = NULL;

    ap__subscribe_lock();
    slot = ap__live(handle);
    if (slot != NULL) {
        *out = slot->settings;
    }
    ap__subscribe_unlock();
    return slot != NULL;
}

bool ap__subscribe_config_remove(const aclprofSubscribeConfig *handle)
{
    ap__slot *slot = NULL;

    ap__subscribe_lock();
    slot = ap__live(handle);
    if (slot != NULL) {
        slot->generation++;
    }
    ap__subscribe_unlock();
    return slot != NULL;
}
