/* SPDX-License-Identifier: Apache-2.0 */
/* acl_prof.h without CANN. */
#include <acl/acl_prof.h>

#if defined(INC_EXTERNAL_ACL_ACL_BASE_H_) || defined(INC_EXTERNAL_ACL_ACL_BASE_RT_H_)
#error "CANN's guards must stay CANN's"
#endif

#include "codes.h"
#include "prototypes.h"
