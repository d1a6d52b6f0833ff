/* SPDX-License-Identifier: Apache-2.0 */
/* The communication layer: of each group a thread for its operators, then one for each plane. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analysis/bulk.h"
#include "analysis/comm_tasks.h"
#include "analysis/links.h"
#include "tool/json_layers.h"

#define AP_PLANES_MAX 1024u

typedef struct ap__group {
    uint64_t id;
    uint32_t device;
    uint32_t thread;
    uint32_t planes; /* 0 … planes - 1 are used at most */
} ap__group;

typedef struct ap__groups {
    ap__timeline *t;
    ap__comm_task *tasks;
    uint32_t task_count;
    uint32_t *ranks; /* of each operator */
    ap__group *list;
    uint32_t count;
} ap__groups;

static ap__group *ap__group_of(ap__groups *g, uint32_t device, uint64_t id)
{
    for (uint32_t i = 0; i < g->count; i++) {
        if (g->list[i].device == device && g->list[i].id == id) {
            return &g->list[i];
        }
    }
    return NULL;
}

static int ap__find_groups(ap__groups *g)
{
    const ap__model *m = g->t->m;
    uint32_t thread = 0;

    for (uint32_t i = 0; i < m->comm_op_count; i++) {
        ap__group *group = ap__group_of(g, m->comm_ops[i].device, m->comm_ops[i].group);

        if (group == NULL) {
            group = ap__bulk_push((void **)&g->list, &g->count, sizeof(*group));
            if (group == NULL) {
                return ENOMEM;
            }
            *group = (ap__group){.id = m->comm_ops[i].group, .device = m->comm_ops[i].device};
        }
    }
    for (uint32_t i = 0; i < g->task_count; i++) {
        const ap__comm_op *op = &m->comm_ops[g->tasks[i].op];
        ap__group *group = ap__group_of(g, op->device, op->group);
        uint32_t plane = g->tasks[i].plane;

        if (plane < AP_PLANES_MAX && plane >= group->planes) {
            group->planes = plane + 1;
        }
        g->ranks[g->tasks[i].op] = g->tasks[i].ranks;
    }
    for (uint32_t i = 0; i < g->count; i++) {
        thread = i != 0 && g->list[i].device == g->list[i - 1].device ? thread : 0;
        g->list[i].thread = thread;
        thread += 1 + g->list[i].planes;
    }
    return 0;
}

static void ap__name_threads(ap__groups *g)
{
    ap__timeline *t = g->t;
    char text[320];

    for (uint32_t i = 0; i < g->count; i++) {
        const ap__group *group = &g->list[i];
        const char *name =
            group->id != 0 ? ap__reader_hash_text(t->m->reader, group->id) : NULL;
        uint64_t pid =
            ap__device_layer(t, group->device, AP_SORT_COMMUNICATION, "Communication");

        (void)snprintf(text, sizeof(text), "Group %.255s Communication", name != NULL ? name : "");
        ap__json_thread_named(&t->j, pid, group->thread, name != NULL ? text : "Communication",
                              true);
        for (uint32_t k = 0; k < group->planes; k++) {
            (void)snprintf(text, sizeof(text), "Plane %" PRIu32, k);
            ap__json_thread_named(&t->j, pid, group->thread + 1 + k, text, true);
        }
    }
}

static void ap__task_event(ap__groups *g, const ap__comm_task *info)
{
    ap__json *j = &g->t->j;
    const ap__model *m = g->t->m;
    const ap__task *task = &m->tasks[info->task];
    const ap__comm_op *op = &m->comm_ops[info->op];
    const ap__group *group = ap__group_of(g, op->device, op->group);
    uint64_t pid = ap__device_layer(g->t, task->device, AP_SORT_COMMUNICATION, "Communication");
    const char *item = ap__reader_hash_text(m->reader, info->item);
    uint64_t ns = task->end_ns > task->start_ns ? task->end_ns - task->start_ns : 0;
    char notify[24];

    if (info->plane >= AP_PLANES_MAX) { /* none: it belongs to no thread */
        return;
    }
    (void)snprintf(notify, sizeof(notify), "%" PRIu64, info->notify);
    ap__json_slice(j, item != NULL ? item : "N/A", pid, group->thread + 1 + info->plane,
                   task->start_ns, task->end_ns, NULL);
    ap__arg_text(j, "notify_id", notify);
    ap__arg_double(j, "duration estimated(us)", info->estimated_us);
    ap__arg_u64(j, "stream id", task->stream);
    ap__arg_u64(j, "task id", task->task);
    ap__arg_u64(j, "context id", info->context);
    ap__arg_text(j, "task type", item);
    ap__arg_u64(j, "src rank", info->local_rank);
    ap__arg_u64(j, "dst rank", info->remote_rank);
    ap__arg_text(j, "transport type", ap__comm_transport(info->transport));
    ap__arg_u64(j, "size(Byte)", info->bytes);
    ap__arg_text(j, "data type", ap__comm_data_type(info->data_type));
    ap__arg_text(j, "link type", ap__comm_link(info->link));
    ap__arg_double(j, "bandwidth(GB/s)", ns != 0 ? (double)info->bytes / (double)ns : 0);
    ap__arg_u64(j, "model id", m->tracks[task->track].model);
    ap__json_end(j);
}

static void ap__op_event(ap__groups *g, uint32_t index)
{
    ap__json *j = &g->t->j;
    const ap__model *m = g->t->m;
    const ap__comm_op *op = &m->comm_ops[index];
    const ap__group *group = ap__group_of(g, op->device, op->group);
    uint64_t pid = ap__device_layer(g->t, op->device, AP_SORT_COMMUNICATION, "Communication");
    uint32_t call = g->t->links[op->track];
    char name[320];

    ap__comm_op_name(m, op, name, sizeof(name));
    ap__json_slice(j, name, pid, group->thread, op->start_ns, op->end_ns, NULL);
    ap__arg_u64(j, "rank_size", g->ranks[index]);
    ap__arg_u64(j, "connection_id", call != AP_NONE ? ap__link_id(call) : UINT64_MAX);
    ap__arg_u64(j, "model id", m->tracks[op->track].model);
    ap__arg_text(j, "data_type", op->group != 0 ? ap__comm_data_type(op->data_type) : NULL);
    ap__arg_text(j, "alg_type",
                  op->algorithm != 0 ? ap__reader_hash_text(m->reader, op->algorithm) : NULL);
    ap__arg_u64(j, "count", op->count);
    ap__arg_text(j, "relay", (op->flags & 1) != 0 ? "yes" : "no");
    ap__arg_text(j, "retry", (op->flags & 2) != 0 ? "yes" : "no");
    ap__json_end(j);
    if (call != AP_NONE) {
        ap__json_flow(j, "HostToDevice", "HostToDevice", ap__flow_id(ap__link_id(call)), 'f', pid,
                      group->thread, op->start_ns);
    }
}

int ap__layer_communication(ap__timeline *t)
{
    ap__groups g = {.t = t};
    int rc = 0;

    if (t->m->comm_op_count == 0 || !ap__wants(t, AP_LAYER_COMMUNICATION)) {
        return 0;
    }
    g.ranks = ap__bulk_make(t->m->comm_op_count, sizeof(*g.ranks));
    rc = g.ranks != NULL ? ap__comm_tasks_make(t->m, &g.tasks, &g.task_count) : ENOMEM;
    rc = rc != 0 ? rc : ap__find_groups(&g);
    if (rc == 0) {
        ap__name_threads(&g);
        for (uint32_t i = 0; i < t->m->comm_op_count; i++) {
            ap__op_event(&g, i);
        }
        for (uint32_t i = 0; i < g.task_count; i++) {
            ap__task_event(&g, &g.tasks[i]);
        }
    }
    ap__bulk_free(g.ranks);
    ap__bulk_free(g.tasks);
    ap__bulk_free(g.list);
    return rc;
}
