/* SPDX-License-Identifier: Apache-2.0 */
/* Whole writes and the vendor's .done files. */
#ifndef AP_WRITER_FILE_IO_H_
#define AP_WRITER_FILE_IO_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Which file a descriptor is: a host that closes what is not its own, and opens files then, makes it
 * another one. */
typedef struct ap__file_id {
    dev_t device;
    ino_t inode;
} ap__file_id;

void ap__file_id_of(int fd, ap__file_id *out);
bool ap__file_is(int fd, const ap__file_id *id);

/* Opens a new file for reading and writing, mode 0640 whatever the umask. fd, or -errno. */
int ap__file_create(int dir_fd, const char *name);

/* Writes everything at `offset`; *written = bytes that went (may be NULL). 0 or errno. */
int ap__file_write(int fd, const void *data, size_t bytes, uint64_t offset, size_t *written);

/* Makes a file that only takes space, to be deleted when the disk is full and files must be finished.
 * 0 or errno. */
int ap__file_reserve(int dir_fd, const char *name, uint64_t bytes);

/* 0 or errno (a late write error of a network file system). */
int ap__file_close(int fd);

/* Creates the file and writes it; on failure it is gone again. 0 or errno. */
int ap__file_put(int dir_fd, const char *name, const void *data, size_t bytes);

/* Writes `name`.done for a file of `bytes`; `times`: with the lines that data files have.
 * *done_bytes (may be NULL) = its size, 0 when it was there already (success). 0 or errno. */
int ap__file_done(int dir_fd, const char *name, uint64_t bytes, bool times, uint64_t *done_bytes);

#endif
