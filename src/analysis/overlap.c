/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/overlap.h"

#include <errno.h>
#include <string.h>

#include "analysis/bulk.h"
#include "analysis/task_types.h"
#include "format/wire_report.h"

typedef struct ap__section {
    uint64_t start;
    uint64_t end;
    uint32_t node; /* of a communication operator */
} ap__section;

typedef struct ap__sections {
    ap__section *list;
    uint32_t count;
} ap__sections;

typedef struct ap__overlap {
    ap__overlap_take take;
    void *context;
    ap__sections compute;
    ap__sections communication;
    uint64_t first;
    uint64_t last;
} ap__overlap;

static int ap__by_start(const void *a, const void *b)
{
    const ap__section *x = a;
    const ap__section *y = b;

    return x->start != y->start ? (x->start < y->start ? -1 : 1)
           : x->end < y->end    ? -1
                                : x->end > y->end;
}

static int ap__by_node(const void *a, const void *b)
{
    const ap__section *x = a;
    const ap__section *y = b;

    return x->node != y->node ? (x->node < y->node ? -1 : 1) : ap__by_start(a, b);
}

static int ap__push(ap__sections *s, uint64_t start, uint64_t end, uint32_t node)
{
    ap__section *n = ap__bulk_push((void **)&s->list, &s->count, sizeof(*n));

    if (n == NULL) {
        return ENOMEM;
    }
    *n = (ap__section){start, end, node};
    return 0;
}

/* Those of one operator become one, from its first task to its last. */
static int ap__join_operators(ap__sections *s)
{
    uint32_t kept = 0;
    int rc = ap__bulk_sort((void **)&s->list, s->count, sizeof(*s->list), ap__by_node);

    for (uint32_t i = 0; rc == 0 && i < s->count; i++) {
        ap__section *last = kept != 0 ? &s->list[kept - 1] : NULL;

        if (last != NULL && last->node == s->list[i].node) {
            last->end = s->list[i].end > last->end ? s->list[i].end : last->end;
        } else {
            s->list[kept++] = s->list[i];
        }
    }
    s->count = rc == 0 ? kept : s->count;
    return rc;
}

/* Sections that touch become one. */
static int ap__unite(ap__sections *s)
{
    uint32_t kept = 0;
    int rc = ap__bulk_sort((void **)&s->list, s->count, sizeof(*s->list), ap__by_start);

    for (uint32_t i = 0; rc == 0 && i < s->count; i++) {
        ap__section *last = kept != 0 ? &s->list[kept - 1] : NULL;

        if (last != NULL && s->list[i].start <= last->end) {
            last->end = s->list[i].end > last->end ? s->list[i].end : last->end;
        } else {
            s->list[kept++] = s->list[i];
        }
    }
    s->count = rc == 0 ? kept : s->count;
    return rc;
}

static bool ap__is_kernel(const ap__model *m, const ap__task *t)
{
    static const char *const kernels[] = {"KERNEL_AICORE",    "KERNEL_AIVEC",   "FFTS_PLUS",
                                          "KERNEL_MIX_AIC",   "KERNEL_MIX_AIV", "PROFILING_ENABLE",
                                          "PROFILING_DISABLE"};
    const char *type = t->track != AP_NONE ? ap__host_type(m, &m->tracks[t->track]) : NULL;

    for (size_t i = 0; type != NULL && i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        if (strcmp(type, kernels[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool ap__computes(const ap__model *m, const ap__task *t)
{
    const ap__node *node = ap__task_node(m, t);
    const char *name = node != NULL ? ap__reader_hash_text(m->reader, node->name) : NULL;
    size_t length = name != NULL ? strlen(name) : 0;

    return node != NULL && !ap__is_communication_server(name) &&
           !(length >= 9 && strcmp(name + length - 9, "AivKernel") == 0);
}

static void ap__extend(ap__overlap *o, uint64_t start, uint64_t end)
{
    o->first = start < o->first ? start : o->first;
    o->last = end > o->last ? end : o->last;
}

static int ap__gather(ap__overlap *o, const ap__model *m, uint32_t device)
{
    int rc = 0;

    o->first = UINT64_MAX;
    o->last = 0;
    for (uint32_t i = 0; rc == 0 && i < m->task_count; i++) {
        const ap__task *t = &m->tasks[i];
        uint32_t node = t->track != AP_NONE ? m->tracks[t->track].node : AP_NONE;

        ap__bulk_step();
        if (t->device != device) {
            continue;
        }
        if (!ap__is_kernel(m, t)) {
            ap__extend(o, t->start_ns, t->end_ns);
        }
        if (ap__computes(m, t)) {
            rc = ap__push(&o->compute, t->start_ns, t->end_ns, node);
            ap__extend(o, t->start_ns, t->end_ns);
        } else if (node != AP_NONE && m->nodes[node].task_type == AP_NODE_COMMUNICATION) {
            rc = ap__push(&o->communication, t->start_ns, t->end_ns, node);
            ap__extend(o, t->start_ns, t->end_ns);
        }
    }
    rc = rc != 0 ? rc : ap__unite(&o->compute);
    rc = rc != 0 ? rc : ap__join_operators(&o->communication);
    return rc != 0 ? rc : ap__unite(&o->communication);
}

static void ap__overlap_row(ap__overlap *o, uint64_t start, uint64_t end, int type)
{
    if (start < end || type < AP_NOT_OVERLAPPED) {
        o->take(o->context, start, end, type);
    }
}

/* What of [start, end] lies in none of the sections; `at` is the first that can meet it. */
static void ap__rest(ap__overlap *o, uint64_t start, uint64_t end, const ap__sections *without,
                     uint32_t *at, int type)
{
    while (*at < without->count && without->list[*at].end <= start) {
        ++*at;
    }
    for (uint32_t i = *at; i < without->count && without->list[i].start < end; i++) {
        ap__overlap_row(o, start, without->list[i].start, type);
        start = without->list[i].end > start ? without->list[i].end : start;
    }
    ap__overlap_row(o, start, end, type);
}

static int ap__device_rows(ap__overlap *o)
{
    ap__sections both = {0};
    uint32_t at = 0;
    int rc = 0;

    for (uint32_t i = 0; i < o->compute.count; i++) {
        ap__overlap_row(o, o->compute.list[i].start, o->compute.list[i].end, AP_COMPUTE);
    }
    for (uint32_t i = 0; i < o->communication.count; i++) {
        ap__overlap_row(o, o->communication.list[i].start, o->communication.list[i].end,
                        AP_COMMUNICATION);
    }
    for (uint32_t i = 0; i < o->communication.count; i++) {
        ap__rest(o, o->communication.list[i].start, o->communication.list[i].end, &o->compute, &at,
                 AP_NOT_OVERLAPPED);
    }
    for (uint32_t i = 0; rc == 0 && i < o->compute.count; i++) {
        rc = ap__push(&both, o->compute.list[i].start, o->compute.list[i].end, AP_NONE);
    }
    for (uint32_t i = 0; rc == 0 && i < o->communication.count; i++) {
        rc = ap__push(&both, o->communication.list[i].start, o->communication.list[i].end, AP_NONE);
    }
    rc = rc != 0 ? rc : ap__unite(&both);
    at = 0;
    if (rc == 0 && o->first < o->last) {
        ap__rest(o, o->first, o->last, &both, &at, AP_FREE);
    }
    ap__bulk_free(both.list);
    return rc;
}

int ap__overlap_each(const ap__model *m, uint32_t device, ap__overlap_take take, void *context)
{
    ap__overlap o = {.take = take, .context = context};
    int rc = ap__gather(&o, m, device);

    rc = rc != 0 ? rc : ap__device_rows(&o);
    ap__bulk_free(o.compute.list);
    ap__bulk_free(o.communication.list);
    return rc;
}
