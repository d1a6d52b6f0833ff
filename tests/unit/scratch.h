/* SPDX-License-Identifier: Apache-2.0 */
/* A scratch directory per test, and looking into files. Include after cmocka.h. */
#ifndef AP_TESTS_UNIT_SCRATCH_H_
#define AP_TESTS_UNIT_SCRATCH_H_

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct scratch {
    char path[512];
    int fd;
} scratch;

static inline void scratch_remove_tree(int parent, const char *name)
{
    int fd = -1;
    DIR *list = NULL;
    struct dirent *entry = NULL;

    if (unlinkat(parent, name, 0) == 0) {
        return;
    }
    (void)!fchmodat(parent, name, 0700, 0);
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    list = fd >= 0 ? fdopendir(fd) : NULL;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            scratch_remove_tree(fd, entry->d_name);
        }
    }
    if (list != NULL) {
        closedir(list);
    }
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

static inline int scratch_setup(void **state)
{
    const char *base = getenv("TMPDIR");
    scratch *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        return -1;
    }
    snprintf(s->path, sizeof(s->path), "%s/ap_test_XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(s->path) == NULL) {
        free(s);
        return -1;
    }
    s->fd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *state = s;
    return s->fd >= 0 ? 0 : -1;
}

static inline int scratch_teardown(void **state)
{
    scratch *s = *state;

    close(s->fd);
    scratch_remove_tree(AT_FDCWD, s->path);
    free(s);
    return 0;
}

/* Whole content with a NUL behind it; NULL when the file is not there. To be freed. */
static inline char *scratch_read(int dir_fd, const char *name, size_t *length)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
    struct stat st;
    char *text = NULL;
    size_t used = 0;
    ssize_t n = 0;

    if (fd < 0) {
        return NULL;
    }
    assert_int_equal(fstat(fd, &st), 0);
    text = malloc((size_t)st.st_size + 1);
    assert_non_null(text);
    while (used < (size_t)st.st_size &&
           (n = read(fd, text + used, (size_t)st.st_size - used)) > 0) {
        used += (size_t)n;
    }
    close(fd);
    text[used] = '\0';
    if (length != NULL) {
        *length = used;
    }
    return text;
}

static inline long long scratch_size(int dir_fd, const char *name)
{
    struct stat st;

    return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? (long long)st.st_size : -1;
}

static inline unsigned scratch_mode(int dir_fd, const char *name)
{
    struct stat st;

    assert_int_equal(fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
    return st.st_mode & 07777u;
}

static inline void scratch_assert_text(int dir_fd, const char *name, const char *expected)
{
    char *text = scratch_read(dir_fd, name, NULL);

    if (text == NULL) {
        fail_msg("no file %s", name);
    }
    assert_string_equal(text, expected);
    free(text);
}

/* Entries of a directory without "." and "..". */
static inline unsigned scratch_count(int dir_fd)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fdopendir(fd);
    unsigned count = 0;

    assert_non_null(list);
    while (readdir(list) != NULL) {
        count++;
    }
    closedir(list);
    return count - 2;
}

static inline unsigned scratch_open_fds(void)
{
    DIR *list = opendir("/proc/self/fd");
    unsigned count = 0;

    assert_non_null(list);
    while (readdir(list) != NULL) {
        count++;
    }
    closedir(list);
    return count;
}

#endif
