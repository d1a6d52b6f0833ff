/* SPDX-License-Identifier: Apache-2.0 */
/* The two calls of Huawei's runtime that put something of ours on a device's stream. */
#ifndef AP_SESSION_RUNTIME_CALLS_H_
#define AP_SESSION_RUNTIME_CALLS_H_

#include <stdbool.h>
#include <stdint.h>

/* Has the stream record (id, tag) when it comes to it. true, too, when there is no runtime in the
 * process: then there is nobody to ask. */
bool ap__runtime_trace(uint64_t id, uint16_t tag, void *stream);

/* Of the simulator, which has it when no runtime has. */
void ap__runtime_use_simulator(int (*point)(void *stream, uint64_t id, uint64_t model,
                                            uint16_t tag));

#define AP_TRACE_MARK 11u
#define AP_TRACE_RANGE 12u /* both ends */

#endif
