/* SPDX-License-Identifier: Apache-2.0 */
/* Where tasks come from besides the program: a pattern or a scenario, from the first start of a
 * channel that carries tasks until the stop of the last. All under the device's lock. */
#ifndef AP_SIM_SOURCE_H_
#define AP_SIM_SOURCE_H_

#include "drivers/sim/internal.h"

/* One stream of a pattern. */
typedef struct ap__sim_slot {
    uint32_t stream;
    uint32_t index;
    uint64_t left;
    uint64_t next_ns;
} ap__sim_slot;

bool ap__sim_pattern_known(const char *name);

/* Does nothing while the source runs. */
void ap__sim_source_begin(ap__sim_device *device, uint64_t now);
void ap__sim_source_end(ap__sim_device *device);
void ap__sim_source_close(ap__sim_device *device);
/* Puts what begins before `until` on the heap. */
void ap__sim_source_fill(ap__sim_device *device, uint64_t until);
/* The next task of the ended one's slot goes on the heap, or the task is freed. */
void ap__sim_source_next(ap__sim_device *device, ap__sim_task *task);

/* The next id on a stream, with the flip when it wraps. NULL stream table: no memory. */
int ap__sim_task_id(ap__sim_device *device, ap__sim_task *task);

#endif
