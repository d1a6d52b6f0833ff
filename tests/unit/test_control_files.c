/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <cjson/cJSON.h>
#include <locale.h>
#include <stdbool.h>
#include <time.h>

#include "faulty_write.h"
#include "scratch.h"
#include "writer/control_files.h"
#include "writer/sample_json.h"

/* What the vendor's readers accept: names, order and JSON types ('s' string, 'n' number, 'b' bool,
 * 'a' array) of a host directory. */
typedef struct key_type {
    const char *key;
    char type;
} key_type;

static const key_type info_keys[] = {
    {"DeviceInfo", 'a'}, {"netCard", 'a'},   {"CPU", 'a'},          {"version", 's'},
    {"jobInfo", 's'},    {"OS", 's'},        {"hostname", 's'},     {"hwtype", 's'},
    {"devices", 's'},    {"platform", 's'},  {"platform_version", 's'}, {"pid", 's'},
    {"pid_name", 's'},   {"upTime", 's'},    {"memoryTotal", 'n'},  {"cpuNums", 'n'},
    {"sysClockFreq", 'n'}, {"cpuCores", 'n'}, {"netCardNums", 'n'}, {"rank_id", 'n'},
    {"drvVersion", 'n'}, {"cannVersion", 's'}};

static const key_type cpu_keys[] = {{"Id", 'n'},
                                    {"Name", 's'},
                                    {"Frequency", 's'},
                                    {"Logical_CPU_Count", 's'},
                                    {"Type", 's'}};

static const key_type card_keys[] = {{"netCardName", 's'}, {"speed", 'n'}};

static const key_type time_keys[] = {{"collectionDateBegin", 's'},
                                     {"collectionDateEnd", 's'},
                                     {"collectionTimeBegin", 's'},
                                     {"collectionTimeEnd", 's'},
                                     {"clockMonotonicRaw", 's'}};

/* Without anything switched on: the value too. */
static const char sample_defaults[] =
    "acl= runtimeTrace= hcclTrace= aicpuTrace= mstxDomainInclude= mstxDomainExclude= opType= app= "
    "ts_task_track= ts_task_time= ts_cpu_usage= ts_timeline= ts_memcpy= ts_keypoint= "
    "ai_vector_status= ts_fw_training= hwts_log= hwts_log1= l2CacheTaskProfiling= "
    "l2CacheTaskProfilingEvents= pcieProfiling= llc_profiling= msprof_llc_profiling= "
    "llc_profiling_events= instrProfiling= ddr_profiling= ddr_profiling_events= "
    "hbm_profiling_events= host_sys= stars_acsq_task= taskBlock= taskBlockShink= delayTime= "
    "durationTime= profMode= qosProfiling= qosEvents= hostSysUsage= storageLimit= "
    "ai_ctrl_cpu_profiling_events= ts_cpu_profiling_events= app_dir= app_parameters= "
    "app_location= app_env= ai_core_profiling= ai_core_profiling_mode= ai_core_profiling_events= "
    "ai_core_metrics= ai_core_status= aiv_profiling= aiv_profiling_events= aiv_metrics= "
    "aiv_profiling_mode= profiling_options= jobInfo= npuEvents= ntsMetrics= ntsPmuEvents= "
    "memServiceflow= ai_core_profiling_metrics= aiv_profiling_metrics= ts_cpu_hot_function= "
    "nicProfiling= roceProfiling= result_dir=/r runtimeApi=off msprof=off msproftx=off "
    "aicoreShape=off taskMemory=off prof_level=off geApi=off taskTsfw=off hccsProfiling=off "
    "ubProfiling=off pcSampling=off memProfiling=off hbmProfiling=off host_disk_profiling=off "
    "host_osrt_profiling=off host_numa_profiling=off ccuInstr=off hostAllPidCpuProfiling=off "
    "hostAllPidMemProfiling=off ai_core_lpm=off cpu_profiling=off hscb=off "
    "aiCtrlCpuProfiling=off tsCpuProfiling=off sys_profiling=off pid_profiling=off "
    "hardware_mem=off io_profiling=off interconnection_profiling=off dvpp_profiling=off "
    "host_cpu_profiling=off host_mem_profiling=off host_network_profiling=off pureCpu=off "
    "taskTrace=on taskTime=on appMemProfiling=on sysLp=on aicScale=all profiling_mode=def_mode "
    "dvpp_sampling_interval#20 aicore_sampling_interval#10 aiv_sampling_interval#10 "
    "hccsInterval#20 pcieInterval#20 ubInterval#20 roceInterval#10 nicInterval#10 "
    "llc_interval#20 instrProfilingFreq#1000 memInterval#20 ddr_interval#20 ddr_master_id#0 "
    "hbmInterval#20 profiling_period#-1 host_sys_pid#-1 host_disk_freq#50 sysLpFreq#10000 "
    "msprofBinPid#-1 hostProfilingSamplingInterval#20 cpu_sampling_interval#20 "
    "sys_sampling_interval#100 pid_sampling_interval#100 hardware_mem_sampling_interval#20000 "
    "io_sampling_interval#10 interconnection_sampling_interval#20 isCancel?0 hostProfiling?1 "
    "devices=64 job_id=64 ";

static ap__settings settings;
static ap__host_meta meta;
static const ap__clock_point start_point = {.cycles = 5000000000,
                                            .mono_raw_ns = 1000000000000,
                                            .mono_ns = 7,
                                            .real_ns = 1735689600123456789};

static int setup(void **state)
{
    memset(&settings, 0, sizeof(settings));
    meta = (ap__host_meta){.data_types = 0,
                           .metrics = ACL_AICORE_NONE,
                           .settings = &settings,
                           .result_dir = "/r",
                           .chip = AP_CHIP_NONE,
                           .devices = ""};
    faulty_reset();
    return scratch_setup(state);
}

static int teardown(void **state)
{
    faulty_reset();
    return scratch_teardown(state);
}

static void assert_keys(const cJSON *object, const key_type *keys, size_t count)
{
    const cJSON *item = object->child;

    for (size_t i = 0; i < count; i++, item = item->next) {
        bool ok = false;

        assert_non_null(item);
        assert_string_equal(item->string, keys[i].key);
        ok = keys[i].type == 's'   ? cJSON_IsString(item)
             : keys[i].type == 'n' ? cJSON_IsNumber(item)
                                   : cJSON_IsArray(item);
        if (!ok) {
            fail_msg("%s has another type", keys[i].key);
        }
    }
    assert_null(item);
}

#define KEYS(object, keys) assert_keys(object, keys, sizeof(keys) / sizeof((keys)[0]))

/* One physical line, whole, with a true .done. */
static cJSON *read_json(int fd, const char *name)
{
    char done[64];
    char want[64];
    size_t length = 0;
    char *text = scratch_read(fd, name, &length);
    const char *end = NULL;
    cJSON *json = NULL;

    assert_non_null(text);
    assert_int_equal(strlen(text), length);
    assert_null(strchr(text, '\n'));
    json = cJSON_ParseWithOpts(text, &end, 1);
    assert_non_null(json);
    snprintf(done, sizeof(done), "%s.done", name);
    snprintf(want, sizeof(want), "filesize:%zu\n", length);
    scratch_assert_text(fd, done, want);
    free(text);
    return json;
}

static const char *text_of(const cJSON *json, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);

    assert_non_null(item);
    assert_true(cJSON_IsString(item));
    return item->valuestring;
}

static int number_of(const cJSON *json, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);

    assert_non_null(item);
    assert_true(cJSON_IsNumber(item));
    return item->valueint;
}

static cJSON *sample(void)
{
    char *text = ap__sample_json(&meta, "64");
    cJSON *json = NULL;

    assert_non_null(text);
    assert_null(strchr(text, '\n'));
    json = cJSON_Parse(text);
    assert_non_null(json);
    cJSON_free(text);
    return json;
}

static void test_file_set_and_modes(void **state)
{
    static const char *const names[] = {"info.json", "sample.json", "start_info", "host_start.log",
                                        "end_info"};
    scratch *t = *state;
    unsigned fds = scratch_open_fds();
    mode_t old = umask(0777);

    assert_int_equal(ap__control_write_start(t->fd, &meta, &start_point), 0);
    assert_int_equal(scratch_count(t->fd), 8);
    assert_int_equal(ap__control_write_end(t->fd, &start_point), 0);
    assert_int_equal(umask(old), 0777);
    assert_int_equal(scratch_count(t->fd), 10);
    for (size_t i = 0; i < 5; i++) {
        char done[64];

        snprintf(done, sizeof(done), "%s.done", names[i]);
        assert_int_equal(scratch_mode(t->fd, names[i]), 0640);
        assert_int_equal(scratch_mode(t->fd, done), 0640);
    }
    assert_int_equal(scratch_open_fds(), fds);
    assert_int_equal(ap__control_write_start(t->fd, &meta, &start_point), EEXIST);
    assert_int_equal(ap__control_write_end(t->fd, &start_point), EEXIST);
    assert_int_equal(scratch_open_fds(), fds);
}

static void test_info(void **state)
{
    scratch *t = *state;
    char pid[24];
    cJSON *json = NULL;
    const cJSON *list = NULL;
    const cJSON *item = NULL;

    assert_int_equal(ap__control_write_start(t->fd, &meta, &start_point), 0);
    json = read_json(t->fd, "info.json");
    KEYS(json, info_keys);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "DeviceInfo")), 0);
    list = cJSON_GetObjectItem(json, "CPU");
    assert_int_equal(cJSON_GetArraySize(list), 1);
    KEYS(list->child, cpu_keys);
    assert_string_equal(text_of(list->child, "Frequency"), "");
    assert_int_equal(atoi(text_of(list->child, "Logical_CPU_Count")), number_of(json, "cpuNums"));
    list = cJSON_GetObjectItem(json, "netCard");
    cJSON_ArrayForEach(item, list)
    {
        KEYS(item, card_keys);
        assert_true(strcmp(text_of(item, "netCardName"), "lo") != 0);
        assert_true(number_of(item, "speed") >= 0);
    }
    assert_int_equal(number_of(json, "netCardNums"), cJSON_GetArraySize(list));
    assert_string_equal(text_of(json, "version"), "1.0");
    assert_string_equal(text_of(json, "jobInfo"), "NA");
    assert_string_equal(text_of(json, "devices"), "");
    assert_string_equal(text_of(json, "platform_version"), "5");
    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    assert_string_equal(text_of(json, "pid"), pid);
    assert_non_null(strstr(program_invocation_short_name, text_of(json, "pid_name")));
    assert_true(strlen(text_of(json, "pid_name")) > 0);
    assert_memory_equal(text_of(json, "OS"), "Linux-", 6);
    assert_true(strlen(text_of(json, "hostname")) > 0);
    assert_true(strlen(text_of(json, "hwtype")) > 0);
    assert_true(number_of(json, "memoryTotal") > 1024);
    assert_true(number_of(json, "cpuNums") >= 1);
    assert_int_equal(number_of(json, "sysClockFreq"), sysconf(_SC_CLK_TCK));
    assert_int_equal(number_of(json, "drvVersion"), 467473);
    cJSON_Delete(json);
}

static void test_info_with_device(void **state)
{
    scratch *t = *state;
    cJSON *json = NULL;

    meta.host_mhz_x1000000 = 2450012345;
    meta.chip = 15;
    meta.devices = "0,1";
    assert_int_equal(ap__control_write_start(t->fd, &meta, &start_point), 0);
    json = read_json(t->fd, "info.json");
    assert_string_equal(text_of(cJSON_GetObjectItem(json, "CPU")->child, "Frequency"),
                        "2450.012345");
    assert_string_equal(text_of(json, "platform_version"), "15");
    assert_string_equal(text_of(json, "devices"), "0,1");
    cJSON_Delete(json);
    scratch_assert_text(t->fd, "host_start.log",
                        "[Host]\nclock_monotonic_raw: 1000000000000\ncntvct: 5000000000\n"
                        "cntvct_diff: 0\n");
}

static void test_rank(void **state)
{
    static const struct {
        const char *name;
        const char *value;
        int rank;
    } cases[] = {{"SLURM_PROCID", "5", 5},   {"PMI_RANK", "4", 4},  {"PMIX_RANK", "3", 3},
                 {"OMPI_COMM_WORLD_RANK", "2", 2}, {"RANK", "17", 17}, {"RANK_ID", "0", 0},
                 {"RANK_ID", "-3", 17},      {"RANK_ID", "x", 17},  {"RANK_ID", "", 17},
                 {"RANK_ID", "99999999999", 17}, {"RANK_ID", "2147483648", 17}};
    scratch *t = *state;

    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(unsetenv(cases[i].name), 0);
    }
    for (int i = -1; i < (int)(sizeof(cases) / sizeof(cases[0])); i++) {
        cJSON *json = NULL;
        char dir[16];
        int fd = -1;

        if (i >= 0) {
            assert_int_equal(setenv(cases[i].name, cases[i].value, 1), 0);
        }
        snprintf(dir, sizeof(dir), "d%d", i);
        assert_int_equal(mkdirat(t->fd, dir, 0750), 0);
        fd = openat(t->fd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_int_equal(ap__control_write_start(fd, &meta, &start_point), 0);
        json = read_json(fd, "info.json");
        assert_int_equal(number_of(json, "rank_id"), i < 0 ? -1 : cases[i].rank);
        cJSON_Delete(json);
        close(fd);
    }
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(unsetenv(cases[i].name), 0);
    }
}

static void test_cann_version(void **state)
{
    static const char file[] = "# version: 1.0\nruntime_running_version=[7.6.0.1:8.2.RC1]\n"
                               "other=1\n";
    scratch *t = *state;
    cJSON *json = NULL;
    int fd = openat(t->fd, "version.cfg", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    assert_int_equal(write(fd, file, sizeof(file) - 1), sizeof(file) - 1);
    close(fd);
    assert_int_equal(setenv("ASCEND_HOME_PATH", t->path, 1), 0);
    assert_int_equal(ap__control_write_start(t->fd, &meta, &start_point), 0);
    assert_int_equal(unsetenv("ASCEND_HOME_PATH"), 0);
    json = read_json(t->fd, "info.json");
    assert_string_equal(text_of(json, "cannVersion"), "8.2.RC1");
    cJSON_Delete(json);
}

static void test_times(void **state)
{
    scratch *t = *state;
    const ap__clock_point end = {.mono_raw_ns = 1002000000000, .real_ns = 1735689602000000999};
    cJSON *json = NULL;

    assert_int_equal(setenv("TZ", "CST-8", 1), 0);
    tzset();
    assert_int_equal(ap__control_write_start(t->fd, &meta, &start_point), 0);
    assert_int_equal(ap__control_write_end(t->fd, &end), 0);
    assert_int_equal(unsetenv("TZ"), 0);
    tzset();

    json = read_json(t->fd, "start_info");
    KEYS(json, time_keys);
    assert_string_equal(text_of(json, "collectionDateBegin"), "2025-01-01 08:00:00.123456");
    assert_string_equal(text_of(json, "collectionDateEnd"), "");
    assert_string_equal(text_of(json, "collectionTimeBegin"), "1735689600123456");
    assert_string_equal(text_of(json, "collectionTimeEnd"), "");
    assert_string_equal(text_of(json, "clockMonotonicRaw"), "1000000000000");
    cJSON_Delete(json);

    json = read_json(t->fd, "end_info");
    KEYS(json, time_keys);
    assert_string_equal(text_of(json, "collectionDateBegin"), "");
    assert_string_equal(text_of(json, "collectionDateEnd"), "2025-01-01 08:00:02.000000");
    assert_string_equal(text_of(json, "collectionTimeBegin"), "");
    assert_string_equal(text_of(json, "collectionTimeEnd"), "1735689602000000");
    assert_string_equal(text_of(json, "clockMonotonicRaw"), "1002000000000");
    cJSON_Delete(json);

    /* without a counter both clocks are the same: records are nanoseconds */
    scratch_assert_text(t->fd, "host_start.log",
                        "[Host]\nclock_monotonic_raw: 1000000000000\ncntvct: 1000000000000\n"
                        "cntvct_diff: 0\n");
    scratch_assert_text(t->fd, "host_start.log.done", "filesize:79\n");
}

static void test_sample_defaults(void **state)
{
    char all[8192] = "";
    size_t used = 0;
    cJSON *json = sample();
    const cJSON *item = NULL;

    (void)state;
    cJSON_ArrayForEach(item, json)
    {
        char *out = all + used;
        size_t room = sizeof(all) - used;

        if (cJSON_IsString(item)) {
            used += (size_t)snprintf(out, room, "%s=%s ", item->string, item->valuestring);
        } else if (cJSON_IsBool(item)) {
            used += (size_t)snprintf(out, room, "%s?%d ", item->string, cJSON_IsTrue(item));
        } else {
            used += (size_t)snprintf(out, room, "%s#%d ", item->string, item->valueint);
        }
    }
    assert_string_equal(all, sample_defaults);
    cJSON_Delete(json);
}

static void test_sample_on_disk(void **state)
{
    scratch *t = *state;
    cJSON *json = NULL;
    cJSON *direct = NULL;

    meta.data_types = ACL_PROF_MSPROFTX;
    assert_int_equal(ap__control_write_start(t->fd, &meta, &start_point), 0);
    json = read_json(t->fd, "sample.json");
    direct = sample();
    assert_true(cJSON_Compare(json, direct, 1));
    assert_string_equal(text_of(json, "msproftx"), "on");
    assert_string_equal(text_of(json, "acl"), "");
    cJSON_Delete(direct);
    cJSON_Delete(json);
}

typedef struct expectation {
    uint64_t mask;
    const char *key;
    const char *text;
} expectation;

static void test_sample_from_mask(void **state)
{
    static const expectation cases[] = {
        {ACL_PROF_ACL_API, "acl", "on"},
        {ACL_PROF_MSPROFTX, "msproftx", "on"},
        {ACL_PROF_RUNTIME_API, "runtimeApi", "on"},
        {ACL_PROF_HCCL_TRACE, "hcclTrace", "on"},
        {ACL_PROF_AICPU, "aicpuTrace", "on"},
        {ACL_PROF_TASK_MEMORY, "taskMemory", "on"},
        {ACL_PROF_AICORE_SHAPE, "aicoreShape", "on"},
        {ACL_PROF_GE_API_L0, "geApi", "l0"},
        {ACL_PROF_GE_API_L1 | ACL_PROF_GE_API_L0, "geApi", "l1"},
        {ACL_PROF_TASK_TIME_L0, "prof_level", "level0"},
        {ACL_PROF_TASK_TIME, "prof_level", "level1"},
        {ACL_PROF_OP_ATTR, "prof_level", "level1"},
        {ACL_PROF_TASK_TIME_L2 | ACL_PROF_TASK_TIME, "prof_level", "level2"},
        {ACL_PROF_TASK_TIME_L3, "prof_level", "level3"},
        {ACL_PROF_TASK_TIME, "hwts_log", "on"},
        {ACL_PROF_TASK_TIME_L0, "stars_acsq_task", "on"},
        {ACL_PROF_TASK_TIME_L0, "ts_keypoint", "on"},
        {ACL_PROF_TRAINING_TRACE, "ts_keypoint", "on"},
        {ACL_PROF_TRAINING_TRACE, "hwts_log", ""},
        {ACL_PROF_L2CACHE, "l2CacheTaskProfiling", "on"},
        {ACL_PROF_L2CACHE, "l2CacheTaskProfilingEvents",
         "0xf6,0xfb,0xfc,0xbf,0x90,0x91,0x9c,0x9d"},
        {ACL_PROF_API_STATS | ACL_PROF_MSPROFTX, "msproftx", "off"},
        {ACL_PROF_API_STATS, "acl", "on"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cJSON *json = NULL;

        meta.data_types = cases[i].mask;
        json = sample();
        assert_string_equal(text_of(json, cases[i].key), cases[i].text);
        cJSON_Delete(json);
    }
}

static void test_sample_metrics(void **state)
{
    static const struct {
        int32_t metrics;
        uint32_t chip;
        const char *cube;
        const char *cube_events;
        const char *vector;
        const char *vector_events;
    } cases[] = {
        {ACL_AICORE_PIPE_UTILIZATION, 5, "PipeUtilizationExct",
         "0x416,0x417,0x9,0x302,0xc,0x303,0x54,0x55", "PipeUtilization",
         "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55"},
        {ACL_AICORE_PIPE_UTILIZATION, 1, "PipeUtilization", "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55",
         "PipeUtilization", "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55"},
        {ACL_AICORE_PIPE_UTILIZATION, 15, "PipeUtilization",
         "0x501,0x301,0x1,0x701,0x202,0x203,0x34,0x35,0x714", "PipeUtilization",
         "0x501,0x301,0x1,0x701,0x202,0x203,0x34,0x35,0x714"},
        {ACL_AICORE_MEMORY_UB, 7, "MemoryUB", "0x37,0x38,0x1a5,0x1a6,0x17f,0x180,0x191",
         "MemoryUB", "0x37,0x38,0x1a5,0x1a6,0x17f,0x180,0x191"},
        {ACL_AICORE_MEMORY_ACCESS, 5, "MemoryAccess",
         "0x32,0x3d,0x3e,0x206,0x20c,0x50c,0x50d,0x50e", "MemoryAccess",
         "0x32,0x3d,0x3e,0x206,0x20c,0x50c,0x50d,0x50e"},
    };
    cJSON *json = NULL;

    (void)state;
    meta.data_types = ACL_PROF_AICORE_METRICS;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        meta.metrics = cases[i].metrics;
        meta.chip = cases[i].chip;
        json = sample();
        assert_string_equal(text_of(json, "ai_core_profiling"), "on");
        assert_string_equal(text_of(json, "ai_core_profiling_mode"), "task-based");
        assert_string_equal(text_of(json, "ai_core_metrics"), cases[i].cube);
        assert_string_equal(text_of(json, "ai_core_profiling_events"), cases[i].cube_events);
        assert_string_equal(text_of(json, "aiv_profiling"), "on");
        assert_string_equal(text_of(json, "aiv_profiling_mode"), "task-based");
        assert_string_equal(text_of(json, "aiv_metrics"), cases[i].vector);
        assert_string_equal(text_of(json, "aiv_profiling_events"), cases[i].vector_events);
        cJSON_Delete(json);
    }
    meta.metrics = ACL_AICORE_NONE;
    json = sample();
    assert_string_equal(text_of(json, "ai_core_profiling"), "");
    cJSON_Delete(json);
    meta.metrics = ACL_AICORE_MEMORY_BANDWIDTH;
    meta.data_types = 0; /* the metric counts only with its bit */
    json = sample();
    assert_string_equal(text_of(json, "ai_core_metrics"), "");
    cJSON_Delete(json);
}

static void test_sample_from_settings(void **state)
{
    cJSON *json = NULL;

    (void)state;
    settings.storage_limit_mb = 4294967295;
    settings.hardware_mem_hz = 50;
    settings.io_hz = 100;
    settings.interconnection_hz = 25;
    settings.dvpp_hz = 10;
    settings.host_usage_hz = 50;
    settings.low_power_hz = 40;
    settings.cpu_hz = 20;
    settings.host_sys = AP_HOST_CPU | AP_HOST_MEM | AP_HOST_OSRT;
    settings.host_sys_usage = AP_HOST_MEM;
    strcpy(settings.llc_mode, "write");
    strcpy(settings.mem_serviceflow, "a,b");
    strcpy(settings.op_type, "MatMul");
    strcpy(settings.nts_metrics, "Custom:1,2");
    json = sample();
    assert_string_equal(text_of(json, "storageLimit"), "4294967295MB");
    assert_string_equal(text_of(json, "hardware_mem"), "on");
    assert_string_equal(text_of(json, "hbm_profiling_events"), "read,write");
    assert_int_equal(number_of(json, "hardware_mem_sampling_interval"), 20000);
    assert_int_equal(number_of(json, "hbmInterval"), 20);
    assert_string_equal(text_of(json, "llc_profiling"), "write");
    assert_string_equal(text_of(json, "io_profiling"), "on");
    assert_string_equal(text_of(json, "nicProfiling"), "on");
    assert_int_equal(number_of(json, "io_sampling_interval"), 10);
    assert_string_equal(text_of(json, "interconnection_profiling"), "on");
    assert_string_equal(text_of(json, "hccsProfiling"), "on");
    assert_string_equal(text_of(json, "ubProfiling"), "off");
    assert_int_equal(number_of(json, "interconnection_sampling_interval"), 40);
    assert_int_equal(number_of(json, "dvpp_sampling_interval"), 100);
    assert_int_equal(number_of(json, "hostProfilingSamplingInterval"), 20);
    assert_int_equal(number_of(json, "host_disk_freq"), 50);
    assert_int_equal(number_of(json, "sysLpFreq"), 25000);
    assert_string_equal(text_of(json, "cpu_profiling"), "on");
    assert_int_equal(number_of(json, "cpu_sampling_interval"), 50);
    assert_string_equal(text_of(json, "tsCpuProfiling"), "on");
    assert_string_equal(text_of(json, "ts_cpu_profiling_events"), "0x11,0x8");
    assert_string_equal(text_of(json, "host_sys"), "cpu,mem,osrt");
    assert_string_equal(text_of(json, "host_cpu_profiling"), "on");
    assert_string_equal(text_of(json, "host_disk_profiling"), "off");
    assert_int_equal(number_of(json, "host_sys_pid"), getpid());
    assert_string_equal(text_of(json, "hostSysUsage"), "mem");
    assert_string_equal(text_of(json, "hostAllPidCpuProfiling"), "off");
    assert_string_equal(text_of(json, "hostAllPidMemProfiling"), "on");
    assert_string_equal(text_of(json, "memServiceflow"), "a,b");
    assert_string_equal(text_of(json, "qosProfiling"), "on");
    assert_string_equal(text_of(json, "opType"), "MatMul");
    assert_string_equal(text_of(json, "ntsMetrics"), "Custom:1,2");
    cJSON_Delete(json);

    settings.hardware_mem_hz = 10000; /* allowed on some chips: below a millisecond */
    settings.llc_mode[0] = '\0';
    meta.chip = 15;
    json = sample();
    assert_int_equal(number_of(json, "hardware_mem_sampling_interval"), 100);
    assert_int_equal(number_of(json, "hbmInterval"), 1);
    assert_string_equal(text_of(json, "llc_profiling"), "read");
    assert_string_equal(text_of(json, "ubProfiling"), "on");
    cJSON_Delete(json);
    settings.host_usage_hz = 30; /* a sample every 33 ms */
    json = sample();
    assert_int_equal(number_of(json, "host_disk_freq"), 30);
    cJSON_Delete(json);
}

/* Changes of the frequency come with the counters, on chips that tell of them. */
static void test_sample_frequency(void **state)
{
    static const uint32_t chips[] = {0, 1, 4, 5, 7, 15, 16};

    (void)state;
    meta.devices = "0";
    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
        for (int counted = 0; counted < 2; counted++) {
            cJSON *json = NULL;

            meta.chip = chips[i];
            meta.data_types = ACL_PROF_TASK_TIME | (counted ? ACL_PROF_AICORE_METRICS : 0);
            meta.metrics = ACL_AICORE_PIPE_UTILIZATION;
            json = sample();
            assert_string_equal(text_of(json, "ai_core_lpm"),
                                counted && chips[i] > 1 ? "on" : "off");
            cJSON_Delete(json);
        }
    }
    meta.devices = ""; /* the host alone, whose chip is a word for the reader */
    meta.chip = AP_CHIP_NONE;
    cJSON *json = sample();

    assert_string_equal(text_of(json, "ai_core_lpm"), "off");
    cJSON_Delete(json);
}

static void test_texts_become_valid(void **state)
{
    cJSON *json = NULL;

    (void)state;
    meta.result_dir = "/bad\xFF\n\"\\dir";
    json = sample();
    assert_string_equal(text_of(json, "result_dir"), "/bad\xEF\xBF\xBD\n\"\\dir");
    cJSON_Delete(json);
}

static void test_a_device_gets_its_own_id(void **state)
{
    char *text = ap__sample_json(&meta, "3");
    cJSON *json = cJSON_Parse(text);

    (void)state;
    assert_string_equal(text_of(json, "devices"), "3");
    assert_string_equal(text_of(json, "job_id"), "3");
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(json, "hostProfiling")));
    cJSON_Delete(json);
    cJSON_free(text);
}

static void test_in_a_locale_with_commas(void **state)
{
    scratch *t = *state;
    char *text = NULL;

    /* where the locale is not installed this is the plain case */
    (void)setlocale(LC_ALL, "de_DE.UTF-8");
    meta.host_mhz_x1000000 = 100000000;
    assert_int_equal(ap__control_write_start(t->fd, &meta, &start_point), 0);
    (void)setlocale(LC_ALL, "C");
    text = scratch_read(t->fd, "info.json", NULL);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"Frequency\":\"100.000000\""));
    assert_non_null(strstr(text, "\"drvVersion\":467473,"));
    free(text);
}

static void test_full_disk(void **state)
{
    scratch *t = *state;
    unsigned fds = scratch_open_fds();

    faulty.room = 100;
    assert_int_equal(ap__control_write_start(t->fd, &meta, &start_point), ENOSPC);
    assert_int_equal(scratch_count(t->fd), 0); /* no half file */
    faulty.room = 10;
    assert_int_equal(ap__control_write_end(t->fd, &start_point), ENOSPC);
    assert_int_equal(scratch_count(t->fd), 0);
    assert_int_equal(scratch_open_fds(), fds);
    faulty_reset();
    assert_int_equal(ap__control_write_start(t->fd, &meta, &start_point), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_file_set_and_modes),
        TEST(test_info),
        TEST(test_info_with_device),
        TEST(test_rank),
        TEST(test_cann_version),
        TEST(test_times),
        TEST(test_sample_defaults),
        TEST(test_sample_on_disk),
        TEST(test_sample_from_mask),
        TEST(test_sample_metrics),
        TEST(test_sample_from_settings),
        TEST(test_sample_frequency),
        TEST(test_texts_become_valid),
        TEST(test_a_device_gets_its_own_id),
        TEST(test_in_a_locale_with_commas),
        TEST(test_full_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
