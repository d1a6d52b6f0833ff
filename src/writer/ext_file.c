/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "writer/ext_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/utf8.h"
#include "writer/file_io.h"

#define AP_HOLE_UNIT (64u * 1024u) /* a multiple of the block size of common file systems */
#define AP_SCAN_ENTRIES 256u

int ap__ext_open(ap__ext_file *f, int ext_fd, const char *name)
{
    *f = (ap__ext_file)AP_EXT_FILE_CLOSED;
    f->fd = ap__file_create(ext_fd, name);
    if (f->fd < 0) {
        int err = -f->fd;

        f->fd = -1;
        return err;
    }
    ap__file_id_of(f->fd, &f->file);
    return 0;
}

static unsigned char *ap__reserve(ap__ext_file *f, size_t more)
{
    size_t room = f->pending_room != 0 ? f->pending_room : 4096;

    if (more > SIZE_MAX / 4 - f->pending_bytes) {
        return NULL;
    }
    while (room < f->pending_bytes + more) {
        room *= 2;
    }
    if (room != f->pending_room) {
        unsigned char *bigger = realloc(f->pending, room);

        if (bigger == NULL) {
            return NULL;
        }
        f->pending = bigger;
        f->pending_room = room;
    }
    return f->pending + f->pending_bytes;
}

int ap__ext_add_stamp(ap__ext_file *f, uint32_t slice, uint32_t index, uint32_t kind, uint64_t id)
{
    ap__ext_stamp entry = {.slice = slice, .index = index, .kind = kind, .id = id};
    unsigned char *out = ap__reserve(f, sizeof(entry));

    if (out == NULL) {
        return ENOMEM;
    }
    memcpy(out, &entry, sizeof(entry));
    f->pending_bytes += sizeof(entry);
    return 0;
}

int ap__ext_add_name(ap__ext_file *f, uint32_t kind, uint64_t id, const char *text, size_t length)
{
    ap__ext_name entry = {.id = id, .kind = kind};
    unsigned char *out = NULL;
    size_t n = 0;
    size_t padded = 0;

    if (length > UINT32_MAX / 4) {
        return ENOMEM;
    }
    out = ap__reserve(f, sizeof(entry) + 3 * length + 8);
    if (out == NULL) {
        return ENOMEM;
    }
    n = ap__utf8_clean((char *)out + sizeof(entry), 3 * length, text, length);
    padded = (n + 7) & ~(size_t)7;
    memset(out + sizeof(entry) + n, 0, padded - n);
    entry.length = (uint32_t)n;
    memcpy(out, &entry, sizeof(entry));
    f->pending_bytes += sizeof(entry) + padded;
    return 0;
}

int ap__ext_flush(ap__ext_file *f)
{
    int err = 0;

    if (f->pending_bytes == 0) {
        return 0;
    }
    if (!ap__file_is(f->fd, &f->file)) {
        return EBADF;
    }
    err = ap__file_write(f->fd, f->pending, f->pending_bytes, f->size, NULL);
    if (err != 0) {
        /* if this fails as well, the next write begins at the same place */
        (void)!ftruncate(f->fd, (off_t)f->size);
        return err;
    }
    f->size += f->pending_bytes;
    f->pending_bytes = 0;
    return 0;
}

void ap__ext_discard(ap__ext_file *f)
{
    f->pending_bytes = 0;
}

/* Moves f->scanned to the first entry of a slice not below `slice`. */
static void ap__scan(ap__ext_file *f, uint32_t slice)
{
    ap__ext_stamp entries[AP_SCAN_ENTRIES];

    while (f->scanned < f->size) {
        uint64_t left = f->size - f->scanned;
        size_t want = left < sizeof(entries) ? (size_t)left : sizeof(entries);
        ssize_t n = pread(f->fd, entries, want, (off_t)f->scanned);
        size_t count = n > 0 ? (size_t)n / sizeof(entries[0]) : 0;

        for (size_t i = 0; i < count; i++) {
            if (entries[i].slice >= slice) {
                return;
            }
            f->scanned += sizeof(entries[0]);
        }
        if (count == 0) {
            return;
        }
    }
}

void ap__ext_drop_before(ap__ext_file *f, uint32_t slice)
{
    uint64_t end = 0;

    if (f->fd < 0 || !ap__file_is(f->fd, &f->file)) {
        return;
    }
    ap__scan(f, slice);
    end = f->scanned / AP_HOLE_UNIT * AP_HOLE_UNIT;
    if (end > f->dropped &&
        fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)f->dropped,
                  (off_t)(end - f->dropped)) == 0) {
        f->dropped = end;
    }
}

uint64_t ap__ext_stored(const ap__ext_file *f)
{
    return f->size - f->dropped;
}

void ap__ext_abandon(ap__ext_file *f)
{
    if (f->fd >= 0 && ap__file_is(f->fd, &f->file)) {
        (void)close(f->fd);
    }
    free(f->pending);
    *f = (ap__ext_file)AP_EXT_FILE_CLOSED;
}

int ap__ext_close(ap__ext_file *f)
{
    int err = 0;

    if (f->fd >= 0) {
        int close_err = 0;

        err = ap__ext_flush(f);
        close_err = ap__file_is(f->fd, &f->file) ? ap__file_close(f->fd) : EBADF;
        f->fd = -1;
        err = err != 0 ? err : close_err;
    }
    ap__ext_abandon(f);
    return err;
}
