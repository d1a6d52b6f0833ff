/* SPDX-License-Identifier: Apache-2.0 */
/* With both directories acl themselves on the include path: ours, then CANN's. */
#include "acl_prof.h"

#include "acl.h"

#include "cann_use.h"
#include "prototypes.h"
