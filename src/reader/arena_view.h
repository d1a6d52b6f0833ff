/* SPDX-License-Identifier: Apache-2.0 */
/* The arena that a killed process has left, read with pread: never mapped, so that a file that
 * shrinks cannot fault. */
#ifndef AP_READER_ARENA_VIEW_H_
#define AP_READER_ARENA_VIEW_H_

#include <stdbool.h>
#include <stdint.h>

#include "clock/clock.h"
#include "reader/notes.h"
#include "ring/arena_layout.h"

typedef enum ap__arena_state {
    AP_ARENA_NONE,    /* neither arena nor pointer */
    AP_ARENA_READY,   /* open and valid */
    AP_ARENA_RUNNING, /* its process lives, or somebody recovers it now */
    AP_ARENA_UNBORN,  /* its process ended inside Start: nothing was recorded */
    AP_ARENA_LOST,    /* a pointer whose shared memory is gone */
    AP_ARENA_DAMAGED, /* unreadable, of another version, or refused */
    AP_ARENA_ERROR    /* cannot be opened (permissions, I/O): try again as somebody else */
} ap__arena_state;

typedef struct ap__arena_view {
    ap__arena_state state;
    int fd; /* -1 when not open; holds a lock while it is */
    uint64_t size;
    bool lock_unsure;    /* the file system cannot lock: the process may live */
    bool has_file;       /* arena in .aclprof */
    bool has_pointer;    /* arena.path in .aclprof */
    char shm_path[128];  /* "" when it does not lie in shared memory, or not where it may */
    bool has_checkpoint; /* also true of a running one */
    uint32_t version;
    uint32_t slot_stride;
    uint32_t slot_count; /* that the file holds */
    uint32_t ring_bytes;
    uint32_t stack_bytes;
    uint32_t pid;
    uint32_t clock_is_ns;
    uint32_t active;
    ap__clock_point start;
    ap__clock_point ready;
    ap__checkpoint checkpoint;
    uint32_t raw_count; /* streams beside the stamps', as the checkpoint has them */
    ap__raw_point raw[AP_RAW_STREAMS];
    ap__clock_line line; /* cycles to ns */
} ap__arena_view;

/* Looks in host/.aclprof. Takes a shared lock, or with `exclusive` the one that recovery needs.
 * Writes notes about what is wrong. */
void ap__arena_view_open(ap__arena_view *view, int ext_fd, bool exclusive, ap__notes *notes);
void ap__arena_view_close(ap__arena_view *view);

/* NULL: no record of this stream is on disk as far as the checkpoint knows. */
const ap__raw_point *ap__arena_view_raw(const ap__arena_view *view, const char *name);

static inline uint64_t ap__arena_view_slot(const ap__arena_view *view, uint32_t slot)
{
    return AP_ARENA_HEAD_BYTES + (uint64_t)slot * view->slot_stride;
}

#endif
