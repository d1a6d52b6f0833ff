/* SPDX-License-Identifier: Apache-2.0 */
/* exit() without aclprofStop: what runs is stopped and everything is on disk. Costs
 * nothing in a process that never profiled. */
#include "session/session.h"

__attribute__((destructor)) static void ap__unload(void)
{
    ap__session_shutdown();
}
