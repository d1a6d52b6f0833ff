/* SPDX-License-Identifier: Apache-2.0 */
/* Configs and settings. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "acl/acl_prof.h"
#include "session/capability.h"
#include "session/config_check.h"
#include "session/devices.h"
#include "session/errtext.h"
#include "session/registry.h"
#include "session/session.h"

static const char ap__create[] = "aclprofCreateConfig";

/* In the vendor's order. */
static aclError ap__fill(ap__config *config, const uint32_t *devices, uint32_t nums,
                         const aclprofAicoreEvents *events)
{
    if (nums != 0 && devices == NULL) {
        return ap__fail_null(ap__create, "deviceIdList");
    }
    if (events != NULL) {
        return ap__fail_value(ACL_ERROR_INVALID_PARAM, ap__create, "aicoreEvents", "not NULL", 8,
                              "there are no events to choose; pass NULL");
    }
    return ap__config_set_devices(ap__create, config, devices, nums);
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
