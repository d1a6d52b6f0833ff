/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Built-in work. The options streams, tasks (per stream; 0: without end), rate, dur_us, gap_us and
 * blocks change what a pattern does.
 *
 *  none     nothing
 *  one      one cube task
 *  single   one stream with 1000 tasks of all kinds, 100 us and 10 us apart
 *  streams  8 streams of 1000 tasks of 20 us, 1 us apart
 *  mix      200 kernels with 24 FFTS+ contexts
 *  wrap     one stream with 65636 tasks of 2 us: ids wrap
 *  idle     4 tasks half a second apart
 *  steps    20 iterations with key points and two kernels each
 *  flood    8 streams without end, 5000 tasks a second each
 */
#ifndef AP_SIM_PATTERN_H_
#define AP_SIM_PATTERN_H_

#include "drivers/sim/source.h"

#define AP_SIM_PATTERN_KINDS 8u

typedef struct ap__sim_pattern {
    const char *name;
    uint32_t streams;
    uint32_t tasks;
    uint32_t dur_us;
    uint32_t gap_us;
    uint32_t blocks;
    uint32_t contexts;
    uint32_t kinds; /* that follow each other */
    uint8_t kind[AP_SIM_PATTERN_KINDS];
} ap__sim_pattern;

/* A copy with the options' changes; false when there is none of the name. */
bool ap__sim_pattern_get(const char *name, const ap__sim_options *options, ap__sim_pattern *out);
/* Fills everything but the ids of the slot's next task; its start is the soonest that may be. */
void ap__sim_pattern_task(ap__sim_device *device, const ap__sim_pattern *pattern,
                          ap__sim_slot *slot, ap__sim_task *task);

#endif
