/* SPDX-License-Identifier: Apache-2.0 */
/* Control calls and the library's own questions. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "aclprof_ext.h"
#include "session/errtext.h"
#include "session/session.h"

ACL_FUNC_VISIBILITY aclError aclprofInit(const char *profilerResultPath, size_t length)
{
    int saved = errno;
    aclError code = ap__session_init(profilerResultPath, length);

    errno = saved;
    return code;
}

ACL_FUNC_VISIBILITY aclError aclprofFinalize(void)
{
    int saved = errno;
    aclError code = ap__session_finalize();

    errno = saved;
    return code;
}

ACL_FUNC_VISIBILITY aclError aclprofStart(const aclprofConfig *profilerConfig)
{
    int saved = errno;
    aclError code = ap__session_start(profilerConfig);

    errno = saved;
    return code;
}

ACL_FUNC_VISIBILITY aclError aclprofStop(const aclprofConfig *profilerConfig)
{
    int saved = errno;
    aclError code = ap__session_stop(profilerConfig);

    errno = saved;
    return code;
}

ACL_FUNC_VISIBILITY aclError aclprofWarmup(const aclprofConfig *profilerConfig)
{
    int saved = errno;
    aclError code = ap__session_warmup(profilerConfig);

    errno = saved;
    return code;
}

ACL_FUNC_VISIBILITY const char *aclprofGetLastError(void)
{
    return ap__last_error();
}

ACL_FUNC_VISIBILITY aclError aclprofGetStats(aclprofStats *stats)
{
    static const char api[] = "aclprofGetStats";
    const size_t least = offsetof(aclprofStats, emitted) + sizeof(stats->emitted);
    int saved = errno;
    aclprofStats full = {.size = sizeof(full)};
    aclError code = ACL_SUCCESS;
    size_t size = 0;
    char number[24];
    int n = 0;

    if (stats == NULL) {
        return ap__fail_null(api, "stats");
    }
    size = stats->size;
    if (size < least) {
        n = snprintf(number, sizeof(number), "%zu", size);
        return ap__fail_value(ACL_ERROR_INVALID_PARAM, api, "stats->size", number, (size_t)n,
                              "it must be at least %zu; set it to sizeof(aclprofStats)", least);
    }
    code = ap__session_stats(&full);
    if (code != ACL_SUCCESS) {
        errno = saved;
        return code;
    }
    full.size = size < sizeof(full) ? size : sizeof(full);
    memcpy(stats, &full, full.size);
    errno = saved;
    return ACL_SUCCESS;
}
