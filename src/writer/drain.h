/* SPDX-License-Identifier: Apache-2.0 */
/* From the rings to the msproftx stream: takes records out, converts, appends, keeps the account
 * and the arena's checkpoint. Used by the writer thread alone; `lock` guards what others read. */
#ifndef AP_WRITER_DRAIN_H_
#define AP_WRITER_DRAIN_H_

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/wire_host.h"
#include "ring/arena.h"
#include "writer/account.h"
#include "writer/ageing.h"
#include "writer/convert.h"
#include "writer/ext_file.h"
#include "writer/raw_streams.h"
#include "writer/slice.h"

#define AP_DRAIN_BATCH 1024u /* records encoded before they are appended: 256 KiB */
#define AP_DRAIN_EXTS (3u * AP_DRAIN_BATCH)
#define AP_MAX_ACCOUNTS 4096u /* threads beyond share the last account, tid 0 */

typedef struct ap__drain_slot {
    uint64_t pos;     /* bytes taken from this ring */
    uint64_t target;  /* committed when this pass began */
    uint64_t last_ns; /* end of the newest event: times of one thread never run backwards */
    uint32_t tid;
    uint32_t account;
    ap__rec_thread base; /* the ring's counters when this owner took it */
} ap__drain_slot;

typedef struct ap__pending_ext {
    uint32_t record; /* in the batch */
    uint32_t kind;
    uint64_t id;
} ap__pending_ext;

typedef struct ap__drain {
    ap__arena *arena;
    ap__stream tx;
    ap__ext_file ext;
    ap__ageing ageing;
    ap__convert convert;
    uint32_t pid;

    ap__wire_additional *batch;
    uint32_t *owners; /* account of each record in the batch */
    uint32_t batch_count;
    ap__pending_ext *exts;
    uint32_t ext_count;
    uint32_t *cuts; /* accounts of the batch's cut messages */
    uint32_t cut_count;

    ap__drain_slot *slots; /* AP_ARENA_MAX_SLOTS, touched as far as used */
    uint32_t slot_count;
    ap__raw_streams raw;
    uint32_t raw_names; /* generation of the type names that raw knows */
    uint64_t raw_taken; /* since the last flush, as the next two */
    uint64_t raw_kept;
    uint64_t raw_lost;
    uint32_t aged_slots; /* slots that the storage limit has taken into account */

    pthread_mutex_t lock; /* the rest is read by aclprofGetStats */
    ap__thread_account *accounts;
    uint32_t account_count;
    uint64_t taken;   /* events out of the rings */
    uint64_t tx_written; /* the stamps' part of written */
    uint64_t written; /* of them on disk, removed ones included */
    uint64_t lost_disk;
    uint64_t cut_messages;
    ap__aged aged;
    uint64_t batches;
    uint64_t raw_stored; /* bytes of the other streams */
    int disk_errno; /* the first */
    bool cut_off; /* the host has closed our files: what is in the rings stays there */
    uint64_t (*others_stored)(void *); /* bytes that others have in the directory; NULL: none */
    void *others_context;
} ap__drain;

/* 0 or errno. The streams' directories stay borrowed; limit_bytes 0: none. */
int ap__drain_init(ap__drain *d, ap__arena *arena, int data_fd, int ext_fd,
                   const ap__clock_point *start, const ap__clock_point *ready,
                   uint64_t limit_bytes);

/* Takes everything that was committed before the call. Returns the events taken. */
uint64_t ap__drain_pass(ap__drain *d);

/* true when some ring holds records that no pass has taken. */
bool ap__drain_pending(const ap__drain *d);

/* Closes the threads' accounts with their rings' final counters. No producer is left. */
void ap__drain_settle(ap__drain *d);

/* Finishes the stream and stamp_ext. 0 or the first errno. */
int ap__drain_finish(ap__drain *d);
/* Closes without writing, for a failed Start or a forked child. */
void ap__drain_abandon(ap__drain *d);

#endif
