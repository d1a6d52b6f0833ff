/* SPDX-License-Identifier: Apache-2.0 */
/* Model subscriptions: records of a model's operators go to a pipe of the program while it runs.
 * Codes are ACL codes with the last error set. Those that say so run under the session's lock. */
#ifndef AP_SUBSCRIBE_SUBSCRIBE_H_
#define AP_SUBSCRIBE_SUBSCRIBE_H_

#include <stdbool.h>
#include <stdint.h>

#include "aclprof_ext.h"

/* Settings; never dereferenced by their handle. fd: of the program, kept. NULL without memory. */
typedef struct ap__subscribe_settings {
    bool times;
    int32_t metrics;
    int *fd;
} ap__subscribe_settings;

aclprofSubscribeConfig *ap__subscribe_config_add(const ap__subscribe_settings *settings);
bool ap__subscribe_config_get(const aclprofSubscribeConfig *handle, ap__subscribe_settings *out);
bool ap__subscribe_config_remove(const aclprofSubscribeConfig *handle);
/* Whether a value looks like such a handle, live or not: then it is no address. */
bool ap__subscribe_config_is_handle(const void *value);

/* A model is loaded on a device, or gone. Any thread. false: no memory, or the model is not known. */
bool ap__subscribe_bind(uint32_t model, uint32_t device);
bool ap__subscribe_unbind(uint32_t model);

/* Under the session's lock. */
aclError ap__subscribe_model(const char *api, uint32_t model, const ap__subscribe_settings *s);
aclError ap__subscribe_end_model(const char *api, uint32_t model);
bool ap__subscribe_active(void);
void ap__subscribe_end_all(void);

/* A task was submitted. name: of an operator, NULL: it is none. model: AP_NO_MODEL when it is not
 * known, then the device's only subscribed one. One load when nothing is subscribed to. */
void ap__subscribe_launch(uint32_t device, uint32_t stream, uint32_t task, uint32_t model,
                          uint32_t thread, const char *name);

/* A task of a loaded model, which may run any number of times. */
void ap__subscribe_static(uint32_t device, uint32_t stream, uint32_t task, uint32_t thread,
                          const char *name);
/* The operator of a task that was submitted. */
void ap__subscribe_rename(uint32_t device, uint32_t stream, uint32_t task, const char *name,
                          const char *type);

/* Adds the account of the process's subscriptions. */
void ap__subscribe_stats(aclprofStats *out);

/* Around fork; the child has no subscription, and the program's descriptors there are its own. */
void ap__subscribe_lock(void);
void ap__subscribe_unlock(void);
void ap__subscribe_child(void);

#endif
