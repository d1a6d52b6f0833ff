/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime and its kin ask of and tell the profiler beside their records. */
#include "aclprof_reporter.h"

#include <errno.h>
#include <string.h>

#include "api/step_mark.h"
#include "reporter/modules.h"
#include "reporter/report.h"
#include "reporter/sinks.h"
#include "reporter/vendor.h"
#include "session/command.h"
#include "session/devices.h"
#include "session/now.h"
#include "session/session.h"
#include "session/set_device.h"

REPORTER_API int32_t MsprofRegisterCallback(uint32_t moduleId, MsprofCtrlCallback callback)
{
    int32_t (*next)(uint32_t, MsprofCtrlCallback) = NULL;
    int saved = errno;
    int32_t rc = MSPROF_FAILED;
    ap__hop hop;

    if (callback != NULL) {
        rc = ap__modules_register(moduleId, callback) ? MSPROF_OK : MSPROF_FAILED;
        *(void **)&next = ap__hop_begin(&hop, AP_VENDOR_REGISTER);
        if (next != NULL) {
            (void)next(moduleId, callback);
            ap__hop_end(&hop);
        }
    }
    errno = saved;
    return rc;
}

REPORTER_API int32_t profSetProfCommand(void *command, uint32_t len)
{
    MsprofCommandHandle handle;

    if (command == NULL || len != sizeof(handle)) {
        return MSPROF_FAILED;
    }
    memcpy(&handle, command, sizeof(handle));
    ap__modules_tell(&handle);
    return MSPROF_OK;
}

REPORTER_API int32_t MsprofNotifySetDevice(uint32_t chipId, uint32_t deviceId, bool isOpen)
{
    int32_t (*next)(uint32_t, uint32_t, bool) = NULL;
    int saved = errno;
    bool again = ap__hop_again(AP_VENDOR_SET_DEVICE);
    ap__hop hop;

    if (deviceId >= 64) {
        return MSPROF_FAILED;
    }
    *(void **)&next = ap__hop_begin(&hop, AP_VENDOR_SET_DEVICE);
    if (next != NULL) {
        (void)next(chipId, deviceId, isOpen);
        ap__hop_end(&hop);
    }
    if (!again) {
        ap__sink_tell_device(chipId, deviceId, isOpen);
        ap__session_device_set(deviceId, isOpen);
    }
    errno = saved;
    return MSPROF_OK;
}

REPORTER_API int32_t MsprofRegisterProfileCallback(int32_t type, void *callback, uint32_t len)
{
    uint32_t devices[64];
    uint32_t count = 0;
    uint64_t set = 0;

    (void)len;
    if (!ap__sink_set(type, callback)) {
        return MSPROF_FAILED;
    }
    if (type == AP_SINK_SET_DEVICE && callback != NULL) {
        count = ap__device_active(devices, 64);
        for (uint32_t i = 0; i < count; i++) {
            set |= 1ull << devices[i];
        }
        ap__sink_tell_set_devices(set);
    }
    return MSPROF_OK;
}

REPORTER_API int32_t profRegDeviceStateCallback(int32_t (*callback)(ProfSetDevPara *, uint32_t))
{
    return MsprofRegisterProfileCallback(AP_SINK_SET_DEVICE, *(void **)&callback,
                                         (uint32_t)sizeof(callback));
}

/* ---- sessions of a configuration ---- */

static int32_t ap__init(uint32_t type, const void *data, uint32_t len)
{
    const MsprofGeOptions *options = data;

    switch (type) {
    case MSPROF_INIT_ENV:
    case MSPROF_INIT_ACL_JSON:
        if (data == NULL || len == 0) {
            return MSPROF_FAILED;
        }
        return ap__command_init(type == MSPROF_INIT_ENV ? AP_COMMAND_SAMPLE : AP_COMMAND_ACL_JSON,
                                data, strnlen(data, len));
    case MSPROF_INIT_GE_OPTIONS:
        if (data == NULL || len != sizeof(*options)) {
            return MSPROF_FAILED;
        }
        return ap__command_init(AP_COMMAND_GE_OPTIONS, options->options,
                                strnlen(options->options, sizeof(options->options)));
    case MSPROF_INIT_FINALIZE:
        return ap__command_finalize();
    case MSPROF_INIT_HELPER:
    case MSPROF_INIT_PURE_CPU:
    case MSPROF_INIT_AICPU:
    case MSPROF_INIT_DYNAMIC:
        return MSPROF_OK;
    default:
        return MSPROF_FAILED;
    }
}

REPORTER_API int32_t MsprofInit(uint32_t dataType, void *data, uint32_t len)
{
    int32_t (*next)(uint32_t, void *, uint32_t) = NULL;
    int saved = errno;
    int32_t rc = 0;
    ap__hop hop;

    *(void **)&next = ap__hop_begin(&hop, AP_VENDOR_INIT);
    if (next != NULL) {
        rc = next(dataType, data, len);
        ap__hop_end(&hop);
    } else {
        rc = ap__init(dataType, data, len);
    }
    errno = saved;
    return rc;
}

REPORTER_API int32_t MsprofFinalize(void)
{
    int32_t (*next)(void) = NULL;
    int saved = errno;
    int32_t rc = 0;
    ap__hop hop;

    *(void **)&next = ap__hop_begin(&hop, AP_VENDOR_FINALIZE);
    if (next != NULL) {
        rc = next();
        ap__hop_end(&hop);
    } else {
        rc = ap__command_finalize();
    }
    errno = saved;
    return rc;
}

static int32_t ap__next_only(ap__vendor_call call, uint32_t type, const void *data, uint32_t len)
{
    int32_t (*next)(uint32_t, const void *, uint32_t) = NULL;
    int saved = errno;
    int32_t rc = MSPROF_FAILED;
    ap__hop hop;

    *(void **)&next = ap__hop_begin(&hop, call);
    if (next != NULL) {
        rc = next(type, data, len);
        ap__hop_end(&hop);
    }
    errno = saved;
    return rc;
}

REPORTER_API int32_t MsprofStart(uint32_t dataType, const void *data, uint32_t len)
{
    return ap__next_only(AP_VENDOR_START, dataType, data, len);
}

REPORTER_API int32_t MsprofStop(uint32_t dataType, const void *data, uint32_t len)
{
    return ap__next_only(AP_VENDOR_STOP, dataType, data, len);
}

REPORTER_API int32_t MsprofSetConfig(uint32_t configType, const char *config, size_t configLength)
{
    int saved = errno;
    int32_t rc = ap__session_set_config((int)configType, config, configLength);

    errno = saved;
    return rc;
}

/* ---- questions ---- */

REPORTER_API char *MsprofGetPath(void)
{
    return (char *)(uintptr_t)ap__now_path();
}

REPORTER_API bool MsprofCheckOpSwitch(uint32_t type, const char *op, size_t length)
{
    return type == 0 && op != NULL && length != 0 && ap__now_op_wanted(op, length);
}

REPORTER_API int32_t AdprofCheckFeatureIsOn(uint64_t feature)
{
    return feature != 0 && (ap__now_data_types() & feature) == feature;
}

REPORTER_API int32_t profSetStepInfo(uint64_t indexId, uint16_t tag, void *stream)
{
    int saved = errno;
    int32_t rc = ap__step_mark(indexId, tag, stream) ? MSPROF_OK : MSPROF_FAILED;

    errno = saved;
    return rc;
}
