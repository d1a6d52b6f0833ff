/* SPDX-License-Identifier: Apache-2.0 */
/* The task records of the chip generations, decoded to one shape. */
#ifndef AP_ANALYSIS_DEVICE_LAYOUT_H_
#define AP_ANALYSIS_DEVICE_LAYOUT_H_

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model.h"
#include "reader/blob.h"

/* One end of a task, or of a part of an FFTS+ task. */
typedef struct ap__task_log {
    bool end;
    uint32_t kind; /* AP_SQE_*, or AP_KIND_OTHER and what the chip calls it */
    uint32_t stream;
    uint32_t task;
    uint32_t part; /* AP_NONE: the whole task */
    uint64_t cycles;
} ap__task_log;

/* What the counters say of a task. */
typedef struct ap__task_pmu {
    uint32_t stream;
    uint32_t task;
    uint64_t start_cycles; /* AP_NO_CYCLES: the reports are in the tasks' order */
    ap__counters counters;
} ap__task_pmu;

#define AP_KIND_OTHER 0x100u
#define AP_NO_CYCLES UINT64_MAX

typedef struct ap__device_layout {
    const char *log_file;
    uint32_t log_bytes;
    bool (*log)(ap__blob record, ap__task_log *out); /* false: a record of another sort */
    const char *pmu_file;
    uint32_t pmu_bytes;
    bool (*pmu)(ap__blob record, const ap__device_view *view, ap__task_pmu *out);
    bool long_ids; /* a task's id has 32 bits and is all that names it */
    bool packed_ids; /* ap__stars_unpack */
} ap__device_layout;

/* NULL: records of this chip are not known. */
const ap__device_layout *ap__device_layout_of(uint32_t chip);

#endif
