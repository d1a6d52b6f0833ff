/* SPDX-License-Identifier: Apache-2.0 */
/* The error codes as a program without CANN sees them: values, and usable where programs use
 * them. Include after acl_prof.h. */
#ifndef CODES_H_
#define CODES_H_

#define CODE(name, value) typedef char check_##name[(name) == (value) ? 1 : -1];

CODE(ACL_SUCCESS, 0)
CODE(ACL_ERROR_NONE, 0)
CODE(ACL_ERROR_INVALID_PARAM, 100000)
CODE(ACL_ERROR_UNINITIALIZE, 100001)
CODE(ACL_ERROR_REPEAT_INITIALIZE, 100002)
CODE(ACL_ERROR_INVALID_FILE, 100003)
CODE(ACL_ERROR_INVALID_PROFILING_CONFIG, 100010)
CODE(ACL_ERROR_INVALID_MODEL_ID, 100011)
CODE(ACL_ERROR_COMPILING_STUB_MODE, 100039)
CODE(ACL_ERROR_PROF_ALREADY_RUN, 100042)
CODE(ACL_ERROR_PROF_NOT_RUN, 100043)
CODE(ACL_ERROR_PROF_REPEAT_SUBSCRIBE, 148046)
CODE(ACL_ERROR_PROF_API_CONFLICT, 148047)
CODE(ACL_ERROR_BAD_ALLOC, 200000)
CODE(ACL_ERROR_FEATURE_UNSUPPORTED, 200006)
CODE(ACL_ERROR_PROF_MODULES_UNSUPPORTED, 200007)
CODE(ACL_ERROR_GE_FAILURE, 500002)
CODE(ACL_ERROR_PROFILING_FAILURE, 500005)

int explain(aclError code);
int explain(aclError code)
{
    switch (code) {
    case ACL_SUCCESS:
        return 0;
    case ACL_ERROR_PROF_NOT_RUN:
        return 1;
    default:
#ifdef __cplusplus
        return code == ::ACL_ERROR_INVALID_PARAM ? 2 : 3;
#else
        return code == ACL_ERROR_INVALID_PARAM ? 2 : 3;
#endif
    }
}

#endif
