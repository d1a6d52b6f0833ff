/* SPDX-License-Identifier: Apache-2.0 */
/* Communication: COMMUNICATION_OP, COMMUNICATION_TASK_INFO. */
#include <errno.h>

#include "analysis/bulk.h"
#include "analysis/comm_tasks.h"
#include "analysis/links.h"
#include "tool/db.h"

static const char *ap__text(const ap__model *m, uint64_t id)
{
    return id != 0 ? ap__reader_hash_text(m->reader, id) : NULL;
}

static void ap__ops(ap__db *db, const ap__model *m, const uint32_t *links, const uint32_t *ranks)
{
    ap__db_table t;
    char name[512];

    ap__db_table_begin(db, &t, "COMMUNICATION_OP",
                       "opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, "
                       "groupName INTEGER, opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, "
                       "dataType INTEGER, algType INTEGER, count NUMERIC, opType INTEGER, deviceId "
                       "INTEGER, rankSize INTEGER");
    for (uint32_t i = 0; i < m->comm_op_count && db->rc == 0; i++) {
        const ap__comm_op *op = &m->comm_ops[i];
        uint32_t call = links[op->track];

        ap__comm_op_name(m, op, name, sizeof(name));
        ap__db_row(&t);
        ap__db_name(&t, name);
        ap__db_int(&t, op->start_ns);
        ap__db_int(&t, op->end_ns);
        ap__db_int(&t, call != AP_NONE ? ap__link_id(call) : UINT64_MAX);
        ap__db_name(&t, ap__text(m, op->group));
        ap__db_int(&t, i);
        ap__db_int(&t, op->flags & 1u);
        ap__db_int(&t, op->flags >> 1 & 1u);
        ap__db_int(&t, op->group != 0 ? op->data_type : 65534u); /* N/A */
        ap__db_name(&t, ap__text(m, op->algorithm));
        ap__db_int(&t, op->count);
        ap__db_name(&t, ap__text(m, m->nodes[op->node].op_type));
        ap__db_int(&t, m->devices[op->device].device);
        ap__db_int(&t, ranks[i]);
        ap__db_row_end(&t);
    }
    (void)ap__db_table_end(&t);
}

static void ap__tasks(ap__db *db, const ap__model *m, const ap__comm_task *list, uint32_t count)
{
    ap__db_table t;
    char name[512];

    ap__db_table_begin(db, &t, "COMMUNICATION_TASK_INFO",
                       "name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER, "
                       "groupName INTEGER, notifyId INTEGER, rdmaType INTEGER, srcRank INTEGER, "
                       "dstRank INTEGER, transportType INTEGER, size INTEGER, dataType INTEGER, "
                       "linkType INTEGER, opId INTEGER, isMaster INTEGER, bandwidth NUMERIC");
    for (uint32_t i = 0; i < count && db->rc == 0; i++) {
        const ap__comm_task *c = &list[i];
        const ap__task *task = &m->tasks[c->task];
        uint64_t ns = task->end_ns > task->start_ns ? task->end_ns - task->start_ns : 0;

        ap__comm_op_name(m, &m->comm_ops[c->op], name, sizeof(name));
        ap__db_row(&t);
        ap__db_name(&t, name);
        ap__db_int(&t, c->task);
        ap__db_name(&t, ap__text(m, c->item));
        ap__db_int(&t, c->plane);
        ap__db_name(&t, ap__text(m, c->group));
        ap__db_int(&t, c->notify);
        ap__db_int(&t, c->rdma);
        ap__db_int(&t, c->local_rank);
        ap__db_int(&t, c->remote_rank);
        ap__db_int(&t, c->transport);
        ap__db_int(&t, c->bytes);
        ap__db_int(&t, c->data_type);
        ap__db_int(&t, c->link);
        ap__db_int(&t, c->op);
        ap__db_int(&t, c->master);
        ap__db_real(&t, ns != 0 ? (double)c->bytes / (double)ns * 1e9 : 0);
        ap__db_row_end(&t);
    }
    if (ap__db_table_end(&t)) {
        ap__db_exec(db, "CREATE INDEX CommunicationTaskIndex ON COMMUNICATION_TASK_INFO "
                        "(globalTaskId)");
    }
}

void ap__db_communication(ap__db *db, const ap__model *m)
{
    ap__comm_task *list = NULL;
    uint32_t *links = NULL;
    uint32_t *ranks = NULL;
    uint32_t count = 0;
    int rc = 0;

    if (m->comm_op_count == 0) {
        return;
    }
    links = ap__links_make(m);
    ranks = ap__bulk_make(m->comm_op_count, sizeof(*ranks));
    rc = links != NULL && ranks != NULL ? ap__comm_tasks_make(m, &list, &count) : ENOMEM;
    db->rc = db->rc != 0 ? db->rc : rc;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        ranks[list[i].op] = list[i].ranks;
    }
    if (db->rc == 0) {
        ap__ops(db, m, links, ranks);
        ap__tasks(db, m, list, count);
    }
    ap__bulk_free(links);
    ap__bulk_free(ranks);
    ap__bulk_free(list);
}
