/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "writer/file_io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "writer/dirs.h"

void ap__file_id_of(int fd, ap__file_id *out)
{
    struct stat st;

    *out = (ap__file_id){0, 0};
    if (fstat(fd, &st) == 0) {
        *out = (ap__file_id){st.st_dev, st.st_ino};
    }
}

bool ap__file_is(int fd, const ap__file_id *id)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_dev == id->device && st.st_ino == id->inode;
}

int ap__file_create(int dir_fd, const char *name)
{
    int fd;

    do {
        fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, AP_FILE_MODE);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        return -errno;
    }
    /* undoes the umask; where a file system refuses, the mode is only narrower */
    (void)fchmod(fd, AP_FILE_MODE);
    return fd;
}

int ap__file_write(int fd, const void *data, size_t bytes, uint64_t offset, size_t *written)
{
    const char *p = data;
    size_t done = 0;
    int err = 0;

    while (done < bytes) {
        ssize_t n = pwrite(fd, p + done, bytes - done, (off_t)(offset + done));

        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0) {
            err = ENOSPC;
            break;
        } else if (errno != EINTR) {
            err = errno;
            break;
        }
    }
    if (written != NULL) {
        *written = done;
    }
    return err;
}

int ap__file_reserve(int dir_fd, const char *name, uint64_t bytes)
{
    int fd = ap__file_create(dir_fd, name);
    int err = 0;

    if (fd < 0) {
        return -fd;
    }
    err = posix_fallocate(fd, 0, (off_t)bytes);
    (void)close(fd);
    if (err != 0) {
        (void)unlinkat(dir_fd, name, 0);
    }
    return err;
}

int ap__file_close(int fd)
{
    /* after EINTR Linux has closed it all the same */
    return close(fd) != 0 && errno != EINTR ? errno : 0;
}

int ap__file_put(int dir_fd, const char *name, const void *data, size_t bytes)
{
    int fd = ap__file_create(dir_fd, name);
    int err;
    int close_err;

    if (fd < 0) {
        return -fd;
    }
    err = ap__file_write(fd, data, bytes, 0, NULL);
    close_err = ap__file_close(fd);
    if (err == 0) {
        err = close_err;
    }
    if (err != 0) {
        (void)unlinkat(dir_fd, name, 0);
    }
    return err;
}

int ap__file_done(int dir_fd, const char *name, uint64_t bytes, bool times, uint64_t *done_bytes)
{
    char done_name[NAME_MAX + 1];
    char text[80];
    int n = snprintf(done_name, sizeof(done_name), "%s.done", name);
    int length;
    int err;

    if (done_bytes != NULL) {
        *done_bytes = 0;
    }
    if (n < 0 || (size_t)n >= sizeof(done_name)) {
        return ENAMETOOLONG;
    }
    length = snprintf(text, sizeof(text), "filesize:%" PRIu64 "\n%s", bytes,
                      times ? "starttime:0\nendtime  :0\n" : "");
    err = ap__file_put(dir_fd, done_name, text, (size_t)length);
    if (err == EEXIST) {
        return 0;
    }
    if (err == 0 && done_bytes != NULL) {
        *done_bytes = (uint64_t)length;
    }
    return err;
}
