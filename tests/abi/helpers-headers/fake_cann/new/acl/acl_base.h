/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-in for the base header of a newer CANN: split in two. */
#ifndef INC_EXTERNAL_ACL_ACL_BASE_H_
#define INC_EXTERNAL_ACL_ACL_BASE_H_

#include "acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { ACL_DT_UNDEFINED = -1, ACL_FLOAT = 0 } aclDataType;

ACL_FUNC_VISIBILITY size_t aclDataTypeSize(aclDataType dataType);

#ifdef __cplusplus
}
#endif

#endif
