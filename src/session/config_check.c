/* SPDX-License-Identifier: Apache-2.0 */
#include "session/config_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "session/capability.h"
#include "session/devices.h"
#include "session/errtext.h"

#define AP_CHIP_310B 7

aclError ap__config_load(const char *api, const aclprofConfig *handle, ap__config *out)
{
    char text[24];
    int n = 0;

    if (handle == NULL) {
        return ap__fail_null(api, "profilerConfig");
    }
    if (ap__registry_get(handle, out)) {
        return ACL_SUCCESS;
    }
    n = snprintf(text, sizeof(text), "0x%" PRIxPTR, (uintptr_t)handle);
    return ap__fail_value(ACL_ERROR_INVALID_PARAM, api, "profilerConfig", text, (size_t)n,
                          ap__registry_was_destroyed(handle)
                              ? "the config has been destroyed; make a new one with "
                                "aclprofCreateConfig"
                              : "aclprofCreateConfig has not made it; pass what "
                                "aclprofCreateConfig returned");
}

aclError ap__config_default(const char *api, ap__config *out)
{
    uint32_t devices[AP_MAX_DEVICES];
    uint32_t active = 0;

    *out = (ap__config){
        .metrics = ACL_AICORE_PIPE_UTILIZATION,
        .requested =
            ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L0 | ACL_PROF_AICORE_METRICS,
    };
    out->data_types = out->requested | AP_AICPU_MODEL;
    active = ap__device_active(devices, AP_MAX_DEVICES);
    for (uint32_t i = 0; i < active; i++) {
        if (devices[i] < AP_MAX_DEVICES) {
            out->devices[out->device_count++] = devices[i];
        }
    }
    if (out->device_count == 0) {
        return ap__fail_value(ACL_ERROR_INVALID_PARAM, api, "profilerConfig", "NULL", 4,
                              "NULL captures all devices that the process has set, and it has set "
                              "none; pass a config of aclprofCreateConfig");
    }
    if (ap__device_chip(out->devices[0]) == AP_CHIP_310B) {
        out->metrics = ACL_AICORE_PIPE_EXECUTE_UTILIZATION;
    }
    return ACL_SUCCESS;
}

/* ---- devices ---- */

static aclError ap__bad_number(const char *api, const char *param, uint32_t value,
                               const char *reason)
{
    char text[16];
    int n = snprintf(text, sizeof(text), "%" PRIu32, value);

    return ap__fail_value(ACL_ERROR_INVALID_PARAM, api, param, text, (size_t)n, "%s", reason);
}

static aclError ap__check_count(const char *api, uint32_t nums, int32_t count)
{
    char reason[96];

    if (count < 0) {
        return ap__fail(ACL_ERROR_INVALID_PARAM, AP_EK_BAD_VALUE, api,
                        "Value [%" PRIu32 "] for parameter deviceNums is invalid. Reason: no "
                        "Ascend driver was found, so that there are no devices (%s); pass "
                        "deviceNums 0 and ACL_PROF_MSPROFTX (0x80) in dataTypeConfig to capture "
                        "the host alone, or set ACLPROF_DRIVER=sim in the environment to use the "
                        "simulated NPU.",
                        nums, ap__devices_why_none());
    }
    if (nums > (uint32_t)count) {
        (void)snprintf(reason, sizeof(reason), "the driver reports %" PRId32 " devices", count);
        return ap__bad_number(api, "deviceNums", nums, reason);
    }
    return ACL_SUCCESS;
}

static aclError ap__check_devices(const char *api, const ap__config *config)
{
    int32_t count = ap__device_count();
    aclError code = ap__check_count(api, config->device_count, count);
    uint64_t seen = 0;
    char reason[96];

    for (uint32_t i = 0; i < config->device_count && code == ACL_SUCCESS; i++) {
        uint32_t last = count < (int32_t)AP_MAX_DEVICES ? (uint32_t)count - 1 : AP_MAX_DEVICES - 1;
        uint32_t device = config->devices[i];

        if (device > last) {
            (void)snprintf(reason, sizeof(reason), "the devices are 0 to %" PRIu32, last);
            code = ap__bad_number(api, "deviceIdList", device, reason);
        } else if ((seen & 1ull << device) != 0) {
            code = ap__bad_number(api, "deviceIdList", device,
                                  "the device is in the list twice; name it once");
        } else {
            seen |= 1ull << device;
        }
    }
    return code;
}

aclError ap__config_set_devices(const char *api, ap__config *config, const uint32_t *devices,
                                uint32_t nums)
{
    char text[24];
    int n = 0;

    if (nums > AP_MAX_DEVICES) {
        return ap__bad_number(api, "deviceNums", nums, "it must be 0 to 64");
    }
    if (nums != 0) {
        config->device_count = nums;
        memcpy(config->devices, devices, nums * sizeof(*devices));
        return ap__check_devices(api, config);
    }
    if ((config->requested & ACL_PROF_MSPROFTX) == 0) {
        n = snprintf(text, sizeof(text), "0x%" PRIx64, config->requested);
        return ap__fail_value(ACL_ERROR_INVALID_PARAM, api, "dataTypeConfig", text, (size_t)n,
                              "with deviceNums 0 only ACL_PROF_MSPROFTX (0x80) can be captured; "
                              "add that bit or name devices");
    }
    return ACL_SUCCESS;
}

/* ---- mask and metrics ---- */

aclError ap__config_check_bits(const char *api, const ap__config *config)
{
    uint64_t unknown = config->requested & ~AP_KNOWN_BITS;
    char text[24];
    int n = snprintf(text, sizeof(text), "0x%" PRIx64, config->requested);

    if (config->requested == 0) {
        return ap__fail_value(ACL_ERROR_INVALID_PARAM, api, "dataTypeConfig", "0", 1,
                              "it must have at least one ACL_PROF_* bit, such as "
                              "ACL_PROF_MSPROFTX 0x80; set it with aclprofCreateConfig");
    }
    if (unknown != 0) {
        return ap__fail_value(ACL_ERROR_PROF_MODULES_UNSUPPORTED, api, "dataTypeConfig", text,
                              (size_t)n,
                              "it has the unknown bits 0x%" PRIx64 ", allowed is what lies within "
                              "0x%" PRIx64 " (ACL_PROF_*); make a config without them",
                              unknown, (uint64_t)(AP_KNOWN_BITS & ~AP_AICPU_MODEL));
    }
    return ACL_SUCCESS;
}

static aclError ap__bad_metrics(const char *api, int32_t metrics, const char *reason)
{
    char text[16];
    int n = snprintf(text, sizeof(text), "%" PRId32, metrics);

    return ap__fail_value(ACL_ERROR_INVALID_PARAM, api, "aicoreMetrics", text, (size_t)n, "%s",
                          reason);
}

aclError ap__config_check_metrics(const char *api, const ap__config *config)
{
    if (ap__metric_known(config->metrics)) {
        return ACL_SUCCESS;
    }
    return ap__bad_metrics(api, config->metrics,
                           "it must be one of aclprofAicoreMetrics: 0 to 8, or 255 "
                           "(ACL_AICORE_NONE) for none");
}

static aclError ap__check_chip(const char *api, const ap__config *config, uint32_t device)
{
    int32_t chip = ap__device_chip(device);
    uint64_t lacking = ap__bits_lacking(config->data_types, chip);
    char reason[128];

    if (lacking != 0) {
        return ap__fail(ACL_ERROR_PROFILING_FAILURE, AP_EK_NO_API, api,
                        "The current system or device does not support the bits 0x%" PRIx64
                        " of dataTypeConfig. Reason: device %" PRIu32 " (chip %" PRId32
                        ") does not have them; make a config without them.",
                        lacking, device, chip);
    }
    if ((config->data_types & ACL_PROF_AICORE_METRICS) == 0 ||
        ap__metric_on_chip(config->metrics, chip)) {
        return ACL_SUCCESS;
    }
    (void)snprintf(reason, sizeof(reason),
                   "device %" PRIu32 " (chip %" PRId32 ") does not have these counters; choose "
                   "other ones or ACL_AICORE_NONE",
                   device, chip);
    return ap__bad_metrics(api, config->metrics, reason);
}

aclError ap__config_check_chips(const char *api, const ap__config *config)
{
    aclError code = ACL_SUCCESS;

    for (uint32_t i = 0; i < config->device_count && code == ACL_SUCCESS; i++) {
        code = ap__check_chip(api, config, config->devices[i]);
    }
    return code;
}
