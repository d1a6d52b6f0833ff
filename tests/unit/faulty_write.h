/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces pwrite in the test program: a disk that fills up, is interrupted, or takes a part at
 * a time. Include in one source file. */
#ifndef AP_TESTS_UNIT_FAULTY_WRITE_H_
#define AP_TESTS_UNIT_FAULTY_WRITE_H_

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static struct {
    uint64_t room;    /* bytes until the disk is full */
    size_t most;      /* bytes that one call takes, 0: all */
    unsigned calls;
    unsigned interrupt_every; /* 0: never */
    int error;        /* when full, ENOSPC by default */
} faulty = {.room = UINT64_MAX, .error = ENOSPC};

static void faulty_reset(void)
{
    faulty.room = UINT64_MAX;
    faulty.most = 0;
    faulty.calls = 0;
    faulty.interrupt_every = 0;
    faulty.error = ENOSPC;
}

static ssize_t faulty_pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    ssize_t n = 0;

    faulty.calls++;
    if (faulty.interrupt_every != 0 && faulty.calls % faulty.interrupt_every == 0) {
        errno = EINTR;
        return -1;
    }
    if (bytes > 0 && faulty.room == 0) {
        errno = faulty.error;
        return -1;
    }
    bytes = faulty.most != 0 && bytes > faulty.most ? faulty.most : bytes;
    bytes = bytes > faulty.room ? (size_t)faulty.room : bytes;
    n = syscall(SYS_pwrite64, fd, data, bytes, offset);
    if (n > 0 && faulty.room != UINT64_MAX) {
        faulty.room -= (uint64_t)n;
    }
    return n;
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    return faulty_pwrite(fd, data, bytes, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t offset)
{
    return faulty_pwrite(fd, data, bytes, (off_t)offset);
}

#endif
