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

/* The operator of the youngest submitted task of these ids that has not run yet is another. */
void ap__op_match_rename(ap__op_match *match, uint16_t stream, uint16_t task, uint64_t op);

/* Every task of these ids from now on that is not told of, as those of a model loaded once and run
 * many times. false without memory. */
bool ap__op_match_static(ap__op_match *match, uint16_t stream, uint16_t task,
                         const ap__op_launch *launch);

/* Forgets what ran a second ago and nobody has told of. */
void ap__op_match_age(ap__op_match *match, uint64_t now_ms);

/* Tasks without an answer: forgotten, or too many were on their way (65536); at the end also those
 * that are on their way still. */
uint64_t ap__op_match_missed(const ap__op_match *match, bool at_end);

#endif
