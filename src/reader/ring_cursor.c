/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/ring_cursor.h"

#include <string.h>

#include "format/raw_record.h"
#include "reader/blob.h"

#define AP_BODY_KNOWN                                                                             \
    ((uint32_t)AP_BODY_ATTR | AP_BODY_NAME | AP_BODY_TAG | AP_BODY_STACK | AP_BODY_CUT)

/* A body taken apart; the message points into it. */
typedef struct ap__body_parts {
    uint32_t category;
    int32_t payload_type;
    uint64_t payload;
    ap__ext_ids ids;
    const char *message;
    size_t length;
} ap__body_parts;

void ap__ring_cursor_begin(ap__ring_cursor *cursor, const ap__arena_view *view, bool keep_cycles,
                           ap__notes *notes)
{
    cursor->view = view;
    cursor->notes = notes;
    cursor->pid = view->pid;
    cursor->keep_cycles = keep_cycles;
    cursor->slot = 0;
    cursor->open = false;
    ap__window_begin(&cursor->window, view->fd);
}

static uint64_t ap__time(const ap__ring_cursor *cursor, uint64_t cycles)
{
    return cursor->keep_cycles ? cycles : ap__clock_line_ns(&cursor->view->line, cycles);
}

/* false: no body of ours */
static bool ap__body_take(const uint64_t *words, uint32_t count, uint32_t flags,
                          ap__body_parts *out)
{
    ap__blob body = {(const uint8_t *)words, (size_t)count * 8};
    ap__blob text = {NULL, 0};
    size_t at = 0;

    memset(out, 0, sizeof(*out));
    if (count > AP_BODY_MAX_WORDS || (flags & ~AP_BODY_KNOWN) != 0) {
        return false;
    }
    if ((flags & AP_BODY_ATTR) != 0) {
        out->category = ap__blob_u32(body, at);
        out->payload_type = (int32_t)ap__blob_u32(body, at + 4);
        out->payload = ap__blob_u64(body, at + 8);
        at += 16;
    }
    if ((flags & AP_BODY_NAME) != 0) {
        out->ids.name = ap__blob_u64(body, at);
        at += 8;
    }
    if ((flags & AP_BODY_TAG) != 0) {
        out->ids.tag = ap__blob_u64(body, at);
        at += 8;
    }
    if ((flags & AP_BODY_STACK) != 0) {
        out->ids.stack = ap__blob_u64(body, at);
        at += 8;
    }
    if (at > body.size) {
        return false;
    }
    text = ap__blob_part(body, at, body.size);
    out->length = ap__blob_text_length(text);
    out->message = out->length != 0 ? (const char *)text.data : "";
    return out->length <= AP_MESSAGE_MAX;
}

/* Opens slot `cursor->slot` at the position that is on disk. */
static void ap__slot_begin(ap__ring_cursor *cursor, ap__ring_item *item)
{
    const ap__arena_view *view = cursor->view;
    ap__ring_head head;
    uint32_t active = view->active;

    memset(item, 0, sizeof(*item));
    item->slot = cursor->slot;
    item->kind = AP_RING_BEGIN;
    cursor->open = true;
    cursor->position = 0;
    cursor->committed = 0;
    cursor->last_ns = 0;
    memset(&cursor->counters, 0, sizeof(cursor->counters));
    if (ap__pread_full(view->fd, &head, sizeof(head), ap__arena_view_slot(view, cursor->slot)) !=
        sizeof(head)) {
        cursor->committed = UINT64_MAX; /* found damaged by the first look at the ring */
        return;
    }
    cursor->position = atomic_load_explicit(&head.drained[active], memory_order_relaxed);
    cursor->committed = atomic_load_explicit(&head.committed, memory_order_relaxed);
    cursor->tid = atomic_load_explicit(&head.drained_tid[active], memory_order_relaxed);
    cursor->counters.emitted = atomic_load_explicit(&head.emitted, memory_order_relaxed);
    cursor->counters.lost_full = atomic_load_explicit(&head.lost_full, memory_order_relaxed);
    cursor->counters.lost_reentrant =
        atomic_load_explicit(&head.lost_reentrant, memory_order_relaxed);
    cursor->counters.sampled_cycles =
        atomic_load_explicit(&head.sampled_cycles, memory_order_relaxed);
    cursor->counters.sampled_calls =
        atomic_load_explicit(&head.sampled_calls, memory_order_relaxed);
    cursor->counters.in_use = head.in_use != 0;
    item->tid = cursor->tid;
    item->counters = cursor->counters;
}

static void ap__slot_end(ap__ring_cursor *cursor, ap__ring_item *item, const char *damage)
{
    memset(item, 0, sizeof(*item));
    item->kind = AP_RING_END;
    item->slot = cursor->slot;
    item->tid = cursor->tid;
    item->counters = cursor->counters;
    item->damaged = damage != NULL;
    if (damage != NULL) {
        item->left_bytes = cursor->committed - cursor->position;
        ap__note(cursor->notes, "ring %u is damaged (%s): its last %llu bytes are lost",
                 cursor->slot, damage, (unsigned long long)item->left_bytes);
    }
    cursor->open = false;
    cursor->slot++;
}

static bool ap__ring_bounds_ok(const ap__ring_cursor *cursor)
{
    uint64_t position = cursor->position;
    uint64_t committed = cursor->committed;

    return position <= committed && committed - position <= cursor->view->ring_bytes &&
           position % 8 == 0 && committed % 8 == 0;
}

/* Reads the record at the position. NULL, or what is wrong. */
static const char *ap__record_get(ap__ring_cursor *cursor, ap__rec_head *head)
{
    const ap__arena_view *view = cursor->view;
    uint64_t in_ring = cursor->position & (view->ring_bytes - 1);
    uint64_t file = ap__arena_view_slot(view, cursor->slot) + AP_RING_HEAD_BYTES +
                    view->stack_bytes + in_ring;
    uint64_t bytes = 0;

    if (!ap__window_get(&cursor->window, file, head, sizeof(*head))) {
        return "cannot be read";
    }
    bytes = (uint64_t)head->words * 8;
    if (head->words == 0) {
        return "a record without length";
    }
    if (bytes > view->ring_bytes - in_ring) {
        return "a record beyond the end of the ring";
    }
    if (bytes > cursor->committed - cursor->position) {
        return "a record beyond what was committed";
    }
    if (head->kind == AP_REC_PAD) {
        return NULL;
    }
    if (head->words > (head->kind == AP_REC_RAW ? AP_REC_RAW_WORDS : AP_REC_MAX_WORDS)) {
        return "a record that is too long";
    }
    return ap__window_get(&cursor->window, file, cursor->record, (size_t)bytes) ? NULL
                                                                                 : "cannot be read";
}

static const char *ap__take_owner(ap__ring_cursor *cursor, const ap__rec_head *head,
                                  ap__ring_item *item)
{
    ap__rec_thread rec;

    if (head->words != sizeof(rec) / 8) {
        return "an owner record of wrong length";
    }
    memcpy(&rec, cursor->record, sizeof(rec));
    cursor->tid = rec.tid;
    item->kind = AP_RING_OWNER;
    item->tid = rec.tid;
    item->counters.emitted = rec.emitted_base;
    item->counters.lost_full = rec.lost_full_base;
    item->counters.lost_reentrant = rec.lost_reentrant_base;
    return NULL;
}

static void ap__take_times(ap__ring_cursor *cursor, uint32_t before, ap__stamp_fields *fields)
{
    fields->end_ns = ap__time(cursor, cursor->record[before - 1]);
    if (fields->end_ns < cursor->last_ns) {
        fields->end_ns = cursor->last_ns;
    }
    cursor->last_ns = fields->end_ns;
    fields->start_ns = before == 2 ? fields->end_ns : ap__time(cursor, cursor->record[1]);
    if (fields->start_ns > fields->end_ns) {
        fields->start_ns = fields->end_ns;
    }
}

static const char *ap__take_event(ap__ring_cursor *cursor, const ap__rec_head *head,
                                  ap__ring_item *item)
{
    static const uint32_t events[] = {
        [AP_REC_MARK] = AP_TX_MARK,
        [AP_REC_PUSH_POP] = AP_TX_PUSH_POP,
        [AP_REC_RANGE] = AP_TX_RANGE,
    };
    uint32_t before = head->kind == AP_REC_MARK ? 2 : 3; /* words before the body */
    ap__body_parts parts;

    if (head->words < before) {
        return "an event without its times";
    }
    if (!ap__body_take(cursor->record + before, head->words - before, head->flags, &parts)) {
        return "an event of unknown shape";
    }
    item->kind = AP_RING_EVENT;
    item->tid = cursor->tid;
    item->ids = parts.ids;
    item->seq = head->seq;
    item->cut = (head->flags & AP_BODY_CUT) != 0;
    item->fields.event_type = events[head->kind];
    item->fields.tid = cursor->tid;
    item->fields.pid = cursor->pid;
    item->fields.category = parts.category;
    item->fields.payload_type = parts.payload_type;
    item->fields.payload = parts.payload;
    ap__take_times(cursor, before, &item->fields);
    item->fields.message = parts.message;
    item->fields.length = parts.length;
    return NULL;
}

static const char *ap__take_raw(ap__ring_cursor *cursor, const ap__rec_head *head,
                                ap__ring_item *item)
{
    uint64_t bytes = head->words >= 2 ? cursor->record[1] : UINT64_MAX;
    uint32_t size = ap__raw_bytes(head->flags);

    if ((head->flags & ~AP_RAW_KNOWN) != 0 || bytes > (head->words - 2) * 8u ||
        (size == 1 ? bytes == 0 : bytes != size)) {
        return "a record of unknown shape";
    }
    item->kind = AP_RING_RAW;
    item->tid = cursor->tid;
    item->seq = head->seq;
    item->raw_flags = head->flags;
    item->raw_bytes = (uint32_t)bytes;
    item->raw = (const uint8_t *)(cursor->record + 2);
    return NULL;
}

/* The next item of the open slot; its end when there is none. */
static void ap__slot_next(ap__ring_cursor *cursor, ap__ring_item *item)
{
    const char *damage = ap__ring_bounds_ok(cursor) ? NULL : "impossible positions";

    memset(item, 0, sizeof(*item));
    item->slot = cursor->slot;
    while (damage == NULL && cursor->position != cursor->committed) {
        ap__rec_head head;

        damage = ap__record_get(cursor, &head);
        if (damage != NULL) {
            break;
        }
        if (head.kind == AP_REC_THREAD) {
            damage = ap__take_owner(cursor, &head, item);
        } else if (head.kind >= AP_REC_MARK && head.kind <= AP_REC_RANGE) {
            damage = ap__take_event(cursor, &head, item);
        } else if (head.kind == AP_REC_RAW) {
            damage = ap__take_raw(cursor, &head, item);
        } else if (head.kind != AP_REC_PAD) {
            damage = "a record of unknown kind";
        }
        if (damage == NULL) {
            cursor->position += (uint64_t)head.words * 8;
            if (head.kind != AP_REC_PAD) {
                return;
            }
        }
    }
    ap__slot_end(cursor, item, damage);
}

bool ap__ring_cursor_next(ap__ring_cursor *cursor, ap__ring_item *item)
{
    if (!cursor->open) {
        if (cursor->slot >= cursor->view->slot_count) {
            return false;
        }
        ap__slot_begin(cursor, item);
        return true;
    }
    ap__slot_next(cursor, item);
    return true;
}

uint32_t ap__open_pushes(const ap__arena_view *view, uint32_t slot, ap__open_push *out,
                         uint32_t room, uint32_t *kept)
{
    uint64_t base = ap__arena_view_slot(view, slot);
    ap__ring_head head;
    uint32_t depth = 0;
    uint32_t tid = 0;

    *kept = 0;
    if (slot >= view->slot_count ||
        ap__pread_full(view->fd, &head, sizeof(head), base) != sizeof(head)) {
        return 0;
    }
    depth = atomic_load_explicit(&head.depth, memory_order_relaxed);
    tid = atomic_load_explicit(&head.tid, memory_order_relaxed);
    if (head.in_use == 0) {
        return 0; /* its owner has ended: what it left open ended with it */
    }
    if (depth > view->stack_bytes / sizeof(ap__frame)) {
        depth = view->stack_bytes / (uint32_t)sizeof(ap__frame);
    }
    for (uint32_t i = 0; i < depth && *kept < room; i++) {
        ap__frame frame;
        ap__open_push *to = out + *kept;
        ap__body_parts parts;

        if (ap__pread_full(view->fd, &frame, sizeof(frame),
                           base + AP_RING_HEAD_BYTES + (uint64_t)i * sizeof(frame)) !=
                sizeof(frame) ||
            !ap__body_take(frame.body, frame.shape & 0xffffff, frame.shape >> 24, &parts)) {
            break;
        }
        to->slot = slot;
        to->tid = tid;
        to->since_ns = ap__clock_line_ns(&view->line, frame.cycles);
        to->length = parts.length;
        memcpy(to->message, parts.message, parts.length);
        to->message[parts.length] = '\0';
        (*kept)++;
    }
    return depth;
}
