/* SPDX-License-Identifier: Apache-2.0 */
/* Only CANN's runtime header (in newer releases without acl_base.h), ours, then the rest. */
#include <acl/acl_rt.h>

#include <acl/acl_prof.h>

#include <acl/acl.h>

#include "cann_use.h"
#include "prototypes.h"
