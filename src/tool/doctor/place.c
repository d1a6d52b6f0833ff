/* SPDX-License-Identifier: Apache-2.0 */
/* Where results go: directory, disk, umask, shared memory for the rings. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "tool/doctor/doctor.h"

#define AP_SHM_ENOUGH ((uint64_t)32 << 20)
#define AP_MIB ((uint64_t)1 << 20)

/* Where the rings are not in the result directory (ring/arena.c has the same list). */
static bool ap__suits_rings(const char *path)
{
    static const uint32_t unsuited[] = {0x6969,     0x517b,     0xff534d42, 0xfe534d42, 0x65735546,
                                        0x01021997, 0x9123683e, 0x00c36400, 0x0bd00bd0, 0x47504653,
                                        0x2fc12fc1, 0xca451a4e, 0x5346414f};
    struct statfs fs;

    if (statfs(path, &fs) != 0) {
        return true;
    }
    for (size_t i = 0; i < sizeof(unsuited) / sizeof(unsuited[0]); i++) {
        if ((uint32_t)fs.f_type == unsuited[i]) {
            return false;
        }
    }
    return true;
}

/* A file without a name is made and goes. 0 or errno. */
static int ap__try_write(const char *directory)
{
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    int rc = 0;

    if (fd >= 0) {
        rc = posix_fallocate(fd, 0, (off_t)AP_MIB);
        close(fd);
        return rc == EOPNOTSUPP || rc == EINVAL ? 0 : rc;
    }
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT) {
        return errno;
    }
    return faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* Cuts the path to its deepest part that is there. false: that is no directory, or cannot be
 * seen. */
static bool ap__deepest(char path[PATH_MAX], bool *all)
{
    struct stat st;
    char *slash = NULL;

    *all = true;
    while (stat(path, &st) != 0) {
        if (errno != ENOENT) {
            return false;
        }
        *all = false;
        slash = strrchr(path, '/');
        if (slash == NULL) {
            (void)snprintf(path, PATH_MAX, ".");
        } else {
            slash[slash == path] = '\0';
        }
    }
    return S_ISDIR(st.st_mode);
}

static void ap__space(ap__doctor *d, const char *path)
{
    struct statvfs fs;
    uint64_t bytes = 0;

    if (statvfs(path, &fs) != 0) {
        return;
    }
    bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (bytes < d->space) {
        ap__found(d, "output.space", AP_DOCTOR_WARNING,
                  "free space there or choose another --output; ACL_PROF_STORAGE_LIMIT keeps a "
                  "capture small",
                  "%" PRIu64 " MiB are free at %s, %" PRIu64 " MiB are asked for", bytes / AP_MIB,
                  path, d->space / AP_MIB);
    } else {
        ap__found(d, "output.space", AP_DOCTOR_OK, NULL, "%" PRIu64 " MiB are free at %s",
                  bytes / AP_MIB, path);
    }
    if (fs.f_files != 0 && fs.f_favail < 1000) {
        ap__found(d, "output.inodes", AP_DOCTOR_WARNING, "delete files there",
                  "the file system of %s has room for %" PRIu64 " more files", path,
                  (uint64_t)fs.f_favail);
    }
}

static void ap__output(ap__doctor *d)
{
    const char *wanted = d->output != NULL ? d->output : ap__doctor_env("ASCEND_WORK_PATH");
    char path[PATH_MAX];
    bool all = false;
    int rc = 0;

    wanted = wanted != NULL ? wanted : ".";
    for (const char *c = wanted; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || strchr("\"'\\%><|&$;`\x7F", *c) != NULL) {
            ap__found(
                d, "output.characters", AP_DOCTOR_PROBLEM, "choose another path",
                "the output path has a character that aclprofInit refuses at byte %td: control "
                "characters and \" ' \\ %% > < | & $ ; ` are",
                c - wanted);
            return;
        }
    }
    if (!ap__doctor_path(d, wanted, path) || path[0] == '\0') {
        ap__found(d, "output.characters", AP_DOCTOR_PROBLEM, "choose another path",
                  "the output path is too long");
        return;
    }
    if (!ap__deepest(path, &all)) {
        ap__found(d, "output.path", AP_DOCTOR_PROBLEM, "choose another --output", "%s is %s", path,
                  errno == EACCES ? "not to be reached by this user" : "no directory");
        return;
    }
    rc = ap__try_write(path);
    if (rc != 0) {
        ap__found(d, "output.write", AP_DOCTOR_PROBLEM,
                  rc == EROFS ? "the file system is mounted read-only; choose another --output"
                  : rc == ENOSPC || rc == EDQUOT
                      ? "free space there (a quota counts, too) or choose another --output"
                      : "give a directory that this user may write",
                  "nothing can be written into %s: %s", path, strerror(rc));
        return;
    }
    ap__found(d, "output.write", AP_DOCTOR_OK, NULL, "%s can be written%s", path,
              all ? "" : ", and what is missing below it can be made");
    ap__space(d, path);
    if (!ap__suits_rings(path)) {
        ap__found(d, "output.filesystem", AP_DOCTOR_NOTE,
                  "a local directory is better for what must survive a crash of the machine",
                  "%s is on a network or copy-on-write file system: the rings go to /dev/shm",
                  path);
    }
}

static void ap__shared_memory(ap__doctor *d)
{
    char path[PATH_MAX];
    struct statvfs fs;
    uint64_t bytes = 0;

    if (!ap__doctor_path(d, "/dev/shm", path) || statvfs(path, &fs) != 0) {
        ap__found(d, "shm.absent", AP_DOCTOR_WARNING, "mount a tmpfs at /dev/shm",
                  "there is no /dev/shm: where the output's file system does not suit the rings, "
                  "they do not survive a kill");
        return;
    }
    bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (bytes < AP_SHM_ENOUGH || faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) != 0) {
        ap__found(d, "shm.small", AP_DOCTOR_WARNING,
                  "docker run --shm-size=1g, or free space there",
                  "/dev/shm has %" PRIu64 " MiB free for this user; each recording thread takes "
                  "more than 1 MiB where the rings are there",
                  bytes / AP_MIB);
    } else {
        ap__found(d, "shm", AP_DOCTOR_OK, NULL, "/dev/shm has %" PRIu64 " MiB free",
                  bytes / AP_MIB);
    }
}

static void ap__umask(ap__doctor *d)
{
    mode_t mask = umask(0);

    (void)umask(mask);
    if ((mask & 0700) != 0) {
        ap__found(d, "umask", AP_DOCTOR_WARNING, "umask 027",
                  "the umask %03o takes rights from the owner: directories above the result are "
                  "made with it",
                  (unsigned)mask);
    } else {
        ap__found(d, "umask", AP_DOCTOR_OK, NULL,
                  "umask %03o; results are 0750 and 0640 whatever it is", (unsigned)mask);
    }
}

void ap__doctor_place(ap__doctor *d)
{
    ap__output(d);
    ap__shared_memory(d);
    ap__umask(d);
}
