/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reader/safe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ap__open_dir(int dirfd, const char *name)
{
    int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

static const char *ap__kind_text(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFIFO:
        return "a pipe";
    case S_IFSOCK:
        return "a socket";
    case S_IFCHR:
    case S_IFBLK:
        return "a device";
    default:
        return "a symbolic link";
    }
}

int ap__open_regular(int dirfd, const char *name, int write, uint64_t *size, ap__notes *notes)
{
    struct stat st;
    int fd = -1;

    /* opening a device can have effects: look first, check again on the descriptor */
    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return -errno;
    }
    if (S_ISREG(st.st_mode)) {
        fd = openat(dirfd, name,
                    (write ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (fd < 0) {
            return -errno;
        }
        if (fstat(fd, &st) != 0) {
            int error = errno;

            close(fd);
            return -error;
        }
    }
    if (!S_ISREG(st.st_mode)) {
        ap__note(notes, "%s is %s, not a file: not read", name, ap__kind_text(st.st_mode));
        if (fd >= 0) {
            close(fd);
        }
        return -ENOTSUP;
    }
    *size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
    return fd;
}

int64_t ap__pread_full(int fd, void *buffer, size_t size, uint64_t offset)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = pread(fd, (char *)buffer + done, size - done, (off_t)(offset + done));

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return -(int64_t)errno;
        }
        if (n == 0) {
            break;
        }
        done += (size_t)n;
    }
    return (int64_t)done;
}

int ap__pwrite_full(int fd, const void *buffer, size_t size, uint64_t offset)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = pwrite(fd, (const char *)buffer + done, size - done, (off_t)(offset + done));

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return n < 0 ? errno : EIO;
        }
        done += (size_t)n;
    }
    return 0;
}

char *ap__read_whole(int dirfd, const char *name, size_t limit, size_t *length, ap__notes *notes,
                     int *error)
{
    uint64_t size = 0;
    int64_t got = 0;
    char *text = NULL;
    int fd = ap__open_regular(dirfd, name, 0, &size, notes);
    char why[128];

    *length = 0;
    *error = 0;
    if (fd < 0) {
        *error = -fd;
        if (fd != -ENOENT && fd != -ENOTSUP) {
            ap__note(notes, "%s cannot be opened: %s", name,
                     ap__errno_text(-fd, why, sizeof(why)));
        }
        return NULL;
    }
    if (size > limit) {
        *error = EFBIG;
        ap__note(notes, "%s has %llu bytes, more than the %zu it may have: not read", name,
                 (unsigned long long)size, limit);
        goto out;
    }
    text = malloc((size_t)size + 1);
    if (text == NULL) {
        *error = ENOMEM;
        goto out;
    }
    got = ap__pread_full(fd, text, (size_t)size, 0);
    if (got < 0) {
        *error = (int)-got;
        ap__note(notes, "%s cannot be read: %s", name, ap__errno_text(*error, why, sizeof(why)));
        free(text);
        text = NULL;
        goto out;
    }
    text[got] = '\0';
    *length = (size_t)got;
out:
    close(fd);
    return text;
}

void ap__window_begin(ap__window *window, int fd)
{
    window->fd = fd;
    window->at = 0;
    window->filled = 0;
}

static bool ap__window_fill(ap__window *window, uint64_t offset)
{
    int64_t got = ap__pread_full(window->fd, window->bytes, sizeof(window->bytes), offset);

    window->at = offset;
    window->filled = got > 0 ? (uint32_t)got : 0;
    return got > 0;
}

bool ap__window_get(ap__window *window, uint64_t offset, void *out, size_t size)
{
    uint8_t *to = out;

    while (size != 0) {
        if (offset >= window->at && offset - window->at < window->filled) {
            size_t skip = (size_t)(offset - window->at);
            size_t n = window->filled - skip < size ? window->filled - skip : size;

            memcpy(to, window->bytes + skip, n);
            to += n;
            offset += n;
            size -= n;
            continue;
        }
        if (!ap__window_fill(window, offset)) {
            return false;
        }
    }
    return true;
}

uint64_t ap__skip_hole(int fd, uint64_t offset, uint64_t end)
{
    off_t data = lseek(fd, (off_t)offset, SEEK_DATA);

    if (data < 0) {
        return errno == ENXIO ? end : offset;
    }
    if ((uint64_t)data <= offset) {
        return offset;
    }
    return (uint64_t)data < end ? (uint64_t)data : end;
}

const char *ap__errno_text(int error, char *buffer, size_t size)
{
    return strerror_r(error, buffer, size); /* the GNU one */
}
