/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/raw_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/utf8.h"
#include "reader/reader_internal.h"
#include "reader/safe_file.h"

bool ap__has_file(const ap__model *m, uint32_t device, const char *file)
{
    const ap__device_view *view = &m->devices[device];
    char name[96];

    (void)snprintf(name, sizeof(name), "%s.%" PRIu32, file, view->device);
    return view->data_fd >= 0 && ap__sources_find(&view->sources, name) != NULL;
}

int ap__each_record(const ap__model *m, uint32_t device, const char *file, uint32_t bytes,
                    int (*each)(void *context, uint32_t device, ap__blob record), void *context)
{
    ap__slice_cursor *cursor = malloc(sizeof(*cursor));
    ap__blob record;
    uint32_t slice = 0;
    uint32_t index = 0;
    int rc = cursor != NULL ? 0 : ENOMEM;

    if (rc == 0 && ap__device_records(&m->devices[device], m->reader, file, bytes, 0, 0, cursor)) {
        while (rc == 0 && ap__slice_cursor_next(cursor, &record, &slice, &index)) {
            rc = each(context, device, record);
        }
        ap__slice_cursor_end(cursor);
    }
    free(cursor);
    return rc;
}

int ap__each_host_record(const ap__model *m, uint32_t kind, uint32_t level, uint32_t type,
                         int (*each)(void *context, const ap__raw_record *record), void *context)
{
    ap__records *records = ap__records_open(m->reader, kind, NULL);
    ap__raw_record r;
    int rc = records != NULL ? 0 : ENOMEM;

    while (rc == 0 && ap__records_next(records, &r)) {
        rc = r.level == level && r.type == type ? each(context, &r) : 0;
    }
    if (records != NULL) {
        ap__records_close(records);
    }
    return rc;
}

/* ---- text ---- */

typedef struct ap__lines {
    uint32_t device;
    int (*each)(void *context, uint32_t device, char *line);
    void *context;
    size_t used;
    char line[AP_LINE_MAX];
} ap__lines;

static int ap__give(ap__lines *l)
{
    l->line[l->used] = '\0';
    if (!ap__utf8_is_clean(l->line, l->used)) {
        for (size_t i = 0; i < l->used; i++) {
            l->line[i] = (unsigned char)l->line[i] < 0x80 ? l->line[i] : '?';
        }
    }
    l->used = 0;
    return l->each(l->context, l->device, l->line);
}

static int ap__slice_lines(ap__lines *l, int data_fd, const char *name, ap__notes *notes)
{
    char buffer[16384];
    uint64_t size = 0;
    uint64_t at = 0;
    int64_t n = 0;
    int rc = 0;
    int fd = ap__open_regular(data_fd, name, 0, &size, notes);

    while (fd >= 0 && rc == 0 && (n = ap__pread_full(fd, buffer, sizeof(buffer), at)) > 0) {
        for (int64_t i = 0; rc == 0 && i < n; i++) {
            if (buffer[i] == '\n') {
                rc = ap__give(l);
            } else if (l->used + 1 < sizeof(l->line) && buffer[i] != '\0') {
                l->line[l->used++] = buffer[i];
            }
        }
        at = ap__skip_hole(fd, at + (uint64_t)n, size); /* it would be NULs, which do not count */
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return rc;
}

int ap__each_line(const ap__model *m, uint32_t device, const char *file,
                  int (*each)(void *context, uint32_t device, char *line), void *context)
{
    const ap__device_view *view = device != AP_HOST ? &m->devices[device] : NULL;
    const ap__sources *sources = view != NULL ? &view->sources : &m->reader->sources;
    int data_fd = view != NULL ? view->data_fd : m->reader->data_fd;
    ap__lines *l = malloc(sizeof(*l));
    char wanted[96];
    int rc = l != NULL ? 0 : ENOMEM;

    if (view != NULL) {
        (void)snprintf(wanted, sizeof(wanted), "%s.%" PRIu32, file, view->device);
    } else {
        (void)snprintf(wanted, sizeof(wanted), "%s", file);
    }
    for (uint32_t i = 0; rc == 0 && data_fd >= 0 && i < sources->count; i++) {
        const ap__source *s = &sources->list[i];

        if (strcmp(s->name, wanted) != 0) {
            continue;
        }
        l->device = device;
        l->each = each;
        l->context = context;
        l->used = 0;
        for (uint32_t k = 0; rc == 0 && k < s->slice_count; k++) {
            char name[300];

            if (ap__source_name_make(name, sizeof(name), s->name, s->slices[k].number)) {
                rc = ap__slice_lines(l, data_fd, name, &m->reader->notes);
            }
        }
        rc = rc == 0 && l->used != 0 ? ap__give(l) : rc;
    }
    free(l);
    return rc;
}

uint32_t ap__process_files(const ap__model *m, uint32_t device, const char *suffix, uint32_t *pids,
                           uint32_t max)
{
    const ap__device_view *view = device != AP_HOST ? &m->devices[device] : NULL;
    const ap__sources *sources = view != NULL ? &view->sources : &m->reader->sources;
    char wanted[64];
    uint32_t count = 0;

    if (view != NULL) {
        (void)snprintf(wanted, sizeof(wanted), "%s.%" PRIu32, suffix, view->device);
    } else {
        (void)snprintf(wanted, sizeof(wanted), "%s", suffix);
    }
    for (uint32_t i = 0; i < sources->count && count < max; i++) {
        char *end = NULL;
        unsigned long pid = strtoul(sources->list[i].name, &end, 10);

        if (end != sources->list[i].name && pid <= UINT32_MAX && strcmp(end, wanted) == 0) {
            pids[count++] = (uint32_t)pid;
        }
    }
    return count;
}
