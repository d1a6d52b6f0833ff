/* SPDX-License-Identifier: Apache-2.0 */
/* The host's records: calls, nodes with their tensors, tracks, and which belong together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bulk.h"
#include "analysis/model.h"
#include "format/wire_host.h"
#include "format/wire_report.h"

#define AP_TYPE_TENSOR 1u
#define AP_TYPE_NODE_ATTR 9u
#define AP_TYPE_COMM_OP 10u
#define AP_TYPE_MODEL_EXECUTE 1u
#define AP_TENSORS_MAX 5u
#define AP_TENSOR_BYTES 44u

/* A stretch of one thread's time, from a call or a pair of events. */
typedef struct ap__span {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t item;
    uint32_t tid;
} ap__span;

typedef struct ap__host_load {
    ap__model *m;
    ap__span *launches;
    uint32_t launch_count;
    ap__span *models;
    uint32_t model_count;
    ap__span *open; /* begins of event pairs */
    uint32_t open_count;
    ap__node *tensor_nodes; /* name, thread, time and where the tensors are */
    uint32_t tensor_node_count;
    ap__node *attr_nodes; /* name and hf32 */
    uint32_t attr_node_count;
} ap__host_load;

#define AP_PUSH(array, count) ap__bulk_push((void **)&(array), &(count), sizeof((array)[0]))
#define AP_SORT(array, count, order)                                                               \
    ap__bulk_sort((void **)&(array), (count), sizeof((array)[0]), (order))

static uint64_t ap__wall(const ap__host_load *l, uint64_t mono_ns)
{
    return ap__reader_wall_ns(l->m->reader, mono_ns);
}

/* ---- calls and events ---- */

static int ap__add_span(ap__span **list, uint32_t *count, const ap__span *span)
{
    ap__span *s = ap__bulk_push((void **)list, count, sizeof(*s));

    if (s == NULL) {
        return ENOMEM;
    }
    *s = *span;
    return 0;
}

static int ap__add_call(ap__host_load *l, const ap__raw_record *r, uint64_t begin, uint64_t end)
{
    ap__api_call *call = AP_PUSH(l->m->calls, l->m->call_count);
    ap__span span = {begin, end, r->item, r->tid};
    int rc = 0;

    if (call == NULL) {
        return ENOMEM;
    }
    *call = (ap__api_call){begin, end, r->item, r->type, r->tid, r->level};
    if (r->level == AP_LEVEL_NODE && r->type == AP_TYPE_LAUNCH) {
        rc = ap__add_span(&l->launches, &l->launch_count, &span);
    } else if (r->level == AP_LEVEL_MODEL && r->type == AP_TYPE_MODEL_EXECUTE) {
        rc = ap__add_span(&l->models, &l->model_count, &span);
    }
    return rc;
}

/* The second of a pair makes a call of both. */
static int ap__take_event(ap__host_load *l, const ap__raw_record *r, uint64_t time)
{
    ap__span key = {time, r->type, r->item, r->tid}; /* end_ns: what the pair has in common */

    key.end_ns = (uint64_t)r->level << 48 ^ (uint64_t)r->request << 32 ^ r->type;
    for (uint32_t i = l->open_count; i-- > 0;) {
        if (l->open[i].tid == key.tid && l->open[i].item == key.item &&
            l->open[i].end_ns == key.end_ns) {
            uint64_t begin = l->open[i].begin_ns;

            memmove(&l->open[i], &l->open[i + 1], (l->open_count - i - 1) * sizeof(l->open[0]));
            l->open_count--;
            return ap__add_call(l, r, begin < time ? begin : time, begin < time ? time : begin);
        }
    }
    if (l->open_count == 4096) {
        return 0; /* no pairs but noise */
    }
    if (l->open == NULL) {
        l->open = calloc(4096, sizeof(*l->open));
    }
    if (l->open == NULL) {
        return ENOMEM;
    }
    l->open[l->open_count++] = key;
    return 0;
}

/* ---- compact and additional records ---- */

static int ap__take_track(ap__host_load *l, const ap__raw_record *r)
{
    ap__track *t = NULL;
    ap__wire_task_track w;

    memset(&w, 0, sizeof(w));
    memcpy(&w, r->payload.data, r->payload.size < sizeof(w) ? r->payload.size : sizeof(w));
    if (l->m->only_device >= 0 && (w.device & 0xFFF) != l->m->only_device) {
        return 0;
    }
    t = AP_PUSH(l->m->tracks, l->m->track_count);
    if (t == NULL) {
        return ENOMEM;
    }
    *t = (ap__track){
        .time_ns = ap__wall(l, r->begin_ns),
        .kernel = w.kernel_name,
        .type = w.task_type,
        .tid = r->tid,
        .task = w.task | (uint32_t)w.batch << 16,
        .device = w.device & 0xFFF,
        .stream = w.stream,
        .node = AP_NONE,
        .model = AP_NONE,
    };
    return 0;
}

static int ap__take_node(ap__host_load *l, const ap__raw_record *r)
{
    ap__node *n = AP_PUSH(l->m->nodes, l->m->node_count);
    ap__wire_node_basic w;

    if (n == NULL) {
        return ENOMEM;
    }
    memset(&w, 0, sizeof(w));
    memcpy(&w, r->payload.data, r->payload.size < sizeof(w) ? r->payload.size : sizeof(w));
    *n = (ap__node){
        .time_ns = ap__wall(l, r->begin_ns),
        .name = w.op_name,
        .op_type = w.op_type,
        .tid = r->tid,
        .task_type = w.task_type,
        .blocks = w.blocks,
    };
    return 0;
}

static int ap__take_attr(ap__host_load *l, const ap__raw_record *r)
{
    ap__node *n = AP_PUSH(l->attr_nodes, l->attr_node_count);

    if (n == NULL) {
        return ENOMEM;
    }
    *n = (ap__node){.name = ap__blob_u64(r->payload, 0), .hf32 = ap__blob_u64(r->payload, 12)};
    return 0;
}

static int ap__take_tensors(ap__host_load *l, const ap__raw_record *r)
{
    ap__node *n = AP_PUSH(l->tensor_nodes, l->tensor_node_count);
    uint32_t count = ap__blob_u32(r->payload, 8);

    if (n == NULL) {
        return ENOMEM;
    }
    *n = (ap__node){.name = ap__blob_u64(r->payload, 0),
                    .time_ns = ap__wall(l, r->begin_ns),
                    .tid = r->tid,
                    .tensor_from = l->m->tensor_count};
    for (uint32_t i = 0; i < count && i < AP_TENSORS_MAX; i++) {
        size_t at = 12 + (size_t)i * AP_TENSOR_BYTES;
        ap__tensor *t = AP_PUSH(l->m->tensors, l->m->tensor_count);

        if (t == NULL) {
            return ENOMEM;
        }
        t->kind = ap__blob_u32(r->payload, at);
        t->format = ap__blob_u32(r->payload, at + 4);
        t->data_type = ap__blob_u32(r->payload, at + 8);
        for (uint32_t k = 0; k < 8; k++) {
            t->shape[k] = ap__blob_u32(r->payload, at + 12 + k * 4);
        }
        n->tensor_count++;
    }
    return 0;
}

static int ap__take_comm(ap__host_load *l, const ap__raw_record *r)
{
    ap__comm_info *c = AP_PUSH(l->m->comm_infos, l->m->comm_info_count);

    if (c == NULL) {
        return ENOMEM;
    }
    *c = (ap__comm_info){.time_ns = ap__wall(l, r->begin_ns),
                         .tid = r->tid,
                         .flags = (uint8_t)ap__blob_u16(r->payload, 0),
                         .data_type = (uint8_t)(ap__blob_u16(r->payload, 0) >> 8),
                         .algorithm = ap__blob_u64(r->payload, 2),
                         .count = ap__blob_u64(r->payload, 10),
                         .group = ap__blob_u64(r->payload, 18)};
    return 0;
}

static int ap__take(ap__host_load *l, const ap__raw_record *r)
{
    if (r->kind == AP_RECORD_API && r->begin_ns == 0) {
        return 0;
    }
    if (r->kind == AP_RECORD_API && r->is_event) {
        return ap__take_event(l, r, ap__wall(l, r->begin_ns));
    }
    if (r->kind == AP_RECORD_API) {
        return ap__add_call(l, r, ap__wall(l, r->begin_ns), ap__wall(l, r->end_ns));
    }
    if (r->kind == AP_RECORD_COMPACT && r->level == AP_LEVEL_RUNTIME &&
        r->type == AP_TYPE_TASK_TRACK) {
        return ap__take_track(l, r);
    }
    if (r->kind == AP_RECORD_COMPACT && r->level == AP_LEVEL_RUNTIME &&
        r->type == AP_TYPE_STREAM_SPEC) {
        l->m->many_streams = l->m->many_streams || ap__blob_u32(r->payload, 0) != 0;
        return 0;
    }
    if (r->level != AP_LEVEL_NODE) {
        return 0;
    }
    if (r->kind == AP_RECORD_COMPACT && r->type == AP_TYPE_NODE_BASIC) {
        return ap__take_node(l, r);
    }
    if (r->kind == AP_RECORD_COMPACT && r->type == AP_TYPE_NODE_ATTR) {
        return ap__take_attr(l, r);
    }
    if (r->kind == AP_RECORD_COMPACT && r->type == AP_TYPE_COMM_OP) {
        return ap__take_comm(l, r);
    }
    if (r->kind == AP_RECORD_ADDITIONAL && r->type == AP_TYPE_TENSOR) {
        return ap__take_tensors(l, r);
    }
    return 0;
}

/* ---- order and belonging ---- */

static int ap__compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int ap__calls_by_start(const void *a, const void *b)
{
    const ap__api_call *x = a;
    const ap__api_call *y = b;
    int order = ap__compare(x->start_ns, y->start_ns);

    return order != 0 ? order : ap__compare(y->end_ns, x->end_ns);
}

static int ap__spans_by_thread(const void *a, const void *b)
{
    const ap__span *x = a;
    const ap__span *y = b;

    return x->tid != y->tid ? ap__compare(x->tid, y->tid) : ap__compare(x->begin_ns, y->begin_ns);
}

static int ap__nodes_by_thread(const void *a, const void *b)
{
    const ap__node *x = a;
    const ap__node *y = b;

    return x->tid != y->tid ? ap__compare(x->tid, y->tid) : ap__compare(x->time_ns, y->time_ns);
}

static int ap__comms_by_thread(const void *a, const void *b)
{
    const ap__comm_info *x = a;
    const ap__comm_info *y = b;

    return x->tid != y->tid ? ap__compare(x->tid, y->tid) : ap__compare(x->time_ns, y->time_ns);
}

static int ap__nodes_by_name(const void *a, const void *b)
{
    return ap__compare(((const ap__node *)a)->name, ((const ap__node *)b)->name);
}

static int ap__tracks_by_time(const void *a, const void *b)
{
    return ap__compare(((const ap__track *)a)->time_ns, ((const ap__track *)b)->time_ns);
}

/* The span of the thread that holds the time, the innermost as far as they do not nest deeper than
 * a few; NULL: none. */
static const ap__span *ap__span_at(const ap__span *spans, uint32_t count, uint32_t tid,
                                   uint64_t time)
{
    uint32_t low = 0;
    uint32_t high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (spans[middle].tid < tid ||
            (spans[middle].tid == tid && spans[middle].begin_ns <= time)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (uint32_t back = 0; low-- > 0 && back < 16 && spans[low].tid == tid; back++) {
        if (spans[low].end_ns >= time) {
            return &spans[low];
        }
    }
    return NULL;
}

/* Index of the first node of the thread that is not before the time. */
static uint32_t ap__node_from(const ap__node *nodes, uint32_t count, uint32_t tid, uint64_t time)
{
    uint32_t low = 0;
    uint32_t high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (nodes[middle].tid < tid || (nodes[middle].tid == tid && nodes[middle].time_ns < time)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint32_t ap__node_in(const ap__node *nodes, uint32_t count, const ap__span *launch)
{
    for (uint32_t i = ap__node_from(nodes, count, launch->tid, launch->begin_ns);
         i < count && nodes[i].tid == launch->tid && nodes[i].time_ns <= launch->end_ns; i++) {
        if (nodes[i].name == launch->item) {
            return i;
        }
    }
    return AP_NONE;
}

static void ap__belong(ap__host_load *l)
{
    ap__model *m = l->m;

    for (uint32_t i = 0; i < m->node_count; i++) {
        ap__node *n = &m->nodes[i];
        const ap__node *attr = l->attr_node_count == 0
                                   ? NULL
                                   : bsearch(n, l->attr_nodes, l->attr_node_count,
                                             sizeof(l->attr_nodes[0]), ap__nodes_by_name);
        uint32_t from = ap__node_from(l->tensor_nodes, l->tensor_node_count, n->tid, n->time_ns);

        ap__bulk_step();
        n->hf32 = attr != NULL ? attr->hf32 : 0;
        for (; from < l->tensor_node_count && l->tensor_nodes[from].tid == n->tid &&
               l->tensor_nodes[from].time_ns == n->time_ns;
             from++) {
            if (l->tensor_nodes[from].name == n->name) {
                n->tensor_from = l->tensor_nodes[from].tensor_from;
                n->tensor_count = l->tensor_nodes[from].tensor_count;
            }
        }
    }
    for (uint32_t i = 0; i < m->track_count; i++) {
        ap__track *t = &m->tracks[i];
        const ap__span *launch = ap__span_at(l->launches, l->launch_count, t->tid, t->time_ns);
        const ap__span *model = ap__span_at(l->models, l->model_count, t->tid, t->time_ns);

        ap__bulk_step();
        t->model = model != NULL ? (uint32_t)model->item : AP_NONE;
        if (launch != NULL) {
            t->node = ap__node_in(m->nodes, m->node_count, launch);
        }
    }
}

int ap__model_load_host(ap__model *model)
{
    ap__host_load l = {.m = model};
    ap__records *records = ap__records_open(
        model->reader, AP_RECORD_API | AP_RECORD_COMPACT | AP_RECORD_ADDITIONAL, NULL);
    ap__raw_record r;
    int rc = records != NULL ? 0 : ENOMEM;

    while (rc == 0 && ap__records_next(records, &r)) {
        if (r.level != AP_LEVEL_TX) {
            rc = ap__take(&l, &r);
        }
    }
    if (records != NULL) {
        ap__records_close(records);
    }
    rc = rc != 0 ? rc : AP_SORT(model->calls, model->call_count, ap__calls_by_start);
    rc = rc != 0 ? rc : AP_SORT(model->nodes, model->node_count, ap__nodes_by_thread);
    rc = rc != 0 ? rc : AP_SORT(model->tracks, model->track_count, ap__tracks_by_time);
    rc = rc != 0 ? rc : AP_SORT(model->comm_infos, model->comm_info_count, ap__comms_by_thread);
    rc = rc != 0 ? rc : AP_SORT(l.launches, l.launch_count, ap__spans_by_thread);
    rc = rc != 0 ? rc : AP_SORT(l.models, l.model_count, ap__spans_by_thread);
    rc = rc != 0 ? rc : AP_SORT(l.tensor_nodes, l.tensor_node_count, ap__nodes_by_thread);
    rc = rc != 0 ? rc : AP_SORT(l.attr_nodes, l.attr_node_count, ap__nodes_by_name);
    if (rc == 0) {
        ap__belong(&l);
    }
    free(l.open);
    ap__bulk_free(l.launches);
    ap__bulk_free(l.models);
    ap__bulk_free(l.tensor_nodes);
    ap__bulk_free(l.attr_nodes);
    return rc;
}
