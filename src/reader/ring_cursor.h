/* SPDX-License-Identifier: Apache-2.0 */
/* Walks what is left in the rings of an arena: every record between what is on disk and what was
 * committed. The reader shows these events, recovery writes them. */
#ifndef AP_READER_RING_CURSOR_H_
#define AP_READER_RING_CURSOR_H_

#include <stdbool.h>
#include <stdint.h>

#include "format/encode_stamp.h"
#include "reader/arena_view.h"
#include "reader/ext_cursor.h"
#include "reader/safe_file.h"

typedef enum ap__ring_item_kind {
    AP_RING_BEGIN, /* of a slot: counters */
    AP_RING_OWNER, /* another thread takes the slot */
    AP_RING_EVENT,
    AP_RING_RAW,   /* a record of CANN's libraries */
    AP_RING_END    /* of a slot; damaged tells that the rest of it is lost */
} ap__ring_item_kind;

/* Counters of a slot: at its end, or when an owner took it. */
typedef struct ap__ring_counters {
    uint64_t emitted; /* without the reentrant ones */
    uint64_t lost_full;
    uint64_t lost_reentrant;
    uint64_t sampled_cycles; /* these three: not of an owner's beginning */
    uint64_t sampled_calls;
    bool in_use;
} ap__ring_counters;

typedef struct ap__ring_item {
    ap__ring_item_kind kind;
    uint32_t slot;
    uint32_t tid;
    ap__ring_counters counters; /* BEGIN and END: of the slot; OWNER: at that moment */
    bool damaged;
    uint64_t left_bytes; /* END of a damaged one: what could not be read */

    uint32_t raw_flags; /* RAW: format/raw_record.h */
    uint32_t raw_bytes;
    const uint8_t *raw; /* valid until the next call */

    uint32_t seq;            /* EVENT, RAW: low half of the slot's emitted count before it */
    ap__stamp_fields fields; /* EVENT: times in ns (or ticks, see keep_cycles) */
    ap__ext_ids ids;
    bool cut;
} ap__ring_item;

typedef struct ap__ring_cursor {
    const ap__arena_view *view;
    ap__notes *notes;
    uint32_t pid;
    bool keep_cycles;
    uint32_t slot;
    bool open; /* slot is being walked */
    uint32_t tid;
    uint64_t last_ns; /* end of the newest event: times of one thread never run backwards */
    uint64_t position;
    uint64_t committed;
    ap__ring_counters counters;
    uint64_t record[AP_REC_RAW_WORDS];
    ap__window window;
} ap__ring_cursor;

/* keep_cycles: record times stay as they are in the ring (a directory whose records hold ticks).
 * The view must stay open and READY. */
void ap__ring_cursor_begin(ap__ring_cursor *cursor, const ap__arena_view *view, bool keep_cycles,
                           ap__notes *notes);
/* false at the end. Texts are valid until the next call. */
bool ap__ring_cursor_next(ap__ring_cursor *cursor, ap__ring_item *item);

/* A push that was never popped. */
typedef struct ap__open_push {
    uint32_t slot;
    uint32_t tid;
    uint64_t since_ns;
    size_t length;
    char message[AP_MESSAGE_MAX + 6];
} ap__open_push;

/* Frames on the push stack of a slot, outermost first, into `out` (at most `room`); *kept: how many
 * are there. Returns how many there should be. */
uint32_t ap__open_pushes(const ap__arena_view *view, uint32_t slot, ap__open_push *out,
                         uint32_t room, uint32_t *kept);

#endif
