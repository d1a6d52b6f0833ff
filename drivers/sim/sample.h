/* SPDX-License-Identifier: Apache-2.0 */
/* The records of one sample of a periodic channel. Under the device's lock. */
#ifndef AP_SIM_SAMPLE_H_
#define AP_SIM_SAMPLE_H_

#include "drivers/sim/internal.h"

/* load: of the cores, in a thousand */
typedef void (*ap__sim_sampler)(ap__sim_device *device, uint32_t channel, uint64_t ns,
                                uint32_t load);

/* NULL: the channel does not record by time. */
ap__sim_sampler ap__sim_sampler_of(uint32_t channel);

/* Channel 52; kind is AP_SOC_*. */
void ap__sim_sample_soc(ap__sim_device *device, uint32_t kind, uint64_t ns);

/* sample_core.c */
void ap__sim_sample_cores(ap__sim_device *device, uint32_t channel, uint64_t ns, uint32_t load);
void ap__sim_sample_tscpu(ap__sim_device *device, uint32_t channel, uint64_t ns, uint32_t load);
void ap__sim_sample_power(ap__sim_device *device, uint32_t channel, uint64_t ns, uint32_t load);

#endif
