/* SPDX-License-Identifier: Apache-2.0 */
#include "writer/sample_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl_prof.h"
#include "writer/json_build.h"
#include "writer/pmu_names.h"

/* Keys in file order. The vendor's compiled reader drops everything when it misses one. */
static const char *const ap__empty_keys[] = {
    "acl", "runtimeTrace", "hcclTrace", "aicpuTrace", "mstxDomainInclude", "mstxDomainExclude",
    "opType", "app", "ts_task_track", "ts_task_time", "ts_cpu_usage", "ts_timeline", "ts_memcpy",
    "ts_keypoint", "ai_vector_status", "ts_fw_training", "hwts_log", "hwts_log1",
    "l2CacheTaskProfiling", "l2CacheTaskProfilingEvents", "pcieProfiling", "llc_profiling",
    "msprof_llc_profiling", "llc_profiling_events", "instrProfiling", "ddr_profiling",
    "ddr_profiling_events", "hbm_profiling_events", "host_sys", "stars_acsq_task", "taskBlock",
    "taskBlockShink", "delayTime", "durationTime", "profMode", "qosProfiling", "qosEvents",
    "hostSysUsage", "storageLimit", "ai_ctrl_cpu_profiling_events", "ts_cpu_profiling_events",
    "app_dir", "app_parameters", "app_location", "app_env", "ai_core_profiling",
    "ai_core_profiling_mode", "ai_core_profiling_events", "ai_core_metrics", "ai_core_status",
    "aiv_profiling", "aiv_profiling_events", "aiv_metrics", "aiv_profiling_mode",
    "profiling_options", "jobInfo", "npuEvents", "ntsMetrics", "ntsPmuEvents", "memServiceflow",
    "ai_core_profiling_metrics", "aiv_profiling_metrics", "ts_cpu_hot_function", "nicProfiling",
    "roceProfiling", "result_dir"};

static const char *const ap__off_keys[] = {
    "runtimeApi", "msprof", "msproftx", "aicoreShape", "taskMemory", "prof_level", "geApi",
    "taskTsfw", "hccsProfiling", "ubProfiling", "pcSampling", "memProfiling", "hbmProfiling",
    "host_disk_profiling", "host_osrt_profiling", "host_numa_profiling", "ccuInstr",
    "hostAllPidCpuProfiling", "hostAllPidMemProfiling", "ai_core_lpm", "cpu_profiling", "hscb",
    "aiCtrlCpuProfiling", "tsCpuProfiling", "sys_profiling", "pid_profiling", "hardware_mem",
    "io_profiling", "interconnection_profiling", "dvpp_profiling", "host_cpu_profiling",
    "host_mem_profiling", "host_network_profiling", "pureCpu"};

typedef struct ap__sample_pair {
    const char *key;
    const char *text;
} ap__sample_pair;

typedef struct ap__sample_number {
    const char *key;
    int64_t value;
} ap__sample_number;

static const ap__sample_pair ap__other_texts[] = {
    {"taskTrace", "on"}, {"taskTime", "on"},  {"appMemProfiling", "on"},
    {"sysLp", "on"},     {"aicScale", "all"}, {"profiling_mode", "def_mode"}};

static const ap__sample_number ap__numbers[] = {
    {"dvpp_sampling_interval", 20}, {"aicore_sampling_interval", 10},
    {"aiv_sampling_interval", 10}, {"hccsInterval", 20}, {"pcieInterval", 20},
    {"ubInterval", 20}, {"roceInterval", 10}, {"nicInterval", 10}, {"llc_interval", 20},
    {"instrProfilingFreq", 1000}, {"memInterval", 20}, {"ddr_interval", 20},
    {"ddr_master_id", 0}, {"hbmInterval", 20}, {"profiling_period", -1}, {"host_sys_pid", -1},
    {"host_disk_freq", 50}, {"sysLpFreq", 10000}, {"msprofBinPid", -1},
    {"hostProfilingSamplingInterval", 20}, {"cpu_sampling_interval", 20},
    {"sys_sampling_interval", 100}, {"pid_sampling_interval", 100},
    {"hardware_mem_sampling_interval", 20000}, {"io_sampling_interval", 10},
    {"interconnection_sampling_interval", 20}};

#define AP_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define AP_TEXTS (AP_COUNT(ap__empty_keys) + AP_COUNT(ap__off_keys) + AP_COUNT(ap__other_texts))
#define AP_OFF_AT AP_COUNT(ap__empty_keys)
#define AP_OTHER_AT (AP_OFF_AT + AP_COUNT(ap__off_keys))

typedef struct ap__sample {
    ap__sample_pair texts[AP_TEXTS];
    ap__sample_number numbers[AP_COUNT(ap__numbers)];
    char storage_limit[32];
    char host_sys[64];
    char host_usage[64];
    bool ok; /* every key set was known */
} ap__sample;

static void ap__sample_defaults(ap__sample *s)
{
    for (size_t i = 0; i < AP_OFF_AT; i++) {
        s->texts[i] = (ap__sample_pair){ap__empty_keys[i], ""};
    }
    for (size_t i = 0; i < AP_COUNT(ap__off_keys); i++) {
        s->texts[AP_OFF_AT + i] = (ap__sample_pair){ap__off_keys[i], "off"};
    }
    memcpy(&s->texts[AP_OTHER_AT], ap__other_texts, sizeof(ap__other_texts));
    memcpy(s->numbers, ap__numbers, sizeof(ap__numbers));
    s->ok = true;
}

static void ap__set(ap__sample *s, const char *key, const char *text)
{
    for (size_t i = 0; i < AP_TEXTS; i++) {
        if (strcmp(s->texts[i].key, key) == 0) {
            s->texts[i].text = text;
            return;
        }
    }
    s->ok = false;
}

static void ap__set_number(ap__sample *s, const char *key, int64_t value)
{
    for (size_t i = 0; i < AP_COUNT(ap__numbers); i++) {
        if (strcmp(s->numbers[i].key, key) == 0) {
            s->numbers[i].value = value;
            return;
        }
    }
    s->ok = false;
}

static void ap__on_if(ap__sample *s, bool on, const char *key)
{
    if (on) {
        ap__set(s, key, "on");
    }
}

/* The vendor's word for the deepest TASK_TIME bit; NULL: none. */
static const char *ap__level(uint64_t mask)
{
    if ((mask & ACL_PROF_TASK_TIME_L3) != 0) {
        return "level3";
    }
    if ((mask & ACL_PROF_TASK_TIME_L2) != 0) {
        return "level2";
    }
    if ((mask & (ACL_PROF_TASK_TIME | ACL_PROF_OP_ATTR)) != 0) {
        return "level1";
    }
    return (mask & ACL_PROF_TASK_TIME_L0) != 0 ? "level0" : NULL;
}

/* Whether counters of the AI cores are read for each task. */
static bool ap__counts(const ap__host_meta *meta)
{
    return (meta->data_types & ACL_PROF_API_STATS) == 0 &&
           (meta->data_types & ACL_PROF_AICORE_METRICS) != 0 && meta->metrics != ACL_AICORE_NONE;
}

static void ap__from_mask(ap__sample *s, const ap__host_meta *meta)
{
    uint64_t mask = meta->data_types;
    const char *level = NULL;

    if ((mask & ACL_PROF_API_STATS) != 0) {
        mask = ACL_PROF_API_STATS | ACL_PROF_ACL_API; /* it replaces all others */
    }
    level = ap__level(mask);
    ap__on_if(s, (mask & ACL_PROF_ACL_API) != 0, "acl");
    ap__on_if(s, (mask & ACL_PROF_MSPROFTX) != 0, "msproftx");
    ap__on_if(s, (mask & ACL_PROF_RUNTIME_API) != 0, "runtimeApi");
    ap__on_if(s, (mask & ACL_PROF_HCCL_TRACE) != 0, "hcclTrace");
    ap__on_if(s, (mask & ACL_PROF_AICPU) != 0, "aicpuTrace");
    ap__on_if(s, (mask & ACL_PROF_TASK_MEMORY) != 0, "taskMemory");
    ap__on_if(s, (mask & ACL_PROF_AICORE_SHAPE) != 0, "aicoreShape");
    ap__on_if(s, (mask & ACL_PROF_TRAINING_TRACE) != 0 || level != NULL, "ts_keypoint");
    if ((mask & (ACL_PROF_GE_API_L0 | ACL_PROF_GE_API_L1)) != 0) {
        ap__set(s, "geApi", (mask & ACL_PROF_GE_API_L1) != 0 ? "l1" : "l0");
    }
    if (level != NULL) {
        ap__set(s, "prof_level", level);
        ap__set(s, "runtimeTrace", "on");
        ap__set(s, "ts_memcpy", "on");
        ap__set(s, "hwts_log", "on");
        ap__set(s, "stars_acsq_task", "on");
    }
    if ((mask & ACL_PROF_L2CACHE) != 0) {
        ap__set(s, "l2CacheTaskProfiling", "on");
        ap__set(s, "l2CacheTaskProfilingEvents", ap__pmu_l2_events(meta->chip));
    }
    if (ap__counts(meta)) {
        ap__pmu_set cube = ap__pmu_set_of(meta->metrics, meta->chip, false);
        ap__pmu_set vector = ap__pmu_set_of(meta->metrics, meta->chip, true);

        ap__set(s, "ai_core_profiling", "on");
        ap__set(s, "ai_core_profiling_mode", "task-based");
        ap__set(s, "ai_core_metrics", cube.name);
        ap__set(s, "ai_core_profiling_events", cube.events);
        ap__set(s, "aiv_profiling", "on");
        ap__set(s, "aiv_profiling_mode", "task-based");
        ap__set(s, "aiv_metrics", vector.name);
        ap__set(s, "aiv_profiling_events", vector.events);
    }
}

/* Chips that record changes of the cores' frequency beside the counters, unasked. */
static bool ap__has_frequency(uint32_t chip)
{
    return chip == 4 || chip == 5 || chip == 7 || chip == 15 || chip == 16;
}

static int64_t ap__interval(int64_t per_second, uint32_t hz)
{
    int64_t interval = per_second / hz;

    return interval > 0 ? interval : 1;
}

static void ap__from_device_settings(ap__sample *s, const ap__settings *set, uint32_t chip)
{
    bool ub = chip == 15 || chip == 16;

    if (set->llc_mode[0] != '\0' || set->hardware_mem_hz != 0) {
        const char *mode = set->llc_mode[0] != '\0' ? set->llc_mode : "read";

        ap__set(s, "llc_profiling", mode);
        ap__set(s, "llc_profiling_events", mode);
    }
    if (set->hardware_mem_hz != 0) {
        int64_t ms = ap__interval(1000, set->hardware_mem_hz);

        ap__set(s, "hardware_mem", "on");
        ap__set(s, "memProfiling", "on");
        ap__set(s, "hbmProfiling", "on");
        ap__set(s, "hbm_profiling_events", "read,write");
        ap__set(s, "ddr_profiling", "on");
        ap__set(s, "ddr_profiling_events", "read,write");
        ap__set_number(s, "hardware_mem_sampling_interval",
                       ap__interval(1000000, set->hardware_mem_hz));
        ap__set_number(s, "llc_interval", ms);
        ap__set_number(s, "memInterval", ms);
        ap__set_number(s, "ddr_interval", ms);
        ap__set_number(s, "hbmInterval", ms);
    }
    if (set->io_hz != 0) {
        int64_t ms = ap__interval(1000, set->io_hz);

        ap__set(s, "io_profiling", "on");
        ap__set(s, "nicProfiling", "on");
        ap__set(s, "roceProfiling", "on");
        ap__set_number(s, "io_sampling_interval", ms);
        ap__set_number(s, "nicInterval", ms);
        ap__set_number(s, "roceInterval", ms);
    }
    if (set->interconnection_hz != 0) {
        int64_t ms = ap__interval(1000, set->interconnection_hz);

        ap__set(s, "interconnection_profiling", "on");
        ap__set(s, "pcieProfiling", "on");
        ap__on_if(s, !ub, "hccsProfiling");
        ap__on_if(s, ub, "ubProfiling");
        ap__set_number(s, "interconnection_sampling_interval", ms);
        ap__set_number(s, "pcieInterval", ms);
        ap__set_number(s, "hccsInterval", ms);
        ap__set_number(s, "ubInterval", ms);
    }
    if (set->dvpp_hz != 0) {
        ap__set(s, "dvpp_profiling", "on");
        ap__set_number(s, "dvpp_sampling_interval", ap__interval(1000, set->dvpp_hz));
    }
    if (set->low_power_hz != 0) {
        ap__set_number(s, "sysLpFreq", ap__interval(1000000, set->low_power_hz));
    }
    if (set->cpu_hz != 0) {
        ap__set(s, "cpu_profiling", "on");
        ap__set(s, "hscb", "on");
        ap__set(s, "tsCpuProfiling", "on");
        ap__set(s, "ts_cpu_profiling_events", "0x11,0x8"); /* as channel 10 is asked */
        ap__set_number(s, "cpu_sampling_interval", ap__interval(1000, set->cpu_hz));
    }
    if (set->mem_serviceflow[0] != '\0') {
        ap__set(s, "memServiceflow", set->mem_serviceflow);
        ap__set(s, "qosProfiling", "on");
    }
    ap__set(s, "opType", set->op_type);
    ap__set(s, "ntsMetrics", set->nts_metrics);
}

static void ap__join(char *out, size_t size, uint32_t bits)
{
    static const char *const names[] = {"cpu", "mem", "disk", "network", "osrt", "numa"};
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < AP_COUNT(names); i++) {
        if ((bits & 1u << i) != 0) {
            used += (size_t)snprintf(out + used, size - used, "%s%s", used != 0 ? "," : "",
                                     names[i]);
        }
    }
}

static void ap__from_host_settings(ap__sample *s, const ap__settings *set)
{
    if (set->storage_limit_mb != 0) {
        (void)snprintf(s->storage_limit, sizeof(s->storage_limit), "%" PRIu64 "MB",
                       set->storage_limit_mb);
        ap__set(s, "storageLimit", s->storage_limit);
    }
    if (set->host_sys != 0) {
        ap__join(s->host_sys, sizeof(s->host_sys), set->host_sys);
        ap__set(s, "host_sys", s->host_sys);
        ap__set_number(s, "host_sys_pid", getpid());
    }
    ap__on_if(s, (set->host_sys & AP_HOST_CPU) != 0, "host_cpu_profiling");
    ap__on_if(s, (set->host_sys & AP_HOST_MEM) != 0, "host_mem_profiling");
    ap__on_if(s, (set->host_sys & AP_HOST_DISK) != 0, "host_disk_profiling");
    ap__on_if(s, (set->host_sys & AP_HOST_NETWORK) != 0, "host_network_profiling");
    ap__on_if(s, (set->host_sys & AP_HOST_OSRT) != 0, "host_osrt_profiling");
    ap__on_if(s, (set->host_sys & AP_HOST_NUMA) != 0, "host_numa_profiling");
    if (set->host_sys_usage != 0) {
        ap__join(s->host_usage, sizeof(s->host_usage), set->host_sys_usage);
        ap__set(s, "hostSysUsage", s->host_usage);
    }
    ap__on_if(s, (set->host_sys_usage & AP_HOST_CPU) != 0, "hostAllPidCpuProfiling");
    ap__on_if(s, (set->host_sys_usage & AP_HOST_MEM) != 0, "hostAllPidMemProfiling");
    if (set->host_usage_hz != 0) {
        ap__set_number(s, "hostProfilingSamplingInterval",
                       ap__interval(1000, set->host_usage_hz));
        /* by this the vendor's reader tells the times of host_disk.data */
        ap__set_number(s, "host_disk_freq", 1000 / ap__interval(1000, set->host_usage_hz));
    }
}

char *ap__sample_json(const ap__host_meta *meta, const char *id)
{
    cJSON *root = cJSON_CreateObject();
    ap__sample s;
    bool ok = root != NULL;

    ap__sample_defaults(&s);
    ap__from_mask(&s, meta);
    ap__from_device_settings(&s, meta->settings, meta->chip);
    ap__from_host_settings(&s, meta->settings);
    if (strcmp(id, "64") != 0 || meta->devices[0] != '\0') {
        ap__on_if(&s, ap__has_frequency(meta->chip) && ap__counts(meta), "ai_core_lpm");
    }
    ap__set(&s, "result_dir", meta->result_dir);
    ok = ok && s.ok;
    for (size_t i = 0; ok && i < AP_TEXTS; i++) {
        ap__json_text(&ok, root, s.texts[i].key, s.texts[i].text);
    }
    for (size_t i = 0; ok && i < AP_COUNT(ap__numbers); i++) {
        ap__json_i64(&ok, root, s.numbers[i].key, s.numbers[i].value);
    }
    if (ok) {
        ap__json_bool(&ok, root, "isCancel", false);
        ap__json_bool(&ok, root, "hostProfiling", strcmp(id, "64") == 0);
        ap__json_text(&ok, root, "devices", id);
        ap__json_text(&ok, root, "job_id", id);
    }
    return ap__json_print(ok, root);
}
