/* SPDX-License-Identifier: Apache-2.0 */
#include "subscribe/op_match.h"

#include <stdlib.h>

#define AP_ENTRIES 65536u /* tasks on their way */
#define AP_BUCKETS 16384u
#define AP_NONE UINT32_MAX
#define AP_FORGET_MS 1000u

typedef struct ap__entry {
    uint32_t key; /* stream << 16 | task */
    uint32_t next; /* in its bucket by age, or free */
    bool launched;
    bool started;
    bool ended;
    bool used;
    uint64_t born_ms;
    ap__op_run run;
} ap__entry;

/* A task of a model that is loaded. */
typedef struct ap__fixed {
    uint32_t key;
    uint32_t next; /* in its bucket */
    ap__op_launch launch;
} ap__fixed;

struct ap__op_match {
    uint32_t buckets[AP_BUCKETS];
    uint32_t free;
    uint64_t missed;
    ap__fixed *fixed;
    uint32_t fixed_count;
    uint32_t fixed_room;
    uint32_t fixed_buckets[AP_BUCKETS];
    ap__entry entries[AP_ENTRIES];
};

static uint32_t *ap__bucket(ap__op_match *m, uint32_t key)
{
    return &m->buckets[(key * 2654435761u) >> 18];
}

_Static_assert(AP_BUCKETS == 1u << (32 - 18), "the hash gives a bucket");

ap__op_match *ap__op_match_new(void)
{
    ap__op_match *m = calloc(1, sizeof(*m));

    if (m != NULL) {
        for (uint32_t i = 0; i < AP_BUCKETS; i++) {
            m->buckets[i] = AP_NONE;
            m->fixed_buckets[i] = AP_NONE;
        }
        for (uint32_t i = 0; i < AP_ENTRIES; i++) {
            m->entries[i].next = i + 1 < AP_ENTRIES ? i + 1 : AP_NONE;
        }
    }
    return m;
}

void ap__op_match_free(ap__op_match *m)
{
    if (m != NULL) {
        free(m->fixed);
    }
    free(m);
}

/* A new entry, the youngest of its key. NULL without room. */
static ap__entry *ap__append(ap__op_match *m, uint32_t key, uint64_t now_ms)
{
    uint32_t *at = ap__bucket(m, key);
    uint32_t index = m->free;

    if (index == AP_NONE) {
        return NULL;
    }
    m->free = m->entries[index].next;
    m->entries[index] = (ap__entry){.key = key, .next = AP_NONE, .used = true, .born_ms = now_ms};
    while (*at != AP_NONE) {
        at = &m->entries[*at].next;
    }
    *at = index;
    return &m->entries[index];
}

static void ap__remove(ap__op_match *m, ap__entry *e)
{
    uint32_t index = (uint32_t)(e - m->entries);
    uint32_t *at = ap__bucket(m, e->key);

    while (*at != index) {
        at = &m->entries[*at].next;
    }
    *at = e->next;
    *e = (ap__entry){.next = m->free};
    m->free = index;
}

/* The oldest entry of the key for which nothing of this kind has come. */
enum ap__news { AP_LAUNCHED, AP_STARTED, AP_ENDED };

static ap__entry *ap__oldest(ap__op_match *m, uint32_t key, enum ap__news news)
{
    for (uint32_t i = *ap__bucket(m, key); i != AP_NONE; i = m->entries[i].next) {
        ap__entry *e = &m->entries[i];
        bool fits = news == AP_LAUNCHED  ? !e->launched
                    : news == AP_STARTED ? !e->started
                                         : e->started && !e->ended;

        if (e->key == key && fits) {
            return e;
        }
    }
    return NULL;
}

/* NULL: none. */
static ap__fixed *ap__fixed_of(ap__op_match *m, uint32_t key)
{
    uint32_t i = m->fixed_buckets[(key * 2654435761u) >> 18];

    while (i != AP_NONE && m->fixed[i].key != key) {
        i = m->fixed[i].next;
    }
    return i != AP_NONE ? &m->fixed[i] : NULL;
}

bool ap__op_match_static(ap__op_match *m, uint16_t stream, uint16_t task,
                         const ap__op_launch *launch)
{
    uint32_t key = (uint32_t)stream << 16 | task;
    ap__fixed *f = ap__fixed_of(m, key);
    uint32_t *bucket = &m->fixed_buckets[(key * 2654435761u) >> 18];

    if (f == NULL && m->fixed_count == m->fixed_room) {
        uint32_t room = m->fixed_room == 0 ? 256 : 2 * m->fixed_room;
        ap__fixed *bigger = realloc(m->fixed, room * sizeof(*bigger));

        if (bigger == NULL) {
            return false;
        }
        m->fixed = bigger;
        m->fixed_room = room;
    }
    if (f == NULL) {
        f = &m->fixed[m->fixed_count];
        *f = (ap__fixed){.key = key, .next = *bucket};
        *bucket = m->fixed_count++;
    }
    f->launch = *launch; /* another model has got the ids */
    return true;
}

static bool ap__complete(ap__op_match *m, ap__entry *e, ap__op_run *run)
{
    if (!e->launched || !e->ended) {
        return false;
    }
    *run = e->run;
    ap__remove(m, e);
    return true;
}

static uint32_t ap__key(uint16_t stream, uint16_t task)
{
    return (uint32_t)stream << 16 | task;
}

bool ap__op_match_launch(ap__op_match *m, uint16_t stream, uint16_t task,
                         const ap__op_launch *launch, uint64_t now_ms, ap__op_run *run)
{
    uint32_t key = ap__key(stream, task);
    ap__entry *e = ap__oldest(m, key, AP_LAUNCHED);

    e = e != NULL ? e : ap__append(m, key, now_ms);
    if (e == NULL) {
        return false;
    }
    e->launched = true;
    e->run.launch = *launch;
    return ap__complete(m, e, run);
}

void ap__op_match_start(ap__op_match *m, uint16_t stream, uint16_t task, uint64_t cycles,
                        uint64_t now_ms)
{
    uint32_t key = ap__key(stream, task);
    ap__entry *e = ap__oldest(m, key, AP_STARTED);

    e = e != NULL ? e : ap__append(m, key, now_ms);
    if (e == NULL) {
        m->missed++;
        return;
    }
    e->started = true;
    e->run.start_cycles = cycles;
}

bool ap__op_match_end(ap__op_match *m, uint16_t stream, uint16_t task, uint64_t cycles,
                      uint64_t now_ms, ap__op_run *run)
{
    ap__entry *e = ap__oldest(m, ap__key(stream, task), AP_ENDED);
    const ap__fixed *fixed = NULL;

    if (e == NULL) {
        return false; /* it began before the subscription, or had no room */
    }
    fixed = e->launched ? NULL : ap__fixed_of(m, e->key);
    if (fixed != NULL) {
        e->launched = true;
        e->run.launch = fixed->launch;
    }
    e->ended = true;
    e->born_ms = now_ms;
    e->run.end_cycles = cycles;
    return ap__complete(m, e, run);
}

void ap__op_match_rename(ap__op_match *m, uint16_t stream, uint16_t task, uint64_t op)
{
    uint32_t key = ap__key(stream, task);
    ap__entry *youngest = NULL;

    for (uint32_t i = *ap__bucket(m, key); i != AP_NONE; i = m->entries[i].next) {
        ap__entry *e = &m->entries[i];

        youngest = e->key == key && e->launched ? e : youngest;
    }
    if (youngest != NULL) {
        youngest->run.launch.op = op;
    }
}

void ap__op_match_age(ap__op_match *m, uint64_t now_ms)
{
    for (uint32_t i = 0; i < AP_ENTRIES; i++) {
        ap__entry *e = &m->entries[i];

        if (e->used && e->ended && now_ms >= e->born_ms + AP_FORGET_MS) {
            ap__remove(m, e);
            m->missed++;
        }
    }
}

uint64_t ap__op_match_missed(const ap__op_match *m, bool at_end)
{
    uint64_t missed = m->missed;

    for (uint32_t i = 0; at_end && i < AP_ENTRIES; i++) {
        const ap__entry *e = &m->entries[i];

        missed += e->used && (!e->launched || e->run.launch.op != 0);
    }
    return missed;
}
