/* SPDX-License-Identifier: Apache-2.0 */
/* Walks stamp_ext in step with the msproftx records: the ids of whole names, tags and stacks. */
#ifndef AP_READER_EXT_CURSOR_H_
#define AP_READER_EXT_CURSOR_H_

#include <stdbool.h>
#include <stdint.h>

#include "format/ext_wire.h"
#include "reader/notes.h"

#define AP_EXT_BATCH 256u

/* Ids of one record; 0: none. */
typedef struct ap__ext_ids {
    uint64_t name;
    uint64_t tag;
    uint64_t stack;
} ap__ext_ids;

typedef struct ap__ext_cursor {
    int fd; /* -1: there is no such file */
    ap__notes *notes;
    uint64_t offset;
    uint64_t end;
    uint32_t first;
    uint32_t filled;
    bool disorder; /* noted once */
    uint32_t last_slice;
    uint32_t last_index;
    ap__ext_stamp entries[AP_EXT_BATCH];
} ap__ext_cursor;

/* limit: bytes that count, UINT64_MAX for all. */
void ap__ext_cursor_begin(ap__ext_cursor *cursor, int ext_fd, uint64_t limit, ap__notes *notes);
/* Asked in rising order of (slice, index). */
void ap__ext_cursor_ids(ap__ext_cursor *cursor, uint32_t slice, uint32_t index, ap__ext_ids *out);
void ap__ext_cursor_end(ap__ext_cursor *cursor);

#endif
