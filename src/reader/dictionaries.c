/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/dictionaries.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/ext_wire.h"
#include "reader/safe_file.h"

#define AP_LINE_MAX ((size_t)1 << 20)
#define AP_NAME_MAX ((uint32_t)64 << 20)
#define AP_CHUNK ((size_t)64 << 10)

typedef struct ap__lines {
    char *buffer;
    size_t room;
    size_t first;
    size_t filled;
    int fd;
    uint64_t offset;
    uint64_t end;
} ap__lines;

/* The next line without its newline. 1, 0 at the end, or -errno; -EFBIG: a line without end. A
 * last line without newline counts, *whole is then false. */
static int ap__lines_next(ap__lines *l, char **line, size_t *length, bool *whole)
{
    size_t scanned = 0;

    for (;;) {
        size_t kept = l->filled - l->first;
        char *start = l->buffer + l->first;
        char *newline = kept > scanned ? memchr(start + scanned, '\n', kept - scanned) : NULL;
        size_t want = 0;
        int64_t got = 0;

        if (newline != NULL || (l->offset == l->end && kept != 0)) {
            *line = start;
            *whole = newline != NULL;
            *length = newline != NULL ? (size_t)(newline - start) : kept;
            l->first += *length + (newline != NULL ? 1 : 0);
            return 1;
        }
        if (l->offset == l->end) {
            return 0;
        }
        scanned = kept;
        memmove(l->buffer, start, kept);
        l->first = 0;
        l->filled = kept;
        if (kept == l->room) {
            char *bigger = l->room < AP_LINE_MAX ? realloc(l->buffer, l->room * 2) : NULL;

            if (bigger == NULL) {
                return l->room < AP_LINE_MAX ? -ENOMEM : -EFBIG;
            }
            l->buffer = bigger;
            l->room *= 2;
        }
        want = l->room - kept;
        if (want > l->end - l->offset) {
            want = (size_t)(l->end - l->offset);
        }
        got = ap__pread_full(l->fd, l->buffer + kept, want, l->offset);
        if (got < 0) {
            return (int)got;
        }
        if (got == 0) {
            l->end = l->offset; /* cut meanwhile */
        }
        l->filled += (size_t)got;
        l->offset += (uint64_t)got;
    }
}

/* Decimal digits at *p up to `end`, at least one; moves *p behind them. */
static bool ap__digits(const char **p, const char *end, uint64_t *out)
{
    const char *start = *p;
    uint64_t v = 0;

    for (; *p < end && **p >= '0' && **p <= '9'; (*p)++) {
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(**p - '0'), &v)) {
            return false;
        }
    }
    *out = v;
    return *p != start;
}

/* "<u64>:<text>" or, with types, "<level>_<type>:<name>". 0, EBADMSG, or an errno. */
static int ap__add_line(ap__text_map *map, bool types, const char *line, size_t length)
{
    const char *p = line;
    const char *end = line + length;
    uint64_t key = 0;
    uint64_t type = 0;

    if (!ap__digits(&p, end, &key)) {
        return EBADMSG;
    }
    if (types) {
        if (key > UINT32_MAX || p == end || *p++ != '_' || !ap__digits(&p, end, &type) ||
            type > UINT32_MAX) {
            return EBADMSG;
        }
        key = ap__type_key((uint32_t)key, (uint32_t)type);
    }
    if (p == end || *p++ != ':') {
        return EBADMSG;
    }
    return ap__text_map_add(map, key, p, (size_t)(end - p));
}

/* One slice of a text dictionary. 0 or ENOMEM. */
static int ap__load_text(ap__text_map *map, bool types, int data_fd, const char *name,
                         ap__notes *notes)
{
    ap__lines lines = {NULL, AP_CHUNK, 0, 0, -1, 0, 0};
    uint64_t size = 0;
    uint64_t bad = 0;
    char *line = NULL;
    size_t length = 0;
    bool whole = true;
    int rc = 0;

    lines.fd = ap__open_regular(data_fd, name, 0, &size, notes);
    if (lines.fd < 0) {
        return 0; /* noted where it matters: names are then missing */
    }
    lines.end = size;
    lines.buffer = malloc(lines.room);
    rc = lines.buffer == NULL ? -ENOMEM : ap__lines_next(&lines, &line, &length, &whole);
    while (rc == 1) {
        int error = length == 0 ? 0 : ap__add_line(map, types, line, length);

        if (error == ENOMEM || error == ENOSPC) {
            rc = -error;
            break;
        }
        bad += error == EBADMSG ? 1 : 0;
        rc = ap__lines_next(&lines, &line, &length, &whole);
    }
    if (bad != 0) {
        ap__note(notes, "data/%s: %llu damaged lines skipped", name, (unsigned long long)bad);
    }
    if (!whole) {
        ap__note(notes, "data/%s: the last line has no end", name);
    }
    if (rc == -EFBIG) {
        ap__note(notes, "data/%s: a line of more than %zu bytes; the rest is not read", name,
                 AP_LINE_MAX);
    } else if (rc == -ENOSPC) {
        ap__note(notes, "data/%s: more than %zu bytes of names; the rest is not read", name,
                 AP_TEXT_MAP_LIMIT);
    } else if (rc < 0 && rc != -ENOMEM) {
        ap__note(notes, "data/%s cannot be read to its end", name);
    }
    free(lines.buffer);
    close(lines.fd);
    return rc == -ENOMEM ? ENOMEM : 0;
}

static int ap__load_all_text(ap__text_map *map, const char *tag, bool types, int data_fd,
                             const ap__sources *sources, ap__notes *notes)
{
    char name[256];
    int rc = 0;

    for (uint32_t i = 0; i < sources->count && rc == 0; i++) {
        const ap__source *source = &sources->list[i];

        if (source->kind != AP_SOURCE_DICTIONARY || strcmp(source->tag, tag) != 0) {
            continue;
        }
        for (uint32_t k = 0; k < source->slice_count && rc == 0; k++) {
            if (ap__source_name_make(name, sizeof(name), source->name, source->slices[k].number)) {
                rc = ap__load_text(map, types, data_fd, name, notes);
            }
        }
    }
    ap__text_map_seal(map);
    return rc;
}

/* Reads one entry's text and keeps it. 0, ENODATA (cut), or an errno. */
static int ap__keep_name(ap__dictionaries *d, ap__window *window, const ap__ext_name *entry,
                         uint64_t offset, char **text, uint32_t *room)
{
    if (entry->length > *room) {
        char *bigger = realloc(*text, entry->length);

        if (bigger == NULL) {
            return ENOMEM;
        }
        *text = bigger;
        *room = entry->length;
    }
    if (!ap__window_get(window, offset, *text, entry->length)) {
        return ENODATA;
    }
    return ap__text_map_add(entry->kind == AP_EXT_NAME ? &d->names : &d->categories, entry->id,
                            entry->length != 0 ? *text : "", entry->length);
}

int64_t ap__names_walk(int fd, uint64_t size, ap__dictionaries *d)
{
    ap__window window;
    uint64_t offset = 0;
    uint32_t room = 0;
    char *text = NULL;
    int rc = 0;

    ap__window_begin(&window, fd);
    while (rc == 0 && size - offset >= sizeof(ap__ext_name)) {
        ap__ext_name entry;
        uint64_t padded = 0;

        if (!ap__window_get(&window, offset, &entry, sizeof(entry))) {
            break;
        }
        padded = ((uint64_t)entry.length + 7) & ~(uint64_t)7;
        if ((entry.kind != AP_EXT_NAME && entry.kind != AP_EXT_CATEGORY) ||
            entry.length > AP_NAME_MAX || padded > size - offset - sizeof(entry)) {
            break;
        }
        if (d != NULL) {
            rc = ap__keep_name(d, &window, &entry, offset + sizeof(entry), &text, &room);
        }
        if (rc == 0) {
            offset += sizeof(entry) + padded;
        }
    }
    free(text);
    return rc != 0 && rc != ENODATA ? -(int64_t)rc : (int64_t)offset;
}

static int ap__load_names(ap__dictionaries *d, int ext_fd, ap__notes *notes)
{
    uint64_t size = 0;
    int64_t whole = 0;
    int fd = ap__open_regular(ext_fd, AP_EXT_NAMES_NAME, 0, &size, notes);

    if (fd < 0) {
        return 0;
    }
    whole = ap__names_walk(fd, size, d);
    close(fd);
    ap__text_map_seal(&d->names);
    ap__text_map_seal(&d->categories);
    if (whole == -ENOSPC) {
        ap__note(notes, "%s/%s: more than %zu bytes of names; the rest is not read", AP_EXT_DIR,
                 AP_EXT_NAMES_NAME, AP_TEXT_MAP_LIMIT);
    } else if (whole >= 0 && (uint64_t)whole != size) {
        ap__note(notes, "%s/%s: damaged or cut after byte %lld of %llu", AP_EXT_DIR,
                 AP_EXT_NAMES_NAME, (long long)whole, (unsigned long long)size);
    }
    return whole == -ENOMEM ? ENOMEM : 0;
}

int ap__dictionaries_load(ap__dictionaries *d, int data_fd, const ap__sources *sources, int ext_fd,
                          ap__notes *notes)
{
    int rc = 0;

    memset(d, 0, sizeof(*d));
    rc = ap__load_all_text(&d->hashes, "hash_dic", false, data_fd, sources, notes);
    if (rc == 0) {
        rc = ap__load_all_text(&d->types, "type_info_dic", true, data_fd, sources, notes);
    }
    if (rc == 0 && ext_fd >= 0) {
        rc = ap__load_names(d, ext_fd, notes);
    }
    return rc;
}

void ap__dictionaries_free(ap__dictionaries *d)
{
    ap__text_map_free(&d->hashes);
    ap__text_map_free(&d->types);
    ap__text_map_free(&d->names);
    ap__text_map_free(&d->categories);
}
