/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "analysis/model.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bulk.h"
#include "analysis/device_layout.h"
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

/* What a device's record has: device, stream and the task's low 16 bits, or a long id alone. */
typedef struct ap__track_key {
    uint64_t key;
    uint32_t track;
    uint32_t taken; /* at a key's first: how many tasks have one already */
} ap__track_key;

static uint64_t ap__key(uint32_t device, uint32_t stream, uint32_t task)
{
    return (uint64_t)device << 32 | (uint64_t)(stream & 0xFFFF) << 16 | (task & 0xFFFF);
}

static bool ap__long_ids(const ap__model *m, uint32_t device)
{
    const ap__device_layout *layout = NULL;

    for (uint32_t i = 0; layout == NULL && i < m->device_count; i++) {
        layout = m->devices[i].device == device ? ap__device_layout_of(m->devices[i].chip) : NULL;
    }
    return layout != NULL && layout->long_ids;
}

static int ap__by_key(const void *a, const void *b)
{
    const ap__track_key *x = a;
    const ap__track_key *y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->track < y->track ? -1 : x->track > y->track; /* tracks are by time */
}

/* The first track of the task's key that no earlier task has taken. */
static uint32_t ap__take_track(ap__track_key *keys, uint32_t count, uint64_t key)
{
    uint32_t low = 0;
    uint32_t high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (keys[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == count || keys[low].key != key || keys[low].taken >= count - low ||
        keys[low + keys[low].taken].key != key) {
        return AP_NONE;
    }
    return keys[low + keys[low].taken++].track;
}

static int ap__join(ap__model *m)
{
    ap__track_key *keys = ap__bulk_make(m->track_count, sizeof(*keys));
    int rc = keys != NULL ? 0 : ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < m->track_count; i++) {
        const ap__track *t = &m->tracks[i];

        ap__bulk_step();
        keys[i] =
            (ap__track_key){ap__long_ids(m, t->device) ? (uint64_t)t->device << 32 | t->task
                                                       : ap__key(t->device, t->stream, t->task),
                            i, 0};
    }
    rc = rc != 0 ? rc : ap__bulk_sort((void **)&keys, m->track_count, sizeof(*keys), ap__by_key);
    for (uint32_t i = 0; rc == 0 && i < m->task_count; i++) { /* by start: the stream's order */
        ap__task *t = &m->tasks[i];

        ap__bulk_step();
        if (t->part == AP_NONE) { /* of an FFTS+ task the whole has it */
            uint32_t device = m->devices[t->device].device;
            bool long_ids = ap__long_ids(m, device);

            t->track = ap__take_track(keys, m->track_count,
                                      long_ids ? (uint64_t)device << 32 | t->task
                                               : ap__key(device, t->stream, t->task));
            if (long_ids && t->track != AP_NONE) { /* only the host knows the stream */
                t->stream = m->tracks[t->track].stream;
            }
        }
    }
    ap__bulk_free(keys);
    return rc;
}

/* Leaves the one device. 0 or ENOENT. */
static int ap__keep_device(ap__model *m, int64_t device)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < m->device_count; i++) {
        if (m->devices[i].device != device) {
            ap__device_views_close(&m->devices[i], 1);
        } else {
            m->devices[kept++] = m->devices[i];
        }
    }
    m->device_count = kept;
    m->only_device = device;
    return kept != 0 ? 0 : ENOENT;
}

int ap__model_load(ap__model *model, ap__reader *reader)
{
    return ap__model_load_part(model, reader, NULL);
}

int ap__model_load_part(ap__model *model, ap__reader *reader, const ap__choice *choice)
{
    int rc = 0;

    memset(model, 0, sizeof(*model));
    model->reader = reader;
    model->only_device = -1;
    model->to_ns = UINT64_MAX;
    model->device_count = ap__device_views_open(reader, model->devices, AP_MODEL_DEVICES);
    if (choice != NULL && choice->device >= 0) {
        rc = ap__keep_device(model, choice->device);
    }
    for (uint32_t i = 0; i < model->device_count; i++) {
        model->simulated = model->simulated || model->devices[i].simulated;
    }
    rc = rc != 0 ? rc : ap__model_load_host(model);
    rc = rc != 0 ? rc : ap__model_load_devices(model);
    rc = rc != 0 ? rc : ap__join(model);
    rc = rc != 0 ? rc : ap__model_load_ts_marks(model);
    rc = rc == 0 && choice != NULL && choice->iteration >= 0 ? ap__model_cut(model, choice) : rc;
    rc = rc != 0 ? rc : ap__model_load_comm(model);
    if (rc != 0) {
        ap__model_free(model);
    }
    return rc;
}

bool ap__model_next_stamp(const ap__model *model, ap__stamp_record *out)
{
    while (ap__reader_next_stamp(model->reader, out)) {
        if ((model->to_ns == UINT64_MAX ||
             ap__reader_wall_ns(model->reader, out->start_ns) <= model->to_ns) &&
            (model->from_ns == 0 ||
             ap__reader_wall_ns(model->reader, out->end_ns) >= model->from_ns)) {
            return true;
        }
    }
    return false;
}

void ap__model_free(ap__model *model)
{
    ap__bulk_free(model->calls);
    ap__bulk_free(model->nodes);
    ap__bulk_free(model->tensors);
    ap__bulk_free(model->tracks);
    ap__bulk_free(model->tasks);
    ap__bulk_free(model->counters);
    ap__bulk_free(model->frequencies);
    ap__bulk_free(model->comm_infos);
    ap__bulk_free(model->comm_ops);
    ap__bulk_free(model->ts_marks);
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
