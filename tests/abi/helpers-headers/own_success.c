/* SPDX-License-Identifier: Apache-2.0 */
/* Clients that have their own macro for a code, before or after. */
#define ACL_SUCCESS 0
#include <acl/acl_prof.h>

#ifndef ACL_ERROR_NONE
#define ACL_ERROR_NONE 0
#endif

int ok(aclError code);
int ok(aclError code)
{
    return code == ACL_SUCCESS || code == ACL_ERROR_NONE;
}
