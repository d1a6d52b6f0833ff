/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bulk.h"
#include "format/wire_host.h"
#include "tool/report.h"

/* ---- names ---- */

static uint32_t ap__name_hash(const char *text)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        hash = (hash ^ *p) * 16777619u;
    }
    return hash;
}

static bool ap__names_grow(ap__names *names)
{
    uint32_t room = names->slot_count == 0 ? 1024 : names->slot_count * 2;
    uint32_t *slots = room != 0 ? calloc(room, sizeof(*slots)) : NULL;

    if (slots == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < names->count; i++) {
        uint32_t at = ap__name_hash(names->texts[i]) & (room - 1);

        while (slots[at] != 0) {
            at = (at + 1) & (room - 1);
        }
        slots[at] = i + 1;
    }
    free(names->slots);
    names->slots = slots;
    names->slot_count = room;
    return true;
}

uint32_t ap__names_add(ap__names *names, const char *text)
{
    uint32_t at = 0;
    char *copy = NULL;
    char **place = NULL;

    if (names->count >= names->slot_count / 2 && !ap__names_grow(names)) {
        return AP_NONE;
    }
    at = ap__name_hash(text) & (names->slot_count - 1);
    while (names->slots[at] != 0) {
        if (strcmp(names->texts[names->slots[at] - 1], text) == 0) {
            return names->slots[at] - 1;
        }
        at = (at + 1) & (names->slot_count - 1);
    }
    copy = strdup(text);
    place =
        copy != NULL ? ap__model_push((void **)&names->texts, &names->count, sizeof(copy)) : NULL;
    if (place == NULL) {
        free(copy);
        return AP_NONE;
    }
    *place = copy;
    names->slots[at] = names->count;
    return names->count - 1;
}

void ap__names_free(ap__names *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        free(names->texts[i]);
    }
    free(names->texts);
    free(names->slots);
    memset(names, 0, sizeof(*names));
}

/* ---- tracks: threads first, each with all its kinds, then devices ---- */

uint64_t ap__track_key(ap__track_kind kind, uint32_t device, uint32_t id)
{
    uint64_t place = (uint64_t)id << 4 | kind;

    return kind >= AP_TRACK_COMM ? 1ull << 56 | (uint64_t)(device & 0xFFFF) << 40 | place : place;
}

ap__track_kind ap__track_kind_of(uint64_t key)
{
    return (ap__track_kind)(key & 15);
}

uint32_t ap__track_device_of(uint64_t key)
{
    return (uint32_t)(key >> 40 & 0xFFFF);
}

uint32_t ap__track_id_of(uint64_t key)
{
    return (uint32_t)(key >> 4);
}

/* ---- events ---- */

static int ap__add(ap__run *run, uint64_t track, uint64_t start_ns, uint64_t end_ns, uint32_t name,
                   bool timed)
{
    static const uint32_t tables[] = {3, 3, 2, 1, 0}; /* by kind of track */
    ap__event *e = name != AP_NONE
                       ? ap__bulk_push((void **)&run->events, &run->event_count, sizeof(*e))
                       : NULL;
    ap__duration *d = NULL;

    if (e == NULL) {
        return ENOMEM;
    }
    end_ns = end_ns > start_ns ? end_ns : start_ns; /* a damaged record may end before it begins */
    *e = (ap__event){track, start_ns, end_ns, name, AP_NONE};
    if (!timed) {
        return 0;
    }
    d = ap__bulk_push((void **)&run->durations, &run->duration_count, sizeof(*d));
    if (d == NULL) {
        return ENOMEM;
    }
    *d = (ap__duration){end_ns - start_ns, name, tables[ap__track_kind_of(track)]};
    return 0;
}

static int ap__stamps(ap__run *run, ap__names *names)
{
    ap__stamp_record s;
    int rc = 0;

    ap__reader_rewind(run->reader);
    while (rc == 0 && ap__reader_next_stamp(run->reader, &s)) {
        bool mark = s.event != AP_TX_PUSH_POP && s.event != AP_TX_RANGE;
        uint64_t track =
            ap__track_key(s.event == AP_TX_RANGE ? AP_TRACK_SPANS : AP_TRACK_RANGES, 0, s.tid);
        uint64_t start = ap__reader_wall_ns(run->reader, s.start_ns);

        rc = ap__add(run, track, start, mark ? start : ap__reader_wall_ns(run->reader, s.end_ns),
                     ap__names_add(names, s.message), !mark);
        run->marks += mark;
    }
    return rc;
}

static int ap__calls(ap__run *run, ap__names *names)
{
    const ap__model *m = &run->model;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < m->call_count; i++) {
        const ap__api_call *call = &m->calls[i];
        char number[16];
        char name[300];

        (void)snprintf(name, sizeof(name), "%s: %s", ap__level_name(call->level),
                       ap__call_name(m, call, number));
        rc = ap__add(run, ap__track_key(AP_TRACK_CALLS, 0, call->tid), call->start_ns, call->end_ns,
                     ap__names_add(names, name), true);
    }
    return rc;
}

static int ap__comm(ap__run *run, ap__names *names)
{
    const ap__model *m = &run->model;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < m->comm_op_count; i++) {
        const ap__comm_op *op = &m->comm_ops[i];
        const char *name = ap__reader_hash_text(m->reader, op->name);

        rc = ap__add(run, ap__track_key(AP_TRACK_COMM, m->devices[op->device].device, 0),
                     op->start_ns, op->end_ns, ap__names_add(names, name != NULL ? name : "?"),
                     true);
    }
    return rc;
}

/* A task in the flame of devices. */
static int ap__device_flame(ap__flame *flame, uint32_t type, uint32_t name, uint64_t ns)
{
    uint32_t parent = type != AP_NONE ? ap__flame_node_of(flame, AP_NONE, type) : AP_NONE;
    uint32_t node = AP_NONE;

    if (parent == AP_NONE || name == AP_NONE) {
        return ENOMEM;
    }
    flame->nodes[parent].count++;
    flame->nodes[parent].total += ns;
    if (type == name) {
        flame->nodes[parent].self += ns;
        return 0;
    }
    node = ap__flame_node_of(flame, parent, name);
    if (node == AP_NONE) {
        return ENOMEM;
    }
    flame->nodes[node].count++;
    flame->nodes[node].total += ns;
    flame->nodes[node].self += ns;
    return 0;
}

static int ap__tasks(ap__run *run, ap__names *names)
{
    const ap__model *m = &run->model;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < m->task_count; i++) {
        const ap__task *t = &m->tasks[i];
        uint64_t ns = t->end_ns > t->start_ns ? t->end_ns - t->start_ns : 0;
        uint32_t type = ap__names_add(names, ap__task_type(m, t));
        const char *text = ap__task_name(m, t);
        uint32_t name = text != NULL ? ap__names_add(names, text) : type;

        rc = ap__add(run, ap__track_key(AP_TRACK_TASKS, m->devices[t->device].device, t->stream),
                     t->start_ns, t->end_ns, name, true);
        if (rc == 0) {
            run->events[run->event_count - 1].launch = t->track;
        }
        rc = rc != 0 ? rc : ap__device_flame(&run->device, type, name, ns);
    }
    return rc;
}

static int ap__by_track(const void *a, const void *b)
{
    const ap__event *x = a;
    const ap__event *y = b;

    if (x->track != y->track) {
        return x->track < y->track ? -1 : 1;
    }
    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

static int ap__by_table(const void *a, const void *b)
{
    const ap__duration *x = a;
    const ap__duration *y = b;

    if (x->table != y->table) {
        return x->table < y->table ? -1 : 1;
    }
    if (x->name != y->name) {
        return x->name < y->name ? -1 : 1;
    }
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

int ap__run_load(ap__run *run, ap__reader *reader, ap__names *names)
{
    int rc = 0;

    memset(run, 0, sizeof(*run));
    run->reader = reader;
    rc = ap__model_load(&run->model, reader);
    if (rc != 0) {
        return rc;
    }
    rc = ap__stamps(run, names);
    rc = rc != 0 ? rc : ap__calls(run, names);
    rc = rc != 0 ? rc : ap__comm(run, names);
    rc = rc != 0 ? rc : ap__tasks(run, names);
    rc = rc != 0 ? rc
                 : ap__bulk_sort((void **)&run->events, run->event_count, sizeof(*run->events),
                                 ap__by_track);
    rc = rc != 0 ? rc
                 : ap__bulk_sort((void **)&run->durations, run->duration_count,
                                 sizeof(*run->durations), ap__by_table);
    for (uint32_t i = 0; rc == 0 && i < run->event_count; i++) {
        const ap__event *e = &run->events[i];

        run->base_ns = i == 0 || e->start_ns < run->base_ns ? e->start_ns : run->base_ns;
        run->end_ns = e->end_ns > run->end_ns ? e->end_ns : run->end_ns;
    }
    rc = rc != 0 ? rc : ap__flame_of_run(run);
    if (rc != 0) {
        ap__run_free(run);
    }
    return rc;
}

void ap__run_free(ap__run *run)
{
    ap__bulk_free(run->events);
    ap__bulk_free(run->durations);
    ap__flame_free(&run->host);
    ap__flame_free(&run->device);
    ap__model_free(&run->model);
    memset(run, 0, sizeof(*run));
}
