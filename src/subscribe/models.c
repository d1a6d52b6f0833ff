/* SPDX-License-Identifier: Apache-2.0 */
/* Which model is loaded on which device, as the graph engine tells. */
#include <stdlib.h>

#include "subscribe/internal.h"

typedef struct ap__model_place {
    uint32_t model;
    uint32_t device;
} ap__model_place;

static ap__model_place *ap__places;
static uint32_t ap__count;
static uint32_t ap__room;

static ap__model_place *ap__find(uint32_t model)
{
    for (uint32_t i = 0; i < ap__count; i++) {
        if (ap__places[i].model == model) {
            return &ap__places[i];
        }
    }
    return NULL;
}

static bool ap__add(uint32_t model, uint32_t device)
{
    if (ap__count == ap__room) {
        uint32_t room = ap__room == 0 ? 16 : ap__room * 2;
        ap__model_place *places = realloc(ap__places, room * sizeof(*places));

        if (places == NULL) {
            return false;
        }
        ap__places = places;
        ap__room = room;
    }
    ap__places[ap__count++] = (ap__model_place){model, device};
    return true;
}

bool ap__subscribe_bind(uint32_t model, uint32_t device)
{
    ap__model_place *place = NULL;
    bool done = true;

    ap__subscribe_lock();
    place = ap__find(model);
    if (place != NULL) {
        place->device = device;
    } else {
        done = ap__add(model, device);
    }
    ap__subscribe_unlock();
    return done;
}

bool ap__subscribe_unbind(uint32_t model)
{
    ap__model_place *place = NULL;

    ap__subscribe_lock();
    place = ap__find(model);
    if (place != NULL) {
        *place = ap__places[--ap__count];
    }
    ap__subscribe_unlock();
    return place != NULL;
}

int32_t ap__subscribe_device(uint32_t model)
{
    const ap__model_place *place = ap__find(model);

    return place != NULL ? (int32_t)place->device : -1;
}
