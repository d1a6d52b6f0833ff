/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sim/ring.h"

#include <stdlib.h>
#include <string.h>

int ap__sim_ring_open(ap__sim_ring *ring, uint32_t size)
{
    ring->data = malloc(size);
    ring->size = size;
    ring->read = 0;
    ring->write = 0;
    return ring->data == NULL ? -1 : 0;
}

void ap__sim_ring_close(ap__sim_ring *ring)
{
    free(ring->data);
    memset(ring, 0, sizeof(*ring));
}

uint32_t ap__sim_ring_pending(const ap__sim_ring *ring)
{
    if (ring->write >= ring->read) {
        return ring->write - ring->read;
    }
    return ring->size - ring->read + ring->write;
}

uint32_t ap__sim_ring_room(const ap__sim_ring *ring)
{
    return ring->size - 1 - ap__sim_ring_pending(ring);
}

int ap__sim_ring_put(ap__sim_ring *ring, const void *data, size_t bytes)
{
    const unsigned char *from = data;
    size_t first = ring->size - ring->write;

    if (bytes < first) {
        memcpy(ring->data + ring->write, from, bytes);
        ring->write += (uint32_t)bytes;
        return 0;
    }
    memcpy(ring->data + ring->write, from, first);
    if (bytes - first > ring->size) {
        return AP_SIM_REPORT_TOO_LONG;
    }
    memcpy(ring->data, from + first, bytes - first);
    ring->write = (uint32_t)((bytes - first) % ring->size);
    return 0;
}

uint32_t ap__sim_ring_take(ap__sim_ring *ring, void *out, uint32_t bytes)
{
    unsigned char *to = out;
    uint32_t n = ap__sim_ring_pending(ring);
    uint32_t first = ring->size - ring->read;

    if (n > bytes) {
        n = bytes;
    }
    if (first > n) {
        first = n;
    }
    memcpy(to, ring->data + ring->read, first);
    memcpy(to + first, ring->data, n - first);
    ring->read = (ring->read + n) % ring->size;
    return n;
}
