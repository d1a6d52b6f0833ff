/* SPDX-License-Identifier: Apache-2.0 */
/* One device's task records, read while a model of it is subscribed to. No capture may run then: the
 * device's channels have one reader. */
#ifndef AP_SUBSCRIBE_OP_SOURCE_H_
#define AP_SUBSCRIBE_OP_SOURCE_H_

#include <stdint.h>

#include "subscribe/op_match.h"

typedef struct ap__op_source ap__op_source;

/* Called for each operator that has run, by the source's thread or by the launching one, with no
 * lock of the source held. Times are nanoseconds on the device's clock. */
typedef void (*ap__op_sink)(uint32_t device, const ap__op_launch *launch, uint64_t start_ns,
                            uint64_t end_ns);

/* Starts the device's channel and a thread. On failure *why has a sentence's part and the result is
 * NULL. Every call into the driver is made by a thread that is left behind when it does not come back:
 * nothing here waits for more than 4 seconds. */
ap__op_source *ap__op_source_start(uint32_t device, ap__op_sink sink, const char **why);

/* Any thread. */
void ap__op_source_launch(ap__op_source *source, uint16_t stream, uint16_t task,
                          const ap__op_launch *launch);

/* As ap__op_match_rename and _static. */
void ap__op_source_rename(ap__op_source *source, uint16_t stream, uint16_t task, uint64_t op);
void ap__op_source_static(ap__op_source *source, uint16_t stream, uint16_t task,
                          const ap__op_launch *launch);

/* Tasks that could not be told, so far. */
uint64_t ap__op_source_missed(ap__op_source *source);

/* What has run by now is told when this returns, after 500 ms at most. */
void ap__op_source_catch_up(ap__op_source *source);

/* What has run by now is still told. Takes as long as the driver's stop, about a second at most.
 * Returns how many tasks could not be told in all. */
uint64_t ap__op_source_stop(ap__op_source *source);

#endif
