/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/ext_cursor.h"

#include <string.h>
#include <unistd.h>

#include "reader/safe_file.h"

void ap__ext_cursor_begin(ap__ext_cursor *cursor, int ext_fd, uint64_t limit, ap__notes *notes)
{
    uint64_t size = 0;

    memset(cursor, 0, sizeof(*cursor));
    cursor->notes = notes;
    cursor->fd = ext_fd < 0 ? -1 : ap__open_regular(ext_fd, AP_EXT_STAMP_NAME, 0, &size, notes);
    if (cursor->fd < 0) {
        cursor->fd = -1;
        return;
    }
    cursor->end = size < limit ? size : limit;
    if (cursor->end % sizeof(ap__ext_stamp) != 0) {
        ap__note(notes, "%s/%s: a torn last entry skipped", AP_EXT_DIR, AP_EXT_STAMP_NAME);
        cursor->end -= cursor->end % sizeof(ap__ext_stamp);
    }
}

void ap__ext_cursor_end(ap__ext_cursor *cursor)
{
    if (cursor->fd >= 0) {
        close(cursor->fd);
        cursor->fd = -1;
    }
}

static bool ap__ext_fill(ap__ext_cursor *cursor)
{
    uint64_t skip = 0;
    uint64_t want = 0;
    int64_t got = 0;

    if (cursor->fd < 0) {
        return false;
    }
    /* the head may be a hole: entries of slices that were deleted */
    skip = ap__skip_hole(cursor->fd, cursor->offset, cursor->end) - cursor->offset;
    cursor->offset += skip - skip % sizeof(ap__ext_stamp);
    want = cursor->end - cursor->offset;
    if (want > sizeof(cursor->entries)) {
        want = sizeof(cursor->entries);
    }
    got = want == 0 ? 0 : ap__pread_full(cursor->fd, cursor->entries, (size_t)want, cursor->offset);
    cursor->first = 0;
    cursor->filled = got > 0 ? (uint32_t)((size_t)got / sizeof(ap__ext_stamp)) : 0;
    cursor->offset += (uint64_t)cursor->filled * sizeof(ap__ext_stamp);
    return cursor->filled != 0;
}

/* -1, 0, 1: entry before, at, after the record */
static int ap__ext_compare(const ap__ext_stamp *e, uint32_t slice, uint32_t index)
{
    if (e->slice != slice) {
        return e->slice < slice ? -1 : 1;
    }
    return e->index < index ? -1 : e->index > index;
}

static void ap__ext_check_order(ap__ext_cursor *cursor, const ap__ext_stamp *e)
{
    if (ap__ext_compare(e, cursor->last_slice, cursor->last_index) < 0 && !cursor->disorder) {
        cursor->disorder = true;
        ap__note(cursor->notes, "%s/%s is damaged: entries out of order; names may be missing",
                 AP_EXT_DIR, AP_EXT_STAMP_NAME);
    }
    cursor->last_slice = e->slice;
    cursor->last_index = e->index;
}

void ap__ext_cursor_ids(ap__ext_cursor *cursor, uint32_t slice, uint32_t index, ap__ext_ids *out)
{
    memset(out, 0, sizeof(*out));
    while (cursor->first < cursor->filled || ap__ext_fill(cursor)) {
        const ap__ext_stamp *e = &cursor->entries[cursor->first];
        int c = ap__ext_compare(e, slice, index);

        if (e->kind == 0) {
            cursor->first++;
            continue;
        }
        if (c > 0) {
            return;
        }
        ap__ext_check_order(cursor, e);
        cursor->first++;
        if (c == 0) {
            if (e->kind == AP_EXT_NAME) {
                out->name = e->id;
            } else if (e->kind == AP_EXT_TAG) {
                out->tag = e->id;
            } else if (e->kind == AP_EXT_STACK) {
                out->stack = e->id;
            }
        }
    }
}
