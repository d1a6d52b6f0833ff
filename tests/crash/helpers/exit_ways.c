/* SPDX-License-Identifier: Apache-2.0 */
/* exit_ways WAY DIRECTORY COUNTS: begins a capture in DIRECTORY, stamps, and ends in that way
 * without aclprofStop. COUNTS is a file that is mapped: see exit_counts.h. */
#define _GNU_SOURCE
#include "tests/stress/harness.h"

#include <pthread.h>
#include <signal.h>

#include "exit_counts.h"

static struct exit_counts *counts;
static char *self; /* path of this program */

static void need(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "exit_ways: %s: %s\n", what, aclprofGetLastError());
        _exit(99);
    }
}

static void stamp_some(uint32_t index, uint32_t events)
{
    void *stamp = aclprofCreateStamp();
    uint32_t seq = atomic_load(&counts->returned[index]);

    for (uint32_t end = seq + events; seq < end; seq++) {
        need(message_set(stamp, 'm', index, seq) == ACL_SUCCESS, "message");
        need(aclprofMark(stamp) == ACL_SUCCESS, "mark");
        atomic_store(&counts->returned[index], seq + 1);
    }
}

/* Until it is refused because the process ends. */
static void *stamp_on(void *arg)
{
    uint32_t index = (uint32_t)(uintptr_t)arg;
    void *stamp = aclprofCreateStamp();

    for (uint32_t seq = 0;; seq++) {
        if (message_set(stamp, 'm', index, seq) != ACL_SUCCESS ||
            aclprofMark(stamp) != ACL_SUCCESS) {
            pause();
        }
        atomic_store(&counts->returned[index], seq + 1);
        if (seq % 32 == 0) {
            usleep(100);
        }
    }
    return NULL;
}

static void *exit_here(void *arg)
{
    (void)arg;
    stamp_some(1, 50);
    exit(7);
}

static void *end_later(void *arg)
{
    (void)arg;
    usleep(20000);
    stamp_some(1, 50); /* main has ended by now */
    return NULL;
}

static void at_exit(void)
{
    stamp_some(2, 10);
}

static void on_alarm(int number)
{
    (void)number;
    exit(8);
}

static void start_busy(void)
{
    pthread_t thread;

    for (uintptr_t i = 1; i < EXIT_THREADS; i++) {
        need(pthread_create(&thread, NULL, stamp_on, (void *)i) == 0, "pthread_create");
    }
    for (uint32_t i = 1; i < EXIT_THREADS; i++) {
        while (atomic_load(&counts->returned[i]) < 1000) {
            usleep(100);
        }
    }
}

static bool is(const char *way, const char *name)
{
    return strcmp(way, name) == 0;
}

static void leave(const char *way)
{
    char *const again[] = {self, (char *)"linger", NULL};
    pthread_t thread;

    if (is(way, "exit")) {
        exit(0);
    } else if (is(way, "exit-busy")) {
        start_busy();
        exit(0);
    } else if (is(way, "exit-thread")) {
        need(pthread_create(&thread, NULL, exit_here, NULL) == 0, "pthread_create");
        for (;;) {
            pause();
        }
    } else if (is(way, "exit-handler")) {
        signal(SIGALRM, on_alarm);
        raise(SIGALRM);
    } else if (is(way, "atexit")) {
        atexit(at_exit);
        exit(0);
    } else if (is(way, "main-ends")) {
        need(pthread_create(&thread, NULL, end_later, NULL) == 0, "pthread_create");
        pthread_exit(NULL);
    } else if (is(way, "_exit")) {
        _exit(0);
    } else if (is(way, "_exit-busy")) {
        start_busy();
        _exit(0);
    } else if (is(way, "quick_exit")) {
        quick_exit(0);
    } else if (is(way, "abort")) {
        abort();
    } else if (is(way, "exec")) {
        execv(self, again);
    }
}

int main(int argc, char **argv)
{
    aclprofConfig *config = NULL;

    if (argc == 2 && is(argv[1], "linger")) { /* what exec has made of it */
        return getchar() == EOF ? 0 : 1;
    }
    if (argc != 4) {
        return 98;
    }
    self = argv[0];
    counts = exit_counts_map(argv[3]);
    need(counts != NULL, "counts");
    need(capture_begin(argv[2], &config) == ACL_SUCCESS, "begin");
    stamp_some(0, 100);
    leave(argv[1]);
    return is(argv[1], "return") ? 0 : 97;
}
