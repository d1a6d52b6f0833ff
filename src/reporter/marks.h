/* SPDX-License-Identifier: Apache-2.0 */
/* Marks and ranges with an id of their own, by which the device's side of them is found: those of
 * aclprofMarkEx and of mstx. They are in the stamps' stream. */
#ifndef AP_REPORTER_MARKS_H_
#define AP_REPORTER_MARKS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ap__mark {
    uint32_t event; /* AP_TX_* */
    uint32_t thread;
    uint64_t start; /* ap__report_time */
    uint64_t end;
    uint64_t id;
    uint64_t domain; /* id of its name */
} ap__mark;

/* One sequence for all of them, from 1. */
uint64_t ap__mark_id_next(void);

/* Bad bytes of the text are replaced. A text longer than 155 bytes goes into several records, that
 * of AP_TX_MARK_EX is cut; 1 MiB is kept. false: no capture of stamps runs. */
bool ap__mark_emit(const ap__mark *mark, const char *text, size_t length);

#endif
