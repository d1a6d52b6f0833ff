/* SPDX-License-Identifier: Apache-2.0 */
/* A record of CANN's host libraries into the calling thread's ring, as it is. Wait-free; no lock, no
 * allocation, no system call after the thread's first event. */
#ifndef AP_RING_RAW_H_
#define AP_RING_RAW_H_

#include <stdbool.h>
#include <stdint.h>

#include "format/raw_record.h"
#include "ring/ring.h"

typedef enum ap__raw_result {
    AP_RAW_TAKEN, /* or counted as lost */
    AP_RAW_OFF    /* no capture takes records */
} ap__raw_result;

/* In flags, not recorded: belongs to the stamps, and is taken when those are. */
#define AP_RAW_OF_STAMPS 0x80u

/* head: the first head_bytes of the record, rest what follows (may be NULL with rest_bytes 0); the
 * whole is padded with zeros to the class's size. At most AP_RAW_MAX_BYTES in all. */
ap__raw_result ap__raw_emit(uint32_t flags, const void *head, uint32_t head_bytes, const void *rest,
                            uint32_t rest_bytes);

/* Records of a class of fixed size, side by side: all of them, one after the other, or none. *lost
 * tells that they are not in the ring; a run counts as one loss. */
ap__raw_result ap__raw_emit_run(uint32_t flags, const void *records, uint32_t count, bool *lost);

#endif
