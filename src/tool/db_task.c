/* SPDX-License-Identifier: Apache-2.0 */
/* What the devices did: TASK, and of its operators COMPUTE_TASK_INFO. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bulk.h"
#include "analysis/links.h"
#include "analysis/task_types.h"
#include "analysis/tx_marks.h"
#include "format/wire_host.h"
#include "format/wire_report.h"
#include "tool/db.h"
#include "tool/db_task.h"

#define AP_MARK_CONNECTION 4000000001ull /* and the mark's id */

/* ---- TASK ---- */

static void ap__task_rows(ap__db *db, const ap__model *m, const uint32_t *links,
                          const ap__tx_mark *marks, uint32_t mark_count)
{
    uint32_t pid = ap__reader_meta(m->reader)->pid;
    ap__db_table t;

    ap__db_table_begin(db, &t, "TASK",
                       "startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, "
                       "globalTaskId INTEGER, globalPid INTEGER, taskType INTEGER, contextId "
                       "INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER");
    for (uint32_t i = 0; i < m->task_count + mark_count && db->rc == 0; i++) {
        const ap__task *k = i < m->task_count ? &m->tasks[i] : NULL;
        const ap__tx_mark *mark = k == NULL ? &marks[i - m->task_count] : NULL;
        bool linked = k != NULL && k->track != AP_NONE && links[k->track] != AP_NONE;

        ap__db_row(&t);
        ap__db_int(&t, k != NULL ? k->start_ns : mark->start_ns);
        ap__db_int(&t, k != NULL ? k->end_ns : mark->end_ns);
        ap__db_int(&t, m->devices[k != NULL ? k->device : mark->device].device);
        ap__db_int(&t, k == NULL ? AP_MARK_CONNECTION + mark->id
                       : linked  ? ap__link_id(links[k->track])
                                 : UINT64_MAX);
        ap__db_int(&t, i);
        ap__db_int(&t, pid);
        ap__db_name(&t, k != NULL ? ap__task_text(m, k) : "MsTx");
        ap__db_int(&t, k != NULL ? k->part : AP_NONE);
        ap__db_int(&t, k != NULL ? k->stream : mark->stream);
        ap__db_int(&t, k != NULL ? k->task : mark->task);
        ap__db_int(&t, k != NULL && k->track != AP_NONE ? m->tracks[k->track].model : AP_NONE);
        ap__db_row_end(&t);
    }
    if (ap__db_table_end(&t)) {
        ap__db_exec(db, "CREATE INDEX TaskIndex ON TASK (startNs,globalTaskId)");
    }
}

/* ---- COMPUTE_TASK_INFO ---- */

typedef struct ap__tensor_texts {
    char formats[256];
    char types[256];
    char shapes[1024];
} ap__tensor_texts;

static void ap__tensor_text(ap__tensor_texts *out, const ap__model *m, const ap__node *node,
                            uint32_t kind)
{
    size_t formats = 0;
    size_t types = 0;
    size_t shapes = (size_t)snprintf(out->shapes, sizeof(out->shapes), "\"");
    uint32_t count = 0;

    /* at most five tensors of eight dimensions: all fits */
    for (uint32_t i = 0; i < node->tensor_count; i++) {
        const ap__tensor *t = &m->tensors[node->tensor_from + i];
        const char *separator = count != 0 ? ";" : "";

        if (t->kind != kind) {
            continue;
        }
        count++;
        formats += (size_t)snprintf(out->formats + formats, sizeof(out->formats) - formats, "%s%s",
                                    separator, ap__format(t->format));
        types += (size_t)snprintf(out->types + types, sizeof(out->types) - types, "%s%s", separator,
                                  ap__data_type(t->data_type));
        shapes +=
            (size_t)snprintf(out->shapes + shapes, sizeof(out->shapes) - shapes, "%s", separator);
        for (uint32_t k = 0; k < 8 && t->shape[k] != 0; k++) {
            shapes += (size_t)snprintf(out->shapes + shapes, sizeof(out->shapes) - shapes,
                                       "%s%" PRIu32, k != 0 ? "," : "", t->shape[k]);
        }
    }
    (void)snprintf(out->shapes + shapes, sizeof(out->shapes) - shapes, "\"");
    if (count == 0) {
        (void)snprintf(out->formats, sizeof(out->formats), "N/A");
        (void)snprintf(out->types, sizeof(out->types), "N/A");
        (void)snprintf(out->shapes, sizeof(out->shapes), "N/A");
    }
}

static void ap__operator_row(ap__db_table *t, const ap__model *m, const ap__task *task,
                             const ap__node *node, uint32_t id)
{
    const char *hf32 = node->hf32 != 0 ? ap__reader_hash_text(m->reader, node->hf32) : NULL;
    bool eligible = hf32 != NULL && (strcmp(hf32, "hf32:1") == 0 || strcmp(hf32, "1") == 0);
    ap__tensor_texts texts;

    ap__db_row(t);
    ap__db_name(t, ap__reader_hash_text(m->reader, node->name));
    ap__db_int(t, id);
    ap__db_int(t, node->blocks & 0xFFFF);
    ap__db_int(t, (uint64_t)(node->blocks & 0xFFFF) * (node->blocks >> 16));
    ap__db_name(t, ap__task_type(m, task));
    ap__db_name(t, ap__reader_hash_text(m->reader, node->op_type));
    for (uint32_t kind = 0; kind < 2; kind++) {
        ap__tensor_text(&texts, m, node, kind);
        ap__db_name(t, texts.formats);
        ap__db_name(t, texts.types);
        ap__db_name(t, texts.shapes);
    }
    ap__db_name(t, hf32);
    ap__db_name(t, "dynamic");
    ap__db_name(t, eligible ? "YES" : "NO");
    ap__db_name(t, NULL); /* gridDim, blockDim: of SIMT kernels */
    ap__db_name(t, NULL);
    ap__db_row_end(t);
}

static void ap__server_row(ap__db_table *t, const ap__model *m, const ap__task *task,
                           const ap__node *node, uint32_t id)
{
    ap__db_row(t);
    ap__db_name(t, ap__reader_hash_text(m->reader, node->name));
    ap__db_int(t, id);
    ap__db_name(t, ap__task_type(m, task));
    ap__db_name(t, ap__reader_hash_text(m->reader, node->op_type));
    ap__db_row_end(t);
}

/* `ids`: of each track its task's global id. Tasks first, then what the host has submitted and no
 * device has told of. */
static void ap__operators(ap__db *db, const ap__model *m, const uint32_t *ids)
{
    ap__db_table compute;
    ap__db_table servers;

    ap__db_table_begin(
        db, &compute, "COMPUTE_TASK_INFO",
        "name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockNum INTEGER, mixBlockNum INTEGER, "
        "taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, "
        "inputShapes INTEGER, outputFormats INTEGER, outputDataTypes INTEGER, outputShapes "
        "INTEGER, attrInfo INTEGER, opState INTEGER, hf32Eligible INTEGER, gridDim INTEGER, "
        "blockDim INTEGER");
    ap__db_table_begin(
        db, &servers, "COMMUNICATION_SCHEDULE_TASK_INFO",
        "name INTEGER, globalTaskId INTEGER PRIMARY KEY, taskType INTEGER, opType INTEGER");
    for (uint64_t i = 0; i < (uint64_t)m->task_count + m->track_count && db->rc == 0; i++) {
        uint32_t track = i < m->task_count ? m->tasks[i].track : (uint32_t)(i - m->task_count);
        const ap__task lone = {.track = track, .part = AP_NONE, .counters = AP_NONE};
        const ap__task *task = i < m->task_count ? &m->tasks[i] : &lone;
        bool twice = i >= m->task_count && ids[track] < m->task_count;
        const ap__node *node = twice ? NULL : ap__task_node(m, task);
        uint32_t id = i < m->task_count ? (uint32_t)i : ids[track];

        if (node == NULL) {
            continue;
        }
        if (ap__is_communication_server(ap__reader_hash_text(m->reader, node->name))) {
            ap__server_row(&servers, m, task, node, id);
        } else {
            ap__operator_row(&compute, m, task, node, id);
        }
    }
    (void)ap__db_table_end(&compute);
    (void)ap__db_table_end(&servers);
}

/* A task's id is its index; what has no task follows those and the marks, as far as a table names
 * it. A bulk array, NULL without memory. */
static uint32_t *ap__global_ids(const ap__model *m, uint32_t next)
{
    uint32_t *ids = ap__bulk_make(m->track_count, sizeof(*ids));

    for (uint32_t i = 0; ids != NULL && i < m->track_count; i++) {
        ids[i] = AP_NONE;
    }
    for (uint32_t i = 0; ids != NULL && i < m->task_count; i++) {
        ap__bulk_step();
        if (m->tasks[i].track != AP_NONE) {
            ids[m->tasks[i].track] = i;
        }
    }
    for (uint32_t i = 0; ids != NULL && i < m->track_count; i++) {
        ap__bulk_step();
        if (ids[i] == AP_NONE &&
            (m->tracks[i].node != AP_NONE || m->tracks[i].type == AP_TASK_MEMCPY)) {
            ids[i] = next++;
        }
    }
    return ids;
}

void ap__db_tasks(ap__db *db, const ap__model *m)
{
    uint32_t *links = ap__links_make(m);
    uint32_t *ids = NULL;
    ap__tx_mark *marks = NULL;
    uint32_t mark_count = 0;
    int rc = links != NULL ? ap__tx_marks_make(m, &marks, &mark_count) : ENOMEM;

    if (rc == 0 && (uint64_t)m->task_count + mark_count + m->track_count >= UINT32_MAX) {
        rc = EOVERFLOW;
    }
    if (rc == 0) {
        ids = ap__global_ids(m, m->task_count + mark_count);
        rc = ids != NULL ? 0 : ENOMEM;
    }
    db->rc = db->rc != 0 ? db->rc : rc;
    if (db->rc == 0) {
        ap__task_rows(db, m, links, marks, mark_count);
        ap__operators(db, m, ids);
        ap__db_copies(db, m, links, ids);
        ap__db_counters(db, m);
    }
    ap__bulk_free(links);
    ap__bulk_free(ids);
    ap__bulk_free(marks);
}
