/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reader/finish_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/ext_wire.h"
#include "reader/dictionaries.h"
#include "reader/record_sizes.h"
#include "reader/safe_file.h"
#include "writer/file_io.h"

#define AP_TAIL_CHUNK 65536u

int ap__finish_cut(int dirfd, const char *name, uint64_t size, ap__notes *notes)
{
    uint64_t now = 0;
    int fd = ap__open_regular(dirfd, name, 1, &now, notes);
    int rc = 0;

    if (fd < 0) {
        return fd == -ENOENT ? 0 : -fd;
    }
    if (now > size) {
        rc = ftruncate(fd, (off_t)size) != 0 ? errno : 0;
        if (rc == 0) {
            ap__note(notes, "%s: %llu bytes behind the last whole entry removed", name,
                     (unsigned long long)(now - size));
        }
    }
    close(fd);
    return rc;
}

/* Writes NAME.done unless a filled one is there. */
static int ap__finish_done(int dirfd, const char *name, uint64_t size, bool times)
{
    char done[NAME_MAX + 1];
    struct stat st;
    int n = snprintf(done, sizeof(done), "%s.done", name);

    if (n < 0 || (size_t)n >= sizeof(done)) {
        return ENAMETOOLONG;
    }
    if (fstatat(dirfd, done, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        if (!S_ISREG(st.st_mode) || st.st_size != 0) {
            return 0;
        }
        if (unlinkat(dirfd, done, 0) != 0) {
            return errno;
        }
    }
    return ap__file_done(dirfd, name, size, times, NULL);
}

int ap__finish_control(int host_fd, ap__notes *notes)
{
    static const char *const names[] = {"info.json", "sample.json", "start_info", "end_info",
                                        "host_start.log"};
    int rc = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && rc == 0; i++) {
        uint64_t size = 0;
        int fd = ap__open_regular(host_fd, names[i], 0, &size, notes);

        if (fd >= 0) {
            close(fd);
            rc = ap__finish_done(host_fd, names[i], size, false);
        }
    }
    return rc;
}

/* Where the hole at the end of the file begins; size when there is none. */
static uint64_t ap__data_end(int fd, uint64_t size)
{
    uint64_t end = 0;

    while (end < size) {
        off_t data = lseek(fd, (off_t)end, SEEK_DATA);
        off_t hole = data >= 0 ? lseek(fd, data, SEEK_HOLE) : -1;

        if (hole < 0 || (uint64_t)hole <= end) {
            return data < 0 && errno == ENXIO ? end : size;
        }
        end = (uint64_t)hole;
    }
    return size;
}

/* Length up to and with the last newline. */
static uint64_t ap__whole_lines(int fd, uint64_t size)
{
    char chunk[AP_TAIL_CHUNK];

    size = ap__data_end(fd, size);
    while (size != 0) {
        size_t n = size < sizeof(chunk) ? (size_t)size : sizeof(chunk);
        const char *newline = NULL;

        if (ap__pread_full(fd, chunk, n, size - n) != (int64_t)n) {
            return size;
        }
        newline = memrchr(chunk, '\n', n);
        if (newline != NULL) {
            return size - n + (uint64_t)(newline - chunk) + 1;
        }
        size -= n;
    }
    return 0;
}

/* Bytes of slice `at` that are whole. Only the last slice of a stream can be torn: it is the one
 * that was being written. */
static uint64_t ap__whole_bytes(int fd, const ap__source *source, uint32_t at, uint64_t size)
{
    uint32_t record = source->record_size != 0 ? source->record_size
                                               : ap__source_record_size(source->kind);
    uint64_t before = 0;
    uint64_t rest = 0;

    if (at + 1 != source->slice_count) {
        return size;
    }
    if (source->kind == AP_SOURCE_DICTIONARY || record == AP_RECORD_LINES ||
        (source->kind == AP_SOURCE_OTHER && ap__record_is_host_text(source->name))) {
        return ap__whole_lines(fd, size);
    }
    if (source->record_size != 0) { /* a device's file, each slice of whole records */
        return size - size % record;
    }
    if (record == 0 || source->slices[0].number != 0) {
        return size;
    }
    for (uint32_t i = 0; i < at; i++) {
        before += source->slices[i].size; /* records may straddle slices */
    }
    rest = (before + size) % record;
    return rest <= size ? size - rest : size;
}

static int ap__finish_slice(int data_fd, const ap__source *source, uint32_t at, bool cut,
                            ap__notes *notes)
{
    char name[NAME_MAX + 1];
    char done[NAME_MAX + 8];
    uint64_t size = 0;
    uint64_t whole = 0;
    int fd = -1;
    int rc = 0;

    if (!ap__source_name_make(name, sizeof(name), source->name, source->slices[at].number)) {
        return ENAMETOOLONG;
    }
    fd = ap__open_regular(data_fd, name, 1, &size, notes);
    if (fd < 0) {
        return fd == -ENOTSUP || fd == -ENOENT ? 0 : -fd;
    }
    whole = cut ? ap__whole_bytes(fd, source, at, size) : size;
    if (whole != size) {
        snprintf(done, sizeof(done), "%s.done", name);
        rc = unlinkat(data_fd, done, 0) != 0 && errno != ENOENT ? errno : 0;
        if (rc == 0 && ftruncate(fd, (off_t)whole) != 0) {
            rc = errno;
        }
        ap__note(notes, "data/%s: a torn end of %llu bytes removed", name,
                 (unsigned long long)(size - whole));
    }
    close(fd);
    return rc != 0 ? rc : ap__finish_done(data_fd, name, whole, true);
}

int ap__finish_sources(int data_fd, const ap__sources *sources, const char *except,
                       ap__notes *notes)
{
    int rc = 0;

    for (uint32_t i = 0; i < sources->count && rc == 0; i++) {
        const ap__source *source = &sources->list[i];
        bool cut = except == NULL || strcmp(source->name, except) != 0;

        for (uint32_t k = 0; k < source->slice_count && rc == 0; k++) {
            rc = ap__finish_slice(data_fd, source, k, cut, notes);
        }
    }
    return rc;
}

int ap__finish_ext(int ext_fd, ap__notes *notes)
{
    uint64_t size = 0;
    int64_t whole = 0;
    int fd = ap__open_regular(ext_fd, AP_EXT_NAMES_NAME, 0, &size, notes);
    int rc = 0;

    if (fd >= 0) {
        whole = ap__names_walk(fd, size, NULL);
        close(fd);
        if (whole >= 0) {
            rc = ap__finish_cut(ext_fd, AP_EXT_NAMES_NAME, (uint64_t)whole, notes);
        }
    }
    fd = ap__open_regular(ext_fd, AP_EXT_STAMP_NAME, 0, &size, notes);
    if (fd >= 0) {
        close(fd);
        if (rc == 0) {
            rc = ap__finish_cut(ext_fd, AP_EXT_STAMP_NAME, size - size % sizeof(ap__ext_stamp),
                                notes);
        }
    }
    return rc;
}
