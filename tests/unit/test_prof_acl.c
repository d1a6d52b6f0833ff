/* SPDX-License-Identifier: Apache-2.0 */
/* The layer that the vendor's front ends call: their configs as they are, on the simulator. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aclprof_ext.h"
#include "aclprof_reporter.h"
#include "format/wire_host.h"
#include "reader/reader.h"
#include "scratch.h"
#include "sim_runtime.h"

#define MODEL 21u

/* As aclprofCreateConfig of the vendor's makes it of (0, MSPROFTX | TASK_TIME). */
static ProfAclConfig config_of(uint32_t devices, uint64_t bits)
{
    ProfAclConfig c = {.devNums = devices + 1, .aicoreMetrics = ACL_AICORE_NONE,
                       .dataTypeConfig = bits | 0x4000000000000000u};

    for (uint32_t i = 0; i < devices; i++) {
        c.devIdList[i] = i;
    }
    c.devIdList[devices] = PROF_ACL_HOST;
    return c;
}

static void init(const char *dir)
{
    assert_int_equal(ProfAclInit(0, dir, (uint32_t)strlen(dir)), 0);
}

static void a_capture_with_a_device(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    ProfAclConfig c = config_of(1, ACL_PROF_MSPROFTX | ACL_PROF_TASK_TIME | 0x840);
    simrtKernel kernel = {.size = sizeof(kernel), .name = "Add", .blocks = 1, .cost_us = 5};
    ap__reader_error error;
    ap__reader *reader = NULL;
    ap__records *records = NULL;
    ap__raw_record r;
    ap__stamp_record s;
    uint32_t range = 0;
    uint64_t payload = 7;
    int tracks = 0;
    void *stamp = NULL;

    assert_true(ProfAclDrvGetDevNum() >= 1);
    init(dir);
    assert_int_equal(simrtSetDevice(0), SIMRT_OK);
    assert_int_equal(ProfAclStart(0, &c), 0);
    assert_int_equal(ProfAclStart(0, &c), 0); /* the same again */
    for (int i = 0; i < 10; i++) {
        assert_int_equal(simrtLaunchKernel(NULL, &kernel, NULL), SIMRT_OK);
    }
    assert_int_equal(simrtSynchronizeDevice(), SIMRT_OK);
    stamp = ProfAclCreateStamp();
    assert_non_null(stamp);
    assert_int_equal(ProfAclSetStampTraceMessage(stamp, "front", 5), 0);
    assert_int_equal(ProfAclSetCategoryName(3, "three"), 0);
    assert_int_equal(ProfAclSetStampCategory(stamp, 3), 0);
    assert_int_equal(ProfAclSetStampPayload(stamp, 1, &payload), 0);
    assert_int_equal(ProfAclMark(stamp), 0);
    assert_int_equal(ProfAclPush(stamp), 0);
    assert_int_equal(ProfAclPop(), 0);
    assert_int_equal(ProfAclRangeStart(stamp, &range), 0);
    assert_int_equal(ProfAclRangeStop(range), 0);
    assert_int_equal(ProfAclRangeStop(range), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(ProfAclMarkEx("ex", 2, &range), 0);
    assert_int_equal(ProfAclRangePushEx(NULL), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(ProfAclRangePop(), ACL_ERROR_INVALID_PARAM);
    ProfAclDestroyStamp(stamp);
    assert_int_equal(ProfAclStop(0, &c), 0);
    assert_int_equal(ProfAclFinalize(0), 0);

    reader = ap__reader_open(dir, &error);
    assert_non_null(reader);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(ap__reader_next_stamp(reader, &s));
        assert_int_equal(s.event, i);
        assert_string_equal(s.message, i < 3 ? "front" : "ex");
        assert_true(i == 3 || (s.category == 3 && strcmp(s.category_name, "three") == 0));
        assert_true(i == 3 || s.payload == payload);
    }
    assert_false(ap__reader_next_stamp(reader, &s));
    records = ap__records_open(reader, AP_RECORD_COMPACT, "task_track");
    while (ap__records_next(records, &r)) {
        tracks++;
    }
    assert_int_equal(tracks, 10);
    ap__records_close(records);
    ap__reader_close(reader);
}

static void the_host_alone_and_handles_of_ours(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    ProfAclConfig c = config_of(0, ACL_PROF_MSPROFTX);
    aclprofConfig *ours = aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX);

    assert_non_null(ours);
    init(dir);
    assert_int_equal(ProfAclWarmup(0, &c), 0);
    assert_int_equal(ProfAclStart(0, &c), 0);
    assert_int_equal(ProfAclWarmup(0, &c), ACL_ERROR_PROF_API_CONFLICT);
    assert_int_equal(ProfAclStart(0, ours), 0); /* an equal one */
    assert_int_equal(aclprofStop(ours), 0);
    assert_int_equal(aclprofStart(ours), 0);
    assert_int_equal(ProfAclStop(0, &c), 0);
    assert_int_equal(ProfAclStart(0, &c), 0);
    assert_int_equal(ProfAclStop(0, NULL), 0);
    assert_int_equal(aclprofDestroyConfig(ours), 0);
    assert_int_equal(ProfAclStart(0, ours), ACL_ERROR_INVALID_PARAM); /* not looked into */
    assert_int_equal(ProfAclFinalize(0), 0);
}

static void what_is_refused(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    ProfAclConfig c = config_of(1, ACL_PROF_MSPROFTX);
    ProfAclConfig other = config_of(0, ACL_PROF_MSPROFTX | ACL_PROF_ACL_API);
    size_t count = 0;
    void *data = NULL;

    assert_int_equal(ProfAclInit(0, NULL, 3), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(ProfAclInit(0, dir, 3), ACL_ERROR_INVALID_PARAM);
    init(dir);
    assert_int_equal(ProfAclInit(0, dir, (uint32_t)strlen(dir)), ACL_ERROR_REPEAT_INITIALIZE);
    c.devNums = 66;
    assert_int_equal(ProfAclStart(0, &c), ACL_ERROR_INVALID_PARAM);
    c.devNums = UINT32_MAX;
    assert_int_equal(ProfAclStart(0, &c), ACL_ERROR_INVALID_PARAM);
    c = config_of(1, ACL_PROF_MSPROFTX);
    c.devIdList[0] = 63;
    assert_int_equal(ProfAclStart(0, &c), ACL_ERROR_INVALID_PARAM);
    c.devIdList[0] = UINT32_MAX;
    assert_int_equal(ProfAclStart(0, &c), ACL_ERROR_INVALID_PARAM);
    c = config_of(0, ACL_PROF_ACL_API); /* the host alone, and no stamps */
    assert_int_equal(ProfAclStart(0, &c), ACL_ERROR_INVALID_PARAM);
    c.dataTypeConfig = 0;
    assert_int_equal(ProfAclStart(0, &c), ACL_ERROR_INVALID_PARAM);
    c.dataTypeConfig = ACL_PROF_MSPROFTX | 0x400;
    assert_int_equal(ProfAclStart(0, &c), ACL_ERROR_PROF_MODULES_UNSUPPORTED);
    c = config_of(0, ACL_PROF_MSPROFTX);
    c.aicoreMetrics = 77;
    assert_int_equal(ProfAclStart(0, &c), ACL_ERROR_INVALID_PARAM);
    c = config_of(0, ACL_PROF_MSPROFTX);
    assert_int_equal(ProfAclStart(0, &c), 0);
    assert_int_equal(ProfAclStop(0, &other), ACL_ERROR_INVALID_PROFILING_CONFIG);
    assert_int_equal(ProfAclStop(0, &c), 0);
    assert_int_equal(ProfAclSetConfig(ACL_PROF_STORAGE_LIMIT, "1000MB", 6), 0);
    assert_int_equal(ProfAclSetConfig(99, "1", 1), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(ProfAclGetCompatibleFeatures(&count, &data), 0);
    assert_int_equal(count, 2);
    data = NULL;
    assert_int_equal(ProfAclGetCompatibleFeaturesV2(&count, &data), 0);
    assert_int_equal(ProfAclGetCompatibleFeaturesV2(&count, &data), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(ProfAclRegisterDeviceCallback(), 0);
    assert_int_equal(ProfAclFinalize(0), 0);
    assert_int_equal(ProfAclFinalize(0), 0);
    /* nobody is behind us here */
    assert_int_equal(ProfAclGetOpTime(0, dir, 80, 0), 0);
    assert_int_equal(ProfAclGetId(0, dir, 80, 0), 0);
    assert_int_equal(ProfAclGetOpVal(0, dir, 80, 0, data, 4), ACL_ERROR_FEATURE_UNSUPPORTED);
    assert_null(ProfAclGetOpAttriVal(0, dir, 80, 0, 0));
}

static void a_subscription(void **state)
{
    simrtKernel kernel = {.size = sizeof(kernel), .name = "Mul", .blocks = 1, .cost_us = 5};
    ProfAclSubscribeConfig c = {.timeInfo = true, .aicoreMetrics = ACL_AICORE_NONE};
    int fds[2];
    int end = 0;
    uint32_t n = 0;
    char data[4096];
    ssize_t bytes = 0;

    (void)state;
    assert_int_equal(pipe(fds), 0);
    end = fds[1];
    assert_int_equal(simrtSetDevice(0), SIMRT_OK);
    assert_int_equal(MsprofSetDeviceIdByGeModelIdx(MODEL, 0), 0);
    assert_int_equal(ProfAclSubscribe(0, MODEL, NULL), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(ProfAclSubscribe(0, MODEL, &c), ACL_ERROR_INVALID_PARAM); /* no pipe */
    c.fd = &end;
    assert_int_equal(ProfAclSubscribe(0, MODEL + 1, &c), ACL_ERROR_INVALID_MODEL_ID);
    assert_int_equal(ProfAclSubscribe(0, MODEL, &c), 0);
    assert_int_equal(ProfAclSubscribe(0, MODEL, &c), ACL_ERROR_PROF_REPEAT_SUBSCRIBE);
    assert_int_equal(simrtSetModel(MODEL), SIMRT_OK);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(simrtLaunchKernel(NULL, &kernel, NULL), SIMRT_OK);
    }
    assert_int_equal(simrtSynchronizeDevice(), SIMRT_OK);
    assert_int_equal(ProfAclUnSubscribe(0, MODEL), 0);
    assert_int_equal(ProfAclUnSubscribe(0, MODEL), ACL_ERROR_INVALID_MODEL_ID);
    assert_int_equal(end, -1);
    bytes = read(fds[0], data, sizeof(data));
    assert_int_equal(aclprofGetOpNum(data, (size_t)bytes, &n), 0);
    assert_int_equal(n, 5);
    close(fds[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_capture_with_a_device, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(the_host_alone_and_handles_of_ours, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(what_is_refused, scratch_setup, scratch_teardown),
        cmocka_unit_test(a_subscription),
    };

    setenv("ACLPROF_DRIVER", "sim", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
