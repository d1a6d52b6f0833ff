/* SPDX-License-Identifier: Apache-2.0 */
/* Stamp attributes and text ids. */
#include <errno.h>
#include <string.h>

#include "aclprof_ext.h"
#include "ring/gate.h"
#include "session/errtext.h"
#include "stamp/body.h"
#include "stamp/intern.h"

static aclError ap__bad_stamp(const char *api)
{
    return ap__fail(ACL_ERROR_INVALID_PARAM, AP_EK_BAD_VALUE, api,
                    "Value for parameter stamp is not a live stamp. Reason: it is NULL, was "
                    "destroyed, or was not made by aclprofCreateStamp; pass the handle that "
                    "aclprofCreateStamp returned and destroy it last.");
}

static aclError ap__no_text_memory(const char *api)
{
    return ap__fail(ACL_ERROR_BAD_ALLOC, AP_EK_MEMORY, api,
                    "Failed to keep the text: host memory, or the 64 MiB that this library keeps "
                    "for long texts, is used up. Use fewer different texts.");
}

ACL_FUNC_VISIBILITY aclError aclprofSetStampCategory(void *stamp, uint32_t category)
{
    ap__stamp *s = ap__stamp_get((uintptr_t)stamp);

    if (s == NULL) {
        return ap__bad_stamp("aclprofSetStampCategory");
    }
    ap__stamp_set_category(s, category);
    return ACL_SUCCESS;
}

ACL_FUNC_VISIBILITY aclError aclprofSetStampPayload(void *stamp, const int32_t type, void *value)
{
    ap__stamp *s = ap__stamp_get((uintptr_t)stamp);
    uint64_t v = 0;

    if (s == NULL) {
        return ap__bad_stamp("aclprofSetStampPayload");
    }
    if (value == NULL) {
        return ap__fail_null("aclprofSetStampPayload", "value");
    }
    memcpy(&v, value, sizeof(v));
    ap__stamp_set_payload(s, type, v);
    return ACL_SUCCESS;
}

static aclError ap__set_text(const char *api, const char *param, void *stamp, uint32_t flag,
                             const char *text, size_t limit)
{
    int saved_errno = errno;
    ap__stamp *s = ap__stamp_get((uintptr_t)stamp);
    const char *nul = NULL;
    uint64_t id = 0;

    if (s == NULL) {
        return ap__bad_stamp(api);
    }
    if (text == NULL) {
        return ap__fail_null(api, param);
    }
    nul = memchr(text, '\0', limit);
    if (!ap__intern(AP_INTERN_NAME, text, nul == NULL ? limit : (size_t)(nul - text), &id)) {
        errno = saved_errno;
        return ap__no_text_memory(api);
    }
    ap__stamp_set_text_id(s, flag, id);
    errno = saved_errno;
    return ACL_SUCCESS;
}

ACL_FUNC_VISIBILITY aclError aclprofSetStampTagName(void *stamp, const char *tagName, uint16_t len)
{
    return ap__set_text("aclprofSetStampTagName", "tagName", stamp, AP_BODY_TAG, tagName, len);
}

ACL_FUNC_VISIBILITY aclError aclprofSetStampCallStack(void *stamp, const char *callStack,
                                                      uint32_t len)
{
    return ap__set_text("aclprofSetStampCallStack", "callStack", stamp, AP_BODY_STACK, callStack,
                        len);
}

ACL_FUNC_VISIBILITY aclError aclprofSetCategoryName(uint32_t category, const char *categoryName)
{
    int saved_errno = errno;

    if (categoryName == NULL) {
        return ap__fail_null("aclprofSetCategoryName", "categoryName");
    }
    if (categoryName[0] == '\0') {
        return ap__fail(ACL_ERROR_INVALID_PARAM, AP_EK_BAD_VALUE, "aclprofSetCategoryName",
                        "Value [] for parameter categoryName is invalid. Reason: it must have at "
                        "least one character.");
    }
    if (ap__gate_key() == AP_GATE_CLOSED) {
        return ap__fail(ACL_ERROR_PROF_NOT_RUN, AP_EK_CALL_ORDER, "aclprofSetCategoryName",
                        "No capture with ACL_PROF_MSPROFTX (0x80) runs. Call aclprofStart with a "
                        "config whose dataTypeConfig has that bit first.");
    }
    if (!ap__intern_category(category, categoryName, strlen(categoryName))) {
        errno = saved_errno;
        return ap__no_text_memory("aclprofSetCategoryName");
    }
    errno = saved_errno;
    return ACL_SUCCESS;
}

ACL_FUNC_VISIBILITY uint64_t aclprofStr2Id(const char *message)
{
    int saved_errno = errno;
    uint64_t id = UINT64_MAX;

    if (message == NULL || message[0] == '\0') {
        (void)ap__fail(ACL_ERROR_INVALID_PARAM, AP_EK_BAD_VALUE, "aclprofStr2Id",
                       "Value for parameter message is invalid. Reason: it is NULL or empty; pass "
                       "a text of at least one character.");
        return UINT64_MAX;
    }
    if (!ap__intern(AP_INTERN_HASH, message, strlen(message), &id)) {
        (void)ap__no_text_memory("aclprofStr2Id");
        id = UINT64_MAX;
    }
    errno = saved_errno;
    return id;
}
