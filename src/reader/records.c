/* SPDX-License-Identifier: Apache-2.0 */
/* The one iterator over records: slices first, then what is left in rings. */
#include <stdlib.h>
#include <string.h>

#include "format/encode_stamp.h"
#include "format/raw_record.h"
#include "reader/ext_cursor.h"
#include "reader/reader_internal.h"
#include "reader/ring_cursor.h"
#include "reader/slice_cursor.h"
#include "writer/slice.h"

struct ap__records {
    ap__reader *reader;
    uint32_t kinds;
    const char *tag;
    uint32_t source; /* in the reader's list: being read, or to be looked at next */
    bool open;
    bool own_stamps; /* the open source has entries in stamp_ext */
    bool rings_begun;
    uint32_t ring_slice; /* where the next record of a ring would lie */
    uint32_t ring_bytes;
    ap__record_counts counts;
    ap__slice_cursor cursor;
    ap__ext_cursor ext;
    ap__ring_cursor rings;
    ap__wire_additional ring_record;
};

ap__records *ap__records_open(ap__reader *reader, uint32_t kinds, const char *tag)
{
    ap__records *r = calloc(1, sizeof(*r));

    if (r != NULL) {
        r->reader = reader;
        r->kinds = kinds;
        r->tag = tag;
        r->cursor.fd = -1;
        r->ext.fd = -1;
    }
    return r;
}

static void ap__source_close(ap__records *r)
{
    r->counts.bad_records += r->cursor.bad_records;
    r->counts.torn_bytes += r->cursor.torn_bytes;
    ap__slice_cursor_end(&r->cursor);
    ap__ext_cursor_end(&r->ext);
    r->open = false;
    r->source++;
}

void ap__records_close(ap__records *records)
{
    ap__slice_cursor_end(&records->cursor);
    ap__ext_cursor_end(&records->ext);
    free(records);
}

void ap__records_counts(const ap__records *records, ap__record_counts *out)
{
    *out = records->counts;
    if (records->open) {
        out->bad_records += records->cursor.bad_records;
        out->torn_bytes += records->cursor.torn_bytes;
    }
}

static uint32_t ap__kind_bit(ap__source_kind kind)
{
    switch (kind) {
    case AP_SOURCE_API_EVENT:
        return AP_RECORD_API;
    case AP_SOURCE_COMPACT:
        return AP_RECORD_COMPACT;
    case AP_SOURCE_ADDITIONAL:
        return AP_RECORD_ADDITIONAL;
    default:
        return 0;
    }
}

/* What lies behind the checkpoint is in the rings still. */
static void ap__limit_raw(ap__records *r, const ap__source *source)
{
    const ap__arena_view *arena = &r->reader->arena;
    const ap__raw_point *point = NULL;

    if (!arena->has_checkpoint || strcmp(source->name, AP_TX_SOURCE) == 0) {
        return;
    }
    point = ap__arena_view_raw(arena, source->name);
    ap__slice_cursor_limit(&r->cursor, point != NULL ? point->slice : 0,
                           point != NULL ? point->slice_bytes : 0);
}

static void ap__source_open(ap__records *r, const ap__source *source)
{
    const ap__arena_view *arena = &r->reader->arena;
    uint64_t ext_limit = UINT64_MAX;

    ap__slice_cursor_begin(&r->cursor, r->reader->data_fd, source, &r->reader->notes);
    r->own_stamps = strcmp(source->name, AP_TX_SOURCE) == 0 && r->reader->ext_fd >= 0;
    if (r->own_stamps) {
        if (arena->has_checkpoint) {
            ap__slice_cursor_limit(&r->cursor, arena->checkpoint.tx_slice,
                                   arena->checkpoint.tx_slice_bytes);
            ext_limit = arena->checkpoint.ext_bytes;
        }
        ap__ext_cursor_begin(&r->ext, r->reader->ext_fd, ext_limit, &r->reader->notes);
    }
    ap__limit_raw(r, source);
    r->open = true;
}

/* Header of a compact or additional record: the same 24 bytes. */
static void ap__take_header(ap__raw_record *out, const ap__host_clock *clock)
{
    uint32_t length = ap__blob_u32(out->record, offsetof(ap__wire_additional, data_length));

    out->begin_ns = ap__host_clock_ns(
        clock, ap__blob_u64(out->record, offsetof(ap__wire_additional, time_stamp)));
    out->end_ns = out->begin_ns;
    out->payload = ap__blob_part(out->record, offsetof(ap__wire_additional, data), length);
}

static void ap__take_api(ap__raw_record *out, const ap__host_clock *clock)
{
    uint64_t begin = ap__blob_u64(out->record, offsetof(ap__wire_api, begin));
    uint64_t end = ap__blob_u64(out->record, offsetof(ap__wire_api, end));

    out->is_event = end == AP_WIRE_EVENT_END;
    out->begin_ns = ap__host_clock_ns(clock, begin);
    out->end_ns = out->is_event ? out->begin_ns : ap__host_clock_ns(clock, end);
    out->request =
        out->is_event ? ap__blob_u32(out->record, offsetof(ap__wire_event, request_id)) : 0;
    out->item = ap__blob_u64(out->record, offsetof(ap__wire_api, item_id));
    out->payload = ap__blob_part(out->record, offsetof(ap__wire_api, begin), SIZE_MAX);
}

static void ap__take_record(ap__records *r, const ap__source *source, ap__blob record,
                            ap__raw_record *out)
{
    const ap__host_clock *clock = &r->reader->meta.clock;

    out->record = record;
    out->level = ap__blob_u16(record, 2);
    out->type = ap__blob_u32(record, 4);
    out->tid = ap__blob_u32(record, 8);
    out->type_name = ap__reader_type_name(r->reader, out->level, out->type);
    if (out->kind != 0) {
        /* the caller has said */
    } else if (source != NULL) {
        out->kind = ap__kind_bit(source->kind);
        out->aging = source->aging;
        out->tag = source->tag;
    } else {
        out->kind = AP_RECORD_ADDITIONAL;
        out->aging = true;
        out->tag = "msproftx";
    }
    if (out->kind == AP_RECORD_API) {
        ap__take_api(out, clock);
    } else {
        ap__take_header(out, clock);
    }
    r->counts.records++;
}

static bool ap__next_on_disk(ap__records *r, ap__raw_record *out)
{
    const ap__sources *sources = &r->reader->sources;

    while (r->source < sources->count) {
        const ap__source *source = &sources->list[r->source];
        ap__blob record;

        if (!r->open) {
            if ((ap__kind_bit(source->kind) & r->kinds) == 0 ||
                (r->tag != NULL && strcmp(r->tag, source->tag) != 0)) {
                r->source++;
                continue;
            }
            ap__source_open(r, source);
        }
        if (!ap__slice_cursor_next(&r->cursor, &record, &out->slice, &out->index)) {
            ap__source_close(r);
            continue;
        }
        ap__take_record(r, source, record, out);
        if (r->own_stamps) {
            ap__ext_ids ids;

            ap__ext_cursor_ids(&r->ext, out->slice, out->index, &ids);
            out->name_id = ids.name;
            out->tag_id = ids.tag;
            out->stack_id = ids.stack;
        }
        return true;
    }
    return false;
}

static void ap__place_ring_record(ap__records *r, ap__raw_record *out)
{
    if (r->ring_bytes >= AP_SLICE_BYTES) {
        r->ring_slice++;
        r->ring_bytes = 0;
    }
    out->slice = r->ring_slice;
    out->index = r->ring_bytes / (uint32_t)sizeof(ap__wire_additional);
    r->ring_bytes += (uint32_t)sizeof(ap__wire_additional);
}

/* A record of CANN's libraries; false: not one that is wanted. */
static bool ap__take_raw(ap__records *r, const ap__ring_item *item, ap__raw_record *out)
{
    static const uint32_t kinds[] = {AP_RECORD_API, AP_RECORD_COMPACT, AP_RECORD_ADDITIONAL, 0};
    uint32_t kind = kinds[item->raw_flags & AP_RAW_CLASS];
    ap__blob record = {item->raw, item->raw_bytes};
    const char *tag = NULL;

    if ((kind & r->kinds) == 0) {
        return false;
    }
    tag = ap__raw_tag(item->raw_flags, ap__reader_type_name(r->reader, ap__blob_u16(record, 2),
                                                            ap__blob_u32(record, 4)));
    if (r->tag != NULL && strcmp(r->tag, tag) != 0) {
        return false;
    }
    out->kind = kind;
    out->tag = tag;
    out->aging = (item->raw_flags & AP_RAW_AGING) != 0;
    ap__take_record(r, NULL, record, out);
    if (ap__raw_is_tx(item->raw_flags, item->raw)) {
        ap__place_ring_record(r, out);
    }
    out->from_ring = true;
    r->counts.from_rings++;
    return true;
}

static bool ap__next_in_rings(ap__records *r, ap__raw_record *out)
{
    const ap__arena_view *arena = &r->reader->arena;
    ap__ring_item item;
    bool stamps = false;

    if (arena->state != AP_ARENA_READY) {
        return false;
    }
    stamps = (r->kinds & AP_RECORD_ADDITIONAL) != 0 &&
             (r->tag == NULL || strcmp(r->tag, "msproftx") == 0);
    if (!r->rings_begun) {
        ap__ring_cursor_begin(&r->rings, arena, r->reader->meta.clock.is_ticks, &r->reader->notes);
        r->ring_slice = arena->checkpoint.tx_slice;
        r->ring_bytes = arena->checkpoint.tx_slice_bytes;
        r->rings_begun = true;
    }
    while (ap__ring_cursor_next(&r->rings, &item)) {
        ap__blob record = {(const uint8_t *)&r->ring_record, sizeof(r->ring_record)};

        if (item.kind == AP_RING_END && item.damaged) {
            r->counts.damaged_rings++;
        }
        if (item.kind == AP_RING_RAW && ap__take_raw(r, &item, out)) {
            return true;
        }
        if (item.kind != AP_RING_EVENT || !stamps) {
            continue;
        }
        ap__encode_stamp(&r->ring_record, &item.fields);
        ap__take_record(r, NULL, record, out);
        ap__place_ring_record(r, out);
        out->from_ring = true;
        out->name_id = item.ids.name;
        out->tag_id = item.ids.tag;
        out->stack_id = item.ids.stack;
        out->cut = item.cut;
        r->counts.from_rings++;
        return true;
    }
    return false;
}

bool ap__records_next(ap__records *records, ap__raw_record *out)
{
    memset(out, 0, sizeof(*out));
    return ap__next_on_disk(records, out) || ap__next_in_rings(records, out);
}
