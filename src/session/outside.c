/* SPDX-License-Identifier: Apache-2.0 */
#include "session/outside.h"

#include <string.h>

#include "session/capability.h"
#include "session/devices.h"
#include "session/errtext.h"
#include "session/registry.h"
#include "session/results.h"
#include "session/session.h"
#include "session/state.h"

#define AP_CHIP_310B 7

static const char ap__api[] = "aclprof";

static ap__outside_want ap__wanted; /* of the running one; under the session's lock */
static uint32_t ap__number;

bool ap__outside_wants(uint32_t device)
{
    return device < AP_MAX_DEVICES && (ap__wanted.devices >> device & 1) != 0;
}

/* As acl.json has it by default, with stamps where they are wanted. */
static void ap__config_of(const ap__outside_want *want, ap__config *config)
{
    uint32_t set[AP_MAX_DEVICES];
    uint32_t count = want->devices != 0 ? ap__device_active(set, AP_MAX_DEVICES) : 0;

    *config = (ap__config){.metrics = ACL_AICORE_NONE};
    config->requested = want->stamps ? ACL_PROF_MSPROFTX : 0;
    if (want->devices != 0) {
        config->requested |= ACL_PROF_ACL_API | ACL_PROF_RUNTIME_API | ACL_PROF_TASK_TIME |
                             ACL_PROF_TASK_TIME_L0 | ACL_PROF_AICORE_METRICS;
        config->metrics = ap__device_count() > 0 && ap__device_chip(0) == AP_CHIP_310B
                              ? ACL_AICORE_PIPE_EXECUTE_UTILIZATION
                              : ACL_AICORE_PIPE_UTILIZATION;
    }
    config->data_types = ap__bits_expand(config->requested);
    for (uint32_t i = 0; i < count; i++) {
        if (set[i] < AP_MAX_DEVICES && (want->devices >> set[i] & 1) != 0) {
            config->devices[config->device_count++] = set[i];
        }
    }
}

aclError ap__outside_begin_locked(const ap__outside_want *want, bool warm)
{
    ap__config config;
    aclError code = ACL_SUCCESS;

    if (ap__session.command == AP_COMMAND_OUTSIDE && ap__session.run.capture != NULL) {
        return ACL_SUCCESS;
    }
    code = ap__session_check_mode(ap__api);
    if (code == ACL_SUCCESS && (ap__session.inited || ap__session.run.capture != NULL)) {
        code = ap__fail(ACL_ERROR_PROF_ALREADY_RUN, AP_EK_MODE, ap__api,
                        "Failed to start Profiling from outside because the program profiles "
                        "itself by the API.");
    }
    if (code == ACL_SUCCESS && ap__session.ending) {
        code = ap__fail(ACL_ERROR_PROFILING_FAILURE, AP_EK_INNER, ap__api, "The process ends.");
    }
    if (code != ACL_SUCCESS) {
        return code;
    }
    ap__config_of(want, &config);
    memcpy(ap__session.settings.path, want->path, sizeof(want->path));
    ap__wanted = *want;
    code = ap__session_begin(ap__api, &config, warm);
    if (code == ACL_SUCCESS) {
        ap__session.command = AP_COMMAND_OUTSIDE;
        ap__number++;
    } else {
        ap__results_tell("refused", ap__last_error());
        ap__log(AP_LOG_WARN, "the capture that is asked for from outside cannot begin: %s",
                ap__last_error());
        (void)ap__session_end();
    }
    return code;
}

aclError ap__outside_begin(const ap__outside_want *want, bool warm)
{
    aclError code = ap__session_refuse_inside();

    if (code == ACL_SUCCESS) {
        ap__session_enter();
        code = ap__outside_begin_locked(want, warm);
        ap__session_leave();
    }
    return code;
}

uint32_t ap__outside_number(void)
{
    return ap__number;
}

static bool ap__is_number(uint32_t number)
{
    return ap__session.command == AP_COMMAND_OUTSIDE && (number == 0 || number == ap__number);
}

void ap__outside_record(uint32_t number)
{
    ap__session_enter();
    if (ap__is_number(number) && ap__session.run.warm && ap__session.run.capture != NULL) {
        ap__session_go();
    }
    ap__session_leave();
}

static void ap__copy_dir(char dir[AP_PATH_MAX])
{
    const char *from =
        ap__session.run.capture != NULL ? ap__capture_ops->dir(ap__session.run.capture) : "";
    size_t length = strnlen(from, AP_PATH_MAX - 1);

    memcpy(dir, from, length);
    dir[length] = '\0';
}

void ap__outside_look(ap__outside_view *out)
{
    ap__session_enter();
    ap__copy_dir(out->dir);
    out->want = ap__wanted;
    out->state = ap__session.run.capture == NULL               ? AP_OUTSIDE_IDLE
                 : ap__session.command != AP_COMMAND_OUTSIDE ? AP_OUTSIDE_OWN
                 : ap__session.run.warm                      ? AP_OUTSIDE_WAITS
                                                             : AP_OUTSIDE_RECORDS;
    ap__session_leave();
}

aclError ap__outside_end(uint32_t number, char dir[AP_PATH_MAX])
{
    aclError code = ACL_ERROR_PROF_NOT_RUN;

    ap__session_enter();
    if (ap__is_number(number)) {
        if (dir != NULL) {
            ap__copy_dir(dir);
        }
        code = ap__session_end();
        ap__session.command = AP_COMMAND_NONE;
    }
    ap__session_leave();
    return code;
}
