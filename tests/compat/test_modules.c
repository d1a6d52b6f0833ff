/* SPDX-License-Identifier: Apache-2.0 */
/* Modules that are told of captures, and captures that a configuration asks for, as the runtime and
 * aclInit use them. */
#define _GNU_SOURCE
#include "journey.h"

#include <pthread.h>

#include "aclprof_reporter.h"
#include "sim_runtime.h"

typedef struct heard {
    uint32_t module;
    MsprofCommandHandle handle;
} heard;

static heard told[64];
static _Atomic uint32_t told_count;
static int32_t code_inside;

static int32_t hear(uint32_t module, uint32_t type, void *data, uint32_t len)
{
    uint32_t at = atomic_fetch_add(&told_count, 1);

    if (type == MSPROF_CTRL_SWITCH && len == sizeof(MsprofCommandHandle) && at < 64) {
        told[at].module = module;
        memcpy(&told[at].handle, data, len);
    }
    return -1; /* which nobody looks at */
}

#define MODULE(name, number)                                                                       \
    static int32_t name(uint32_t type, void *data, uint32_t len)                                   \
    {                                                                                              \
        return hear(number, type, data, len);                                                      \
    }

MODULE(runtime, 7)
MODULE(ascendcl, 48)
MODULE(engine, 45)
MODULE(hccl, 3)
MODULE(other, 90)
MODULE(late, 12)

static int32_t busy(uint32_t type, void *data, uint32_t len)
{
    aclprofStats stats = {.size = sizeof(stats)};

    (void)hear(60, type, data, len);
    /* a callback may report, register and ask for ids; control calls are refused, not waited for */
    code_inside = aclprofStop(NULL);
    code_inside = code_inside == ACL_ERROR_PROFILING_FAILURE ? aclprofGetStats(&stats) : 1;
    (void)MsprofRegTypeInfo(5000, 1234, "from_a_callback");
    (void)MsprofGetHashId("text", 4);
    (void)MsprofNotifySetDevice(0, 1, true);
    return MsprofRegisterCallback(90, other);
}

static void register_all(void)
{
    assert_int_equal(MsprofRegisterCallback(3, hccl), 0);
    assert_int_equal(MsprofRegisterCallback(45, engine), 0);
    assert_int_equal(MsprofRegisterCallback(48, ascendcl), 0);
    assert_int_equal(MsprofRegisterCallback(7, runtime), 0);
    assert_int_equal(MsprofRegisterCallback(7, runtime), 0); /* counts once */
    assert_int_equal(MsprofRegisterCallback(7, NULL), -1);
}

static void assert_told(uint32_t from, uint32_t type, const uint32_t *modules, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(told[from + i].module, modules[i]);
        assert_int_equal(told[from + i].handle.type, type);
    }
}

static void in_order(void **state)
{
    static const uint32_t up[] = {7, 48, 45, 3};
    static const uint32_t down[] = {45, 48, 7, 3};
    uint32_t devices[] = {0, 1};
    aclprofConfig *config = NULL;
    const MsprofCommandHandle *start = &told[4].handle;

    register_all();
    assert_ok(init_at(*state));
    config = aclprofCreateConfig(devices, 2, ACL_AICORE_NONE, NULL,
                                 ACL_PROF_TASK_TIME | ACL_PROF_ACL_API | ACL_PROF_AICORE_SHAPE);
    assert_non_null(config);
    assert_int_equal(told_count, 0);
    assert_ok(aclprofStart(config));
    assert_int_equal(told_count, 8);
    assert_told(0, MSPROF_COMMAND_INIT, up, 4);
    assert_told(4, MSPROF_COMMAND_START, up, 4);
    assert_int_equal(start->devNums, 2);
    assert_int_equal(start->devIdList[0], 0);
    assert_int_equal(start->devIdList[1], 1);
    assert_true(start->modelId == UINT32_MAX);
    assert_int_equal(start->cacheFlag, 0);
    assert_true((start->profSwitch & 0x3) == 0x3);                 /* as asked for */
    assert_true((start->profSwitch & ACL_PROF_AICORE_SHAPE) == 0); /* never passed on */
    assert_true((start->profSwitch & 0x8000000084000000ull) == 0x8000000084000000ull);
    assert_true(start->profSwitchHi == 0x1000000000000ull);
    assert_int_equal(start->params.profDataLen, strlen(start->params.profData));
    assert_non_null(strstr(start->params.profData, "\"taskTime\":\"on\""));
    assert_ok(aclprofStart(config)); /* runs already: nobody is told */
    assert_int_equal(told_count, 8);
    assert_ok(aclprofStop(config));
    assert_int_equal(told_count, 12);
    assert_told(8, MSPROF_COMMAND_STOP, down, 4);
    assert_ok(aclprofStart(config));
    assert_int_equal(told_count, 20);
    assert_ok(aclprofFinalize());
    assert_int_equal(told_count, 28);
    assert_told(20, MSPROF_COMMAND_STOP, down, 4);
    assert_told(24, MSPROF_COMMAND_FINALIZE, down, 4);
    assert_ok(aclprofFinalize());
    assert_int_equal(told_count, 28);
}

static void host_only(void **state)
{
    aclprofConfig *config = NULL;

    register_all();
    assert_ok(init_at(*state));
    config = aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX);
    assert_ok(aclprofStart(config));
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
    assert_int_equal(told_count, 0); /* as with the vendor's library */
}

static void comes_late(void **state)
{
    uint32_t device = 0;
    aclprofConfig *config = NULL;

    assert_ok(init_at(*state));
    config = aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, NULL, ACL_PROF_TASK_TIME);
    assert_ok(aclprofStart(config));
    assert_int_equal(MsprofRegisterCallback(12, late), 0);
    for (int i = 0; i < 2000 && atomic_load(&told_count) < 2; i++) {
        usleep(5000);
    }
    assert_int_equal(told_count, 2);
    assert_int_equal(told[0].handle.type, MSPROF_COMMAND_INIT);
    assert_int_equal(told[1].handle.type, MSPROF_COMMAND_START);
    assert_int_equal(told[1].handle.devNums, 1);
    assert_ok(aclprofStop(config));
    assert_int_equal(told_count, 3);
    assert_int_equal(told[2].handle.type, MSPROF_COMMAND_STOP);
    assert_int_equal(MsprofRegisterCallback(12, runtime), 0); /* nothing runs: not told */
    usleep(20000);
    assert_int_equal(told_count, 3);
    assert_ok(aclprofFinalize());
}

static void calls_back(void **state)
{
    uint32_t device = 0;
    bool joined = false;
    aclprofConfig *config = NULL;

    assert_ok(aclprofRegisterDeviceCallback());
    assert_int_equal(MsprofRegisterCallback(60, busy), 0);
    assert_ok(init_at(*state));
    config = aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, NULL, ACL_PROF_TASK_TIME);
    assert_ok(aclprofStart(config));
    assert_int_equal(code_inside, ACL_ERROR_PROFILING_FAILURE);
    /* device 1 was set in the callback: it has joined when Start has come back, and was told */
    for (uint32_t i = 0; i < told_count; i++) {
        joined = joined || (told[i].module == 60 && told[i].handle.type == MSPROF_COMMAND_START &&
                            told[i].handle.devIdList[0] == 1);
    }
    assert_true(joined);
    assert_ok(aclprofStop(NULL));
    assert_ok(aclprofFinalize());
}

static int32_t devices_seen;

static int32_t see_device(ProfSetDevPara *device, uint32_t len)
{
    devices_seen += len == 12 && device->isOpen && device->deviceId == 1;
    return 0;
}

static int32_t seen[8];

static int32_t see_compact(uint32_t aging, const void *record, uint32_t len)
{
    (void)aging;
    (void)record;
    seen[0] += (int32_t)len;
    return 77;
}

static void sinks(void **state)
{
    MsprofCompactInfo record = {.magicNumber = MSPROF_RECORD_MAGIC, .level = 5000};
    int32_t (*compact)(uint32_t, const void *, uint32_t) = see_compact;

    (void)state;
    assert_int_equal(MsprofNotifySetDevice(0, 1, true), 0);
    assert_int_equal(profRegDeviceStateCallback(see_device), 0);
    assert_int_equal(devices_seen, 1); /* set before: told at once */
    assert_int_equal(MsprofNotifySetDevice(0, 1, true), 0);
    assert_int_equal(devices_seen, 2);
    assert_int_equal(profRegDeviceStateCallback(NULL), 0);
    assert_int_equal(MsprofNotifySetDevice(0, 1, true), 0);
    assert_int_equal(devices_seen, 2);
    assert_int_equal(MsprofNotifySetDevice(0, 64, true), -1);

    assert_int_equal(MsprofReportCompactInfo(1, &record, 64), MSPROF_NOT_RUNNING);
    assert_int_equal(MsprofRegisterProfileCallback(4, *(void **)&compact, 8), 0);
    assert_int_equal(MsprofReportCompactInfo(1, &record, 64), 77);
    assert_int_equal(seen[0], 64);
    assert_int_equal(MsprofRegisterProfileCallback(4, NULL, 0), 0);
    assert_int_equal(MsprofReportCompactInfo(1, &record, 64), MSPROF_NOT_RUNNING);
    assert_int_equal(MsprofRegisterProfileCallback(7, NULL, 0), 0);
    assert_int_equal(MsprofRegisterProfileCallback(17, NULL, 0), -1);
    assert_int_equal(MsprofRegisterProfileCallback(-1, NULL, 0), -1);
}

/* ---- configurations ---- */

static int32_t init_json(uint32_t type, const char *json)
{
    char copy[4096];

    snprintf(copy, sizeof(copy), "%s", json);
    return MsprofInit(type, copy, (uint32_t)strlen(copy));
}

static void launch(uint32_t device)
{
    simrtKernel kernel = {sizeof(kernel), "Add", SIMRT_VECTOR, 8, 20, 0};

    assert_int_equal(simrtSetDevice(device), SIMRT_OK); /* tells the profiler */
    for (int i = 0; i < 50; i++) {
        assert_int_equal(simrtLaunchKernel(NULL, &kernel, NULL), SIMRT_OK);
    }
    assert_int_equal(simrtSynchronizeDevice(), SIMRT_OK);
}

static void by_acl_json(void **state)
{
    char json[600];

    snprintf(json, sizeof(json),
             "{\"switch\":\"on\",\"output\":\"%s\",\"aic_metrics\":\"PipeUtilization\","
             "\"ascendcl\":\"on\",\"msproftx\":\"on\",\"sys_hardware_mem_freq\":50}",
             (const char *)*state);
    register_all();
    assert_int_equal(init_json(MSPROF_INIT_ACL_JSON, json), 0);
    assert_int_equal(told_count, 0); /* no device is set */
    assert_refused(init_at(*state), ACL_ERROR_PROF_ALREADY_RUN, "configuration");
    assert_refused(aclprofStop(NULL), ACL_ERROR_PROF_ALREADY_RUN, "configuration");
    assert_string_equal(MsprofGetPath(), "");
    launch(1);
    assert_int_equal(told_count, 8);
    assert_int_equal(told[4].handle.devIdList[0], 1);
    launch(0); /* joins */
    assert_int_equal(told_count, 16);
    work("stamps");
    assert_int_equal(strncmp(MsprofGetPath(), *state, strlen(*state)), 0);
    assert_int_equal(AdprofCheckFeatureIsOn(ACL_PROF_ACL_API), 1);
    assert_int_equal(AdprofCheckFeatureIsOn(ACL_PROF_HCCL_TRACE), 0);
    assert_int_equal(MsprofFinalize(), 0);
    assert_int_equal(AdprofCheckFeatureIsOn(ACL_PROF_ACL_API), 0);
    assert_int_equal(MsprofFinalize(), 0);
    assert_ok(init_at(*state)); /* the API is free again */
    assert_ok(aclprofFinalize());
}

static void without_finalize(void **state)
{
    char json[600];

    snprintf(json, sizeof(json),
             "{\"result_dir\":\"%s\",\"devices\":\"0\",\"acl\":\"on\","
             "\"taskTime\":\"l1\",\"some_key_of_its_own\":{\"a\":1}}",
             (const char *)*state);
    assert_int_equal(init_json(MSPROF_INIT_ENV, json), 0);
    launch(0);
}

static void refusals(void **state)
{
    static const char *const bad[] = {"",
                                      "[]",
                                      "{",
                                      "{\"switch\":\"on\",\"no_such_key\":\"on\"}",
                                      "{\"switch\":\"on\",\"ascendcl\":\"maybe\"}",
                                      "{\"switch\":\"on\",\"aic_metrics\":\"Nothing\"}",
                                      "{\"switch\":\"on\",\"storage_limit\":\"1MB\"}",
                                      "{\"switch\":\"on\",\"dvpp_freq\":1000}",
                                      "{\"switch\":\"on\",\"output\":\"a|b\"}",
                                      "{\"switch\":\"on\",\"aicpu\":[1]}"};
    MsprofGeOptions options = {.options = "{\"training_trace\":\"maybe\"}"};
    char text[] = "{}";

    (void)state;
    for (size_t i = 1; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (init_json(MSPROF_INIT_ACL_JSON, bad[i]) != 3) {
            fail_msg("%s is taken", bad[i]);
        }
        assert_non_null(strstr(aclprofGetLastError(), "MsprofInit"));
    }
    assert_int_equal(init_json(MSPROF_INIT_ACL_JSON, ""), -1);
    assert_int_equal(MsprofInit(MSPROF_INIT_ACL_JSON, NULL, 4), -1);
    assert_int_equal(MsprofInit(MSPROF_INIT_GE_OPTIONS, text, sizeof(text)), -1);
    assert_int_equal(MsprofInit(MSPROF_INIT_GE_OPTIONS, &options, sizeof(options)), 3);
    assert_int_equal(MsprofInit(99, NULL, 0), -1);
    assert_int_equal(MsprofStart(0, NULL, 0), -1);
    /* what asks for nothing succeeds: aclInit depends on it */
    assert_int_equal(init_json(MSPROF_INIT_ACL_JSON, "{\"switch\":\"off\",\"output\":\"/x\"}"), 0);
    assert_int_equal(init_json(MSPROF_INIT_ACL_JSON, "{}"), 0);
    assert_int_equal(MsprofInit(MSPROF_INIT_DYNAMIC, NULL, 0), 0);
    assert_int_equal(MsprofReportData(4, 1, NULL, 0), 0);
    assert_int_equal(MsprofFinalize(), 0);
    assert_refused(aclprofStart(NULL), ACL_ERROR_INVALID_PARAM, "has set none");
}

static void without_driver(void **state)
{
    MsprofGeOptions options = {.jobId = "1"};
    MsprofApi call = {.magicNumber = MSPROF_RECORD_MAGIC, .level = 20000, .type = 0x30001};

    snprintf(options.options, sizeof(options.options), "{\"output\":\"%s\"}", (const char *)*state);
    assert_int_equal(MsprofReportApi(1, &call), MSPROF_NOT_RUNNING);
    assert_int_equal(MsprofInit(MSPROF_INIT_GE_OPTIONS, &options, sizeof(options)), 0);
    for (uint32_t i = 0; i < 100; i++) {
        call.beginTime = MsprofSysCycleTime();
        call.endTime = call.beginTime + 10;
        call.itemId = i;
        assert_int_equal(MsprofReportApi(1, &call), 0);
    }
    assert_int_equal(MsprofFinalize(), 0);
}

static void after_the_api(void **state)
{
    char json[600];
    aclprofConfig *config = NULL;

    snprintf(json, sizeof(json), "{\"switch\":\"on\",\"output\":\"%s\"}", (const char *)*state);
    assert_ok(init_at(*state));
    config = aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX);
    assert_ok(aclprofStart(config));
    assert_int_equal(init_json(MSPROF_INIT_ACL_JSON, json), 0); /* aclInit goes on */
    assert_ok(aclprofStop(config));                             /* and so does the capture */
    assert_ok(aclprofFinalize());
}

static const role roles[] = {
    ROLE(in_order),       ROLE(host_only),    ROLE(comes_late), ROLE(calls_back),
    ROLE(sinks),          ROLE(by_acl_json),  ROLE(refusals),   ROLE(without_finalize),
    ROLE(without_driver), ROLE(after_the_api)};

/* ---- what is left ---- */

static long long bytes_of(const char *root, const char *file)
{
    paths found = prof_paths_exactly(root, 1);
    char path[1200];
    struct stat st;
    long long bytes = -1;

    snprintf(path, sizeof(path), "%s/%s", found.list[0], file);
    if (stat(path, &st) == 0) {
        bytes = st.st_size;
    }
    paths_free(&found);
    return bytes;
}

static void test_order(void **state)
{
    (void)role_run("in_order", *state);
}

static void test_host_only(void **state)
{
    (void)role_run("host_only", *state);
}

static void test_late(void **state)
{
    (void)role_run("comes_late", *state);
}

static void test_calls_back(void **state)
{
    (void)role_run("calls_back", *state);
    assert_true(bytes_of(*state, "device_1/start_info.1") > 0);
}

static void test_sinks(void **state)
{
    (void)role_run("sinks", *state);
}

static void test_acl_json(void **state)
{
    (void)role_run("by_acl_json", *state);
    assert_int_equal(bytes_of(*state, "device_0/data/stars_soc.data.0.slice_0"), 50 * 2 * 64);
    assert_int_equal(bytes_of(*state, "device_1/data/stars_soc.data.1.slice_0"), 50 * 2 * 64);
    assert_int_equal(bytes_of(*state, "host/data/aging.additional.msproftx.slice_0"),
                     WORK_EVENTS * 256);
}

static void test_without_finalize(void **state)
{
    (void)role_run("without_finalize", *state);
    assert_int_equal(bytes_of(*state, "device_0/data/stars_soc.data.0.slice_0"), 50 * 2 * 64);
    assert_true(bytes_of(*state, "host/end_info") > 0);
}

static void test_refusals(void **state)
{
    (void)role_run("refusals", *state);
    assert_int_equal(prof_paths(*state).count, 0);
}

static void test_without_driver(void **state)
{
    setenv("ACLPROF_DRIVER", "none", 1);
    (void)role_run("without_driver", *state);
    setenv("ACLPROF_DRIVER", "sim", 1);
    assert_int_equal(bytes_of(*state, "host/data/aging.api_event.data.slice_0"), 100 * 40);
}

static void test_after_the_api(void **state)
{
    (void)role_run("after_the_api", *state);
    assert_true(bytes_of(*state, "host/end_info") > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(test_order),          SCRATCH_TEST(test_host_only),
        SCRATCH_TEST(test_late),           SCRATCH_TEST(test_calls_back),
        SCRATCH_TEST(test_sinks),          SCRATCH_TEST(test_acl_json),
        SCRATCH_TEST(test_refusals),       SCRATCH_TEST(test_without_finalize),
        SCRATCH_TEST(test_without_driver), SCRATCH_TEST(test_after_the_api),
    };

    setenv("ACLPROF_DRIVER", "sim", 0);
    setenv("ACLPROF_SIM", "devices=2", 0);
    if (argc > 1) {
        return role_main(roles, sizeof(roles) / sizeof(roles[0]), argv);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
