/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of the records that a subscription has written to a pipe. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "acl/acl_prof.h"
#include "aclprof_ext.h"
#include "aclprof_reporter.h"
#include "format/wire_op.h"
#include "session/errtext.h"
#include "subscribe/op_names.h"

/* ---- checks ---- */

static aclError ap__bad(const char *api, const char *param, size_t value, const char *reason)
{
    char text[24];
    int n = snprintf(text, sizeof(text), "%zu", value);

    return ap__fail_value(ACL_ERROR_INVALID_PARAM, api, param, text, (size_t)n, "%s", reason);
}

static aclError ap__check(const char *api, const void *info, size_t length)
{
    size_t count = length / sizeof(ap__wire_op);

    if (info == NULL) {
        return ap__fail_null(api, "opInfo");
    }
    if (length == 0 || length % sizeof(ap__wire_op) != 0 || count > UINT32_MAX) {
        return ap__bad(api, "opInfoLen", length,
                       "it must be a multiple of 80, as many bytes as whole records");
    }
    for (size_t i = 0; i < count; i++) {
        ap__wire_op record;

        memcpy(&record, (const char *)info + i * sizeof(record), sizeof(record));
        if (record.signature != ap__op_signature(&record)) {
            return ap__bad(api, "opInfo", i, "the record of this number is damaged; pass what was "
                                             "read from the pipe, from the start of a record");
        }
    }
    return ACL_SUCCESS;
}

static aclError ap__get(const char *api, const void *info, size_t length, uint32_t index,
                        ap__wire_op *out)
{
    aclError code = ap__check(api, info, length);

    if (code == ACL_SUCCESS && index >= length / sizeof(*out)) {
        char reason[64];

        (void)snprintf(reason, sizeof(reason), "there are %zu records, from 0",
                       length / sizeof(*out));
        code = ap__bad(api, "index", index, reason);
    }
    if (code == ACL_SUCCESS) {
        memcpy(out, (const char *)info + (size_t)index * sizeof(*out), sizeof(*out));
    }
    return code;
}

/* ---- numbers ---- */

ACL_FUNC_VISIBILITY aclError aclprofGetOpDescSize(size_t *opDescSize)
{
    if (opDescSize == NULL) {
        return ap__fail_null("aclprofGetOpDescSize", "opDescSize");
    }
    *opDescSize = sizeof(ap__wire_op);
    return ACL_SUCCESS;
}

ACL_FUNC_VISIBILITY aclError aclprofGetOpNum(const void *opInfo, size_t opInfoLen,
                                             uint32_t *opNumber)
{
    static const char api[] = "aclprofGetOpNum";
    aclError code = ap__check(api, opInfo, opInfoLen);

    if (code == ACL_SUCCESS && opNumber == NULL) {
        return ap__fail_null(api, "opNumber");
    }
    if (code == ACL_SUCCESS) {
        *opNumber = (uint32_t)(opInfoLen / sizeof(ap__wire_op));
    }
    return code;
}

ACL_FUNC_VISIBILITY uint64_t aclprofGetOpStart(const void *opInfo, size_t opInfoLen, uint32_t index)
{
    ap__wire_op r;

    return ap__get("aclprofGetOpStart", opInfo, opInfoLen, index, &r) == 0 ? r.start_ns : 0;
}

ACL_FUNC_VISIBILITY uint64_t aclprofGetOpEnd(const void *opInfo, size_t opInfoLen, uint32_t index)
{
    ap__wire_op r;

    return ap__get("aclprofGetOpEnd", opInfo, opInfoLen, index, &r) == 0 ? r.end_ns : 0;
}

ACL_FUNC_VISIBILITY uint64_t aclprofGetOpDuration(const void *opInfo, size_t opInfoLen,
                                                  uint32_t index)
{
    ap__wire_op r;

    return ap__get("aclprofGetOpDuration", opInfo, opInfoLen, index, &r) == 0 ? r.duration_us : 0;
}

REPORTER_API uint64_t ProfGetOpExecutionTime(const void *data, uint32_t length, uint32_t index)
{
    ap__wire_op r;

    return ap__get("ProfGetOpExecutionTime", data, length, index, &r) == 0 ? r.execution_ns : 0;
}

ACL_FUNC_VISIBILITY size_t aclprofGetModelId(const void *opInfo, size_t opInfoLen, uint32_t index)
{
    ap__wire_op r;

    return ap__get("aclprofGetModelId", opInfo, opInfoLen, index, &r) == 0 ? r.model : 0;
}

ACL_FUNC_VISIBILITY size_t aclprofGetGraphId(const void *opInfo, size_t opInfoLen, uint32_t index)
{
    ap__wire_op r;

    return ap__get("aclprofGetGraphId", opInfo, opInfoLen, index, &r) == 0 ? r.model : 0;
}

ACL_FUNC_VISIBILITY aclprofSubscribeOpFlag aclprofGetOpFlag(const void *opInfo, size_t opInfoLen,
                                                            uint32_t index)
{
    ap__wire_op r;

    if (ap__get("aclprofGetOpFlag", opInfo, opInfoLen, index, &r) != 0 ||
        r.flag > AP_OP_FLAG_THREAD) {
        return ACL_SUBSCRIBE_NONE;
    }
    return (aclprofSubscribeOpFlag)r.flag;
}

/* ---- texts ---- */

typedef size_t (*ap__text_fn)(uint64_t number, char *out, size_t size);

/* The operator of a record and the bytes of its text with the end. out: where the caller's answer
 * goes, of the parameter `param`. */
static aclError ap__named(const char *api, const void *info, size_t length, uint32_t index,
                          ap__text_fn text, const char *param, const void *out, uint64_t *op,
                          size_t *need)
{
    ap__wire_op r;
    aclError code = ap__get(api, info, length, index, &r);
    size_t n = 0;

    if (code != ACL_SUCCESS) {
        return code;
    }
    n = text(r.op, NULL, 0);
    if (n == 0) {
        return ap__fail(ACL_ERROR_INVALID_PARAM, AP_EK_BAD_VALUE, api,
                        "Value [%" PRIu32 "] for parameter index is invalid. Reason: this process "
                        "does not know the operator's name; only the one that has subscribed does.",
                        index);
    }
    if (out == NULL) {
        return ap__fail_null(api, param);
    }
    *op = r.op;
    *need = n + 1;
    return ACL_SUCCESS;
}

static aclError ap__text_length(const char *api, const void *info, size_t length, uint32_t index,
                                ap__text_fn text, const char *param, size_t *out)
{
    uint64_t op = 0;
    size_t need = 0;
    aclError code = ap__named(api, info, length, index, text, param, out, &op, &need);

    if (code == ACL_SUCCESS) {
        *out = need;
    }
    return code;
}

static aclError ap__text(const char *api, const void *info, size_t length, uint32_t index,
                         ap__text_fn text, const char *param, char *out, size_t size)
{
    uint64_t op = 0;
    size_t need = 0;
    aclError code = ap__named(api, info, length, index, text, param, out, &op, &need);

    if (code == ACL_SUCCESS && size < need) {
        char reason[64];

        (void)snprintf(reason, sizeof(reason), "the text needs %zu bytes with its end", need);
        code = ap__bad(api, "length", size, reason);
    }
    if (code == ACL_SUCCESS) {
        (void)text(op, out, size);
    }
    return code;
}

ACL_FUNC_VISIBILITY aclError aclprofGetOpTypeLen(const void *opInfo, size_t opInfoLen,
                                                 uint32_t index, size_t *opTypeLen)
{
    return ap__text_length("aclprofGetOpTypeLen", opInfo, opInfoLen, index, ap__op_type,
                           "opTypeLen", opTypeLen);
}

ACL_FUNC_VISIBILITY aclError aclprofGetOpType(const void *opInfo, size_t opInfoLen, uint32_t index,
                                              char *opType, size_t opTypeLen)
{
    return ap__text("aclprofGetOpType", opInfo, opInfoLen, index, ap__op_type, "opType", opType,
                    opTypeLen);
}

ACL_FUNC_VISIBILITY aclError aclprofGetOpNameLen(const void *opInfo, size_t opInfoLen,
                                                 uint32_t index, size_t *opNameLen)
{
    return ap__text_length("aclprofGetOpNameLen", opInfo, opInfoLen, index, ap__op_name,
                           "opNameLen", opNameLen);
}

ACL_FUNC_VISIBILITY aclError aclprofGetOpName(const void *opInfo, size_t opInfoLen, uint32_t index,
                                              char *opName, size_t opNameLen)
{
    return ap__text("aclprofGetOpName", opInfo, opInfoLen, index, ap__op_name, "opName", opName,
                    opNameLen);
}

ACL_FUNC_VISIBILITY const char *aclprofGetOpAttriValue(const void *opInfo, size_t opInfoLen,
                                                       uint32_t index,
                                                       aclprofSubscribeOpAttri attri)
{
    static const char api[] = "aclprofGetOpAttriValue";
    static __thread char text[16];
    ap__wire_op r;

    if (ap__get(api, opInfo, opInfoLen, index, &r) != ACL_SUCCESS) {
        return NULL;
    }
    if (attri != ACL_SUBSCRIBE_ATTRI_THREADID || r.flag != AP_OP_FLAG_THREAD) {
        (void)ap__bad(api, "attri", (size_t)attri,
                      "the only attribute is ACL_SUBSCRIBE_ATTRI_THREADID (0), of records of "
                      "ACL_SUBSCRIBE_OP_THREAD");
        return NULL;
    }
    (void)snprintf(text, sizeof(text), "%" PRIu32, r.thread);
    return text;
}
