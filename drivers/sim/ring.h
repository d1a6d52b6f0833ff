/* SPDX-License-Identifier: Apache-2.0 */
/* The host's ring of one channel, with the real driver's size and its lack of an overrun check. */
#ifndef AP_SIM_RING_H_
#define AP_SIM_RING_H_

#include <stddef.h>
#include <stdint.h>

#define AP_SIM_RING_BYTES (4u * 1024 * 1024 - 4096)
#define AP_SIM_RING_BYTES_AICPU (8u * 1024 * 1024 - 4096) /* channel 143 */
#define AP_SIM_REPORT_TOO_LONG 58 /* what the real driver answers to more than a ring */

/* A byte ring whose positions run from 0 to size - 1: written == read looks empty, so `size` bytes
 * unread vanish. Not thread-safe. */
typedef struct ap__sim_ring {
    unsigned char *data;
    uint32_t size;
    uint32_t read;
    uint32_t write;
} ap__sim_ring;

/* 0 or -1 for want of memory. */
int ap__sim_ring_open(ap__sim_ring *ring, uint32_t size);
void ap__sim_ring_close(ap__sim_ring *ring);

uint32_t ap__sim_ring_pending(const ap__sim_ring *ring);
/* Bytes that fit without the ring looking empty. */
uint32_t ap__sim_ring_room(const ap__sim_ring *ring);

/* Writes over whatever is unread. 0 or AP_SIM_REPORT_TOO_LONG (a part is written then). */
int ap__sim_ring_put(ap__sim_ring *ring, const void *data, size_t bytes);
/* Up to `bytes` of what is unread, both segments in one call. */
uint32_t ap__sim_ring_take(ap__sim_ring *ring, void *out, uint32_t bytes);

#endif
