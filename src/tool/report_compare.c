/* SPDX-License-Identifier: Apache-2.0 */
/* Two runs, name by name: what has changed, and whether chance could have done it. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool/report.h"

#define AP_COMPARE_ROWS 2000u /* of a table */

typedef struct ap__side {
    const ap__duration *from;
    uint32_t count;
    uint64_t total;
    ap__moments moments;
} ap__side;

typedef struct ap__pair {
    uint32_t table;
    uint32_t name;
    ap__side sides[2];
    ap__welch welch;
    double q;    /* Welch's p, adjusted for the number of names */
    double rank; /* p */
} ap__pair;

static uint64_t ap__key(const ap__duration *d)
{
    return (uint64_t)d->table << 32 | d->name;
}

static ap__side ap__side_at(const ap__run *run, uint32_t *at, uint64_t key)
{
    ap__side side = {0};
    uint32_t from = *at;

    while (*at < run->duration_count && ap__key(&run->durations[*at]) == key) {
        side.total += run->durations[*at].ns;
        (*at)++;
    }
    side.from = run->durations != NULL ? run->durations + from : NULL;
    side.count = *at - from;
    side.moments = ap__stats_moments(side.from, side.count);
    return side;
}

static int ap__pairs(const ap__run *a, const ap__run *b, ap__pair **pairs, uint32_t *count)
{
    uint32_t i = 0;
    uint32_t j = 0;

    while (i < a->duration_count || j < b->duration_count) {
        uint64_t left = i < a->duration_count ? ap__key(&a->durations[i]) : UINT64_MAX;
        uint64_t right = j < b->duration_count ? ap__key(&b->durations[j]) : UINT64_MAX;
        uint64_t key = left < right ? left : right;
        ap__pair *p = ap__model_push((void **)pairs, count, sizeof(*p));

        if (p == NULL) {
            return ENOMEM;
        }
        *p = (ap__pair){.table = (uint32_t)(key >> 32), .name = (uint32_t)key};
        p->sides[0] = ap__side_at(a, &i, key);
        p->sides[1] = ap__side_at(b, &j, key);
        p->welch = ap__stats_welch(&p->sides[0].moments, &p->sides[1].moments);
        p->rank = ap__stats_rank(p->sides[0].from, p->sides[0].count, p->sides[1].from,
                                 p->sides[1].count);
    }
    return 0;
}

/* A family of tests is a table. */
static bool ap__adjust(ap__pair *pairs, uint32_t count)
{
    double *p = calloc((size_t)count + 1, sizeof(*p));
    bool ok = p != NULL;
    uint32_t from = 0;

    for (uint32_t i = 1; ok && i <= count; i++) {
        if (i < count && pairs[i].table == pairs[from].table) {
            continue;
        }
        for (uint32_t k = from; k < i; k++) {
            p[k] = pairs[k].welch.p;
        }
        ok = ap__stats_adjust(p + from, i - from);
        for (uint32_t k = from; k < i; k++) {
            pairs[k].q = p[k];
        }
        from = i;
    }
    free(p);
    return ok;
}

static double ap__changed(const ap__pair *p)
{
    return fabs((double)p->sides[1].total - (double)p->sides[0].total);
}

static int ap__by_change(const void *a, const void *b)
{
    const ap__pair *x = a;
    const ap__pair *y = b;
    double left = ap__changed(x);
    double right = ap__changed(y);

    if (x->table != y->table) {
        return x->table < y->table ? -1 : 1;
    }
    if (left < right || left > right) {
        return left > right ? -1 : 1;
    }
    return x->name < y->name ? -1 : x->name > y->name;
}

static void ap__number(ap__out *o, double value)
{
    if (isfinite(value)) {
        ap__out_printf(o, ",%.6g", value);
    } else {
        ap__out_text(o, ",null");
    }
}

static void ap__pair_out(ap__out *o, const ap__pair *p, bool first)
{
    ap__out_printf(o, "%s[%" PRIu32, first ? "" : ",", p->name);
    for (int i = 0; i < 2; i++) {
        const ap__side *s = &p->sides[i];

        ap__out_printf(o, ",%" PRIu32 ",%" PRIu64 ",%.1f,%" PRIu64, s->count, s->total,
                       s->moments.mean, s->count != 0 ? s->from[(s->count - 1) / 2].ns : 0);
    }
    ap__number(o, p->welch.low);
    ap__number(o, p->welch.high);
    ap__number(o, p->welch.p);
    ap__number(o, p->q);
    ap__number(o, p->rank);
    ap__out_text(o, "]");
}

int ap__report_compare(ap__out *o, const ap__run *a, const ap__run *b)
{
    static const char *const names[] = {AP_REPORT_TABLE_NAMES};
    ap__pair *pairs = NULL;
    uint32_t count = 0;
    uint32_t at = 0;
    int rc = ap__pairs(a, b, &pairs, &count);

    if (rc == 0 && !ap__adjust(pairs, count)) {
        rc = ENOMEM;
    }
    if (rc == 0 && count != 0) {
        qsort(pairs, count, sizeof(*pairs), ap__by_change);
    }
    ap__out_text(o, "\"compare\":{");
    for (uint32_t table = 0; rc == 0 && table < AP_REPORT_TABLES; table++) {
        uint32_t from = at;

        ap__out_printf(o, "%s\"%s\":[", table != 0 ? "," : "", names[table]);
        for (; at < count && pairs[at].table == table; at++) {
            if (at - from < AP_COMPARE_ROWS) {
                ap__pair_out(o, &pairs[at], at == from);
            }
        }
        ap__out_text(o, "]");
    }
    ap__out_text(o, "}");
    free(pairs);
    return rc;
}
