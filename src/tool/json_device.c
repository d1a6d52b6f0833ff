/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of the devices' work: tasks, the devices' side of stamps, iterations, overlap. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/bulk.h"
#include "analysis/copies.h"
#include "analysis/device_layout.h"
#include "analysis/links.h"
#include "analysis/overlap.h"
#include "analysis/task_types.h"
#include "format/wire_device.h"
#include "format/wire_host.h"
#include "format/wire_report.h"
#include "tool/json_layers.h"

uint64_t ap__device_layer(ap__timeline *t, uint32_t device, uint32_t sort, const char *name)
{
    const ap__device_view *view = &t->m->devices[device];
    uint64_t pid = ap__json_pid(&t->j, sort, view->device);
    char label[40];

    if (t->j.last >> 32 != pid) {
        (void)snprintf(label, sizeof(label), "NPU %" PRIu32 "%s", view->device,
                       view->simulated ? " (simulated)" : "");
        ap__json_layer(&t->j, pid, name, label, sort);
    }
    return pid;
}

/* ---- tasks ---- */

typedef struct ap__tasks {
    ap__timeline *t;
    ap__copy *copies;
    uint32_t copy_count;
    uint8_t *parents; /* FFTS+ tasks whose parts are known */
} ap__tasks;

/* As the chip's class has it in the timeline. */
static const char *ap__shown_type(const ap__model *m, const ap__task *task, bool stars)
{
    if (!stars || task->part != AP_NONE || ap__task_node(m, task) != NULL) {
        return ap__task_type(m, task);
    }
    return task->kind == AP_SQE_NOTIFY_WAIT ? "NOTIFY_WAIT" : ap__device_type(m, task);
}

static void ap__copy_arguments(const ap__tasks *a, const ap__task *task, uint32_t call)
{
    static const char *const operations[] = {
        "host to host",   "host to device",        "device to host",       "device to device",
        "managed memory", "addr device to device", "host to device ex", "device to host ex"};
    ap__json *j = &a->t->j;
    const ap__copy *copy = ap__copy_of(a->copies, a->copy_count, a->t->m, task->track, call);
    uint64_t ns = task->end_ns > task->start_ns ? task->end_ns - task->start_ns : 0;

    ap__arg_u64(j, "size(B)", copy != NULL ? copy->bytes : 0);
    ap__arg_double(j, "bandwidth(GB/s)",
                    copy != NULL && ns != 0 ? (double)copy->bytes / (double)ns : 0);
    ap__arg_text(j, "operation",
                  copy != NULL && copy->direction < 8 ? operations[copy->direction] : "other");
}

static void ap__task_event(const ap__tasks *a, const ap__task *task)
{
    ap__timeline *t = a->t;
    ap__json *j = &t->j;
    const ap__model *m = t->m;
    const ap__device_layout *layout = ap__device_layout_of(m->devices[task->device].chip);
    bool stars = layout != NULL && strcmp(layout->log_file, "stars_soc.data") == 0;
    uint64_t pid = ap__device_layer(t, task->device, AP_SORT_HARDWARE, "Ascend Hardware");
    const ap__node *node = ap__task_node(m, task);
    const char *name = node != NULL ? ap__reader_hash_text(m->reader, node->name) : NULL;
    const ap__track *track = task->track != AP_NONE ? &m->tracks[task->track] : NULL;
    uint32_t call = track != NULL ? t->links[task->track] : AP_NONE;
    bool copies = track != NULL && track->type == AP_TASK_MEMCPY;

    ap__json_thread(j, pid, "Stream", task->stream);
    ap__json_slice(j, name != NULL ? name : ap__task_text(m, task), pid, task->stream,
                   task->start_ns, task->end_ns, NULL);
    ap__arg_u64(j, "Model Id", track != NULL ? track->model : AP_NONE);
    ap__arg_text(j, "Task Type", ap__shown_type(m, task, stars));
    ap__arg_u64(j, "Physic Stream Id", task->stream);
    ap__arg_u64(j, "Task Id", task->task);
    ap__arg_u64(j, "Batch Id",
                 track != NULL && layout != NULL && !layout->long_ids ? track->task >> 16 : 0);
    ap__arg_u64(j, "Subtask Id", task->part);
    ap__arg_u64(j, "connection_id", call != AP_NONE ? ap__link_id(call) : UINT64_MAX);
    if (copies && stars) {
        ap__copy_arguments(a, task, call);
    }
    ap__json_end(j);
    if (call != AP_NONE && (node != NULL || copies)) {
        ap__json_flow(j, "HostToDevice", "HostToDevice", ap__flow_id(ap__link_id(call)), 'f', pid,
                      task->stream, task->start_ns);
    }
}

static uint64_t ap__stream_task(const ap__task *task)
{
    return (uint64_t)task->device << 48 | (uint64_t)task->stream << 32 | task->task;
}

typedef struct ap__whole {
    uint64_t key;
    uint64_t start_ns;
    uint32_t task;
} ap__whole;

static int ap__wholes_by_key(const void *a, const void *b)
{
    const ap__whole *x = a;
    const ap__whole *y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Marks the whole tasks that parts lie in: those stand for them. */
static int ap__find_parents(ap__tasks *a)
{
    const ap__model *m = a->t->m;
    ap__whole *parts = NULL;
    uint32_t count = 0;
    int rc = 0;

    for (uint32_t i = 0; i < m->task_count; i++) {
        ap__bulk_step();
        if (m->tasks[i].part != AP_NONE) {
            ap__whole *p = ap__bulk_push((void **)&parts, &count, sizeof(*p));

            if (p == NULL) {
                rc = ENOMEM;
                goto out;
            }
            *p = (ap__whole){ap__stream_task(&m->tasks[i]), m->tasks[i].start_ns, i};
        }
    }
    if (count == 0) {
        return 0;
    }
    rc = ap__bulk_sort((void **)&parts, count, sizeof(*parts), ap__wholes_by_key);
    a->parents = rc == 0 ? ap__bulk_make(m->task_count, 1) : NULL;
    rc = rc == 0 && a->parents == NULL ? ENOMEM : rc;
    for (uint32_t i = 0; rc == 0 && i < m->task_count; i++) {
        const ap__task *task = &m->tasks[i];
        ap__whole key = {ap__stream_task(task), task->start_ns, 0};
        uint32_t low = 0;
        uint32_t high = count;

        ap__bulk_step();
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;

            if (ap__wholes_by_key(&parts[middle], &key) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        a->parents[i] = task->part == AP_NONE && low < count && parts[low].key == key.key &&
                        parts[low].start_ns <= task->end_ns;
    }
out:
    ap__bulk_free(parts);
    return rc;
}

int ap__layer_tasks(ap__timeline *t)
{
    ap__tasks a = {.t = t};
    int rc = 0;

    if (t->m->task_count == 0 || !ap__wants(t, AP_LAYER_ASCEND)) {
        return 0;
    }
    rc = ap__copies_read(t->m, &a.copies, &a.copy_count);
    rc = rc != 0 ? rc : ap__find_parents(&a);
    for (uint32_t i = 0; rc == 0 && i < t->m->task_count; i++) {
        if (a.parents == NULL || a.parents[i] == 0) {
            ap__task_event(&a, &t->m->tasks[i]);
        }
    }
    ap__bulk_free(a.copies);
    ap__bulk_free(a.parents);
    return rc;
}

/* ---- stamps ---- */

int ap__layer_device_stamps(ap__timeline *t)
{
    ap__json *j = &t->j;

    for (uint32_t i = 0; ap__wants(t, AP_LAYER_DEVICE_TX) && i < t->mark_count; i++) {
        const ap__tx_mark *mark = &t->marks[i];
        uint64_t pid = 0;

        if (!ap__is_shown(t, mark->start_ns)) {
            continue;
        }
        pid = ap__device_layer(t, mark->device, AP_SORT_HARDWARE, "Ascend Hardware");
        ap__json_thread(j, pid, "Stream", mark->stream);
        ap__json_slice(j, mark->text != AP_NONE ? t->texts->bytes + mark->text : "N/A", pid,
                       mark->stream, mark->start_ns, mark->end_ns, NULL);
        ap__arg_u64(j, "Physic Stream Id", mark->stream);
        ap__arg_u64(j, "Task Id", mark->task);
        ap__json_end(j);
        ap__json_flow(j, "MsTx_", "MsTx", AP_TX_CONNECTION + mark->id, 'f', pid, mark->stream,
                      mark->start_ns);
    }
    return 0;
}

/* ---- iterations ---- */

int ap__layer_steps(ap__timeline *t)
{
    const ap__model *m = t->m;
    char text[64];

    for (uint32_t i = 0; ap__wants(t, AP_LAYER_STEP_TRACE) && i < m->ts_mark_count; i++) {
        const ap__ts_mark *start = &m->ts_marks[i];
        const ap__ts_mark *end = ap__ts_step_end(m, start);
        uint32_t tid = AP_STEP_THREAD + (uint32_t)start->model;
        uint64_t pid = 0;

        if (end == NULL || !ap__is_shown(t, start->ns)) {
            continue;
        }
        pid = ap__device_layer(t, start->device, AP_SORT_HARDWARE, "Ascend Hardware");
        (void)snprintf(text, sizeof(text), "Step Trace(Model ID:%" PRIu64 ")", start->model);
        ap__json_thread_named(&t->j, pid, tid, text, true);
        (void)snprintf(text, sizeof(text), "Iteration %" PRIu64, start->index);
        ap__json_slice(&t->j, text, pid, tid, start->ns, end->ns, "Iteration Time");
        ap__arg_u64(&t->j, "Iteration ID", start->index);
        ap__arg_text(&t->j, "FP Start", NULL); /* not told apart in the records that are known */
        ap__arg_text(&t->j, "BP End", NULL);
        ap__arg_time(&t->j, "Iteration End", end->ns);
        ap__arg_us(&t->j, "Iteration Time(us)", end->ns - start->ns);
        ap__json_end(&t->j);
    }
    return 0;
}

/* ---- overlap ---- */

typedef struct ap__sections {
    ap__timeline *t;
    uint64_t pid;
} ap__sections;

static const char *const ap__section_names[] = {"Computing", "Communication",
                                                "Communication(Not Overlapped)", "Free"};

static void ap__section(void *context, uint64_t start, uint64_t end, int type)
{
    const ap__sections *s = context;

    ap__json_slice(&s->t->j, ap__section_names[type], s->pid, (uint32_t)type, start, end, NULL);
    ap__json_end(&s->t->j);
}

int ap__layer_overlap(ap__timeline *t)
{
    uint8_t has_tasks[AP_MODEL_DEVICES] = {0};
    int rc = 0;

    for (uint32_t i = 0; i < t->m->task_count; i++) {
        ap__bulk_step();
        has_tasks[t->m->tasks[i].device] = 1;
    }
    for (uint32_t i = 0; rc == 0 && i < t->m->device_count; i++) {
        ap__sections s = {.t = t};

        if (!has_tasks[i] || !ap__wants(t, AP_LAYER_OVERLAP_ANALYSE)) {
            continue;
        }
        s.pid = ap__device_layer(t, i, AP_SORT_OVERLAP, "Overlap Analysis");
        for (uint32_t k = 0; k < 4; k++) {
            ap__json_thread_named(&t->j, s.pid, k, ap__section_names[k], true);
        }
        rc = ap__overlap_each(t->m, i, ap__section, &s);
    }
    return rc;
}
