/* SPDX-License-Identifier: Apache-2.0 */
/* The result directory and the PROF_* directory in it. */
#ifndef AP_WRITER_DIRS_H_
#define AP_WRITER_DIRS_H_

#include <stdbool.h>
#include <stdint.h>

#include "session/settings.h"
#include "writer/file_io.h"

#define AP_DIR_MODE 0750
#define AP_FILE_MODE 0640

/* mkdir -p: levels made here get mode 0750 whatever the umask, existing ones stay as they are.
 * Several processes may do it at once. 0 or errno; on failure the levels made are gone again. */
int ap__dirs_make_root(const char *path);

/* The same, and tells how many levels were made, for ap__dirs_unmake_root. */
int ap__dirs_make_root_counted(const char *path, unsigned *made);

/* Takes back the last `made` levels of path as far as they are empty. */
void ap__dirs_unmake_root(const char *path, unsigned made);

typedef struct ap__prof_dir {
    int root_fd;
    int prof_fd;
    int host_fd; /* PROF/host */
    int data_fd; /* PROF/host/data */
    int ext_fd;  /* PROF/host/.aclprof */
    ap__file_id ids[5]; /* which directories they are, in this order */
    char path[AP_PATH_MAX + 128];
} ap__prof_dir;

#define AP_PROF_DIR_CLOSED {-1, -1, -1, -1, -1, {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}, ""}

/* Makes PROF_<start number>_<local time>_<pid><8 letters> with host/, host/data/ and
 * host/.aclprof/ in the existing directory root. 0, or errno with nothing left behind and all
 * fds -1. */
int ap__prof_dir_create(const char *root, uint32_t start_number, ap__prof_dir *out);

/* Whether the descriptors still are what they were: a host may close what is not its own. */
bool ap__prof_dir_intact(const ap__prof_dir *dir);

/* Closes the fds, but for those that are somebody else's now. Closing twice is harmless. */
void ap__prof_dir_close(ap__prof_dir *dir);

/* After a failed Start: deletes the PROF_* directory with all that is in it, and closes. */
void ap__prof_dir_remove(ap__prof_dir *dir);

#endif
