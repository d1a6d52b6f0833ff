/* SPDX-License-Identifier: Apache-2.0 */
/* Lock, Init, Finalize, settings, statistics, fork and unload. Start and Stop are in run.c. */
#define _GNU_SOURCE
#include "session/session.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reporter/modules.h"
#include "reporter/vendor.h"
#include "session/arg_text.h"
#include "session/autostart.h"
#include "session/control_socket.h"
#include "session/devices.h"
#include "session/errtext.h"
#include "session/fork.h"
#include "session/module_link.h"
#include "session/now.h"
#include "session/path.h"
#include "session/registry.h"
#include "session/set_device.h"
#include "session/state.h"
#include "subscribe/subscribe.h"

ap__state ap__session;
_Atomic int ap__strict_now = -1;

static pthread_mutex_t ap__lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct ap__inside {
    bool now; /* this thread holds the lock */
    int cancel_state;
} ap__inside;

static __thread ap__inside ap__in __attribute__((tls_model("initial-exec")));

/* ---- lock ---- */

static void ap__drop_inherited(void)
{
    if (ap__session.run.capture != NULL && ap__session.run.owner != getpid()) {
        ap__capture_ops->abandon(ap__session.run.capture);
        ap__session.run = (ap__run){0};
        ap__now_clear();
    }
}

void ap__session_enter(void)
{
    int state = 0;

    (void)ap__control_used();
    (void)ap__fork_install(); /* a failure is told by the Start that needs it */
    ap__fail_hold();
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_mutex_lock(&ap__lock);
    ap__in = (ap__inside){true, state};
    ap__drop_inherited();
}

static void ap__leave(void)
{
    int state = ap__in.cancel_state;

    ap__in.now = false;
    pthread_mutex_unlock(&ap__lock);
    ap__fail_release();
    (void)pthread_setcancelstate(state, &state);
}

void ap__session_pass_by(void)
{
    int state = 0;

    while (!ap__in.now && ap__session_set_devices_pending()) {
        (void)ap__fork_install();
        (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        if (pthread_mutex_trylock(&ap__lock) != 0) {
            (void)pthread_setcancelstate(state, &state);
            return;
        }
        ap__fail_hold();
        ap__in = (ap__inside){true, state};
        ap__drop_inherited();
        ap__session_tell_set_devices();
        ap__leave();
    }
}

void ap__session_leave(void)
{
    ap__leave();
    ap__session_pass_by();
}

aclError ap__session_refuse_inside(void)
{
    static const ap__fail_site inside = {
        ACL_ERROR_PROFILING_FAILURE, AP_EK_INNER, "aclprof",
        "A control call was made inside a callback of the profiler, or in a signal handler that "
        "has interrupted one. Make it from another place."};

    return ap__in.now || ap__modules_inside() ? ap__fail_quick(&inside) : ACL_SUCCESS;
}

/* ---- environment ---- */

const char *ap__session_env(const char *name)
{
    const char *value = secure_getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

int ap__strict(void)
{
    int now = atomic_load_explicit(&ap__strict_now, memory_order_relaxed);

    if (now < 0) {
        const char *value = ap__session_env("ACLPROF_STRICT");

        now = value != NULL && strcmp(value, "1") == 0;
        atomic_store_explicit(&ap__strict_now, now, memory_order_relaxed);
    }
    return now;
}

aclError ap__session_check_mode(const char *api)
{
    if (ap__session.command != AP_COMMAND_NONE) {
        return ap__fail(ACL_ERROR_PROF_ALREADY_RUN, AP_EK_MODE, api,
                        "Failed to start Profiling in API mode because a configuration of the "
                        "program (acl.json, PROFILER_SAMPLECONFIG or graph engine options) or "
                        "`aclprof run` profiles it already. Remove it there, or do without %s.",
                        api);
    }
    if (ap__subscribe_active()) {
        return ap__fail_order(ACL_ERROR_PROF_API_CONFLICT, api, "aclprofModelUnSubscribe",
                              "a model is subscribed to, and a capture would take its records");
    }
    if (!ap__session.inited && ap__session_env("PROFILER_SAMPLECONFIG") != NULL) {
        return ap__fail(ACL_ERROR_PROF_ALREADY_RUN, AP_EK_MODE, api,
                        "Failed to start Profiling in API mode because it is already in command "
                        "line mode. Run the program without msprof (PROFILER_SAMPLECONFIG is in "
                        "its environment) or without calling %s.",
                        api);
    }
    return ACL_SUCCESS;
}

/* ---- Init, Finalize, settings ---- */

static aclError ap__init_check(const char *api, const char *path, size_t length)
{
    const char *mode = ap__session_env("PROFILING_MODE");
    char number[24];
    int n = 0;

    if (mode != NULL && strcmp(mode, "dynamic") == 0) {
        return ap__fail(ACL_ERROR_FEATURE_UNSUPPORTED, AP_EK_MODE, api,
                        "Failed to start Profiling in API mode because it is already in dynamic "
                        "mode. Unset PROFILING_MODE to use the API.");
    }
    if (path == NULL) {
        return ap__fail_null(api, "profilerResultPath");
    }
    n = snprintf(number, sizeof(number), "%zu", length);
    if (length == 0 || length >= AP_PATH_MAX) {
        return ap__fail_value(ACL_ERROR_INVALID_PARAM, api, "length", number, (size_t)n,
                              "it must be 1 to %u; pass strlen(profilerResultPath)",
                              AP_PATH_MAX - 1);
    }
    if (!ap__arg_length_fits(path, length)) {
        return ap__fail_value(ACL_ERROR_INVALID_PARAM, api, "length", number, (size_t)n,
                              "it is not the length of profilerResultPath; pass "
                              "strlen(profilerResultPath)");
    }
    return ACL_SUCCESS;
}

static aclError ap__init_locked(const char *api, const char *path, size_t length)
{
    char reason[AP_PATH_REASON_SIZE];
    char absolute[AP_PATH_MAX];
    aclError code = ap__session_check_mode(api);

    if (code != ACL_SUCCESS) {
        return code;
    }
    if (ap__session.inited) {
        return ap__fail_order(ACL_ERROR_REPEAT_INITIALIZE, api, "aclprofFinalize",
                              "the profiler is open already, with its first path");
    }
    if (!ap__path_resolve(path, length, absolute, reason)) {
        return ap__fail_value(ACL_ERROR_INVALID_FILE, api, "profilerResultPath", path, length, "%s",
                              reason);
    }
    memcpy(ap__session.path, absolute, sizeof(absolute));
    ap__session.inited = true;
    return ACL_SUCCESS;
}

aclError ap__session_init(const char *path, size_t length)
{
    static const char api[] = "aclprofInit";
    aclError code = ap__session_refuse_inside();

    if (code != ACL_SUCCESS) {
        return code;
    }
    ap__session_enter();
    code = ap__init_check(api, path, length);
    if (code == ACL_SUCCESS) {
        code = ap__init_locked(api, path, length);
    }
    ap__session_leave();
    return code;
}

aclError ap__session_close(void)
{
    ap__run run = ap__session.run;

    if (run.capture != NULL && !run.warm && !ap__session.ending) {
        ap__session_tell_stop(&run, run.devices); /* what modules still have comes now */
    }
    ap__session.run = (ap__run){0};
    ap__now_clear();
    return run.capture != NULL ? ap__capture_ops->close(run.capture) : ACL_SUCCESS;
}

aclError ap__session_end(void)
{
    aclError code = ap__session_close();

    ap__session_tell_finalize();
    ap__session.inited = false;
    ap__session.path[0] = '\0';
    ap__session.settings = (ap__settings){0};
    return code;
}

static aclError ap__finalize_locked(const char *api)
{
    aclError code = ap__session_check_mode(api);

    if (code != ACL_SUCCESS) {
        return code;
    }
    if (!ap__session.inited && ap__strict()) {
        return ap__fail_order(ACL_ERROR_PROF_NOT_RUN, api, "aclprofInit",
                              "the profiler is not open");
    }
    return ap__session_end();
}

aclError ap__session_finalize(void)
{
    aclError code = ap__session_refuse_inside();

    if (code != ACL_SUCCESS) {
        return code;
    }
    ap__session_enter();
    code = ap__finalize_locked("aclprofFinalize");
    ap__session_leave();
    return code;
}

aclError ap__session_set_config(int type, const char *value, size_t length)
{
    aclError code = ap__session_refuse_inside();

    if (code != ACL_SUCCESS) {
        return code;
    }
    ap__devices_load(); /* what a chip has decides what may be set */
    ap__session_enter();
    code = ap__settings_set(&ap__session.settings, "aclprofSetConfig", type, value, length);
    if (code == ACL_SUCCESS && type == ACL_PROF_PATH && ap__session.inited) {
        memcpy(ap__session.path, ap__session.settings.path, sizeof(ap__session.path));
    }
    ap__session_leave();
    return code;
}

/* Checks of both calls, under the lock. */
static aclError ap__subscribe_check(const char *api)
{
    aclError code = ap__subscribe_active() ? ACL_SUCCESS : ap__session_check_mode(api);

    if (code == ACL_SUCCESS && (ap__session.inited || ap__session.run.capture != NULL)) {
        code = ap__fail_order(ACL_ERROR_PROF_API_CONFLICT, api,
                              ap__session.inited ? "aclprofFinalize" : "aclprofStop",
                              "the profiler is open, which excludes subscriptions");
    }
    return code;
}

/* No capture can run then. */
static void ap__detach_unless_subscribed(void)
{
    if (!ap__subscribe_active() && ap__session.run.capture == NULL) {
        ap__vendor_detach();
    }
}

aclError ap__session_subscribe(uint32_t model, const aclprofSubscribeConfig *config)
{
    static const char api[] = "aclprofModelSubscribe";
    ap__subscribe_settings settings;
    aclError code = ap__session_refuse_inside();

    if (code != ACL_SUCCESS) {
        return code;
    }
    if (config == NULL) {
        return ap__fail_null(api, "profSubscribeConfig");
    }
    if (!ap__subscribe_config_get(config, &settings)) {
        return ap__fail(ACL_ERROR_INVALID_PARAM, AP_EK_BAD_VALUE, api,
                        "Value [%p] for parameter profSubscribeConfig is invalid. Reason: it was "
                        "not made by aclprofCreateSubscribeConfig, or it has been destroyed.",
                        (const void *)config);
    }
    if (!settings.times && settings.metrics == ACL_AICORE_NONE) {
        return ap__fail(ACL_ERROR_INVALID_PARAM, AP_EK_BAD_VALUE, api,
                        "Value [0] for parameter timeInfoSwitch is invalid. Reason: neither times "
                        "nor counters are asked for; make the settings with 1 or with metrics.");
    }
    ap__devices_load();
    ap__vendor_find(ap__session_device_set);
    ap__session_enter();
    code = ap__session.ending ? ap__fail(ACL_ERROR_PROFILING_FAILURE, AP_EK_INNER, api,
                                         "The process ends: no subscription can begin.")
                              : ap__subscribe_check(api);
    if (code == ACL_SUCCESS) {
        ap__vendor_attach(); /* reports that did not come past us */
        code = ap__subscribe_model(api, model, &settings);
        ap__detach_unless_subscribed();
    }
    ap__session_leave();
    return code;
}

aclError ap__session_unsubscribe(uint32_t model)
{
    static const char api[] = "aclprofModelUnSubscribe";
    aclError code = ap__session_refuse_inside();

    if (code == ACL_SUCCESS) {
        ap__session_enter();
        code = ap__subscribe_check(api);
        code = code != ACL_SUCCESS ? code : ap__subscribe_end_model(api, model);
        ap__detach_unless_subscribed();
        ap__session_leave();
    }
    return code;
}

aclError ap__session_stats(aclprofStats *out)
{
    aclError code = ap__session_refuse_inside();

    if (code == ACL_SUCCESS) {
        ap__session_enter();
        ap__capture_ops->stats(ap__session.run.capture, out);
        ap__subscribe_stats(out);
        ap__session_leave();
    }
    return code;
}

/* ---- unload, fork ---- */

void ap__session_shutdown(void)
{
    if (ap__in.now) {
        return; /* exit() in a signal handler inside a control call: waiting would be for ever */
    }
    ap__control_close();
    ap__fail_hold();
    pthread_mutex_lock(&ap__lock);
    ap__session.ending = true;
    /* of a child that was made past the fork handlers nothing is wanted but that it dies */
    if (ap__session.run.capture != NULL && ap__session.run.owner == getpid()) {
        (void)ap__session_close();
    }
    ap__subscribe_end_all();
    pthread_mutex_unlock(&ap__lock);
    ap__fail_release();
}

/* false: a signal handler forks inside a control call of this very thread, whose locks it must not
 * wait for; the child is then good for exec or _exit. */
bool ap__session_prefork(void)
{
    if (ap__in.now) {
        return false;
    }
    pthread_mutex_lock(&ap__lock);
    ap__registry_prefork();
    return true;
}

void ap__session_parent(void)
{
    ap__registry_postfork();
    pthread_mutex_unlock(&ap__lock);
}

void ap__session_child(void)
{
    ap__registry_postfork();
    if (ap__session.run.capture != NULL) {
        ap__capture_ops->abandon(ap__session.run.capture);
        ap__session.run = (ap__run){0};
    }
    if (ap__session.command != AP_COMMAND_NONE) { /* not the program has opened it */
        ap__session.command = AP_COMMAND_NONE;
        ap__session.inited = false;
        ap__session.settings = (ap__settings){0};
    }
    ap__now_clear();
    ap__autostart_child();
    ap__control_child();
    pthread_mutex_unlock(&ap__lock);
}
