/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tx_marks.h"

#include <errno.h>

#include "analysis/bulk.h"

static int ap__by_id(const void *a, const void *b)
{
    const ap__tx_mark *x = a;
    const ap__tx_mark *y = b;

    if (x->id != y->id) {
        return x->id < y->id ? -1 : 1;
    }
    if (x->device != y->device) {
        return x->device < y->device ? -1 : 1;
    }
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Two records with the same id are one range. */
static uint32_t ap__join_ranges(ap__tx_mark *marks, uint32_t count)
{
    uint32_t kept = 0;
    bool open = false;

    for (uint32_t i = 0; i < count; i++) {
        if (open && marks[kept - 1].id == marks[i].id &&
            marks[kept - 1].device == marks[i].device) {
            marks[kept - 1].end_ns = marks[i].start_ns;
            open = false;
        } else {
            marks[kept++] = marks[i];
            open = true;
        }
    }
    return kept;
}

int ap__tx_marks_make(const ap__model *m, ap__tx_mark **marks, uint32_t *count)
{
    int rc = 0;

    *marks = NULL;
    *count = 0;
    for (uint32_t i = 0; i < m->ts_mark_count; i++) {
        const ap__ts_mark *from = &m->ts_marks[i];
        ap__tx_mark *mark = NULL;

        if (from->tag != AP_TS_TX_MARK && from->tag != AP_TS_TX_MARK_EX) {
            continue;
        }
        mark = ap__bulk_push((void **)marks, count, sizeof(*mark));
        if (mark == NULL) {
            return ENOMEM;
        }
        *mark = (ap__tx_mark){.id = from->index,
                              .start_ns = from->ns,
                              .end_ns = from->ns,
                              .device = from->device,
                              .text = AP_NONE,
                              .stream = from->stream,
                              .task = from->task};
    }
    rc = ap__bulk_sort((void **)marks, *count, sizeof(**marks), ap__by_id);
    *count = rc == 0 ? ap__join_ranges(*marks, *count) : *count;
    return rc;
}

uint32_t ap__tx_mark_find(const ap__tx_mark *marks, uint32_t count, uint64_t id)
{
    uint32_t low = 0;
    uint32_t high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (marks[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
