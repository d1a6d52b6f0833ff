/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the fixed-size records of one source, slice after slice, in constant memory. */
#ifndef AP_READER_SLICE_CURSOR_H_
#define AP_READER_SLICE_CURSOR_H_

#include <stdbool.h>
#include <stdint.h>

#include "reader/blob.h"
#include "reader/notes.h"
#include "reader/sources.h"

#define AP_CURSOR_BUFFER 65536u

typedef struct ap__slice_cursor {
    int data_fd;
    const ap__source *source;
    ap__notes *notes;
    uint32_t record_size;
    uint16_t magic;     /* of every record, at magic_at; 0: they have none */
    uint32_t magic_at;
    bool glued; /* records may straddle slices */

    /* an unfinished directory: what lies beyond this position is not looked at */
    bool limited;
    uint32_t limit_slice;
    uint64_t limit_bytes;

    uint32_t at; /* slice in the source's list, the one being read or to be opened next */
    int fd;      /* -1 when no slice is open */
    uint64_t offset;
    uint64_t end;
    uint64_t bad_here; /* in the open slice */

    uint32_t record_slice; /* where the next record begins */
    uint32_t record_index;
    bool record_started; /* its first bytes are in the buffer already */

    uint64_t records;     /* returned */
    uint64_t bad_records; /* without magic, skipped */
    uint64_t torn_bytes;  /* that make no whole record */

    uint32_t first;
    uint32_t filled;
    uint8_t buffer[AP_CURSOR_BUFFER];
} ap__slice_cursor;

/* The source must have fixed records. */
void ap__slice_cursor_begin(ap__slice_cursor *cursor, int data_fd, const ap__source *source,
                            ap__notes *notes);
/* Records of another size and magic than the source's kind has. */
void ap__slice_cursor_begin_as(ap__slice_cursor *cursor, int data_fd, const ap__source *source,
                               uint32_t record_size, uint16_t magic, uint32_t magic_at,
                               ap__notes *notes);
void ap__slice_cursor_limit(ap__slice_cursor *cursor, uint32_t slice, uint64_t bytes);
/* false at the end. The record is valid until the next call. */
bool ap__slice_cursor_next(ap__slice_cursor *cursor, ap__blob *record, uint32_t *slice,
                           uint32_t *index);
void ap__slice_cursor_end(ap__slice_cursor *cursor);

#endif
