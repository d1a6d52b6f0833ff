/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of custom kernels with their tensors: a stack for each thread. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl_prof.h"
#include "reporter/report.h"
#include "session/errtext.h"

#define AP_TYPE_TENSOR 1u
#define AP_TENSORS_A_RECORD 5u
#define AP_TENSORS_MAX 65536u

/* Data of a tensor record. */
typedef struct __attribute__((packed)) ap__wire_tensor {
    uint32_t kind;
    uint32_t format;
    uint32_t data_type;
    uint32_t shape[8];
} ap__wire_tensor;

typedef struct __attribute__((packed)) ap__wire_tensors {
    uint64_t op_name;
    uint32_t count;
    ap__wire_tensor tensors[AP_TENSORS_A_RECORD];
} ap__wire_tensors;

_Static_assert(sizeof(ap__wire_tensor) == 44, "tensor");
_Static_assert(offsetof(ap__wire_tensor, shape) == 12, "tensor");
_Static_assert(sizeof(ap__wire_tensors) == AP_WIRE_ADDITIONAL_DATA, "tensors");
_Static_assert(offsetof(ap__wire_tensors, tensors) == 12, "tensors");

typedef struct ap__launch {
    struct ap__launch *below;
    uint64_t pushed;
    uint64_t op_name;
    uint32_t count;
    ap__wire_tensor tensors[];
} ap__launch;

static pthread_once_t ap__key_once = PTHREAD_ONCE_INIT;
static pthread_key_t ap__key; /* what is open when a thread ends is freed */
static int ap__key_rc;

static void ap__free_all(void *top)
{
    for (ap__launch *l = top, *below = NULL; l != NULL; l = below) {
        below = l->below;
        free(l);
    }
}

static void ap__make_key(void)
{
    ap__key_rc = pthread_key_create(&ap__key, ap__free_all);
}

static aclError ap__bad_number(const char *param, uint32_t value, const char *reason)
{
    char number[16];
    int n = snprintf(number, sizeof(number), "%" PRIu32, value);

    return ap__fail_value(ACL_ERROR_INVALID_PARAM, "aclprofRangePushEx", param, number, (size_t)n,
                          "%s", reason);
}

static aclError ap__check(const aclprofEventAttributes *attr)
{
    static const char api[] = "aclprofRangePushEx";

    if (attr == NULL) {
        return ap__fail_null(api, "attr");
    }
    if (attr->version != 1) {
        return ap__bad_number("attr->version", attr->version, "it must be 1");
    }
    if (attr->size < sizeof(*attr)) {
        return ap__bad_number("attr->size", attr->size,
                              "it must be sizeof(aclprofEventAttributes), 16");
    }
    if (attr->messageType != 0) {
        return ap__bad_number("attr->messageType", attr->messageType,
                              "it must be 0 (message.tensorInfo)");
    }
    if (attr->message.tensorInfo == NULL) {
        return ap__fail_null(api, "attr->message.tensorInfo");
    }
    if (attr->message.tensorInfo->tensorNum > AP_TENSORS_MAX) {
        return ap__bad_number("tensorInfo->tensorNum", attr->message.tensorInfo->tensorNum,
                              "it must be 0 to 65536");
    }
    if (attr->message.tensorInfo->tensorNum != 0 && attr->message.tensorInfo->tensors == NULL) {
        return ap__fail_null(api, "attr->message.tensorInfo->tensors");
    }
    return ACL_SUCCESS;
}

static aclError ap__push(const aclprofTensorInfo *info)
{
    ap__launch *launch = malloc(sizeof(*launch) + info->tensorNum * sizeof(launch->tensors[0]));

    (void)pthread_once(&ap__key_once, ap__make_key);
    if (launch == NULL || ap__key_rc != 0) {
        free(launch);
        return ap__fail(ACL_ERROR_BAD_ALLOC, AP_EK_MEMORY, "aclprofRangePushEx",
                        "Failed to allocate host memory for a launch of %" PRIu32 " tensors.",
                        info->tensorNum);
    }
    launch->below = pthread_getspecific(ap__key);
    launch->pushed = ap__report_time();
    launch->op_name = info->opNameId;
    launch->count = info->tensorNum;
    for (uint32_t i = 0; i < info->tensorNum; i++) {
        const aclprofTensor *t = &info->tensors[i];
        ap__wire_tensor *w = &launch->tensors[i];

        *w = (ap__wire_tensor){t->type, t->format, t->dataType, {0}};
        for (uint32_t k = 0; k < t->shapeDim && k < 8; k++) {
            w->shape[k] = t->shape[k];
        }
    }
    if (pthread_setspecific(ap__key, launch) != 0) {
        free(launch);
        return ap__fail(ACL_ERROR_BAD_ALLOC, AP_EK_MEMORY, "aclprofRangePushEx",
                        "Failed to allocate host memory for the stack of a thread.");
    }
    return ACL_SUCCESS;
}

ACL_FUNC_VISIBILITY aclError aclprofRangePushEx(aclprofEventAttributes *attr)
{
    int saved = errno;
    aclError code = ap__check(attr);

    code = code != ACL_SUCCESS ? code : ap__push(attr->message.tensorInfo);
    errno = saved;
    return code;
}

/* One record for up to five tensors; one, too, for none. */
static void ap__report(const ap__launch *launch)
{
    uint64_t now = ap__report_time();
    uint32_t done = 0;

    do {
        ap__wire_additional record = {
            .magic = AP_WIRE_MAGIC,
            .level = AP_LEVEL_NODE,
            .type = AP_TYPE_TENSOR,
            .thread_id = ap__report_thread(),
            .time_stamp = launch->pushed + (now - launch->pushed) / 2,
        };
        ap__wire_tensors data = {.op_name = launch->op_name};
        uint32_t left = launch->count - done;

        data.count = left < AP_TENSORS_A_RECORD ? left : AP_TENSORS_A_RECORD;
        memcpy(data.tensors, launch->tensors + done, data.count * sizeof(data.tensors[0]));
        record.data_length =
            (uint32_t)(offsetof(ap__wire_tensors, tensors) + data.count * sizeof(data.tensors[0]));
        memcpy(record.data, &data, sizeof(data));
        (void)ap__report_additional(false, &record, sizeof(record));
        done += data.count;
    } while (done < launch->count);
}

ACL_FUNC_VISIBILITY aclError aclprofRangePop(void)
{
    int saved = errno;
    ap__launch *launch = NULL;

    (void)pthread_once(&ap__key_once, ap__make_key);
    launch = ap__key_rc == 0 ? pthread_getspecific(ap__key) : NULL;
    if (launch == NULL) {
        return ap__fail_order(ACL_ERROR_INVALID_PARAM, "aclprofRangePop", "aclprofRangePushEx",
                              "this thread has no launch open");
    }
    (void)pthread_setspecific(ap__key, launch->below);
    ap__report(launch);
    free(launch);
    errno = saved;
    return ACL_SUCCESS;
}
