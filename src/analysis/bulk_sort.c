/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting by runs that fit in memory and one merge of all of them. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bulk.h"

#define AP_RUN_BYTES ((size_t)16 << 20) /* qsort takes as much again */

typedef int (*ap__compare_fn)(const void *, const void *);

typedef struct ap__run {
    const char *at;
    const char *end;
} ap__run;

typedef struct ap__merge {
    ap__run *runs;
    uint32_t *heap; /* of runs, the least element's first */
    uint32_t count;
    ap__compare_fn compare;
} ap__merge;

/* Equal elements: the earlier run's first. */
static bool ap__before(const ap__merge *m, uint32_t a, uint32_t b)
{
    int order = m->compare(m->runs[a].at, m->runs[b].at);

    return order != 0 ? order < 0 : a < b;
}

static void ap__sink(ap__merge *m, uint32_t at)
{
    for (;;) {
        uint32_t child = at * 2 + 1;
        uint32_t held = m->heap[at];

        if (child >= m->count) {
            return;
        }
        if (child + 1 < m->count && ap__before(m, m->heap[child + 1], m->heap[child])) {
            child++;
        }
        if (!ap__before(m, m->heap[child], held)) {
            return;
        }
        m->heap[at] = m->heap[child];
        m->heap[child] = held;
        at = child;
    }
}

static void ap__merge_into(ap__merge *m, char *out, size_t element)
{
    for (uint32_t i = m->count; i-- > 0;) {
        ap__sink(m, i);
    }
    while (m->count != 0) {
        ap__run *run = &m->runs[m->heap[0]];

        ap__bulk_step();
        memcpy(out, run->at, element);
        out += element;
        run->at += element;
        if (run->at == run->end) {
            m->heap[0] = m->heap[--m->count];
        }
        ap__sink(m, 0);
    }
}

static bool ap__in_order(const char *at, uint32_t count, size_t element, ap__compare_fn compare)
{
    for (uint32_t i = 1; i < count; i++) {
        ap__bulk_step();
        if (compare(at + (size_t)(i - 1) * element, at + (size_t)i * element) > 0) {
            return false;
        }
    }
    return true;
}

int ap__bulk_sort(void **array, uint32_t count, size_t element, ap__compare_fn compare)
{
    uint32_t run = (uint32_t)(AP_RUN_BYTES / element);
    uint32_t runs = count / run + (count % run != 0);
    ap__merge m = {.compare = compare};
    char *from = *array;
    char *out = NULL;
    int rc = ENOMEM;

    if (count < 2 || ap__in_order(from, count, element, compare)) { /* mostly it is */
        return 0;
    }
    if (runs == 1) {
        qsort(from, count, element, compare);
        return 0;
    }
    m.runs = calloc(runs, sizeof(*m.runs));
    m.heap = calloc(runs, sizeof(*m.heap));
    out = ap__bulk_make(count, element);
    if (m.runs == NULL || m.heap == NULL || out == NULL) {
        goto out;
    }
    for (uint32_t i = 0; i < runs; i++) {
        uint32_t n = i + 1 < runs ? run : count - i * run;

        m.runs[i].at = from + (size_t)i * run * element;
        m.runs[i].end = m.runs[i].at + (size_t)n * element;
        m.heap[i] = i;
        qsort((char *)m.runs[i].at, n, element, compare);
    }
    m.count = runs;
    ap__merge_into(&m, out, element);
    ap__bulk_free(from);
    *array = out;
    out = NULL;
    rc = 0;
out:
    ap__bulk_free(out);
    free(m.runs);
    free(m.heap);
    return rc;
}
