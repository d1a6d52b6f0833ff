/* SPDX-License-Identifier: Apache-2.0 */
/* Model subscriptions and their settings. */
#include <errno.h>
#include <stdio.h>

#include "acl/acl_prof.h"
#include "aclprof_reporter.h"
#include "session/capability.h"
#include "session/errtext.h"
#include "session/fork.h"
#include "session/session.h"
#include "subscribe/subscribe.h"

static const char ap__create[] = "aclprofCreateSubscribeConfig";

static aclError ap__bad(const char *param, int value, const char *reason)
{
    char text[16];
    int n = snprintf(text, sizeof(text), "%d", value);

    return ap__fail_value(ACL_ERROR_INVALID_PARAM, ap__create, param, text, (size_t)n, "%s",
                          reason);
}

static aclError ap__check(int8_t times, int metrics, const void *fd)
{
    if (fd == NULL) {
        return ap__fail_null(ap__create, "fd");
    }
    if (times != 0 && times != 1) {
        return ap__bad("timeInfoSwitch", times, "it must be 0 or 1");
    }
    if (metrics != ACL_AICORE_NONE && (metrics < ACL_AICORE_ARITHMETIC_UTILIZATION ||
                                       metrics > ACL_AICORE_MEMORY_ACCESS)) {
        return ap__bad("aicoreMetrics", metrics,
                       "it must be one of aclprofAicoreMetrics; ACL_AICORE_NONE (255) for none");
    }
    return ACL_SUCCESS;
}

ACL_FUNC_VISIBILITY aclprofSubscribeConfig *aclprofCreateSubscribeConfig(
    int8_t timeInfoSwitch, aclprofAicoreMetrics aicoreMetrics, void *fd)
{
    int saved = errno;
    ap__subscribe_settings settings = {
        .times = timeInfoSwitch == 1, .metrics = (int32_t)aicoreMetrics, .fd = fd};
    aclprofSubscribeConfig *handle = NULL;

    if (ap__check(timeInfoSwitch, (int)aicoreMetrics, fd) == ACL_SUCCESS) {
        (void)ap__fork_install();
        handle = ap__subscribe_config_add(&settings);
        if (handle == NULL) {
            (void)ap__fail(ACL_ERROR_BAD_ALLOC, AP_EK_MEMORY, ap__create, "Memory is short.");
        }
    }
    errno = saved;
    return handle;
}

ACL_FUNC_VISIBILITY aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig *config)
{
    static const char api[] = "aclprofDestroySubscribeConfig";

    if (config == NULL) {
        return ap__fail_null(api, "profSubscribeConfig");
    }
    return ap__subscribe_config_remove(config)
               ? ACL_SUCCESS
               : ap__fail(ACL_ERROR_INVALID_PARAM, AP_EK_BAD_VALUE, api,
                          "Value [%p] for parameter profSubscribeConfig is invalid. Reason: it was "
                          "not made by aclprofCreateSubscribeConfig, or it has been destroyed.",
                          (const void *)config);
}

ACL_FUNC_VISIBILITY aclError aclprofModelSubscribe(uint32_t modelId,
                                                   const aclprofSubscribeConfig *config)
{
    int saved = errno;
    aclError code = ap__session_subscribe(modelId, config);

    errno = saved;
    return code;
}

ACL_FUNC_VISIBILITY aclError aclprofModelUnSubscribe(uint32_t modelId)
{
    int saved = errno;
    aclError code = ap__session_unsubscribe(modelId);

    errno = saved;
    return code;
}

REPORTER_API int32_t MsprofSetDeviceIdByGeModelIdx(uint32_t modelId, uint32_t deviceId)
{
    (void)ap__fork_install();
    return deviceId <= INT32_MAX && ap__subscribe_bind(modelId, deviceId) ? 0 : -1;
}

REPORTER_API int32_t MsprofUnsetDeviceIdByGeModelIdx(uint32_t modelId, uint32_t deviceId)
{
    (void)deviceId; /* a model is loaded on one */
    return ap__subscribe_unbind(modelId) ? 0 : -1;
}
