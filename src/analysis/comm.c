/* SPDX-License-Identifier: Apache-2.0 */
/* Communication operators: from the first to the last of the tasks that one is made of. */
#include <errno.h>
#include <stdio.h>

#include "analysis/bulk.h"
#include "analysis/model.h"
#include "format/wire_report.h"

static int ap__compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int ap__by_operator(const void *a, const void *b)
{
    const ap__comm_op *x = a;
    const ap__comm_op *y = b;

    if (x->device != y->device) {
        return ap__compare(x->device, y->device);
    }
    return x->node != y->node ? ap__compare(x->node, y->node)
                              : ap__compare(x->start_ns, y->start_ns);
}

/* Same device, name and group; then by time. */
static int ap__by_kind(const void *a, const void *b)
{
    const ap__comm_op *x = a;
    const ap__comm_op *y = b;

    if (x->device != y->device) {
        return ap__compare(x->device, y->device);
    }
    if (x->name != y->name) {
        return ap__compare(x->name, y->name);
    }
    return x->group != y->group ? ap__compare(x->group, y->group)
                                : ap__compare(x->start_ns, y->start_ns);
}

static int ap__by_start(const void *a, const void *b)
{
    const ap__comm_op *x = a;
    const ap__comm_op *y = b;

    return x->device != y->device ? ap__compare(x->device, y->device)
                                  : ap__compare(x->start_ns, y->start_ns);
}

/* What the operator's library has told within its launch: of the same thread, and as late as the
 * node at most. */
static const ap__comm_info *ap__info_of(const ap__model *m, const ap__node *node)
{
    uint32_t low = 0;
    uint32_t high = m->comm_info_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const ap__comm_info *i = &m->comm_infos[middle];

        if (i->tid < node->tid || (i->tid == node->tid && i->time_ns <= node->time_ns)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low != 0 && m->comm_infos[low - 1].tid == node->tid ? &m->comm_infos[low - 1] : NULL;
}

static int ap__collect(ap__model *m)
{
    for (uint32_t i = 0; i < m->task_count; i++) {
        const ap__task *t = &m->tasks[i];
        const ap__track *track = t->track != AP_NONE ? &m->tracks[t->track] : NULL;
        const ap__node *node =
            track != NULL && track->node != AP_NONE ? &m->nodes[track->node] : NULL;
        ap__comm_op *op = NULL;

        ap__bulk_step();
        if (node == NULL || node->task_type != AP_NODE_COMMUNICATION) {
            continue;
        }
        op = ap__bulk_push((void **)&m->comm_ops, &m->comm_op_count, sizeof(*op));
        if (op == NULL) {
            return ENOMEM;
        }
        *op = (ap__comm_op){.start_ns = t->start_ns,
                            .end_ns = t->end_ns,
                            .name = node->name,
                            .device = t->device,
                            .node = track->node,
                            .track = t->track};
    }
    return 0;
}

static void ap__merge(ap__model *m)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < m->comm_op_count; i++) {
        ap__comm_op *op = &m->comm_ops[i];
        ap__comm_op *last = kept != 0 ? &m->comm_ops[kept - 1] : NULL;

        if (last != NULL && last->device == op->device && last->node == op->node) {
            last->end_ns = op->end_ns > last->end_ns ? op->end_ns : last->end_ns;
        } else {
            m->comm_ops[kept++] = *op;
        }
    }
    m->comm_op_count = kept;
}

int ap__model_load_comm(ap__model *m)
{
    const size_t size = sizeof(m->comm_ops[0]);
    int rc = ap__collect(m);

    rc = rc != 0 ? rc
                 : ap__bulk_sort((void **)&m->comm_ops, m->comm_op_count, size, ap__by_operator);
    if (rc != 0) {
        return rc;
    }
    ap__merge(m);
    for (uint32_t i = 0; i < m->comm_op_count; i++) {
        ap__comm_op *op = &m->comm_ops[i];
        const ap__comm_info *info = ap__info_of(m, &m->nodes[op->node]);

        if (info != NULL) {
            op->group = info->group;
            op->algorithm = info->algorithm;
            op->count = info->count;
            op->data_type = info->data_type;
            op->flags = info->flags;
        }
    }
    rc = ap__bulk_sort((void **)&m->comm_ops, m->comm_op_count, size, ap__by_kind);
    for (uint32_t i = 1; rc == 0 && i < m->comm_op_count; i++) {
        const ap__comm_op *last = &m->comm_ops[i - 1];
        ap__comm_op *op = &m->comm_ops[i];

        if (last->device == op->device && last->name == op->name && last->group == op->group) {
            op->number = last->number + 1;
        }
    }
    return rc != 0 ? rc
                   : ap__bulk_sort((void **)&m->comm_ops, m->comm_op_count, size, ap__by_start);
}

void ap__comm_op_name(const ap__model *m, const ap__comm_op *op, char *buffer, size_t size)
{
    const char *name = ap__reader_hash_text(m->reader, op->name);

    (void)snprintf(buffer, size, "%s_%03u_%u_1", name != NULL ? name : "N/A",
                   (unsigned)(op->group % 1000), op->number);
}
