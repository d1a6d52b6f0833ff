/* SPDX-License-Identifier: Apache-2.0 */
/* Each file: its size in whole records, their magic, the .done file that promises its size, slices
 * that follow each other. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/ext_wire.h"
#include "reader/reader_internal.h"
#include "reader/record_sizes.h"
#include "reader/safe_file.h"
#include "tool/check/check.h"

static ap__check_file *ap__add(ap__check *c, const char *where, const char *name, uint64_t bytes)
{
    void *bigger = realloc(c->files, (c->file_count + 1) * sizeof(*c->files));
    ap__check_file *f = NULL;

    if (bigger == NULL) {
        c->no_memory = true;
        return NULL;
    }
    c->files = bigger;
    f = &c->files[c->file_count++];
    memset(f, 0, sizeof(*f));
    f->bytes = bytes;
    (void)snprintf(f->name, sizeof(f->name), "%s/%.260s", where, name);
    for (unsigned char *p = (unsigned char *)f->name; *p != '\0'; p++) {
        *p = *p < 0x20 || *p == 0x7F ? '?' : *p;
    }
    return f;
}

/* "filesize:N" of NAME.done, where there is one that says so. */
static void ap__done(ap__check *c, ap__check_file *f, int dir, const char *name, bool wanted)
{
    char done[NAME_MAX + 8];
    size_t length = 0;
    int error = 0;
    char *text = NULL;
    char *end = NULL;
    uint64_t promised = 0;

    if (snprintf(done, sizeof(done), "%s.done", name) >= NAME_MAX) {
        return;
    }
    text = ap__read_whole(dir, done, 4096, &length, &c->reader->notes, &error);
    f->done = text != NULL;
    if (text == NULL) {
        if (wanted && error == ENOENT) {
            ap__check_found(c, AP_CHECK_BAD, "%s has no .done file", f->name);
        }
        return;
    }
    if (strncmp(text, "filesize:", 9) == 0) {
        promised = strtoull(text + 9, &end, 10);
        if (promised != f->bytes) {
            ap__check_found(c, AP_CHECK_BAD,
                            "%s has %" PRIu64 " bytes, its .done file says %" PRIu64, f->name,
                            f->bytes, promised);
        }
    }
    free(text);
}

/* Bytes that make no record, and records without magic, are counted in the slice where they begin;
 * records of one source may straddle its slices. */
static void ap__walk(ap__check *c, int dir, const ap__source *s, uint32_t record, uint16_t magic,
                     uint32_t first)
{
    ap__slice_cursor *cursor = malloc(sizeof(*cursor));
    ap__blob found;
    uint64_t bad = 0;
    uint32_t slice = 0;
    uint32_t index = 0;
    uint32_t at = first;

    if (cursor == NULL) {
        c->no_memory = true;
        return;
    }
    ap__slice_cursor_begin_as(cursor, dir, s, record, magic, 0, &c->reader->notes);
    while (ap__slice_cursor_next(cursor, &found, &slice, &index)) {
        while (at + 1 < c->file_count && at - first + 1 < s->slice_count &&
               s->slices[at - first].number < slice) {
            at++;
        }
        c->files[at].records++;
        c->files[at].bad += cursor->bad_records - bad;
        bad = cursor->bad_records;
    }
    c->files[at].bad += cursor->bad_records - bad;
    c->files[at].torn += cursor->torn_bytes;
    if (cursor->torn_bytes != 0 || cursor->bad_records != 0) {
        ap__check_found(c, AP_CHECK_BAD,
                        "%s: %" PRIu64 " records without magic, %" PRIu64
                        " bytes that make no record of %u",
                        c->files[at].name, cursor->bad_records, cursor->torn_bytes, record);
    }
    ap__slice_cursor_end(cursor);
    free(cursor);
}

/* Old slices may have been deleted to keep a limit; a hole between slices has no such reason. */
static void ap__order(ap__check *c, const char *where, const ap__source *s)
{
    for (uint32_t i = 1; i < s->slice_count; i++) {
        if (s->slices[i].number != s->slices[i - 1].number + 1) {
            ap__check_found(c, AP_CHECK_BAD, "%s/%.200s: slices %u to %u are missing", where,
                            s->name, s->slices[i - 1].number + 1, s->slices[i].number - 1);
        }
    }
    if (s->slice_count != 0 && s->slices[0].number != 0) {
        ap__check_found(c, AP_CHECK_LOST, "%s/%.200s: slices before %u are gone (storage limit)",
                        where, s->name, s->slices[0].number);
    }
}

static void ap__source_files(ap__check *c, const char *where, int dir, const ap__sources *list,
                             const ap__device_view *device)
{
    bool finished = ap__reader_state_of(c->reader) != AP_READER_RUNNING &&
                    ap__reader_state_of(c->reader) != AP_READER_UNFINISHED;
    char *sizes = device != NULL
                      ? ap__record_sizes_read(c->reader->ext_fd, device->device, &c->reader->notes)
                      : NULL;
    char name[NAME_MAX + 1];

    for (uint32_t i = 0; i < list->count; i++) {
        const ap__source *s = &list->list[i];
        uint32_t record = device != NULL ? ap__record_size_of(sizes, s->name, device->chip)
                                         : ap__source_record_size(s->kind);
        uint16_t magic = device == NULL ? AP_WIRE_MAGIC : 0;
        uint32_t first = c->file_count;

        record = record != AP_RECORD_LINES ? record : 0;
        for (uint32_t k = 0; k < s->slice_count; k++) {
            ap__check_file *f = NULL;

            if (!ap__source_name_make(name, sizeof(name), s->name, s->slices[k].number)) {
                continue;
            }
            f = ap__add(c, where, name, s->slices[k].size);
            if (f != NULL) {
                f->record_bytes = record;
                ap__done(c, f, dir, name, finished);
            }
        }
        ap__order(c, where, s);
        if (record != 0 && c->file_count == first + s->slice_count) {
            ap__walk(c, dir, s, record, magic, first);
        }
    }
    free(sizes);
}

static void ap__control(ap__check *c)
{
    static const char *const names[] = {"info.json", "sample.json", "start_info", "end_info",
                                        "host_start.log"};
    bool finished = ap__reader_state_of(c->reader) == AP_READER_FINISHED ||
                    ap__reader_state_of(c->reader) == AP_READER_RECOVERED;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        uint64_t size = 0;
        int fd = ap__open_regular(c->reader->host_fd, names[i], 0, &size, &c->reader->notes);
        ap__check_file *f = fd >= 0 ? ap__add(c, "host", names[i], size) : NULL;

        if (f != NULL) {
            ap__done(c, f, c->reader->host_fd, names[i], finished);
        }
        if (fd >= 0) {
            close(fd);
        }
    }
}

void ap__check_files(ap__check *c, const ap__device_view *devices, uint32_t count)
{
    char where[32];

    ap__control(c);
    if (c->reader->data_fd >= 0) {
        ap__source_files(c, "host/data", c->reader->data_fd, &c->reader->sources, NULL);
    }
    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(where, sizeof(where), "device_%" PRIu32 "/data", devices[i].device);
        if (devices[i].data_fd >= 0) {
            ap__source_files(c, where, devices[i].data_fd, &devices[i].sources, &devices[i]);
        }
    }
}
