/* SPDX-License-Identifier: Apache-2.0 */
/* aclprofMarkEx, and what older releases had for stamps. */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "aclprof_ext.h"
#include "format/hash.h"
#include "format/utf8.h"
#include "reporter/report.h"
#include "ring/raw.h"
#include "session/arg_text.h"
#include "session/autostart.h"
#include "session/errtext.h"
#include "session/runtime_calls.h"

#define AP_MARK_EX_MAX (AP_TX_MESSAGE_BYTES - 1u)

static const char ap__api[] = "aclprofMarkEx";
static _Atomic uint64_t ap__mark_ids;

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

static aclError ap__mark(const char *msg, size_t length, void *stream)
{
    ap__wire_additional record = {.magic = AP_WIRE_MAGIC,
                                  .level = AP_LEVEL_TX,
                                  .type = AP_TYPE_TX,
                                  .data_length = AP_TX_DATA_BYTES};
    ap__wire_tx tx = {.info_type = AP_TX_INFO_EX, .event_type = AP_TX_MARK_EX};
    char clean[3 * AP_MARK_EX_MAX + 8];
    size_t n = 0;

    if (ap__gate_key() == AP_GATE_CLOSED && !ap__autostart_used()) {
        return ap__not_run();
    }
    tx.mark_id = atomic_fetch_add_explicit(&ap__mark_ids, 1, memory_order_relaxed) + 1;
    if (!ap__runtime_trace(tx.mark_id, AP_TRACE_MARK, stream)) {
        return ap__fail(ACL_ERROR_GE_FAILURE, AP_EK_INNER, ap__api,
                        "The runtime refuses the mark on the stream; nothing is recorded. Pass a "
                        "stream of the device that this thread has set.");
    }
    n = ap__utf8_clean(clean, sizeof(clean), msg, length);
    n = ap__utf8_cut(clean, n, AP_MARK_EX_MAX);
    tx.process_id = (uint32_t)getpid();
    tx.thread_id = ap__report_thread();
    tx.start_time = ap__report_time();
    tx.end_time = tx.start_time;
    tx.domain = ap__hash_id("default", 7);
    memcpy(tx.message, clean, n);
    record.thread_id = tx.thread_id;
    record.time_stamp = tx.start_time;
    memcpy(record.data, &tx, sizeof(tx));
    return ap__raw_emit(AP_RAW_ADDITIONAL | AP_RAW_AGING | AP_RAW_OF_STAMPS, &record,
                        sizeof(record), NULL, 0) == AP_RAW_TAKEN
               ? ACL_SUCCESS
               : ap__not_run();
}

ACL_FUNC_VISIBILITY aclError aclprofMarkEx(const char *msg, size_t msgLen, aclrtStream stream)
{
    int saved = errno;
    aclError code = ap__check(msg, msgLen, stream);

    code = code != ACL_SUCCESS ? code : ap__mark(msg, msgLen, stream);
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
