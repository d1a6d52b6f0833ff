/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/links.h"
#include "tool/pftrace.h"

#define AP_FLOWS_OF_CALL 256u

static void ap__text_note(ap__pb *b, const char *name, const char *value)
{
    size_t note = ap__pb_open(b, 4);

    ap__pb_text(b, 10, name);
    ap__pb_text(b, 6, value);
    ap__pb_close(b, note);
}

static void ap__number_note(ap__pb *b, const char *name, uint64_t value)
{
    size_t note = ap__pb_open(b, 4);

    ap__pb_text(b, 10, name);
    ap__pb_u64(b, 3, value);
    ap__pb_close(b, note);
}

/* A task's flow has the number of its track; it goes from the call to the device. */
static void ap__call_flows(ap__pf *p, uint32_t call)
{
    uint32_t low = 0;
    uint32_t high = p->flow_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (p->flows[middle].call < call) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (uint32_t i = 0;
         low + i < p->flow_count && p->flows[low + i].call == call && i < AP_FLOWS_OF_CALL; i++) {
        ap__pb_fixed64(p->packet, 47, p->flows[low + i].track + 1ull);
    }
}

static void ap__call_fields(ap__pf *p, uint32_t index)
{
    const ap__api_call *c = &p->m->calls[index];

    ap__pb_text(p->packet, 22, ap__level_name(c->level));
    ap__number_note(p->packet, "connection_id", ap__link_id(index));
    ap__call_flows(p, index);
}

static void ap__task_fields(ap__pf *p, uint32_t index)
{
    const ap__task *t = &p->m->tasks[index];

    ap__pb_text(p->packet, 22, "task");
    ap__text_note(p->packet, "Task Type", ap__task_type(p->m, t));
    ap__number_note(p->packet, "Task Id", t->task);
    if (t->track != AP_NONE) {
        if (p->m->tracks[t->track].model != AP_NONE) {
            ap__number_note(p->packet, "Model Id", p->m->tracks[t->track].model);
        }
        if (p->links[t->track] != AP_NONE) {
            ap__number_note(p->packet, "connection_id", ap__link_id(p->links[t->track]));
            ap__pb_fixed64(p->packet, 48, t->track + 1ull);
        }
    }
}

static void ap__stamp_fields(ap__pf *p, uint32_t index)
{
    static const char *const events[] = {"marker", "push/pop", "start/end", "marker_ex"};
    const ap__stamp_info *s = &p->stamps[index];

    ap__pb_text(p->packet, 22, "stamp");
    ap__text_note(p->packet, "event_type", s->event < 4 ? events[s->event] : "N/A");
    ap__number_note(p->packet, "category", s->category);
    ap__number_note(p->packet, "payload", s->payload);
}

static uint32_t ap__name_of(ap__pf *p, const ap__slice *s)
{
    const ap__task *task = s->kind == AP_SLICE_TASK ? &p->m->tasks[s->ref] : NULL;
    const char *name = NULL;
    char number[16];

    if (s->kind == AP_SLICE_STAMP) {
        return p->stamps[s->ref].name;
    }
    if (task != NULL) {
        const ap__node *node = ap__task_node(p->m, task);

        name = node != NULL ? ap__reader_hash_text(p->m->reader, node->name) : NULL;
        name = name != NULL ? name : ap__task_name(p->m, task);
        return ap__pf_name(p, name != NULL ? name : ap__task_type(p->m, task));
    }
    return ap__pf_name(p, ap__call_name(p->m, &p->m->calls[s->ref], number));
}

void ap__pf_slice_begin(ap__pf *p, const ap__slice *s, uint32_t lane)
{
    uint32_t name = ap__name_of(p, s);
    size_t event = 0;

    ap__pf_begin(p);
    ap__pb_u64(p->packet, 13, 2);
    ap__pb_u64(p->packet, 8, s->start_ns);
    event = ap__pb_open(p->packet, 11);
    ap__pb_u64(p->packet, 9, s->end_ns > s->start_ns ? 1 : 3);
    ap__pb_u64(p->packet, 11, ap__pf_track_uuid(s, lane));
    ap__pb_u64(p->packet, 10, name);
    if (s->kind == AP_SLICE_CALL) {
        ap__call_fields(p, s->ref);
    } else if (s->kind == AP_SLICE_TASK) {
        ap__task_fields(p, s->ref);
    } else {
        ap__stamp_fields(p, s->ref);
    }
    ap__pb_close(p->packet, event);
    ap__pf_end(p);
}

void ap__pf_slice_end(ap__pf *p, uint64_t uuid, uint64_t ns)
{
    size_t event = 0;

    ap__pf_begin(p);
    ap__pb_u64(p->packet, 13, 2);
    ap__pb_u64(p->packet, 8, ns);
    event = ap__pb_open(p->packet, 11);
    ap__pb_u64(p->packet, 9, 2);
    ap__pb_u64(p->packet, 11, uuid);
    ap__pb_close(p->packet, event);
    ap__pf_end(p);
}
