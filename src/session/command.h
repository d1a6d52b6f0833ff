/* SPDX-License-Identifier: Apache-2.0 */
/* A capture that a configuration of the program asks for: "profiler" in acl.json, the options of
 * the graph engine, PROFILER_SAMPLECONFIG. It begins with the first device that is set, at once
 * where there is no driver. */
#ifndef AP_SESSION_COMMAND_H_
#define AP_SESSION_COMMAND_H_

#include <stddef.h>
#include <stdint.h>

typedef enum ap__command_source {
    AP_COMMAND_ACL_JSON,
    AP_COMMAND_GE_OPTIONS,
    AP_COMMAND_SAMPLE /* PROFILER_SAMPLECONFIG */
} ap__command_source;

/* 0: under way, or nothing is asked for, or an aclprof capture has come first; 3: an unknown key or
 * a bad value, or the capture cannot begin; the last error tells. Takes the session's lock. */
int32_t ap__command_init(ap__command_source source, const char *json, size_t length);
/* 0, or an aclError when files could not be finished. */
int32_t ap__command_finalize(void);

/* A device is set while a capture waits for one. Under the session's lock. */
void ap__command_begin(uint32_t device);

#endif
