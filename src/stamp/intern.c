/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "stamp/intern.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "format/hash.h"

typedef struct ap__text {
    uint64_t id;
    size_t length;
    uint32_t uses; /* bit per ap__intern_use */
    char text[];
} ap__text;

typedef struct ap__texts { /* texts of one use, oldest first */
    ap__text **items;
    _Atomic uint32_t count; /* release: the items below it are whole */
    uint32_t room;
} ap__texts;

static pthread_mutex_t ap__dict_lock = PTHREAD_MUTEX_INITIALIZER;
static ap__text **ap__table; /* open addressing by id, at most half full; no categories */
static uint32_t ap__table_size;
static uint32_t ap__table_used;
static size_t ap__name_bytes;
static ap__texts ap__lists[AP_INTERN_USES];

static void ap__enter(sigset_t *saved)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, saved);
    pthread_mutex_lock(&ap__dict_lock);
}

static void ap__leave(const sigset_t *saved)
{
    pthread_mutex_unlock(&ap__dict_lock);
    pthread_sigmask(SIG_SETMASK, saved, NULL);
}

static ap__text **ap__find(uint64_t id)
{
    uint32_t i = (uint32_t)(id ^ (id >> 32)) & (ap__table_size - 1);

    while (ap__table[i] != NULL && ap__table[i]->id != id) {
        i = (i + 1) & (ap__table_size - 1);
    }
    return &ap__table[i];
}

static bool ap__table_grow(void)
{
    uint32_t old_size = ap__table_size;
    ap__text **old = ap__table;
    uint32_t size = old_size == 0 ? 256 : old_size * 2;
    ap__text **table = calloc(size, sizeof(*table));

    if (table == NULL) {
        return false;
    }
    ap__table = table;
    ap__table_size = size;
    for (uint32_t i = 0; i < old_size; i++) {
        if (old[i] != NULL) {
            *ap__find(old[i]->id) = old[i];
        }
    }
    free(old);
    return true;
}

static bool ap__append(ap__intern_use use, ap__text *text)
{
    ap__texts *list = &ap__lists[use];

    uint32_t count = atomic_load_explicit(&list->count, memory_order_relaxed);

    if (count == list->room) {
        uint32_t room = list->room == 0 ? 64 : list->room * 2;
        ap__text **items = realloc(list->items, room * sizeof(*items));

        if (items == NULL) {
            return false;
        }
        list->items = items;
        list->room = room;
    }
    list->items[count] = text;
    atomic_store_explicit(&list->count, count + 1, memory_order_release);
    text->uses |= 1u << use;
    return true;
}

static ap__text *ap__text_new(uint64_t id, const char *text, size_t length)
{
    ap__text *t = malloc(sizeof(*t) + length + 1);

    if (t != NULL) {
        t->id = id;
        t->length = length;
        t->uses = 0;
        memcpy(t->text, text, length);
        t->text[length] = '\0';
    }
    return t;
}

/* Caller holds the lock. */
static bool ap__intern_locked(ap__intern_use use, uint64_t id, const char *text, size_t length,
                              bool *added)
{
    ap__text **slot = NULL;

    if (ap__table_used * 2 >= ap__table_size && !ap__table_grow()) {
        return false;
    }
    slot = ap__find(id);
    if (*slot == NULL) {
        if (use == AP_INTERN_NAME && ap__name_bytes + length > AP_INTERN_NAMES_MAX) {
            return false;
        }
        *slot = ap__text_new(id, text, length);
        if (*slot == NULL) {
            return false;
        }
        ap__table_used++;
        ap__name_bytes += use == AP_INTERN_NAME ? length : 0;
    }
    if (((*slot)->uses & 1u << use) != 0) {
        return true;
    }
    *added = ap__append(use, *slot);
    return *added;
}

bool ap__intern(ap__intern_use use, const char *text, size_t length, uint64_t *id)
{
    sigset_t saved;
    bool added = false;
    bool ok = false;

    *id = ap__hash_id(text, length);
    ap__enter(&saved);
    ok = ap__intern_locked(use, *id, text, length, &added);
    ap__leave(&saved);
    if (added) {
        ap__intern_added(use);
    }
    return ok;
}

const char *ap__intern_text(uint64_t id)
{
    const ap__text *text = NULL;
    sigset_t saved;

    ap__enter(&saved);
    text = ap__table_size != 0 ? *ap__find(id) : NULL;
    ap__leave(&saved);
    return text != NULL ? text->text : NULL;
}

bool ap__intern_category(uint32_t category, const char *text, size_t length)
{
    ap__text *t = ap__text_new(category, text, length);
    sigset_t saved;
    bool ok = false;

    if (t == NULL) {
        return false;
    }
    ap__enter(&saved);
    ok = ap__append(AP_INTERN_CATEGORY, t);
    ap__leave(&saved);
    if (!ok) {
        free(t);
    } else {
        ap__intern_added(AP_INTERN_CATEGORY);
    }
    return ok;
}

bool ap__intern_next(ap__intern_use use, uint32_t *cursor, uint64_t *id, const char **text,
                     size_t *length)
{
    sigset_t saved;
    const ap__text *t = NULL;

    if (*cursor >= atomic_load_explicit(&ap__lists[use].count, memory_order_acquire)) {
        return false;
    }
    ap__enter(&saved); /* the array may be moving */
    t = ap__lists[use].items[(*cursor)++];
    ap__leave(&saved);
    *id = t->id;
    *text = t->text;
    *length = t->length;
    return true;
}

void ap__intern_lock(void)
{
    pthread_mutex_lock(&ap__dict_lock);
}

void ap__intern_unlock(void)
{
    pthread_mutex_unlock(&ap__dict_lock);
}

void ap__intern_child(void)
{
    pthread_mutex_unlock(&ap__dict_lock);
}
