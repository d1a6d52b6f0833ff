/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of the host: stamps, calls, what the process took of the machine. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/bulk.h"
#include "analysis/links.h"
#include "format/utf8.h"
#include "format/wire_host.h"
#include "format/wire_report.h"
#include "tool/json_layers.h"
#include "tool/raw_files.h"
#include "tool/samples.h"

/* ---- stamps ---- */

static void ap__stamp_arguments(ap__json *j, const ap__stamp_record *s)
{
    static const char *const events[] = {"marker", "push/pop", "start/end", "marker_ex"};
    const char *event = s->event < 4 ? events[s->event] : NULL;

    if (s->info_type == AP_TX_INFO_EX) {
        ap__arg_text(j, "event_type", event);
        ap__arg_text(j, "domain", s->domain_name != NULL ? s->domain_name : "default");
        return;
    }
    ap__arg_number_text(j, "Category", s->category);
    ap__arg_i64(j, "Payload_type", s->payload_type);
    ap__arg_u64(j, "Payload_value", s->payload);
    ap__arg_i64(j, "Message_type", s->message_type);
    ap__arg_text(j, "event_type", event);
}

/* Keeps the text for the devices' marks with this id. */
static int ap__keep_text(ap__timeline *t, const ap__stamp_record *s)
{
    uint32_t at = ap__tx_mark_find(t->marks, t->mark_count, s->mark_id);

    for (; at < t->mark_count && t->marks[at].id == s->mark_id; at++) {
        t->marks[at].text = ap__text_pool_add(t->texts, s->message);
        if (t->marks[at].text == UINT32_MAX) {
            return ENOMEM;
        }
    }
    return 0;
}

int ap__layer_stamps(ap__timeline *t)
{
    ap__json *j = &t->j;
    ap__reader *reader = t->m->reader;
    const char *name = ap__reader_meta(reader)->process_name;
    uint64_t pid = ap__json_pid(j, AP_SORT_TX, AP_HOST_LAYER);
    ap__stamp_record s;
    int rc = 0;

    ap__reader_rewind(reader);
    while (rc == 0 && ap__model_next_stamp(t->m, &s)) {
        uint64_t start = ap__reader_wall_ns(reader, s.start_ns);

        if (s.info_type == AP_TX_INFO_EX && t->mark_count != 0) {
            rc = ap__keep_text(t, &s);
        }
        if (!ap__wants(t, AP_LAYER_MSPROFTX)) {
            continue;
        }
        if (j->last != (pid << 32 | s.tid) + 1) {
            ap__json_layer(j, pid, name[0] != '\0' ? name : "MsprofTx", NULL, AP_SORT_TX);
            ap__json_thread(j, pid, "Thread", s.tid);
        }
        ap__json_slice(j, s.message, pid, s.tid, start, ap__reader_wall_ns(reader, s.end_ns), NULL);
        ap__stamp_arguments(j, &s);
        ap__json_end(j);
        if (s.info_type == AP_TX_INFO_EX) {
            ap__json_flow(j, "MsTx_", "MsTx", AP_TX_CONNECTION + s.mark_id, 's', pid, s.tid, start);
        }
    }
    return rc;
}

/* ---- calls ---- */

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

/* The class of a call of the acl level. */
static const char *ap__acl_class(uint32_t type)
{
    static const char *const classes[] = {NULL,         "ACL_OP",  "ACL_MODEL", "ACL_RTS",
                                          "ACL_OTHERS", "ACL_NN",  "ACL_ASCENDC", "HOST_HCCL",
                                          NULL,         "ACL_DVPP", "ACL_GRAPH", "ACL_ATB"};

    return type >> 16 < sizeof(classes) / sizeof(classes[0]) ? classes[type >> 16] : NULL;
}

/* "Node@launch". Of all calls: no printf. */
static void ap__join(char *out, size_t size, const char *layer, const char *api)
{
    size_t first = strlen(layer);
    size_t second = strlen(api);

    second = ap__utf8_cut(api, second, size - first - 2);
    memcpy(out, layer, first);
    out[first] = '@';
    memcpy(out + first + 1, api, second);
    out[first + 1 + second] = '\0';
}

static void ap__call_event(ap__timeline *t, uint32_t index, uint64_t pid, bool arrow)
{
    ap__json *j = &t->j;
    const ap__api_call *call = &t->m->calls[index];
    char number[16];
    char name[300];
    const char *api = ap__call_name(t->m, call, number);
    const char *type = ap__reader_type_name(t->m->reader, call->level, call->type);
    const char *item = call->item != 0 ? ap__reader_hash_text(t->m->reader, call->item) : NULL;
    const char *mode = call->level == AP_LEVEL_ACL ? ap__acl_class(call->type) : NULL;

    ap__join(name, sizeof(name), ap__layer_word(call->level), api);
    ap__json_slice(j, name, pid, call->tid, call->start_ns, call->end_ns, NULL);
    ap__arg_u64(j, "Thread Id", call->tid);
    ap__arg_text(j, "Mode", mode != NULL ? mode : type != NULL ? type : api);
    ap__arg_text(j, "level", ap__level_name(call->level));
    ap__arg_text(j, "id", call->level == AP_LEVEL_ACL ? api : "0");
    if (item != NULL) {
        ap__arg_text(j, "item_id", item);
    } else {
        ap__arg_number_text(j, "item_id", call->item);
    }
    ap__arg_u64(j, "connection_id", ap__link_id(index));
    ap__json_end(j);
    if (arrow) {
        ap__json_flow(j, "HostToDevice", "HostToDevice", ap__flow_id(ap__link_id(index)), 's', pid,
                      call->tid, call->start_ns);
    }
}

/* Calls that an arrow leaves although they launch no operator: those of copies. */
static uint8_t *ap__copying_calls(const ap__timeline *t)
{
    uint8_t *copies = ap__bulk_make(t->m->call_count, 1);

    for (uint32_t i = 0; copies != NULL && i < t->m->task_count; i++) {
        uint32_t track = t->m->tasks[i].track;

        ap__bulk_step();
        if (track != AP_NONE && t->m->tracks[track].type == AP_TASK_MEMCPY &&
            t->links[track] != AP_NONE) {
            copies[t->links[track]] = 1;
        }
    }
    return copies;
}

int ap__layer_calls(ap__timeline *t)
{
    uint64_t pid = ap__json_pid(&t->j, AP_SORT_CANN, AP_HOST_LAYER);
    uint8_t *copies = NULL;

    if (!ap__wants(t, AP_LAYER_CANN)) {
        return 0;
    }
    copies = t->m->call_count != 0 ? ap__copying_calls(t) : NULL;
    if (t->m->call_count != 0 && copies == NULL) {
        return ENOMEM;
    }
    for (uint32_t i = 0; i < t->m->call_count; i++) {
        uint16_t level = t->m->calls[i].level;

        if (t->j.last != (pid << 32 | t->m->calls[i].tid) + 1) {
            ap__json_layer(&t->j, pid, "CANN", NULL, AP_SORT_CANN);
            ap__json_thread(&t->j, pid, "Thread", t->m->calls[i].tid);
        }
        ap__call_event(t, i, pid, level == AP_LEVEL_NODE || copies[i] != 0);
    }
    ap__bulk_free(copies);
    return 0;
}

/* ---- what the process took of the machine ---- */

static int ap__cpu(void *context, const ap__sample *s)
{
    ap__timeline *t = context;
    uint64_t pid = ap__json_pid(&t->j, AP_SORT_CPU, AP_HOST_LAYER);
    char name[24] = "CPU Avg";

    if (!ap__is_shown(t, s->ns)) {
        return 0;
    }
    if (s->id != UINT32_MAX) {
        (void)snprintf(name, sizeof(name), "CPU %" PRIu32, s->id);
    }
    ap__json_layer(&t->j, pid, "CPU Usage", NULL, AP_SORT_CPU);
    ap__json_counter(&t->j, name, pid, 0, s->ns);
    ap__arg_double(&t->j, "Usage(%)", s->values[0]);
    ap__json_end(&t->j);
    return 0;
}

static void ap__use(ap__timeline *t, const ap__sample *s, const char *name, uint32_t sort)
{
    uint64_t pid = ap__json_pid(&t->j, sort, AP_HOST_LAYER);

    if (!ap__is_shown(t, s->ns)) {
        return;
    }
    ap__json_layer(&t->j, pid, name, NULL, sort);
    ap__json_counter(&t->j, name, pid, 0, s->ns);
    ap__arg_double(&t->j, "Usage(%)", s->values[0]);
    ap__json_end(&t->j);
}

static int ap__memory(void *context, const ap__sample *s)
{
    ap__use(context, s, "Memory Usage", AP_SORT_MEMORY);
    return 0;
}

static int ap__network(void *context, const ap__sample *s)
{
    ap__use(context, s, "Network Usage", AP_SORT_NETWORK);
    return 0;
}

static int ap__disk(void *context, const ap__sample *s)
{
    ap__use(context, s, "Disk Usage", AP_SORT_DISK);
    return 0;
}

static int ap__os_call(void *context, const ap__sample *s)
{
    ap__timeline *t = context;
    uint64_t pid = ap__json_pid(&t->j, AP_SORT_OS, AP_HOST_LAYER);
    char thread[24];

    if (!ap__is_shown(t, s->ns)) {
        return 0;
    }
    (void)snprintf(thread, sizeof(thread), "Thread %" PRIu32, s->id);
    ap__json_layer(&t->j, pid, "OS Runtime API", NULL, AP_SORT_OS);
    ap__json_thread_named(&t->j, pid, s->id, thread, false);
    ap__json_slice(&t->j, s->name, pid, s->id, s->ns, s->end_ns, NULL);
    ap__json_end(&t->j);
    return 0;
}

int ap__layer_host_use(ap__timeline *t)
{
    static const struct {
        enum ap__json_layers layer;
        int (*each)(const ap__model *, ap__sample_take, void *);
        ap__sample_take take;
    } layers[] = {{AP_LAYER_CPU_USAGE, ap__samples_host_cpu, ap__cpu},
                  {AP_LAYER_MEMORY_USAGE, ap__samples_host_memory, ap__memory},
                  {AP_LAYER_NETWORK_USAGE, ap__samples_host_network, ap__network},
                  {AP_LAYER_DISK_USAGE, ap__samples_host_disk, ap__disk},
                  {AP_LAYER_OS_RUNTIME_API, ap__samples_os_calls, ap__os_call}};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(layers) / sizeof(layers[0]); i++) {
        rc = ap__wants(t, layers[i].layer) ? layers[i].each(t->m, layers[i].take, t) : 0;
    }
    return rc;
}
