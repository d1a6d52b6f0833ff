/* SPDX-License-Identifier: Apache-2.0 */
/* Uses what only CANN's headers give, with what acl_prof.h gives. Include after both. */
#ifndef CANN_USE_H_
#define CANN_USE_H_

int run(void);
int run(void)
{
    aclrtStream stream = NULL;
    aclrtContext context = NULL;
    aclprofConfig *config;
    aclError ret = aclInit(NULL);

    if (ret == ACL_SUCCESS) {
        ret = aclrtSetDevice((int32_t)aclDataTypeSize(ACL_FLOAT));
    }
    if (ret == ACL_SUCCESS && aclrtCreateStream(&stream) == ACL_SUCCESS) {
        ret = aclrtGetCurrentContext(&context);
    }
    config = aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX);
    if (aclprofStart(config) == ACL_ERROR_INVALID_PARAM) {
        return ACL_ERROR_PROF_NOT_RUN;
    }
    return aclprofMarkEx("x", 1, stream);
}

#endif
