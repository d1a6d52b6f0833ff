/* SPDX-License-Identifier: Apache-2.0 */
/* The layers of the timeline. */
#ifndef AP_TOOL_JSON_LAYERS_H_
#define AP_TOOL_JSON_LAYERS_H_

#include "analysis/model.h"
#include "analysis/tx_marks.h"
#include "tool/json_events.h"
#include "tool/reports.h"
#include "tool/text_pool.h"

#define AP_SORT_TX 6u
#define AP_SORT_CANN 7u
#define AP_SORT_CPU 9u
#define AP_SORT_MEMORY 10u
#define AP_SORT_NETWORK 11u
#define AP_SORT_DISK 12u
#define AP_SORT_OS 13u
#define AP_SORT_HARDWARE 14u
#define AP_SORT_FREQUENCY 15u
#define AP_SORT_COMMUNICATION 16u
#define AP_SORT_NPU_MEM 17u
#define AP_SORT_ACC 19u
#define AP_SORT_HCCS 20u
#define AP_SORT_NIC 21u
#define AP_SORT_ROCE 22u
#define AP_SORT_PCIE 23u
#define AP_SORT_HBM 24u
#define AP_SORT_SOC 25u
#define AP_SORT_CHIP_LINKS 26u
#define AP_SORT_SIO 28u
#define AP_SORT_QOS 29u
#define AP_SORT_OVERLAP 31u
#define AP_SORT_UB 33u /* this and the next two only of the 950: the number spills into the process */
#define AP_SORT_BLOCKS 34u
#define AP_SORT_FUSION 35u

#define AP_STEP_THREAD 70000u
#define AP_TX_CONNECTION 4000000001ull /* and the mark's id */

typedef struct ap__timeline {
    ap__json j;
    const ap__model *m;
    uint64_t layers; /* that are wanted */
    uint32_t *links; /* of each track its call (links.h) */
    ap__tx_mark *marks;
    uint32_t mark_count;
    ap__text_pool *texts; /* of stamps that a device has marked */
} ap__timeline;

/* A device's layer, named. */
uint64_t ap__device_layer(ap__timeline *t, uint32_t device, uint32_t sort, const char *name);
static inline bool ap__wants(const ap__timeline *t, enum ap__json_layers layer)
{
    return (t->layers >> layer & 1) != 0;
}
/* Whether a sample lies in the part of the capture that is shown. */
static inline bool ap__is_shown(const ap__timeline *t, uint64_t ns)
{
    return ns >= t->m->from_ns && ns <= t->m->to_ns;
}
static inline uint64_t ap__flow_id(uint32_t connection)
{
    return (uint64_t)connection << 32;
}

/* Each returns 0 or errno; in the order of the file. */
int ap__layer_stamps(ap__timeline *t);
int ap__layer_device_stamps(ap__timeline *t); /* after the former */
int ap__layer_steps(ap__timeline *t);
int ap__layer_calls(ap__timeline *t);
int ap__layer_host_use(ap__timeline *t);
int ap__layer_tasks(ap__timeline *t);
int ap__layer_fusion_and_blocks(ap__timeline *t);
int ap__layer_communication(ap__timeline *t);
int ap__layer_overlap(ap__timeline *t);
int ap__layer_counters(ap__timeline *t);

#endif
