/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a training or inference loop. */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl_prof.h"
#include "api/step_mark.h"
#include "reporter/report.h"
#include "session/control_socket.h"
#include "session/errtext.h"
#include "session/runtime_calls.h"

#define AP_TYPE_STEP 11u

/* Frameworks cast to this and overwrite the number. */
struct aclprofStepInfo {
    bool marked[2]; /* by aclprofStepTag */
    uint64_t index;
};

_Static_assert(sizeof(struct aclprofStepInfo) == 16, "step info");
_Static_assert(offsetof(struct aclprofStepInfo, index) == 8, "step info");

ACL_FUNC_VISIBILITY aclprofStepInfo *aclprofCreateStepInfo(void)
{
    static _Atomic uint64_t numbers;
    int saved = errno;
    aclprofStepInfo *step = calloc(1, sizeof(*step));

    if (step == NULL) {
        (void)ap__fail(ACL_ERROR_BAD_ALLOC, AP_EK_MEMORY, "aclprofCreateStepInfo",
                       "Failed to allocate %zu bytes of host memory for a step.", sizeof(*step));
    } else {
        step->index = atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed) + 1;
    }
    errno = saved;
    return step;
}

ACL_FUNC_VISIBILITY void aclprofDestroyStepInfo(aclprofStepInfo *stepInfo)
{
    free(stepInfo);
}

bool ap__step_mark(uint64_t index, uint16_t tag, void *stream)
{
    ap__wire_api record = {.magic = AP_WIRE_MAGIC, .level = AP_LEVEL_NODE, .type = AP_TYPE_STEP};

    record.begin = ap__report_time();
    if (!ap__runtime_trace(index, tag, stream)) {
        return false;
    }
    record.end = ap__report_time();
    record.thread_id = ap__report_thread();
    record.item_id = tag;
    (void)ap__report_api(true, &record);
    if (tag == ACL_STEP_END) {
        atomic_fetch_add_explicit(&ap__steps_ended, 1, memory_order_relaxed);
    }
    return true;
}

static aclError ap__mark_step(aclprofStepInfo *step, aclprofStepTag tag, void *stream)
{
    static const char api[] = "aclprofGetStepTimestamp";
    char number[16];
    int n = snprintf(number, sizeof(number), "%d", (int)tag);

    if (step == NULL) {
        return ap__fail_null(api, "stepInfo");
    }
    if (stream == NULL) {
        return ap__fail_null(api, "stream");
    }
    if (tag != ACL_STEP_START && tag != ACL_STEP_END) {
        return ap__fail_value(ACL_ERROR_INVALID_PARAM, api, "tag", number, (size_t)n,
                              "it must be ACL_STEP_START (0) or ACL_STEP_END (1)");
    }
    if (step->marked[tag]) {
        return ap__fail_value(ACL_ERROR_INVALID_PARAM, api, "tag", number, (size_t)n,
                              "this edge of the step %" PRIu64
                              " is marked already; make a step for each with "
                              "aclprofCreateStepInfo",
                              step->index);
    }
    if (!ap__step_mark(step->index, (uint16_t)tag, stream)) {
        return ap__fail(ACL_ERROR_GE_FAILURE, AP_EK_INNER, api,
                        "The runtime refuses the mark on the stream. Pass a stream of the device "
                        "that this thread has set, and try again.");
    }
    step->marked[tag] = true;
    return ACL_SUCCESS;
}

ACL_FUNC_VISIBILITY aclError aclprofGetStepTimestamp(aclprofStepInfo *stepInfo, aclprofStepTag tag,
                                                     aclrtStream stream)
{
    int saved = errno;
    aclError code = ap__mark_step(stepInfo, tag, stream);

    errno = saved;
    return code;
}
