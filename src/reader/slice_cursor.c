/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/slice_cursor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format/wire_host.h"
#include "reader/safe_file.h"

#define AP_SLICE_NAME_MAX 256u

/* Streams whose readers take every slice by itself. */
static bool ap__reads_per_slice(const ap__source *source)
{
    return strcmp(source->tag, "msproftx") == 0;
}

void ap__slice_cursor_begin(ap__slice_cursor *cursor, int data_fd, const ap__source *source,
                            ap__notes *notes)
{
    memset(cursor, 0, offsetof(ap__slice_cursor, buffer));
    cursor->data_fd = data_fd;
    cursor->source = source;
    cursor->notes = notes;
    cursor->record_size = ap__source_record_size(source->kind);
    cursor->magic = AP_WIRE_MAGIC;
    cursor->glued = !ap__reads_per_slice(source);
    cursor->fd = -1;
}

void ap__slice_cursor_begin_as(ap__slice_cursor *cursor, int data_fd, const ap__source *source,
                               uint32_t record_size, uint16_t magic, uint32_t magic_at,
                               ap__notes *notes)
{
    ap__slice_cursor_begin(cursor, data_fd, source, notes);
    cursor->record_size = record_size;
    cursor->magic = magic;
    cursor->magic_at = magic_at;
}

void ap__slice_cursor_limit(ap__slice_cursor *cursor, uint32_t slice, uint64_t bytes)
{
    cursor->limited = true;
    cursor->limit_slice = slice;
    cursor->limit_bytes = bytes;
}

void ap__slice_cursor_end(ap__slice_cursor *cursor)
{
    if (cursor->fd >= 0) {
        close(cursor->fd);
        cursor->fd = -1;
    }
}

/* Bytes of slice `at` that may be read. */
static uint64_t ap__slice_extent(const ap__slice_cursor *cursor, const ap__source_slice *slice)
{
    if (!cursor->limited || slice->number < cursor->limit_slice) {
        return slice->size;
    }
    if (slice->number > cursor->limit_slice) {
        return 0;
    }
    return slice->size < cursor->limit_bytes ? slice->size : cursor->limit_bytes;
}

static bool ap__run_begins(const ap__slice_cursor *cursor)
{
    const ap__source_slice *s = cursor->source->slices;
    uint32_t at = cursor->at;

    return at == 0 || s[at].number != s[at - 1].number + 1;
}

static bool ap__magic_at(const ap__slice_cursor *cursor, int fd, uint64_t offset)
{
    uint16_t magic = 0;

    return cursor->magic != 0 &&
           ap__pread_full(fd, &magic, sizeof(magic), offset + cursor->magic_at) == sizeof(magic) &&
           magic == cursor->magic;
}

/* A run of slices whose beginning was deleted may start in the middle of a record: how many bytes
 * to pass over. */
static uint64_t ap__run_head(const ap__slice_cursor *cursor, int fd)
{
    const ap__source_slice *s = cursor->source->slices;
    uint64_t total = 0;
    uint64_t rest = 0;

    if (s[cursor->at].number == 0) {
        return 0;
    }
    for (uint32_t i = cursor->at; i < cursor->source->slice_count; i++) {
        if (i > cursor->at && s[i].number != s[i - 1].number + 1) {
            break;
        }
        total += ap__slice_extent(cursor, &s[i]);
    }
    rest = total % cursor->record_size;
    if (rest == 0 || ap__magic_at(cursor, fd, 0) || !ap__magic_at(cursor, fd, rest)) {
        return 0;
    }
    return rest;
}

static void ap__drop_torn(ap__slice_cursor *cursor)
{
    uint32_t torn = cursor->filled - cursor->first;

    if (torn != 0) {
        cursor->torn_bytes += torn;
        ap__note(cursor->notes, "data/%s.slice_%u: a torn record of %u bytes skipped",
                 cursor->source->name, cursor->record_slice, torn);
    }
    cursor->first = 0;
    cursor->filled = 0;
    cursor->record_started = false;
}

static void ap__close_slice(ap__slice_cursor *cursor)
{
    if (cursor->bad_here != 0) {
        ap__note(cursor->notes, "data/%s.slice_%u: %llu damaged records skipped",
                 cursor->source->name, cursor->source->slices[cursor->at].number,
                 (unsigned long long)cursor->bad_here);
        cursor->bad_here = 0;
    }
    close(cursor->fd);
    cursor->fd = -1;
    cursor->at++;
    if (!cursor->glued) {
        ap__drop_torn(cursor);
    }
}

/* Opens slice `at`; false when it cannot be read (it is then passed over). */
static bool ap__open_slice(ap__slice_cursor *cursor)
{
    const ap__source_slice *slice = &cursor->source->slices[cursor->at];
    char name[AP_SLICE_NAME_MAX];
    char why[128];
    uint64_t size = 0;
    uint64_t extent = ap__slice_extent(cursor, slice);
    int fd = -1;

    if (ap__run_begins(cursor)) {
        if (cursor->at != 0) {
            ap__drop_torn(cursor);
            ap__note(cursor->notes, "data/%s: slices %u to %u are missing", cursor->source->name,
                     cursor->source->slices[cursor->at - 1].number + 1, slice->number - 1);
        }
    }
    if (extent == 0 || !ap__source_name_make(name, sizeof(name), cursor->source->name,
                                            slice->number)) {
        cursor->at++;
        return false;
    }
    fd = ap__open_regular(cursor->data_fd, name, 0, &size, cursor->notes);
    if (fd < 0) {
        if (fd != -ENOTSUP) {
            ap__note(cursor->notes, "data/%s cannot be opened: %s", name,
                     ap__errno_text(-fd, why, sizeof(why)));
        }
        cursor->at++;
        ap__drop_torn(cursor);
        return false;
    }
    cursor->fd = fd;
    cursor->end = size < extent ? size : extent;
    cursor->offset = 0;
    if (cursor->glued && ap__run_begins(cursor)) {
        cursor->offset = ap__run_head(cursor, fd);
        if (cursor->offset != 0) {
            cursor->torn_bytes += cursor->offset;
        }
    }
    if (!cursor->record_started) {
        cursor->record_slice = slice->number;
        cursor->record_index = 0;
    }
    return true;
}

/* Skips the whole records of a hole: they are zeros. So is what is left in the buffer of the first
 * of them, when the record size does not divide the buffer's. */
static void ap__skip_zeros(ap__slice_cursor *cursor)
{
    uint32_t kept = cursor->filled - cursor->first;
    uint64_t begin = cursor->offset - kept;
    uint64_t skip = 0;

    if (kept != 0 && cursor->record_started) {
        return;
    }
    for (uint32_t i = cursor->first; i < cursor->filled; i++) {
        if (cursor->buffer[i] != 0) {
            return;
        }
    }
    skip = (ap__skip_hole(cursor->fd, cursor->offset, cursor->end) - begin) / cursor->record_size;
    if (skip == 0) {
        return;
    }
    cursor->first = 0;
    cursor->filled = 0;
    cursor->offset = begin + skip * cursor->record_size;
    cursor->bad_here += skip;
    cursor->bad_records += skip;
    cursor->record_index += (uint32_t)skip;
}

/* More bytes behind those in the buffer; false when the slice has no more. */
static bool ap__fill(ap__slice_cursor *cursor)
{
    uint32_t kept = 0;
    uint64_t want = 0;
    int64_t got = 0;
    char why[128];

    ap__skip_zeros(cursor);
    kept = cursor->filled - cursor->first;
    memmove(cursor->buffer, cursor->buffer + cursor->first, kept);
    cursor->first = 0;
    cursor->filled = kept;
    want = cursor->end - cursor->offset;
    if (want > AP_CURSOR_BUFFER - kept) {
        want = AP_CURSOR_BUFFER - kept;
    }
    if (want == 0) {
        return false;
    }
    got = ap__pread_full(cursor->fd, cursor->buffer + kept, (size_t)want, cursor->offset);
    if (got <= 0) {
        if (got < 0) {
            ap__note(cursor->notes, "data/%s.slice_%u cannot be read: %s", cursor->source->name,
                     cursor->source->slices[cursor->at].number,
                     ap__errno_text((int)-got, why, sizeof(why)));
        }
        cursor->end = cursor->offset;
        return false;
    }
    cursor->offset += (uint64_t)got;
    cursor->filled += (uint32_t)got;
    return true;
}

static void ap__advance(ap__slice_cursor *cursor)
{
    cursor->first += cursor->record_size;
    cursor->record_started = false;
    if (cursor->fd >= 0 && cursor->record_slice != cursor->source->slices[cursor->at].number) {
        /* the record began in the slice before: the next one is the first of this slice */
        cursor->record_slice = cursor->source->slices[cursor->at].number;
        cursor->record_index = 0;
    } else {
        cursor->record_index++;
    }
}

bool ap__slice_cursor_next(ap__slice_cursor *cursor, ap__blob *record, uint32_t *slice,
                           uint32_t *index)
{
    for (;;) {
        if (cursor->filled - cursor->first >= cursor->record_size) {
            ap__blob found = {cursor->buffer + cursor->first, cursor->record_size};
            bool good = cursor->magic == 0 ||
                        ap__blob_u16(found, cursor->magic_at) == cursor->magic;

            *record = found;
            *slice = cursor->record_slice;
            *index = cursor->record_index;
            ap__advance(cursor);
            if (good) {
                cursor->records++;
                return true;
            }
            cursor->bad_here++;
            cursor->bad_records++;
            continue;
        }
        if (cursor->fd < 0) {
            if (cursor->at >= cursor->source->slice_count) {
                ap__drop_torn(cursor);
                return false;
            }
            (void)ap__open_slice(cursor);
            continue;
        }
        if (!ap__fill(cursor)) {
            cursor->record_started = cursor->filled != cursor->first;
            ap__close_slice(cursor);
        }
    }
}
