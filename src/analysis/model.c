/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "analysis/model.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/wire_device.h"
#include "format/wire_host.h"
#include "format/wire_report.h"

void *ap__model_push(void **array, uint32_t *count, size_t element)
{
    /* room is always the next power of two: nothing has to be remembered */
    if ((*count & (*count - 1)) == 0) {
        size_t room = *count == 0 ? 1 : (size_t)*count * 2;
        void *bigger = *count < 1u << 31 ? realloc(*array, room * element) : NULL;

        if (bigger == NULL) {
            return NULL;
        }
        *array = bigger;
    }
    return (char *)*array + element * (*count)++;
}

/* ---- from a task to what the host has told of it ---- */

static int ap__by_key(const void *a, const void *b, void *context)
{
    const ap__track *tracks = context;
    const ap__track *x = &tracks[*(const uint32_t *)a];
    const ap__track *y = &tracks[*(const uint32_t *)b];

    if (x->device != y->device) {
        return x->device < y->device ? -1 : 1;
    }
    if (x->stream != y->stream) {
        return x->stream < y->stream ? -1 : 1;
    }
    if ((uint16_t)x->task != (uint16_t)y->task) {
        return (uint16_t)x->task < (uint16_t)y->task ? -1 : 1;
    }
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1; /* tracks are by time */
}

static int ap__key_order(const ap__track *t, uint32_t device, const ap__task *task)
{
    if (t->device != device) {
        return t->device < device ? -1 : 1;
    }
    if (t->stream != task->stream) {
        return t->stream < task->stream ? -1 : 1;
    }
    return (uint16_t)t->task == task->task ? 0 : (uint16_t)t->task < task->task ? -1 : 1;
}

/* The first track of the task's key that no earlier task has taken. */
static uint32_t ap__take_track(ap__model *m, const uint32_t *order, uint32_t *taken,
                               const ap__task *task)
{
    uint32_t device = m->devices[task->device].device;
    uint32_t low = 0;
    uint32_t high = m->track_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (ap__key_order(&m->tracks[order[middle]], device, task) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == m->track_count || ap__key_order(&m->tracks[order[low]], device, task) != 0 ||
        low + taken[low] >= m->track_count ||
        ap__key_order(&m->tracks[order[low + taken[low]]], device, task) != 0) {
        return AP_NONE;
    }
    return order[low + taken[low]++];
}

static int ap__join(ap__model *m)
{
    uint32_t *order = calloc((size_t)m->track_count + 1, sizeof(*order));
    uint32_t *taken = calloc((size_t)m->track_count + 1, sizeof(*taken)); /* at a key's first */
    int rc = order != NULL && taken != NULL ? 0 : ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < m->track_count; i++) {
        order[i] = i;
    }
    if (rc == 0 && m->track_count != 0) {
        qsort_r(order, m->track_count, sizeof(*order), ap__by_key, m->tracks);
        for (uint32_t i = 0; i < m->task_count; i++) { /* by start: in the order of the stream */
            if (m->tasks[i].part != AP_NONE) {
                continue; /* the whole task has it */
            }
            m->tasks[i].track = ap__take_track(m, order, taken, &m->tasks[i]);
        }
    }
    free(order);
    free(taken);
    return rc;
}

int ap__model_load(ap__model *model, ap__reader *reader)
{
    int rc = 0;

    memset(model, 0, sizeof(*model));
    model->reader = reader;
    model->device_count = ap__device_views_open(reader, model->devices, AP_MODEL_DEVICES);
    for (uint32_t i = 0; i < model->device_count; i++) {
        model->simulated = model->simulated || model->devices[i].simulated;
    }
    rc = ap__model_load_host(model);
    rc = rc != 0 ? rc : ap__model_load_devices(model);
    rc = rc != 0 ? rc : ap__join(model);
    if (rc != 0) {
        ap__model_free(model);
    }
    return rc;
}

void ap__model_free(ap__model *model)
{
    free(model->calls);
    free(model->nodes);
    free(model->tensors);
    free(model->tracks);
    free(model->tasks);
    free(model->counters);
    free(model->frequencies);
    ap__device_views_close(model->devices, model->device_count);
    memset(model, 0, sizeof(*model));
}

/* ---- names ---- */

const ap__node *ap__task_node(const ap__model *model, const ap__task *task)
{
    const ap__track *track = task->track != AP_NONE ? &model->tracks[task->track] : NULL;

    const ap__node *node =
        track != NULL && track->node != AP_NONE ? &model->nodes[track->node] : NULL;

    /* the tasks that a communication operator is made of are no operators */
    return node != NULL && node->task_type != AP_NODE_COMMUNICATION ? node : NULL;
}

const char *ap__task_name(const ap__model *model, const ap__task *task)
{
    const ap__node *node = ap__task_node(model, task);
    const char *name = NULL;

    if (task->track != AP_NONE && model->tracks[task->track].kernel != 0) {
        name = ap__reader_hash_text(model->reader, model->tracks[task->track].kernel);
    }
    return name == NULL && node != NULL ? ap__reader_hash_text(model->reader, node->name) : name;
}

const char *ap__task_type(const ap__model *model, const ap__task *task)
{
    static const char *const nodes[] = {"AI_CORE", "AI_CPU",       "AI_VECTOR_CORE", "WRITE_BACK",
                                        "MIX_AIC", "MIX_AIV",      "FFTS_PLUS",      "DSA_SQE",
                                        "DVPP",    "COMMUNICATION"};
    static const struct {
        uint32_t kind;
        const char *name;
    } kinds[] = {{AP_SQE_AICORE, "AI_CORE"},
                 {AP_SQE_AICPU, "AI_CPU"},
                 {AP_SQE_NOTIFY_WAIT, "NOTIFY_WAIT"},
                 {AP_SQE_SDMA, "SDMA"}};
    const ap__node *node = ap__task_node(model, task);
    static const struct {
        uint32_t kind;
        const char *name;
    } parts[] = {{0, "AIC"}, {1, "AIV"}, {6, "MIX_AIC"}, {7, "MIX_AIV"}, {8, "SDMA"}};
    const char *name = NULL;

    for (size_t i = 0; task->part != AP_NONE && i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i].kind == task->kind) {
            return parts[i].name;
        }
    }
    if (node != NULL && node->task_type < sizeof(nodes) / sizeof(nodes[0])) {
        return nodes[node->task_type];
    }
    if (task->track != AP_NONE) {
        name = ap__reader_type_name(model->reader, AP_LEVEL_RUNTIME,
                                    (uint32_t)model->tracks[task->track].type);
    }
    for (size_t i = 0; name == NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        name = kinds[i].kind == task->kind ? kinds[i].name : NULL;
    }
    return name != NULL ? name : "UNKNOWN";
}

const char *ap__level_name(uint32_t level)
{
    switch (level) {
    case 30000:
        return "pytorch";
    case 25000:
        return "pta";
    case AP_LEVEL_ACL:
        return "acl";
    case AP_LEVEL_MODEL:
        return "model";
    case AP_LEVEL_NODE:
        return "node";
    case AP_LEVEL_AICPU:
        return "aicpu";
    case AP_LEVEL_HCCL:
        return "communication";
    case AP_LEVEL_RUNTIME:
        return "runtime";
    default:
        return "other";
    }
}

const char *ap__call_name(const ap__model *model, const ap__api_call *call, char *buffer)
{
    const char *name = NULL;

    if (call->level == AP_LEVEL_HCCL) { /* there the item is what is told apart */
        name = ap__reader_hash_text(model->reader, call->item);
    }
    if (name == NULL) {
        name = ap__reader_type_name(model->reader, call->level, call->type);
    }
    if (name == NULL) {
        (void)snprintf(buffer, 16, "%" PRIu32, call->type);
        name = buffer;
    }
    return name;
}
