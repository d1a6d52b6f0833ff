/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sim/truth.h"

#include <inttypes.h>

void ap__sim_truth_task(ap__sim_device *device, const ap__sim_task *task, uint32_t sqe,
                        uint64_t cycles)
{
    ap__sim *sim = device->sim;

    if (sim->truth == NULL) {
        return;
    }
    pthread_mutex_lock(&sim->truth_lock);
    (void)fprintf(sim->truth,
                  "task %u %u %u %u %u %u %" PRIu64 " %" PRIu64 " %s%s%s%s %" PRIu64 " %s\n",
                  device->id, task->stream, task->task, task->flip, sqe, task->blocks,
                  ap__sim_clock_cycles(&device->clock, task->start_ns),
                  ap__sim_clock_cycles(&device->clock, task->end_ns),
                  (task->seen & AP_SIM_SEEN_START) != 0 ? "s" : "",
                  (task->seen & AP_SIM_SEEN_END) != 0 ? "e" : "",
                  (task->seen & AP_SIM_SEEN_PMU) != 0 ? "p" : "", task->seen == 0 ? "-" : "",
                  cycles, task->name[0] != '\0' ? task->name : "-");
    pthread_mutex_unlock(&sim->truth_lock);
}

void ap__sim_truth_flip(ap__sim_device *device, const ap__sim_task *task)
{
    ap__sim *sim = device->sim;

    if (sim->truth == NULL) {
        return;
    }
    pthread_mutex_lock(&sim->truth_lock);
    (void)fprintf(sim->truth, "flip %u %u %u %" PRIu64 "\n", device->id, task->stream, task->flip,
                  ap__sim_clock_cycles(&device->clock, task->flip_ns));
    pthread_mutex_unlock(&sim->truth_lock);
}

void ap__sim_truth_write(ap__sim *sim)
{
    pthread_mutex_lock(&sim->truth_lock);
    if (sim->truth != NULL) {
        (void)fflush(sim->truth);
    }
    pthread_mutex_unlock(&sim->truth_lock);
}
