/* SPDX-License-Identifier: Apache-2.0 */
/* Appending to host/.aclprof/stamp_ext and names.dic (format/ext_wire.h). */
#ifndef AP_WRITER_EXT_FILE_H_
#define AP_WRITER_EXT_FILE_H_

#include <stddef.h>
#include <stdint.h>

#include "format/ext_wire.h"
#include "writer/file_io.h"

typedef struct ap__ext_file {
    int fd;
    uint64_t size;    /* bytes on disk, whole entries */
    uint64_t scanned; /* entries before it were dropped */
    uint64_t dropped; /* bytes given back to the file system */
    unsigned char *pending;
    size_t pending_bytes;
    size_t pending_room;
    ap__file_id file; /* which one fd is */
} ap__ext_file;

#define AP_EXT_FILE_CLOSED {-1, 0, 0, 0, NULL, 0, 0, {0, 0}}

/* Creates the file, mode 0640, empty. 0, or errno (EEXIST) with fd -1. */
int ap__ext_open(ap__ext_file *f, int ext_fd, const char *name);

/* Buffers one entry. 0 or ENOMEM. Text is made valid UTF-8. One thread at a time. */
int ap__ext_add_stamp(ap__ext_file *f, uint32_t slice, uint32_t index, uint32_t kind, uint64_t id);
int ap__ext_add_name(ap__ext_file *f, uint32_t kind, uint64_t id, const char *text, size_t length);

/* Writes what is pending. 0, or errno: then nothing of it is in the file and all stays pending. */
int ap__ext_flush(ap__ext_file *f);

/* Forgets what is pending. */
void ap__ext_discard(ap__ext_file *f);

/* stamp_ext only, after ageing: gives the blocks of entries of slices below `slice` back to the
 * file system. Offsets stay; those entries then read as zeros (kind 0: to be skipped) or, where
 * the file system knows no holes, as before. */
void ap__ext_drop_before(ap__ext_file *f, uint32_t slice);

/* Bytes that the file occupies. */
uint64_t ap__ext_stored(const ap__ext_file *f);

/* Flushes, closes, frees, whatever happens. 0 or the first errno. */
int ap__ext_close(ap__ext_file *f);

/* Closes and frees without writing. */
void ap__ext_abandon(ap__ext_file *f);

#endif
