/* SPDX-License-Identifier: Apache-2.0 */
/* ACL_PROF_STORAGE_LIMIT: deletes the oldest finished slices of one host/ or device/ directory. */
#ifndef AP_WRITER_AGEING_H_
#define AP_WRITER_AGEING_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/slice.h"

#define AP_AGEING_RESERVE (20u * 1024u * 1024u)
#define AP_AGEING_STREAMS 64u

typedef struct ap__aged {
    uint64_t slices;
    uint64_t records; /* of streams with fixed records */
    uint64_t bytes;   /* data and .done */
} ap__aged;

typedef struct ap__aged_slice {
    uint64_t bytes;
    uint32_t slice;
    uint16_t stream;
    bool gone;
} ap__aged_slice;

typedef struct ap__aged_stream {
    ap__stream *stream;
    uint32_t finished; /* slices that still exist */
    uint64_t removed_records;
} ap__aged_stream;

typedef struct ap__ageing {
    int data_fd;      /* borrowed */
    uint64_t limit;   /* 0: nothing is ever deleted */
    uint64_t reserve;
    uint64_t other;   /* bytes of the directory beside the streams' */
    uint64_t removed_bytes;
    ap__aged_stream streams[AP_AGEING_STREAMS];
    uint32_t stream_count;
    bool noted; /* slices were finished since the last run */
    ap__aged_slice *slices; /* finished and deletable, oldest first */
    size_t head;
    size_t count; /* end of the used part */
    size_t room;
} ap__ageing;

/* Bytes that one directory may hold at a setting of `limit_mb`: half of it, as the host and each
 * device have a half. 0: no limit. */
uint64_t ap__ageing_share(uint64_t limit_mb);

/* Deletion begins at limit - reserve, so that what is being written still fits. The limit is no
 * larger than the volume. */
void ap__ageing_init(ap__ageing *a, int data_fd, uint64_t limit_bytes, uint64_t reserve);

/* Counts the stream toward the total and learns of its finished slices (takes its callback).
 * The stream must live until ap__ageing_free. Dictionaries and other streams that the vendor
 * protects are counted, never deleted. 0, or ENOSPC when there are too many. */
int ap__ageing_watch(ap__ageing *a, ap__stream *s);

/* Bytes of everything else in the directory (control files, .aclprof). */
void ap__ageing_set_other(ap__ageing *a, uint64_t bytes);

/* Bytes in the directory now. */
uint64_t ap__ageing_total(const ap__ageing *a);

/* Deletes what is too much, or when the volume has less than the reserve free. To be called after
 * every few MiB appended: the total stays within the limit as long as less than
 * reserve - 2 MiB per stream comes between two calls. Adds to *removed. */
void ap__ageing_run(ap__ageing *a, ap__aged *removed);

/* After ENOSPC: deletes the oldest slices until `bytes` are gained or none is left to delete.
 * Without a limit nothing. Returns the bytes gained, adds to *removed. */
uint64_t ap__ageing_make_room(ap__ageing *a, uint64_t bytes, ap__aged *removed);

/* Records of one stream deleted so far. */
uint64_t ap__ageing_removed_records(const ap__ageing *a, const ap__stream *s);

void ap__ageing_free(ap__ageing *a);

#endif
