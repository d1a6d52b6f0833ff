/* SPDX-License-Identifier: Apache-2.0 */
/* The devices' side of stamps: marks, and ranges of two of them. */
#ifndef AP_ANALYSIS_TX_MARKS_H_
#define AP_ANALYSIS_TX_MARKS_H_

#include "analysis/model.h"

typedef struct ap__tx_mark {
    uint64_t id;
    uint64_t start_ns;
    uint64_t end_ns;
    uint32_t device; /* index in ap__model.devices */
    uint32_t text;   /* the caller's; AP_NONE at first */
    uint16_t stream;
    uint16_t task;
} ap__tx_mark;

/* All of them by id, device and time: a bulk array. 0 or ENOMEM. */
int ap__tx_marks_make(const ap__model *m, ap__tx_mark **marks, uint32_t *count);
/* Index of the first with the id, else of the first behind it. */
uint32_t ap__tx_mark_find(const ap__tx_mark *marks, uint32_t count, uint64_t id);

#endif
