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
#include <sys/wait.h>
#include <time.h>

#include "collector/host_sys.h"
#include "scratch.h"

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

    assert_int_equal(ap__host_sys_open(s->fd, settings, &h), 0);
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

static void test_nothing_asked(void **state)
{
    scratch *t = *state;
    ap__settings s = {.host_sys = AP_HOST_NUMA | AP_HOST_OSRT};
    ap__host_sys *h = NULL;

    assert_int_equal(ap__host_sys_open(t->fd, &s, &h), 0);
    assert_null(h);
    assert_int_equal(ap__host_sys_lacking(&s), AP_HOST_NUMA | AP_HOST_OSRT);
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

    assert_int_equal(ap__host_sys_open(t->fd, &s, &h), 0);
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
        cmocka_unit_test_setup_teardown(test_nothing_asked, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_fork, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
