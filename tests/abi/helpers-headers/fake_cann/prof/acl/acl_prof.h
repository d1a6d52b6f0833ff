/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-in for CANN's own acl_prof.h: enough for aclprof_ext.h, and a name that ours lacks. */
#ifndef INC_EXTERNAL_ACL_PROF_H_
#define INC_EXTERNAL_ACL_PROF_H_

#include <acl/acl_base.h>

#define FAKE_CANN_PROF_SEEN 1

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclprofConfig aclprofConfig;

ACL_FUNC_VISIBILITY aclError aclprofStart(const aclprofConfig *profilerConfig);

#ifdef __cplusplus
}
#endif

#endif
