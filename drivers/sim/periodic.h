/* SPDX-License-Identifier: Apache-2.0 */
/* Channels that record by time. Under the device's lock. */
#ifndef AP_SIM_PERIODIC_H_
#define AP_SIM_PERIODIC_H_

#include "drivers/sim/internal.h"

/* Every sample that is due before now. */
void ap__sim_periodic(ap__sim_device *device, uint64_t now);

#endif
