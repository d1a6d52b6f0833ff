/* SPDX-License-Identifier: Apache-2.0 */
#include "session/settings.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "session/arg_text.h"
#include "session/capability.h"
#include "session/errtext.h"
#include "session/path.h"
#include "session/settings_parse.h"

typedef struct ap__setting {
    const char *name;
    uint32_t max_hz; /* a frequency */
    size_t at;       /* of its field in ap__settings */
} ap__setting;

#define AP_FIELD(name) offsetof(ap__settings, name)

static const ap__setting ap__table[ACL_PROF_ARGS_MAX] = {
    [ACL_PROF_STORAGE_LIMIT] = {"ACL_PROF_STORAGE_LIMIT", 0, AP_FIELD(storage_limit_mb)},
    [ACL_PROF_SYS_HARDWARE_MEM_FREQ] = {"ACL_PROF_SYS_HARDWARE_MEM_FREQ", 100,
                                        AP_FIELD(hardware_mem_hz)},
    [ACL_PROF_LLC_MODE] = {"ACL_PROF_LLC_MODE", 0, AP_FIELD(llc_mode)},
    [ACL_PROF_SYS_IO_FREQ] = {"ACL_PROF_SYS_IO_FREQ", 100, AP_FIELD(io_hz)},
    [ACL_PROF_SYS_INTERCONNECTION_FREQ] = {"ACL_PROF_SYS_INTERCONNECTION_FREQ", 50,
                                           AP_FIELD(interconnection_hz)},
    [ACL_PROF_DVPP_FREQ] = {"ACL_PROF_DVPP_FREQ", 100, AP_FIELD(dvpp_hz)},
    [ACL_PROF_HOST_SYS] = {"ACL_PROF_HOST_SYS", 0, AP_FIELD(host_sys)},
    [ACL_PROF_HOST_SYS_USAGE] = {"ACL_PROF_HOST_SYS_USAGE", 0, AP_FIELD(host_sys_usage)},
    [ACL_PROF_HOST_SYS_USAGE_FREQ] = {"ACL_PROF_HOST_SYS_USAGE_FREQ", 50, AP_FIELD(host_usage_hz)},
    [ACL_PROF_LOW_POWER_FREQ] = {"ACL_PROF_LOW_POWER_FREQ", 100, AP_FIELD(low_power_hz)},
    [ACL_PROF_SYS_MEM_SERVICEFLOW] = {"ACL_PROF_SYS_MEM_SERVICEFLOW", 0, AP_FIELD(mem_serviceflow)},
    [ACL_PROF_SYS_CPU_FREQ] = {"ACL_PROF_SYS_CPU_FREQ", 50, AP_FIELD(cpu_hz)},
    [ACL_PROF_OPTYPE] = {"ACL_PROF_OPTYPE", 0, AP_FIELD(op_type)},
    [ACL_PROF_NTS_METRICS] = {"ACL_PROF_NTS_METRICS", 0, AP_FIELD(nts_metrics)},
    [ACL_PROF_PATH] = {"ACL_PROF_PATH", 0, AP_FIELD(path)},
};

static const char *const ap__host_words[] = {"cpu", "mem", "disk", "network", "osrt", "numa"};

static uint32_t ap__max_hz(int type)
{
    return type == ACL_PROF_SYS_HARDWARE_MEM_FREQ ? ap__hardware_mem_max_hz()
                                                  : ap__table[type].max_hz;
}

static bool ap__set_path(ap__settings *s, const char *value, size_t length, char *reason)
{
    char path[AP_PATH_MAX];

    if (length == 0) {
        (void)snprintf(reason, AP_PATH_REASON_SIZE, "it is empty; give a directory");
        return false;
    }
    if (!ap__path_resolve(value, length, path, reason)) {
        return false;
    }
    memcpy(s->path, path, sizeof(path));
    return true;
}

/* What is asked for, when the value is not it. */
static const char *ap__grammar(int type)
{
    switch (type) {
    case ACL_PROF_STORAGE_LIMIT:
        return "it must be a number of 200 to 4294967295 with the suffix MB, such as 500MB";
    case ACL_PROF_LLC_MODE:
        return "it must be read or write";
    case ACL_PROF_HOST_SYS:
        return "it must be a comma list without blanks of cpu, mem, disk, network, osrt, numa";
    case ACL_PROF_HOST_SYS_USAGE:
        return "it must be a comma list without blanks of cpu, mem";
    case ACL_PROF_SYS_MEM_SERVICEFLOW:
        return "it must name at least one service flow";
    case ACL_PROF_OPTYPE:
        return "it must be a comma list of operator types, none of them empty";
    default:
        return "it must be PipeUtilization, or Custom: and 1 to 10 comma-separated events of 0 to "
               "65535";
    }
}

/* Copies `length` bytes and a NUL; every text field that takes a whole value has room. */
static bool ap__set_text(char *field, const char *value, size_t length)
{
    memcpy(field, value, length);
    field[length] = '\0';
    return true;
}

static bool ap__set_value(ap__settings *s, int type, const char *value, size_t length)
{
    void *field = (char *)s + ap__table[type].at;
    size_t words = type == ACL_PROF_HOST_SYS ? 6 : 2;

    switch (type) {
    case ACL_PROF_STORAGE_LIMIT:
        return ap__parse_storage_mb(value, length, field);
    case ACL_PROF_LLC_MODE:
        return ((length == 4 && memcmp(value, "read", 4) == 0) ||
                (length == 5 && memcmp(value, "write", 5) == 0)) &&
               ap__set_text(field, value, length);
    case ACL_PROF_HOST_SYS:
    case ACL_PROF_HOST_SYS_USAGE:
        return ap__parse_words(value, length, ap__host_words, words, field);
    case ACL_PROF_SYS_MEM_SERVICEFLOW:
        return length != 0 && ap__set_text(field, value, length);
    case ACL_PROF_OPTYPE:
        return ap__parse_list(value, length, field);
    case ACL_PROF_NTS_METRICS:
        return ap__parse_nts(value, length) && ap__set_text(field, value, length);
    default:
        return ap__parse_hz(value, length, ap__max_hz(type), field);
    }
}

/* Arguments as such, in the vendor's order. */
static aclError ap__check_call(const char *api, int type, const char *value, size_t length)
{
    char number[24];
    int n = snprintf(number, sizeof(number), "%d", type);

    if (type <= ACL_PROF_ARGS_MIN || type >= ACL_PROF_ARGS_MAX) {
        return ap__fail_value(ACL_ERROR_INVALID_PARAM, api, "configType", number, (size_t)n,
                              "it must be one of aclprofConfigType, 1 to %d; constants cannot be "
                              "or-ed, make one call for each",
                              ACL_PROF_ARGS_MAX - 1);
    }
    if (value == NULL) {
        return ap__fail_null(api, "config");
    }
    n = snprintf(number, sizeof(number), "%zu", length);
    if (length > AP_CONFIG_TEXT_MAX) {
        return ap__fail_value(ACL_ERROR_INVALID_PARAM, api, "configLength", number, (size_t)n,
                              "it must be 0 to %u", AP_CONFIG_TEXT_MAX);
    }
    if (!ap__arg_length_fits(value, length)) {
        return ap__fail_value(ACL_ERROR_INVALID_PARAM, api, "configLength", number, (size_t)n,
                              "it is not the length of config; pass strlen(config)");
    }
    return ACL_SUCCESS;
}

static aclError ap__unsupported(const char *api, int type, aclError code)
{
    if (ap__table[type].name == NULL) {
        return ap__fail(code, AP_EK_NO_PARAM, api,
                        "Parameter configType %d is not supported. Use one of aclprofConfigType.",
                        type);
    }
    return ap__fail(code, AP_EK_NO_API, api,
                    "The current system or device does not support %s. Reason: products with it "
                    "are %s, and this machine has none of them.",
                    ap__table[type].name, ap__setting_chips(type));
}

aclError ap__settings_set(ap__settings *s, const char *api, int type, const char *value,
                          size_t length)
{
    /* the vendor's codes: another one for this setting than for all others */
    aclError bad =
        type == ACL_PROF_NTS_METRICS ? ACL_ERROR_INVALID_PARAM : ACL_ERROR_INVALID_PROFILING_CONFIG;
    aclError code = ap__check_call(api, type, value, length);
    char reason[AP_PATH_REASON_SIZE];

    if (code != ACL_SUCCESS) {
        return code;
    }
    if (!ap__setting_supported(type)) {
        return ap__unsupported(api, type, bad);
    }
    if (type == ACL_PROF_PATH) {
        return ap__set_path(s, value, length, reason)
                   ? ACL_SUCCESS
                   : ap__fail_value(bad, api, ap__table[type].name, value, length, "%s", reason);
    }
    if (ap__set_value(s, type, value, length)) {
        return ACL_SUCCESS;
    }
    if (ap__table[type].max_hz != 0) {
        return ap__fail_value(bad, api, ap__table[type].name, value, length,
                              "it must be a frequency of 1 to %u Hz, in digits only",
                              ap__max_hz(type));
    }
    return ap__fail_value(bad, api, ap__table[type].name, value, length, "%s", ap__grammar(type));
}
