/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to tasks, as records of the channels that are live. Under the device's lock. */
#ifndef AP_SIM_EMIT_H_
#define AP_SIM_EMIT_H_

#include "drivers/sim/internal.h"

/* The task's present phase. */
void ap__sim_emit(ap__sim_device *device, ap__sim_task *task);
/* The stream's ids have wrapped. */
void ap__sim_emit_flip(ap__sim_device *device, const ap__sim_task *task);

#endif
