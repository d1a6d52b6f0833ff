/* SPDX-License-Identifier: Apache-2.0 */
/* What communication operators are made of, as their library tells it (hccl_info). */
#ifndef AP_ANALYSIS_COMM_TASKS_H_
#define AP_ANALYSIS_COMM_TASKS_H_

#include "analysis/model.h"

#define AP_NO_PLANE UINT32_MAX

typedef struct ap__comm_task {
    uint64_t time_ns; /* of the record */
    uint64_t item;    /* id of "Memcpy", "Notify_Wait", … */
    uint64_t group;
    uint64_t notify; /* UINT64_MAX: none */
    uint64_t bytes;
    double estimated_us;
    uint32_t tid;
    uint32_t local_rank;
    uint32_t remote_rank;
    uint32_t ranks;
    uint32_t plane;
    uint32_t context;
    uint32_t data_type;
    uint32_t link;
    uint32_t transport;
    uint32_t rdma;
    uint32_t task;  /* index in model->tasks */
    uint32_t op;    /* index in model->comm_ops */
    uint32_t order; /* of arrival */
    bool master;
} ap__comm_task;

/* Those whose device task is known, in the order of the tasks: a bulk array. 0 or ENOMEM. */
int ap__comm_tasks_make(const ap__model *m, ap__comm_task **list, uint32_t *count);

/* "FP32", "HCCS", "SDMA": names of CANN's numbers; INVALID_TYPE for others. */
const char *ap__comm_data_type(uint32_t type);
const char *ap__comm_link(uint32_t link);
const char *ap__comm_transport(uint32_t transport);

#endif
