/* SPDX-License-Identifier: Apache-2.0 */
/* Opening what lies in a directory of unknown origin: links, pipes and devices are refused, sizes
 * are limited before memory is asked for. */
#ifndef AP_READER_SAFE_FILE_H_
#define AP_READER_SAFE_FILE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reader/notes.h"

/* Directory below dirfd, not through a link. A descriptor, or -errno. */
int ap__open_dir(int dirfd, const char *name);

/* Regular file below dirfd for reading (`write` 1: for both). A descriptor with *size set, or
 * -errno; -ENOTSUP means that it is not a regular file (a note says what it is). */
int ap__open_regular(int dirfd, const char *name, int write, uint64_t *size, ap__notes *notes);

/* Whole file plus a NUL behind it, malloc'ed; NULL with *error an errno. Larger than `limit`:
 * EFBIG and a note. A missing file makes no note. */
char *ap__read_whole(int dirfd, const char *name, size_t limit, size_t *length, ap__notes *notes,
                     int *error);

/* Reads up to `size` bytes at `offset`, over short reads and signals. Bytes read, or -errno. */
int64_t ap__pread_full(int fd, void *buffer, size_t size, uint64_t offset);
/* 0 or errno. */
int ap__pwrite_full(int fd, const void *buffer, size_t size, uint64_t offset);

/* A small read-ahead for a file that is read here and there, mostly forwards. */
typedef struct ap__window {
    int fd;
    uint64_t at; /* file offset of bytes[0] */
    uint32_t filled;
    uint8_t bytes[16384];
} ap__window;

void ap__window_begin(ap__window *window, int fd);
/* Copies `size` bytes at `offset`; false when they are not all there. */
bool ap__window_get(ap__window *window, uint64_t offset, void *out, size_t size);

/* Where the next bytes that are not a hole begin, at or after offset; `end` when there are none.
 * `offset` itself on file systems that cannot tell. */
uint64_t ap__skip_hole(int fd, uint64_t offset, uint64_t end);

/* Text of an errno in a caller's buffer; returns it. */
const char *ap__errno_text(int error, char *buffer, size_t size);

#endif
