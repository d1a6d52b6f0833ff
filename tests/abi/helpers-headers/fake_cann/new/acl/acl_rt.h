/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-in for the runtime header of a newer CANN: needs the runtime's part only. */
#ifndef INC_EXTERNAL_ACL_ACL_RT_H_
#define INC_EXTERNAL_ACL_ACL_RT_H_

#include "acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclError aclrtSetDevice(int32_t deviceId);
ACL_FUNC_VISIBILITY aclError aclrtCreateStream(aclrtStream *stream);
ACL_FUNC_VISIBILITY aclError aclrtGetCurrentContext(aclrtContext *context);

#ifdef __cplusplus
}
#endif

#endif
