/* SPDX-License-Identifier: Apache-2.0 */
#include "session/module_link.h"

#include <stdbool.h>
#include <stdio.h>

#include "reporter/modules.h"
#include "reporter/vendor.h"
#include "session/capability.h"
#include "session/devices.h"
#include "session/registry.h"
#include "session/set_device.h"

void ap__session_find_vendor(const aclprofConfig *config)
{
    ap__config c;

    if (config != NULL && (!ap__registry_get(config, &c) ||
                           (c.data_types & ~(uint64_t)(ACL_PROF_MSPROFTX | AP_AICPU_MODEL)) == 0)) {
        return;
    }
    ap__vendor_find(ap__session_device_set);
}

static void ap__fill(ap__module_command *c, const ap__run *run, uint64_t devices,
                     uint32_t list[AP_MAX_DEVICES])
{
    *c = (ap__module_command){
        .data_types = run->data_types, .devices = list, .chip = -1, .model = UINT32_MAX};
    for (; devices != 0; devices &= devices - 1) {
        list[c->device_count++] = (uint32_t)__builtin_ctzll(devices);
    }
    if (c->device_count != 0) {
        c->chip = ap__device_chip(list[0]);
    }
}

/* The parameters that callbacks look for, in the words of the vendor's command line. */
static void ap__parameters(const ap__run *run, char *out, size_t size)
{
    static const struct {
        const char *key;
        uint64_t bits;
    } switches[] = {{"acl", ACL_PROF_ACL_API},
                    {"taskTime", ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L0},
                    {"runtimeApi", ACL_PROF_RUNTIME_API},
                    {"hcclTrace", ACL_PROF_HCCL_TRACE},
                    {"geApi", ACL_PROF_GE_API_L0 | ACL_PROF_GE_API_L1},
                    {"aicpuTrace", ACL_PROF_AICPU},
                    {"msproftx", ACL_PROF_MSPROFTX}};
    size_t used = 0;

    for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
        bool on = (run->data_types & switches[i].bits) != 0;

        used += (size_t)snprintf(out + used, size - used, "%c\"%s\":\"%s\"", i == 0 ? '{' : ',',
                                 switches[i].key, on ? "on" : "off");
    }
    (void)snprintf(out + used, size - used, "}");
}

void ap__session_tell_start(const ap__run *run, uint64_t devices)
{
    uint32_t list[AP_MAX_DEVICES];
    ap__module_command command;
    char parameters[256];

    ap__fill(&command, run, devices, list);
    ap__parameters(run, parameters, sizeof(parameters));
    command.parameters = parameters;
    if (command.device_count != 0) {
        ap__vendor_attach();
    }
    ap__modules_start(&command);
}

void ap__session_tell_stop(const ap__run *run, uint64_t devices)
{
    uint32_t list[AP_MAX_DEVICES];
    ap__module_command command;

    ap__fill(&command, run, devices, list);
    ap__modules_stop(&command);
    if ((run->devices & ~devices) == 0) {
        ap__vendor_detach();
    }
}

void ap__session_tell_finalize(void)
{
    ap__modules_finalize();
}
