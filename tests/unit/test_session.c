/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "session_fixture.h"

/* ---- Init and Finalize ---- */

static void test_init_arguments(void **state)
{
    char long_path[AP_PATH_MAX + 1];

    assert_code(aclprofInit(NULL, 5), 100000, "EK0006");
    assert_code(aclprofInit(here, 0), 100000, "Value [0] for parameter length is invalid");
    assert_code(aclprofInit(here, strlen(here) - 1), 100000, "strlen(profilerResultPath)");
    assert_code(aclprofInit(here, strlen(here) + 1), 100000, "strlen(profilerResultPath)");
    memset(long_path, '/', AP_PATH_MAX);
    long_path[AP_PATH_MAX] = '\0';
    assert_code(aclprofInit(long_path, AP_PATH_MAX), 100000, "1 to 4095");
    assert_code(aclprofInit("/tmp/x", SIZE_MAX), 100000, "1 to 4095");
    assert_code(init("/tmp/a|b"), 100003,
                "EK0001: Value [/tmp/a|b] for parameter "
                "profilerResultPath is invalid. Reason: it has the "
                "character |");
    assert_code(init("/dev/null/x"), 100003, "not a directory");
    assert_int_equal(scratch_count(((scratch *)*state)->fd), 0);
    assert_false(ap__session.inited);
    assert_ok(init(here));
    assert_code(init("/tmp"), 100002, "call aclprofFinalize first");
    assert_string_equal(ap__session.path, here);
}

/* R31 */
static void test_init_path_at_the_end_of_a_mapping(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t length = strlen(here);

    (void)state;
    assert_ptr_not_equal(map, MAP_FAILED);
    assert_int_equal(mprotect(map + page, page, PROT_NONE), 0);
    memcpy(map + page - length, here, length);
    assert_int_equal(aclprofInit(map + page - length, length + 5000), 100000);
    assert_ok(aclprofInit(map + page - length, length));
    assert_string_equal(ap__session.path, here);
    munmap(map, 2 * page);
}

static void test_cycles_and_idle_calls(void **state)
{
    aclprofConfig *c = host_config(TX);

    (void)state;
    assert_ok(aclprofFinalize());
    assert_ok(aclprofStop(c));
    assert_ok(aclprofStop(NULL));
    for (unsigned i = 0; i < 3; i++) {
        assert_ok(init(here));
        assert_ok(aclprofStop(NULL));
        assert_ok(aclprofStop(c));
        assert_ok(aclprofStart(c));
        assert_true(mock.recording);
        assert_ok(aclprofStop(c));
        assert_ok(aclprofStop(c));
        assert_ok(aclprofFinalize());
        assert_ok(aclprofFinalize());
        assert_ok(aclprofStop(c));
    }
    assert_int_equal(mock.opens, 3);
    assert_int_equal(mock.closes, 3);
    assert_int_equal(mock.params.start_number, 3);
    assert_string_equal(mock.root, here);
}

/* R02 */
static void test_nothing_is_created_before_start(void **state)
{
    scratch *t = *state;
    char path[700];

    snprintf(path, sizeof(path), "%s/new/deep", here);
    assert_ok(init(path));
    assert_ok(aclprofSetConfig(ACL_PROF_STORAGE_LIMIT, "200MB", 5));
    assert_ok(aclprofSetConfig(ACL_PROF_PATH, path, strlen(path)));
    assert_ok(aclprofFinalize());
    assert_int_equal(scratch_count(t->fd), 0);
    assert_int_equal(mock.opens, 0);
}

static void test_finalize_stops_and_resets(void **state)
{
    aclprofConfig *c = host_config(TX);

    (void)state;
    assert_ok(init(here));
    assert_ok(aclprofSetConfig(ACL_PROF_SYS_IO_FREQ, "7", 1));
    assert_ok(aclprofStart(c));
    assert_int_equal(mock.settings.io_hz, 7);
    mock.close_code = ACL_ERROR_PROFILING_FAILURE;
    assert_int_equal(aclprofFinalize(), ACL_ERROR_PROFILING_FAILURE);
    mock.close_code = 0;
    assert_int_equal(mock.closes, 1);
    assert_ok(init(here));
    assert_ok(aclprofStart(c));
    assert_int_equal(mock.settings.io_hz, 0);
}

static void test_modes_that_exclude_the_api(void **state)
{
    aclprofConfig *c = host_config(TX);

    (void)state;
    setenv("PROFILING_MODE", "dynamic", 1);
    assert_code(aclprofInit(NULL, 0), 200006, "EK0007");
    setenv("PROFILING_MODE", "delay_or_duration", 1);
    assert_ok(init(here));
    setenv("PROFILER_SAMPLECONFIG", "{}", 1); /* too late to matter */
    assert_ok(aclprofStart(c));
    assert_ok(aclprofStop(c));
    assert_ok(aclprofFinalize());
    assert_code(init(here), 100042, "command line mode");
    assert_int_equal(aclprofStart(c), 100042);
    assert_int_equal(aclprofWarmup(c), 100042);
    assert_int_equal(aclprofStop(c), 100042);
    assert_int_equal(aclprofFinalize(), 100042);
    setenv("PROFILER_SAMPLECONFIG", "", 1);
    assert_ok(init(here));
}

/* ---- configs ---- */

static void no_config(uint32_t *ids, uint32_t nums, const aclprofAicoreEvents *events,
                      uint64_t mask, const char *part)
{
    assert_null(aclprofCreateConfig(ids, nums, ACL_AICORE_NONE, events, mask));
    check_text(part);
    check_text("(aclprofCreateConfig, 100000)");
}

/* R10 */
static void test_create_config_refusals(void **state)
{
    uint32_t ids[70];
    int dummy = 0;

    (void)state;
    for (uint32_t i = 0; i < 70; i++) {
        ids[i] = i;
    }
    no_config(NULL, 1, NULL, TX, "EK0006");
    no_config(NULL, 0, (const aclprofAicoreEvents *)&dummy, TX, "aicoreEvents");
    no_config(ids, 65, NULL, TX,
              "Value [65] for parameter deviceNums is invalid. Reason: it must "
              "be 0 to 64");
    no_config(NULL, 0, NULL, ACL_PROF_ACL_API, "ACL_PROF_MSPROFTX");
    no_config(NULL, 0, NULL, 0, "ACL_PROF_MSPROFTX");
    no_config(ids, 1, NULL, TX, "no Ascend driver");
    check_text("ACLPROF_DRIVER=sim");
    check_text("deviceNums 0");
    machine_make(2);
    no_config(ids, 3, NULL, TX, "reports 2 devices");
    ids[1] = 2;
    no_config(ids, 2, NULL, TX,
              "Value [2] for parameter deviceIdList is invalid. Reason: the "
              "devices are 0 to 1");
    ids[1] = 64;
    no_config(ids, 2, NULL, TX, "0 to 1");
    ids[1] = 0;
    no_config(ids, 2, NULL, TX, "twice");
    ids[1] = UINT32_MAX;
    no_config(ids, 2, NULL, TX, "0 to 1");
    machine_make(65);
    ids[0] = 64; /* the host's own number */
    no_config(ids, 1, NULL, TX, "0 to 63");
    machine_make(64);
    for (uint32_t i = 0; i < 64; i++) {
        ids[i] = 63 - i;
    }
    keep(aclprofCreateConfig(ids, 64, ACL_AICORE_NONE, NULL, 0)); /* the mask: at Start */
    keep(aclprofCreateConfig(ids, 0, ACL_AICORE_NONE, NULL, TX)); /* the list does not count */
}

/* R10, the part that Start refuses; B2: the next Start works */
static void test_masks_and_metrics_that_start_refuses(void **state)
{
    uint32_t id = 0;
    static const int metrics[] = {-1, 9, 254, 256, 12345};

    (void)state;
    machine_make(1);
    assert_ok(init(here));
    assert_code(aclprofStart(keep(aclprofCreateConfig(&id, 1, ACL_AICORE_NONE, NULL, 0))), 100000,
                "dataTypeConfig");
    assert_code(aclprofStart(host_config(UINT64_MAX)), 200007, "unknown bits");
    assert_code(aclprofStart(host_config(TX | 1ull << 40)), 200007, "bits 0x10000000000");
    assert_code(aclprofStart(host_config(TX | 0x400)), 200007, "0xc0100fbff");
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
        aclprofConfig *c =
            keep(aclprofCreateConfig(NULL, 0, (aclprofAicoreMetrics)metrics[i], NULL, TX));

        assert_code(aclprofStart(c), 100000, "aicoreMetrics");
        assert_code(aclprofWarmup(c), 100000, "aicoreMetrics");
    }
    assert_int_equal(mock.opens, 0);
    assert_ok(aclprofStart(host_config(TX)));
    assert_int_equal(mock.params.start_number, 1);
    assert_true(mock.params.data_types == TX_MASK);
}

static void test_what_chips_lack(void **state)
{
    (void)state;
    machine_make(2);
    machine.chip[1] = 4;
    assert_ok(init(here));
    assert_code(aclprofStart(device_config(0, 2, 0x8000)), 500005, "bits 0x8000");
    check_text("device 1 (chip 4)");
    assert_code(aclprofStart(keep(aclprofCreateConfig((uint32_t[]){1}, 1, ACL_AICORE_MEMORY_ACCESS,
                                                      NULL, ACL_PROF_AICORE_METRICS))),
                100000, "device 1 (chip 4)");
    /* without that bit the counters do not count */
    assert_ok(aclprofStart(keep(aclprofCreateConfig((uint32_t[]){1}, 1, ACL_AICORE_MEMORY_ACCESS,
                                                    NULL, ACL_PROF_TASK_TIME))));
    assert_true(mock.params.data_types == (0x842 | 0x4000000000000000ull));
}

static void test_handles(void **state)
{
    aclprofConfig *c = aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, TX);
    int foreign[100] = {0};

    (void)state;
    assert_non_null(c);
    assert_ok(init(here));
    assert_ok(aclprofStart(c));
    assert_ok(aclprofDestroyConfig(c)); /* while it runs */
    assert_code(aclprofDestroyConfig(c), 100000, "destroyed already");
    assert_code(aclprofDestroyConfig(NULL), 100000, "EK0006");
    assert_code(aclprofDestroyConfig((aclprofConfig *)foreign), 100000, "has not made it");
    assert_code(aclprofStart(c), 100000, "has been destroyed");
    assert_code(aclprofStop(c), 100000, "has been destroyed");
    assert_code(aclprofStop((aclprofConfig *)foreign), 100000, "has not made it");
    assert_true(mock.recording);
    assert_ok(aclprofStop(host_config(TX))); /* an equal one */
    assert_int_equal(mock.closes, 1);
    assert_code(aclprofStop(c), 100000, "has been destroyed"); /* idle, but open */
    assert_code(aclprofStart((aclprofConfig *)foreign), 100000, "has not made it");
    assert_code(aclprofWarmup(c), 100000, "has been destroyed");
    assert_ok(aclprofFinalize());
    assert_ok(aclprofStop(c)); /* not open: not looked at */
}

/* ---- settings, statistics, errno ---- */

static void test_settings_are_snapshots(void **state)
{
    aclprofConfig *c = host_config(TX);

    (void)state;
    assert_ok(aclprofSetConfig(ACL_PROF_DVPP_FREQ, "9", 1)); /* B14: before Init */
    assert_ok(init(here));
    assert_ok(aclprofSetConfig(ACL_PROF_STORAGE_LIMIT, "300MB", 5));
    assert_int_equal(aclprofSetConfig(ACL_PROF_STORAGE_LIMIT, "199MB", 5), 100010);
    assert_int_equal(aclprofSetConfig((aclprofConfigType)17, "1", 1), 100000);
    assert_ok(aclprofStart(c));
    assert_int_equal(mock.settings.dvpp_hz, 9);
    assert_int_equal(mock.settings.storage_limit_mb, 300);
    assert_ok(aclprofSetConfig(ACL_PROF_DVPP_FREQ, "8", 1));
    assert_int_equal(mock.settings.dvpp_hz, 9);
    assert_ok(aclprofStop(c));
    assert_ok(aclprofStart(c)); /* kept until Finalize */
    assert_int_equal(mock.settings.dvpp_hz, 8);
    assert_int_equal(mock.settings.storage_limit_mb, 300);
}

static void test_stats(void **state)
{
    struct {
        aclprofStats stats;
        unsigned char behind[64];
    } big;
    aclprofStats small;
    aclprofConfig *c = host_config(TX);

    (void)state;
    assert_code(aclprofGetStats(NULL), 100000, "EK0006");
    small.size = 15;
    assert_code(aclprofGetStats(&small), 100000, "Value [15] for parameter stats->size");
    memset(&big, 0xEE, sizeof(big));
    big.stats.size = sizeof(big);
    assert_ok(aclprofGetStats(&big.stats));
    assert_int_equal(big.stats.size, sizeof(aclprofStats));
    assert_int_equal(big.stats.emitted, 11);
    assert_int_equal(big.stats.running, 0);
    assert_int_equal(big.behind[0], 0xEE);
    memset(&small, 0xEE, sizeof(small));
    small.size = offsetof(aclprofStats, written);
    assert_ok(aclprofGetStats(&small));
    assert_int_equal(small.size, offsetof(aclprofStats, written));
    assert_int_equal(small.emitted, 11);
    assert_true(small.written == 0xEEEEEEEEEEEEEEEEull);
    assert_ok(aclprofStart(c));
    assert_ok(aclprofGetStats(&big.stats));
    assert_int_equal(big.stats.running, 1);
}

static void test_errno_stays(void **state)
{
    aclprofConfig *c = host_config(TX);
    aclprofStats stats = {.size = sizeof(stats)};
    char path[700];

    (void)state;
    snprintf(path, sizeof(path), "%s/not/there", here);
    errno = 77;
    (void)init("/dev/null/x");
    (void)init("/tmp/a;");
    (void)init(path);
    (void)init(path);
    (void)aclprofSetConfig(ACL_PROF_PATH, "/dev/null/x", 11);
    (void)aclprofSetConfig(ACL_PROF_OPTYPE, "x", 1);
    (void)aclprofCreateConfig(NULL, 1, ACL_AICORE_NONE, NULL, TX);
    (void)aclprofStart(c);
    (void)aclprofStart(c);
    (void)aclprofWarmup(c);
    (void)aclprofGetStats(&stats);
    (void)aclprofGetStats(NULL);
    (void)aclprofGetLastError();
    (void)aclprofStop(c);
    (void)aclprofDestroyConfig((aclprofConfig *)path);
    (void)aclprofFinalize();
    assert_int_equal(errno, 77);
}

/* ---- fork, exit, threads ---- */

static int forked_body(void)
{
    aclprofConfig *c = configs[0];

    if (mock.abandons != 1 || mock.closes != 0 || !ap__session.inited) {
        return 1;
    }
    if (aclprofStop(c) != 0 || mock.closes != 0) {
        return 2;
    }
    if (aclprofStart(c) != 0 || mock.opens != 2 || mock.params.start_number != 2) {
        return 3;
    }
    return aclprofFinalize() == 0 && mock.closes == 1 ? 0 : 4;
}

static void test_fork(void **state)
{
    aclprofConfig *c = host_config(TX);

    (void)state;
    assert_ok(init(here));
    assert_ok(aclprofStart(c));
    assert_int_equal(in_child(forked_body), 0); /* the fork handlers do it */
    assert_true(mock.recording);
    assert_ok(aclprofStop(c));
    assert_int_equal(mock.closes, 1);
}

/* A child made without the handlers must not finish the parent's files either. */
static void test_child_past_the_handlers(void **state)
{
    aclprofConfig *c = host_config(TX);
    int status = -1;
    pid_t child = 0;

    (void)state;
    assert_ok(init(here));
    assert_ok(aclprofStart(c));
    child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        ap__session_shutdown();
        if (mock.closes != 0 || mock.abandons != 0) {
            _exit(1);
        }
        ap__session.ending = false;
        _exit(aclprofFinalize() == 0 && mock.closes == 0 && mock.abandons == 1 ? 0 : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(mock.recording);
}

static void test_shutdown(void **state)
{
    aclprofConfig *c = host_config(TX);

    (void)state;
    ap__session_shutdown();
    assert_int_equal(mock.closes, 0);
    ap__session.ending = false;
    assert_ok(init(here));
    assert_ok(aclprofStart(c));
    ap__session_shutdown();
    assert_int_equal(mock.closes, 1);
    assert_code(aclprofStart(c), 500005, "being unloaded");
    assert_code(aclprofWarmup(c), 500005, "being unloaded");
    assert_ok(aclprofStop(c));
    assert_ok(aclprofFinalize());
    ap__session_shutdown();
    assert_int_equal(mock.closes, 1);
}

/* exit() from a signal handler that interrupts aclprofStop */
static void test_shutdown_inside_a_call(void **state)
{
    aclprofConfig *c = host_config(TX);

    (void)state;
    mock.in_close = ap__session_shutdown;
    assert_ok(init(here));
    assert_ok(aclprofStart(c));
    assert_ok(aclprofStop(c));
    assert_int_equal(mock.closes, 1);
}

static atomic_int in_close_now;

static void slow_close(void)
{
    atomic_store(&in_close_now, 1);
    usleep(100000); /* where a cancelled thread would end */
}

static void *stop_it(void *arg)
{
    (void)aclprofStop(arg);
    pthread_testcancel();
    return arg;
}

static void test_cancelled_threads_leave_no_lock(void **state)
{
    aclprofConfig *c = host_config(TX);
    pthread_t thread;
    void *result = NULL;

    (void)state;
    assert_ok(init(here));
    assert_ok(aclprofStart(c));
    atomic_store(&in_close_now, 0);
    mock.in_close = slow_close;
    assert_int_equal(pthread_create(&thread, NULL, stop_it, c), 0);
    while (!atomic_load(&in_close_now)) {
        usleep(1000);
    }
    pthread_cancel(thread);
    pthread_join(thread, &result);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    mock.in_close = NULL;
    assert_int_equal(mock.closes, 1);
    assert_ok(aclprofStart(c));
}

static atomic_uint odd_codes;

static void *control_at_random(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;

    for (unsigned i = 0; i < 400; i++) {
        aclprofConfig *c = configs[rand_r(&seed) % 4];
        aclprofStats stats = {.size = sizeof(stats)};
        aclError code = 0;

        switch (rand_r(&seed) % 8) {
        case 0:
            code = init(here);
            break;
        case 1:
            code = aclprofFinalize();
            break;
        case 2:
        case 3:
            code = aclprofStart(c);
            break;
        case 4:
            code = aclprofWarmup(c);
            break;
        case 5:
            code = aclprofStop(rand_r(&seed) % 2 != 0 ? c : NULL);
            break;
        case 6:
            code = aclprofSetConfig(ACL_PROF_DVPP_FREQ, "9", 1);
            break;
        default:
            code = aclprofGetStats(&stats);
            break;
        }
        if (code != 0 && code != 100002 && code != 100010 && code != 100043 && code != 148047) {
            atomic_fetch_add(&odd_codes, 1);
        }
    }
    return NULL;
}

/* R07 */
static void test_control_from_many_threads(void **state)
{
    pthread_t threads[6];

    (void)state;
    machine_make(2);
    assert_ok(aclprofSetConfig(ACL_PROF_PATH, here, strlen(here)));
    setenv("ASCEND_WORK_PATH", here, 1);
    host_config(TX);
    host_config(TX | 1);
    device_config(0, 1, TX);
    device_config(0, 2, TX);
    atomic_store(&odd_codes, 0);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, control_at_random, (void *)(i + 1)), 0);
    }
    for (size_t i = 0; i < 6; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(atomic_load(&odd_codes), 0);
    assert_ok(aclprofFinalize());
    assert_int_equal(mock.most_live, 1);
    assert_int_equal(mock.live, 0);
    assert_int_equal(mock.opens, mock.closes);
    assert_true(mock.opens > 10);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_init_arguments),
        TEST(test_init_path_at_the_end_of_a_mapping),
        TEST(test_cycles_and_idle_calls),
        TEST(test_nothing_is_created_before_start),
        TEST(test_finalize_stops_and_resets),
        TEST(test_modes_that_exclude_the_api),
        TEST(test_create_config_refusals),
        TEST(test_masks_and_metrics_that_start_refuses),
        TEST(test_what_chips_lack),
        TEST(test_handles),
        TEST(test_settings_are_snapshots),
        TEST(test_stats),
        TEST(test_errno_stays),
        TEST(test_fork),
        TEST(test_child_past_the_handlers),
        TEST(test_shutdown),
        TEST(test_shutdown_inside_a_call),
        TEST(test_cancelled_threads_leave_no_lock),
        TEST(test_control_from_many_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
