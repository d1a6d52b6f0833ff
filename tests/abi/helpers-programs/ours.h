/* SPDX-License-Identifier: Apache-2.0 */
#include <acl/acl_prof.h>

#define HAVE_LATER_CALLS 1
