/* SPDX-License-Identifier: Apache-2.0 */
/* The process-wide state machine behind the control calls. Every function takes the session
 * lock itself; codes are ACL codes with the last error set. Inside a callback of a module they
 * refuse. */
#ifndef AP_SESSION_SESSION_H_
#define AP_SESSION_SESSION_H_

#include <stdbool.h>

#include "aclprof_ext.h"

aclError ap__session_init(const char *path, size_t length);
aclError ap__session_finalize(void);
aclError ap__session_start(const aclprofConfig *config);
aclError ap__session_warmup(const aclprofConfig *config);
aclError ap__session_stop(const aclprofConfig *config);
aclError ap__session_set_config(int type, const char *value, size_t length);
/* Model subscriptions. */
aclError ap__session_subscribe(uint32_t model, const aclprofSubscribeConfig *config);
aclError ap__session_unsubscribe(uint32_t model);
aclError ap__session_stats(aclprofStats *out);

/* Library unload or exit: stops what runs; later Starts are refused. */
void ap__session_shutdown(void);

/* Around fork (session/fork.c): hold the lock over it; the child has no capture. */
/* false: not held, because a signal handler forks inside a control call of this thread. */
bool ap__session_prefork(void);
void ap__session_parent(void);
void ap__session_child(void);

/* 1 with ACLPROF_STRICT=1 in the environment (read once). */
int ap__strict(void);

#endif
