/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tool/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ap__out_open(ap__out *o, int dir_fd, const char *name)
{
    o->dir_fd = dir_fd;
    o->rc = 0;
    o->buffer = o->buffers[0];
    o->used = 0;
    o->written = 0;
    o->background = false;
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

static int ap__write_all(int fd, const char *from, size_t bytes)
{
    while (bytes != 0) {
        ssize_t n = write(fd, from, bytes);

        if (n > 0) {
            from += n;
            bytes -= (size_t)n;
        } else if (n == 0) {
            return ENOSPC;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

/* ---- the writing thread ---- */

static void *ap__write_behind(void *argument)
{
    ap__out *o = argument;

    pthread_mutex_lock(&o->lock);
    for (;;) {
        int rc = 0;

        while (o->full == NULL && !o->ending) {
            pthread_cond_wait(&o->changed, &o->lock);
        }
        if (o->full == NULL) {
            break;
        }
        if (o->thread_rc == 0) {
            pthread_mutex_unlock(&o->lock);
            rc = ap__write_all(o->fd, o->full, o->full_bytes);
            pthread_mutex_lock(&o->lock);
        }
        o->thread_rc = o->thread_rc != 0 ? o->thread_rc : rc;
        o->full = NULL;
        pthread_cond_broadcast(&o->changed);
    }
    pthread_mutex_unlock(&o->lock);
    return NULL;
}

void ap__out_background(ap__out *o)
{
    sigset_t all;
    sigset_t old;

    if (o->fd < 0 || o->background) {
        return;
    }
    (void)pthread_mutex_init(&o->lock, NULL);
    (void)pthread_cond_init(&o->changed, NULL);
    o->full = NULL;
    o->ending = false;
    o->thread_rc = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    o->background = pthread_create(&o->thread, NULL, ap__write_behind, o) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!o->background) {
        (void)pthread_cond_destroy(&o->changed);
        (void)pthread_mutex_destroy(&o->lock);
    }
}

static void ap__end_thread(ap__out *o)
{
    if (!o->background) {
        return;
    }
    pthread_mutex_lock(&o->lock);
    o->ending = true;
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
    (void)pthread_join(o->thread, NULL);
    (void)pthread_cond_destroy(&o->changed);
    (void)pthread_mutex_destroy(&o->lock);
    o->background = false;
    o->rc = o->rc != 0 ? o->rc : o->thread_rc;
}

static void ap__flush(ap__out *o)
{
    if (!o->background) {
        o->rc = o->rc != 0 ? o->rc : ap__write_all(o->fd, o->buffer, o->used);
    } else if (o->used != 0) {
        pthread_mutex_lock(&o->lock);
        while (o->full != NULL) {
            pthread_cond_wait(&o->changed, &o->lock);
        }
        o->full = o->buffer;
        o->full_bytes = o->used;
        pthread_cond_broadcast(&o->changed);
        pthread_mutex_unlock(&o->lock);
        o->buffer = o->buffer == o->buffers[0] ? o->buffers[1] : o->buffers[0];
    }
    o->written += o->used;
    o->used = 0;
}

void ap__out_spill(ap__out *o, const void *data, size_t bytes)
{
    const char *p = data;

    while (bytes > AP_OUT_BUFFER - o->used) {
        size_t n = AP_OUT_BUFFER - o->used;

        memcpy(o->buffer + o->used, p, n);
        o->used += n;
        p += n;
        bytes -= n;
        ap__flush(o);
    }
    memcpy(o->buffer + o->used, p, bytes);
    o->used += bytes;
}

static char *ap__digits(char *end, uint64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233"
                                "34353637383940414243444546474849505152535455565758596061626364656667"
                                "6869707172737475767778798081828384858687888990919293949596979899";

    while (value >= 100) {
        end -= 2;
        memcpy(end, &pairs[value % 100 * 2], 2);
        value /= 100;
    }
    if (value >= 10) {
        end -= 2;
        memcpy(end, &pairs[value * 2], 2);
    } else {
        *--end = (char)('0' + value);
    }
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
    ap__end_thread(o);
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
    ap__end_thread(o);
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
