/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What really happened, for tests: a line per task that ended, seen or not.
 *
 *  task DEVICE STREAM TASK FLIP SQE BLOCKS START END SEEN CYCLES NAME
 *  flip DEVICE STREAM FLIP AT
 *
 * START, END and AT are device cycles; SEEN names the records put: s start, e end, p counters, "-"
 * none; CYCLES is the total of the counters' records.
 */
#ifndef AP_SIM_TRUTH_H_
#define AP_SIM_TRUTH_H_

#include "drivers/sim/internal.h"

void ap__sim_truth_task(ap__sim_device *device, const ap__sim_task *task, uint32_t sqe,
                        uint64_t cycles);
void ap__sim_truth_flip(ap__sim_device *device, const ap__sim_task *task);
/* Into the file; done at every stop. */
void ap__sim_truth_write(ap__sim *sim);

#endif
