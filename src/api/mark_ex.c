/* SPDX-License-Identifier: Apache-2.0 */
/* aclprofMarkEx, and what older releases had for stamps. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "aclprof_ext.h"
#include "format/hash.h"
#include "format/wire_host.h"
#include "reporter/marks.h"
#include "reporter/report.h"
#include "ring/gate.h"
#include "session/arg_text.h"
#include "session/autostart.h"
#include "session/errtext.h"
#include "session/runtime_calls.h"

#define AP_MARK_EX_MAX (AP_TX_MESSAGE_BYTES - 1u)

static const char ap__api[] = "aclprofMarkEx";

static aclError ap__not_run(void)
{
    return ap__fail_order(ACL_ERROR_PROF_NOT_RUN, ap__api, "aclprofStart",
                          "no capture with ACL_PROF_MSPROFTX (0x80) runs");
}

static aclError ap__check(const char *msg, size_t length, const void *stream)
{
    char number[24];
    int n = snprintf(number, sizeof(number), "%zu", length);

    if (msg == NULL) {
        return ap__fail_null(ap__api, "msg");
    }
    if (stream == NULL) {
        return ap__fail_null(ap__api, "stream");
    }
    if (length == 0 || length > AP_MARK_EX_MAX) {
        return ap__fail_value(ACL_ERROR_INVALID_PARAM, ap__api, "msgLen", number, (size_t)n,
                              "it must be 1 to %u; pass strlen(msg) of a shorter text",
                              AP_MARK_EX_MAX);
    }
    if (!ap__arg_length_fits(msg, length)) {
        return ap__fail_value(ACL_ERROR_INVALID_PARAM, ap__api, "msgLen", number, (size_t)n,
                              "it is not the length of msg; pass strlen(msg)");
    }
    return ACL_SUCCESS;
}

static aclError ap__record(const char *msg, size_t length, void *stream)
{
    ap__mark mark = {.event = AP_TX_MARK_EX};

    if (ap__gate_key() == AP_GATE_CLOSED && !ap__autostart_used()) {
        return ap__not_run();
    }
    mark.id = ap__mark_id_next();
    if (!ap__runtime_trace(mark.id, AP_TRACE_MARK, stream)) {
        return ap__fail(ACL_ERROR_GE_FAILURE, AP_EK_INNER, ap__api,
                        "The runtime refuses the mark on the stream; nothing is recorded. Pass a "
                        "stream of the device that this thread has set.");
    }
    mark.thread = ap__report_thread();
    mark.start = ap__report_time();
    mark.end = mark.start;
    mark.domain = ap__hash_id("default", 7);
    return ap__mark_emit(&mark, msg, length) ? ACL_SUCCESS : ap__not_run();
}

ACL_FUNC_VISIBILITY aclError aclprofMarkEx(const char *msg, size_t msgLen, aclrtStream stream)
{
    int saved = errno;
    aclError code = ap__check(msg, msgLen, stream);

    code = code != ACL_SUCCESS ? code : ap__record(msg, msgLen, stream);
    errno = saved;
    return code;
}

/* ---- of older releases ---- */

ACL_FUNC_VISIBILITY aclError aclprofMsproftxSwitch(bool isOpen)
{
    (void)isOpen; /* what is recorded is said by the config, as in the releases without this call */
    return ACL_SUCCESS;
}

ACL_FUNC_VISIBILITY aclError aclprofReportStamp(const char *tag, uint32_t tagLen,
                                                unsigned char *data, uint32_t dataLen)
{
    (void)tagLen;
    (void)dataLen;
    if (tag == NULL) {
        return ap__fail_null("aclprofReportStamp", "tag");
    }
    if (data == NULL) {
        return ap__fail_null("aclprofReportStamp", "data");
    }
    return ACL_SUCCESS; /* its layout was never published: accepted, as there is nothing to keep */
}
