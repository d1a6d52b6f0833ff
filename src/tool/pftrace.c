/* SPDX-License-Identifier: Apache-2.0 */
/* msprof_<stamp>.pftrace: stamps, calls and tasks on a track for each thread and stream, ranges on
 * tracks of the process, flows from calls to tasks. Slices of a track must nest: those that do
 * not go to further lanes of it. */
#include "tool/pftrace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/bulk.h"
#include "analysis/links.h"
#include "format/wire_host.h"
#include "tool/export.h"

#define AP_LANES 256u
#define AP_LANE_DEPTH 64u

static void ap__add(ap__pf *p, ap__slice slice)
{
    ap__slice *s = NULL;

    if (p->rc == 0) {
        s = ap__bulk_push((void **)&p->slices, &p->slice_count, sizeof(*s));
        p->rc = s != NULL ? 0 : ENOMEM;
    }
    if (s != NULL) {
        *s = slice;
        s->end_ns = s->end_ns > s->start_ns ? s->end_ns : s->start_ns;
    }
}

static void ap__collect_stamps(ap__pf *p)
{
    ap__stamp_record s;

    ap__reader_rewind(p->m->reader);
    while (p->rc == 0 && ap__model_next_stamp(p->m, &s)) {
        ap__stamp_info *info =
            ap__bulk_push((void **)&p->stamps, &p->stamp_count, sizeof(*p->stamps));
        bool range = s.event == AP_TX_RANGE;

        if (info == NULL) {
            p->rc = ENOMEM;
            return;
        }
        *info = (ap__stamp_info){s.payload, ap__pf_name(p, s.message), s.category, s.event};
        ap__add(p, (ap__slice){ap__reader_wall_ns(p->m->reader, s.start_ns),
                               ap__reader_wall_ns(p->m->reader, s.end_ns), 0,
                               range ? AP_TRACK_RANGES : AP_TRACK_THREAD, range ? 0 : s.tid,
                               AP_SLICE_STAMP, p->stamp_count - 1});
    }
}

static void ap__collect_tasks(ap__pf *p)
{
    for (uint32_t i = 0; i < p->m->call_count; i++) {
        const ap__api_call *c = &p->m->calls[i];

        ap__add(p,
                (ap__slice){c->start_ns, c->end_ns, 0, AP_TRACK_THREAD, c->tid, AP_SLICE_CALL, i});
    }
    for (uint32_t i = 0; i < p->m->task_count; i++) {
        const ap__task *t = &p->m->tasks[i];

        ap__add(p, (ap__slice){t->start_ns, t->end_ns, t->device + 1, AP_TRACK_STREAM, t->stream,
                               AP_SLICE_TASK, i});
    }
}

static int ap__flows_by_call(const void *a, const void *b)
{
    const ap__flow_pair *x = a;
    const ap__flow_pair *y = b;

    if (x->call != y->call) {
        return x->call < y->call ? -1 : 1;
    }
    return x->track < y->track ? -1 : x->track > y->track;
}

static void ap__collect_flows(ap__pf *p)
{
    p->links = ap__links_make(p->m);
    p->rc = p->rc != 0 ? p->rc : p->links != NULL ? 0 : ENOMEM;
    for (uint32_t i = 0; p->rc == 0 && i < p->m->task_count; i++) {
        uint32_t track = p->m->tasks[i].track;
        ap__flow_pair *pair = NULL;

        ap__bulk_step();
        if (track == AP_NONE || p->links[track] == AP_NONE) {
            continue;
        }
        pair = ap__bulk_push((void **)&p->flows, &p->flow_count, sizeof(*pair));
        if (pair == NULL) {
            p->rc = ENOMEM;
            return;
        }
        *pair = (ap__flow_pair){p->links[track], track};
    }
    if (p->rc == 0 && p->flow_count != 0) {
        p->rc =
            ap__bulk_sort((void **)&p->flows, p->flow_count, sizeof(*p->flows), ap__flows_by_call);
    }
}

/* ---- lanes ---- */

static int ap__by_track(const void *a, const void *b)
{
    const ap__slice *x = a;
    const ap__slice *y = b;

    if (x->process != y->process) {
        return x->process < y->process ? -1 : 1;
    }
    if (x->track != y->track) {
        return x->track < y->track ? -1 : 1;
    }
    return x->id < y->id ? -1 : x->id > y->id;
}

static int ap__slices_in_order(const void *a, const void *b)
{
    const ap__slice *x = a;
    const ap__slice *y = b;
    int order = ap__by_track(a, b);

    if (order != 0) {
        return order;
    }
    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    if (x->end_ns != y->end_ns) { /* the outer one first */
        return x->end_ns > y->end_ns ? -1 : 1;
    }
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    return x->ref < y->ref ? -1 : x->ref > y->ref;
}

typedef struct ap__lane {
    uint32_t depth;
    uint64_t ends[AP_LANE_DEPTH]; /* of what is open, outermost first */
} ap__lane;

static void ap__close_until(ap__pf *p, ap__lane *lane, uint64_t uuid, uint64_t ns)
{
    while (lane->depth != 0 && lane->ends[lane->depth - 1] <= ns) {
        ap__pf_slice_end(p, uuid, lane->ends[--lane->depth]);
    }
}

static void ap__finish_track(ap__pf *p, ap__lane *lanes, uint32_t count, const ap__slice *s)
{
    for (uint32_t i = 0; i < count; i++) {
        ap__close_until(p, &lanes[i], ap__pf_track_uuid(s, i), UINT64_MAX);
    }
}

/* The first lane where the slice lies in all that is open; a new one is begun when there is none.
 * A slice beyond all lanes has no place: it is drawn as an instant. */
static void ap__draw(ap__pf *p, ap__lane *lanes, uint32_t *count, const ap__slice *s)
{
    ap__slice instant = *s;

    for (uint32_t i = 0; i < AP_LANES; i++) {
        ap__lane *lane = &lanes[i];

        if (i == *count) {
            lane->depth = 0;
            ap__pf_track(p, s, i);
            ++*count;
        }
        ap__close_until(p, lane, ap__pf_track_uuid(s, i), s->start_ns);
        if (s->end_ns == s->start_ns) {
            ap__pf_slice_begin(p, s, i);
            return;
        }
        if (lane->depth == 0 ||
            (lane->ends[lane->depth - 1] >= s->end_ns && lane->depth < AP_LANE_DEPTH)) {
            lane->ends[lane->depth++] = s->end_ns;
            ap__pf_slice_begin(p, s, i);
            return;
        }
    }
    instant.end_ns = instant.start_ns;
    ap__pf_slice_begin(p, &instant, 0);
}

static void ap__draw_all(ap__pf *p)
{
    ap__lane *lanes = calloc(AP_LANES, sizeof(*lanes));
    uint32_t count = 0;

    p->rc = p->rc != 0 ? p->rc : lanes != NULL ? 0 : ENOMEM;
    for (uint32_t i = 0; p->rc == 0 && i < p->slice_count; i++) {
        const ap__slice *s = &p->slices[i];

        if (i != 0 && ap__by_track(s - 1, s) != 0) {
            ap__finish_track(p, lanes, count, s - 1);
            count = 0;
        }
        ap__draw(p, lanes, &count, s);
    }
    if (p->rc == 0 && p->slice_count != 0) {
        ap__finish_track(p, lanes, count, &p->slices[p->slice_count - 1]);
    }
    free(lanes);
}

static void ap__write(ap__pf *p)
{
    ap__pf_head(p);
    ap__pf_processes(p);
    ap__collect_stamps(p);
    ap__collect_tasks(p);
    ap__collect_flows(p);
    if (p->rc == 0 && p->slice_count != 0) {
        p->rc = ap__bulk_sort((void **)&p->slices, p->slice_count, sizeof(*p->slices),
                              ap__slices_in_order);
    }
    ap__draw_all(p);
    ap__pf_counters(p);
}

int ap__pftrace(ap__export *e, const ap__model *m)
{
    ap__pf p = {.m = m, .out = malloc(sizeof(*p.out)), .packet = malloc(sizeof(*p.packet))};
    char name[64];

    p.rc = p.out != NULL && p.packet != NULL ? 0 : ENOMEM;
    (void)snprintf(name, sizeof(name), "msprof_%s.pftrace", e->stamp);
    p.rc = p.rc != 0 ? p.rc : ap__out_open(p.out, e->dir_fd, name);
    if (p.rc == 0) {
        ap__write(&p);
        if (p.rc == 0) {
            p.rc = ap__out_finish(p.out);
        } else {
            ap__out_drop(p.out);
        }
    }
    if (p.rc != 0) {
        ap__export_failed(e, name, p.rc);
    } else if (e->file_count < AP_EXPORT_FILES) {
        (void)snprintf(e->files[e->file_count++], sizeof(e->files[0]), "%s", name);
    }
    ap__text_ids_free(&p.names);
    ap__bulk_free(p.slices);
    ap__bulk_free(p.stamps);
    ap__bulk_free(p.links);
    ap__bulk_free(p.flows);
    free(p.packet);
    free(p.out);
    return p.rc;
}
