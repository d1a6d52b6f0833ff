/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "writer/ageing.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define AP_MIB (1024u * 1024u)

uint64_t ap__ageing_share(uint64_t limit_mb)
{
    uint64_t share = limit_mb / 2u;

    return share > UINT64_MAX / AP_MIB ? UINT64_MAX : share * AP_MIB;
}

void ap__ageing_init(ap__ageing *a, int data_fd, uint64_t limit_bytes, uint64_t reserve)
{
    struct statvfs volume;

    memset(a, 0, sizeof(*a));
    a->data_fd = data_fd;
    a->limit = limit_bytes;
    a->reserve = reserve;
    if (limit_bytes != 0 && fstatvfs(data_fd, &volume) == 0) {
        uint64_t size = (uint64_t)volume.f_blocks * volume.f_frsize;

        if (size != 0 && size < limit_bytes) {
            a->limit = size;
        }
    }
}

static bool ap__deletable(const char *name)
{
    static const char *const kept[] = {
        "unaging", "model_load_info", "task_desc_info", "id_map_info", "fusion_op_info",
        "tensor_data_info", "step_info", "training_trace", "hash_dic"};

    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        if (strstr(name, kept[i]) != NULL) {
            return false;
        }
    }
    return true;
}

static bool ap__grow(ap__ageing *a)
{
    size_t room = a->room != 0 ? a->room * 2 : 64;
    ap__aged_slice *bigger = NULL;

    if (a->head > a->room / 2) {
        memmove(a->slices, a->slices + a->head, (a->count - a->head) * sizeof(*a->slices));
        a->count -= a->head;
        a->head = 0;
        return true;
    }
    bigger = realloc(a->slices, room * sizeof(*bigger));
    if (bigger == NULL) {
        return false;
    }
    a->slices = bigger;
    a->room = room;
    return true;
}

static void ap__note_finished(void *context, const ap__stream *stream, uint32_t slice,
                              uint64_t bytes)
{
    ap__ageing *a = context;
    uint32_t i = 0;

    while (i < a->stream_count && a->streams[i].stream != stream) {
        i++;
    }
    if (i == a->stream_count || !ap__deletable(stream->name) || a->limit == 0) {
        return;
    }
    a->streams[i].finished++;
    a->noted = true;
    /* without memory the slice is still counted, only never deleted */
    if (a->count < a->room || ap__grow(a)) {
        a->slices[a->count++] =
            (ap__aged_slice){.bytes = bytes, .slice = slice, .stream = (uint16_t)i};
    }
}

int ap__ageing_watch(ap__ageing *a, ap__stream *s)
{
    if (a->stream_count == AP_AGEING_STREAMS) {
        return ENOSPC;
    }
    a->streams[a->stream_count++] = (ap__aged_stream){.stream = s};
    s->finished = ap__note_finished;
    s->finished_context = a;
    return 0;
}

void ap__ageing_set_other(ap__ageing *a, uint64_t bytes)
{
    a->other = bytes;
}

uint64_t ap__ageing_total(const ap__ageing *a)
{
    uint64_t total = a->other;

    for (uint32_t i = 0; i < a->stream_count; i++) {
        total += ap__stream_stored(a->streams[i].stream);
    }
    return total > a->removed_bytes ? total - a->removed_bytes : 0;
}

uint64_t ap__ageing_removed_records(const ap__ageing *a, const ap__stream *s)
{
    for (uint32_t i = 0; i < a->stream_count; i++) {
        if (a->streams[i].stream == s) {
            return a->streams[i].removed_records;
        }
    }
    return 0;
}

/* Deletes one slice and its .done. Bytes gained, 0: it could not be deleted. */
static uint64_t ap__delete(ap__ageing *a, ap__aged_slice *entry, ap__aged *removed)
{
    ap__aged_stream *owner = &a->streams[entry->stream];
    char name[NAME_MAX + 1];
    char done[NAME_MAX + 6];
    struct stat st;
    uint64_t bytes = entry->bytes;

    if (ap__stream_slice_name(owner->stream, entry->slice, name) != 0 ||
        (unlinkat(a->data_fd, name, 0) != 0 && errno != ENOENT)) {
        return 0;
    }
    (void)snprintf(done, sizeof(done), "%s.done", name);
    if (fstatat(a->data_fd, done, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        unlinkat(a->data_fd, done, 0) == 0) {
        bytes += (uint64_t)st.st_size;
    }
    entry->gone = true;
    owner->finished--;
    a->removed_bytes += bytes;
    removed->slices++;
    removed->bytes += bytes;
    if (owner->stream->record_bytes != 0) {
        uint64_t records = entry->bytes / owner->stream->record_bytes;

        owner->removed_records += records;
        removed->records += records;
    }
    return bytes;
}

/* Bytes that ought to go now. */
static uint64_t ap__excess(const ap__ageing *a)
{
    uint64_t threshold = a->limit > a->reserve ? a->limit - a->reserve : 0;
    uint64_t total = ap__ageing_total(a);
    uint64_t excess = total > threshold ? total - threshold : 0;
    struct statvfs volume;

    if (fstatvfs(a->data_fd, &volume) == 0) {
        uint64_t available = (uint64_t)volume.f_bavail * volume.f_frsize;
        uint64_t lacking = available < a->reserve ? a->reserve - available : 0;

        excess = lacking > excess ? lacking : excess;
    }
    return excess;
}

uint64_t ap__ageing_make_room(ap__ageing *a, uint64_t bytes, ap__aged *removed)
{
    uint64_t gained = 0;

    for (size_t i = a->head; a->limit != 0 && gained < bytes && i < a->count; i++) {
        ap__aged_slice *entry = &a->slices[i];
        const ap__aged_stream *owner = &a->streams[entry->stream];

        /* a stream keeps its last slice */
        if (!entry->gone && owner->finished + (owner->stream->fd >= 0 ? 1u : 0u) > 1) {
            gained += ap__delete(a, entry, removed);
        }
    }
    while (a->head < a->count && a->slices[a->head].gone) {
        a->head++;
    }
    if (a->head == a->count) {
        a->head = 0;
        a->count = 0;
    }
    return gained;
}

void ap__ageing_run(ap__ageing *a, ap__aged *removed)
{
    if (a->limit == 0 || a->head == a->count) {
        return;
    }
    /* the volume is asked only when there is something new to delete or the total is too high */
    if (!a->noted && ap__ageing_total(a) + a->reserve <= a->limit) {
        return;
    }
    a->noted = false;
    (void)ap__ageing_make_room(a, ap__excess(a), removed);
}

void ap__ageing_free(ap__ageing *a)
{
    for (uint32_t i = 0; i < a->stream_count; i++) {
        a->streams[i].stream->finished = NULL;
    }
    a->stream_count = 0;
    free(a->slices);
    a->slices = NULL;
    a->head = a->count = a->room = 0;
}
