/* SPDX-License-Identifier: Apache-2.0 */
/* Which layers of the timeline are wanted: the file that --reports names. */
#ifndef AP_TOOL_REPORTS_H_
#define AP_TOOL_REPORTS_H_

#include <stddef.h>
#include <stdint.h>

enum ap__json_layers {
    AP_LAYER_ASCEND,
    AP_LAYER_ACC_PMU,
    AP_LAYER_CANN,
    AP_LAYER_STARS_CHIP_TRANS,
    AP_LAYER_HBM,
    AP_LAYER_COMMUNICATION,
    AP_LAYER_HCCS,
    AP_LAYER_OS_RUNTIME_API,
    AP_LAYER_NETWORK_USAGE,
    AP_LAYER_DISK_USAGE,
    AP_LAYER_MEMORY_USAGE,
    AP_LAYER_CPU_USAGE,
    AP_LAYER_MSPROFTX,
    AP_LAYER_NPU_MEM,
    AP_LAYER_OVERLAP_ANALYSE,
    AP_LAYER_PCIE,
    AP_LAYER_SIO,
    AP_LAYER_STARS_SOC,
    AP_LAYER_STEP_TRACE,
    AP_LAYER_FREQ,
    AP_LAYER_NIC,
    AP_LAYER_ROCE,
    AP_LAYER_QOS,
    AP_LAYER_DEVICE_TX,
    AP_LAYER_UB,
    AP_LAYER_BLOCK_DETAIL,
    AP_LAYER_FUSION_TASK,
    AP_LAYER_COUNT
};

/* {"json_process": {"ascend": true, "freq": false, …}}: what is not named stays; a layer that is not
 * known or a value that is no truth value brings all, as with the vendor. 0, or errno with a sentence
 * in `error`. */
int ap__reports_read(const char *path, uint64_t *layers, char *error, size_t size);

#endif
