/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reader/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define AP_SLOP_US 1000000 /* clock corrections since */

/* Field 3 (state) and 22 (start, ticks since boot) of /proc/<pid>/stat. */
static bool ap__read_stat(uint32_t pid, char *state, unsigned long long *start)
{
    char path[64];
    char text[1024];
    const char *p = NULL;
    ssize_t n = 0;
    int fd = -1;

    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    p = strrchr(text, ')'); /* the name before it may hold anything */
    if (p == NULL || p[1] != ' ' || p[2] == '\0') {
        return false;
    }
    *state = p[2];
    for (int field = 3; field < 22; field++) {
        p = strchr(p + (field == 3 ? 2 : 1), ' ');
        if (p == NULL) {
            return false;
        }
    }
    *start = strtoull(p + 1, NULL, 10);
    return true;
}

bool ap__process_lives(uint32_t pid, uint64_t since_wall_us)
{
    struct timespec real;
    struct timespec boot;
    unsigned long long ticks = 0;
    long hz = sysconf(_SC_CLK_TCK);
    char state = 0;
    int64_t boot_us = 0;
    int64_t born_us = 0;

    if (pid == 0 || pid > INT32_MAX || (kill((pid_t)pid, 0) != 0 && errno == ESRCH)) {
        return false;
    }
    if (!ap__read_stat(pid, &state, &ticks) || hz <= 0) {
        return true; /* cannot be told: be careful */
    }
    if (state == 'Z' || state == 'X') {
        return false;
    }
    if (since_wall_us == 0 || clock_gettime(CLOCK_REALTIME, &real) != 0 ||
        clock_gettime(CLOCK_BOOTTIME, &boot) != 0) {
        return true;
    }
    boot_us = (real.tv_sec - boot.tv_sec) * 1000000LL + (real.tv_nsec - boot.tv_nsec) / 1000;
    born_us = boot_us + (int64_t)(ticks / (unsigned long long)hz * 1000000u +
                                  ticks % (unsigned long long)hz * 1000000u /
                                      (unsigned long long)hz);
    /* a process born after the capture only has the same number */
    return born_us <= (int64_t)since_wall_us + AP_SLOP_US;
}
