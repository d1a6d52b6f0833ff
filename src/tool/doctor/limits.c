/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of the process and of its container. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tool/doctor/doctor.h"

#define AP_MIB ((uint64_t)1 << 20)
#define AP_UNLIMITED UINT64_MAX
#define AP_FILES_OF_HOST 64u
#define AP_FILES_OF_DEVICE 48u
#define AP_MEMORY_ENOUGH ((uint64_t)256 << 20)
#define AP_THREADS 8u

/* ---- the process ---- */

/* The soft limit of a line such as "Max open files   1024   4096   files". false: no such line. */
static bool ap__limit(const char *text, const char *name, uint64_t *soft)
{
    const char *line = strstr(text, name);
    const char *number = NULL;
    char *end = NULL;

    if (line == NULL || (line != text && line[-1] != '\n')) {
        return false;
    }
    number = line + strlen(name);
    number += strspn(number, " ");
    if (strncmp(number, "unlimited", 9) == 0) {
        *soft = AP_UNLIMITED;
        return true;
    }
    errno = 0;
    *soft = strtoull(number, &end, 10);
    return end != number && errno == 0;
}

static void ap__open_files(ap__doctor *d, uint64_t soft)
{
    uint64_t need = AP_FILES_OF_HOST + (uint64_t)AP_FILES_OF_DEVICE * d->devices;
    char advice[64];

    (void)snprintf(advice, sizeof(advice), "ulimit -n %u", need < 4096 ? 4096u : 65536u);
    if (soft < need) {
        ap__found(d, "limits.files", AP_DOCTOR_WARNING, advice,
                  "%" PRIu64 " open files are allowed; a capture of %u devices may need %" PRIu64
                  " beside the program's own",
                  soft, d->devices, need);
    } else {
        ap__found(d, "limits.files", AP_DOCTOR_OK, NULL, "%" PRIu64 " open files are allowed",
                  soft);
    }
}

void ap__doctor_limits(ap__doctor *d)
{
    char text[4096];
    uint64_t soft = 0;

    if (ap__doctor_read(d, "/proc/self/limits", text, sizeof(text)) <= 0) {
        ap__found(
            d, "proc", AP_DOCTOR_WARNING, "mount proc at /proc",
            "/proc/self cannot be read: the host's CPU, memory and processes are not sampled");
        return;
    }
    if (ap__limit(text, "Max open files", &soft)) {
        ap__open_files(d, soft);
    }
    if (ap__limit(text, "Max file size", &soft) && soft != AP_UNLIMITED) {
        ap__found(d, "limits.filesize", soft < 64 * AP_MIB ? AP_DOCTOR_PROBLEM : AP_DOCTOR_WARNING,
                  "ulimit -f unlimited",
                  "files may not be larger than %" PRIu64 " MiB; the rings' file takes more than 1 "
                  "MiB for each thread",
                  soft / AP_MIB);
    }
    if (ap__limit(text, "Max address space", &soft) && soft != AP_UNLIMITED) {
        ap__found(d, "limits.memory", soft < 1024 * AP_MIB ? AP_DOCTOR_PROBLEM : AP_DOCTOR_WARNING,
                  "ulimit -v unlimited", "the address space is limited to %" PRIu64 " MiB",
                  soft / AP_MIB);
    }
    if (ap__limit(text, "Max locked memory", &soft)) {
        ap__found(d, "limits.memlock", AP_DOCTOR_OK, NULL,
                  soft == AP_UNLIMITED ? "locked memory is not limited"
                                       : "locked memory is limited; this library locks none");
    }
}

/* ---- its control groups ---- */

static bool ap__number(const ap__doctor *d, const char *path, uint64_t *out)
{
    char text[64];
    char *end = NULL;

    if (ap__doctor_read(d, path, text, sizeof(text)) <= 0) {
        return false;
    }
    if (strncmp(text, "max", 3) == 0) {
        *out = AP_UNLIMITED;
        return true;
    }
    *out = strtoull(text, &end, 10);
    if (*out > UINT64_MAX / 16) { /* how the first version of cgroups says it */
        *out = AP_UNLIMITED;
    }
    return end != text;
}

/* The group's path of a controller ("" in version 2) in /proc/self/cgroup, cut at its line's end.
 */
static char *ap__group(char *text, const char *controller)
{
    size_t length = strlen(controller);
    char *save = NULL;

    for (char *line = strtok_r(text, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        char *names = strchr(line, ':');
        char *path = names != NULL ? strchr(names + 1, ':') : NULL;

        if (path == NULL) {
            continue;
        }
        for (char *at = ++names; at < path; at += strcspn(at, ",:") + 1) {
            if (length != 0 && strncmp(at, controller, length) == 0 &&
                (at[length] == ',' || at[length] == ':')) {
                return path + 1;
            }
        }
        if (length == 0 && names == path) {
            return path + 1;
        }
    }
    return NULL;
}

/* The least room between limit and use of the group and those above it. */
static uint64_t ap__room(const ap__doctor *d, const char *base, char *group, const char *limit,
                         const char *use)
{
    uint64_t least = AP_UNLIMITED;

    for (;;) {
        char path[PATH_MAX];
        uint64_t most = AP_UNLIMITED;
        uint64_t now = 0;
        char *slash = NULL;

        if (snprintf(path, sizeof(path), "%s%s/%s", base, group, limit) < (int)sizeof(path) &&
            ap__number(d, path, &most) && most != AP_UNLIMITED) {
            if (snprintf(path, sizeof(path), "%s%s/%s", base, group, use) >= (int)sizeof(path) ||
                !ap__number(d, path, &now)) {
                now = 0;
            }
            most = most > now ? most - now : 0;
            least = most < least ? most : least;
        }
        slash = strrchr(group, '/');
        if (slash == NULL) {
            return least;
        }
        *slash = '\0';
    }
}

static uint64_t ap__group_room(const ap__doctor *d, const char *controller, const char *limit2,
                               const char *use2, const char *limit1, const char *use1)
{
    char text[4096];
    char base[64];
    char *group = NULL;

    if (ap__doctor_read(d, "/proc/self/cgroup", text, sizeof(text)) <= 0) {
        return AP_UNLIMITED;
    }
    group = ap__group(text, controller);
    if (group != NULL) {
        (void)snprintf(base, sizeof(base), "/sys/fs/cgroup/%s", controller);
        return ap__room(d, base, group, limit1, use1);
    }
    (void)ap__doctor_read(d, "/proc/self/cgroup", text, sizeof(text));
    group = ap__group(text, "");
    return group != NULL ? ap__room(d, "/sys/fs/cgroup", group, limit2, use2) : AP_UNLIMITED;
}

static void ap__cpus(ap__doctor *d)
{
    char text[128];
    uint64_t quota = 0;
    uint64_t period = 0;

    if (ap__doctor_read(d, "/sys/fs/cgroup/cpu.max", text, sizeof(text)) > 0 &&
        sscanf(text, "%" SCNu64 " %" SCNu64, &quota, &period) == 2 && quota < period) {
        ap__found(d, "container.cpu", AP_DOCTOR_WARNING, "docker run --cpus=2, or more",
                  "the container has %" PRIu64 " %% of one CPU: the thread that writes competes "
                  "with the program",
                  quota * 100 / period);
    }
}

/* ---- system calls ---- */

static void ap__filtered(ap__doctor *d)
{
    char text[8192];
    const char *line = NULL;

    if (ap__doctor_read(d, "/proc/self/status", text, sizeof(text)) > 0 &&
        (line = strstr(text, "\nSeccomp:")) != NULL &&
        strtol(line + strlen("\nSeccomp:"), NULL, 10) != 0) {
        ap__found(d, "container.seccomp", AP_DOCTOR_NOTE, NULL,
                  "system calls are filtered (seccomp)");
    }
#ifdef SYS_membarrier
    if (d->root[0] == '\0' && syscall(SYS_membarrier, 0, 0, 0) < 0) {
        ap__found(d, "container.membarrier", AP_DOCTOR_WARNING,
                  "allow membarrier in the container's seccomp profile, or use a kernel from 4.14",
                  "the system call membarrier is not there (%s): each stamp costs a fence more",
                  strerror(errno));
    }
#endif
}

void ap__doctor_container(ap__doctor *d)
{
    uint64_t room = ap__group_room(d, "memory", "memory.max", "memory.current",
                                   "memory.limit_in_bytes", "memory.usage_in_bytes");

    if (room < AP_MEMORY_ENOUGH) {
        ap__found(d, "container.memory", AP_DOCTOR_WARNING,
                  "give the container more memory, or ACLPROF_RING_SIZE=256K",
                  "the container has %" PRIu64
                  " MiB of memory left; a capture takes 1 MiB for each "
                  "thread and up to 64 MiB for each device",
                  room / AP_MIB);
    } else if (room != AP_UNLIMITED) {
        ap__found(d, "container.memory", AP_DOCTOR_OK, NULL,
                  "the container has %" PRIu64 " MiB of memory left", room / AP_MIB);
    }
    room = ap__group_room(d, "pids", "pids.max", "pids.current", "pids.max", "pids.current");
    if (room < AP_THREADS) {
        ap__found(d, "container.threads", AP_DOCTOR_PROBLEM, "docker run --pids-limit=-1",
                  "the container may have %" PRIu64 " more threads; a capture needs 2 and 4 for "
                  "devices",
                  room);
    }
    ap__cpus(d);
    ap__filtered(d);
}
