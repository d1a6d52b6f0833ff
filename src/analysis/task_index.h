/* SPDX-License-Identifier: Apache-2.0 */
/* From a device's stream and task number to its tasks with an operator, in the order they began. */
#ifndef AP_ANALYSIS_TASK_INDEX_H_
#define AP_ANALYSIS_TASK_INDEX_H_

#include "analysis/model.h"

typedef struct ap__task_ref {
    uint64_t key;
    uint32_t task;
    uint32_t taken;
} ap__task_ref;

typedef struct ap__task_index {
    const ap__model *model;
    ap__task_ref *list;
    uint32_t count;
} ap__task_index;

/* 0 or ENOMEM. */
int ap__task_index_make(ap__task_index *index, const ap__model *model);
/* Name of the operator of the next task that has not been asked for, of the last one when all have;
 * NULL: none. device: index in the model. */
const char *ap__task_index_name(ap__task_index *index, uint32_t device, uint32_t stream,
                                uint32_t task);
void ap__task_index_free(ap__task_index *index);

#endif
