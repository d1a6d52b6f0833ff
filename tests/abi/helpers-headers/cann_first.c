/* SPDX-License-Identifier: Apache-2.0 */
/* CANN's acl.h, then ours. */
#include <acl/acl.h>

#include <acl/acl_prof.h>

#include "cann_use.h"
#include "prototypes.h"
