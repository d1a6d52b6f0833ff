/* SPDX-License-Identifier: Apache-2.0 */
#include "profiling.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "device_work.h"

static atomic_int failures;

static const char *meaning(aclError code)
{
    switch (code) {
    case ACL_ERROR_INVALID_PARAM:
        return "invalid argument or handle";
    case ACL_ERROR_REPEAT_INITIALIZE:
        return "initialised already";
    case ACL_ERROR_INVALID_FILE:
        return "the output directory cannot be used: it is a file, or is not writable, or its path "
               "holds one of \"'\\%<>|&$;`";
    case ACL_ERROR_INVALID_PROFILING_CONFIG:
        return "another configuration is running";
    case ACL_ERROR_COMPILING_STUB_MODE:
        return "this is the library for linking only: have the loader find the real "
               "libacl_prof.so, for instance with LD_LIBRARY_PATH";
    case ACL_ERROR_PROF_ALREADY_RUN:
        return "somebody else profiles this process";
    case ACL_ERROR_PROF_NOT_RUN:
        return "no capture is running";
    case ACL_ERROR_BAD_ALLOC:
        return "no memory";
    case ACL_ERROR_FEATURE_UNSUPPORTED:
        return "not supported in this environment (PROFILING_MODE, missing driver?)";
    case ACL_ERROR_PROFILING_FAILURE:
        return "no thread, memory or disk space for profiling";
    default:
        return "see acl/acl_base.h";
    }
}

static void profiling_failed(const char *call, const char *why)
{
    if (atomic_fetch_add(&failures, 1) == 0) {
        fprintf(stderr,
                "%s: %s\nThe inference goes on. ACLPROF_LOG=error in the environment may tell "
                "more.\n",
                call, why);
    }
}

static bool succeeded(const char *call, aclError code)
{
    char text[256];

    if (code == ACL_SUCCESS) {
        return true;
    }
    snprintf(text, sizeof(text), "error %d, %s", code, meaning(code));
    profiling_failed(call, text);
    return false;
}

int profiling_failure_count(void)
{
    return atomic_load(&failures);
}

aclprofConfig *profiling_start(const char *output, bool devices)
{
    uint32_t device = 0;
    aclprofConfig *config = NULL;

    if (!succeeded("aclprofInit", aclprofInit(output, strlen(output)))) {
        return NULL;
    }
    config = devices && device_work_there()
                 ? aclprofCreateConfig(&device, 1, ACL_AICORE_PIPE_UTILIZATION, NULL,
                                       ACL_PROF_MSPROFTX | ACL_PROF_ACL_API | ACL_PROF_RUNTIME_API |
                                           ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS)
                 /* no device, only the stamps of this program: needs no NPU */
                 : aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX);
    if (config == NULL) {
        profiling_failed("aclprofCreateConfig", "it returned NULL");
        goto finalize;
    }
    if (succeeded("aclprofStart", aclprofStart(config))) {
        return config;
    }
    succeeded("aclprofDestroyConfig", aclprofDestroyConfig(config));
finalize:
    succeeded("aclprofFinalize", aclprofFinalize());
    return NULL;
}

void profiling_stop(aclprofConfig *config)
{
    succeeded("aclprofStop", aclprofStop(config)); /* from here on the stamps are on disk */
    succeeded("aclprofDestroyConfig", aclprofDestroyConfig(config));
    succeeded("aclprofFinalize", aclprofFinalize());
}

void *stamp_create(const char *message)
{
    void *stamp = aclprofCreateStamp();

    if (stamp == NULL) {
        profiling_failed("aclprofCreateStamp", "it returned NULL");
        return NULL;
    }
    succeeded("aclprofSetStampTraceMessage",
              aclprofSetStampTraceMessage(stamp, message, (uint32_t)strlen(message)));
    return stamp;
}

void stamp_destroy(void *stamp)
{
    if (stamp != NULL) {
        aclprofDestroyStamp(stamp);
    }
}

bool span_begin(void *stamp)
{
    return stamp != NULL && succeeded("aclprofPush", aclprofPush(stamp));
}

void span_end(bool begun, long *records)
{
    if (begun && succeeded("aclprofPop", aclprofPop())) {
        ++*records;
    }
}

uint32_t range_begin(void *stamp, bool *begun)
{
    uint32_t id = 0;

    *begun = stamp != NULL && succeeded("aclprofRangeStart", aclprofRangeStart(stamp, &id));
    return id;
}

void range_end(bool begun, uint32_t id, long *records)
{
    if (begun && succeeded("aclprofRangeStop", aclprofRangeStop(id))) {
        ++*records;
    }
}

void mark(const char *message, long *records)
{
    void *stamp = stamp_create(message);

    if (stamp != NULL && succeeded("aclprofMark", aclprofMark(stamp))) {
        ++*records;
    }
    stamp_destroy(stamp);
}
