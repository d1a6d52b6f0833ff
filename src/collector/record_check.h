/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts what a channel delivers into whole records and checks their magic and running number. */
#ifndef AP_COLLECTOR_RECORD_CHECK_H_
#define AP_COLLECTOR_RECORD_CHECK_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/channels.h"

#define AP_RECORD_MAGIC 0x6BD3u
#define AP_CHECK_RECORD_MAX 128u /* of kinds that are checked */

typedef struct ap__record_check {
    ap__record_kind kind;
    uint32_t record_bytes; /* 0: lines of text */
    bool began;
    uint8_t last_number;
    uint8_t last[AP_CHECK_RECORD_MAX];
    uint64_t records;    /* whole ones seen, text: lines */
    uint64_t gaps;       /* places where the running number jumps */
    uint64_t missing;    /* records missing there, modulo 16: at least so many */
    uint64_t duplicates; /* byte for byte the record before */
    uint64_t bad_magic;
    uint64_t torn_bytes; /* left out so that the records behind them are aligned again */
} ap__record_check;

void ap__record_check_init(ap__record_check *c, ap__record_kind kind, uint32_t record_bytes);

/* data: `bytes` of the stream, beginning at a record. Checks the whole records, moves those that
 * stay to the front of data and returns their bytes; *rest = how many bytes behind them (moved to
 * follow them) belong to a record that is not whole yet. Text: whole lines; when `full` and there
 * is no line end, all of it. */
size_t ap__record_check_cut(ap__record_check *c, uint8_t *data, size_t bytes, bool full,
                            size_t *rest);

/* A jump in the stream by something else than the driver: the next number proves nothing. */
void ap__record_check_forget(ap__record_check *c);

#endif
