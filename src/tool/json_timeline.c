/* SPDX-License-Identifier: Apache-2.0 */
/* msprof_<stamp>.json: the host's calls and stamps, the devices' tasks, and which call launched
 * which, as one compact array of Chrome trace events: metadata first, then by layer and time. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bulk.h"
#include "format/wire_host.h"
#include "tool/export.h"
#include "tool/out_file.h"

#define AP_SORT_TX 6u
#define AP_SORT_CANN 7u
#define AP_SORT_HARDWARE 14u
#define AP_HOST_DEVICE 31u

typedef struct ap__timeline {
    ap__out *o;
    const ap__model *m;
    uint32_t process;
    bool first;
    uint64_t *seen; /* (pid << 32 | tid) that have been named */
    uint32_t seen_count;
} ap__timeline;

static uint64_t ap__pid(const ap__timeline *t, uint32_t sort, uint32_t device)
{
    return (uint64_t)t->process << 10 | sort << 5 | device;
}

/* ---- pieces ---- */

static void ap__string(ap__out *o, const char *text)
{
    ap__out_bytes(o, "\"", 1);
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        size_t plain = 0;

        while (p[plain] >= 0x20 && p[plain] != '"' && p[plain] != '\\') {
            plain++; /* texts of the reader are valid UTF-8 */
        }
        ap__out_bytes(o, p, plain);
        p += plain;
        if (*p == '"' || *p == '\\') {
            ap__out_bytes(o, "\\", 1);
            ap__out_bytes(o, p++, 1);
        } else if (*p != '\0') {
            ap__out_printf(o, "\\u%04x", *p++);
        }
    }
    ap__out_bytes(o, "\"", 1);
}

static void ap__number(ap__out *o, const char *before, uint64_t value)
{
    ap__out_text(o, before);
    ap__out_u64(o, value);
}

static void ap__event(ap__timeline *t, const char *name)
{
    ap__out_text(t->o, t->first ? "{\"name\":" : ",{\"name\":");
    t->first = false;
    ap__string(t->o, name);
}

static void ap__place(ap__timeline *t, uint64_t pid, uint32_t tid)
{
    ap__number(t->o, ",\"pid\":", pid);
    ap__number(t->o, ",\"tid\":", tid);
}

/* Nanoseconds as microseconds in the shortest way with at least one decimal. */
static void ap__duration(ap__out *o, uint64_t ns)
{
    uint64_t rest = ns % 1000;

    ap__out_u64(o, ns / 1000);
    if (rest % 100 == 0) {
        ap__out_printf(o, ".%" PRIu64, rest / 100);
    } else if (rest % 10 == 0) {
        ap__out_printf(o, ".%02" PRIu64, rest / 10);
    } else {
        ap__out_printf(o, ".%03" PRIu64, rest);
    }
}

static void ap__span(ap__timeline *t, uint64_t start_ns, uint64_t end_ns)
{
    ap__out_text(t->o, ",\"ts\":\"");
    ap__out_us(t->o, start_ns);
    ap__out_text(t->o, "\",\"dur\":");
    ap__duration(t->o, end_ns - start_ns);
    ap__out_text(t->o, ",\"ph\":\"X\",\"args\":{");
}

static void ap__layer(ap__timeline *t, uint64_t pid, const char *name, const char *label,
                      uint32_t sort)
{
    ap__event(t, "process_name");
    ap__place(t, pid, 0);
    ap__out_text(t->o, ",\"ph\":\"M\",\"args\":{\"name\":");
    ap__string(t->o, name);
    ap__out_text(t->o, "}}");
    ap__event(t, "process_labels");
    ap__place(t, pid, 0);
    ap__out_text(t->o, ",\"ph\":\"M\",\"args\":{\"labels\":");
    ap__string(t->o, label);
    ap__out_text(t->o, "}}");
    ap__event(t, "process_sort_index");
    ap__place(t, pid, 0);
    ap__out_printf(t->o, ",\"ph\":\"M\",\"args\":{\"sort_index\":%" PRIu32 "}}", sort);
}

static bool ap__seen(ap__timeline *t, uint64_t key)
{
    for (uint32_t i = 0; i < t->seen_count; i++) {
        if (t->seen[i] == key) {
            return true;
        }
    }
    return false;
}

/* Names a thread once. */
static int ap__thread(ap__timeline *t, uint64_t pid, const char *word, uint32_t tid)
{
    uint64_t key = pid << 32 | tid;
    uint64_t *place = NULL;
    char name[32];

    if (ap__seen(t, key)) {
        return 0;
    }
    place = ap__bulk_push((void **)&t->seen, &t->seen_count, sizeof(*place));
    if (place == NULL) {
        return ENOMEM;
    }
    *place = key;
    (void)snprintf(name, sizeof(name), "%s %" PRIu32, word, tid);
    ap__event(t, "thread_name");
    ap__place(t, pid, tid);
    ap__out_text(t->o, ",\"ph\":\"M\",\"args\":{\"name\":");
    ap__string(t->o, name);
    ap__out_text(t->o, "}}");
    ap__event(t, "thread_sort_index");
    ap__place(t, pid, tid);
    ap__out_printf(t->o, ",\"ph\":\"M\",\"args\":{\"sort_index\":%" PRIu32 "}}", tid);
    return 0;
}

static void ap__flow(ap__timeline *t, uint64_t id, const char *phase, uint64_t pid, uint32_t tid,
                     uint64_t ns)
{
    char name[40];

    (void)snprintf(name, sizeof(name), "HostToDevice%" PRIu64, id);
    ap__event(t, name);
    ap__place(t, pid, tid);
    ap__out_printf(t->o, ",\"ph\":\"%s\",\"cat\":\"HostToDevice\",\"id\":\"%" PRIu64 "\",\"ts\":\"",
                   phase, id);
    ap__out_us(t->o, ns);
    ap__out_text(t->o, phase[0] == 'f' ? "\",\"bp\":\"e\"}" : "\"}");
}

/* ---- layers ---- */

static const char *ap__layer_word(uint32_t level)
{
    switch (level) {
    case AP_LEVEL_ACL:
        return "AscendCL";
    case AP_LEVEL_RUNTIME:
        return "Runtime";
    case AP_LEVEL_MODEL:
        return "Model";
    case AP_LEVEL_NODE:
        return "Node";
    case AP_LEVEL_HCCL:
        return "Communication";
    default:
        return "Api";
    }
}

static void ap__call_event(ap__timeline *t, uint32_t index)
{
    const ap__api_call *call = &t->m->calls[index];
    uint64_t pid = ap__pid(t, AP_SORT_CANN, AP_HOST_DEVICE);
    char number[16];
    char name[300];
    const char *api = ap__call_name(t->m, call, number);
    const char *type = ap__reader_type_name(t->m->reader, call->level, call->type);
    const char *item = call->item != 0 ? ap__reader_hash_text(t->m->reader, call->item) : NULL;

    (void)snprintf(name, sizeof(name), "%s@%s", ap__layer_word(call->level), api);
    ap__event(t, name);
    ap__place(t, pid, call->tid);
    ap__span(t, call->start_ns, call->end_ns);
    ap__number(t->o, "\"Thread Id\":", call->tid);
    ap__out_text(t->o, ",\"Mode\":");
    ap__string(t->o, type != NULL ? type : api);
    ap__out_text(t->o, ",\"level\":");
    ap__string(t->o, ap__level_name(call->level));
    ap__out_text(t->o, ",\"id\":");
    ap__string(t->o, api);
    ap__out_text(t->o, ",\"item_id\":");
    if (item != NULL) {
        ap__string(t->o, item);
    } else {
        ap__out_printf(t->o, "\"%" PRIu64 "\"", call->item);
    }
    ap__out_text(t->o, "}}");
}

static void ap__task_event(ap__timeline *t, const ap__task *task)
{
    const ap__model *m = t->m;
    uint32_t device = m->devices[task->device].device;
    uint64_t pid = ap__pid(t, AP_SORT_HARDWARE, device & 31u);
    const ap__node *node = ap__task_node(m, task);
    const char *name = node != NULL ? ap__reader_hash_text(m->reader, node->name) : NULL;
    const ap__track *track = task->track != AP_NONE ? &m->tracks[task->track] : NULL;

    ap__event(t, name != NULL ? name : ap__task_type(m, task));
    ap__place(t, pid, task->stream);
    ap__span(t, task->start_ns, task->end_ns);
    ap__number(t->o, "\"Model Id\":", track != NULL ? track->model : AP_NONE);
    ap__out_text(t->o, ",\"Task Type\":");
    ap__string(t->o, ap__task_type(m, task));
    ap__number(t->o, ",\"Physic Stream Id\":", task->stream);
    ap__number(t->o, ",\"Task Id\":", task->task);
    ap__number(t->o, ",\"Batch Id\":", track != NULL ? track->task >> 16 : 0);
    ap__number(t->o, ",\"Subtask Id\":", task->part);
    ap__number(t->o, ",\"connection_id\":", task->track != AP_NONE ? task->track + 1 : UINT64_MAX);
    ap__out_text(t->o, "}}");
    if (track != NULL && (node != NULL || track->type == 5)) {
        uint64_t id = (uint64_t)(task->track + 1) << 32;

        ap__flow(t, id, "s", ap__pid(t, AP_SORT_CANN, AP_HOST_DEVICE), track->tid, track->time_ns);
        ap__flow(t, id, "f", pid, task->stream, task->start_ns);
    }
}

static int ap__stamps(ap__timeline *t, bool names)
{
    static const char *const events[] = {"marker", "push/pop", "start/end", "marker_ex"};
    uint64_t pid = ap__pid(t, AP_SORT_TX, AP_HOST_DEVICE);
    ap__stamp_record s;
    int rc = 0;

    ap__reader_rewind(t->m->reader);
    while (rc == 0 && ap__reader_next_stamp(t->m->reader, &s)) {
        if (names) {
            rc = ap__thread(t, pid, "Thread", s.tid);
            continue;
        }
        ap__event(t, s.message);
        ap__place(t, pid, s.tid);
        ap__span(t, ap__reader_wall_ns(t->m->reader, s.start_ns),
                 ap__reader_wall_ns(t->m->reader, s.end_ns));
        if (s.info_type == AP_TX_INFO_EX) {
            ap__out_text(t->o, "\"event_type\":");
            ap__string(t->o, s.event < 4 ? events[s.event] : "N/A");
            ap__out_text(t->o, ",\"domain\":");
            ap__string(t->o, s.domain_name != NULL ? s.domain_name : "default");
        } else {
            ap__out_printf(t->o,
                           "\"Category\":\"%" PRIu32 "\",\"Payload_type\":%" PRId32
                           ",\"Payload_value\":%" PRIu64 ",\"Message_type\":%" PRId32
                           ",\"event_type\":",
                           s.category, s.payload_type, s.payload, s.message_type);
            ap__string(t->o, s.event < 4 ? events[s.event] : "N/A");
        }
        ap__out_text(t->o, "}}");
    }
    return rc;
}

/* ---- the file ---- */

static int ap__metadata(ap__timeline *t)
{
    const ap__model *m = t->m;
    const ap__meta *meta = ap__reader_meta(m->reader);
    uint64_t cann = ap__pid(t, AP_SORT_CANN, AP_HOST_DEVICE);
    char label[40];
    int rc = 0;

    ap__layer(t, ap__pid(t, AP_SORT_TX, AP_HOST_DEVICE),
              meta->process_name[0] != '\0' ? meta->process_name : "MsprofTx", "CPU", AP_SORT_TX);
    rc = ap__stamps(t, true);
    if (m->call_count != 0) {
        ap__layer(t, cann, "CANN", "CPU", AP_SORT_CANN);
    }
    for (uint32_t i = 0; rc == 0 && i < m->call_count; i++) {
        rc = ap__thread(t, cann, "Thread", m->calls[i].tid);
    }
    for (uint32_t i = 0; rc == 0 && i < m->device_count; i++) {
        (void)snprintf(label, sizeof(label), "NPU %" PRIu32 "%s", m->devices[i].device,
                       m->devices[i].simulated ? " (simulated)" : "");
        ap__layer(t, ap__pid(t, AP_SORT_HARDWARE, m->devices[i].device & 31u), "Ascend Hardware",
                  label, AP_SORT_HARDWARE);
    }
    for (uint32_t i = 0; rc == 0 && i < m->task_count; i++) {
        rc =
            ap__thread(t, ap__pid(t, AP_SORT_HARDWARE, m->devices[m->tasks[i].device].device & 31u),
                       "Stream", m->tasks[i].stream);
    }
    return rc;
}

int ap__json_timeline(ap__export *e, const ap__model *m)
{
    ap__out *o = malloc(sizeof(*o));
    ap__timeline t = {.o = o, .m = m, .process = ap__reader_meta(m->reader)->pid, .first = true};
    char name[64];
    int rc = o != NULL ? 0 : ENOMEM;

    (void)snprintf(name, sizeof(name), "msprof_%s.json", e->stamp);
    rc = rc != 0 ? rc : ap__out_open(o, e->dir_fd, name);
    if (rc != 0) {
        goto out;
    }
    ap__out_text(o, "[");
    rc = ap__metadata(&t);
    rc = rc != 0 ? rc : ap__stamps(&t, false);
    for (uint32_t i = 0; rc == 0 && i < m->call_count; i++) {
        ap__call_event(&t, i);
    }
    for (uint32_t i = 0; rc == 0 && i < m->task_count; i++) {
        ap__task_event(&t, &m->tasks[i]);
    }
    ap__out_text(o, "]");
    if (rc == 0) {
        rc = ap__out_finish(o);
    } else {
        ap__out_drop(o);
    }
out:
    if (rc != 0) {
        ap__export_failed(e, name, rc);
    } else if (e->file_count < AP_EXPORT_FILES) {
        (void)snprintf(e->files[e->file_count++], sizeof(e->files[0]), "%s", name);
    }
    ap__bulk_free(t.seen);
    free(o);
    return rc;
}
