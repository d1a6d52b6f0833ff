/* SPDX-License-Identifier: Apache-2.0 */
/* The library's threads in a program: each has a name that says whose it is, and no signal of the
 * program's lands in it. */
#define _GNU_SOURCE
#include "journey.h"

#include "reporter/vendor.h"
#include "sim_runtime.h"

#define MODEL 7u

typedef struct own {
    char name[32];
    unsigned long long blocked;
} own;

static own threads[200];
static size_t thread_count;

/* All threads but the first. */
static void list_threads(void)
{
    DIR *dir = opendir("/proc/self/task");
    struct dirent *entry = NULL;
    char self[24];

    snprintf(self, sizeof(self), "%ld", (long)getpid());
    thread_count = 0;
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        char path[300];
        char *text = NULL;
        own *o = &threads[thread_count];

        if (entry->d_name[0] == '.' || strcmp(entry->d_name, self) == 0) {
            continue;
        }
        snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
        FILE *file = fopen(path, "r");
        size_t n = 0;

        if (file == NULL) {
            continue; /* gone */
        }
        assert_true(thread_count < sizeof(threads) / sizeof(threads[0]));
        memset(o, 0, sizeof(*o));
        while (getline(&text, &n, file) > 0) {
            (void)sscanf(text, "Name: %31s", o->name);
            (void)sscanf(text, "SigBlk: %llx", &o->blocked);
        }
        free(text);
        fclose(file);
        thread_count++;
    }
    closedir(dir);
}

static bool listed(const char *name)
{
    for (size_t i = 0; i < thread_count; i++) {
        if (strcmp(threads[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Until all of `names` are there: a thread names itself. */
static void wait_for(const char *const *names, size_t count)
{
    for (size_t i = 0, rounds = 0; i < count;) {
        list_threads();
        for (i = 0; i < count && listed(names[i]); i++) {
        }
        if (i < count) {
            usleep(2000);
            if (rounds++ > 3000) {
                fail_msg("no thread %s", names[i]);
            }
        }
    }
}

/* Threads that a sanitizer has made are not ours. */
static void check_threads(void)
{
    for (size_t i = 0; i < thread_count; i++) {
        const own *o = &threads[i];

        if (strncmp(o->name, "aclprof-", 8) != 0) {
#ifndef AP_SANITIZED
            fail_msg("a thread is called %s", o->name);
#endif
            continue;
        }
        for (int s = 1; s < SIGRTMAX; s++) {
            bool free_of_it = s == SIGKILL || s == SIGSTOP || (s >= 32 && s < SIGRTMIN);

            if (!free_of_it && (o->blocked >> (s - 1) & 1) == 0) {
                fail_msg("%s does not block signal %d", o->name, s);
            }
        }
    }
}

static void launch(void)
{
    simrtKernel kernel = {sizeof(kernel), "Add", SIMRT_VECTOR, 8, 10, 0};

    assert_int_equal(simrtSetDevice(0), SIMRT_OK);
    assert_int_equal(simrtLaunchKernel(NULL, &kernel, NULL), SIMRT_OK);
    assert_int_equal(simrtSynchronizeDevice(), SIMRT_OK);
}

static void capture(void **state)
{
    static const char *const names[] = {"aclprof-writer", "aclprof-hostsys", "aclprof-sim",
                                        "aclprof-dev0",   "aclprof-dev1",    "aclprof-poll",
                                        "aclprof-read0",  "aclprof-devout"};
    uint32_t devices[] = {0, 1};
    aclprofConfig *config = NULL;

    assert_ok(init_at(*state));
    assert_ok(set_text(ACL_PROF_HOST_SYS, "cpu,mem,disk,network,osrt"));
    config = aclprofCreateConfig(devices, 2, ACL_AICORE_PIPE_UTILIZATION, NULL,
                                 ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS | ACL_PROF_MSPROFTX);
    assert_ok(aclprofStart(config));
    launch();
    wait_for(names, sizeof(names) / sizeof(names[0]));
    check_threads();
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
}

static void subscription(void **state)
{
    static const char *const names[] = {"aclprof-pipe", "aclprof-ops", "aclprof-sim"};
    aclprofSubscribeConfig *config = NULL;
    int fds[2];

    (void)state;
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(MsprofSetDeviceIdByGeModelIdx(MODEL, 0), 0);
    config = aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, &fds[1]);
    assert_ok(aclprofModelSubscribe(MODEL, config));
    launch();
    wait_for(names, sizeof(names) / sizeof(names[0]));
    check_threads();
    assert_ok(aclprofModelUnSubscribe(MODEL));
}

static const role roles[] = {ROLE(capture), ROLE(subscription)};

static void test_capture(void **state)
{
    role_run("capture", *state);
}

static void test_subscription(void **state)
{
    role_run("subscription", *state);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {SCRATCH_TEST(test_capture), SCRATCH_TEST(test_subscription)};

    setenv("ACLPROF_DRIVER", "sim", 1);
    setenv("ACLPROF_SIM", "devices=2", 1);
    if (argc > 1) {
        return role_main(roles, sizeof(roles) / sizeof(roles[0]), argv);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
