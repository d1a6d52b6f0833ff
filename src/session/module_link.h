/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the modules that report to us (reporter/modules.h) of the session's capture. Under the
 * session's lock. */
#ifndef AP_SESSION_MODULE_LINK_H_
#define AP_SESSION_MODULE_LINK_H_

#include <stdint.h>

#include "session/state.h"

/* Bit i: device i. Of the run as it is now. */
void ap__session_tell_start(const ap__run *run, uint64_t devices);
void ap__session_tell_stop(const ap__run *run, uint64_t devices);
void ap__session_tell_finalize(void);

/* Looks for the vendor's reporter in this process, when the config (NULL: any) wants reports. Without
 * our locks, before a Start. */
void ap__session_find_vendor(const aclprofConfig *config);

#endif
