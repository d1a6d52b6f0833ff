/* SPDX-License-Identifier: Apache-2.0 */
#include "session/command_parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl_prof.h"
#include "session/capability.h"
#include "session/errtext.h"
#include "session/path.h"
#include "writer/json_parse.h"

static const char ap__api[] = "MsprofInit";

typedef enum ap__key_kind {
    AP_KEY_SWITCH, /* anything but "on": nothing is captured */
    AP_KEY_OUTPUT,
    AP_KEY_METRICS,
    AP_KEY_BIT,     /* on, off */
    AP_KEY_LEVEL,   /* on, off, l0 … l3: bits of the level */
    AP_KEY_SETTING, /* text or number of an aclprofConfigType */
    AP_KEY_DEVICES,
    AP_KEY_INCLUDE, /* domains of mstx */
    AP_KEY_EXCLUDE,
    AP_KEY_UNUSED /* known, without an effect here */
} ap__key_kind;

typedef struct ap__key {
    const char *name;
    ap__key_kind kind;
    uint64_t value; /* bit, or type of the setting */
} ap__key;

static const ap__key ap__file_keys[] = {
    {"switch", AP_KEY_SWITCH, 0},
    {"output", AP_KEY_OUTPUT, 0},
    {"aic_metrics", AP_KEY_METRICS, 0},
    {"ascendcl", AP_KEY_BIT, ACL_PROF_ACL_API},
    {"runtime_api", AP_KEY_BIT, ACL_PROF_RUNTIME_API},
    {"task_time", AP_KEY_LEVEL, 0},
    {"aicpu", AP_KEY_BIT, ACL_PROF_AICPU},
    {"l2", AP_KEY_BIT, ACL_PROF_L2CACHE},
    {"hccl", AP_KEY_BIT, ACL_PROF_HCCL_TRACE},
    {"msproftx", AP_KEY_BIT, ACL_PROF_MSPROFTX},
    {"task_memory", AP_KEY_BIT, ACL_PROF_TASK_MEMORY},
    {"ge_api", AP_KEY_LEVEL, ACL_PROF_GE_API_L0},
    {"storage_limit", AP_KEY_SETTING, ACL_PROF_STORAGE_LIMIT},
    {"sys_hardware_mem_freq", AP_KEY_SETTING, ACL_PROF_SYS_HARDWARE_MEM_FREQ},
    {"llc_profiling", AP_KEY_SETTING, ACL_PROF_LLC_MODE},
    {"sys_io_sampling_freq", AP_KEY_SETTING, ACL_PROF_SYS_IO_FREQ},
    {"sys_interconnection_freq", AP_KEY_SETTING, ACL_PROF_SYS_INTERCONNECTION_FREQ},
    {"dvpp_freq", AP_KEY_SETTING, ACL_PROF_DVPP_FREQ},
    {"host_sys", AP_KEY_SETTING, ACL_PROF_HOST_SYS},
    {"host_sys_usage", AP_KEY_SETTING, ACL_PROF_HOST_SYS_USAGE},
    {"host_sys_usage_freq", AP_KEY_SETTING, ACL_PROF_HOST_SYS_USAGE_FREQ},
    {"sys_lp_freq", AP_KEY_SETTING, ACL_PROF_LOW_POWER_FREQ},
    {"sys_mem_serviceflow", AP_KEY_SETTING, ACL_PROF_SYS_MEM_SERVICEFLOW},
    {"sys_cpu_freq", AP_KEY_SETTING, ACL_PROF_SYS_CPU_FREQ},
    {"optype", AP_KEY_SETTING, ACL_PROF_OPTYPE},
    {"instr_profiling", AP_KEY_UNUSED, 0},
    {"instr_profiling_freq", AP_KEY_UNUSED, 0},
    {"task_tsfw", AP_KEY_UNUSED, 0},
    /* of the graph engine's options */
    {"training_trace", AP_KEY_BIT, ACL_PROF_TRAINING_TRACE},
    {"task_trace", AP_KEY_LEVEL, 0},
    {"fp_point", AP_KEY_UNUSED, 0},
    {"bp_point", AP_KEY_UNUSED, 0},
};

/* Of the command line's many keys those that say what to collect; all others are its own. */
static const ap__key ap__sample_keys[] = {
    {"result_dir", AP_KEY_OUTPUT, 0},
    {"ai_core_metrics", AP_KEY_METRICS, 0},
    {"acl", AP_KEY_BIT, ACL_PROF_ACL_API},
    {"runtimeApi", AP_KEY_BIT, ACL_PROF_RUNTIME_API},
    {"taskTime", AP_KEY_LEVEL, 0},
    {"hcclTrace", AP_KEY_BIT, ACL_PROF_HCCL_TRACE},
    {"msproftx", AP_KEY_BIT, ACL_PROF_MSPROFTX},
    {"geApi", AP_KEY_LEVEL, ACL_PROF_GE_API_L0},
    {"storageLimit", AP_KEY_SETTING, ACL_PROF_STORAGE_LIMIT},
    {"host_sys", AP_KEY_SETTING, ACL_PROF_HOST_SYS},
    {"opType", AP_KEY_SETTING, ACL_PROF_OPTYPE},
    {"devices", AP_KEY_DEVICES, 0},
    {"mstxDomainInclude", AP_KEY_INCLUDE, 0},
    {"mstxDomainExclude", AP_KEY_EXCLUDE, 0},
};

static const char *const ap__metrics[] = {
    "ArithmeticUtilization", "PipeUtilization", "Memory",  "MemoryL0",
    "ResourceConflictRatio", "MemoryUB",        "L2Cache", "PipelineExecuteUtilization",
    "MemoryAccess"};

/* ---- values ---- */

static bool ap__bad(const char *key, const char *value, const char *reason)
{
    (void)ap__fail_value(ACL_ERROR_INVALID_PROFILING_CONFIG, ap__api, key, value, strlen(value),
                         "%s", reason);
    return false;
}

/* The text of a string or a whole number; NULL: something else. */
static const char *ap__text(const cJSON *item, char number[32])
{
    if (cJSON_IsString(item)) {
        return item->valuestring;
    }
    if (cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 9e15 &&
        item->valuedouble == (double)(uint64_t)item->valuedouble) {
        (void)snprintf(number, 32, "%" PRIu64, (uint64_t)item->valuedouble);
        return number;
    }
    return NULL;
}

static bool ap__set_bit(ap__command_config *c, const ap__key *key, const char *text)
{
    if (strcmp(text, "on") == 0) {
        c->config.requested |= key->value;
    } else if (strcmp(text, "off") == 0 || text[0] == '\0') {
        c->config.requested &= ~key->value;
    } else {
        return ap__bad(key->name, text, "it must be on or off");
    }
    return true;
}

static bool ap__set_level(ap__command_config *c, const ap__key *key, const char *text)
{
    static const uint64_t tasks[] = {ACL_PROF_TASK_TIME_L0, ACL_PROF_TASK_TIME,
                                     ACL_PROF_TASK_TIME_L2, ACL_PROF_TASK_TIME_L3};
    bool task = key->value == 0;
    uint64_t all = task ? tasks[0] | tasks[1] | tasks[2] | tasks[3]
                        : (uint64_t)(ACL_PROF_GE_API_L0 | ACL_PROF_GE_API_L1);
    uint32_t most = task ? 3 : 1;

    c->config.requested &= ~all;
    if (strcmp(text, "off") == 0 || text[0] == '\0') {
        return true;
    }
    if (strcmp(text, "on") == 0) {
        c->config.requested |= task ? tasks[1] : (uint64_t)ACL_PROF_GE_API_L0;
        return true;
    }
    if (text[0] != 'l' || text[1] < '0' || (uint32_t)(text[1] - '0') > most || text[2] != '\0') {
        return ap__bad(key->name, text,
                       task ? "it must be on, off, l0, l1, l2 or l3" : "it must be off, l0 or l1");
    }
    c->config.requested |= task             ? tasks[text[1] - '0']
                           : text[1] == '0' ? (uint64_t)ACL_PROF_GE_API_L0
                                            : (uint64_t)(ACL_PROF_GE_API_L0 | ACL_PROF_GE_API_L1);
    return true;
}

static bool ap__set_metrics(ap__command_config *c, const ap__key *key, const char *text)
{
    for (int32_t i = 0; i < (int32_t)(sizeof(ap__metrics) / sizeof(ap__metrics[0])); i++) {
        if (strcmp(ap__metrics[i], text) == 0) {
            c->config.metrics = i;
            c->config.requested |= ACL_PROF_AICORE_METRICS;
            return true;
        }
    }
    if (text[0] != '\0') {
        return ap__bad(key->name, text,
                       "it must be a set of counters such as PipeUtilization, Memory or MemoryUB; "
                       "lists of events (Custom:) are not supported");
    }
    return true;
}

static bool ap__set_output(ap__command_config *c, const ap__key *key, const char *text)
{
    char reason[AP_PATH_REASON_SIZE];

    if (text[0] == '\0') {
        return true;
    }
    return ap__path_resolve(text, strlen(text), c->settings.path, reason) ||
           ap__bad(key->name, text, reason);
}

static bool ap__set_setting(ap__command_config *c, const ap__key *key, const char *text)
{
    if (text[0] == '\0' || strcmp(text, "off") == 0) {
        return true;
    }
    return ap__settings_set(&c->settings, ap__api, (int)key->value, text, strlen(text)) ==
           ACL_SUCCESS;
}

/* "0,1,3"; another word, such as "all", leaves the choice to what the program sets. */
static bool ap__set_devices(ap__command_config *c, const char *text)
{
    while (*text != '\0') {
        char *end = NULL;
        unsigned long device = strtoul(text, &end, 10);

        if (end == text || device >= AP_MAX_DEVICES) {
            c->config.device_count = 0;
            return true;
        }
        if (c->config.device_count < AP_MAX_DEVICES) {
            c->config.devices[c->config.device_count++] = (uint32_t)device;
        }
        text = *end == ',' ? end + 1 : end;
    }
    return true;
}

static bool ap__set_domains(char out[AP_DOMAINS_TEXT_MAX + 1], const ap__key *key, const char *text)
{
    size_t length = strlen(text);

    if (length > AP_DOMAINS_TEXT_MAX) {
        return ap__bad(key->name, "(text)", "it must be at most 1024 bytes");
    }
    memcpy(out, text, length + 1);
    return true;
}

static bool ap__take(ap__command_config *c, const ap__key *key, const cJSON *item)
{
    char number[32];
    const char *text = ap__text(item, number);

    if (text == NULL) {
        return ap__bad(key->name, "?", "it must be a text or a whole number");
    }
    switch (key->kind) {
    case AP_KEY_SWITCH:
        c->on = strcmp(text, "on") == 0;
        return true;
    case AP_KEY_OUTPUT:
        return ap__set_output(c, key, text);
    case AP_KEY_METRICS:
        return ap__set_metrics(c, key, text);
    case AP_KEY_BIT:
        return ap__set_bit(c, key, text);
    case AP_KEY_LEVEL:
        return ap__set_level(c, key, text);
    case AP_KEY_SETTING:
        return ap__set_setting(c, key, text);
    case AP_KEY_DEVICES:
        return ap__set_devices(c, text);
    case AP_KEY_INCLUDE:
        return ap__set_domains(c->mstx_include, key, text);
    case AP_KEY_EXCLUDE:
        return ap__set_domains(c->mstx_exclude, key, text);
    default:
        return true;
    }
}

/* ---- the whole ---- */

static const ap__key *ap__find(const ap__key *keys, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(keys[i].name, name) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

static bool ap__take_all(ap__command_source source, const cJSON *root, ap__command_config *out)
{
    bool sample = source == AP_COMMAND_SAMPLE;
    const ap__key *keys = sample ? ap__sample_keys : ap__file_keys;
    size_t count = sample ? sizeof(ap__sample_keys) / sizeof(ap__sample_keys[0])
                          : sizeof(ap__file_keys) / sizeof(ap__file_keys[0]);
    const cJSON *item = NULL;

    cJSON_ArrayForEach(item, root)
    {
        const ap__key *key = ap__find(keys, count, item->string);

        if (key == NULL && !sample) {
            return ap__bad("profiler", item->string, "there is no such key; remove it");
        }
        if (key != NULL && !ap__take(out, key, item)) {
            return false;
        }
    }
    return true;
}

bool ap__command_parse(ap__command_source source, const char *json, size_t length,
                       ap__command_config *out)
{
    cJSON *root = ap__json_parse(json, length);
    bool ok = false;

    memset(out, 0, sizeof(*out));
    out->on = source != AP_COMMAND_ACL_JSON;
    out->config.metrics = ACL_AICORE_NONE;
    if (source != AP_COMMAND_SAMPLE) {
        out->config.requested =
            ACL_PROF_ACL_API | ACL_PROF_RUNTIME_API | ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS;
        out->config.metrics = ACL_AICORE_PIPE_UTILIZATION;
    }
    if (!cJSON_IsObject(root)) {
        (void)ap__bad("profiler", length != 0 && length < 64 ? "(not JSON)" : "(text)",
                      "it is not a JSON object");
    } else {
        ok = ap__take_all(source, root, out);
    }
    cJSON_Delete(root);
    out->config.data_types = ap__bits_expand(out->config.requested);
    return ok;
}
