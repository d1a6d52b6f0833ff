/* SPDX-License-Identifier: Apache-2.0 */
/* A part of a capture: some iterations of a model. */
#include <errno.h>

#include "analysis/bulk.h"
#include "analysis/model.h"

/* From the first start to the last end of the iterations. */
static bool ap__iterations(const ap__model *m, const ap__choice *choice, uint64_t *from,
                           uint64_t *to)
{
    bool found = false;

    for (uint32_t i = 0; i < m->ts_mark_count; i++) {
        const ap__ts_mark *start = &m->ts_marks[i];
        const ap__ts_mark *end = NULL;

        if (start->tag != AP_TS_MODEL_START || start->index < (uint64_t)choice->iteration ||
            start->index - (uint64_t)choice->iteration >= choice->count ||
            (choice->model != UINT32_MAX && start->model != (uint64_t)choice->model)) {
            continue;
        }
        end = ap__ts_step_end(m, start);
        if (end != NULL) {
            *from = !found || start->ns < *from ? start->ns : *from;
            *to = !found || end->ns > *to ? end->ns : *to;
            found = true;
        }
    }
    return found;
}

int ap__model_cut(ap__model *m, const ap__choice *choice)
{
    uint64_t from = 0;
    uint64_t to = 0;
    uint32_t kept = 0;
    uint8_t *used = NULL; /* tracks of tasks that stay */

    if (!ap__iterations(m, choice, &from, &to)) {
        return ENOENT;
    }
    used = ap__bulk_make(m->track_count, 1);
    if (used == NULL) {
        return ENOMEM;
    }
    m->from_ns = from;
    m->to_ns = to;
    for (uint32_t i = 0; i < m->task_count; i++) {
        const ap__task *t = &m->tasks[i];
        bool inside = t->start_ns >= from && t->start_ns <= to;

        ap__bulk_step();
        if (inside) {
            if (t->track != AP_NONE) {
                uint64_t submitted = m->tracks[t->track].time_ns;

                m->from_ns = submitted < m->from_ns ? submitted : m->from_ns;
                used[t->track] = 1;
            }
            m->tasks[kept++] = *t;
        }
    }
    m->task_count = kept;
    kept = 0;
    for (uint32_t i = 0; i < m->call_count; i++) {
        if (m->calls[i].start_ns <= m->to_ns && m->calls[i].end_ns >= m->from_ns) {
            m->calls[kept++] = m->calls[i];
        }
    }
    m->call_count = kept;
    for (uint32_t i = 0; i < m->track_count; i++) { /* their indices must stay */
        if (used[i] == 0 &&
            (m->tracks[i].time_ns < m->from_ns || m->tracks[i].time_ns > m->to_ns)) {
            m->tracks[i].node = AP_NONE;
            m->tracks[i].type = 0;
        }
    }
    ap__bulk_free(used);
    return 0;
}
