/* SPDX-License-Identifier: Apache-2.0 */
/* When a device computed, communicated, did both or nothing. */
#ifndef AP_ANALYSIS_OVERLAP_H_
#define AP_ANALYSIS_OVERLAP_H_

#include "analysis/model.h"

enum { AP_COMPUTE, AP_COMMUNICATION, AP_NOT_OVERLAPPED, AP_FREE };

typedef void (*ap__overlap_take)(void *context, uint64_t start_ns, uint64_t end_ns, int type);

/* Calls `take` with every section of a device (index), by type, then by time. 0 or ENOMEM. */
int ap__overlap_each(const ap__model *m, uint32_t device, ap__overlap_take take, void *context);

#endif
