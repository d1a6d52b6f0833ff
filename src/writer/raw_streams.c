/* SPDX-License-Identifier: Apache-2.0 */
#include "writer/raw_streams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ap__raw_streams_init(ap__raw_streams *r, int data_fd)
{
    memset(r, 0, sizeof(*r));
    r->data_fd = data_fd;
}

void ap__raw_streams_renamed(ap__raw_streams *r)
{
    r->type_count = 0;
}

ap__raw_stream *ap__raw_stream_get(ap__raw_streams *r, const char *name, uint32_t record_bytes)
{
    ap__raw_stream *s = NULL;

    for (uint32_t i = 0; i < r->count; i++) {
        if (strcmp(r->streams[i]->stream.name, name) == 0) {
            return r->streams[i];
        }
    }
    s = r->count < AP_RAW_STREAMS ? malloc(sizeof(*s)) : NULL;
    if (s == NULL) {
        return NULL;
    }
    s->records = 0;
    s->fill = 0;
    s->count = 0;
    ap__stream_init(&s->stream, r->data_fd, name,
                    record_bytes != 1 ? record_bytes : AP_STREAM_WHOLE);
    if (r->ageing != NULL) {
        (void)ap__ageing_watch(r->ageing, &s->stream); /* else it is never deleted from */
    }
    r->streams[r->count++] = s;
    return s;
}

static void ap__tell(ap__raw_streams *r, uint32_t owner, bool written)
{
    if (r->told != NULL) {
        r->told(r->told_context, owner, written);
    }
}

/* Records of variable size: a slice ends between two of them. */
static int ap__append_each(ap__raw_stream *s, size_t *done)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < s->count; i++) {
        size_t written = 0;

        rc = ap__stream_append(&s->stream, s->buffer + *done, s->ends[i] - *done, &written);
        *done += written;
    }
    return rc;
}

static void ap__write(ap__raw_streams *r, ap__raw_stream *s)
{
    size_t done = 0;
    int rc = 0;

    if (s->stream.record_bytes == AP_STREAM_WHOLE) {
        rc = ap__append_each(s, &done);
    } else if (s->count != 0) {
        rc = ap__stream_append(&s->stream, s->buffer, s->fill, &done);
    }
    if (rc != 0 && r->first_errno == 0) {
        r->first_errno = rc;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        s->records += s->ends[i] <= done;
        ap__tell(r, s->owners[i], s->ends[i] <= done);
    }
    s->fill = 0;
    s->count = 0;
}

static ap__raw_stream *ap__find(ap__raw_streams *r, uint32_t flags, uint16_t level, uint32_t type)
{
    uint64_t key = (uint64_t)flags << 56 | (uint64_t)level << 32 | type;
    char name[AP_RAW_NAME_MAX];
    ap__raw_stream *s = NULL;

    if ((flags & AP_RAW_CLASS) == AP_RAW_API || (flags & AP_RAW_CLASS) == AP_RAW_VARIABLE) {
        key = (uint64_t)flags << 56; /* one stream for all of them */
    }
    for (uint32_t i = 0; i < r->type_count; i++) {
        if (r->types[i].key == key) {
            return r->streams[r->types[i].stream];
        }
    }
    ap__raw_stream_name(flags, r->namer != NULL ? r->namer(r->namer_context, level, type) : NULL,
                        name);
    s = ap__raw_stream_get(r, name, ap__raw_bytes(flags));
    if (s == NULL) { /* beyond the last: together */
        ap__raw_stream_name(flags, NULL, name);
        s = ap__raw_stream_get(r, name, ap__raw_bytes(flags));
    }
    for (uint32_t i = 0; s != NULL && i < r->count && r->type_count < AP_RAW_TYPES; i++) {
        if (r->streams[i] == s) {
            r->types[r->type_count].key = key;
            r->types[r->type_count++].stream = i;
            break;
        }
    }
    return s;
}

void ap__raw_streams_take(ap__raw_streams *r, uint32_t flags, const void *record, uint32_t bytes,
                          uint32_t owner)
{
    uint16_t level = 0;
    uint32_t type = 0;
    ap__raw_stream *s = NULL;

    if (bytes >= 8) {
        memcpy(&level, (const char *)record + 2, sizeof(level));
        memcpy(&type, (const char *)record + 4, sizeof(type));
    }
    s = ap__find(r, flags, level, type);
    if (s == NULL) {
        r->first_errno = r->first_errno != 0 ? r->first_errno : ENOMEM;
        ap__tell(r, owner, false);
        return;
    }
    if (s->fill + bytes > AP_RAW_BUFFER || s->count == AP_RAW_BATCH) {
        ap__write(r, s);
    }
    memcpy(s->buffer + s->fill, record, bytes);
    s->fill += bytes;
    s->owners[s->count] = owner;
    s->ends[s->count++] = s->fill;
}

void ap__raw_streams_flush(ap__raw_streams *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        ap__write(r, r->streams[i]);
    }
}

uint32_t ap__raw_streams_points(const ap__raw_streams *r, ap__raw_point out[AP_RAW_STREAMS])
{
    for (uint32_t i = 0; i < r->count; i++) {
        const ap__stream *s = &r->streams[i]->stream;

        memset(&out[i], 0, sizeof(out[i]));
        memcpy(out[i].name, s->name, strlen(s->name));
        out[i].slice = s->slice;
        out[i].slice_bytes = (uint32_t)s->size;
        out[i].records = r->streams[i]->records;
    }
    return r->count;
}

uint64_t ap__raw_streams_stored(const ap__raw_streams *r)
{
    uint64_t stored = 0;

    for (uint32_t i = 0; i < r->count; i++) {
        stored += ap__stream_stored(&r->streams[i]->stream);
    }
    return stored;
}

int ap__raw_streams_finish(ap__raw_streams *r)
{
    int first = 0;

    ap__raw_streams_flush(r);
    for (uint32_t i = 0; i < r->count; i++) {
        int rc = ap__stream_finish(&r->streams[i]->stream);

        first = first != 0 ? first : rc;
    }
    return first;
}

void ap__raw_streams_abandon(ap__raw_streams *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        ap__stream_abandon(&r->streams[i]->stream);
        free(r->streams[i]);
    }
    r->count = 0;
    r->type_count = 0;
}
