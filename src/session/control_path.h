/* SPDX-License-Identifier: Apache-2.0 */
/* Where the control sockets of processes are, for the library and the tool: PID.sock in a directory
 * that belongs to the user and that nobody else may enter. */
#ifndef AP_SESSION_CONTROL_PATH_H_
#define AP_SESSION_CONTROL_PATH_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define AP_CONTROL_PATH_MAX 96u /* a socket's name is one byte of 108 at most */
#define AP_CONTROL_SUFFIX ".sock"

/* false: its name is too long. */
static inline bool ap__control_dir(char out[AP_CONTROL_PATH_MAX])
{
    const char *run = secure_getenv("XDG_RUNTIME_DIR");
    int n = run != NULL && run[0] == '/'
                ? snprintf(out, AP_CONTROL_PATH_MAX, "%s/aclprof", run)
                : snprintf(out, AP_CONTROL_PATH_MAX, "/tmp/aclprof-%lu", (unsigned long)geteuid());

    return n > 0 && n + 24 < (int)AP_CONTROL_PATH_MAX;
}

/* Whether it is there, ours, and closed to others. */
static inline bool ap__control_dir_is_ours(const char *dir)
{
    struct stat st;

    return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           (st.st_mode & 077) == 0;
}

#endif
