/* SPDX-License-Identifier: Apache-2.0 */
/* The account of a capture and its file `host/.aclprof/account.json`. */
#ifndef AP_WRITER_ACCOUNT_H_
#define AP_WRITER_ACCOUNT_H_

#include <stdint.h>

#include "aclprof_ext.h"
#include "ring/arena_layout.h"

typedef struct ap__thread_account {
    uint32_t tid;
    uint64_t emitted;
    uint64_t written; /* before ageing */
    uint64_t lost_full;
    uint64_t lost_no_ring;
    uint64_t lost_reentrant;
    uint64_t lost_disk;
    uint64_t cut_messages;
} ap__thread_account;

typedef struct ap__account {
    aclprofStats total;
    ap__thread_account *threads;
    uint32_t thread_count;
    uint32_t clock_is_ns;
    const char *state;        /* "finished" or "recovered" */
    const char *arena;        /* "file", "shm" or "anonymous" */
    uint64_t data_types;
    const ap__clock_point *points; /* snapshots, in time order */
    uint32_t point_count;
    int disk_errno;           /* first write error, 0 none */
} ap__account;

/* Writes the file into directory dirfd, one JSON line, atomically (temporary name, rename), mode
 * 0640. 0 or errno. */
int ap__account_write(int dirfd, const ap__account *account);

#endif
