/* SPDX-License-Identifier: Apache-2.0 */
/* The profiler's calls as the example makes them: the code of every call is looked at, the first
 * failure is told, and none stops the work. In a run without profiling all stamps are NULL, and
 * nothing of the library is called. */
#ifndef PROFILING_H_
#define PROFILING_H_

#include <stdbool.h>
#include <stdint.h>

#include "acl/acl_prof.h"

/* Captures the stamps and, when asked and there, device 0. NULL when there will be no profile. */
aclprofConfig *profiling_start(const char *output, bool devices);
void profiling_stop(aclprofConfig *config);
int profiling_failure_count(void);

void *stamp_create(const char *message);
void stamp_destroy(void *stamp);

/* `records` counts what the profile should hold. */
bool span_begin(void *stamp);
void span_end(bool begun, long *records);
/* Returns the range's id for range_end, 0 when there is none. */
uint32_t range_begin(void *stamp, bool *begun);
void range_end(bool begun, uint32_t id, long *records);
/* A stamp for one use. */
void mark(const char *message, long *records);

#endif
