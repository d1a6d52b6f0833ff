/* SPDX-License-Identifier: Apache-2.0 */
/* Names and counter lists of the AI core metrics, as sample.json states them. */
#ifndef AP_WRITER_PMU_NAMES_H_
#define AP_WRITER_PMU_NAMES_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct ap__pmu_set {
    const char *name;   /* "PipeUtilization" */
    const char *events; /* "0x8,0xa,…"; "" when not known for this chip */
} ap__pmu_set;

/* Of the cube (aic) or vector (aiv) cores. Empty texts for ACL_AICORE_NONE and unknown values. */
ap__pmu_set ap__pmu_set_of(int32_t metrics, uint32_t chip, bool vector);

/* Counter list for ACL_PROF_L2CACHE. */
const char *ap__pmu_l2_events(uint32_t chip);

#endif
