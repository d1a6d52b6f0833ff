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

typedef struct ap__type_set {
    ap__type *list; /* in the order of registration */
    uint32_t count;
    uint32_t room;
    uint32_t *table; /* open addressing by key: index in the list + 1 of the last name */
    uint32_t table_size;
} ap__type_set;

static pthread_mutex_t ap__lock = PTHREAD_MUTEX_INITIALIZER;
static ap__type_set ap__names;
static ap__type_set ap__formats;
static _Atomic uint32_t ap__generation; /* of names */

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

static uint32_t *ap__place(const ap__type_set *s, uint32_t *table, uint32_t size, uint64_t key)
{
    uint32_t i = (uint32_t)(key * 0x9E3779B97F4A7C15ull >> 40) & (size - 1);

    while (table[i] != 0 && s->list[table[i] - 1].key != key) {
        i = (i + 1) & (size - 1);
    }
    return &table[i];
}

static bool ap__grow(ap__type_set *s)
{
    uint32_t room = s->room != 0 ? s->room * 2 : 256;
    ap__type *list = realloc(s->list, room * sizeof(*list));
    uint32_t *table = NULL;

    if (list == NULL) {
        return false;
    }
    s->list = list;
    table = calloc((size_t)room * 2, sizeof(*table));
    if (table == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        *ap__place(s, table, room * 2, list[i].key) = i + 1;
    }
    free(s->table);
    s->table = table;
    s->table_size = room * 2;
    s->room = room;
    return true;
}

/* *news: it is not what the type is called already. */
static bool ap__add(ap__type_set *s, uint64_t key, const char *name, bool *news)
{
    uint32_t *place = NULL;
    char *copy = NULL;

    if (s->count == s->room && !ap__grow(s)) {
        return false;
    }
    place = ap__place(s, s->table, s->table_size, key);
    if (*place != 0 && strcmp(s->list[*place - 1].name, name) == 0) {
        return true;
    }
    copy = strdup(name);
    if (copy == NULL) {
        return false;
    }
    s->list[s->count] = (ap__type){key, copy};
    *place = ++s->count;
    *news = true;
    return true;
}

static bool ap__register(ap__type_set *s, uint16_t level, uint32_t type, const char *text)
{
    sigset_t saved;
    bool news = false;
    bool ok = false;

    ap__enter(&saved);
    ok = ap__add(s, (uint64_t)level << 32 | type, text, &news);
    if (news && s == &ap__names) {
        atomic_fetch_add(&ap__generation, 1);
    }
    ap__leave(&saved);
    if (news) {
        ap__type_added();
    }
    return ok;
}

bool ap__type_register(uint16_t level, uint32_t type, const char *name)
{
    return ap__register(&ap__names, level, type, name);
}

bool ap__format_register(uint16_t level, uint32_t type, const char *json)
{
    return ap__register(&ap__formats, level, type, json);
}

static const char *ap__text_of(const ap__type_set *s, uint16_t level, uint32_t type)
{
    const char *text = NULL;
    sigset_t saved;

    ap__enter(&saved);
    if (s->table_size != 0) {
        uint32_t at = *ap__place(s, s->table, s->table_size, (uint64_t)level << 32 | type);

        text = at != 0 ? s->list[at - 1].name : NULL;
    }
    ap__leave(&saved);
    return text;
}

const char *ap__type_name(uint16_t level, uint32_t type)
{
    return ap__text_of(&ap__names, level, type);
}

uint32_t ap__type_generation(void)
{
    return atomic_load_explicit(&ap__generation, memory_order_acquire);
}

static bool ap__next(const ap__type_set *s, uint32_t *cursor, uint16_t *level, uint32_t *type,
                     const char **text)
{
    sigset_t saved;
    bool there = false;

    ap__enter(&saved);
    there = *cursor < s->count;
    if (there) {
        const ap__type *t = &s->list[(*cursor)++];

        *level = (uint16_t)(t->key >> 32);
        *type = (uint32_t)t->key;
        *text = t->name;
    }
    ap__leave(&saved);
    return there;
}

bool ap__type_next(uint32_t *cursor, uint16_t *level, uint32_t *type, const char **name)
{
    return ap__next(&ap__names, cursor, level, type, name);
}

bool ap__format_next(uint32_t *cursor, uint16_t *level, uint32_t *type, const char **json)
{
    return ap__next(&ap__formats, cursor, level, type, json);
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
