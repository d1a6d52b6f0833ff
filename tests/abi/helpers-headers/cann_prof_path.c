/* SPDX-License-Identifier: Apache-2.0 */
/* CANN's acl_prof.h is found in front of ours; aclprof_ext.h lives with it. */
#include <acl/acl_prof.h>

#ifndef FAKE_CANN_PROF_SEEN
#error "CANN's acl_prof.h is in front on the path"
#endif

#ifdef HAVE_EXT
#include <aclprof_ext.h>
#endif

int run(const aclprofConfig *config);
int run(const aclprofConfig *config)
{
    return aclprofStart(config) == ACL_SUCCESS;
}
