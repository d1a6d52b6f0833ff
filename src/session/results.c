/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "session/results.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/settings.h"
#include "session/state.h"

void ap__results_tell(const char *what, const char *text)
{
    const char *path = ap__session_env("ACLPROF_RESULTS");
    int saved = errno;
    char line[AP_PATH_MAX + 64];
    struct stat st;
    int n = 0;
    int fd = -1;

    if (path == NULL) {
        return;
    }
    n = snprintf(line, sizeof(line), "%s %ld %s", what, (long)getpid(), text);
    for (char *p = line; n > 0 && n < (int)sizeof(line) - 1 && *p != '\0'; p++) {
        *p = *p == '\n' ? ' ' : *p;
    }
    fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && n > 0 && n < (int)sizeof(line) - 1 && fstat(fd, &st) == 0 &&
        S_ISREG(st.st_mode) && st.st_uid == geteuid()) {
        line[n++] = '\n';
        (void)!write(fd, line, (size_t)n);
    }
    if (fd >= 0) {
        close(fd);
    }
    errno = saved;
}
