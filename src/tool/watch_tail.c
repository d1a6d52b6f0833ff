/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "reader/safe_file.h"
#include "reader/sources.h"
#include "tool/watch.h"

#define AP_BLOCK 65536u
#define AP_BACK (16u << 20)    /* of what is there when the watch begins */
#define AP_A_TURN (256u << 20) /* a stream that is faster is followed with a delay */

/* The first and the last slice that there are. */
static bool ap__slices(int data_fd, const char *name, uint32_t *first, uint32_t *last)
{
    int fd = openat(data_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    size_t length = strlen(name);
    bool any = false;

    for (struct dirent *e = list != NULL ? readdir(list) : NULL; e != NULL; e = readdir(list)) {
        size_t source = 0;
        uint32_t number = 0;

        if (!ap__source_name_parse(e->d_name, &source, &number) || source != length ||
            memcmp(e->d_name, name, length) != 0) {
            continue;
        }
        *first = !any || number < *first ? number : *first;
        *last = !any || number > *last ? number : *last;
        any = true;
    }
    if (list != NULL) {
        closedir(list);
    } else if (fd >= 0) {
        close(fd);
    }
    return any;
}

static int ap__open_slice(int data_fd, const char *name, uint32_t slice, uint64_t *size,
                          ap__notes *notes)
{
    char file[256];

    return ap__source_name_make(file, sizeof(file), name, slice)
               ? ap__open_regular(data_fd, file, 0, size, notes)
               : -ENAMETOOLONG;
}

static uint64_t ap__whole(uint64_t bytes, uint32_t record)
{
    return bytes - bytes % record;
}

/* Whole records of one slice from the tail to `end`. false: it could not be read. */
static bool ap__read_slice(int fd, ap__watch_tail *tail, uint64_t end, uint32_t record,
                           ap__watch_take take, void *context)
{
    static uint8_t block[AP_BLOCK];
    uint32_t room = (uint32_t)ap__whole(sizeof(block), record);

    while (tail->offset < end) {
        uint64_t left = end - tail->offset;
        size_t want = left < room ? (size_t)left : room;
        int64_t n = ap__pread_full(fd, block, want, tail->offset);

        n = n > 0 ? (int64_t)ap__whole((uint64_t)n, record) : 0;
        if (n == 0) {
            return false;
        }
        for (int64_t at = 0; at < n; at += record) {
            take(context, block + at);
        }
        tail->offset += (uint64_t)n;
    }
    return true;
}

void ap__watch_tail_read(int data_fd, const char *name, ap__watch_tail *tail, uint32_t record_bytes,
                         const ap__watch_tail *limit, ap__notes *notes, ap__watch_take take,
                         void *context)
{
    uint32_t first = 0;
    uint32_t last = 0;
    uint64_t taken = 0;

    if (!ap__slices(data_fd, name, &first, &last)) {
        return;
    }
    last = limit != NULL && limit->slice < last ? limit->slice : last;
    if (!tail->begun || tail->slice < first) {
        tail->slice = tail->begun ? first : last; /* older ones went for the storage limit */
        tail->offset = 0;
    }
    for (; tail->slice <= last && taken < AP_A_TURN; tail->slice++, tail->offset = 0) {
        uint64_t size = 0;
        uint64_t before = tail->offset;
        int fd = ap__open_slice(data_fd, name, tail->slice, &size, notes);
        uint64_t end = ap__whole(size, record_bytes);

        if (fd < 0) {
            break;
        }
        if (limit != NULL && tail->slice == limit->slice && limit->offset < end) {
            end = ap__whole(limit->offset, record_bytes);
        }
        if (!tail->begun) {
            tail->begun = true;
            tail->offset = end > AP_BACK ? ap__whole(end - AP_BACK, record_bytes) : 0;
            before = tail->offset;
        }
        if (!ap__read_slice(fd, tail, end, record_bytes, take, context) || tail->slice == last) {
            close(fd);
            break;
        }
        taken += tail->offset - before;
        close(fd);
    }
}
