/* SPDX-License-Identifier: Apache-2.0 */
/* The task scheduler's own records (ts_track): iterations and the device's side of stamps. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/bulk.h"
#include "analysis/model.h"

#define AP_TS_BYTES 40u
#define AP_TS_STEP 10u /* report type */

static int ap__by_tag(const void *a, const void *b)
{
    const ap__ts_mark *x = a;
    const ap__ts_mark *y = b;

    if (x->tag != y->tag) {
        return x->tag < y->tag ? -1 : 1;
    }
    if (x->index != y->index) {
        return x->index < y->index ? -1 : 1;
    }
    if (x->device != y->device) {
        return x->device < y->device ? -1 : 1;
    }
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static int ap__take(ap__model *m, uint32_t device, ap__blob record)
{
    ap__ts_mark *mark = NULL;

    if (ap__blob_u16(record, 0) >> 8 != AP_TS_STEP) {
        return 0;
    }
    mark = ap__bulk_push((void **)&m->ts_marks, &m->ts_mark_count, sizeof(*mark));
    if (mark == NULL) {
        return ENOMEM;
    }
    *mark = (ap__ts_mark){
        .ns = ap__device_wall_ns(&m->devices[device], ap__blob_u64(record, 8)),
        .index = ap__blob_u64(record, 16),
        .model = ap__blob_u64(record, 24),
        .stream = ap__blob_u16(record, 32),
        .task = ap__blob_u16(record, 34),
        .tag = ap__blob_u16(record, 36),
        .device = device,
    };
    return 0;
}

int ap__model_load_ts_marks(ap__model *m)
{
    ap__slice_cursor *cursor = malloc(sizeof(*cursor));
    int rc = cursor != NULL ? 0 : ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < m->device_count; i++) {
        ap__blob record;
        uint32_t slice = 0;
        uint32_t index = 0;

        /* the 950's parts of this file mean something else */
        if (m->devices[i].chip >= 15 ||
            !ap__device_records(&m->devices[i], m->reader, "ts_track.data", AP_TS_BYTES, 0, 0,
                                cursor)) {
            continue;
        }
        while (rc == 0 && ap__slice_cursor_next(cursor, &record, &slice, &index)) {
            rc = ap__take(m, i, record);
        }
        ap__slice_cursor_end(cursor);
    }
    free(cursor);
    return rc != 0 ? rc
                   : ap__bulk_sort((void **)&m->ts_marks, m->ts_mark_count, sizeof(m->ts_marks[0]),
                                   ap__by_tag);
}

const ap__ts_mark *ap__ts_marks_of(const ap__model *m, uint32_t tag, uint64_t index,
                                   uint32_t *count)
{
    uint32_t low = 0;
    uint32_t high = m->ts_mark_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const ap__ts_mark *mark = &m->ts_marks[middle];

        if (mark->tag < tag || (mark->tag == tag && mark->index < index)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *count = 0;
    while (low + *count < m->ts_mark_count && m->ts_marks[low + *count].tag == tag &&
           m->ts_marks[low + *count].index == index) {
        ++*count;
    }
    return *count != 0 ? &m->ts_marks[low] : NULL;
}

const ap__ts_mark *ap__ts_step_end(const ap__model *m, const ap__ts_mark *start)
{
    uint32_t count = 0;
    const ap__ts_mark *marks = start->tag == AP_TS_MODEL_START
                                   ? ap__ts_marks_of(m, AP_TS_MODEL_END, start->index, &count)
                                   : NULL;

    for (uint32_t i = 0; i < count; i++) {
        if (marks[i].device == start->device && marks[i].model == start->model &&
            marks[i].ns >= start->ns) {
            return &marks[i];
        }
    }
    return NULL;
}
