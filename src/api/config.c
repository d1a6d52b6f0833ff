/* SPDX-License-Identifier: Apache-2.0 */
/* Configs and settings. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "acl/acl_prof.h"
#include "session/capability.h"
#include "session/devices.h"
#include "session/errtext.h"
#include "session/registry.h"
#include "session/session.h"

static const char ap__create[] = "aclprofCreateConfig";

/* 0, or the code of the failure, which aclprofCreateConfig itself cannot return. */
static aclError ap__bad_number(const char *param, uint32_t value, const char *reason)
{
    char text[16];
    int n = snprintf(text, sizeof(text), "%" PRIu32, value);

    return ap__fail_value(ACL_ERROR_INVALID_PARAM, ap__create, param, text, (size_t)n, "%s",
                          reason);
}

static aclError ap__check_count(uint32_t nums, int32_t count)
{
    char reason[96];

    if (count < 0) {
        return ap__fail(ACL_ERROR_INVALID_PARAM, AP_EK_BAD_VALUE, ap__create,
                        "Value [%" PRIu32 "] for parameter deviceNums is invalid. Reason: no "
                        "Ascend driver was found, so that there are no devices (%s); pass "
                        "deviceNums 0 and ACL_PROF_MSPROFTX (0x80) in dataTypeConfig to capture "
                        "the host alone, or set ACLPROF_DRIVER=sim in the environment to use the "
                        "simulated NPU.",
                        nums, ap__devices_why_none());
    }
    if (nums > (uint32_t)count) {
        (void)snprintf(reason, sizeof(reason), "the driver reports %" PRId32 " devices", count);
        return ap__bad_number("deviceNums", nums, reason);
    }
    return ACL_SUCCESS;
}

static aclError ap__check_devices(const ap__config *config)
{
    int32_t count = ap__device_count();
    aclError code = ap__check_count(config->device_count, count);
    uint64_t seen = 0;
    char reason[96];

    for (uint32_t i = 0; i < config->device_count && code == ACL_SUCCESS; i++) {
        uint32_t last = count < (int32_t)AP_MAX_DEVICES ? (uint32_t)count - 1 : AP_MAX_DEVICES - 1;
        uint32_t device = config->devices[i];

        if (device > last) {
            (void)snprintf(reason, sizeof(reason), "the devices are 0 to %" PRIu32, last);
            code = ap__bad_number("deviceIdList", device, reason);
        } else if ((seen & 1ull << device) != 0) {
            code = ap__bad_number("deviceIdList", device,
                                  "the device is in the list twice; name it once");
        } else {
            seen |= 1ull << device;
        }
    }
    return code;
}

/* In the vendor's order. The devices are copied before they are looked at. */
static aclError ap__fill(ap__config *config, const uint32_t *devices, uint32_t nums,
                         const aclprofAicoreEvents *events)
{
    char text[24];
    int n = 0;

    if (nums != 0 && devices == NULL) {
        return ap__fail_null(ap__create, "deviceIdList");
    }
    if (events != NULL) {
        return ap__fail_value(ACL_ERROR_INVALID_PARAM, ap__create, "aicoreEvents", "not NULL", 8,
                              "there are no events to choose; pass NULL");
    }
    if (nums > AP_MAX_DEVICES) {
        return ap__bad_number("deviceNums", nums, "it must be 0 to 64");
    }
    if (nums != 0) {
        config->device_count = nums;
        memcpy(config->devices, devices, nums * sizeof(*devices));
        return ap__check_devices(config);
    }
    if ((config->requested & ACL_PROF_MSPROFTX) == 0) {
        n = snprintf(text, sizeof(text), "0x%" PRIx64, config->requested);
        return ap__fail_value(ACL_ERROR_INVALID_PARAM, ap__create, "dataTypeConfig", text,
                              (size_t)n,
                              "with deviceNums 0 only ACL_PROF_MSPROFTX (0x80) can be captured; "
                              "add that bit or name devices");
    }
    return ACL_SUCCESS;
}

ACL_FUNC_VISIBILITY aclprofConfig *aclprofCreateConfig(uint32_t *deviceIdList, uint32_t deviceNums,
                                                       aclprofAicoreMetrics aicoreMetrics,
                                                       const aclprofAicoreEvents *aicoreEvents,
                                                       uint64_t dataTypeConfig)
{
    int saved = errno;
    aclprofConfig *handle = NULL;
    ap__config config = {
        .metrics = (int32_t)aicoreMetrics,
        .requested = dataTypeConfig,
        .data_types = ap__bits_expand(dataTypeConfig),
    };

    if (deviceNums != 0) {
        ap__devices_load();
    }
    if (ap__fill(&config, deviceIdList, deviceNums, aicoreEvents) == ACL_SUCCESS) {
        handle = ap__registry_add(&config);
        if (handle == NULL) {
            (void)ap__fail(ACL_ERROR_BAD_ALLOC, AP_EK_MEMORY, ap__create,
                           "Failed to allocate %zu bytes of host memory for Profiling. Destroy "
                           "configs that are not needed.",
                           sizeof(config));
        }
    }
    errno = saved;
    return handle;
}

ACL_FUNC_VISIBILITY aclError aclprofDestroyConfig(const aclprofConfig *profilerConfig)
{
    static const char api[] = "aclprofDestroyConfig";
    int saved = errno;
    aclError code = ACL_SUCCESS;
    char text[24];
    int n = 0;

    if (profilerConfig == NULL) {
        code = ap__fail_null(api, "profilerConfig");
    } else if (!ap__registry_remove(profilerConfig)) {
        n = snprintf(text, sizeof(text), "0x%" PRIxPTR, (uintptr_t)profilerConfig);
        code = ap__fail_value(ACL_ERROR_INVALID_PARAM, api, "profilerConfig", text, (size_t)n, "%s",
                              ap__registry_was_destroyed(profilerConfig)
                                  ? "the config has been destroyed already; destroy it once"
                                  : "aclprofCreateConfig has not made it; pass what "
                                    "aclprofCreateConfig returned");
    }
    errno = saved;
    return code;
}

ACL_FUNC_VISIBILITY aclError aclprofSetConfig(aclprofConfigType configType, const char *config,
                                              size_t configLength)
{
    int saved = errno;
    aclError code = ap__session_set_config((int)configType, config, configLength);

    errno = saved;
    return code;
}
