/* SPDX-License-Identifier: Apache-2.0 */
/* The network's layers as kernels of the simulated NPU, which the profiler's environment asks for
 * with ACLPROF_DRIVER=sim. The numbers are computed on the host all the same: the simulated device
 * only takes its time and records what a real one would. */
#ifndef DEVICE_WORK_H_
#define DEVICE_WORK_H_

#include <stdbool.h>

#include "digits_net.h"
#include "sim_runtime.h"

/* Whether there is such a device. */
bool device_work_there(void);

/* A stream for one worker; NULL, too, when there is no device. */
simrtStream device_work_begin(void);
void device_work_end(simrtStream stream);

/* All of these do nothing without a stream. */
void device_work_load(simrtStream stream, int images);
void device_work_layer(simrtStream stream, const digits_layer *layer, int images);
/* Fetches the answers and waits for them. */
void device_work_fetch(simrtStream stream, int images);

#endif
