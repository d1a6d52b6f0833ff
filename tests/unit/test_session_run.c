/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include "session_fixture.h"

/* ---- Start and Stop ---- */

/* R03 */
static void test_start_again(void **state)
{
    aclprofConfig *c = NULL;

    (void)state;
    machine_make(4);
    c = device_config(2, 1, TX);
    assert_ok(init(here));
    assert_ok(aclprofStart(c));
    assert_int_equal(mock.tried_again, 0);
    assert_ok(aclprofStart(c)); /* the program has set the device meanwhile, perhaps */
    assert_int_equal(mock.tried_again, 1u << 2);
    assert_ok(aclprofStart(device_config(2, 1, TX)));
    assert_code(aclprofStart(device_config(1, 2, TX | 1)), 100010,
                "EK0003: Value [0x4000000000000081] for dataTypeConfig of device 2 is invalid");
    check_text("captured with the mask 0x4000000000000080, and that capture goes on");
    /* the host's part is one for all */
    assert_code(aclprofStart(device_config(3, 1, TX | 1)), 100010, "of the host");
    assert_code(aclprofStart(host_config(TX | 1)), 100010, "of the host");
    assert_int_equal(mock.opens, 1);
    assert_int_equal(mock.device_count, 1);
    assert_true(mock.recording);
    assert_code(aclprofStop(device_config(2, 1, TX | 1)), 100010, "device 2");
    assert_code(aclprofStop(host_config(TX | 1)), 100010, "the host");
    assert_code(aclprofStop(host_config(TX | 1ull << 40)), 200007, "unknown bits");
    assert_true(mock.recording);
    assert_ok(aclprofStop(c));
    assert_int_equal(mock.closes, 1);
}

/* B4 */
static void test_devices_join_and_leave(void **state)
{
    aclprofConfig *a = NULL;
    aclprofConfig *b = NULL;

    (void)state;
    machine_make(8);
    a = device_config(0, 2, TX);
    b = device_config(1, 3, TX);
    assert_ok(init(here));
    assert_ok(aclprofStart(a));
    assert_ok(aclprofStart(b)); /* 1 runs already */
    assert_int_equal(mock.opens, 1);
    assert_int_equal(mock.device_count, 4);
    assert_int_equal(mock.devices[2], 2);
    assert_int_equal(mock.devices[3], 3);
    assert_int_equal(mock.tried_again, 1u << 1);
    assert_ok(aclprofStop(device_config(7, 1, TX))); /* does not run: nothing */
    assert_ok(aclprofStop(host_config(TX)));
    assert_ok(aclprofStop(a));
    assert_int_equal(mock.closes, 0);
    assert_int_equal(mock.removed & 0xF, 3); /* 0 and 1; 2 and 3 go on */
    assert_true(mock.recording);
    assert_ok(aclprofStart(device_config(0, 1, TX))); /* again, same directory */
    assert_int_equal(mock.opens, 1);
    assert_int_equal(mock.device_count, 5);
    assert_ok(aclprofStop(b));
    assert_int_equal(mock.closes, 0);
    assert_ok(aclprofStop(a));
    assert_int_equal(mock.closes, 1);
    assert_ok(aclprofStart(a)); /* nothing overlaps: a new one */
    assert_int_equal(mock.params.start_number, 2);
    assert_ok(aclprofStart(b));
    assert_ok(aclprofStop(NULL));
    assert_int_equal(mock.closes, 2);
}

static void test_host_and_devices_share(void **state)
{
    aclprofConfig *host = host_config(TX);
    aclprofConfig *devices = NULL;

    (void)state;
    machine_make(2);
    devices = device_config(0, 2, TX);
    assert_ok(init(here));
    assert_ok(aclprofStart(host));
    assert_ok(aclprofStart(devices));
    assert_ok(aclprofStop(devices));
    assert_int_equal(mock.closes, 0);
    assert_ok(aclprofStart(devices));
    assert_ok(aclprofStart(host));
    assert_ok(aclprofStop(host));
    assert_int_equal(mock.closes, 0);
    assert_ok(aclprofStop(devices));
    assert_int_equal(mock.opens, 1);
    assert_int_equal(mock.closes, 1);
}

static void test_a_device_that_cannot_join(void **state)
{
    aclprofConfig *c = NULL;
    uint32_t ids[] = {1};

    (void)state;
    machine_make(3);
    machine.chip[2] = 1;
    assert_ok(init(here));
    assert_ok(aclprofStart(device_config(0, 1, 0x8004)));
    c = device_config(1, 1, 0x8004);
    mock.add_code = ACL_ERROR_PROFILING_FAILURE;
    assert_code(aclprofStart(c), 500005, "does not add");
    mock.add_code = 0;
    assert_code(aclprofStart(device_config(2, 1, 0x8004)), 500005, "device 2 (chip 1)");
    assert_code(aclprofStart(keep(aclprofCreateConfig(ids, 1, ACL_AICORE_MEMORY_UB, NULL, 0x8004))),
                100010, "aicoreMetrics of device 1");
    assert_int_equal(mock.device_count, 1);
    assert_ok(aclprofStart(c));
    assert_int_equal(mock.device_count, 2);
}

/* B2, R08 */
static void test_failed_start_changes_nothing(void **state)
{
    aclprofConfig *c = host_config(TX);

    (void)state;
    assert_ok(aclprofSetConfig(ACL_PROF_PATH, here, strlen(here)));
    mock.open_code = ACL_ERROR_INVALID_FILE;
    assert_code(aclprofStart(c), 100003, "does not open");
    assert_false(ap__session.inited);
    assert_ok(aclprofStop(c));
    assert_ok(aclprofFinalize());
    assert_ok(init(here));
    assert_code(aclprofStart(c), 100003, "does not open");
    assert_code(aclprofWarmup(c), 100003, "does not open");
    assert_ok(aclprofStop(c));
    assert_ok(aclprofStop(NULL));
    mock.open_code = 0;
    assert_ok(aclprofStart(c));
    assert_int_equal(mock.params.start_number, 1);
    assert_true(mock.recording);
    mock.close_code = ACL_ERROR_PROFILING_FAILURE;
    assert_int_equal(aclprofStop(c), ACL_ERROR_PROFILING_FAILURE);
    mock.close_code = 0;
    assert_ok(aclprofStop(c));
    assert_ok(aclprofStart(c));
    assert_int_equal(mock.params.start_number, 2);
}

static void test_start_of_null(void **state)
{
    (void)state;
    assert_ok(init(here));
    assert_code(aclprofStart(NULL), 100000, "it has set none");
    assert_ok(aclprofStop(NULL));
    machine_make(4);
    machine.active_count = 2;
    machine.active[0] = 3;
    machine.active[1] = 1;
    assert_ok(aclprofStart(NULL));
    assert_true(mock.params.data_types == 0x4000000000000807ull);
    assert_int_equal(mock.params.metrics, ACL_AICORE_PIPE_UTILIZATION);
    assert_int_equal(mock.device_count, 2);
    assert_int_equal(mock.devices[0], 3);
    assert_ok(aclprofStart(NULL));
    assert_ok(aclprofStop(NULL));
    assert_int_equal(mock.closes, 1);
    machine.chip[3] = 7;
    machine.chip[1] = 7;
    assert_ok(aclprofStart(NULL));
    assert_int_equal(mock.params.metrics, ACL_AICORE_PIPE_EXECUTE_UTILIZATION);
}

/* ---- paths ---- */

static int start_in_cwd(void)
{
    aclprofConfig *c = aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, TX);

    if (chdir(here) != 0 || aclprofStart(c) != 0) {
        return 1;
    }
    return strcmp(mock.root, here) == 0 ? 0 : 2;
}

/* R01 */
static void test_start_without_init(void **state)
{
    aclprofConfig *c = host_config(TX);
    char path[700];

    (void)state;
    assert_int_equal(in_child(start_in_cwd), 0);
    snprintf(path, sizeof(path), "%s/work", here);
    setenv("ASCEND_WORK_PATH", path, 1);
    assert_ok(aclprofStart(c));
    assert_string_equal(mock.root, path);
    assert_code(init(here), 100002, "aclprofFinalize");
    assert_ok(aclprofFinalize());
    setenv("ASCEND_WORK_PATH", "/tmp/a|b", 1);
    assert_code(aclprofStart(c), 100003, "for parameter ASCEND_WORK_PATH (environment)");
    assert_int_equal(mock.opens, 1);
    assert_ok(aclprofSetConfig(ACL_PROF_PATH, here, strlen(here)));
    assert_ok(aclprofStart(c));
    assert_string_equal(mock.root, here);
    assert_ok(aclprofStop(c));
    unsetenv("ASCEND_WORK_PATH");
    assert_ok(aclprofStart(c)); /* still open, same path */
    assert_string_equal(mock.root, here);
}

static void test_path_setting_and_init(void **state)
{
    aclprofConfig *c = host_config(TX);
    char other[700];
    char third[700];

    (void)state;
    snprintf(other, sizeof(other), "%s/other", here);
    snprintf(third, sizeof(third), "%s/third", here);
    assert_ok(aclprofSetConfig(ACL_PROF_PATH, other, strlen(other)));
    assert_ok(init(here)); /* wins over an earlier setting */
    assert_ok(aclprofStart(c));
    assert_string_equal(mock.root, here);
    assert_ok(aclprofSetConfig(ACL_PROF_PATH, third, strlen(third)));
    assert_int_equal(aclprofSetConfig(ACL_PROF_PATH, "/a;", 3), 100010);
    assert_ok(aclprofStop(c));
    assert_ok(aclprofStart(c)); /* a later one is for the next Start */
    assert_string_equal(mock.root, third);
    assert_ok(aclprofFinalize());
    assert_ok(init(other));
    assert_ok(aclprofStart(c));
    assert_string_equal(mock.root, other);
}

/* ---- Warmup ---- */

static void test_warmup(void **state)
{
    aclprofConfig *c = NULL;
    aclprofConfig *two = NULL;

    (void)state;
    machine_make(2);
    c = device_config(0, 1, TX);
    two = device_config(0, 2, TX);
    assert_code(aclprofWarmup(NULL), 100000, "EK0006");
    assert_code(aclprofWarmup(c), 100043, "call aclprofInit first");
    assert_ok(init(here));
    assert_ok(aclprofWarmup(c));
    assert_int_equal(mock.opens, 1);
    assert_false(mock.ever_recorded);
    assert_code(aclprofWarmup(c), 148047, "warm already");
    assert_code(aclprofStart(device_config(0, 1, TX | 1)), 100010, "device 0");
    assert_code(aclprofStart(two), 100010, "aclprofWarmup");
    assert_false(mock.ever_recorded);
    assert_ok(aclprofStart(c));
    assert_true(mock.recording);
    assert_int_equal(mock.opens, 1);
    assert_code(aclprofWarmup(c), 148047, "runs already");
    assert_ok(aclprofStart(two)); /* warm no more: joins */
    assert_int_equal(mock.device_count, 2);
    assert_ok(aclprofStop(NULL));
    assert_ok(aclprofWarmup(c));
    assert_int_equal(mock.params.start_number, 2);
    assert_ok(aclprofStop(c));
    assert_int_equal(mock.closes, 2);
}

/* ---- strict ---- */

static void test_strict(void **state)
{
    aclprofConfig *c = host_config(TX);

    (void)state;
    atomic_store(&ap__strict_now, 1);
    assert_code(aclprofFinalize(), 100043, "call aclprofInit first");
    assert_code(aclprofStart(c), 100043, "call aclprofInit first");
    assert_code(aclprofStop(c), 100043, "call aclprofStart first");
    assert_ok(init(here));
    assert_code(aclprofStop(c), 100043, "call aclprofStart first");
    assert_code(aclprofStop(NULL), 100043, "call aclprofStart first");
    assert_ok(aclprofStart(c));
    assert_code(aclprofStart(c), 100042, "the host is captured already");
    assert_code(aclprofStart(host_config(TX | 1)), 100010, "the host");
    machine_make(3);
    assert_ok(aclprofStart(device_config(0, 2, TX)));
    assert_code(aclprofStart(device_config(1, 2, TX)), 100042, "device 1 is captured already");
    assert_int_equal(mock.device_count, 2);
    assert_code(aclprofStop(device_config(2, 1, TX)), 100043, "nothing that the config names");
    assert_ok(aclprofStop(device_config(0, 2, TX)));
    assert_ok(aclprofStop(c));
    assert_int_equal(mock.closes, 1);
    assert_ok(aclprofWarmup(c));
    assert_ok(aclprofStart(c));
    assert_ok(aclprofFinalize());
    assert_int_equal(aclprofFinalize(), 100043);
}

static void test_strict_is_read_once(void **state)
{
    (void)state;
    setenv("ACLPROF_STRICT", "1", 1);
    atomic_store(&ap__strict_now, -1);
    assert_int_equal(ap__strict(), 1);
    unsetenv("ACLPROF_STRICT");
    assert_int_equal(ap__strict(), 1);
    setenv("ACLPROF_STRICT", "0", 1);
    atomic_store(&ap__strict_now, -1);
    assert_int_equal(ap__strict(), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_start_again),
        TEST(test_devices_join_and_leave),
        TEST(test_host_and_devices_share),
        TEST(test_a_device_that_cannot_join),
        TEST(test_failed_start_changes_nothing),
        TEST(test_start_of_null),
        TEST(test_start_without_init),
        TEST(test_path_setting_and_init),
        TEST(test_warmup),
        TEST(test_strict),
        TEST(test_strict_is_read_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
