/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/comm_tasks.h"

#include <errno.h>
#include <string.h>

#include "analysis/bulk.h"
#include "format/wire_host.h"
#include "format/wire_report.h"

#define AP_INFO_BYTES 116u /* that are used of the data */

/* A call of the communication level. */
typedef struct ap__stretch {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t tid;
} ap__stretch;

static int ap__compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int ap__stretches_by_thread(const void *a, const void *b)
{
    const ap__stretch *x = a;
    const ap__stretch *y = b;

    return x->tid != y->tid ? ap__compare(x->tid, y->tid) : ap__compare(x->begin_ns, y->begin_ns);
}

static int ap__infos_by_thread(const void *a, const void *b)
{
    const ap__comm_task *x = a;
    const ap__comm_task *y = b;

    if (x->tid != y->tid) {
        return ap__compare(x->tid, y->tid);
    }
    return x->time_ns != y->time_ns ? ap__compare(x->time_ns, y->time_ns)
                                    : ap__compare(x->order, y->order);
}

static int ap__ops_by_node(const void *a, const void *b)
{
    const uint32_t *x = a; /* device, node, index */
    const uint32_t *y = b;

    return x[0] != y[0] ? ap__compare(x[0], y[0]) : ap__compare(x[1], y[1]);
}

static double ap__double(ap__blob payload, size_t at)
{
    uint64_t bits = ap__blob_u64(payload, at);
    double value = 0;

    memcpy(&value, &bits, sizeof(value));
    return value == value && value < 1e300 && value > -1e300 ? value : 0;
}

static int ap__read_infos(const ap__model *m, ap__comm_task **list, uint32_t *count)
{
    ap__records *records = ap__records_open(m->reader, AP_RECORD_ADDITIONAL, "hccl_info");
    ap__raw_record r;
    int rc = records != NULL ? 0 : ENOMEM;

    while (rc == 0 && ap__records_next(records, &r)) {
        ap__comm_task *t = NULL;
        const char *kind = r.type_name;

        if (r.level != AP_LEVEL_HCCL || r.payload.size < AP_INFO_BYTES) {
            continue;
        }
        t = ap__bulk_push((void **)list, count, sizeof(*t));
        if (t == NULL) {
            rc = ENOMEM;
            break;
        }
        *t = (ap__comm_task){.time_ns = ap__reader_wall_ns(m->reader, r.begin_ns),
                             .item = ap__blob_u64(r.payload, 0),
                             .group = ap__blob_u64(r.payload, 16),
                             .local_rank = ap__blob_u32(r.payload, 24),
                             .remote_rank = ap__blob_u32(r.payload, 28),
                             .ranks = ap__blob_u32(r.payload, 32),
                             .plane = ap__blob_u32(r.payload, 40),
                             .context = ap__blob_u32(r.payload, 44),
                             .notify = ap__blob_u64(r.payload, 48),
                             .estimated_us = ap__double(r.payload, 64),
                             .bytes = ap__blob_u64(r.payload, 88),
                             .data_type = ap__blob_u32(r.payload, 100),
                             .link = ap__blob_u32(r.payload, 104),
                             .transport = ap__blob_u32(r.payload, 108),
                             .rdma = ap__blob_u32(r.payload, 112),
                             .tid = r.tid,
                             .task = AP_NONE,
                             .op = AP_NONE,
                             .order = *count,
                             .master = kind == NULL || strcmp(kind, "slave") != 0};
    }
    if (records != NULL) {
        ap__records_close(records);
    }
    return rc != 0 ? rc
                   : ap__bulk_sort((void **)list, *count, sizeof(**list), ap__infos_by_thread);
}

static int ap__read_calls(const ap__model *m, ap__stretch **list, uint32_t *count)
{
    for (uint32_t i = 0; i < m->call_count; i++) {
        const ap__api_call *c = &m->calls[i];
        ap__stretch *s = NULL;

        if (c->level != AP_LEVEL_HCCL) {
            continue;
        }
        s = ap__bulk_push((void **)list, count, sizeof(*s));
        if (s == NULL) {
            return ENOMEM;
        }
        *s = (ap__stretch){c->start_ns, c->end_ns, c->tid};
    }
    return ap__bulk_sort((void **)list, *count, sizeof(**list), ap__stretches_by_thread);
}

/* The call that holds the time, the last that has begun; NULL: none. */
static const ap__stretch *ap__call_at(const ap__stretch *list, uint32_t count, uint32_t tid,
                                      uint64_t ns)
{
    uint32_t low = 0;
    uint32_t high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (list[middle].tid < tid || (list[middle].tid == tid && list[middle].begin_ns <= ns)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (uint32_t back = 0; low-- > 0 && back < 16 && list[low].tid == tid; back++) {
        if (list[low].end_ns >= ns) {
            return &list[low];
        }
    }
    return NULL;
}

/* What was told within the call that no earlier task has taken. */
static ap__comm_task *ap__info_in(ap__comm_task *list, uint32_t count, const ap__stretch *call)
{
    uint32_t low = 0;
    uint32_t high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (list[middle].tid < call->tid ||
            (list[middle].tid == call->tid && list[middle].time_ns < call->begin_ns)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < count && list[low].tid == call->tid && list[low].time_ns <= call->end_ns; low++) {
        if (list[low].task == AP_NONE) {
            return &list[low];
        }
    }
    return NULL;
}

static uint32_t ap__op_of(uint32_t (*ops)[3], uint32_t count, uint32_t device, uint32_t node)
{
    uint32_t low = 0;
    uint32_t high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (ops[middle][0] < device || (ops[middle][0] == device && ops[middle][1] < node)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && ops[low][0] == device && ops[low][1] == node ? ops[low][2] : AP_NONE;
}

static int ap__by_task(const void *a, const void *b)
{
    return ap__compare(((const ap__comm_task *)a)->task, ((const ap__comm_task *)b)->task);
}

/* The tasks of communication operators, each with what was told when it was submitted. */
static void ap__give_tasks(const ap__model *m, ap__comm_task *list, uint32_t count,
                           const ap__stretch *calls, uint32_t call_count, uint32_t (*ops)[3])
{
    for (uint32_t i = 0; i < m->task_count; i++) {
        const ap__track *track = m->tasks[i].track != AP_NONE ? &m->tracks[m->tasks[i].track] : NULL;
        const ap__stretch *call = NULL;
        ap__comm_task *info = NULL;

        ap__bulk_step();
        if (track == NULL || track->node == AP_NONE ||
            m->nodes[track->node].task_type != AP_NODE_COMMUNICATION) {
            continue;
        }
        call = ap__call_at(calls, call_count, track->tid, track->time_ns);
        info = call != NULL ? ap__info_in(list, count, call) : NULL;
        if (info != NULL) {
            info->task = i;
            info->op = ap__op_of(ops, m->comm_op_count, m->tasks[i].device, track->node);
        }
    }
}

int ap__comm_tasks_make(const ap__model *m, ap__comm_task **list, uint32_t *count)
{
    ap__stretch *calls = NULL;
    uint32_t(*ops)[3] = NULL;
    uint32_t call_count = 0;
    uint32_t kept = 0;
    int rc = 0;

    *list = NULL;
    *count = 0;
    if (m->comm_op_count == 0) {
        return 0;
    }
    rc = ap__read_infos(m, list, count);
    rc = rc != 0 ? rc : ap__read_calls(m, &calls, &call_count);
    if (rc == 0) {
        ops = ap__bulk_make(m->comm_op_count, sizeof(*ops));
        rc = ops != NULL ? 0 : ENOMEM;
    }
    for (uint32_t i = 0; rc == 0 && i < m->comm_op_count; i++) {
        ops[i][0] = m->comm_ops[i].device;
        ops[i][1] = m->comm_ops[i].node;
        ops[i][2] = i;
    }
    rc = rc != 0 ? rc
                 : ap__bulk_sort((void **)&ops, m->comm_op_count, sizeof(*ops), ap__ops_by_node);
    if (rc == 0) {
        ap__give_tasks(m, *list, *count, calls, call_count, ops);
        for (uint32_t i = 0; i < *count; i++) {
            if ((*list)[i].task != AP_NONE && (*list)[i].op != AP_NONE) {
                (*list)[kept++] = (*list)[i];
            }
        }
        *count = kept;
        rc = ap__bulk_sort((void **)list, kept, sizeof(**list), ap__by_task);
    }
    ap__bulk_free(calls);
    ap__bulk_free(ops);
    return rc;
}

/* ---- names ---- */

static const char *ap__name(const char *const *names, uint32_t count, uint32_t number)
{
    if (number < count && names[number] != NULL) {
        return names[number];
    }
    return number == 255 ? "RESERVED" : number == 65534 ? "N/A" : "INVALID_TYPE";
}

const char *ap__comm_data_type(uint32_t type)
{
    static const char *const names[] = {
        "INT8",   "INT16",  "INT32", "FP16",  "FP32",   "INT64", "UINT64",  "UINT8",   "UINT16",
        "UINT32", "FP64",   "BFP16", "INT128", NULL,    "HIF8",  "FP8E4M3", "FP8E5M2", "FP8E8M0"};

    return ap__name(names, sizeof(names) / sizeof(names[0]), type);
}

const char *ap__comm_link(uint32_t link)
{
    static const char *const names[] = {"ON_CHIP", "HCCS",          "PCIE", "ROCE", "SIO",
                                        "HCCS_SW", "STANDARD_ROCE", "UB",   "UBoE"};

    return ap__name(names, sizeof(names) / sizeof(names[0]), link);
}

const char *ap__comm_transport(uint32_t transport)
{
    static const char *const names[] = {"SDMA", "RDMA", "LOCAL", "UB", "ROCE"};

    return ap__name(names, sizeof(names) / sizeof(names[0]), transport);
}
