/* SPDX-License-Identifier: Apache-2.0 */
/* What aclprofSetConfig has set, parsed. Plain data: a session takes a copy at Start. */
#ifndef AP_SESSION_SETTINGS_H_
#define AP_SESSION_SETTINGS_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_prof.h"

#define AP_CONFIG_TEXT_MAX 256u
#define AP_PATH_MAX 4096u

enum ap__host_sys_bits {
    AP_HOST_CPU = 1, AP_HOST_MEM = 2, AP_HOST_DISK = 4, AP_HOST_NETWORK = 8, AP_HOST_OSRT = 16,
    AP_HOST_NUMA = 32
};

typedef struct ap__settings {
    uint64_t storage_limit_mb;     /* 0: none */
    uint32_t hardware_mem_hz;      /* 0: off, as all *_hz */
    uint32_t io_hz;
    uint32_t interconnection_hz;
    uint32_t dvpp_hz;
    uint32_t host_usage_hz;
    uint32_t low_power_hz;
    uint32_t cpu_hz;
    uint32_t host_sys;             /* ap__host_sys_bits */
    uint32_t host_sys_usage;       /* ap__host_sys_bits: cpu, mem */
    char llc_mode[8];              /* "", "read", "write" */
    char mem_serviceflow[AP_CONFIG_TEXT_MAX + 1];
    char op_type[AP_CONFIG_TEXT_MAX + 1];
    char nts_metrics[AP_CONFIG_TEXT_MAX + 1];
    char path[AP_PATH_MAX];        /* ACL_PROF_PATH, absolute; "" when not set */
} ap__settings;

/* Parses one value into *s; on failure *s is unchanged and the last error tells why.
 * `api` is the name for the text.
 * ACL_ERROR_INVALID_PARAM: type out of range, NULL, wrong length, any bad value of
 * ACL_PROF_NTS_METRICS. ACL_ERROR_INVALID_PROFILING_CONFIG: bad value of another setting, no such
 * setting, or none of this machine's chips has it. Where there is no device to judge by, settings
 * of the host and those that are common to chips are taken, those of single chips
 * (LOW_POWER_FREQ, SYS_MEM_SERVICEFLOW, SYS_CPU_FREQ, OPTYPE, NTS_METRICS) are refused. */
aclError ap__settings_set(ap__settings *s, const char *api, int type, const char *value,
                          size_t length);

#endif
