/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "session/command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "reporter/mstx_domains.h"
#include "session/command_parse.h"
#include "session/devices.h"
#include "session/errtext.h"
#include "session/module_link.h"
#include "session/path.h"
#include "session/state.h"

#define AP_COMMAND_BAD 3

static const char ap__api[] = "MsprofInit";

static ap__config ap__wanted; /* under the session's lock, while a capture waits */

/* ASCEND_WORK_PATH/profiling_data, else the program's directory. */
static bool ap__default_output(char path[AP_PATH_MAX])
{
    const char *work = ap__session_env("ASCEND_WORK_PATH");
    char text[AP_PATH_MAX] = ".";
    char reason[AP_PATH_REASON_SIZE];
    ssize_t n = 0;
    char *slash = NULL;

    if (work != NULL) {
        if (snprintf(text, sizeof(text), "%s/profiling_data", work) >= (int)sizeof(text)) {
            text[0] = '\0';
        }
    } else {
        n = readlink("/proc/self/exe", text, sizeof(text) - 1);
        text[n > 0 ? n : 1] = '\0';
        slash = strrchr(text, '/');
        if (slash != NULL && slash != text) {
            *slash = '\0';
        }
    }
    return ap__path_resolve(text, strlen(text), path, reason) ||
           (ap__fail_value(ACL_ERROR_INVALID_FILE, ap__api, "output", text, strlen(text), "%s",
                           reason),
            false);
}

static aclError ap__begin(void)
{
    aclError code = ap__session_begin(ap__api, &ap__wanted, false);

    ap__session.command = code == ACL_SUCCESS ? AP_COMMAND_RUNS : AP_COMMAND_NONE;
    if (code != ACL_SUCCESS) {
        ap__log(AP_LOG_WARN, "the capture that the configuration asks for cannot begin: %s",
                ap__last_error());
        (void)ap__session_end();
        ap__mstx_choose("", "");
    }
    return code;
}

void ap__command_begin(uint32_t device)
{
    if (ap__wanted.device_count == 0) {
        ap__wanted.devices[ap__wanted.device_count++] = device;
    }
    (void)ap__begin();
}

static int32_t ap__init_locked(const ap__command_config *c)
{
    int32_t there = ap__device_count();

    if (ap__session.command != AP_COMMAND_NONE || ap__session.run.capture != NULL ||
        ap__session.inited || ap__session.ending) {
        ap__log(AP_LOG_WARN, "the configuration's profiler is not started: %s",
                ap__session.ending ? "the process ends" : "another capture has come first");
        return 0;
    }
    ap__wanted = c->config;
    ap__mstx_choose(c->mstx_include, c->mstx_exclude);
    ap__session.settings = c->settings;
    if (c->settings.path[0] == '\0' && !ap__default_output(ap__session.settings.path)) {
        ap__session.settings = (ap__settings){0};
        ap__mstx_choose("", "");
        return AP_COMMAND_BAD;
    }
    memcpy(ap__session.path, ap__session.settings.path, sizeof(ap__session.path));
    ap__session.inited = true;
    ap__session.command = AP_COMMAND_WAITS;
    if (there > 0 && ap__wanted.device_count == 0) {
        ap__wanted.device_count = ap__device_active(ap__wanted.devices, AP_MAX_DEVICES);
        if (ap__wanted.device_count == 0) {
            return 0;
        }
    } else if (there <= 0) {
        ap__wanted.device_count = 0;
    }
    return ap__begin() == ACL_SUCCESS ? 0 : AP_COMMAND_BAD;
}

int32_t ap__command_init(ap__command_source source, const char *json, size_t length)
{
    ap__command_config c;
    int32_t rc = 0;

    if (ap__session_refuse_inside() != ACL_SUCCESS) {
        return AP_COMMAND_BAD;
    }
    ap__devices_load(); /* what a chip has decides what may be set */
    ap__session_find_vendor(NULL);
    if (!ap__command_parse(source, json, length, &c)) {
        return AP_COMMAND_BAD;
    }
    if (!c.on || c.config.requested == 0) {
        return 0;
    }
    ap__session_enter();
    rc = ap__init_locked(&c);
    ap__session_leave();
    return rc;
}

int32_t ap__command_finalize(void)
{
    aclError code = ap__session_refuse_inside();

    if (code != ACL_SUCCESS) {
        return code;
    }
    ap__session_enter();
    if (ap__session.command == AP_COMMAND_WAITS || ap__session.command == AP_COMMAND_RUNS) {
        code = ap__session_end();
        ap__session.command = AP_COMMAND_NONE;
        ap__mstx_choose("", "");
    }
    ap__session_leave();
    return code;
}
