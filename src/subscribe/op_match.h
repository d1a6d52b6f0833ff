/* SPDX-License-Identifier: Apache-2.0 */
/* Brings together what the host knows of a task (its operator and model) and when the device ran it.
 * Either may be known first. One per device; the caller locks. */
#ifndef AP_SUBSCRIBE_OP_MATCH_H_
#define AP_SUBSCRIBE_OP_MATCH_H_

#include <stdbool.h>
#include <stdint.h>

#define AP_NO_MODEL UINT32_MAX

typedef struct ap__op_launch {
    uint64_t op;    /* of op_names.h; 0: no operator */
    uint32_t model; /* AP_NO_MODEL: no subscription can want it */
    uint32_t thread;
} ap__op_launch;

typedef struct ap__op_run {
    ap__op_launch launch;
    uint64_t start_cycles;
    uint64_t end_cycles;
} ap__op_run;

typedef struct ap__op_match ap__op_match;

/* NULL without memory. */
ap__op_match *ap__op_match_new(void);
void ap__op_match_free(ap__op_match *match);

/* A task of a stream (both 16 bits) was submitted, began, ended. true: *run is complete. Tasks of
 * equal ids are taken in their order. now_ms: any clock. */
bool ap__op_match_launch(ap__op_match *match, uint16_t stream, uint16_t task,
                         const ap__op_launch *launch, uint64_t now_ms, ap__op_run *run);
void ap__op_match_start(ap__op_match *match, uint16_t stream, uint16_t task, uint64_t cycles,
                        uint64_t now_ms);
bool ap__op_match_end(ap__op_match *match, uint16_t stream, uint16_t task, uint64_t cycles,
                      uint64_t now_ms, ap__op_run *run);

/* Forgets what has run for a second and nobody has told of. Returns how many. */
uint32_t ap__op_match_age(ap__op_match *match, uint64_t now_ms);

#endif
