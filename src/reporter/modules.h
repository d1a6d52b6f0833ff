/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks of the modules that record for us: the runtime, acl, the graph engine and others. They
 * are told when a capture begins and ends. */
#ifndef AP_REPORTER_MODULES_H_
#define AP_REPORTER_MODULES_H_

#include <stdbool.h>
#include <stdint.h>

#include "aclprof_reporter.h"

typedef struct ap__module_command {
    uint64_t data_types; /* as the capture has them */
    const uint32_t *devices;
    uint32_t device_count;
    int32_t chip;           /* of the first device */
    uint32_t model;         /* UINT32_MAX: none */
    const char *parameters; /* JSON, may be NULL */
} ap__module_command;

/* false without memory. A capture that runs is told to the callback on a thread of its own. */
bool ap__modules_register(uint32_t module, MsprofCtrlCallback callback);

/* Around a capture's life; synchronous, on the calling thread. START and STOP come for every group
 * of devices, INIT before each START. Nothing is told of a capture without devices. */
void ap__modules_start(const ap__module_command *command);
void ap__modules_stop(const ap__module_command *command);
/* When INIT has been told and FINALIZE has not. */
void ap__modules_finalize(void);
/* MSPROF_COMMAND_MODEL_*. */
void ap__modules_model(uint32_t type, const ap__module_command *command);
/* A command of somebody else's making, in the order of its type. */
void ap__modules_tell(const MsprofCommandHandle *handle);

/* Whether the calling thread is inside a callback: then it must not wait for the session. */
bool ap__modules_inside(void);

/* Around fork; in the child nothing runs. */
void ap__modules_lock(void);
void ap__modules_unlock(void);
void ap__modules_child(void);

#endif
