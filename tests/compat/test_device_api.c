/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that capture simulated devices through the public calls, devices that misbehave among
 * them. */
#define _GNU_SOURCE
#include "journey.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "reader/device_view.h"
#include "reader/recover.h"
#include "reporter/vendor.h"
#include "sim_runtime.h"

/* Start and Stop come back within 5 s from a driver that hangs (collector.h); a busy machine has as
 * much again. */
#define BOUND_S 10

#define TASKS (ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS)

static aclprofConfig *config_of(uint32_t first, uint32_t count, uint64_t bits)
{
    uint32_t devices[8];
    aclprofConfig *config = NULL;

    for (uint32_t i = 0; i < count; i++) {
        devices[i] = first + i;
    }
    config = aclprofCreateConfig(devices, count, ACL_AICORE_PIPE_UTILIZATION, NULL, bits);
    if (config == NULL) {
        fail_msg("aclprofCreateConfig: %s", aclprofGetLastError());
    }
    return config;
}

static void launch(uint32_t device, uint32_t count)
{
    simrtKernel kernel = {sizeof(kernel), "Add", SIMRT_VECTOR, 8, 10, 0};

    assert_int_equal(simrtSetDevice(device), SIMRT_OK);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(simrtLaunchKernel(NULL, &kernel, NULL), SIMRT_OK);
    }
    assert_int_equal(simrtSynchronizeDevice(), SIMRT_OK);
}

static void init(const char *dir)
{
    assert_ok(aclprofInit(dir, strlen(dir)));
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- programs ---- */

static void disjoint(void **state)
{
    aclprofConfig *a = config_of(0, 1, TASKS);
    aclprofConfig *b = config_of(1, 1, TASKS);

    init(*state);
    assert_ok(aclprofStart(a));
    assert_ok(aclprofStart(b));
    launch(0, 100);
    launch(1, 100);
    assert_ok(aclprofStop(a));
    launch(1, 100);
    assert_ok(aclprofStart(a)); /* again, while b goes on: the same directory */
    launch(0, 100);
    assert_ok(aclprofStop(b));
    assert_ok(aclprofStop(a));
    assert_ok(aclprofDestroyConfig(a));
    assert_ok(aclprofDestroyConfig(b));
    assert_ok(aclprofFinalize());
}

static void refused(void **state)
{
    uint32_t nine = 9;

    assert_null(aclprofCreateConfig(&nine, 1, ACL_AICORE_NONE, NULL, TASKS));
    assert_non_null(strstr(aclprofGetLastError(), "0 to 1"));
    init(*state);
    /* 310P has no IO channels, and not this group of counters */
    assert_refused(aclprofSetConfig(ACL_PROF_SYS_IO_FREQ, "10", 2),
                   ACL_ERROR_INVALID_PROFILING_CONFIG, "310P");
    assert_refused(
        aclprofStart(aclprofCreateConfig(&(uint32_t){0}, 1, ACL_AICORE_MEMORY_ACCESS, NULL, TASKS)),
        ACL_ERROR_INVALID_PARAM, "aicoreMetrics");
    assert_refused(aclprofStart(config_of(0, 1, ACL_PROF_TASK_TIME_L3)),
                   ACL_ERROR_PROFILING_FAILURE, "dataTypeConfig");
    assert_ok(aclprofFinalize());
}

static void no_driver(void **state)
{
    uint32_t device = 0;

    init(*state);
    assert_null(aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, NULL, TASKS));
    assert_non_null(strstr(aclprofGetLastError(), "ACLPROF_DRIVER=sim"));
    assert_non_null(strstr(aclprofGetLastError(), "no Ascend driver"));
}

static void with_settings(void **state)
{
    aclprofConfig *config = config_of(
        0, 2, TASKS | ACL_PROF_ACL_API | ACL_PROF_L2CACHE | ACL_PROF_HCCL_TRACE | ACL_PROF_AICPU);

    init(*state);
    assert_ok(aclprofSetConfig(ACL_PROF_SYS_HARDWARE_MEM_FREQ, "50", 2));
    assert_ok(aclprofSetConfig(ACL_PROF_SYS_IO_FREQ, "50", 2));
    assert_ok(aclprofSetConfig(ACL_PROF_SYS_INTERCONNECTION_FREQ, "50", 2));
    assert_ok(aclprofSetConfig(ACL_PROF_DVPP_FREQ, "50", 2));
    assert_ok(aclprofSetConfig(ACL_PROF_HOST_SYS, "cpu,mem", 7));
    assert_ok(aclprofStart(config));
    launch(0, 50);
    usleep(300000);
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
}

static void api_statistics(void **state)
{
    aclprofConfig *config = config_of(0, 1, ACL_PROF_API_STATS);

    init(*state);
    assert_ok(aclprofStart(config));
    launch(0, 10);
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
}

/* Of devices that hang or vanish: Start and Stop come back, and the host's part is whole. */
static void misbehaving(void **state)
{
    aclprofConfig *config = config_of(0, 2, TASKS | ACL_PROF_MSPROFTX);
    void *stamp = NULL;
    double begin = 0;

    init(*state);
    begin = seconds();
    assert_ok(aclprofStart(config));
    assert_true(seconds() - begin < BOUND_S);
    stamp = aclprofCreateStamp();
    for (int i = 0; i < 100; i++) {
        assert_ok(aclprofMark(stamp));
    }
    if (getenv("LAUNCH_NOT_ON_0") == NULL) {
        launch(0, 50);
    }
    launch(1, 50);
    usleep(200000);
    begin = seconds();
    assert_ok(aclprofStop(config));
    assert_true(seconds() - begin < BOUND_S);
    assert_ok(aclprofFinalize());
}

/* A subscription to a model of a device that hangs. */
static void subscribed(void **state)
{
    aclprofSubscribeConfig *config = NULL;
    double begin = 0;
    int fds[2];

    (void)state;
    assert_int_equal(pipe(fds), 0);
    for (uint32_t model = 1; model <= 2; model++) {
        assert_int_equal(MsprofSetDeviceIdByGeModelIdx(model, model - 1), 0);
    }
    config = aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, &fds[1]);
    begin = seconds();
    if (strcmp(getenv("HANGS_AT"), "start") == 0) {
        assert_refused(aclprofModelSubscribe(1, config), ACL_ERROR_PROFILING_FAILURE,
                       "does not answer");
    } else {
        assert_ok(aclprofModelSubscribe(1, config));
    }
    assert_ok(aclprofModelSubscribe(2, config)); /* the other device is none the worse */
    launch(1, 20);
    assert_ok(aclprofModelUnSubscribe(2));
    if (strcmp(getenv("HANGS_AT"), "start") != 0) {
        assert_ok(aclprofModelUnSubscribe(1));
    }
    assert_true(seconds() - begin < BOUND_S);
}

/* Every device hangs, in every channel: the end is Finalize. */
static void all_hang(void **state)
{
    double begin = 0;

    init(*state);
    begin = seconds();
    assert_ok(aclprofStart(config_of(0, 8, TASKS | ACL_PROF_MSPROFTX)));
    assert_true(seconds() - begin < BOUND_S);
    begin = seconds();
    assert_ok(aclprofFinalize());
    assert_true(seconds() - begin < BOUND_S);
}

static void forked(void **state)
{
    aclprofConfig *config = config_of(0, 1, TASKS);
    int status = 0;
    pid_t pid = 0;

    init(*state);
    assert_ok(aclprofStart(config));
    launch(0, 20);
    pid = fork();
    if (pid == 0) {
        bool good = aclprofStart(config) != ACL_SUCCESS &&
                    strstr(aclprofGetLastError(), "fork") != NULL &&
                    aclprofStop(NULL) == ACL_SUCCESS;

        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    launch(0, 20);
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
}

static void killed(void **state)
{
    aclprofConfig *config = config_of(0, 1, TASKS | ACL_PROF_ACL_API | ACL_PROF_RUNTIME_API);

    init(*state);
    assert_ok(aclprofStart(config));
    launch(0, 1000);
    usleep(200000);
    kill(getpid(), SIGKILL);
}

static void *sets_another(void *arg)
{
    (void)arg;
    launch(1, 100);
    return NULL;
}

/* R05: a device that another thread sets later belongs to the capture, and ends with it. */
static void set_later(void **state)
{
    aclprofConfig *config = config_of(0, 1, TASKS);
    pthread_t thread;

    assert_ok(aclprofRegisterDeviceCallback());
    init(*state);
    assert_ok(aclprofStart(config));
    launch(0, 100);
    assert_int_equal(pthread_create(&thread, NULL, sets_another, NULL), 0);
    pthread_join(thread, NULL);
    assert_ok(aclprofStop(config));
    assert_ok(aclprofStop(config)); /* nothing runs any more */
    assert_ok(aclprofFinalize());
}

/* The stand-alone simulator, through the real driver's interface. */
static void through_the_interface(void **state)
{
    aclprofConfig *config = config_of(0, 1, TASKS);

    init(*state);
    assert_ok(aclprofStart(config));
    usleep(300000); /* the pattern's tasks */
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
}

/* R14 */
static void no_such_symbols(void **state)
{
    uint32_t device = 0;
    aclprofConfig *config = NULL;
    void *stamp = NULL;

    assert_null(aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, NULL, TASKS));
    assert_non_null(strstr(aclprofGetLastError(), "libm.so"));
    config = aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX);
    init(*state);
    assert_ok(aclprofStart(config));
    stamp = aclprofCreateStamp();
    assert_ok(aclprofMark(stamp));
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
}

static const role roles[] = {ROLE(disjoint),
                             ROLE(refused),
                             ROLE(no_driver),
                             ROLE(with_settings),
                             ROLE(api_statistics),
                             ROLE(misbehaving), ROLE(all_hang), ROLE(subscribed),
                             ROLE(forked),
                             ROLE(killed),
                             ROLE(set_later),
                             ROLE(through_the_interface),
                             ROLE(no_such_symbols)};

/* ---- what they leave ---- */

static bool has(const char *prof, const char *file)
{
    char path[1400];

    snprintf(path, sizeof(path), "%s/%s", prof, file);
    return there_is(path);
}

static long long bytes_of(const char *prof, const char *file)
{
    char path[1400];
    struct stat st;

    snprintf(path, sizeof(path), "%s/%s", prof, file);
    return stat(path, &st) == 0 ? (long long)st.st_size : -1;
}

static char *text_of(const char *prof, const char *file)
{
    char path[1400];
    char *text = calloc(1, 1 << 20);
    FILE *f = NULL;

    snprintf(path, sizeof(path), "%s/%s", prof, file);
    f = fopen(path, "r");
    assert_non_null(f);
    (void)!fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    return text;
}

static char *only(const char *root)
{
    paths found = prof_paths_exactly(root, 1);
    char *prof = strdup(found.list[0]);

    paths_free(&found);
    return prof;
}

static void test_disjoint(void **state)
{
    char *prof = NULL;

    setenv("ACLPROF_SIM", "devices=2", 1);
    (void)role_run("disjoint", *state);
    prof = only(*state);
    assert_true(has(prof, "device_0/end_info.0.done"));
    assert_true(has(prof, "device_1/end_info.1.done"));
    assert_int_equal(bytes_of(prof, "device_0/data/stars_soc.data.0.slice_0"), 100 * 2 * 64);
    assert_int_equal(bytes_of(prof, "device_0/data/stars_soc.data.0.slice_1"), 100 * 2 * 64);
    assert_int_equal(bytes_of(prof, "device_1/data/stars_soc.data.1.slice_0"), 200 * 2 * 64);
    assert_true(has(prof, "device_0/data/stars_soc.data.0.slice_1.done"));
    free(prof);
}

static void test_refused(void **state)
{
    setenv("ACLPROF_SIM", "devices=2,chip=310P", 1);
    (void)role_run("refused", *state);
    paths_free(&(paths){0});
    assert_int_equal(prof_paths(*state).count, 0);
}

static void test_no_driver(void **state)
{
    setenv("ACLPROF_DRIVER", "none", 1);
    (void)role_run("no_driver", *state);
    setenv("ACLPROF_DRIVER", "sim", 1);
}

static void test_with_settings(void **state)
{
    static const char *const files[] = {
        "device_0/data/stars_soc.data.0.slice_0", "device_0/data/ffts_profile.data.0.slice_0",
        "device_0/data/hbm.data.0.slice_0",       "device_0/data/llc.data.0.slice_0",
        "device_0/data/nic.data.0.slice_0",       "device_0/data/roce.data.0.slice_0",
        "device_0/data/hccs.data.0.slice_0",      "device_0/data/pcie.data.0.slice_0",
        "device_1/data/hbm.data.1.slice_0",       "host/data/host_cpu.data.slice_0",
        "host/data/host_mem.data.slice_0",        "host/data/aging.compact.task_track.slice_0"};
    char *prof = NULL;
    char *text = NULL;

    setenv("ACLPROF_SIM", "devices=2", 1);
    (void)role_run("with_settings", *state);
    prof = only(*state);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (bytes_of(prof, files[i]) <= 0) {
            fail_msg("%s/%s is not there, or is empty", prof, files[i]);
        }
    }
    text = text_of(prof, "device_0/info.json.0");
    assert_non_null(strstr(text, "\"jobInfo\":\"aclprof simulator\""));
    free(text);
    text = text_of(prof, "host/info.json");
    assert_non_null(strstr(text, "\"jobInfo\":\"aclprof simulator\""));
    assert_non_null(strstr(text, "\"devices\":\"0,1\""));
    free(text);
    free(prof);
}

static void test_api_statistics(void **state)
{
    char *prof = NULL;

    setenv("ACLPROF_SIM", "", 1);
    (void)role_run("api_statistics", *state);
    prof = only(*state);
    assert_false(has(prof, "device_0"));
    assert_int_equal(bytes_of(prof, "host/data/aging.api_event.data.slice_0"), 10 * 3 * 40);
    free(prof);
}

/* fault, and what the report has of it */
static void check_misbehaving(const char *root, const char *name, const char *options,
                              const char *part)
{
    char *dir = below(root, name);
    char *prof = NULL;
    char *text = NULL;
    read_back *back = NULL;

    setenv("ACLPROF_SIM", options, 1);
    (void)role_run("misbehaving", dir);
    back = read_back_open(dir);
    assert_non_null(back);
    assert_int_equal(back->count, 100);
    /* and of each launch three calls, a track and a node */
    assert_int_equal(ap__reader_account_of(back->reader)->total.written,
                     100 + (getenv("LAUNCH_NOT_ON_0") == NULL ? 100 : 50) * 5);
    assert_int_equal(ap__reader_account_of(back->reader)->total.lostTotal, 0);
    read_back_close(back);
    prof = only(dir);
    text = text_of(prof, "host/.aclprof/devices.json");
    /* on a busy machine the device may be gone before it has started */
    if (strstr(text, part) == NULL && strstr(text, "\"start\":\"the device is lost\"") == NULL) {
        fail_msg("%s: no '%s' in %s", name, part, text);
    }
    free(text);
    /* the other device is none the worse */
    assert_int_equal(bytes_of(prof, "device_1/data/stars_soc.data.1.slice_0"), 50 * 2 * 64);
    assert_true(has(prof, "device_1/end_info.1.done"));
    free(prof);
    free(dir);
}

static void test_misbehaving(void **state)
{
    check_misbehaving(*state, "busy", "devices=2,fault=start_rc:dev=0:v=30",
                      "it is already started in this process");
    check_misbehaving(*state, "lost", "devices=2,speed=200,fault=lost:dev=0:from_ms=180",
                      "the device does not answer");
    check_misbehaving(*state, "slow", "devices=2,fault=stop_slow:dev=0:ms=300", "\"stop\":\"\"");
    check_misbehaving(*state, "gaps", "devices=2,fault=cnt_gap:dev=0:chan=50:at=5:n=3",
                      "\"gaps\":3");
    check_misbehaving(*state, "hang", "devices=2,fault=hang:dev=0:chan=50", "\"unannounced\":");
}

/* Calls that never answer. */
static void test_hanging(void **state)
{
    check_misbehaving(*state, "stop", "devices=2,fault=stop_slow:dev=0:ms=-1",
                      "\"stop\":\"the device does not answer\"");
    check_misbehaving(*state, "stop_one", "devices=2,fault=stop_slow:dev=0:chan=50:ms=-1",
                      "\"unansweredCalls\":1");
    setenv("LAUNCH_NOT_ON_0", "1", 1);
    check_misbehaving(*state, "start", "devices=2,fault=start_slow:dev=0:chan=50:ms=-1",
                      "\"state\":\"starting\"");
    check_misbehaving(*state, "away", "devices=2,fault=lost:dev=0:from_ms=0",
                      "\"start\":\"the device is lost\"");
    unsetenv("LAUNCH_NOT_ON_0");
}

static void check_all_hang(const char *root, const char *name, const char *options,
                           const char *part, const char *file)
{
    char *dir = below(root, name);
    char *prof = NULL;
    char *text = NULL;
    unsigned devices = 0;

    setenv("ACLPROF_SIM", options, 1);
    (void)role_run("all_hang", dir);
    prof = only(dir);
    text = text_of(prof, "host/.aclprof/devices.json");
    for (const char *p = text; (p = strstr(p, "\"device\":")) != NULL; p++) {
        devices++;
    }
    assert_int_equal(devices, 8);
    if (strstr(text, part) == NULL) {
        fail_msg("%s: no '%s' in %s", name, part, text);
    }
    if (file != NULL) {
        assert_true(has(prof, file));
    }
    assert_true(has(prof, "host/end_info.done"));
    free(text);
    free(prof);
    free(dir);
}

static void test_all_hang(void **state)
{
    check_all_hang(*state, "stop", "devices=8,fault=stop_slow:ms=-1",
                   "\"stop\":\"the device does not answer\"", "device_7/end_info.7.done");
    check_all_hang(*state, "start", "devices=8,fault=start_slow:ms=-1",
                   "\"state\":\"starting\"", "device_7/end_info.7.done");
    check_all_hang(*state, "away", "devices=8,fault=lost:from_ms=0",
                   "\"start\":\"the device is lost\"", NULL);
}

static void test_hanging_subscription(void **state)
{
    setenv("HANGS_AT", "start", 1);
    setenv("ACLPROF_SIM", "devices=2,fault=start_slow:dev=0:ms=-1", 1);
    (void)role_run("subscribed", *state);
    setenv("HANGS_AT", "stop", 1);
    setenv("ACLPROF_SIM", "devices=2,fault=stop_slow:dev=0:ms=-1", 1);
    (void)role_run("subscribed", *state);
    unsetenv("HANGS_AT");
}

static void test_forked(void **state)
{
    char *prof = NULL;

    setenv("ACLPROF_SIM", "", 1);
    (void)role_run("forked", *state);
    prof = only(*state);
    assert_int_equal(bytes_of(prof, "device_0/data/stars_soc.data.0.slice_0"), 40 * 2 * 64);
    free(prof);
}

static void leave_torn(const char *prof, const char *file, size_t bytes)
{
    static const char zeros[256];
    char path[1400];
    FILE *f = NULL;

    snprintf(path, sizeof(path), "%s/%s", prof, file);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(zeros, 1, bytes, f), bytes);
    assert_int_equal(fclose(f), 0);
}

static void test_killed(void **state)
{
    ap__recover_report *report = malloc(sizeof(*report));
    char *prof = NULL;
    int status = 0;
    pid_t pid = 0;

    setenv("ACLPROF_SIM", "", 1);
    pid = role_start("killed", *state);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    prof = only(*state);
    assert_false(has(prof, "device_0/end_info.0"));
    leave_torn(prof, "device_0/data/hbm.data.0.slice_0", 2 * 24 + 7);
    leave_torn(prof, "device_0/data/socpmu.data.0.slice_0", 80 + 79);
    assert_int_equal(ap__recover(prof, report), AP_RECOVER_DONE);
    assert_int_equal(bytes_of(prof, "device_0/data/hbm.data.0.slice_0"), 2 * 24);
    assert_int_equal(bytes_of(prof, "device_0/data/socpmu.data.0.slice_0"), 80);
    assert_int_equal(report->account.written, 1000 * 5); /* three calls, a track and a node each */
    ap__recover_report_free(report);
    assert_true(has(prof, "device_0/end_info.0.done"));
    assert_true(has(prof, "device_0/data/stars_soc.data.0.slice_0.done"));
    assert_int_equal(bytes_of(prof, "device_0/data/stars_soc.data.0.slice_0") % 64, 0);
    assert_true(bytes_of(prof, "device_0/data/stars_soc.data.0.slice_0") > 0);
    assert_int_equal(ap__recover(prof, report), 0);
    assert_int_equal(report->code, AP_RECOVER_NOTHING);
    ap__recover_report_free(report);
    free(report);
    free(prof);
}

static void test_set_later(void **state)
{
    char *prof = NULL;

    setenv("ACLPROF_SIM", "devices=2", 1);
    (void)role_run("set_later", *state);
    prof = only(*state);
    assert_int_equal(bytes_of(prof, "device_0/data/stars_soc.data.0.slice_0"), 100 * 2 * 64);
    /* it joins when it is set, before its first launch */
    assert_int_equal(bytes_of(prof, "device_1/data/stars_soc.data.1.slice_0"), 100 * 2 * 64);
    assert_true(has(prof, "device_1/end_info.1.done"));
    free(prof);
}

static void test_through_the_interface(void **state)
{
    char *prof = NULL;
    char *text = NULL;

    setenv("ACLPROF_SIM", "pattern=single,delay_ms=20", 1);
    setenv("ACLPROF_DRIVER", AP_TEST_SIM_HAL, 1);
    (void)role_run("through_the_interface", *state);
    setenv("ACLPROF_DRIVER", "sim", 1);
    prof = only(*state);
    assert_int_equal(bytes_of(prof, "device_0/data/stars_soc.data.0.slice_0"), 1000 * 2 * 64);
    text = text_of(prof, "host/.aclprof/devices.json");
    assert_non_null(strstr(text, "\"simulated\":true"));
    free(text);
    free(prof);
}

static void test_no_such_symbols(void **state)
{
    setenv("ACLPROF_DRIVER", "libm.so.6", 1);
    (void)role_run("no_such_symbols", *state);
    setenv("ACLPROF_DRIVER", "sim", 1);
    read_back_close(open_finished(*state));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(test_disjoint),       SCRATCH_TEST(test_refused),
        SCRATCH_TEST(test_no_driver),      SCRATCH_TEST(test_with_settings),
        SCRATCH_TEST(test_api_statistics), SCRATCH_TEST(test_misbehaving),
        SCRATCH_TEST(test_hanging),
        SCRATCH_TEST(test_all_hang),
        SCRATCH_TEST(test_hanging_subscription),
        SCRATCH_TEST(test_forked),         SCRATCH_TEST(test_killed),
        SCRATCH_TEST(test_set_later),      SCRATCH_TEST(test_through_the_interface),
        SCRATCH_TEST(test_no_such_symbols),
    };

    if (argc > 1) {
        return role_main(roles, sizeof(roles) / sizeof(roles[0]), argv);
    }
    setenv("ACLPROF_DRIVER", "sim", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
