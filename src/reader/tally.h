/* SPDX-License-Identifier: Apache-2.0 */
/* Counts for the account of a recovered directory. */
#ifndef AP_READER_TALLY_H_
#define AP_READER_TALLY_H_

#include <stdbool.h>
#include <stdint.h>

#include "reader/ring_cursor.h"
#include "reader/sources.h"
#include "writer/account.h"

#define AP_TALLY_THREADS 65536u /* threads beyond are in the totals only */

typedef struct ap__tally {
    /* from rings */
    uint64_t emitted;
    uint64_t lost_full;
    uint64_t lost_reentrant;
    uint64_t sampled_cycles;
    uint64_t sampled_calls;
    uint64_t saved;
    uint64_t variable_records; /* of variable size, in their stream when the replay is done */
    uint64_t damaged_rings;
    uint64_t damaged_bytes;
    uint64_t maybe_in_flight; /* slots in which a call may have been cut short */
    /* of the slot being walked */
    uint32_t owner;
    ap__ring_counters base; /* when its owner took it */
    bool seq_known;
    uint32_t seq;
    /* from disk */
    uint64_t records;
    uint64_t bad_records;
    uint64_t cut_messages;
    uint64_t newest_ns; /* end of the newest event (ticks when records hold ticks) */
    uint32_t first_slice;

    ap__thread_account *threads; /* by tid */
    uint32_t thread_count;
    uint32_t thread_room;
} ap__tally;

/* Every item of the ring cursor, in order. */
void ap__tally_item(ap__tally *tally, const ap__ring_item *item);
/* The msproftx records on disk; source NULL: none. false without memory. */
bool ap__tally_disk(ap__tally *tally, int data_fd, int ext_fd, const ap__source *source,
                    ap__notes *notes);
/* Records of another source that has fixed ones; after ap__tally_disk. false without memory. */
bool ap__tally_raw_source(ap__tally *tally, int data_fd, const ap__source *source,
                          ap__notes *notes);
void ap__tally_free(ap__tally *tally);

/* Totals: emitted == written + lostTotal. `checkpoint` NULL: the rings are not known, what is on
 * disk is all. Returns the calls that were in flight: they are not in emitted. `missing`: records
 * that the checkpoint promises and the disk does not hold, before anything was saved. */
uint64_t ap__tally_totals(const ap__tally *tally, const ap__checkpoint *checkpoint,
                          uint64_t missing, aclprofStats *out);

#endif
