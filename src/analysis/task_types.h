/* SPDX-License-Identifier: Apache-2.0 */
/* What the vendor's timeline and database call the kinds of tasks. */
#ifndef AP_ANALYSIS_TASK_TYPES_H_
#define AP_ANALYSIS_TASK_TYPES_H_

#include "analysis/model.h"

/* What the runtime calls a task: "KERNEL_AICORE"; NULL: unknown. */
const char *ap__host_type(const ap__model *m, const ap__track *track);
/* What the device calls it: "SDMA_SQE", or the kind of a part of an FFTS+ task. */
const char *ap__device_type(const ap__model *m, const ap__task *t);
/* The first, unless it is unknown or tells nothing. */
const char *ap__task_text(const ap__model *m, const ap__task *t);
/* An AI CPU kernel that serves communication and is no operator of the user's. NULL is none. */
bool ap__is_communication_server(const char *op);

#endif
