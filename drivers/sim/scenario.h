/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripted device work. One item a line, '#' begins a comment:
 *
 *  option KEY=VALUE[,…]                          as in sim.h
 *  fault SPEC                                    as in fault.h
 *  clock AT_MS CYCLES [dev=D]                    the device counter jumps
 *  kernel NAME DUR_US [SIGMA]                    how long programs' kernels of that name take, in
 *                                                place of their estimate; SIGMA: of a log-normal
 *  loop N PERIOD_US … end                        the lines between, N times, so far apart; nests
 *  T_US STREAM TASK TYPE DUR_US BLOCKS [KEY=VALUE…]
 *
 * T_US counts from the start of the first channel that carries tasks, plus delay_ms; times may
 * have decimals. TASK "-" gives the stream's next id. TYPE: aic aiv mix aicpu memcpy event_record
 * event_wait notify_record notify_wait step (a key point: index=, model=, tag=). KEY: name=,
 * ctx= (number of FFTS+ contexts), pmu=v,v,… (counter values), bytes=, dev= (only this device).
 */
#ifndef AP_SIM_SCENARIO_H_
#define AP_SIM_SCENARIO_H_

#include <stddef.h>

#include "drivers/sim/options.h"
#include "drivers/sim/task.h"

typedef struct ap__sim_line {
    uint64_t at_ns;
    uint64_t length_ns;
    uint32_t device; /* UINT32_MAX: each */
    bool next_id;
    ap__sim_task task; /* ids, kind, counters, name */
} ap__sim_line;

#define AP_SIM_KERNELS_MAX 256u

typedef struct ap__sim_scenario {
    ap__sim_line *line; /* by time */
    size_t count;
    size_t capacity;
    struct {
        char name[64];
        uint64_t ns;
        double sigma;
    } kernel[AP_SIM_KERNELS_MAX];
    size_t kernels;
} ap__sim_scenario;

/* Also sets the options that the file has. NULL with one sentence in error. */
ap__sim_scenario *ap__sim_scenario_load(const char *path, ap__sim_options *options, char *error,
                                        size_t size);
/* False: the file does not say how long kernels of the name take. */
bool ap__sim_scenario_kernel(const ap__sim_scenario *scenario, const char *name, uint64_t *random,
                             uint64_t *ns);
void ap__sim_scenario_free(ap__sim_scenario *scenario);

#endif
