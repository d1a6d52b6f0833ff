/* SPDX-License-Identifier: Apache-2.0 */
/* One record stream of a data/ directory: slices of 2 MiB, each followed by its .done. */
#ifndef AP_WRITER_SLICE_H_
#define AP_WRITER_SLICE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/file_io.h"

#define AP_SLICE_BYTES (2048u * 1024u)
#define AP_STREAM_NAME_MAX 128u

struct ap__stream;

/* A slice is complete, with `bytes` of data; its .done may still be owed. */
typedef void (*ap__slice_finished_fn)(void *context, const struct ap__stream *stream,
                                      uint32_t slice, uint64_t bytes);

/* As record_bytes: every append is one record of its own size. */
#define AP_STREAM_WHOLE UINT32_MAX

typedef struct ap__stream {
    char name[AP_STREAM_NAME_MAX]; /* "aging.additional.msproftx" */
    int data_fd;                   /* borrowed */
    int fd;                        /* of the open slice, -1: not made yet */
    ap__file_id file;              /* which file fd is, and which directory data_fd is */
    ap__file_id directory;
    uint32_t record_bytes;         /* 0: lines of text; AP_STREAM_WHOLE */
    uint32_t slice;                /* number of the open slice, or of the next */
    uint32_t owed_from;            /* first slice whose .done may be missing; == slice: none */
    bool torn;                     /* bytes behind `size` could not be cut off yet */
    uint64_t size;                 /* of the open slice, whole records */
    _Atomic uint64_t stored;       /* see ap__stream_stored; read by others' ageing */
    ap__slice_finished_fn finished; /* may be NULL */
    void *finished_context;
} ap__stream;

/* The name is copied; one that is too long makes every append fail with ENAMETOOLONG. */
void ap__stream_init(ap__stream *s, int data_fd, const char *name, uint32_t record_bytes);

/* Continues slice `slice` at `bytes` (whole records), for a directory whose process was killed:
 * what lies behind is cut, later slices are deleted, missing .done are owed. Call it right after
 * ap__stream_init. 0 or errno (ERANGE: the slice is shorter). */
int ap__stream_resume(ap__stream *s, uint32_t slice, uint64_t bytes);

/* Whether its descriptors still are what they were. */
bool ap__stream_intact(const ap__stream *s);

/* Appends whole records (or whole lines). A slice is filled as far as whole records go, never
 * beyond 2 MiB (only a single longer line or record is). 0, or errno with *written = bytes of whole
 * records that are kept, nothing torn behind them; a later append goes on from there.
 * *written == bytes together with an errno: a .done could not be written (it is owed and tried
 * again), or closing a slice told of an error. `written` may be NULL. One thread at a time. */
int ap__stream_append(ap__stream *s, const void *data, size_t bytes, size_t *written);

/* Ends the open slice, writes the .done files owed. 0 or errno; may then be tried again. */
int ap__stream_finish(ap__stream *s);

/* Closes without a .done; for a forked child or a directory that is being removed. */
void ap__stream_abandon(ap__stream *s);

/* Bytes written to slices and .done files by this stream, deleted ones included. */
uint64_t ap__stream_stored(const ap__stream *s);

/* "<stream>.slice_<k>" into buffer of NAME_MAX + 1. 0 or ENAMETOOLONG. */
int ap__stream_slice_name(const ap__stream *s, uint32_t slice, char *buffer);

#endif
