/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AP_API_STEP_MARK_H_
#define AP_API_STEP_MARK_H_

#include <stdbool.h>
#include <stdint.h>

/* Marks an edge of a step on the stream and on the host. false: the runtime refuses. */
bool ap__step_mark(uint64_t index, uint16_t tag, void *stream);

#endif
