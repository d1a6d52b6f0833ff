/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "collector/osrt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock/cycles.h"

#define AP_OURS "aclprof-" /* begins the names of this library's threads */
#define AP_THREADS_MAX 4096u
#define AP_SEEN_MAX 160u /* nine numbers */

typedef struct ap__osrt_thread {
    long tid;
    bool ours;
    bool looked;
    bool inside;
    char name[16];
    char seen[AP_SEEN_MAX]; /* the kernel's line */
    uint64_t slices;        /* times that it has run */
    uint64_t since_ns;
} ap__osrt_thread;

struct ap__osrt {
    ap__osrt_put put;
    void *context;
    uint64_t start_ns;
    bool begun;
    ap__osrt_thread *threads;
    uint32_t count;
    uint32_t room;
    uint32_t hint; /* where the next of the list will be */
};

bool ap__osrt_available(void)
{
    char text[8];
    int fd = open("/proc/self/syscall", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text)) : -1;

    if (fd >= 0) {
        (void)close(fd);
    }
    return n > 0;
}

ap__osrt *ap__osrt_new(uint64_t start_ns, ap__osrt_put put, void *context)
{
    ap__osrt *o = calloc(1, sizeof(*o));

    if (o != NULL) {
        o->start_ns = start_ns;
        o->put = put;
        o->context = context;
    }
    return o;
}

void ap__osrt_free(ap__osrt *o)
{
    if (o != NULL) {
        free(o->threads);
        free(o);
    }
}

/* ---- lines ---- */

static void __attribute__((format(printf, 5, 6)))
ap__put_line(ap__osrt *o, uint64_t at_ns, uint64_t ns, const char *who, const char *format, ...)
{
    char call[64];
    char line[192];
    va_list args;
    int n = 0;

    va_start(args, format);
    (void)vsnprintf(call, sizeof(call), format, args);
    va_end(args);
    n = snprintf(line, sizeof(line),
                 "%" PRIu64 ".%03" PRIu64 " ( %" PRIu64 ".%03" PRIu64 " ms): %s %s = 0\n",
                 at_ns / 1000000u, at_ns / 1000u % 1000u, ns / 1000000u, ns / 1000u % 1000u, who,
                 call);
    if (n > 0 && (size_t)n < sizeof(line)) {
        o->put(o->context, line, (size_t)n);
    }
}

static void ap__put_call(ap__osrt *o, ap__osrt_thread *t, uint64_t until_ns)
{
    char who[48];
    char *arguments = NULL;
    long number = strtol(t->seen, &arguments, 10);
    bool has_fd = false;
    const char *name = ap__syscall_name(number, &has_fd);

    (void)snprintf(who, sizeof(who), "%s/%ld", t->name, t->tid);
    if (name == NULL) {
        ap__put_line(o, t->since_ns, until_ns - t->since_ns, who, "syscall_%ld()", number);
    } else if (has_fd) {
        ap__put_line(o, t->since_ns, until_ns - t->since_ns, who, "%s(fd: %d)", name,
                     (int)strtoull(arguments, NULL, 16));
    } else {
        ap__put_line(o, t->since_ns, until_ns - t->since_ns, who, "%s()", name);
    }
}

/* The first line: a call of the sampler's own, at the time from which the others are counted. */
static void ap__put_start(ap__osrt *o)
{
    char who[48];

    (void)snprintf(who, sizeof(who), AP_OURS "hostsys/%ld", (long)syscall(SYS_gettid));
    ap__put_line(o, o->start_ns, 1000, who, "clock_gettime()");
}

/* ---- looking ---- */

/* A file of one thread, without the newline; "" when the thread is gone. */
static void ap__read_small(int dirfd, const char *path, char *text, size_t size)
{
    int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : 0;

    if (fd >= 0) {
        (void)close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

/* Blanks, slashes and the like would break the line. */
static void ap__read_name(int dirfd, ap__osrt_thread *t)
{
    char path[48];

    (void)snprintf(path, sizeof(path), "%ld/comm", t->tid);
    ap__read_small(dirfd, path, t->name, sizeof(t->name));
    for (char *p = t->name; *p != '\0'; p++) {
        bool plain = (*p >= '0' && *p <= '9') || (*p >= 'A' && *p <= 'Z') ||
                     (*p >= 'a' && *p <= 'z') || *p == '-' || *p == '.';

        *p = plain ? *p : '_';
    }
    if (t->name[0] == '\0') {
        memcpy(t->name, "_", 2);
    }
    t->ours = strncmp(t->name, AP_OURS, sizeof(AP_OURS) - 1) == 0;
}

/* The directory lists threads in the order in which they were met before, but for new ones. */
static ap__osrt_thread *ap__thread_of(ap__osrt *o, int dirfd, long tid)
{
    ap__osrt_thread *t = NULL;

    for (uint32_t i = 0; i < o->count; i++) {
        uint32_t k = (o->hint + i) % o->count;

        if (o->threads[k].tid == tid) {
            o->hint = k + 1;
            return &o->threads[k];
        }
    }
    if (o->count == o->room) {
        uint32_t room = o->room != 0 ? 2 * o->room : 64;
        ap__osrt_thread *more =
            room <= AP_THREADS_MAX ? realloc(o->threads, room * sizeof(*more)) : NULL;

        if (more == NULL) {
            return NULL;
        }
        o->threads = more;
        o->room = room;
    }
    t = &o->threads[o->count++];
    memset(t, 0, sizeof(*t));
    t->tid = tid;
    ap__read_name(dirfd, t);
    return t;
}

/* 0 where the kernel does not count. */
static uint64_t ap__slices(int dirfd, long tid)
{
    char path[48];
    char text[96];
    const char *last = NULL;

    (void)snprintf(path, sizeof(path), "%ld/schedstat", tid);
    ap__read_small(dirfd, path, text, sizeof(text));
    last = strrchr(text, ' ');
    return last != NULL ? strtoull(last, NULL, 10) : 0;
}

static void ap__look_at(ap__osrt *o, int dirfd, ap__osrt_thread *t)
{
    char path[48];
    char seen[AP_SEEN_MAX];
    uint64_t slices = ap__slices(dirfd, t->tid); /* before: what runs between is no longer the same */
    uint64_t now = 0;
    bool inside = false;

    if (t->inside && slices != 0 && slices == t->slices) {
        return; /* it has not run since */
    }
    (void)snprintf(path, sizeof(path), "%ld/syscall", t->tid);
    ap__read_small(dirfd, path, seen, sizeof(seen));
    now = ap__mono_raw_ns();
    inside = seen[0] >= '0' && seen[0] <= '9'; /* else "running", or -1: waits for something else */
    if (t->inside && inside && slices == t->slices && strcmp(seen, t->seen) == 0) {
        return;
    }
    if (t->inside) {
        ap__put_call(o, t, now);
    }
    t->inside = inside;
    t->since_ns = now;
    t->slices = slices;
    memcpy(t->seen, seen, sizeof(t->seen));
}

static void ap__drop_gone(ap__osrt *o, uint64_t now)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < o->count; i++) {
        ap__osrt_thread *t = &o->threads[i];

        if (!t->looked) {
            if (t->inside) {
                ap__put_call(o, t, now);
            }
            continue;
        }
        t->looked = false;
        if (kept != i) {
            o->threads[kept] = *t;
        }
        kept++;
    }
    o->count = kept;
}

void ap__osrt_look(ap__osrt *o)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry = NULL;

    if (!o->begun) {
        o->begun = true;
        ap__put_start(o);
    }
    if (tasks == NULL) {
        return; /* out of descriptors for now */
    }
    o->hint = 0;
    while ((entry = readdir(tasks)) != NULL) {
        long tid = strtol(entry->d_name, NULL, 10);
        ap__osrt_thread *t = tid > 0 ? ap__thread_of(o, dirfd(tasks), tid) : NULL;

        if (t != NULL) {
            t->looked = true;
            if (!t->ours) {
                ap__look_at(o, dirfd(tasks), t);
            }
        }
    }
    (void)closedir(tasks);
    ap__drop_gone(o, ap__mono_raw_ns());
}

void ap__osrt_end(ap__osrt *o)
{
    uint64_t now = ap__mono_raw_ns();

    for (uint32_t i = 0; i < o->count; i++) {
        if (o->threads[i].inside) {
            ap__put_call(o, &o->threads[i], now);
            o->threads[i].inside = false;
        }
    }
}
