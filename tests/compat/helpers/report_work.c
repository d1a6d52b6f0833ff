/* SPDX-License-Identifier: Apache-2.0 */
/* report_work DIRECTORY COST_US: a capture for test_report.sh: sixty rounds of pushes around
 * kernels of the simulated NPU, of which MatMul takes COST_US, and marks with a name that would
 * like to be a script. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl_prof.h"
#include "sim_runtime.h"

#define ROUNDS 60

static void *stamp_of(const char *message)
{
    void *stamp = aclprofCreateStamp();

    return stamp != NULL &&
                   aclprofSetStampTraceMessage(stamp, message, (uint32_t)strlen(message)) == 0
               ? stamp
               : NULL;
}

static int kernel(simrtStream stream, const char *name, double cost_us)
{
    const simrtKernel k = {
        .size = sizeof(k), .name = name, .core = SIMRT_CUBE, .blocks = 4, .cost_us = cost_us};

    return simrtLaunchKernel(stream, &k, NULL);
}

static int work(double cost_us)
{
    void *step = stamp_of("step");
    void *inner = stamp_of("prepare");
    void *mark = stamp_of("</script><script>document.body.dataset.broken=1</script><!--");
    simrtStream stream = NULL;
    int bad = step == NULL || inner == NULL || mark == NULL || simrtSetDevice(0) != 0 ||
              simrtCreateStream(&stream) != 0;

    for (int i = 0; bad == 0 && i < ROUNDS; i++) {
        bad |= aclprofPush(step) != 0 || aclprofPush(inner) != 0 || aclprofMark(mark) != 0 ||
               aclprofPop() != 0;
        bad |= kernel(stream, "MatMul", cost_us) != 0 || kernel(stream, "Add", 5) != 0;
        bad |= simrtSynchronizeStream(stream) != 0 || aclprofPop() != 0;
    }
    aclprofDestroyStamp(step);
    aclprofDestroyStamp(inner);
    aclprofDestroyStamp(mark);
    return bad;
}

int main(int argc, char **argv)
{
    uint32_t device = 0;
    aclprofConfig *config = NULL;
    int bad = 0;

    if (argc != 3 || aclprofInit(argv[1], strlen(argv[1])) != 0) {
        return 2;
    }
    config = aclprofCreateConfig(&device, 1, ACL_AICORE_PIPE_UTILIZATION, NULL,
                                 ACL_PROF_MSPROFTX | ACL_PROF_ACL_API | ACL_PROF_RUNTIME_API |
                                     ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS);
    if (config == NULL || aclprofStart(config) != 0) {
        return 3;
    }
    bad = work(strtod(argv[2], NULL));
    bad |= aclprofStop(config) != 0 || aclprofDestroyConfig(config) != 0 || aclprofFinalize() != 0;
    return bad != 0;
}
