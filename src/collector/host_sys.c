/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "collector/host_sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/own_thread.h"
#include "clock/cycles.h"
#include "collector/osrt.h"
#include "writer/slice.h"

#define AP_DEFAULT_MS 20u        /* of ACL_PROF_HOST_SYS */
#define AP_USAGE_DEFAULT_MS 100u /* of ACL_PROF_HOST_SYS_USAGE */
#define AP_TEXT_MAX (1u << 20)   /* one sample of one file */
#define AP_SHARE 25u             /* a look at every thread takes 1/25 of a core at most */
#define AP_DISK_LINES_MAX 500u   /* after a sleep */

/* The /proc files that stay open. */
enum { AP_PROC_UPTIME, AP_PROC_STATM, AP_PROC_NET, AP_PROC_STAT, AP_PROC_MEMINFO, AP_PROC_SELF,
       AP_PROC_IO, AP_PROC_COUNT };

static const char *const ap__proc_paths[AP_PROC_COUNT] = {
    "/proc/uptime",  "/proc/self/statm",   "/proc/self/net/dev",
    "/proc/stat",    "/proc/meminfo",      "/proc/self/stat",
    "/proc/self/io"};

typedef enum ap__host_file {
    AP_FILE_CPU,
    AP_FILE_MEM,
    AP_FILE_NETWORK,
    AP_FILE_DISK,
    AP_FILE_OSRT,
    AP_FILE_SYS_CPU,
    AP_FILE_SYS_MEM,
    AP_FILE_PID_CPU,
    AP_FILE_PID_MEM,
    AP_FILES
} ap__host_file;

struct ap__host_sys {
    bool on[AP_FILES];
    uint32_t period_ms[AP_FILES];
    uint64_t due_ms[AP_FILES];
    uint64_t index[AP_FILES];
    ap__stream streams[AP_FILES];
    int proc[AP_PROC_COUNT];
    char *text;  /* AP_TEXT_MAX */
    size_t used;
    char *proc_text; /* AP_TEXT_MAX */
    char name[64];   /* of the process */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool quit;
    uint64_t stored;
    int error;
    uint64_t disk_ns; /* of the last look at the process's reads and writes */
    uint64_t disk_read;
    uint64_t disk_written;
    uint64_t disk_begin_ms; /* of the first look */
    uint64_t disk_lines;
    ap__osrt *osrt; /* NULL: not asked */
};

uint32_t ap__host_sys_lacking(const ap__settings *settings)
{
    uint32_t lacking = settings->host_sys & (uint32_t)AP_HOST_NUMA;

    if ((settings->host_sys & AP_HOST_OSRT) != 0 && !ap__osrt_available()) {
        lacking |= AP_HOST_OSRT;
    }
    return lacking;
}

/* ---- text ---- */

static void ap__add(ap__host_sys *h, const char *text, size_t bytes)
{
    if (bytes < AP_TEXT_MAX - h->used) {
        memcpy(h->text + h->used, text, bytes);
        h->used += bytes;
    }
}

static void __attribute__((format(printf, 2, 3))) ap__addf(ap__host_sys *h, const char *format, ...)
{
    char line[160];
    va_list args;
    int n = 0;

    va_start(args, format);
    n = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (n > 0 && (size_t)n < sizeof(line)) {
        ap__add(h, line, (size_t)n);
    }
}

/* Whole content of an open /proc file, with a NUL; returns the bytes. */
static size_t ap__proc_read(ap__host_sys *h, int fd)
{
    size_t used = 0;
    ssize_t n = 0;

    if (fd >= 0) {
        do {
            n = pread(fd, h->proc_text + used, AP_TEXT_MAX - 1 - used, (off_t)used);
            used += n > 0 ? (size_t)n : 0;
        } while (n > 0 || (n < 0 && errno == EINTR));
    }
    h->proc_text[used] = '\0';
    return used;
}

static void ap__add_proc(ap__host_sys *h, int which)
{
    ap__add(h, h->proc_text, ap__proc_read(h, h->proc[which]));
}

/* Lines that begin with `prefix`; at most `max`. */
static void ap__add_lines(ap__host_sys *h, int which, const char *prefix, unsigned max)
{
    size_t length = strlen(prefix);

    (void)ap__proc_read(h, h->proc[which]);
    for (const char *p = h->proc_text; *p != '\0' && max > 0;) {
        size_t n = strcspn(p, "\n");

        n += p[n] == '\n';
        if (strncmp(p, prefix, length) == 0) {
            ap__add(h, p, n);
            max--;
        }
        p += n;
    }
}

/* ---- samples ---- */

static void ap__sample_cpu(ap__host_sys *h)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry = NULL;

    ap__addf(h, "time %" PRIu64 "\n", ap__mono_raw_ns());
    ap__add_proc(h, AP_PROC_UPTIME);
    while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
        char path[280];
        int fd = -1;

        if (entry->d_name[0] == '.') {
            continue;
        }
        (void)snprintf(path, sizeof(path), "%s/stat", entry->d_name);
        fd = openat(dirfd(tasks), path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0) { /* a thread may be gone by now */
            ap__add(h, h->proc_text, ap__proc_read(h, fd));
            (void)close(fd);
        }
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
}

static void ap__sample_network(ap__host_sys *h)
{
    ap__addf(h, "time %" PRIu64 "\n", ap__mono_raw_ns());
    (void)ap__proc_read(h, h->proc[AP_PROC_NET]);
    for (const char *p = h->proc_text; *p != '\0';) {
        size_t n = strcspn(p, "\n");
        size_t blanks = strspn(p, " ");

        /* the two lines of headings have bars */
        if (memchr(p, '|', n) == NULL && memchr(p, ':', n) != NULL) {
            ap__add(h, p + blanks, n - blanks);
            ap__add(h, "\n", 1);
        }
        p += n + (p[n] == '\n');
    }
}

static uint64_t ap__io_value(const ap__host_sys *h, const char *key)
{
    const char *p = strstr(h->proc_text, key);

    return p != NULL ? strtoull(p + strlen(key), NULL, 10) : 0;
}

/* The vendor's reader takes a line a period, whatever the clock in it says: what was slept through
 * gets its lines, too. */
static uint64_t ap__disk_lines_due(const ap__host_sys *h, uint64_t now_ms)
{
    uint64_t period = h->period_ms[AP_FILE_DISK];
    uint64_t due = (now_ms - h->disk_begin_ms + period / 2) / period;

    due = due > h->disk_lines ? due - h->disk_lines : 0;
    return due < AP_DISK_LINES_MAX ? due : AP_DISK_LINES_MAX;
}

/* As iotop prints it, which the vendor's collector runs: of this process, rates since the last
 * sample. The time an access waits for is not to be had here: 0. */
static void ap__sample_disk(ap__host_sys *h)
{
    uint64_t now_ms = ap__now_ms();
    uint64_t now = ap__mono_raw_ns();
    uint64_t read_bytes = 0;
    uint64_t written = 0;
    double seconds = (double)(now - h->disk_ns) / 1e9;
    time_t clock = time(NULL);
    struct tm local;
    uint64_t lines = 0;

    if (h->disk_ns != 0) {
        lines = ap__disk_lines_due(h, now_ms);
        if (lines == 0) { /* the last sample, hardly after the one before */
            return;
        }
    }
    (void)ap__proc_read(h, h->proc[AP_PROC_IO]);
    read_bytes = ap__io_value(h, "\nread_bytes: ");
    written = ap__io_value(h, "\nwrite_bytes: ");
    if (h->disk_ns == 0) {
        ap__addf(h, "start_time %" PRIu64 "\n", now);
        h->disk_begin_ms = now_ms;
    }
    for (uint64_t i = 0; i < lines && localtime_r(&clock, &local) != NULL && seconds > 0; i++) {
        ap__addf(h, "%02d:%02d:%02d %ld be/4 root %.2f K/s %.2f K/s 0.00 %% 0.00 %% %s\n",
                 local.tm_hour, local.tm_min, local.tm_sec, (long)getpid(),
                 (double)(read_bytes - h->disk_read) / 1024.0 / seconds,
                 (double)(written - h->disk_written) / 1024.0 / seconds, h->name);
    }
    h->disk_lines += lines;
    h->disk_ns = now;
    h->disk_read = read_bytes;
    h->disk_written = written;
}

static void ap__sample(ap__host_sys *h, ap__host_file file)
{
    if (file >= AP_FILE_SYS_CPU) {
        ap__addf(h, "TimeStamp:%" PRIu64 "\nIndex:%" PRIu64 "\n", ap__mono_raw_ns(),
                 h->index[file]);
    }
    switch (file) {
    case AP_FILE_CPU:
        ap__sample_cpu(h);
        break;
    case AP_FILE_MEM:
        ap__addf(h, "%" PRIu64 " ", ap__mono_raw_ns());
        ap__add_proc(h, AP_PROC_STATM);
        break;
    case AP_FILE_NETWORK:
        ap__sample_network(h);
        break;
    case AP_FILE_DISK:
        ap__sample_disk(h);
        break;
    case AP_FILE_OSRT:
        ap__osrt_look(h->osrt);
        break;
    case AP_FILE_SYS_CPU:
        ap__add_lines(h, AP_PROC_STAT, "cpu", UINT32_MAX);
        break;
    case AP_FILE_SYS_MEM:
        ap__add_proc(h, AP_PROC_MEMINFO);
        break;
    case AP_FILE_PID_CPU:
        ap__add_proc(h, AP_PROC_SELF);
        ap__addf(h, "ProcessName:%s\n", h->name);
        ap__add_lines(h, AP_PROC_STAT, "cpu ", 1);
        break;
    default:
        ap__add_proc(h, AP_PROC_STATM);
        ap__addf(h, "ProcessName:%s\n", h->name);
        break;
    }
    if (file >= AP_FILE_SYS_CPU) {
        ap__add(h, "\n", 1);
    }
}

static void ap__put_osrt(void *context, const char *text, size_t bytes)
{
    ap__add(context, text, bytes);
}

static void ap__sample_file(ap__host_sys *h, ap__host_file file, bool last)
{
    int err = 0;

    h->used = 0;
    ap__sample(h, file);
    if (last && file == AP_FILE_OSRT) {
        ap__osrt_end(h->osrt);
    }
    h->index[file]++;
    err = ap__stream_append(&h->streams[file], h->text, h->used, NULL);
    if (err != 0 && h->error == 0) {
        h->error = err;
    }
}

static uint64_t ap__cpu_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000u;
}

/* What looks at every thread takes the longer the more there are: not more of a core than a share, or
 * else its samples, which tell their times, come less often. */
static uint64_t ap__rest_ms(ap__host_file file, uint64_t cost_us)
{
    bool each_thread = file == AP_FILE_CPU || file == AP_FILE_OSRT;

    return each_thread ? cost_us * AP_SHARE / 1000u : 0;
}

/* Takes what is due; returns when the next is. */
static uint64_t ap__sample_due(ap__host_sys *h)
{
    uint64_t next = UINT64_MAX;
    uint64_t stored = 0;

    for (unsigned i = 0; i < AP_FILES; i++) {
        uint64_t now = ap__now_ms();

        if (!h->on[i]) {
            continue;
        }
        if (now >= h->due_ms[i]) {
            uint64_t cost_us = ap__cpu_us();
            uint64_t rest = 0;

            ap__sample_file(h, (ap__host_file)i, false);
            rest = ap__rest_ms((ap__host_file)i, ap__cpu_us() - cost_us);
            h->due_ms[i] += h->period_ms[i];
            if (h->due_ms[i] <= now) { /* asleep, or too slow: no burst to catch up */
                h->due_ms[i] = now + h->period_ms[i];
            }
            if (h->due_ms[i] < now + rest) {
                h->due_ms[i] = now + rest;
            }
        }
        next = h->due_ms[i] < next ? h->due_ms[i] : next;
        stored += ap__stream_stored(&h->streams[i]);
    }
    pthread_mutex_lock(&h->lock);
    h->stored = stored;
    pthread_mutex_unlock(&h->lock);
    return next;
}

static void *ap__host_sys_main(void *arg)
{
    ap__host_sys *h = arg;
    bool quit = false;

    while (!quit) {
        uint64_t next = ap__sample_due(h);
        struct timespec ts = {(time_t)(next / 1000u), (long)(next % 1000u) * 1000000L};

        pthread_mutex_lock(&h->lock);
        while (!h->quit && ap__now_ms() < next) {
            (void)pthread_cond_timedwait(&h->wake, &h->lock, &ts);
        }
        quit = h->quit;
        pthread_mutex_unlock(&h->lock);
    }
    for (unsigned i = 0; i < AP_FILES; i++) {
        if (h->on[i]) {
            ap__sample_file(h, (ap__host_file)i, true);
        }
    }
    return NULL;
}

/* ---- life ---- */

static void ap__read_name(ap__host_sys *h)
{
    int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, h->name, sizeof(h->name) - 1) : 0;

    h->name[n > 0 ? n : 0] = '\0';
    h->name[strcspn(h->name, "\n")] = '\0';
    if (fd >= 0) {
        (void)close(fd);
    }
}

static void ap__choose(ap__host_sys *h, const ap__settings *s, int data_fd)
{
    uint32_t asked = s->host_usage_hz != 0 ? 1000u / s->host_usage_hz : 0;
    const bool on[AP_FILES] = {(s->host_sys & AP_HOST_CPU) != 0,
                               (s->host_sys & AP_HOST_MEM) != 0,
                               (s->host_sys & AP_HOST_NETWORK) != 0,
                               (s->host_sys & AP_HOST_DISK) != 0,
                               h->osrt != NULL,
                               (s->host_sys_usage & AP_HOST_CPU) != 0,
                               (s->host_sys_usage & AP_HOST_MEM) != 0,
                               (s->host_sys_usage & AP_HOST_CPU) != 0,
                               (s->host_sys_usage & AP_HOST_MEM) != 0};
    char pid_cpu[48];
    char pid_mem[48];
    const char *const names[AP_FILES] = {"host_cpu.data",     "host_mem.data",
                                         "host_network.data", "host_disk.data",
                                         "host_syscall.data",
                                         "host_sys_cpu.data", "host_sys_mem.data",
                                         pid_cpu,             pid_mem};

    (void)snprintf(pid_cpu, sizeof(pid_cpu), "%ld-CpuUsage.data", (long)getpid());
    (void)snprintf(pid_mem, sizeof(pid_mem), "%ld-Memory.data", (long)getpid());
    for (unsigned i = 0; i < AP_FILES; i++) {
        uint32_t ms = i < AP_FILE_SYS_CPU ? AP_DEFAULT_MS : AP_USAGE_DEFAULT_MS;

        h->on[i] = on[i];
        h->period_ms[i] = asked != 0 ? asked : ms;
        h->due_ms[i] = ap__now_ms();
        ap__stream_init(&h->streams[i], data_fd, names[i], 0);
    }
}

static void ap__host_sys_free(ap__host_sys *h)
{
    for (unsigned i = 0; i < AP_PROC_COUNT; i++) {
        if (h->proc[i] >= 0) {
            (void)close(h->proc[i]);
        }
    }
    ap__osrt_free(h->osrt);
    free(h->proc_text);
    free(h->text);
    free(h);
}

static int ap__host_sys_begin(ap__host_sys *h)
{
    pthread_condattr_t attr;
    int rc = 0;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&h->wake, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&h->lock, NULL);
    rc = ap__own_thread(&h->thread, "aclprof-hostsys", ap__host_sys_main, h);
    if (rc != 0) {
        pthread_mutex_destroy(&h->lock);
        pthread_cond_destroy(&h->wake);
    }
    return rc;
}

int ap__host_sys_open(int data_fd, const ap__settings *settings, uint64_t start_ns,
                      ap__host_sys **out)
{
    const uint32_t sampled = AP_HOST_CPU | AP_HOST_MEM | AP_HOST_NETWORK | AP_HOST_DISK |
                             AP_HOST_OSRT;
    uint32_t asked = settings->host_sys & ~ap__host_sys_lacking(settings) & sampled;
    ap__host_sys *h = NULL;
    int rc = ENOMEM;

    *out = NULL;
    if (asked == 0 &&
        (settings->host_sys_usage & (uint32_t)(AP_HOST_CPU | AP_HOST_MEM)) == 0) {
        return 0;
    }
    h = calloc(1, sizeof(*h));
    if (h == NULL) {
        return ENOMEM;
    }
    for (unsigned i = 0; i < AP_PROC_COUNT; i++) {
        h->proc[i] = open(ap__proc_paths[i], O_RDONLY | O_CLOEXEC);
    }
    h->text = malloc(AP_TEXT_MAX);
    h->proc_text = malloc(AP_TEXT_MAX);
    if ((asked & AP_HOST_OSRT) != 0) {
        h->osrt = ap__osrt_new(start_ns, ap__put_osrt, h);
    }
    if (h->text != NULL && h->proc_text != NULL &&
        (h->osrt != NULL || (asked & AP_HOST_OSRT) == 0)) {
        ap__read_name(h);
        ap__choose(h, settings, data_fd);
        rc = ap__host_sys_begin(h);
    }
    if (rc != 0) {
        ap__host_sys_free(h);
        return rc;
    }
    *out = h;
    return 0;
}

int ap__host_sys_close(ap__host_sys *h)
{
    int err = 0;

    if (h == NULL) {
        return 0;
    }
    pthread_mutex_lock(&h->lock);
    h->quit = true;
    pthread_cond_signal(&h->wake);
    pthread_mutex_unlock(&h->lock);
    pthread_join(h->thread, NULL);
    for (unsigned i = 0; i < AP_FILES; i++) {
        int e = ap__stream_finish(&h->streams[i]);

        if (e != 0) {
            ap__stream_abandon(&h->streams[i]);
            h->error = h->error != 0 ? h->error : e;
        }
    }
    err = h->error;
    pthread_mutex_destroy(&h->lock);
    pthread_cond_destroy(&h->wake);
    ap__host_sys_free(h);
    return err;
}

void ap__host_sys_abandon(ap__host_sys *h)
{
    if (h == NULL) {
        return;
    }
    for (unsigned i = 0; i < AP_FILES; i++) {
        ap__stream_abandon(&h->streams[i]);
    }
    ap__host_sys_free(h); /* its thread is not here; locks are left as they are */
}

uint64_t ap__host_sys_stored(ap__host_sys *h)
{
    uint64_t stored = 0;

    if (h != NULL) {
        pthread_mutex_lock(&h->lock);
        stored = h->stored;
        pthread_mutex_unlock(&h->lock);
    }
    return stored;
}
