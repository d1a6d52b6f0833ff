/* SPDX-License-Identifier: Apache-2.0 */
/* With the directory acl itself on the include path. */
#include "acl_prof.h"

#include "codes.h"
#include "prototypes.h"
