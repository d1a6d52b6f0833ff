/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "writer/dirs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/ext_wire.h"

#define AP_NAME_TRIES 64u
#define AP_ROOT_TRIES 100u
#define AP_REMOVE_DEPTH 8
#define AP_START_NUMBERS 999999u

/* Length of the path's next prefix that ends with a component, `from` being the last one's. */
static size_t ap__next_level(const char *path, size_t from)
{
    while (path[from] == '/') {
        from++;
    }
    while (path[from] != '\0' && path[from] != '/') {
        from++;
    }
    return from;
}

static bool ap__is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* 0: made, EEXIST: a directory was there, else errno. */
static int ap__make_level(const char *path)
{
    struct stat st;
    int err = 0;

    if (mkdir(path, AP_DIR_MODE) == 0) {
        (void)chmod(path, AP_DIR_MODE); /* where refused, the umask has only narrowed the mode */
        return 0;
    }
    err = errno;
    /* a read-only or automounted parent answers something else than EEXIST */
    if (stat(path, &st) == 0) {
        return S_ISDIR(st.st_mode) ? EEXIST : err == EEXIST ? ENOTDIR : err;
    }
    return err == EEXIST ? errno : err; /* ENOENT: gone meanwhile */
}

int ap__dirs_make_root_counted(const char *path, unsigned *made)
{
    char level[AP_PATH_MAX];
    size_t length = strlen(path);
    unsigned tries = 0;
    size_t end = 0;
    int err = 0;

    *made = 0;
    if (length == 0) {
        return ENOENT;
    }
    if (length >= sizeof(level)) {
        return ENAMETOOLONG;
    }
    if (ap__is_dir(path)) {
        return 0;
    }
    memcpy(level, path, length + 1);
    while (end < length) {
        char kept = '\0';

        end = ap__next_level(path, end);
        kept = level[end];
        level[end] = '\0';
        err = ap__make_level(level);
        level[end] = kept;
        if (err == 0) {
            (*made)++;
        } else if (err == ENOENT && ++tries < AP_ROOT_TRIES) {
            end = 0; /* another process took its own empty level back */
        } else if (err != EEXIST) {
            break;
        }
    }
    if (err != 0 && err != EEXIST) {
        level[end] = '\0';
        for (size_t cut = end; cut > 0 && level[cut] != '/'; cut--) {
            level[cut] = '\0'; /* the failed level itself is not ours */
        }
        ap__dirs_unmake_root(level, *made);
        *made = 0;
        return err;
    }
    return 0;
}

int ap__dirs_make_root(const char *path)
{
    unsigned made = 0;

    return ap__dirs_make_root_counted(path, &made);
}

void ap__dirs_unmake_root(const char *path, unsigned made)
{
    char level[AP_PATH_MAX];
    size_t length = strlen(path);

    if (length >= sizeof(level)) {
        return;
    }
    memcpy(level, path, length + 1);
    for (; made > 0; made--) {
        while (length > 0 && level[length - 1] == '/') {
            level[--length] = '\0';
        }
        if (length == 0 || rmdir(level) != 0) {
            return;
        }
        while (length > 0 && level[length - 1] != '/') {
            level[--length] = '\0';
        }
    }
}

static uint64_t ap__mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* Eight letters A-R that another process or attempt will hardly choose as well. */
static void ap__letters(char out[9], const struct timespec *now, unsigned attempt)
{
    uint64_t seed = 0;

    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed)) {
        seed = ap__mix((uint64_t)now->tv_sec * 1000000000u + (uint64_t)now->tv_nsec) ^
               ap__mix((uint64_t)getpid() << 32 | attempt) ^ (uint64_t)(uintptr_t)out;
    }
    for (unsigned i = 0; i < 8; i++) {
        seed = ap__mix(seed);
        out[i] = (char)('A' + seed % 18u);
    }
    out[8] = '\0';
}

static int ap__prof_name(char *out, size_t size, uint32_t start_number, unsigned attempt)
{
    struct timespec now;
    struct tm local;
    char letters[9];
    uint32_t number = start_number != 0 ? (start_number - 1u) % AP_START_NUMBERS + 1u : 0;
    int n = 0;

    clock_gettime(CLOCK_REALTIME, &now);
    if (localtime_r(&now.tv_sec, &local) == NULL) {
        return EOVERFLOW;
    }
    ap__letters(letters, &now, attempt);
    n = snprintf(out, size, "PROF_%06" PRIu32 "_%04d%02d%02d%02d%02d%02d%03ld_%08ld%s", number,
                 local.tm_year + 1900, local.tm_mon + 1, local.tm_mday, local.tm_hour,
                 local.tm_min, local.tm_sec, now.tv_nsec / 1000000L, (long)getpid(), letters);
    return n > 0 && (size_t)n < size ? 0 : ENAMETOOLONG;
}

/* Makes and opens a directory that was not there. fd, or -errno. */
static int ap__make_dir_at(int parent, const char *name)
{
    int fd = -1;

    if (mkdirat(parent, name, AP_DIR_MODE) != 0) {
        return -errno;
    }
    /* before opening: the umask may have left no right at all */
    (void)!fchmodat(parent, name, AP_DIR_MODE, 0);
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        int err = errno;

        (void)unlinkat(parent, name, AT_REMOVEDIR);
        return -err;
    }
    return fd;
}

static int ap__child(int parent, const char *name, int *fd)
{
    *fd = ap__make_dir_at(parent, name);
    if (*fd < 0) {
        int err = -*fd;

        *fd = -1;
        return err;
    }
    return 0;
}

int ap__prof_dir_create(const char *root, uint32_t start_number, ap__prof_dir *out)
{
    char name[128];
    size_t length = strlen(root);
    int err = EEXIST;

    *out = (ap__prof_dir)AP_PROF_DIR_CLOSED;
    while (length > 0 && root[length - 1] == '/') {
        length--;
    }
    if (length >= AP_PATH_MAX) {
        return ENAMETOOLONG;
    }
    out->root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out->root_fd < 0) {
        return errno;
    }
    for (unsigned attempt = 0; err == EEXIST && attempt < AP_NAME_TRIES; attempt++) {
        err = ap__prof_name(name, sizeof(name), start_number, attempt);
        if (err == 0) {
            err = ap__child(out->root_fd, name, &out->prof_fd);
        }
    }
    if (err == 0) {
        (void)snprintf(out->path, sizeof(out->path), "%.*s/%s", (int)length, root, name);
        err = ap__child(out->prof_fd, "host", &out->host_fd);
    }
    if (err == 0) {
        err = ap__child(out->host_fd, "data", &out->data_fd);
    }
    if (err == 0) {
        err = ap__child(out->host_fd, AP_EXT_DIR, &out->ext_fd);
    }
    if (err != 0) {
        ap__prof_dir_remove(out);
        return err;
    }
    ap__file_id_of(out->root_fd, &out->ids[0]);
    ap__file_id_of(out->prof_fd, &out->ids[1]);
    ap__file_id_of(out->host_fd, &out->ids[2]);
    ap__file_id_of(out->data_fd, &out->ids[3]);
    ap__file_id_of(out->ext_fd, &out->ids[4]);
    return 0;
}

bool ap__prof_dir_intact(const ap__prof_dir *dir)
{
    return ap__file_is(dir->prof_fd, &dir->ids[1]) && ap__file_is(dir->host_fd, &dir->ids[2]) &&
           ap__file_is(dir->data_fd, &dir->ids[3]) && ap__file_is(dir->ext_fd, &dir->ids[4]);
}

/* Of those that are somebody else's by now, forgets the number. */
static void ap__forget_lost(ap__prof_dir *dir)
{
    int *const fds[] = {&dir->root_fd, &dir->prof_fd, &dir->host_fd, &dir->data_fd, &dir->ext_fd};

    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (*fds[i] >= 0 && dir->ids[i].inode != 0 && !ap__file_is(*fds[i], &dir->ids[i])) {
            *fds[i] = -1;
        }
    }
}

static void ap__close_fd(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
        *fd = -1;
    }
}

void ap__prof_dir_close(ap__prof_dir *dir)
{
    ap__forget_lost(dir);
    ap__close_fd(&dir->ext_fd);
    ap__close_fd(&dir->data_fd);
    ap__close_fd(&dir->host_fd);
    ap__close_fd(&dir->prof_fd);
    ap__close_fd(&dir->root_fd);
}

/* Closes dir_fd. Takes one descriptor a level: it is also called where there are few. */
static void ap__empty_dir(int dir_fd, int depth)
{
    DIR *list = fdopendir(dir_fd);
    struct dirent *entry = NULL;

    if (list == NULL) {
        (void)close(dir_fd);
        return;
    }
    while ((entry = readdir(list)) != NULL) {
        const char *name = entry->d_name;
        int sub = -1;

        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || unlinkat(dir_fd, name, 0) == 0) {
            continue;
        }
        if (depth > 0) {
            sub = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        }
        if (sub >= 0) {
            ap__empty_dir(sub, depth - 1);
        }
        (void)unlinkat(dir_fd, name, AT_REMOVEDIR);
    }
    (void)closedir(list);
}

void ap__prof_dir_remove(ap__prof_dir *dir)
{
    const char *name = strrchr(dir->path, '/');

    ap__close_fd(&dir->ext_fd);
    ap__close_fd(&dir->data_fd);
    ap__close_fd(&dir->host_fd);
    if (dir->prof_fd >= 0) {
        ap__empty_dir(dir->prof_fd, AP_REMOVE_DEPTH);
        dir->prof_fd = -1;
        if (dir->root_fd >= 0 && name != NULL) {
            (void)unlinkat(dir->root_fd, name + 1, AT_REMOVEDIR);
        }
    }
    ap__prof_dir_close(dir);
}
