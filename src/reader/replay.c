/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reader/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/encode_stamp.h"
#include "format/ext_wire.h"
#include "reader/reader_internal.h"
#include "reader/ring_cursor.h"
#include "reader/safe_file.h"
#include "writer/dirs.h"
#include "writer/raw_streams.h"
#include "writer/slice.h"

#define AP_REPLAY_BATCH 256u
#define AP_SLICE_RECORDS (AP_SLICE_BYTES / (uint32_t)sizeof(ap__wire_additional))

typedef struct ap__replay_state {
    const ap__replay_in *in;
    ap__stream tx;
    int stamp_fd; /* stamp_ext, -1: cannot be had */
    uint64_t stamp_size;
    uint32_t count;
    uint32_t stamp_count;
    ap__wire_additional batch[AP_REPLAY_BATCH];
    ap__ext_stamp stamps[3 * AP_REPLAY_BATCH];
    ap__ring_cursor rings;
    ap__raw_streams raw;
    uint64_t raw_failed;
} ap__replay_state;

/* Slices behind the checkpoint's hold records that are in the rings still. */
static int ap__drop_later(const ap__replay_in *in)
{
    int rc = 0;

    for (uint32_t i = 0; in->source != NULL && i < in->source->slice_count && rc == 0; i++) {
        char name[256];
        char done[264];

        if (in->source->slices[i].number <= in->view->checkpoint.tx_slice ||
            !ap__source_name_make(name, sizeof(name), in->source->name,
                                  in->source->slices[i].number)) {
            continue;
        }
        (void)stpcpy(stpcpy(done, name), ".done");
        if ((unlinkat(in->data_fd, done, 0) != 0 && errno != ENOENT) ||
            unlinkat(in->data_fd, name, 0) != 0) {
            rc = errno;
        }
    }
    return rc;
}

/* Records of the checkpoint that are on disk; *last: bytes of the slice that is continued. */
static uint64_t ap__count_kept(const ap__replay_in *in, uint32_t *last)
{
    const ap__checkpoint *c = &in->view->checkpoint;
    uint64_t kept = 0;

    *last = 0;
    for (uint32_t i = 0; in->source != NULL && i < in->source->slice_count; i++) {
        uint64_t size = in->source->slices[i].size;

        if (in->source->slices[i].number > c->tx_slice) {
            continue;
        }
        if (in->source->slices[i].number == c->tx_slice) {
            size = size < c->tx_slice_bytes ? size : c->tx_slice_bytes;
            size -= size % sizeof(ap__wire_additional);
            *last = (uint32_t)size;
        }
        kept += size / sizeof(ap__wire_additional);
    }
    return kept;
}

static int ap__resume(ap__replay_state *s, uint64_t *kept, uint64_t *missing)
{
    const ap__replay_in *in = s->in;
    const ap__checkpoint *c = &in->view->checkpoint;
    uint32_t last = 0;
    uint64_t promised = c->tx_records > c->aged_records ? c->tx_records - c->aged_records : 0;
    int rc = ap__drop_later(in);

    *kept = ap__count_kept(in, &last);
    *missing = promised > *kept ? promised - *kept : 0;
    if (last != c->tx_slice_bytes) {
        ap__note(in->notes, "data/%s.slice_%u is shorter than it was: %u of %u bytes", AP_TX_SOURCE,
                 c->tx_slice, last, c->tx_slice_bytes);
    }
    ap__stream_init(&s->tx, in->data_fd, AP_TX_SOURCE, sizeof(ap__wire_additional));
    if (rc == 0) {
        rc = ap__stream_resume(&s->tx, c->tx_slice, last);
    }
    s->tx.owed_from = s->tx.slice; /* the .done of earlier slices are looked at elsewhere */
    return rc;
}

static int ap__resume_stamps(ap__replay_state *s)
{
    const ap__replay_in *in = s->in;
    uint64_t wanted = in->view->checkpoint.ext_bytes;
    uint64_t size = 0;
    int fd = ap__open_regular(in->ext_fd, AP_EXT_STAMP_NAME, 1, &size, in->notes);

    if (fd == -ENOENT) {
        fd = openat(in->ext_fd, AP_EXT_STAMP_NAME,
                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, AP_FILE_MODE);
        fd = fd < 0 ? -errno : fd;
    }
    if (fd < 0) {
        s->stamp_fd = -1;
        return -fd;
    }
    s->stamp_fd = fd;
    s->stamp_size = size < wanted ? size : wanted;
    s->stamp_size -= s->stamp_size % sizeof(ap__ext_stamp);
    return ftruncate(fd, (off_t)s->stamp_size) != 0 ? errno : 0;
}

/* A full disk: the reserve was made for this. */
static bool ap__free_reserve(const ap__replay_in *in, int rc)
{
    return (rc == ENOSPC || rc == EDQUOT) && unlinkat(in->ext_fd, AP_EXT_RESERVE_NAME, 0) == 0;
}

static int ap__write_batch(ap__replay_state *s)
{
    size_t bytes = s->count * sizeof(s->batch[0]);
    size_t done = 0;
    int rc = s->count == 0 ? 0 : ap__stream_append(&s->tx, s->batch, bytes, &done);

    if (rc != 0 && done < bytes && ap__free_reserve(s->in, rc)) {
        size_t more = 0;

        rc = ap__stream_append(&s->tx, (const char *)s->batch + done, bytes - done, &more);
        done += more;
    }
    s->count = 0;
    if (rc != 0 && done < bytes) {
        return rc;
    }
    rc = s->stamp_count == 0
             ? 0
             : ap__pwrite_full(s->stamp_fd, s->stamps, s->stamp_count * sizeof(s->stamps[0]),
                               s->stamp_size);
    s->stamp_size += s->stamp_count * sizeof(s->stamps[0]);
    s->stamp_count = 0;
    return rc;
}

static void ap__add_stamp(ap__replay_state *s, uint32_t kind, uint64_t id)
{
    uint64_t at = s->tx.size / sizeof(s->batch[0]) + s->count;

    if (id != 0) {
        s->stamps[s->stamp_count++] = (ap__ext_stamp){
            .slice = s->tx.slice + (uint32_t)(at / AP_SLICE_RECORDS),
            .index = (uint32_t)(at % AP_SLICE_RECORDS),
            .kind = kind,
            .id = id,
        };
    }
}

/* ---- records of CANN's libraries ---- */

static const char *ap__type_of(void *context, uint16_t level, uint32_t type)
{
    const ap__dictionaries *d = context;
    size_t length = 0;

    return ap__text_map_find(&d->types, ap__type_key(level, type), &length);
}

static void ap__count_failed(void *context, uint32_t owner, bool written)
{
    ap__replay_state *s = context;

    (void)owner;
    s->raw_failed += !written;
}

static bool ap__is_raw(const ap__source *source)
{
    return strcmp(source->name, AP_TX_SOURCE) != 0 &&
           (ap__source_record_size(source->kind) != 0 || source->kind == AP_SOURCE_VARIABLE);
}

/* Made behind the checkpoint: all of it is in the rings. */
static int ap__drop_source(const ap__replay_in *in, const ap__source *source)
{
    ap__stream s;

    ap__stream_init(&s, in->data_fd, source->name, 1);
    return ap__stream_resume(&s, 0, 0);
}

static int ap__resume_raw(ap__replay_state *s)
{
    const ap__arena_view *view = s->in->view;
    int rc = 0;

    ap__raw_streams_init(&s->raw, s->in->data_fd);
    s->raw.namer = ap__type_of;
    s->raw.namer_context = (void *)(uintptr_t)s->in->dictionaries;
    s->raw.told = ap__count_failed;
    s->raw.told_context = s;
    for (uint32_t i = 0; rc == 0 && i < s->in->sources->count; i++) {
        const ap__source *source = &s->in->sources->list[i];

        if (ap__is_raw(source) && ap__arena_view_raw(view, source->name) == NULL) {
            rc = ap__drop_source(s->in, source);
        }
    }
    for (uint32_t i = 0; rc == 0 && i < view->raw_count; i++) {
        const ap__raw_point *point = &view->raw[i];
        const ap__source *source = ap__sources_find(s->in->sources, point->name);
        ap__raw_stream *stream = NULL;

        if (source != NULL && !ap__is_raw(source)) {
            continue;
        }
        stream = ap__raw_stream_get(&s->raw, point->name,
                                    source != NULL && source->kind != AP_SOURCE_VARIABLE
                                        ? ap__source_record_size(source->kind)
                                        : 1);
        rc = stream == NULL ? ENOMEM
                            : ap__stream_resume(&stream->stream, point->slice,
                                                source != NULL ? point->slice_bytes : 0);
        if (rc == ERANGE) { /* shorter than it was: what is there is kept */
            ap__note(s->in->notes, "data/%s.slice_%u is shorter than it was", point->name,
                     point->slice);
            stream->stream.slice = point->slice + 1;
            rc = 0;
        }
        if (stream != NULL) {
            stream->stream.owed_from = stream->stream.slice;
            stream->records = point->records;
        }
    }
    return rc;
}

static int ap__write_rings(ap__replay_state *s, ap__tally *tally)
{
    ap__ring_item item;
    int rc = 0;

    ap__ring_cursor_begin(&s->rings, s->in->view, s->in->keep_cycles, s->in->notes);
    while (rc == 0 && ap__ring_cursor_next(&s->rings, &item)) {
        ap__tally_item(tally, &item);
        if (item.kind == AP_RING_RAW && ap__raw_is_tx(item.raw_flags, item.raw)) {
            memcpy(&s->batch[s->count++], item.raw, sizeof(s->batch[0]));
            if (s->count == AP_REPLAY_BATCH) {
                rc = ap__write_batch(s);
            }
        } else if (item.kind == AP_RING_RAW) {
            ap__raw_streams_take(&s->raw, item.raw_flags, item.raw, item.raw_bytes, 0);
        }
        if (item.kind != AP_RING_EVENT) {
            continue;
        }
        ap__add_stamp(s, AP_EXT_NAME, item.ids.name);
        ap__add_stamp(s, AP_EXT_TAG, item.ids.tag);
        ap__add_stamp(s, AP_EXT_STACK, item.ids.stack);
        ap__encode_stamp(&s->batch[s->count++], &item.fields);
        if (s->count == AP_REPLAY_BATCH) {
            rc = ap__write_batch(s);
        }
    }
    ap__raw_streams_flush(&s->raw);
    if (rc == 0 && s->raw_failed != 0) {
        rc = s->raw.first_errno;
    }
    return rc != 0 ? rc : ap__write_batch(s);
}

/* The records must outlive a power failure before the arena may go. */
static int ap__sync_stream(const ap__replay_state *s, const char *source, uint32_t from,
                           uint32_t to)
{
    int rc = 0;

    for (uint32_t k = from; k <= to && rc == 0; k++) {
        char name[256];
        uint64_t size = 0;
        int fd = -1;

        if (!ap__source_name_make(name, sizeof(name), source, k)) {
            return ENAMETOOLONG;
        }
        fd = ap__open_regular(s->in->data_fd, name, 1, &size, s->in->notes);
        if (fd >= 0) {
            rc = fdatasync(fd) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
            close(fd);
        }
    }
    return rc;
}

static int ap__sync_slices(const ap__replay_state *s)
{
    int rc = ap__sync_stream(s, AP_TX_SOURCE, s->in->view->checkpoint.tx_slice, s->tx.slice);

    for (uint32_t i = 0; rc == 0 && i < s->raw.count; i++) {
        const ap__stream *stream = &s->raw.streams[i]->stream;
        const ap__raw_point *point = ap__arena_view_raw(s->in->view, stream->name);

        rc = ap__sync_stream(s, stream->name, point != NULL ? point->slice : 0, stream->slice);
    }
    if (rc == 0 && fdatasync(s->stamp_fd) != 0 && errno != EINVAL) {
        rc = errno;
    }
    return rc;
}

int ap__replay(const ap__replay_in *in, ap__tally *tally, uint64_t *kept, uint64_t *missing)
{
    ap__replay_state *s = calloc(1, sizeof(*s));
    int rc = ENOMEM;

    *kept = 0;
    *missing = 0;
    if (s == NULL) {
        return rc;
    }
    s->in = in;
    s->stamp_fd = -1;
    rc = ap__resume(s, kept, missing);
    if (rc == 0) {
        rc = ap__resume_stamps(s);
    }
    if (rc == 0) {
        rc = ap__resume_raw(s);
    }
    if (rc == 0) {
        rc = ap__write_rings(s, tally);
    }
    if (rc == 0) {
        rc = ap__stream_finish(&s->tx);
    } else {
        ap__stream_abandon(&s->tx);
    }
    for (uint32_t i = 0; rc == 0 && i < s->raw.count; i++) {
        const ap__raw_stream *stream = s->raw.streams[i];

        if (stream->stream.record_bytes == AP_STREAM_WHOLE) {
            tally->variable_records += stream->records;
        }
        rc = ap__stream_finish(&s->raw.streams[i]->stream);
    }
    if (rc == 0) {
        rc = ap__sync_slices(s);
    }
    ap__raw_streams_abandon(&s->raw);
    if (s->stamp_fd >= 0) {
        close(s->stamp_fd);
    }
    free(s);
    return rc;
}
