/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reader/reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/ext_wire.h"
#include "reader/prof_path.h"
#include "reader/reader_internal.h"
#include "reader/safe_file.h"

static void ap__open_data(ap__reader *r)
{
    int fd = ap__open_dir(r->host_fd, "data");
    char why[128];

    r->data_fd = fd < 0 ? -1 : fd;
    if (fd < 0) {
        ap__note(&r->notes, "host/data cannot be opened: %s",
                 ap__errno_text(-fd, why, sizeof(why)));
    }
    fd = ap__open_dir(r->host_fd, AP_EXT_DIR);
    r->ext_fd = fd < 0 ? -1 : fd;
    if (fd < 0 && fd != -ENOENT) {
        ap__note(&r->notes, "host/%s cannot be opened: %s", AP_EXT_DIR,
                 ap__errno_text(-fd, why, sizeof(why)));
    }
}

static void ap__find_state(ap__reader *r)
{
    switch (r->arena.state) {
    case AP_ARENA_RUNNING:
        r->state = AP_READER_RUNNING;
        ap__note(&r->notes, "the capture is still running: what was on disk when it was opened is "
                            "shown");
        return;
    case AP_ARENA_NONE:
        break;
    default:
        r->state = AP_READER_UNFINISHED;
        return;
    }
    if (!r->meta.has_end) {
        r->state = AP_READER_UNFINISHED;
        ap__note(&r->notes, "host/end_info is missing: the capture was not finished");
    } else if (r->account != NULL && strcmp(r->account->state, "recovered") == 0) {
        r->state = AP_READER_RECOVERED;
    } else {
        r->state = AP_READER_FINISHED;
    }
}

static ap__reader_code ap__load(ap__reader *r, ap__reader_error *error)
{
    int rc = 0;
    char why[128];

    ap__open_data(r);
    ap__meta_read(r->host_fd, &r->meta, &r->notes);
    ap__arena_view_open(&r->arena, r->ext_fd, false, &r->notes);
    if (r->data_fd >= 0) {
        rc = ap__sources_list(r->data_fd, &r->sources, &r->notes);
        if (rc == 0) {
            rc = ap__dictionaries_load(&r->dictionaries, r->data_fd, &r->sources, r->ext_fd,
                                       &r->notes);
        }
        if (rc != 0) {
            snprintf(error->text, sizeof(error->text), "%s/host/data cannot be read: %s", r->path,
                     ap__errno_text(rc, why, sizeof(why)));
            return AP_READER_ERROR;
        }
    } else if (!r->meta.has_info && !r->meta.has_start) {
        snprintf(error->text, sizeof(error->text),
                 "%s is damaged: host/ holds neither data/ nor readable control files", r->path);
        return AP_READER_DAMAGED;
    }
    r->account = r->ext_fd < 0 ? NULL : ap__account_read(r->ext_fd, &r->notes);
    ap__find_state(r);
    return AP_READER_OK;
}

ap__reader *ap__reader_open(const char *prof_dir, ap__reader_error *error)
{
    ap__reader *r = calloc(1, sizeof(*r));

    memset(error, 0, sizeof(*error));
    if (r == NULL) {
        error->code = AP_READER_ERROR;
        snprintf(error->text, sizeof(error->text), "no memory to open %s", prof_dir);
        return NULL;
    }
    r->prof_fd = r->host_fd = r->data_fd = r->ext_fd = r->arena.fd = -1;
    error->code = ap__prof_path_open(prof_dir, &r->path, &r->prof_fd, &r->host_fd, error->text,
                                     sizeof(error->text));
    if (error->code == AP_READER_OK) {
        error->code = ap__load(r, error);
    }
    if (error->code != AP_READER_OK) {
        ap__reader_close(r);
        return NULL;
    }
    return r;
}

void ap__reader_close(ap__reader *r)
{
    int *fds[] = {&r->ext_fd, &r->data_fd, &r->host_fd, &r->prof_fd};

    ap__reader_rewind(r);
    ap__arena_view_close(&r->arena);
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (*fds[i] >= 0) {
            close(*fds[i]);
        }
    }
    ap__sources_free(&r->sources);
    ap__dictionaries_free(&r->dictionaries);
    ap__account_free(r->account);
    ap__notes_free(&r->notes);
    free(r->path);
    free(r);
}

const char *ap__reader_path(const ap__reader *reader)
{
    return reader->path;
}

ap__reader_state ap__reader_state_of(const ap__reader *reader)
{
    return reader->state;
}

const ap__meta *ap__reader_meta(const ap__reader *reader)
{
    return &reader->meta;
}

const ap__sources *ap__reader_sources(const ap__reader *reader)
{
    return &reader->sources;
}

const char *ap__reader_note(const ap__reader *reader, uint32_t index)
{
    return index < reader->notes.count ? reader->notes.lines[index] : NULL;
}

const char *ap__reader_hash_text(const ap__reader *reader, uint64_t id)
{
    return ap__text_map_find(&reader->dictionaries.hashes, id, NULL);
}

const char *ap__reader_type_name(const ap__reader *reader, uint32_t level, uint32_t type)
{
    return ap__text_map_find(&reader->dictionaries.types, ap__type_key(level, type), NULL);
}

const char *ap__reader_category_name(const ap__reader *reader, uint32_t category)
{
    return ap__text_map_find(&reader->dictionaries.categories, category, NULL);
}

uint64_t ap__reader_wall_ns(const ap__reader *reader, uint64_t mono_raw_ns)
{
    return ap__host_clock_wall_ns(&reader->meta.clock, mono_raw_ns);
}

const ap__reader_account *ap__reader_account_of(const ap__reader *reader)
{
    return reader->account;
}

bool ap__reader_wall_offset(const ap__reader *reader, int64_t *offset_ns, uint64_t *error_ns)
{
    const ap__reader_account *a = reader->account;
    const ap__clock_point *point = a != NULL && a->point_count != 0 ? &a->points[0] : NULL;

    if (point == NULL && reader->arena.state == AP_ARENA_READY) {
        point = &reader->arena.start;
    }
    if (point != NULL && point->real_ns != 0 && point->mono_raw_ns != 0) {
        *offset_ns = (int64_t)(point->real_ns - point->mono_raw_ns);
        *error_ns = point->error_ns;
        return true;
    }
    *offset_ns = reader->meta.clock.wall_offset_ns;
    *error_ns = 1000; /* start_info has microseconds */
    return reader->meta.clock.has_wall;
}

void ap__reader_align(ap__reader *reader, int64_t shift_ns)
{
    uint64_t error = 0;

    reader->aligned = true;
    if (!ap__reader_wall_offset(reader, &reader->meta.clock.wall_offset_ns, &error)) {
        return;
    }
    reader->meta.clock.has_wall = true;
    reader->meta.clock.wall_offset_ns += shift_ns;
    if (reader->meta.begin_mono_ns != 0) {
        reader->meta.begin_wall_us = ap__reader_wall_ns(reader, reader->meta.begin_mono_ns) / 1000;
    }
    if (reader->meta.end_mono_ns != 0) {
        reader->meta.end_wall_us = ap__reader_wall_ns(reader, reader->meta.end_mono_ns) / 1000;
    }
}
