/* SPDX-License-Identifier: Apache-2.0 */
/* Start, Warmup, Stop. One capture at a time: devices join it and leave it, and it is finished
 * when the last one has left. Its host part has one mask, which therefore all of them share. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collector/channels.h"
#include "drivers/choose.h"
#include "session/config_check.h"
#include "session/devices.h"
#include "session/errtext.h"
#include "session/module_link.h"
#include "session/now.h"
#include "session/path.h"
#include "session/session.h"
#include "session/state.h"

static uint64_t ap__device_bits(const ap__config *config)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < config->device_count; i++) {
        bits |= 1ull << config->devices[i];
    }
    return bits;
}

/* Whether something that the config names runs. */
static bool ap__names_running(const ap__config *config)
{
    const ap__run *run = &ap__session.run;

    return config->device_count == 0 ? run->host_only
                                     : (ap__device_bits(config) & run->devices) != 0;
}

/* What a text calls the thing that the config and the running capture have in common. */
static void ap__name_common(const ap__config *config, char out[24])
{
    uint64_t common = ap__device_bits(config) & ap__session.run.devices;

    if (common != 0) {
        (void)snprintf(out, 24, "device %d", __builtin_ctzll(common));
    } else {
        (void)snprintf(out, 24, "the host");
    }
}

static aclError ap__other_mask(const char *api, const ap__config *config, const char *remedy)
{
    char what[24];

    ap__name_common(config, what);
    return ap__fail(ACL_ERROR_INVALID_PROFILING_CONFIG, AP_EK_BAD_CONFIG, api,
                    "Value [0x%" PRIx64 "] for dataTypeConfig of %s is invalid. Reason: %s is "
                    "captured with the mask 0x%" PRIx64 ", and that capture goes on; %s.",
                    config->data_types, what, what, ap__session.run.data_types, remedy);
}

/* ---- beginning ---- */

static aclError ap__default_path(const char *api, char root[AP_PATH_MAX])
{
    char reason[AP_PATH_REASON_SIZE];
    const char *work = ap__session_env("ASCEND_WORK_PATH");
    const char *path = work != NULL ? work : ".";

    if (ap__session.settings.path[0] != '\0') {
        memcpy(root, ap__session.settings.path, AP_PATH_MAX);
        return ACL_SUCCESS;
    }
    if (!ap__path_resolve(path, strlen(path), root, reason)) {
        return ap__fail_value(
            ACL_ERROR_INVALID_FILE, api,
            work != NULL ? "ASCEND_WORK_PATH (environment)" : "result path (the current directory)",
            path, strlen(path), "%s; or call aclprofInit with another path", reason);
    }
    return ACL_SUCCESS;
}

static bool ap__simulated(void)
{
    const ap__driver *driver = ap__driver_peek();

    return driver != NULL && driver->ops != NULL && driver->ops->simulated != 0;
}

/* Whether the chips have what the mask and the settings ask for. */
static aclError ap__check_devices(const char *api, const ap__config *config)
{
    aclError code = ap__config_check_chips(api, config);
    char text[256];

    for (uint32_t i = 0; i < config->device_count && code == ACL_SUCCESS; i++) {
        ap__channel_request request = {
            .chip = (uint32_t)ap__device_chip(config->devices[i]),
            .data_types = config->data_types,
            .metrics = config->metrics,
            .settings = &ap__session.settings,
        };

        code = ap__channel_check(&request, NULL, text, sizeof(text));
        if (code != ACL_SUCCESS) {
            (void)ap__fail(code, AP_EK_NO_API, api, "%s", text);
        }
    }
    return code;
}

static aclError ap__begin(const char *api, const ap__config *config, bool warm)
{
    ap__capture *capture = NULL;
    char root[AP_PATH_MAX];
    ap__capture_params params = {
        .api = api,
        .root = root,
        .start_number = ap__session.starts + 1,
        .data_types = config->data_types,
        .metrics = config->metrics,
        .devices = config->devices,
        .device_count = config->device_count,
        .settings = &ap__session.settings,
        .chip = AP_CHIP_NONE,
    };
    aclError code = ap__check_devices(api, config);

    if (config->device_count != 0) {
        int32_t chip = ap__device_chip(config->devices[0]);

        params.chip = chip >= 0 ? (uint32_t)chip : AP_CHIP_NONE;
        params.simulated = ap__simulated();
    }
    if (code == ACL_SUCCESS) {
        if (ap__session.inited) {
            memcpy(root, ap__session.path, sizeof(root));
        } else {
            code = ap__default_path(api, root);
        }
    }
    if (code == ACL_SUCCESS) {
        code = ap__capture_ops->open(&params, &capture);
    }
    if (code != ACL_SUCCESS) {
        return code;
    }
    memcpy(ap__session.path, root, sizeof(root));
    ap__session.inited = true;
    ap__session.starts++;
    ap__session.run = (ap__run){
        .capture = capture,
        .owner = getpid(),
        .warm = warm,
        .host_only = config->device_count == 0,
        .devices = ap__device_bits(config),
        .data_types = config->data_types,
        .metrics = config->metrics,
    };
    ap__now_set(config->data_types, ap__session.settings.op_type, ap__capture_ops->dir(capture));
    ap__capture_ops->record(capture, !warm);
    if (!warm) {
        ap__session_tell_start(&ap__session.run, ap__session.run.devices);
    }
    return ACL_SUCCESS;
}

aclError ap__session_begin(const char *api, const ap__config *config, bool warm)
{
    return ap__begin(api, config, warm);
}

void ap__session_go(void)
{
    ap__run *run = &ap__session.run;

    run->warm = false;
    ap__capture_ops->record(run->capture, true);
    ap__session_tell_start(run, run->devices);
}

/* ---- joining what runs ---- */

static aclError ap__start_warm(const char *api, const ap__config *config)
{
    ap__run *run = &ap__session.run;

    if (ap__device_bits(config) != run->devices || config->metrics != run->metrics ||
        (config->device_count == 0) != run->host_only) {
        return ap__fail(ACL_ERROR_INVALID_PROFILING_CONFIG, AP_EK_BAD_CONFIG, api,
                        "Value of profilerConfig is invalid. Reason: aclprofWarmup has prepared a "
                        "capture of other devices or metrics; pass an equal config, or call "
                        "aclprofStop first.");
    }
    ap__session_go();
    return ACL_SUCCESS;
}

/* The devices of the config that do not run yet. */
static aclError ap__add_devices(const char *api, const ap__config *config)
{
    ap__run *run = &ap__session.run;
    ap__config added = *config;
    aclError code = ACL_SUCCESS;

    added.device_count = 0;
    run->late &= ~ap__device_bits(config); /* named now */
    for (uint32_t i = 0; i < config->device_count; i++) {
        if ((run->devices & 1ull << config->devices[i]) == 0) {
            added.devices[added.device_count++] = config->devices[i];
        }
    }
    if (added.device_count != 0 && (run->data_types & ACL_PROF_AICORE_METRICS) != 0 && config->metrics != run->metrics) {
        return ap__fail(ACL_ERROR_INVALID_PROFILING_CONFIG, AP_EK_BAD_CONFIG, api,
                        "Value [%" PRId32 "] for aicoreMetrics of device %" PRIu32 " is invalid. "
                        "Reason: the running capture, which the device would join, has the "
                        "metrics %" PRId32 "; use the same or call aclprofStop first.",
                        config->metrics, added.devices[0], run->metrics);
    }
    code = ap__check_devices(api, &added);
    if (code == ACL_SUCCESS) { /* those that run try refused channels again */
        code = ap__capture_ops->add_devices(run->capture, api, config->devices,
                                            config->device_count);
    }
    if (code == ACL_SUCCESS && added.device_count != 0) {
        run->devices |= ap__device_bits(&added);
        ap__session_tell_start(run, ap__device_bits(&added));
    }
    return code;
}

static aclError ap__join(const char *api, const ap__config *config)
{
    ap__run *run = &ap__session.run;
    char what[24];
    char why[80];

    if (config->data_types != run->data_types) {
        return ap__other_mask(api, config,
                              "start with the same mask, or call aclprofStop(NULL) first");
    }
    if (run->warm) {
        return ap__start_warm(api, config);
    }
    if (ap__strict() && ap__names_running(config)) {
        ap__name_common(config, what);
        (void)snprintf(why, sizeof(why), "%s is captured already", what);
        return ap__fail_order(ACL_ERROR_PROF_ALREADY_RUN, api, "aclprofStop", why);
    }
    if (config->device_count == 0) {
        run->host_only = true;
        return ACL_SUCCESS;
    }
    return ap__add_devices(api, config);
}

/* ---- the calls ---- */

static aclError ap__ending(const char *api)
{
    return ap__fail(ACL_ERROR_PROFILING_FAILURE, AP_EK_INNER, api,
                    "The library is being unloaded, or the process ends: no capture can begin.");
}

static aclError ap__start_locked(const char *api, const aclprofConfig *handle)
{
    ap__config config;
    aclError code = ap__session_check_mode(api);

    if (code != ACL_SUCCESS) {
        return code;
    }
    if (ap__session.ending) {
        return ap__ending(api);
    }
    if (!ap__session.inited && ap__strict()) {
        return ap__fail_order(ACL_ERROR_PROF_NOT_RUN, api, "aclprofInit",
                              "the profiler is not open");
    }
    code =
        handle != NULL ? ap__config_load(api, handle, &config) : ap__config_default(api, &config);
    code = code != ACL_SUCCESS ? code : ap__config_check_bits(api, &config);
    code = code != ACL_SUCCESS ? code : ap__config_check_metrics(api, &config);
    if (code != ACL_SUCCESS) {
        return code;
    }
    return ap__session.run.capture != NULL ? ap__join(api, &config)
                                           : ap__begin(api, &config, false);
}

static aclError ap__warmup_locked(const char *api, const aclprofConfig *handle)
{
    ap__config config;
    aclError code = ap__config_load(api, handle, &config);

    code = code != ACL_SUCCESS ? code : ap__config_check_bits(api, &config);
    code = code != ACL_SUCCESS ? code : ap__config_check_metrics(api, &config);
    code = code != ACL_SUCCESS ? code : ap__session_check_mode(api);
    if (code != ACL_SUCCESS) {
        return code;
    }
    if (ap__session.ending) {
        return ap__ending(api);
    }
    if (!ap__session.inited) {
        return ap__fail_order(ACL_ERROR_PROF_NOT_RUN, api, "aclprofInit",
                              "the profiler is not open");
    }
    if (ap__session.run.capture != NULL) {
        return ap__fail_order(ACL_ERROR_PROF_API_CONFLICT, api, "aclprofStop",
                              ap__session.run.warm ? "a capture is warm already"
                                                   : "a capture runs already");
    }
    return ap__begin(api, &config, true);
}

static aclError ap__stop_idle(const char *api, const aclprofConfig *handle)
{
    ap__config config;

    if (ap__strict()) {
        return ap__fail_order(ACL_ERROR_PROF_NOT_RUN, api, "aclprofStart", "no capture runs");
    }
    /* before Init the argument is not looked at, as with the vendor's library */
    return ap__session.inited && handle != NULL ? ap__config_load(api, handle, &config)
                                                : ACL_SUCCESS;
}

static aclError ap__stop_named(const char *api, const ap__config *config)
{
    ap__run *run = &ap__session.run;
    aclError code = ap__config_check_bits(api, config);
    uint64_t leaving = 0;

    if (code != ACL_SUCCESS) {
        return code;
    }
    if (config->data_types != run->data_types) {
        return ap__other_mask(api, config,
                              "pass the config it was started with, an equal one, or NULL");
    }
    if (ap__strict() && !ap__names_running(config)) {
        return ap__fail_order(ACL_ERROR_PROF_NOT_RUN, api, "aclprofStart",
                              "nothing that the config names is being captured");
    }
    if (config->device_count == 0) {
        run->host_only = false;
    }
    leaving = run->devices & ap__device_bits(config);
    if ((run->devices & ~leaving & ~run->late) == 0 && !run->host_only) {
        return ap__session_close();
    }
    if (!run->warm) {
        ap__session_tell_stop(run, leaving);
    }
    run->devices &= ~leaving;
    run->late &= run->devices;
    ap__capture_ops->remove_devices(run->capture, config->devices, config->device_count);
    return ACL_SUCCESS;
}

static aclError ap__stop_locked(const char *api, const aclprofConfig *handle)
{
    ap__config config;
    aclError code = ap__session_check_mode(api);

    if (code != ACL_SUCCESS) {
        return code;
    }
    if (ap__session.run.capture == NULL) {
        return ap__stop_idle(api, handle);
    }
    if (handle == NULL) {
        return ap__session_close();
    }
    code = ap__config_load(api, handle, &config);
    return code != ACL_SUCCESS ? code : ap__stop_named(api, &config);
}

aclError ap__session_start(const aclprofConfig *config)
{
    aclError code = ap__session_refuse_inside();

    if (code != ACL_SUCCESS) {
        return code;
    }
    if (config == NULL) {
        ap__devices_load();
    }
    ap__session_find_vendor(config);
    ap__session_enter();
    code = ap__start_locked("aclprofStart", config);
    ap__session_leave();
    return code;
}

aclError ap__session_warmup(const aclprofConfig *config)
{
    aclError code = ap__session_refuse_inside();

    if (code != ACL_SUCCESS) {
        return code;
    }
    ap__session_enter();
    code = ap__warmup_locked("aclprofWarmup", config);
    ap__session_leave();
    return code;
}

aclError ap__session_stop(const aclprofConfig *config)
{
    aclError code = ap__session_refuse_inside();

    if (code != ACL_SUCCESS) {
        return code;
    }
    ap__session_enter();
    code = ap__stop_locked("aclprofStop", config);
    ap__session_leave();
    return code;
}
