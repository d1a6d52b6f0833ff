/* SPDX-License-Identifier: Apache-2.0 */
/* acl_base.h by itself (whichever the include path gives), ours, then CANN's. */
#include <acl/acl_base.h>

#include <acl/acl_prof.h>

#include <acl/acl.h>

#include "cann_use.h"
#include "prototypes.h"
