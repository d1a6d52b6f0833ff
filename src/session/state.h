/* SPDX-License-Identifier: Apache-2.0 */
/* State of the session, shared by session.c and run.c. All of it is under the session lock. */
#ifndef AP_SESSION_STATE_H_
#define AP_SESSION_STATE_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/capture_ops.h"
#include "session/settings.h"

typedef struct ap__run {
    ap__capture *capture; /* NULL: nothing runs and the rest does not count */
    pid_t owner;          /* a child made past the fork handlers must not touch the files */
    bool warm;            /* opened by aclprofWarmup, not recording yet */
    bool host_only;       /* a config without devices runs */
    uint64_t devices;     /* bit i: device i runs */
    uint64_t late;        /* of them, those that no config has named: they end with the others */
    uint64_t data_types;
    int32_t metrics;
} ap__run;

/* A capture that a configuration asks for (session/command.h), or somebody outside of the program
 * (session/outside.h). */
typedef enum ap__command_state {
    AP_COMMAND_NONE,
    AP_COMMAND_WAITS,
    AP_COMMAND_RUNS,
    AP_COMMAND_OUTSIDE
} ap__command_state;

typedef struct ap__state {
    ap__command_state command;
    bool inited;
    bool ending;            /* the library is being unloaded */
    uint32_t starts;        /* captures that have made a directory */
    char path[AP_PATH_MAX]; /* of the next capture, while inited */
    ap__settings settings;
    ap__run run;
} ap__state;

extern ap__state ap__session;
/* -1 until ACLPROF_STRICT has been read; tests set it. */
extern _Atomic int ap__strict_now;

/* Around every control call: lock, no cancellation, reports of failures after unlocking. */
void ap__session_enter(void);
void ap__session_leave(void);
/* Does what waits for the lock's holder, when nobody holds it: else that one will. */
void ap__session_pass_by(void);
/* Inside a callback of ours or a signal handler that has interrupted a control call: waiting for the
 * lock would be for ever. 0, or ACL_ERROR_PROFILING_FAILURE with the last error set. */
aclError ap__session_refuse_inside(void);

/* ACL_ERROR_PROF_ALREADY_RUN when the process is profiled by the vendor's command line or by a
 * configuration. */
aclError ap__session_check_mode(const char *api);

/* Value of an environment variable; NULL when it is empty, too. */
const char *ap__session_env(const char *name);

/* Finishes what runs. 0 when nothing does. */
aclError ap__session_close(void);
/* As aclprofStart (warm: aclprofWarmup), nothing running and nothing checked but the chips. */
struct ap__config;
aclError ap__session_begin(const char *api, const struct ap__config *config, bool warm);
/* What is warm records from now on. */
void ap__session_go(void);
/* Also forgets path and settings. */
aclError ap__session_end(void);

#endif
