/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "writer/slice.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "writer/file_io.h"

void ap__stream_init(ap__stream *s, int data_fd, const char *name, uint32_t record_bytes)
{
    size_t length = strlen(name);

    memset(s, 0, sizeof(*s));
    s->data_fd = data_fd;
    s->fd = -1;
    s->record_bytes = record_bytes;
    ap__file_id_of(data_fd, &s->directory);
    if (length < sizeof(s->name)) {
        memcpy(s->name, name, length);
    }
}

int ap__stream_slice_name(const ap__stream *s, uint32_t slice, char *buffer)
{
    int n = snprintf(buffer, NAME_MAX + 1, "%s.slice_%" PRIu32, s->name, slice);

    return s->name[0] != '\0' && n > 0 && n <= NAME_MAX ? 0 : ENAMETOOLONG;
}

static uint64_t ap__capacity(const ap__stream *s)
{
    uint64_t whole;

    if (s->record_bytes == 0 || s->record_bytes == AP_STREAM_WHOLE) {
        return AP_SLICE_BYTES;
    }
    whole = AP_SLICE_BYTES / s->record_bytes;
    return (whole != 0 ? whole : 1) * s->record_bytes;
}

/* How much of p goes into the open slice; 0: nothing, begin the next one. */
static size_t ap__piece(const ap__stream *s, const char *p, size_t bytes)
{
    uint64_t room = ap__capacity(s) - (s->size < ap__capacity(s) ? s->size : ap__capacity(s));
    const char *end;

    if (bytes <= room) {
        return bytes;
    }
    if (s->record_bytes == AP_STREAM_WHOLE) {
        return s->size == 0 ? bytes : 0;
    }
    if (s->record_bytes != 0) {
        return (size_t)room;
    }
    end = memrchr(p, '\n', (size_t)room);
    if (end == NULL && s->size == 0) {
        end = memchr(p, '\n', bytes);
        return end != NULL ? (size_t)(end - p) + 1 : bytes;
    }
    return end != NULL ? (size_t)(end - p) + 1 : 0;
}

/* Bytes of whole records among the first n. */
static size_t ap__whole_part(const ap__stream *s, const char *p, size_t n)
{
    const char *end;

    if (s->record_bytes != 0) { /* of AP_STREAM_WHOLE none: n is short of it */
        return n - n % s->record_bytes;
    }
    end = n != 0 ? memrchr(p, '\n', n) : NULL;
    return end != NULL ? (size_t)(end - p) + 1 : 0;
}

/* An empty slice would be taken for a stream without records. */
static void ap__drop_empty(ap__stream *s)
{
    char name[NAME_MAX + 1];

    (void)close(s->fd);
    s->fd = -1;
    s->torn = false;
    if (ap__stream_slice_name(s, s->slice, name) == 0) {
        (void)unlinkat(s->data_fd, name, 0);
    }
}

static int ap__put(ap__stream *s, const char *p, size_t n, size_t *kept)
{
    char name[NAME_MAX + 1];
    int err = 0;

    *kept = 0;
    if (s->fd >= 0 && !ap__file_is(s->fd, &s->file)) {
        s->fd = -1; /* somebody else's now: not ours to close */
        s->torn = false;
        s->slice++;
    }
    if (s->fd < 0) {
        err = ap__stream_slice_name(s, s->slice, name);
        if (err == 0 && !ap__file_is(s->data_fd, &s->directory)) {
            err = EBADF;
        }
        if (err != 0) {
            return err;
        }
        s->fd = ap__file_create(s->data_fd, name);
        if (s->fd < 0) {
            err = -s->fd;
            s->fd = -1;
            return err;
        }
        ap__file_id_of(s->fd, &s->file);
        s->size = 0;
    }
    err = ap__file_write(s->fd, p, n, s->size, kept);
    if (err != 0) {
        *kept = ap__whole_part(s, p, *kept);
        s->torn = ftruncate(s->fd, (off_t)(s->size + *kept)) != 0;
    }
    s->size += *kept;
    s->stored += *kept;
    if (s->size == 0) {
        ap__drop_empty(s);
    }
    return err;
}

static int ap__pay_owed(ap__stream *s)
{
    for (; s->owed_from < s->slice; s->owed_from++) {
        char name[NAME_MAX + 1];
        struct stat st;
        uint64_t done_bytes;
        int err = ap__stream_slice_name(s, s->owed_from, name);

        if (err != 0) {
            return err;
        }
        if (fstatat(s->data_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            if (errno == ENOENT) { /* aged away */
                continue;
            }
            return errno;
        }
        err = ap__file_done(s->data_fd, name, (uint64_t)st.st_size, true, &done_bytes);
        if (err != 0) {
            return err;
        }
        s->stored += done_bytes;
    }
    return 0;
}

static int ap__end_slice(ap__stream *s)
{
    uint64_t bytes = s->size;
    uint32_t slice = s->slice;
    int close_err;
    int err;

    if (!ap__file_is(s->fd, &s->file)) {
        s->fd = -1;
        return EBADF;
    }
    if (s->torn) {
        if (ftruncate(s->fd, (off_t)s->size) != 0) {
            return errno;
        }
        s->torn = false;
    }
    close_err = ap__file_close(s->fd);
    s->fd = -1;
    s->size = 0;
    s->slice++;
    err = ap__pay_owed(s);
    if (s->finished != NULL) {
        s->finished(s->finished_context, s, slice, bytes);
    }
    return close_err != 0 ? close_err : err;
}

bool ap__stream_intact(const ap__stream *s)
{
    return ap__file_is(s->data_fd, &s->directory) && (s->fd < 0 || ap__file_is(s->fd, &s->file));
}

int ap__stream_append(ap__stream *s, const void *data, size_t bytes, size_t *written)
{
    const char *p = data;
    size_t done = 0;
    int done_err = 0; /* of a .done: nothing of the data is lost */
    int err = 0;

    if (s->record_bytes != 0 && s->record_bytes != AP_STREAM_WHOLE &&
        bytes % s->record_bytes != 0) {
        err = EINVAL;
    }
    while (err == 0 && done < bytes) {
        size_t n = ap__piece(s, p + done, bytes - done);
        size_t kept = 0;

        if (n != 0) {
            err = ap__put(s, p + done, n, &kept);
            done += kept;
        }
        if (err == 0 && s->fd >= 0 && (n == 0 || s->size >= ap__capacity(s))) {
            int e = ap__end_slice(s);

            if (s->fd >= 0) { /* its torn tail is still there */
                err = e;
            } else if (done_err == 0) {
                done_err = e;
            }
        }
    }
    if (written != NULL) {
        *written = done;
    }
    return err != 0 ? err : done_err;
}

int ap__stream_finish(ap__stream *s)
{
    return s->fd >= 0 ? ap__end_slice(s) : ap__pay_owed(s);
}

void ap__stream_abandon(ap__stream *s)
{
    if (s->fd >= 0 && ap__file_is(s->fd, &s->file)) {
        (void)close(s->fd);
    }
    s->fd = -1;
}

uint64_t ap__stream_stored(const ap__stream *s)
{
    return s->stored;
}

static int ap__unlink_slice(const ap__stream *s, uint32_t slice, bool data)
{
    char name[NAME_MAX + 1];
    char done[NAME_MAX + 6];
    int err = ap__stream_slice_name(s, slice, name);

    if (err != 0) {
        return err;
    }
    (void)snprintf(done, sizeof(done), "%s.done", name);
    if (unlinkat(s->data_fd, done, 0) != 0 && errno != ENOENT) {
        return errno;
    }
    return data && unlinkat(s->data_fd, name, 0) != 0 ? errno : 0;
}

int ap__stream_resume(ap__stream *s, uint32_t slice, uint64_t bytes)
{
    char name[NAME_MAX + 1];
    struct stat st;
    int err = ap__stream_slice_name(s, slice, name);

    if (err != 0) {
        return err;
    }
    if (bytes != 0) {
        s->fd = openat(s->data_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (s->fd < 0) {
            return errno;
        }
        ap__file_id_of(s->fd, &s->file);
        if (fstat(s->fd, &st) != 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size < bytes) {
            err = ERANGE;
        } else if (ftruncate(s->fd, (off_t)bytes) != 0) {
            err = errno;
        }
    }
    if (err == 0) {
        err = ap__unlink_slice(s, slice, bytes == 0);
        err = err == ENOENT ? 0 : err;
        for (uint32_t k = slice + 1; err == 0; k++) {
            err = ap__unlink_slice(s, k, true);
        }
        err = err == ENOENT ? 0 : err;
    }
    if (err != 0) {
        ap__stream_abandon(s);
        return err;
    }
    s->slice = slice;
    s->size = bytes;
    s->stored = bytes;
    s->owed_from = 0;
    return 0;
}
