/* SPDX-License-Identifier: Apache-2.0 */
/* The mapped memory that holds a capture's rings: one slot a thread, grown slot by slot. */
#ifndef AP_RING_ARENA_H_
#define AP_RING_ARENA_H_

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ring/arena_layout.h"

#define AP_ARENA_MAX_SLOTS 8192u

typedef enum ap__arena_kind { AP_ARENA_FILE, AP_ARENA_SHM, AP_ARENA_ANONYMOUS } ap__arena_kind;

typedef struct ap__arena {
    int fd;     /* -1 when anonymous; holds an exclusive flock while we live */
    int ext_fd; /* host/.aclprof, not owned */
    ap__arena_kind kind;
    ap__arena_head *head;
    dev_t device; /* which file fd is */
    ino_t inode;
    char shm_path[64];
    ap__ring_head *slots[AP_ARENA_MAX_SLOTS]; /* entries below head->slot_count never change */
} ap__arena;

/* Sizes from ACLPROF_RING_SIZE (bytes, K or M suffix; a power of two, 64K…1G; default 1M), kind
 * from ACLPROF_ARENA=file|shm|anonymous (default: file, or shm on file systems that a mapping
 * does not suit). 0 or errno. */
int ap__arena_open(ap__arena *arena, int ext_fd, const ap__clock_point *start);

/* A slot for a new owner: a free one with at least half its ring free, else a new one.
 * Caller holds the thread-registry lock. NULL when there is no memory or disk. */
ap__ring_head *ap__arena_take(ap__arena *arena);
void ap__arena_give(ap__ring_head *ring);

/* Bytes of the arena's file in the result directory. */
uint64_t ap__arena_stored(const ap__arena *arena);

/* keep: leave the file for recovery; leak: some thread may still write, so do not unmap. */
void ap__arena_close(ap__arena *arena, bool keep, bool leak);

static inline uint8_t *ap__ring_stack(ap__ring_head *ring)
{
    return (uint8_t *)ring + AP_RING_HEAD_BYTES;
}

static inline uint8_t *ap__ring_data(const ap__arena *arena, ap__ring_head *ring)
{
    return ap__ring_stack(ring) + arena->head->stack_bytes;
}

#endif
