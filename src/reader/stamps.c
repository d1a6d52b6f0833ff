/* SPDX-License-Identifier: Apache-2.0 */
/* Typed stamps over the record iterator; joins messages that the vendor splits into segments. */
#include <stdlib.h>
#include <string.h>

#include "format/utf8.h"
#include "reader/reader_internal.h"

#define AP_SEGMENT_FULL 152u           /* as long: more may follow (cut at a character) */
#define AP_JOINED_MAX ((size_t)1 << 20) /* longer messages are given out in pieces */

static size_t ap__tx_length(const ap__wire_tx *tx)
{
    ap__blob text = {(const uint8_t *)tx->message, AP_TX_MESSAGE_BYTES - 1};

    return ap__blob_text_length(text);
}

static void ap__joins_clear(ap__stamp_reader *s)
{
    for (uint32_t i = 0; i < s->join_count; i++) {
        free(s->joins[i].text);
    }
    s->join_count = 0;
    free(s->joined);
    s->joined = NULL;
}

void ap__reader_rewind(ap__reader *reader)
{
    ap__stamp_reader *s = &reader->stamps;

    ap__joins_clear(s);
    if (s->records != NULL) {
        ap__records_close(s->records);
        s->records = NULL;
    }
    s->held = false;
    s->ended = false;
}

/* The next record of the stream, the held one first. */
static bool ap__fetch(ap__reader *reader, ap__raw_record *raw, ap__wire_tx *tx)
{
    ap__stamp_reader *s = &reader->stamps;
    ap__blob data;

    if (s->held) {
        *raw = s->held_raw;
        *tx = s->held_tx;
        s->held = false;
        return true;
    }
    if (s->ended) {
        return false;
    }
    if (s->records == NULL) {
        s->records = ap__records_open(reader, AP_RECORD_ADDITIONAL, "msproftx");
        if (s->records == NULL) {
            ap__note(&reader->notes, "no memory to read stamps");
            s->ended = true;
            return false;
        }
    }
    if (!ap__records_next(s->records, raw)) {
        s->ended = true;
        return false;
    }
    data = ap__blob_part(raw->record, offsetof(ap__wire_additional, data), sizeof(*tx));
    (void)ap__blob_copy(data, 0, tx, sizeof(*tx));
    return true;
}

static void ap__fill(const ap__reader *reader, const ap__raw_record *raw, const ap__wire_tx *tx,
                     ap__stamp_record *out)
{
    const ap__host_clock *clock = &reader->meta.clock;

    memset(out, 0, sizeof(*out));
    out->event = tx->event_type;
    out->info_type = tx->info_type;
    out->pid = tx->process_id;
    out->tid = tx->thread_id;
    out->category = tx->category;
    out->category_name = ap__reader_category_name(reader, tx->category);
    out->payload_type = tx->payload_type;
    out->payload = tx->payload;
    out->start_ns = ap__host_clock_ns(clock, tx->start_time);
    out->end_ns = ap__host_clock_ns(clock, tx->end_time);
    out->mark_id = tx->mark_id;
    out->domain = tx->domain;
    out->domain_name = tx->domain != 0 ? ap__reader_hash_text(reader, tx->domain) : NULL;
    out->message_type = tx->message_type;
    out->segments = 1;
    out->slice = raw->slice;
    out->index = raw->index;
    out->from_ring = raw->from_ring;
}

static const char *ap__name(const ap__reader *reader, uint64_t id)
{
    return id == 0 ? NULL : ap__text_map_find(&reader->dictionaries.names, id, NULL);
}

static void ap__give_single(ap__reader *reader, const ap__raw_record *raw, const ap__wire_tx *tx,
                            ap__stamp_record *out)
{
    ap__stamp_reader *s = &reader->stamps;
    size_t length = ap__tx_length(tx);
    const char *whole = NULL;

    ap__fill(reader, raw, tx, out);
    length = ap__utf8_clean(s->message, sizeof(s->message) - 1, tx->message, length);
    s->message[length] = '\0';
    out->message = s->message;
    out->message_length = length;
    if (raw->name_id != 0) {
        whole = ap__text_map_find(&reader->dictionaries.names, raw->name_id, &length);
    }
    if (whole != NULL) {
        out->message = whole;
        out->message_length = length;
    }
    out->message_cut = (raw->name_id != 0 || raw->cut) && whole == NULL;
    out->tag = ap__name(reader, raw->tag_id);
    out->call_stack = ap__name(reader, raw->stack_id);
}

/* Only as a whole: a character may lie in two segments. */
static void ap__clean_join(ap__join *join)
{
    size_t most = join->length * AP_UTF8_GROWTH;
    char *text = NULL;

    if (ap__utf8_is_clean(join->text, join->length)) {
        return;
    }
    text = malloc(most + 1);
    if (text == NULL) {
        for (size_t i = 0; i < join->length; i++) {
            join->text[i] = (unsigned char)join->text[i] < 0x80 ? join->text[i] : '?';
        }
        return;
    }
    join->length = ap__utf8_clean(text, most, join->text, join->length);
    text[join->length] = '\0';
    free(join->text);
    join->text = text;
}

static void ap__give_join(ap__reader *reader, uint32_t at, ap__stamp_record *out)
{
    ap__stamp_reader *s = &reader->stamps;
    ap__join join = s->joins[at];

    memmove(&s->joins[at], &s->joins[at + 1], (s->join_count - at - 1) * sizeof(join));
    s->join_count--;
    ap__clean_join(&join);
    free(s->joined);
    s->joined = join.text;
    ap__fill(reader, &join.first, &join.tx, out);
    out->segments = join.next_segment;
    out->message = s->joined;
    out->message_length = join.length;
}

/* Appends one segment's text; false without memory or beyond the limit. */
static bool ap__join_add(ap__join *join, const ap__wire_tx *tx)
{
    size_t length = ap__tx_length(tx);

    if (length > AP_JOINED_MAX - join->length) {
        return false;
    }
    if (join->length + length + 1 > join->room) {
        size_t room = (join->length + length + 1) * 2;
        char *bigger = realloc(join->text, room);

        if (bigger == NULL) {
            return false;
        }
        join->text = bigger;
        join->room = room;
    }
    memcpy(join->text + join->length, tx->message, length);
    join->length += length;
    join->text[join->length] = '\0';
    join->next_segment++;
    return true;
}

/* May more segments follow this record? MarkEx never has any, and its segment field is garbage. */
static bool ap__may_go_on(const ap__wire_tx *tx)
{
    return tx->info_type == AP_TX_INFO_EX && tx->event_type != AP_TX_MARK_EX &&
           ap__tx_length(tx) >= AP_SEGMENT_FULL;
}

static bool ap__continues(const ap__join *join, const ap__wire_tx *tx)
{
    return tx->info_type == AP_TX_INFO_EX && tx->event_type == join->tx.event_type &&
           tx->mark_id == join->tx.mark_id && tx->segment == join->next_segment;
}

/* A thread reports the segments of a message one after the other: at most one join a thread. */
static uint32_t ap__join_of(const ap__stamp_reader *s, const ap__wire_tx *tx)
{
    uint32_t i = 0;

    while (i < s->join_count && (s->joins[i].tx.thread_id != tx->thread_id ||
                                 s->joins[i].tx.process_id != tx->process_id)) {
        i++;
    }
    return i;
}

static void ap__hold(ap__stamp_reader *s, const ap__raw_record *raw, const ap__wire_tx *tx)
{
    s->held_raw = *raw;
    s->held_tx = *tx;
    s->held = true;
}

/* Begins a join; false when the record is to be given out as it is. */
static bool ap__join_begin(ap__stamp_reader *s, const ap__raw_record *raw, const ap__wire_tx *tx)
{
    ap__join *join = &s->joins[s->join_count];

    memset(join, 0, sizeof(*join));
    join->first = *raw;
    join->tx = *tx;
    if (!ap__join_add(join, tx)) {
        return false;
    }
    s->join_count++;
    return true;
}

bool ap__reader_next_stamp(ap__reader *reader, ap__stamp_record *out)
{
    ap__stamp_reader *s = &reader->stamps;
    ap__raw_record raw;
    ap__wire_tx tx;

    while (ap__fetch(reader, &raw, &tx)) {
        uint32_t at = ap__join_of(s, &tx);

        if (at < s->join_count) {
            if (!ap__continues(&s->joins[at], &tx) || !ap__join_add(&s->joins[at], &tx)) {
                ap__hold(s, &raw, &tx);
                ap__give_join(reader, at, out);
                return true;
            }
            if (ap__may_go_on(&tx)) {
                continue;
            }
            ap__give_join(reader, at, out);
            return true;
        }
        if (ap__may_go_on(&tx) && tx.segment == 0) {
            if (s->join_count == AP_JOINS_MAX) {
                ap__hold(s, &raw, &tx);
                ap__give_join(reader, 0, out);
                return true;
            }
            if (ap__join_begin(s, &raw, &tx)) {
                continue;
            }
        }
        ap__give_single(reader, &raw, &tx, out);
        return true;
    }
    if (s->join_count != 0) {
        ap__give_join(reader, 0, out);
        return true;
    }
    return false;
}
