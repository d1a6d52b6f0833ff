/* SPDX-License-Identifier: Apache-2.0 */
/* Time by chains of names: what was called inside what. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analysis/bulk.h"
#include "tool/report.h"

#define AP_FLAME_DEPTH 256u
#define AP_FLAME_NODES 3000u /* that are written at most */
#define AP_FLAME_LEAST 4000u /* a node has this part of all at least, or is left out */

static uint32_t *ap__flame_slot(const ap__flame *f, uint32_t parent, uint32_t name)
{
    uint64_t hash = ((uint64_t)parent << 32 | name) * 0x9E3779B97F4A7C15u;
    uint32_t at = (uint32_t)(hash >> 32) & (f->slot_count - 1);

    while (f->slots[at] != 0) {
        const ap__flame_node *n = &f->nodes[f->slots[at] - 1];

        if (n->parent == parent && n->name == name) {
            break;
        }
        at = (at + 1) & (f->slot_count - 1);
    }
    return &f->slots[at];
}

static bool ap__flame_grow(ap__flame *f)
{
    uint32_t *old = f->slots;
    uint32_t count = f->slot_count == 0 ? 1024 : f->slot_count * 2;
    uint32_t *slots = count != 0 ? ap__bulk_make(count, sizeof(*slots)) : NULL;

    if (slots == NULL) {
        return false;
    }
    f->slots = slots;
    f->slot_count = count;
    for (uint32_t i = 0; i < f->count; i++) {
        *ap__flame_slot(f, f->nodes[i].parent, f->nodes[i].name) = i + 1;
    }
    ap__bulk_free(old);
    return true;
}

uint32_t ap__flame_node_of(ap__flame *flame, uint32_t parent, uint32_t name)
{
    uint32_t *slot = NULL;
    ap__flame_node *node = NULL;

    if (flame->count >= flame->slot_count / 2 && !ap__flame_grow(flame)) {
        return AP_NONE;
    }
    slot = ap__flame_slot(flame, parent, name);
    if (*slot == 0) {
        node = ap__bulk_push((void **)&flame->nodes, &flame->count, sizeof(*node));
        if (node == NULL) {
            return AP_NONE;
        }
        *node = (ap__flame_node){.parent = parent, .name = name};
        *slot = flame->count;
    }
    return *slot - 1;
}

int ap__flame_add(ap__flame *flame, const ap__event *events, uint32_t count)
{
    struct {
        uint64_t end;
        uint32_t node;
    } open[AP_FLAME_DEPTH];
    uint32_t depth = 0;

    for (uint32_t i = 0; i < count; i++) {
        const ap__event *e = &events[i];
        uint64_t end = e->end_ns;
        uint32_t node = 0;

        while (depth != 0 && open[depth - 1].end <= e->start_ns) {
            depth--;
        }
        if (end <= e->start_ns || depth == AP_FLAME_DEPTH) { /* marks have no time */
            continue;
        }
        if (depth != 0 && open[depth - 1].end < end) {
            end = open[depth - 1].end;
        }
        node = ap__flame_node_of(flame, depth != 0 ? open[depth - 1].node : AP_NONE, e->name);
        if (node == AP_NONE) {
            return ENOMEM;
        }
        if (depth != 0) {
            flame->nodes[open[depth - 1].node].self -= end - e->start_ns;
        }
        flame->nodes[node].count++;
        flame->nodes[node].total += end - e->start_ns;
        flame->nodes[node].self += end - e->start_ns;
        open[depth].end = end;
        open[depth++].node = node;
    }
    return 0;
}

static int ap__by_start(const void *a, const void *b)
{
    const ap__event *x = a;
    const ap__event *y = b;

    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    if (x->end_ns != y->end_ns) {
        return x->end_ns > y->end_ns ? -1 : 1;
    }
    return x->track < y->track ? -1 : x->track > y->track; /* a range is around a call */
}

int ap__flame_of_run(ap__run *run)
{
    ap__event *list = NULL;
    uint32_t count = 0;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < run->event_count; i++) {
        const ap__event *e = &run->events[i];
        ap__track_kind kind = ap__track_kind_of(e->track);
        bool last = i + 1 == run->event_count || e[0].track >> 4 != e[1].track >> 4;

        if (kind == AP_TRACK_RANGES || kind == AP_TRACK_CALLS) {
            ap__event *copy = ap__bulk_push((void **)&list, &count, sizeof(*copy));

            if (copy == NULL) {
                rc = ENOMEM;
                break;
            }
            *copy = *e;
        }
        if (last && count != 0) { /* of a thread */
            rc = ap__bulk_sort((void **)&list, count, sizeof(*list), ap__by_start);
            rc = rc != 0 ? rc : ap__flame_add(&run->host, list, count);
            ap__bulk_free(list);
            list = NULL;
            count = 0;
        }
    }
    ap__bulk_free(list);
    return rc;
}

void ap__flame_free(ap__flame *flame)
{
    ap__bulk_free(flame->nodes);
    ap__bulk_free(flame->slots);
    memset(flame, 0, sizeof(*flame));
}

/* ---- output ---- */

/* The least total with which no more than AP_FLAME_NODES are left. */
static uint64_t ap__flame_least(const ap__flame *f, uint64_t all)
{
    uint64_t least = all / AP_FLAME_LEAST;
    uint32_t left = UINT32_MAX;

    for (; left > AP_FLAME_NODES; least += least / 2 + 1) {
        left = 0;
        for (uint32_t i = 0; i < f->count; i++) {
            left += f->nodes[i].total > least;
        }
        if (left <= AP_FLAME_NODES) {
            break;
        }
    }
    return least;
}

static int ap__flame_out(ap__out *o, const ap__flame *f, const char *name)
{
    uint32_t *numbers = ap__bulk_make(f->count + 1, sizeof(*numbers));
    uint64_t all = 0;
    uint64_t least = 0;
    uint32_t n = 0;

    if (numbers == NULL) {
        return ENOMEM;
    }
    for (uint32_t i = 0; i < f->count; i++) {
        all += f->nodes[i].parent == AP_NONE ? f->nodes[i].total : 0;
    }
    least = ap__flame_least(f, all);
    ap__out_printf(o, "\"%sTotal\":%" PRIu64 ",\"%s\":[", name, all, name);
    for (uint32_t i = 0; i < f->count; i++) {
        const ap__flame_node *node = &f->nodes[i];

        if (node->total <= least) { /* nor are its children more */
            continue;
        }
        ap__out_printf(o, "%s[%" PRId64 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
                       n != 0 ? "," : "",
                       node->parent != AP_NONE ? (int64_t)numbers[node->parent] : -1, node->name,
                       node->count, node->total, node->self);
        numbers[i] = n++;
    }
    ap__out_text(o, "]");
    ap__bulk_free(numbers);
    return 0;
}

int ap__report_flames(ap__out *o, const ap__run *run)
{
    int rc = 0;

    ap__out_text(o, "\"flames\":{");
    rc = ap__flame_out(o, &run->host, "host");
    ap__out_text(o, ",");
    rc = rc != 0 ? rc : ap__flame_out(o, &run->device, "device");
    ap__out_text(o, "},");
    return rc;
}
