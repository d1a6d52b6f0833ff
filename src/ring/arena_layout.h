/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring arena as it lies in `host/.aclprof/arena`: shared by producers, the writer and the
 * reader that recovers a directory whose process was killed. Little-endian, native alignment,
 * all offsets asserted. See docs/design.md for the memory-order pairs.
 *
 *   head (AP_ARENA_HEAD_BYTES) | slot 0 | slot 1 | …
 *   slot = ring head (AP_RING_HEAD_BYTES) | push stack (stack_bytes) | ring (ring_bytes) | guard
 */
#ifndef AP_RING_ARENA_LAYOUT_H_
#define AP_RING_ARENA_LAYOUT_H_

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define AP_ARENA_MAGIC 0x31414e5241435041ULL /* "APCARNA1" */
#define AP_ARENA_VERSION 3u
#define AP_ARENA_HEAD_BYTES 65536u /* slots start at a multiple of every page size */
#define AP_RING_HEAD_BYTES 4096u
#define AP_RING_GUARD_BYTES 4096u
#define AP_ARENA_NAME "arena"
/* beside it when the rings are in shared memory: one line, the absolute path */
#define AP_ARENA_POINTER_NAME "arena.path"

/* One simultaneous reading of the clocks. error_ns bounds |mono_raw_ns - true value at cycles|. */
typedef struct ap__clock_point {
    uint64_t cycles;
    uint64_t mono_raw_ns;
    uint64_t mono_ns;
    uint64_t real_ns;
    uint64_t error_ns;
} ap__clock_point;

/* What was on disk when the writer last finished a batch. Two copies; `active` names the valid
 * one, so that a kill between two stores can never mix them. */
typedef struct ap__checkpoint {
    uint64_t batch;          /* number of the batch, from 1 */
    uint64_t tx_records;     /* msproftx records written since Start, removed ones included */
    uint32_t tx_slice;       /* current slice number of the msproftx stream */
    uint32_t tx_slice_bytes; /* its whole-record length */
    uint64_t ext_bytes;      /* length of `host/.aclprof/stamp_ext` */
    uint64_t lost_disk;      /* records drained that could not be written */
    uint64_t aged_records;   /* records in slices deleted for the storage limit */
    ap__clock_point clock;   /* newest snapshot when what is on disk was converted */
    uint64_t line_cycles;    /* the line that went on from there; line_mult 0: none yet */
    uint64_t line_ns;
    uint64_t line_mult;      /* ns per cycle, 16.48 fixed point */
    uint64_t raw_aged;       /* records of other streams deleted for the storage limit */
} ap__checkpoint;

#define AP_RAW_STREAMS 64u /* streams of other records, beside the stamps' */

/* The same for one of those streams; written with the checkpoint of the same index. */
typedef struct ap__raw_point {
    char name[72]; /* "aging.compact.task_track" */
    uint32_t slice;
    uint32_t slice_bytes;
    uint64_t records; /* ever written: those of variable size cannot be counted later */
} ap__raw_point;

typedef struct ap__arena_head {
    uint64_t magic;
    uint32_t version;
    uint32_t slot_stride; /* bytes from one slot to the next */
    uint32_t ring_bytes;  /* power of two */
    uint32_t stack_bytes;
    uint32_t pid;
    uint32_t clock_is_ns; /* 1: "cycles" are CLOCK_MONOTONIC_RAW ns */
    _Atomic uint32_t slot_count; /* release after a slot is initialised */
    _Atomic uint32_t active;     /* checkpoint index 0/1, release */
    ap__clock_point start;       /* when Start began */
    ap__clock_point ready;       /* when Start was about to return */
    ap__checkpoint checkpoint[2];
    uint32_t raw_count[2]; /* entries of raw that are in use */
    ap__raw_point raw[2][AP_RAW_STREAMS];
} ap__arena_head;

/* Written by the owning thread only, but for the second part. */
typedef struct ap__ring_head {
    _Atomic uint64_t committed; /* bytes ever published; release, pairs with the drain's acquire */
    _Atomic uint64_t emitted;   /* events accepted by calls, lost ones included */
    _Atomic uint64_t lost_full;
    _Atomic uint64_t lost_reentrant;
    uint64_t reserved;
    _Atomic uint64_t sampled_cycles; /* cost of every AP_COST_SAMPLE-th call */
    _Atomic uint64_t sampled_calls;
    _Atomic uint32_t depth; /* frames on the push stack that lie in this slot */
    _Atomic uint32_t tid;   /* owner now */

    _Alignas(64) _Atomic uint64_t tail; /* bytes freed by the writer; release, pairs with acquire */
    _Atomic uint64_t drained[2];        /* bytes on disk, per checkpoint copy */
    _Atomic uint32_t drained_tid[2];    /* owner at that position */
    uint32_t in_use;                    /* under the arena lock */
    uint32_t slot;
} ap__ring_head;

/* Ring records are whole 8-byte words; none straddles the end of the ring (a pad fills it). */
enum ap__rec_kind {
    AP_REC_PAD = 0,
    AP_REC_THREAD = 1,   /* new owner: see ap__rec_thread; not an event */
    AP_REC_MARK = 2,     /* word 1 = cycles, then the stamp's body */
    AP_REC_PUSH_POP = 3, /* word 1 = start, 2 = end, then the body */
    AP_REC_RANGE = 4,    /* as AP_REC_PUSH_POP */
    AP_REC_RAW = 5       /* word 1 = bytes, then so many; flags: format/raw_record.h */
};

enum ap__body_flags {     /* parts of a body, in this order */
    AP_BODY_ATTR = 0x01,  /* {u32 category, i32 payload type}, u64 payload */
    AP_BODY_NAME = 0x02,  /* u64 id of the whole message in the names dictionary */
    AP_BODY_TAG = 0x04,   /* u64 id */
    AP_BODY_STACK = 0x08, /* u64 id */
    AP_BODY_CUT = 0x10    /* the message is shorter than what the caller gave */
};                        /* then the message, NUL-padded to whole words (no NUL if it fills them) */

typedef struct ap__rec_head {
    uint16_t words; /* of the record, this one included */
    uint8_t kind;
    uint8_t flags;
    uint32_t seq; /* low half of the ring's emitted count before this event */
} ap__rec_head;

typedef struct ap__rec_thread {
    ap__rec_head head;
    uint32_t tid;
    uint32_t pad;
    uint64_t emitted_base; /* the ring's counters when this owner took it */
    uint64_t lost_full_base;
    uint64_t lost_reentrant_base;
    uint64_t reserved;
} ap__rec_thread;

#define AP_BODY_MAX_WORDS 25u /* 2 + 3 + 160/8 */
#define AP_MESSAGE_MAX 155u   /* bytes of text that the vendor's record holds */
#define AP_REC_MAX_WORDS (3u + AP_BODY_MAX_WORDS) /* of a stamp's */
#define AP_REC_RAW_WORDS (2u + 65536u / 8u)       /* of any */

/* A pushed range that has not been popped. */
typedef struct ap__frame {
    uint64_t cycles;
    uint64_t stamp; /* handle */
    uint32_t shape; /* words of body | ap__body_flags << 24 */
    uint32_t reserved;
    uint64_t body[AP_BODY_MAX_WORDS + 4]; /* + what block copies may write beyond */
} ap__frame;

_Static_assert(sizeof(ap__clock_point) == 40, "clock point");
_Static_assert(sizeof(ap__checkpoint) == 120, "checkpoint");
_Static_assert(offsetof(ap__arena_head, slot_count) == 32, "arena head");
_Static_assert(offsetof(ap__arena_head, start) == 40, "arena head");
_Static_assert(offsetof(ap__arena_head, checkpoint) == 120, "arena head");
_Static_assert(sizeof(ap__raw_point) == 88, "raw point");
_Static_assert(offsetof(ap__arena_head, raw_count) == 360, "arena head");
_Static_assert(sizeof(ap__arena_head) <= AP_ARENA_HEAD_BYTES, "arena head");
_Static_assert(offsetof(ap__ring_head, tail) == 64, "ring head");
_Static_assert(offsetof(ap__ring_head, drained) == 72, "ring head");
_Static_assert(offsetof(ap__ring_head, drained_tid) == 88, "ring head");
_Static_assert(sizeof(ap__ring_head) <= AP_RING_HEAD_BYTES, "ring head");
_Static_assert(sizeof(ap__rec_head) == 8, "record head");
_Static_assert(sizeof(ap__rec_thread) == 48, "thread record");
_Static_assert(sizeof(ap__frame) == 256, "frame");

#endif
