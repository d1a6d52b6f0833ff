/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "stamp/type_names.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct ap__type {
    uint64_t key; /* level << 32 | type */
    const char *name;
} ap__type;

static pthread_mutex_t ap__lock = PTHREAD_MUTEX_INITIALIZER;
static ap__type *ap__list; /* in the order of registration */
static uint32_t ap__count;
static uint32_t ap__room;
static uint32_t *ap__table; /* open addressing by key: index in the list + 1 of the last name */
static uint32_t ap__table_size;
static _Atomic uint32_t ap__generation;

static void ap__enter(sigset_t *saved)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, saved);
    pthread_mutex_lock(&ap__lock);
}

static void ap__leave(const sigset_t *saved)
{
    pthread_mutex_unlock(&ap__lock);
    pthread_sigmask(SIG_SETMASK, saved, NULL);
}

static uint32_t *ap__place(uint32_t *table, uint32_t size, uint64_t key)
{
    uint32_t i = (uint32_t)(key * 0x9E3779B97F4A7C15ull >> 40) & (size - 1);

    while (table[i] != 0 && ap__list[table[i] - 1].key != key) {
        i = (i + 1) & (size - 1);
    }
    return &table[i];
}

static bool ap__grow(void)
{
    uint32_t room = ap__room != 0 ? ap__room * 2 : 256;
    ap__type *list = realloc(ap__list, room * sizeof(*list));
    uint32_t *table = NULL;

    if (list == NULL) {
        return false;
    }
    ap__list = list;
    table = calloc((size_t)room * 2, sizeof(*table));
    if (table == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < ap__count; i++) {
        *ap__place(table, room * 2, list[i].key) = i + 1;
    }
    free(ap__table);
    ap__table = table;
    ap__table_size = room * 2;
    ap__room = room;
    return true;
}

/* *news: it is not what the type is called already. */
static bool ap__add(uint64_t key, const char *name, bool *news)
{
    uint32_t *place = NULL;
    char *copy = NULL;

    if (ap__count == ap__room && !ap__grow()) {
        return false;
    }
    place = ap__place(ap__table, ap__table_size, key);
    if (*place != 0 && strcmp(ap__list[*place - 1].name, name) == 0) {
        return true;
    }
    copy = strdup(name);
    if (copy == NULL) {
        return false;
    }
    ap__list[ap__count] = (ap__type){key, copy};
    *place = ++ap__count;
    atomic_fetch_add(&ap__generation, 1);
    *news = true;
    return true;
}

bool ap__type_register(uint16_t level, uint32_t type, const char *name)
{
    sigset_t saved;
    bool news = false;
    bool ok = false;

    ap__enter(&saved);
    ok = ap__add((uint64_t)level << 32 | type, name, &news);
    ap__leave(&saved);
    if (news) {
        ap__type_added();
    }
    return ok;
}

const char *ap__type_name(uint16_t level, uint32_t type)
{
    const char *name = NULL;
    sigset_t saved;

    ap__enter(&saved);
    if (ap__table_size != 0) {
        uint32_t at = *ap__place(ap__table, ap__table_size, (uint64_t)level << 32 | type);

        name = at != 0 ? ap__list[at - 1].name : NULL;
    }
    ap__leave(&saved);
    return name;
}

uint32_t ap__type_generation(void)
{
    return atomic_load_explicit(&ap__generation, memory_order_acquire);
}

bool ap__type_next(uint32_t *cursor, uint16_t *level, uint32_t *type, const char **name)
{
    sigset_t saved;
    bool there = false;

    ap__enter(&saved);
    there = *cursor < ap__count;
    if (there) {
        const ap__type *t = &ap__list[(*cursor)++];

        *level = (uint16_t)(t->key >> 32);
        *type = (uint32_t)t->key;
        *name = t->name;
    }
    ap__leave(&saved);
    return there;
}

void ap__types_lock(void)
{
    pthread_mutex_lock(&ap__lock);
}

void ap__types_unlock(void)
{
    pthread_mutex_unlock(&ap__lock);
}

void ap__types_child(void)
{
    pthread_mutex_unlock(&ap__lock);
}
