/* SPDX-License-Identifier: Apache-2.0 */
/* The layer below the vendor's libmsprofiler.so: where that library binds to us, its front ends work
 * on our session. They pass their configs as they are, not handles of ours. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "aclprof_ext.h"
#include "aclprof_reporter.h"
#include "reporter/vendor.h"
#include "session/capability.h"
#include "session/config_check.h"
#include "session/devices.h"
#include "session/errtext.h"
#include "session/registry.h"
#include "session/session.h"
#include "subscribe/subscribe.h"

_Static_assert(AP_MAX_DEVICES == PROF_ACL_HOST, "the host comes behind the devices");

/* ---- configs ---- */

static aclError ap__no_memory(const char *api)
{
    return ap__fail(ACL_ERROR_BAD_ALLOC, AP_EK_MEMORY, api,
                    "Failed to allocate host memory for Profiling.");
}

/* Without the host, which every list has. */
static aclError ap__fill(const char *api, const ProfAclConfig *raw, ap__config *out)
{
    uint32_t devices[PROF_ACL_HOST + 1];
    uint32_t count = 0;

    if (raw->devNums > PROF_ACL_HOST + 1) {
        return ap__fail(ACL_ERROR_INVALID_PARAM, AP_EK_BAD_VALUE, api,
                        "Value [%u] for parameter deviceNums is invalid. Reason: it must be 0 to "
                        "65, with the host.",
                        (unsigned)raw->devNums);
    }
    for (uint32_t i = 0; i < raw->devNums; i++) {
        if (raw->devIdList[i] != PROF_ACL_HOST) {
            devices[count++] = raw->devIdList[i];
        }
    }
    if (count != 0) {
        ap__devices_load();
    }
    *out = (ap__config){.metrics = raw->aicoreMetrics,
                        .requested = raw->dataTypeConfig,
                        .data_types = ap__bits_expand(raw->dataTypeConfig)};
    return raw->dataTypeConfig == 0 ? ap__config_check_bits(api, out)
                                    : ap__config_set_devices(api, out, devices, count);
}

/* The call with a handle for the time that it takes. */
static int32_t ap__with_config(const char *api, const void *raw,
                               aclError (*call)(const aclprofConfig *config))
{
    int saved = errno;
    aclprofConfig *handle = NULL;
    aclError code = ACL_SUCCESS;
    ProfAclConfig copy;
    ap__config config;

    if (raw == NULL || ap__registry_is_handle(raw)) { /* made by our aclprofCreateConfig */
        code = call(raw);
        errno = saved;
        return code;
    }
    memcpy(&copy, raw, sizeof(copy));
    code = ap__fill(api, &copy, &config);
    if (code == ACL_SUCCESS) {
        handle = ap__registry_add(&config);
        code = handle != NULL ? call(handle) : ap__no_memory(api);
    }
    if (handle != NULL) {
        (void)ap__registry_remove(handle);
    }
    errno = saved;
    return code;
}

/* ---- control ---- */

REPORTER_API int32_t ProfAclInit(uint32_t type, const char *path, uint32_t length)
{
    int saved = errno;
    aclError code = ap__session_init(path, length);

    (void)type;
    errno = saved;
    return code;
}

REPORTER_API int32_t ProfAclFinalize(uint32_t type)
{
    int saved = errno;
    aclError code = ap__session_finalize();

    (void)type;
    errno = saved;
    return code;
}

REPORTER_API int32_t ProfAclStart(uint32_t type, const void *config)
{
    (void)type;
    return ap__with_config("aclprofStart", config, ap__session_start);
}

REPORTER_API int32_t ProfAclStop(uint32_t type, const void *config)
{
    (void)type;
    return ap__with_config("aclprofStop", config, ap__session_stop);
}

REPORTER_API int32_t ProfAclWarmup(uint32_t type, const void *config)
{
    (void)type;
    return ap__with_config("aclprofWarmup", config, ap__session_warmup);
}

REPORTER_API int32_t ProfAclSetConfig(uint32_t configType, const char *config, size_t configLength)
{
    return MsprofSetConfig(configType, config, configLength);
}

REPORTER_API int32_t ProfAclDrvGetDevNum(void)
{
    int saved = errno;
    int32_t count = 0;

    ap__devices_load();
    count = ap__device_count();
    errno = saved;
    return count > 0 ? count : 0;
}

REPORTER_API int32_t ProfAclRegisterDeviceCallback(void)
{
    return aclprofRegisterDeviceCallback();
}

REPORTER_API int32_t ProfAclGetCompatibleFeatures(size_t *featuresSize, void **featuresData)
{
    return aclprofGetSupportedFeatures(featuresSize, featuresData);
}

REPORTER_API int32_t ProfAclGetCompatibleFeaturesV2(size_t *featuresSize, void **featuresData)
{
    return aclprofGetSupportedFeaturesV2(featuresSize, featuresData);
}

/* ---- subscriptions ---- */

REPORTER_API int32_t ProfAclSubscribe(uint32_t type, uint32_t modelId, const void *config)
{
    int saved = errno;
    ProfAclSubscribeConfig raw;
    ap__subscribe_settings settings;
    aclprofSubscribeConfig *handle = NULL;
    aclError code = ACL_SUCCESS;

    (void)type;
    if (config == NULL || ap__subscribe_config_is_handle(config)) {
        code = aclprofModelSubscribe(modelId, config);
    } else {
        memcpy(&raw, config, sizeof(raw));
        settings = (ap__subscribe_settings){
            .times = raw.timeInfo != 0, .metrics = raw.aicoreMetrics, .fd = raw.fd};
        if (raw.fd == NULL) {
            code = ap__fail_null("aclprofModelSubscribe", "profSubscribeConfig->fd");
        } else {
            handle = ap__subscribe_config_add(&settings);
            code = handle != NULL ? ap__session_subscribe(modelId, handle)
                                  : ap__no_memory("aclprofModelSubscribe");
        }
    }
    if (handle != NULL) {
        (void)ap__subscribe_config_remove(handle);
    }
    errno = saved;
    return code;
}

REPORTER_API int32_t ProfAclUnSubscribe(uint32_t type, uint32_t modelId)
{
    (void)type;
    return aclprofModelUnSubscribe(modelId);
}

/* What these read of a record is said by numbers that were never published. The vendor's own, if it
 * is behind us, reads our records, too: they are laid out alike. Integers and pointers go on as they
 * came, whatever they mean. */
typedef uint64_t (*ap__read_fn)(uintptr_t what, const void *info, uintptr_t length,
                                uintptr_t index, uintptr_t more, uintptr_t last);

static bool ap__read_on(ap__vendor_call call, const char *api, uintptr_t what, const void *info,
                        uintptr_t length, uintptr_t index, uintptr_t more, uintptr_t last,
                        uint64_t *out)
{
    ap__read_fn fn = NULL;
    ap__hop hop;

    *(void **)&fn = ap__hop_begin(&hop, call);
    if (fn == NULL) {
        (void)ap__fail(ACL_ERROR_FEATURE_UNSUPPORTED, AP_EK_NO_API, api,
                       "What is asked for is not known to this library in this form. Use the "
                       "aclprofGetOp* functions of libacl_prof.so.");
        return false;
    }
    *out = fn(what, info, length, index, more, last);
    ap__hop_end(&hop);
    return true;
}

REPORTER_API uint64_t ProfAclGetOpTime(uint32_t type, const void *opInfo, size_t opInfoLen,
                                       uint32_t index)
{
    uint64_t out = 0;

    return ap__read_on(AP_VENDOR_OP_TIME, "ProfAclGetOpTime", type, opInfo, opInfoLen, index, 0, 0,
                       &out)
               ? out
               : 0;
}

REPORTER_API size_t ProfAclGetId(uint32_t type, const void *opInfo, size_t opInfoLen,
                                 uint32_t index)
{
    uint64_t out = 0;

    return ap__read_on(AP_VENDOR_OP_ID, "ProfAclGetId", type, opInfo, opInfoLen, index, 0, 0, &out)
               ? out
               : 0;
}

REPORTER_API int32_t ProfAclGetOpVal(uint32_t type, const void *opInfo, size_t opInfoLen,
                                     uint32_t index, void *data, size_t length)
{
    uint64_t out = 0;

    return ap__read_on(AP_VENDOR_OP_VALUE, "ProfAclGetOpVal", type, opInfo, opInfoLen, index,
                       (uintptr_t)data, length, &out)
               ? (int32_t)(uint32_t)out
               : ACL_ERROR_FEATURE_UNSUPPORTED;
}

REPORTER_API const char *ProfAclGetOpAttriVal(uint32_t type, const void *opInfo, size_t opInfoLen,
                                              uint32_t index, uint32_t attri)
{
    uint64_t out = 0;

    return ap__read_on(AP_VENDOR_OP_ATTRIBUTE, "ProfAclGetOpAttriVal", type, opInfo, opInfoLen,
                       index, attri, 0, &out)
               ? (const char *)(uintptr_t)out
               : NULL;
}

/* ---- stamps ---- */

REPORTER_API void *ProfAclCreateStamp(void)
{
    return aclprofCreateStamp();
}

REPORTER_API void ProfAclDestroyStamp(void *stamp)
{
    aclprofDestroyStamp(stamp);
}

REPORTER_API int32_t ProfAclPush(void *stamp)
{
    return aclprofPush(stamp);
}

REPORTER_API int32_t ProfAclPop(void)
{
    return aclprofPop();
}

REPORTER_API int32_t ProfAclRangeStart(void *stamp, uint32_t *rangeId)
{
    return aclprofRangeStart(stamp, rangeId);
}

REPORTER_API int32_t ProfAclRangeStop(uint32_t rangeId)
{
    return aclprofRangeStop(rangeId);
}

REPORTER_API int32_t ProfAclMark(void *stamp)
{
    return aclprofMark(stamp);
}

REPORTER_API int32_t ProfAclMarkEx(const char *msg, size_t msgLen, void *stream)
{
    return aclprofMarkEx(msg, msgLen, stream);
}

REPORTER_API int32_t ProfAclSetStampTraceMessage(void *stamp, const char *msg, uint32_t msgLen)
{
    return aclprofSetStampTraceMessage(stamp, msg, msgLen);
}

REPORTER_API int32_t ProfAclSetCategoryName(uint32_t category, const char *categoryName)
{
    return aclprofSetCategoryName(category, categoryName);
}

REPORTER_API int32_t ProfAclSetStampCategory(void *stamp, uint32_t category)
{
    return aclprofSetStampCategory(stamp, category);
}

REPORTER_API int32_t ProfAclSetStampPayload(void *stamp, int32_t type, void *value)
{
    return aclprofSetStampPayload(stamp, type, value);
}

REPORTER_API int32_t ProfAclRangePushEx(void *attr)
{
    return aclprofRangePushEx(attr);
}

REPORTER_API int32_t ProfAclRangePop(void)
{
    return aclprofRangePop();
}
