/* SPDX-License-Identifier: Apache-2.0 */
/* What a task's counters would show. */
#ifndef AP_SIM_PMU_H_
#define AP_SIM_PMU_H_

#include "drivers/sim/internal.h"

/* The cores' frequency at a time of the host's. */
uint32_t ap__sim_mhz_at(const ap__sim_device *device, uint64_t ns);

/* Cycles of all cores together: the time that readers get from them (total / MHz / blocks × rounds
 * of blocks over the cores) is the task's duration. */
uint64_t ap__sim_total_cycles(const ap__sim_device *device, const ap__sim_task *task,
                              uint64_t length_ns, bool vector);

/* The counter of an event: a share of the total that is the kernel's own, or the scenario's. */
void ap__sim_counters(const ap__sim_task *task, const ap__sim_pmu_half *half, uint64_t total,
                      uint64_t counter[10]);

/* Part in a thousand of the cycles that an event takes. */
uint32_t ap__sim_event_share(const char *kernel, uint32_t event);

#endif
