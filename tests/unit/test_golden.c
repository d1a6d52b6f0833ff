/* SPDX-License-Identifier: Apache-2.0 */
/* A run of ours against a result directory that the vendor's readers are known to accept, field by
 * field: names, modes, JSON keys and types, records. What must differ is listed. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <cjson/cJSON.h>
#include <ctype.h>
#include <pthread.h>
#include <stdbool.h>

#include "aclprof_ext.h"
#include "format/ext_wire.h"
#include "scratch.h"

/* ---- the accepted directory ---- */

static const char golden_name[] = "PROF_000001_20250101000000000_00004242CPNEIILO";

static const char *const golden_host[] = {
    "data",     "end_info",    "end_info.done",    "host_start.log", "host_start.log.done",
    "info.json", "info.json.done", "sample.json", "sample.json.done", "start_info",
    "start_info.done"};

static const char *const golden_data[] = {
    "aging.additional.msproftx.slice_0",
    "aging.additional.msproftx.slice_0.done",
    "unaging.additional.hash_dic.slice_0",
    "unaging.additional.hash_dic.slice_0.done",
    "unaging.additional.type_info_dic.slice_0",
    "unaging.additional.type_info_dic.slice_0.done"};

static const char golden_info[] =
    "{\"DeviceInfo\":[],\"netCard\":[{\"netCardName\":\"eth0\",\"speed\":10000}],\"CPU\":[{\""
    "Id\":0,\"Name\":\"HiSilicon\",\"Frequency\":\"\",\"Logical_CPU_Count\":\"8\",\"Type\":\""
    "Kunpeng-920\"}],\"version\":\"1.0\",\"jobInfo\":\"NA\",\"OS\":\"Linux-5.10\",\"hostname"
    "\":\"synth\",\"hwtype\":\"aarch64\",\"devices\":\"\",\"platform\":\"\",\"platform_versio"
    "n\":\"5\",\"pid\":\"4242\",\"pid_name\":\"demo\",\"upTime\":\"1000.00 2000.00\",\"memory"
    "Total\":16777216,\"cpuNums\":8,\"sysClockFreq\":100,\"cpuCores\":1,\"netCardNums\":0,\"r"
    "ank_id\":-1,\"drvVersion\":467473,\"cannVersion\":\"9.0.0\"}";

static const char golden_sample[] =
    "{\"acl\":\"on\",\"runtimeTrace\":\"\",\"hcclTrace\":\"\",\"aicpuTrace\":\"\",\"mstxDomai"
    "nInclude\":\"\",\"mstxDomainExclude\":\"\",\"opType\":\"\",\"app\":\"\",\"ts_task_track"
    "\":\"\",\"ts_task_time\":\"\",\"ts_cpu_usage\":\"\",\"ts_timeline\":\"\",\"ts_memcpy\":"
    "\"\",\"ts_keypoint\":\"\",\"ai_vector_status\":\"\",\"ts_fw_training\":\"\",\"hwts_log\""
    ":\"\",\"hwts_log1\":\"\",\"l2CacheTaskProfiling\":\"on\",\"l2CacheTaskProfilingEvents\":"
    "\"0xfb,0xfc,0x90,0x91,0x9c\",\"pcieProfiling\":\"\",\"llc_profiling\":\"read\",\"msprof_"
    "llc_profiling\":\"\",\"llc_profiling_events\":\"read\",\"instrProfiling\":\"\",\"ddr_pro"
    "filing\":\"\",\"ddr_profiling_events\":\"\",\"hbm_profiling_events\":\"read,write\",\"ho"
    "st_sys\":\"\",\"stars_acsq_task\":\"\",\"taskBlock\":\"\",\"taskBlockShink\":\"\",\"dela"
    "yTime\":\"\",\"durationTime\":\"\",\"profMode\":\"\",\"qosProfiling\":\"on\",\"qosEvents"
    "\":\"a,b\",\"hostSysUsage\":\"\",\"storageLimit\":\"\",\"ai_ctrl_cpu_profiling_events\":"
    "\"0x11,0x8\",\"ts_cpu_profiling_events\":\"0x11,0x8\",\"app_dir\":\"\",\"app_parameters"
    "\":\"\",\"app_location\":\"\",\"app_env\":\"\",\"ai_core_profiling\":\"on\",\"ai_core_pr"
    "ofiling_mode\":\"task-based\",\"ai_core_profiling_events\":\"0x8,0xa,0x9,0xb,0xc,0xd,0x5"
    "4,0x55\",\"ai_core_metrics\":\"PipeUtilization\",\"ai_core_status\":\"\",\"aiv_profiling"
    "\":\"on\",\"aiv_profiling_events\":\"0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55\",\"aiv_metrics\""
    ":\"PipeUtilization\",\"aiv_profiling_mode\":\"task-based\",\"profiling_options\":\"\",\""
    "jobInfo\":\"\",\"npuEvents\":\"\",\"ntsMetrics\":\"\",\"ntsPmuEvents\":\"\",\"memService"
    "flow\":\"\",\"ai_core_profiling_metrics\":\"\",\"aiv_profiling_metrics\":\"\",\"ts_cpu_h"
    "ot_function\":\"\",\"nicProfiling\":\"\",\"roceProfiling\":\"\",\"result_dir\":\"\",\"ru"
    "ntimeApi\":\"off\",\"msprof\":\"off\",\"msproftx\":\"on\",\"aicoreShape\":\"off\",\"task"
    "Memory\":\"off\",\"prof_level\":\"l1\",\"geApi\":\"off\",\"taskTsfw\":\"off\",\"hccsProf"
    "iling\":\"off\",\"ubProfiling\":\"off\",\"pcSampling\":\"off\",\"memProfiling\":\"off\","
    "\"hbmProfiling\":\"on\",\"host_disk_profiling\":\"off\",\"host_osrt_profiling\":\"off\","
    "\"host_numa_profiling\":\"off\",\"ccuInstr\":\"off\",\"hostAllPidCpuProfiling\":\"off\","
    "\"hostAllPidMemProfiling\":\"off\",\"ai_core_lpm\":\"off\",\"cpu_profiling\":\"off\",\"h"
    "scb\":\"off\",\"aiCtrlCpuProfiling\":\"off\",\"tsCpuProfiling\":\"off\",\"sys_profiling"
    "\":\"off\",\"pid_profiling\":\"off\",\"hardware_mem\":\"off\",\"io_profiling\":\"off\","
    "\"interconnection_profiling\":\"off\",\"dvpp_profiling\":\"off\",\"host_cpu_profiling\":"
    "\"off\",\"host_mem_profiling\":\"off\",\"host_network_profiling\":\"off\",\"pureCpu\":\""
    "off\",\"taskTrace\":\"on\",\"taskTime\":\"on\",\"appMemProfiling\":\"on\",\"sysLp\":\"on"
    "\",\"aicScale\":\"all\",\"profiling_mode\":\"def_mode\",\"dvpp_sampling_interval\":20,\""
    "aicore_sampling_interval\":10,\"aiv_sampling_interval\":10,\"hccsInterval\":20,\"pcieInt"
    "erval\":20,\"ubInterval\":20,\"roceInterval\":10,\"nicInterval\":10,\"llc_interval\":20,"
    "\"instrProfilingFreq\":1000,\"memInterval\":20,\"ddr_interval\":20,\"ddr_master_id\":0,"
    "\"hbmInterval\":20,\"profiling_period\":-1,\"host_sys_pid\":-1,\"host_disk_freq\":10,\"s"
    "ysLpFreq\":10000,\"msprofBinPid\":-1,\"hostProfilingSamplingInterval\":20,\"cpu_sampling"
    "_interval\":20,\"sys_sampling_interval\":100,\"pid_sampling_interval\":100,\"hardware_me"
    "m_sampling_interval\":20000,\"io_sampling_interval\":10,\"interconnection_sampling_inter"
    "val\":20,\"isCancel\":false,\"hostProfiling\":true,\"devices\":\"64\",\"job_id\":\"64\"}";

static const char golden_start[] =
    "{\"collectionDateBegin\":\"2025-01-01 00:00:00.000000\",\"collectionDateEnd\":\"\","
    "\"collectionTimeBegin\":\"1735689600000000\",\"collectionTimeEnd\":\"\","
    "\"clockMonotonicRaw\":\"1000000000000\"}";

static const char golden_end[] =
    "{\"collectionDateBegin\":\"\",\"collectionDateEnd\":\"2025-01-01 00:00:02.000000\","
    "\"collectionTimeBegin\":\"\",\"collectionTimeEnd\":\"1735689602000000\","
    "\"clockMonotonicRaw\":\"1002000000000\"}";

static const char golden_start_log[] =
    "[Host]\nclock_monotonic_raw: 1000000000000\ncntvct: 1000000000000\ncntvct_diff: 0\n";

static const char golden_hashes[] =
    "6438267842827357177:default\n568593824613571548:mydomain\n";

static const char golden_types[] =
    "5000_0:KERNEL_AICORE\n5000_1:KERNEL_AICPU\n5000_2:EVENT_RECORD\n5000_3:EVENT_WAIT\n"
    "5000_5:MEMCPY_ASYNC\n5000_6:MAINTENANCE\n5000_14:NOTIFY_WAIT\n5000_26:PROFILER_TRACE_EX\n"
    "5000_66:KERNEL_AIVEC\n5000_98:FLIP_TASK\n5000_801:memcpy_info\n5000_802:task_track\n"
    "5000_1003:KernelLaunch\n5000_1010:MemCopyAsync\n10000_0:node_basic_info\n"
    "10000_1:tensor_info\n10000_2:fusion_op_info\n10000_4:context_id_info\n10000_5:launch\n"
    "10000_6:task_memory_info\n10000_9:node_attr_info\n10000_10:hccl_op_info\n"
    "10000_11:static_op_mem\n15000_0:graph_id_map\n15000_1:ModelExecute\n5500_65537:master\n"
    "5500_65538:slave\n20500_0:msproftx\n20000_196659:aclrtMemcpyAsync\n"
    "20000_196688:aclrtLaunchKernel\n20000_327681:aclnnAdd\n";

/* Its records of calls that this library has: 256 bytes, little-endian. */
typedef struct golden_record {
    const char *message;
    uint32_t tid;
    uint32_t category;
    uint32_t event;
    uint64_t start;
    uint64_t end;
} golden_record;

#define GOLDEN_PID 4242u

static const golden_record golden_records[] = {
    {"acl_mark", 4243, 0, 0, 1000001000000, 1000001000000},
    {"acl_push_outer", 4243, 7, 1, 1000002000000, 1000005000000},
    {"acl_push_inner", 4243, 7, 1, 1000002500000, 1000003000000},
    {"acl_range", 4244, 9, 2, 1000003000000, 1000009000000}};
#define GOLDEN_RECORDS (sizeof(golden_records) / sizeof(golden_records[0]))

static void put(uint8_t *record, size_t at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        record[at + i] = (uint8_t)(value >> 8 * i);
    }
}

static uint64_t get(const uint8_t *record, size_t at, size_t bytes)
{
    uint64_t value = 0;

    for (size_t i = bytes; i-- > 0;) {
        value = value << 8 | record[at + i];
    }
    return value;
}

static void golden_bytes(uint8_t out[256], const golden_record *r)
{
    memset(out, 0, 256);
    put(out, 0, 0x5A5A, 2);
    put(out, 2, 20500, 2);
    put(out, 8, r->tid, 4);
    put(out, 12, 232, 4);
    put(out, 16, r->start, 8);
    put(out, 32, 0x5A5A, 2);
    put(out, 36, GOLDEN_PID, 4);
    put(out, 40, r->tid, 4);
    put(out, 44, r->category, 4);
    put(out, 48, r->event, 4);
    put(out, 64, r->start, 8);
    put(out, 72, r->end, 8);
    memcpy(out + 100, r->message, strlen(r->message));
}

/* ---- what may differ ---- */

static const char *const vary_info[] = {
    /* the machine and the process */
    "netCard", "Name", "Logical_CPU_Count", "Type", "OS", "hostname", "hwtype", "pid", "pid_name",
    "upTime", "memoryTotal", "cpuNums", "sysClockFreq", "netCardNums", "rank_id", "cannVersion",
    NULL};

static const char *const vary_sample[] = {
    "result_dir",
    /* that run had asked for collection on devices as well */
    "acl", "l2CacheTaskProfiling", "l2CacheTaskProfilingEvents", "llc_profiling",
    "llc_profiling_events", "hbm_profiling_events", "qosProfiling", "qosEvents",
    "ai_ctrl_cpu_profiling_events", "ts_cpu_profiling_events", "ai_core_profiling",
    "ai_core_profiling_mode", "ai_core_profiling_events", "ai_core_metrics", "aiv_profiling",
    "aiv_profiling_events", "aiv_metrics", "aiv_profiling_mode", "prof_level", "hbmProfiling",
    "host_disk_freq", NULL};

static const char *const vary_times[] = {"collectionDateBegin", "collectionDateEnd",
                                         "collectionTimeBegin", "collectionTimeEnd",
                                         "clockMonotonicRaw", NULL};

/* ---- the run ---- */

typedef struct run {
    scratch *s;
    char *prof; /* name */
    int fd;
    int host;
    int data;
} run;

static run the_run;

static void *stamp(const char *message, uint32_t category)
{
    void *made = aclprofCreateStamp();

    if (made == NULL ||
        aclprofSetStampTraceMessage(made, message, (uint32_t)strlen(message)) != ACL_SUCCESS ||
        aclprofSetStampCategory(made, category) != ACL_SUCCESS) {
        fail_msg("%s", aclprofGetLastError());
    }
    return made;
}

static void *start_range(void *id)
{
    void *range = stamp(golden_records[3].message, golden_records[3].category);

    assert_int_equal(aclprofRangeStart(range, id), ACL_SUCCESS);
    assert_int_equal(aclprofRangeStop(*(uint32_t *)id), ACL_SUCCESS);
    aclprofDestroyStamp(range);
    return NULL;
}

static void record_events(void)
{
    void *mark = stamp(golden_records[0].message, golden_records[0].category);
    void *outer = stamp(golden_records[1].message, golden_records[1].category);
    void *inner = stamp(golden_records[2].message, golden_records[2].category);
    pthread_t other;
    uint32_t id = 0;

    assert_int_equal(aclprofMark(mark), ACL_SUCCESS);
    assert_int_equal(aclprofPush(outer), ACL_SUCCESS);
    assert_int_equal(aclprofPush(inner), ACL_SUCCESS);
    assert_int_equal(aclprofPop(), ACL_SUCCESS);
    assert_int_equal(aclprofPop(), ACL_SUCCESS);
    assert_int_equal(pthread_create(&other, NULL, start_range, &id), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_true(aclprofStr2Id("mydomain") == 568593824613571548u);
    aclprofDestroyStamp(mark);
    aclprofDestroyStamp(outer);
    aclprofDestroyStamp(inner);
}

static int open_dir(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    assert_true(fd >= 0);
    return fd;
}

static char *only_entry(int fd)
{
    int again = open_dir(fd, ".");
    DIR *list = fdopendir(again);
    struct dirent *entry = NULL;
    char *name = NULL;

    assert_non_null(list);
    while ((entry = readdir(list)) != NULL) {
        if (entry->d_name[0] != '.') {
            assert_null(name);
            name = strdup(entry->d_name);
        }
    }
    closedir(list);
    assert_non_null(name);
    return name;
}

static int setup(void **state)
{
    scratch *s = NULL;
    aclprofConfig *config = NULL;
    void *scratch_state = NULL;

    if (scratch_setup(&scratch_state) != 0) {
        return -1;
    }
    s = scratch_state;
    *state = &the_run;
    the_run = (run){.s = s};
    umask(022);
    config = aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX);
    assert_int_equal(aclprofInit(s->path, strlen(s->path)), ACL_SUCCESS);
    assert_int_equal(aclprofStart(config), ACL_SUCCESS);
    record_events();
    assert_int_equal(aclprofStop(config), ACL_SUCCESS);
    assert_int_equal(aclprofDestroyConfig(config), ACL_SUCCESS);
    assert_int_equal(aclprofFinalize(), ACL_SUCCESS);
    the_run.prof = only_entry(s->fd);
    the_run.fd = open_dir(s->fd, the_run.prof);
    the_run.host = open_dir(the_run.fd, "host");
    the_run.data = open_dir(the_run.host, "data");
    return 0;
}

static int teardown(void **state)
{
    void *scratch_state = the_run.s;

    (void)state;
    close(the_run.data);
    close(the_run.host);
    close(the_run.fd);
    free(the_run.prof);
    return scratch_teardown(&scratch_state);
}

/* ---- names and modes ---- */

/* The same characters as far as their kind goes: a digit for a digit, a letter A to R for one. */
static void assert_shape(const char *text, const char *golden)
{
    bool same = strlen(text) == strlen(golden);

    for (size_t i = 0; same && golden[i] != '\0'; i++) {
        bool letter = i >= strlen("PROF_") && golden[i] >= 'A' && golden[i] <= 'R';

        same = isdigit((unsigned char)golden[i]) ? isdigit((unsigned char)text[i]) != 0
               : letter                          ? text[i] >= 'A' && text[i] <= 'R'
                                                 : text[i] == golden[i];
    }
    if (!same) {
        fail_msg("'%s' has not the form of '%s'", text, golden);
    }
}

static void assert_entries(int fd, const char *const *names, size_t count, const char *ours)
{
    for (size_t i = 0; i < count; i++) {
        if (scratch_size(fd, names[i]) < 0) {
            fail_msg("no %s", names[i]);
        }
    }
    assert_int_equal(scratch_count(fd), count + (ours != NULL ? 1 : 0));
    if (ours != NULL) {
        assert_true(scratch_size(fd, ours) >= 0);
    }
}

static void test_names(void **state)
{
    static const char *const prof[] = {"host"};
    char pid[16];

    (void)state;
    assert_shape(the_run.prof, golden_name);
    assert_memory_equal(the_run.prof, "PROF_000001_20", 14);
    snprintf(pid, sizeof(pid), "_%08d", getpid());
    assert_memory_equal(the_run.prof + 29, pid, 9);
    assert_entries(the_run.fd, prof, 1, NULL);
    /* the readers take one file for each prefix, and pass over names that begin with a dot */
    assert_entries(the_run.host, golden_host, sizeof(golden_host) / sizeof(golden_host[0]),
                   AP_EXT_DIR);
    assert_entries(the_run.data, golden_data, sizeof(golden_data) / sizeof(golden_data[0]), NULL);
}

static void assert_modes(int fd, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct stat st;

        assert_int_equal(fstatat(fd, names[i], &st, AT_SYMLINK_NOFOLLOW), 0);
        assert_true(S_ISDIR(st.st_mode) || S_ISREG(st.st_mode));
        assert_int_equal(st.st_mode & 07777, S_ISDIR(st.st_mode) ? 0750 : 0640);
        assert_true(S_ISDIR(st.st_mode) || st.st_size > 0);
    }
}

static void test_modes(void **state)
{
    (void)state;
    assert_int_equal(scratch_mode(the_run.s->fd, the_run.prof), 0750);
    assert_int_equal(scratch_mode(the_run.fd, "host"), 0750);
    assert_int_equal(scratch_mode(the_run.host, AP_EXT_DIR), 0750);
    assert_modes(the_run.host, golden_host, sizeof(golden_host) / sizeof(golden_host[0]));
    assert_modes(the_run.data, golden_data, sizeof(golden_data) / sizeof(golden_data[0]));
}

static void assert_done(int fd, const char *name, const char *rest)
{
    char done[128];
    char want[64];

    snprintf(done, sizeof(done), "%s.done", name);
    snprintf(want, sizeof(want), "filesize:%lld\n%s", scratch_size(fd, name), rest);
    scratch_assert_text(fd, done, want);
}

static void test_done_files(void **state)
{
    (void)state;
    for (size_t i = 1; i < sizeof(golden_host) / sizeof(golden_host[0]); i += 2) {
        assert_done(the_run.host, golden_host[i], "");
    }
    for (size_t i = 0; i < sizeof(golden_data) / sizeof(golden_data[0]); i += 2) {
        assert_done(the_run.data, golden_data[i], "starttime:0\nendtime  :0\n");
    }
}

/* ---- control files ---- */

static bool listed(const char *const *vary, const char *key)
{
    for (; key != NULL && *vary != NULL; vary++) {
        if (strcmp(*vary, key) == 0) {
            return true;
        }
    }
    return false;
}

/* Members and elements have the same keys, order and types all the way down; values are equal but
 * for those of `vary`, of which arrays need not be of one length. */
static void assert_json(const cJSON *ours, const cJSON *golden, const char *const *vary)
{
    const char *key = golden->string != NULL ? golden->string : "(element)";
    const cJSON *a = ours->child;
    const cJSON *b = golden->child;
    bool varies = listed(vary, golden->string);

    if ((ours->type & 0xFF) != (golden->type & 0xFF) &&
        !(cJSON_IsBool(ours) && cJSON_IsBool(golden) && varies)) {
        fail_msg("%s has another type", key);
    }
    if (cJSON_IsArray(golden) && varies) {
        for (; a != NULL; a = a->next) { /* each like the first of theirs */
            assert_json(a, b, (const char *const[]){"netCardName", "speed", NULL});
        }
        return;
    }
    for (; a != NULL && b != NULL; a = a->next, b = b->next) {
        if (cJSON_IsObject(golden) && strcmp(a->string, b->string) != 0) {
            fail_msg("in %s: %s instead of %s", key, a->string, b->string);
        }
        assert_json(a, b, vary);
    }
    if (a != NULL || b != NULL) {
        fail_msg("%s: %s is %s", key, (a != NULL ? a : b)->string, a != NULL ? "new" : "missing");
    }
    if (!varies && cJSON_IsString(golden) && strcmp(ours->valuestring, golden->valuestring) != 0) {
        fail_msg("%s is '%s' instead of '%s'", key, ours->valuestring, golden->valuestring);
    }
    if (!varies && cJSON_IsNumber(golden) && ours->valuedouble != golden->valuedouble) {
        fail_msg("%s is %g instead of %g", key, ours->valuedouble, golden->valuedouble);
    }
}

static cJSON *assert_json_file(const char *name, const char *golden, const char *const *vary)
{
    size_t length = 0;
    char *text = scratch_read(the_run.host, name, &length);
    cJSON *a = NULL;
    cJSON *b = cJSON_Parse(golden);

    assert_non_null(text);
    assert_non_null(b);
    assert_int_equal(strlen(text), length);
    assert_null(strchr(text, '\n')); /* one line: the readers take the first */
    a = cJSON_ParseWithOpts(text, NULL, true);
    assert_non_null(a);
    assert_json(a, b, vary);
    cJSON_Delete(b);
    free(text);
    return a;
}

static const char *text_at(const cJSON *json, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));
}

static void test_info(void **state)
{
    cJSON *json = assert_json_file("info.json", golden_info, vary_info);
    char pid[16];

    (void)state;
    snprintf(pid, sizeof(pid), "%d", getpid());
    assert_string_equal(text_at(json, "pid"), pid);
    cJSON_Delete(json);
}

static void test_sample(void **state)
{
    cJSON *json = assert_json_file("sample.json", golden_sample, vary_sample);

    (void)state;
    assert_string_equal(text_at(json, "result_dir"), the_run.s->path);
    /* switches that were on there and are off here */
    assert_string_equal(text_at(json, "acl"), "");
    assert_string_equal(text_at(json, "ai_core_profiling"), "");
    assert_string_equal(text_at(json, "prof_level"), "off");
    cJSON_Delete(json);
}

static void test_start_and_end(void **state)
{
    cJSON *start = assert_json_file("start_info", golden_start, vary_times);
    cJSON *end = assert_json_file("end_info", golden_end, vary_times);
    cJSON *goldens[] = {cJSON_Parse(golden_start), cJSON_Parse(golden_end)};

    (void)state;
    for (size_t i = 0; vary_times[i] != NULL; i++) { /* strings of the same form, also the empty */
        assert_shape(text_at(start, vary_times[i]),
                     strcmp(vary_times[i], "clockMonotonicRaw") == 0
                         ? text_at(start, vary_times[i])
                         : text_at(goldens[0], vary_times[i]));
        assert_shape(text_at(end, vary_times[i]),
                     strcmp(vary_times[i], "clockMonotonicRaw") == 0
                         ? text_at(end, vary_times[i])
                         : text_at(goldens[1], vary_times[i]));
    }
    assert_true(strtoull(text_at(start, "clockMonotonicRaw"), NULL, 10) <
                strtoull(text_at(end, "clockMonotonicRaw"), NULL, 10));
    assert_true(strtoull(text_at(start, "collectionTimeBegin"), NULL, 10) <=
                strtoull(text_at(end, "collectionTimeEnd"), NULL, 10));
    cJSON_Delete(goldens[0]);
    cJSON_Delete(goldens[1]);
    cJSON_Delete(start);
    cJSON_Delete(end);
}

/* Line by line the same but for numbers, and here both numbers are the same. */
static void test_start_log(void **state)
{
    char *text = scratch_read(the_run.host, "host_start.log", NULL);
    cJSON *start = assert_json_file("start_info", golden_start, vary_times);
    const char *raw = text_at(start, "clockMonotonicRaw");
    char want[160];

    (void)state;
    assert_non_null(text);
    snprintf(want, sizeof(want),
             "[Host]\nclock_monotonic_raw: %s\ncntvct: %s\ncntvct_diff: 0\n", raw, raw);
    assert_string_equal(text, want);
    snprintf(want, sizeof(want),
             "[Host]\nclock_monotonic_raw: %s\ncntvct: %s\ncntvct_diff: 0\n", "1000000000000",
             "1000000000000");
    assert_string_equal(want, golden_start_log);
    cJSON_Delete(start);
    free(text);
}

/* ---- data ---- */

static void test_hashes(void **state)
{
    (void)state;
    scratch_assert_text(the_run.data, "unaging.additional.hash_dic.slice_0", golden_hashes);
}

/* "<level>_<type>:<name>" lines; what both have is the same, and the records' type is there. */
static void test_types(void **state)
{
    char *text = scratch_read(the_run.data, "unaging.additional.type_info_dic.slice_0", NULL);
    unsigned common = 0;
    unsigned stamps = 0;

    (void)state;
    assert_non_null(text);
    assert_int_equal(text[strlen(text) - 1], '\n');
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        unsigned level = 0;
        unsigned type = 0;
        char name[64];
        char key[40];
        const char *theirs = NULL;

        assert_int_equal(sscanf(line, "%u_%u:%63s", &level, &type, name), 3);
        stamps += strcmp(line, "20500_0:msproftx") == 0;
        snprintf(key, sizeof(key), "\n%u_%u:", level, type);
        theirs = strstr(golden_types, key);
        if (theirs != NULL) {
            common++;
            assert_memory_equal(theirs + 1, line, strlen(line));
            assert_int_equal(theirs[1 + strlen(line)], '\n');
        }
    }
    assert_int_equal(stamps, 1);
    assert_true(common >= 8);
    free(text);
}

/* Where times, process and thread are: these vary. And the tag of the data, which is 0 in that
 * directory and 120 in what the vendor's library writes. */
static void blank(uint8_t record[256])
{
    put(record, 34, 0, 2);
    put(record, 8, 0, 4);
    put(record, 16, 0, 8);
    put(record, 36, 0, 4);
    put(record, 40, 0, 4);
    put(record, 64, 0, 8);
    put(record, 72, 0, 8);
}

static void assert_relations(const uint8_t *ours, const golden_record *golden)
{
    assert_int_equal(get(ours, 8, 4), get(ours, 40, 4)); /* thread: in the head and in the body */
    assert_true(get(ours, 16, 8) == get(ours, 64, 8));   /* so is the start */
    assert_int_equal(get(ours, 34, 2), 120);
    assert_int_equal(get(ours, 36, 4), getpid());
    if (golden->tid == golden_records[0].tid) {
        assert_int_equal(get(ours, 40, 4), gettid());
    } else {
        assert_int_not_equal(get(ours, 40, 4), gettid());
    }
    if (golden->start == golden->end) {
        assert_true(get(ours, 64, 8) == get(ours, 72, 8));
    } else {
        assert_true(get(ours, 64, 8) < get(ours, 72, 8));
    }
}

static void test_records(void **state)
{
    size_t length = 0;
    uint8_t *ours = (uint8_t *)scratch_read(the_run.data, golden_data[0], &length);
    bool found[GOLDEN_RECORDS] = {false};

    (void)state;
    assert_non_null(ours);
    assert_int_equal(length, 256 * GOLDEN_RECORDS);
    for (size_t i = 0; i < GOLDEN_RECORDS; i++) {
        uint8_t *record = ours + 256 * i;
        uint8_t want[256];
        size_t k = 0;

        while (k < GOLDEN_RECORDS &&
               strcmp((char *)record + 100, golden_records[k].message) != 0) {
            k++;
        }
        assert_true(k < GOLDEN_RECORDS && !found[k]);
        found[k] = true;
        assert_relations(record, &golden_records[k]);
        golden_bytes(want, &golden_records[k]);
        blank(record);
        blank(want);
        assert_memory_equal(record, want, 256);
    }
    free(ours);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),       cmocka_unit_test(test_modes),
        cmocka_unit_test(test_done_files),  cmocka_unit_test(test_info),
        cmocka_unit_test(test_sample),      cmocka_unit_test(test_start_and_end),
        cmocka_unit_test(test_start_log),   cmocka_unit_test(test_hashes),
        cmocka_unit_test(test_types),       cmocka_unit_test(test_records),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
