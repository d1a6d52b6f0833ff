/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stats.h"

#include <errno.h>
#include <string.h>

#include "analysis/bulk.h"

static uint32_t ap__slot(const uint64_t key[3], uint32_t slots)
{
    uint64_t h = key[0];

    h = (h ^ h >> 29) * 0x9E3779B97F4A7C15ull + key[1];
    h = (h ^ h >> 31) * 0xBF58476D1CE4E5B9ull + key[2];
    h = (h ^ h >> 30) * 0x94D049BB133111EBull;
    return (uint32_t)(h >> 32) & (slots - 1);
}

static uint32_t *ap__place(const ap__stats *s, const uint64_t key[3])
{
    uint32_t at = ap__slot(key, s->slot_count);

    while (s->slots[at] != 0 && memcmp(s->list[s->slots[at] - 1].key, key, 3 * sizeof(*key)) != 0) {
        at = (at + 1) & (s->slot_count - 1);
    }
    return &s->slots[at];
}

static int ap__more_slots(ap__stats *s)
{
    uint32_t more = s->slot_count == 0 ? 1024 : s->slot_count * 2;
    uint32_t *slots = more <= 1u << 30 ? ap__bulk_make(more, sizeof(*slots)) : NULL;

    if (slots == NULL) {
        return ENOMEM;
    }
    ap__bulk_free(s->slots);
    s->slots = slots;
    s->slot_count = more;
    for (uint32_t i = 0; i < s->count; i++) {
        *ap__place(s, s->list[i].key) = i + 1;
    }
    return 0;
}

static void ap__more(ap__stat *t, uint64_t ns)
{
    double away = (double)ns - t->mean_ns;

    t->count++;
    t->total_ns += ns;
    t->min_ns = ns < t->min_ns ? ns : t->min_ns;
    t->max_ns = ns > t->max_ns ? ns : t->max_ns;
    t->mean_ns += away / (double)t->count; /* Welford */
    t->squares += away * ((double)ns - t->mean_ns);
}

int ap__stats_add(ap__stats *s, const uint64_t key[3], uint64_t ns)
{
    uint32_t *place = NULL;
    ap__stat *t = NULL;

    if (s->count >= s->slot_count / 2 && ap__more_slots(s) != 0) {
        return ENOMEM;
    }
    place = ap__place(s, key);
    if (*place == 0) {
        t = ap__bulk_push((void **)&s->list, &s->count, sizeof(*t));
        if (t == NULL) {
            return ENOMEM;
        }
        *t = (ap__stat){.key = {key[0], key[1], key[2]}, .min_ns = UINT64_MAX};
        *place = s->count;
    }
    ap__more(&s->list[*place - 1], ns);
    return 0;
}

void ap__stat_merge(ap__stat *into, const ap__stat *from)
{
    double a = (double)into->count;
    double b = (double)from->count;
    double away = from->mean_ns - into->mean_ns;

    into->squares += from->squares + away * away * a * b / (a + b);
    into->mean_ns += away * b / (a + b);
    into->count += from->count;
    into->total_ns += from->total_ns;
    into->min_ns = from->min_ns < into->min_ns ? from->min_ns : into->min_ns;
    into->max_ns = from->max_ns > into->max_ns ? from->max_ns : into->max_ns;
}

void ap__stats_free(ap__stats *s)
{
    ap__bulk_free(s->list);
    ap__bulk_free(s->slots);
    memset(s, 0, sizeof(*s));
}
