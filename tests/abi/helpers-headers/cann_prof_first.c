/* SPDX-License-Identifier: Apache-2.0 */
/* CANN's acl_prof.h has been included by path (-include) before: ours adds nothing. */
#ifndef FAKE_CANN_PROF_SEEN
#error "the script includes CANN's acl_prof.h first"
#endif
#include <acl/acl_prof.h>

#ifdef ACL_PROF_ACL_API
#error "ours must step aside"
#endif

#ifdef HAVE_EXT
#include <aclprof_ext.h>
#endif

int run(const aclprofConfig *config);
int run(const aclprofConfig *config)
{
    return aclprofStart(config) == ACL_SUCCESS;
}
