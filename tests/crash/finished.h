/* SPDX-License-Identifier: Apache-2.0 */
/* What a finished result directory looks like from outside. */
#ifndef AP_TESTS_FINISHED_H_
#define AP_TESTS_FINISHED_H_

#include "tests/stress/harness.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "format/ext_wire.h"
#include "ring/arena_layout.h"

static inline bool file_exists(int dirfd, const char *name)
{
    struct stat st;

    return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static inline bool ends_with(const char *text, const char *tail)
{
    size_t n = strlen(text);
    size_t m = strlen(tail);

    return n >= m && strcmp(text + n - m, tail) == 0;
}

/* Every file of prof/name has its .done file. */
static inline void assert_all_done(int prof, const char *name)
{
    int fd = openat(prof, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry = NULL;
    size_t files = 0;

    assert_non_null(stream);
    while ((entry = readdir(stream)) != NULL) {
        char done[sizeof(entry->d_name) + 5];

        if (entry->d_type != DT_REG || ends_with(entry->d_name, ".done")) {
            continue;
        }
        files++;
        snprintf(done, sizeof(done), "%s.done", entry->d_name);
        if (!file_exists(fd, done)) {
            fail_msg("%s/%s has no .done", name, entry->d_name);
        }
    }
    closedir(stream);
    assert_true(files != 0);
}

/* All control files and .done files are there, nothing of the rings is. */
static inline void assert_finished(const char *path)
{
    static const char *const there[] = {"host/info.json",       "host/sample.json",
                                        "host/start_info",      "host/end_info",
                                        "host/host_start.log",
                                        "host/" AP_EXT_DIR "/" AP_EXT_ACCOUNT_NAME};
    static const char *const gone[] = {"host/" AP_EXT_DIR "/" AP_ARENA_NAME,
                                       "host/" AP_EXT_DIR "/" AP_ARENA_POINTER_NAME,
                                       "host/" AP_EXT_DIR "/" AP_EXT_RESERVE_NAME};
    int prof = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(prof >= 0);
    for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++) {
        if (!file_exists(prof, there[i])) {
            fail_msg("%s/%s is not there", path, there[i]);
        }
    }
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
        if (file_exists(prof, gone[i])) {
            fail_msg("%s/%s is still there", path, gone[i]);
        }
    }
    assert_all_done(prof, "host");
    assert_all_done(prof, "host/data");
    close(prof);
}

/* Nothing in shared memory of a process that is gone. */
static inline void assert_no_shm(pid_t pid)
{
    char prefix[64];
    DIR *stream = opendir("/dev/shm");
    struct dirent *entry = NULL;

    snprintf(prefix, sizeof(prefix), "aclprof-%d-", (int)pid);
    while (stream != NULL && (entry = readdir(stream)) != NULL) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
            fail_msg("/dev/shm/%s is still there", entry->d_name);
        }
    }
    if (stream != NULL) {
        closedir(stream);
    }
}

#endif
