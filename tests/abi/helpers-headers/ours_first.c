/* SPDX-License-Identifier: Apache-2.0 */
/* Ours, then CANN's acl.h. */
#include <acl/acl_prof.h>

#include <acl/acl.h>

#include "cann_use.h"
#include "prototypes.h"
