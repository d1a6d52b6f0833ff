/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of the host, in the vendor's text formats. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "collector/host_sys.h"
#include "collector/osrt.h"
#include "scratch.h"

#define START_NS 7000123000u

static uint64_t raw_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static char *run(scratch *s, const ap__settings *settings, unsigned ms, const char *name)
{
    unsigned fds = scratch_open_fds();
    ap__host_sys *h = NULL;
    char file[96];

    assert_int_equal(ap__host_sys_open(s->fd, settings, START_NS, &h), 0);
    assert_non_null(h);
    usleep(ms * 1000);
    assert_int_equal(ap__host_sys_close(h), 0);
    assert_int_equal(scratch_open_fds(), fds);
    snprintf(file, sizeof(file), "%s.slice_0.done", name);
    assert_true(scratch_size(s->fd, file) > 0);
    snprintf(file, sizeof(file), "%s.slice_0", name);
    return scratch_read(s->fd, file, NULL);
}

static unsigned count(const char *text, const char *part)
{
    unsigned n = 0;

    while ((text = strstr(text, part)) != NULL) {
        n++;
        text += strlen(part);
    }
    return n;
}

static void test_cpu(void **state)
{
    ap__settings s = {.host_sys = AP_HOST_CPU, .host_usage_hz = 50};
    uint64_t before = raw_ns();
    char *text = run(*state, &s, 150, "host_cpu.data");
    uint64_t after = raw_ns();
    uint64_t last = before;
    unsigned samples = 0;
    char stat[64];
    char *line = text;

    assert_non_null(text);
    snprintf(stat, sizeof(stat), "%ld (", (long)getpid());
    while (*line != '\0') {
        char *end = NULL;
        uint64_t ns = 0;

        assert_memory_equal(line, "time ", 5);
        ns = strtoull(line + 5, &end, 10);
        assert_int_equal(*end, '\n');
        assert_true(ns >= last && ns <= after);
        last = ns;
        line = end + 1;
        (void)strtod(line, &end); /* up and idle seconds */
        assert_int_equal(*end, ' ');
        line = strchr(line, '\n') + 1;
        assert_memory_equal(line, stat, strlen(stat)); /* the first thread */
        while (*line != '\0' && strncmp(line, "time ", 5) != 0) {
            assert_non_null(strstr(line, ") "));
            line = strchr(line, '\n') + 1;
        }
        samples++;
    }
    assert_true(samples >= 3 && samples <= 12);
    free(text);
}

static void test_mem(void **state)
{
    ap__settings s = {.host_sys = AP_HOST_MEM};
    char *text = run(*state, &s, 60, "host_mem.data");

    assert_non_null(text);
    for (char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        unsigned long long v[8];

        assert_int_equal(sscanf(line, "%llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1],
                                &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]),
                         8);
        assert_true(v[1] >= v[2] && v[2] > 0);
    }
    free(text);
}

static void test_network(void **state)
{
    ap__settings s = {.host_sys = AP_HOST_NETWORK};
    char *text = run(*state, &s, 60, "host_network.data");

    assert_non_null(text);
    assert_memory_equal(text, "time ", 5);
    assert_null(strchr(text, '|'));
    for (char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        if (strncmp(line, "time ", 5) != 0) {
            assert_true(*line != ' ');
            assert_non_null(memchr(line, ':', strcspn(line, "\n")));
        }
    }
    free(text);
}

static void test_usage(void **state)
{
    scratch *t = *state;
    ap__settings s = {.host_sys_usage = AP_HOST_CPU | AP_HOST_MEM, .host_usage_hz = 50};
    char *text = run(t, &s, 100, "host_sys_cpu.data");
    unsigned blocks = count(text, "TimeStamp:");
    unsigned long long ns = 0;
    char name[64];
    char expected[64];

    assert_true(blocks >= 2);
    assert_int_equal(sscanf(text, "TimeStamp:%llu\nIndex:0\ncpu  ", &ns), 1);
    assert_int_equal(count(text, "\n\n"), blocks); /* an empty line behind each */
    assert_int_equal(count(text, "\ncpu "), blocks);
    assert_true(count(text, "\ncpu0 ") == blocks);
    assert_null(strstr(text, "intr"));
    free(text);
    text = scratch_read(t->fd, "host_sys_mem.data.slice_0", NULL);
    assert_non_null(text);
    assert_int_equal(sscanf(text, "TimeStamp:%llu\nIndex:0\nMemTotal:", &ns), 1);
    assert_non_null(strstr(text, "Index:1\n"));
    free(text);
    snprintf(name, sizeof(name), "%ld-CpuUsage.data.slice_0", (long)getpid());
    text = scratch_read(t->fd, name, NULL);
    assert_non_null(text);
    snprintf(expected, sizeof(expected), "\nIndex:0\n%ld (", (long)getpid());
    assert_non_null(strstr(text, expected));
    assert_int_equal(count(text, "\nProcessName:"), count(text, "TimeStamp:"));
    assert_int_equal(count(text, "\ncpu  "), count(text, "TimeStamp:"));
    free(text);
    snprintf(name, sizeof(name), "%ld-Memory.data.slice_0", (long)getpid());
    text = scratch_read(t->fd, name, NULL);
    assert_non_null(text);
    assert_int_equal(count(text, "\nProcessName:"), count(text, "TimeStamp:"));
    assert_int_equal(count(text, "\n\n"), count(text, "TimeStamp:"));
    free(text);
}

static void test_disk(void **state)
{
    ap__settings s = {.host_sys = AP_HOST_DISK};
    char *text = run(*state, &s, 90, "host_disk.data");
    char *line = text;
    unsigned samples = 0;

    assert_non_null(text);
    assert_memory_equal(line, "start_time ", 11);
    for (line = strchr(line, '\n') + 1; *line != '\0'; line = strchr(line, '\n') + 1) {
        unsigned h = 0;
        unsigned m = 0;
        unsigned sec = 0;
        long pid = 0;
        double rates[2];

        assert_int_equal(sscanf(line, "%2u:%2u:%2u %ld be/4 root %lf K/s %lf K/s 0.00 %% 0.00 %%", &h,
                                &m, &sec, &pid, &rates[0], &rates[1]),
                         6);
        assert_int_equal(pid, getpid());
        assert_true(rates[0] >= 0 && rates[1] >= 0);
        samples++;
    }
    assert_true(samples >= 2);
    free(text);
}

/* ---- osrt ---- */

typedef struct waiter {
    pthread_t thread;
    int pipe[2];
    const char *name;
    _Atomic long tid;
    uint64_t from_ns;
    uint64_t to_ns;
} waiter;

/* Waits in one read until there is a byte. */
static void *wait_in_read(void *arg)
{
    waiter *w = arg;
    char byte = 0;

    (void)prctl(PR_SET_NAME, w->name);
    w->from_ns = raw_ns();
    w->tid = (long)syscall(SYS_gettid);
    assert_int_equal(read(w->pipe[0], &byte, 1), 1);
    w->to_ns = raw_ns();
    return NULL;
}

static void waiter_begin(waiter *w, const char *name)
{
    w->name = name;
    w->tid = 0;
    assert_int_equal(pipe(w->pipe), 0);
    assert_int_equal(pthread_create(&w->thread, NULL, wait_in_read, w), 0);
    while (w->tid == 0) {
        usleep(1000);
    }
}

static void waiter_end(waiter *w)
{
    assert_int_equal(write(w->pipe[1], "x", 1), 1);
    pthread_join(w->thread, NULL);
    close(w->pipe[0]);
    close(w->pipe[1]);
}

typedef struct call_line {
    double at_ms;
    double ms;
    char who[32];
    long tid;
    char call[64];
} call_line;

static char *parse_line(char *line, call_line *c)
{
    int used = 0;

    assert_int_equal(sscanf(line, "%lf ( %lf ms): %31[^/ ]/%ld %63[^=] = 0%n", &c->at_ms, &c->ms,
                            c->who, &c->tid, c->call, &used),
                     5);
    assert_int_equal(line[used], '\n');
    return line + used + 1;
}

static void test_osrt(void **state)
{
    ap__settings s = {.host_sys = AP_HOST_OSRT, .host_usage_hz = 50};
    waiter long_one;
    waiter ours;
    call_line c;
    char expected[64];
    unsigned found = 0;
    unsigned lines = 0;
    char *text = NULL;

    if (!ap__osrt_available()) {
        skip();
    }
    assert_int_equal(ap__host_sys_lacking(&s), 0);
    waiter_begin(&long_one, "a b/c");
    waiter_begin(&ours, "aclprof-x");
    text = run(*state, &s, 200, "host_syscall.data");
    waiter_end(&long_one);
    waiter_end(&ours);
    assert_non_null(text);
    snprintf(expected, sizeof(expected), "read(fd: %d) ", long_one.pipe[0]);
    for (char *line = text; *line != '\0'; lines++) {
        line = parse_line(line, &c);
        if (lines == 0) { /* the capture's start, from which the vendor's reader counts */
            assert_true(c.at_ms > 7000.122 && c.at_ms < 7000.124);
            continue;
        }
        assert_memory_equal(strchr(c.call, '(') != NULL ? "(" : "-", "(", 1);
        assert_true(c.tid != ours.tid);
        if (c.tid == long_one.tid) {
            assert_string_equal(c.who, "a_b_c");
        }
        if (c.tid == long_one.tid && strcmp(c.call, expected) == 0) {
            found++; /* one call, however often it was looked at */
            assert_true(c.at_ms * 1e6 + 1e3 >= (double)long_one.from_ns);
            assert_true((c.at_ms + c.ms) * 1e6 <= (double)long_one.to_ns + 1e3);
            assert_true(c.ms > 25); /* more than one look */
        }
    }
    assert_int_equal(found, 1);
    free(text);
}

/* Many short calls of one kind are not one long one, and a thread's times do not overlap. */
static void *sleep_often(void *arg)
{
    _Atomic bool *quit = arg;

    (void)prctl(PR_SET_NAME, "sleeper");
    while (!*quit) {
        usleep(3000);
    }
    return NULL;
}

static void test_osrt_short_calls(void **state)
{
    ap__settings s = {.host_sys = AP_HOST_OSRT, .host_usage_hz = 50};
    _Atomic bool quit = false;
    pthread_t thread;
    call_line c;
    unsigned found = 0;
    double end = 0;
    char *text = NULL;

    if (!ap__osrt_available()) {
        skip();
    }
    assert_int_equal(pthread_create(&thread, NULL, sleep_often, &quit), 0);
    text = run(*state, &s, 200, "host_syscall.data");
    quit = true;
    pthread_join(thread, NULL);
    assert_non_null(text);
    for (char *line = text; *line != '\0';) {
        line = parse_line(line, &c);
        if (strcmp(c.who, "sleeper") == 0) {
            assert_memory_equal(c.call, "clock_nanosleep() ", sizeof("clock_nanosleep() "));
            assert_true(c.at_ms + 0.002 >= end);
            end = c.at_ms + c.ms;
            found++;
        }
    }
    assert_true(found >= 3);
    free(text);
}

static void test_nothing_asked(void **state)
{
    scratch *t = *state;
    ap__settings s = {.host_sys = AP_HOST_NUMA};
    ap__host_sys *h = NULL;

    assert_int_equal(ap__host_sys_open(t->fd, &s, START_NS, &h), 0);
    assert_null(h);
    assert_int_equal(ap__host_sys_lacking(&s), AP_HOST_NUMA);
    assert_int_equal(ap__host_sys_close(h), 0);
    assert_int_equal(ap__host_sys_stored(h), 0);
    assert_int_equal(scratch_count(t->fd), 0);
}

static void test_fork(void **state)
{
    scratch *t = *state;
    ap__settings s = {.host_sys = AP_HOST_CPU | AP_HOST_MEM};
    unsigned fds = scratch_open_fds();
    ap__host_sys *h = NULL;
    pid_t child = 0;
    int status = 0;

    assert_int_equal(ap__host_sys_open(t->fd, &s, START_NS, &h), 0);
    usleep(30000);
    assert_true(ap__host_sys_stored(h) > 0);
    child = fork();
    if (child == 0) {
        ap__host_sys_abandon(h);
        /* a directory or stat file that the thread had open just now stays open */
        _exit(scratch_open_fds() <= fds + 2 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(ap__host_sys_close(h), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cpu, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_mem, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_network, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_disk, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_usage, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_osrt, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_osrt_short_calls, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_nothing_asked, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_fork, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
