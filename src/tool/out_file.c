/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tool/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ap__out_open(ap__out *o, int dir_fd, const char *name)
{
    o->dir_fd = dir_fd;
    o->rc = 0;
    o->used = 0;
    o->written = 0;
    (void)snprintf(o->name, sizeof(o->name), "%s", name);
    (void)snprintf(o->part, sizeof(o->part), ".%s.part", name);
    (void)unlinkat(dir_fd, o->part, 0);
    o->fd = openat(dir_fd, o->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (o->fd < 0) {
        o->rc = errno;
        return errno;
    }
    (void)fchmod(o->fd, 0640);
    return 0;
}

static void ap__flush(ap__out *o)
{
    size_t done = 0;

    while (o->rc == 0 && done < o->used) {
        ssize_t n = write(o->fd, o->buffer + done, o->used - done);

        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0) {
            o->rc = ENOSPC;
        } else if (errno != EINTR) {
            o->rc = errno;
        }
    }
    o->written += o->used;
    o->used = 0;
}

void ap__out_bytes(ap__out *o, const void *data, size_t bytes)
{
    const char *p = data;

    while (bytes > sizeof(o->buffer) - o->used) {
        size_t n = sizeof(o->buffer) - o->used;

        memcpy(o->buffer + o->used, p, n);
        o->used += n;
        p += n;
        bytes -= n;
        ap__flush(o);
    }
    memcpy(o->buffer + o->used, p, bytes);
    o->used += bytes;
}

void ap__out_text(ap__out *o, const char *text)
{
    ap__out_bytes(o, text, strlen(text));
}

static char *ap__digits(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    return end;
}

void ap__out_u64(ap__out *o, uint64_t value)
{
    char text[24];
    char *at = ap__digits(text + sizeof(text), value);

    ap__out_bytes(o, at, (size_t)(text + sizeof(text) - at));
}

void ap__out_us(ap__out *o, uint64_t ns)
{
    char text[32];
    char *end = text + sizeof(text);
    char *at = end;

    for (uint64_t rest = ns % 1000, i = 0; i < 3; i++, rest /= 10) {
        *--at = (char)('0' + rest % 10);
    }
    *--at = '.';
    at = ap__digits(at, ns / 1000);
    ap__out_bytes(o, at, (size_t)(end - at));
}

void ap__out_printf(ap__out *o, const char *format, ...)
{
    char text[512];
    va_list args;
    int n = 0;

    va_start(args, format);
    n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (n > 0) {
        ap__out_bytes(o, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
    }
}

void ap__out_drop(ap__out *o)
{
    if (o->fd >= 0) {
        (void)close(o->fd);
        o->fd = -1;
        (void)unlinkat(o->dir_fd, o->part, 0);
    }
}

int ap__out_finish(ap__out *o)
{
    int rc = 0;

    ap__flush(o);
    rc = o->rc;
    if (o->fd >= 0 && close(o->fd) != 0 && rc == 0 && errno != EINTR) {
        rc = errno;
    }
    o->fd = -1;
    if (rc == 0 && renameat(o->dir_fd, o->part, o->dir_fd, o->name) != 0) {
        rc = errno;
    }
    if (rc != 0) {
        (void)unlinkat(o->dir_fd, o->part, 0);
    }
    return rc;
}
