/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-in for CANN's main header. */
#ifndef INC_EXTERNAL_ACL_ACL_H_
#define INC_EXTERNAL_ACL_ACL_H_

#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclError aclInit(const char *configPath);

#ifdef __cplusplus
}
#endif

#endif
