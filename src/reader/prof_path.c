/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reader/prof_path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader/safe_file.h"

static ap__reader_code ap__say(char *text, size_t size, ap__reader_code code, const char *path,
                               const char *what, int error)
{
    char why[128];

    snprintf(text, size, "%s%s%s%s", path, what, error != 0 ? ": " : "",
             error != 0 ? ap__errno_text(error, why, sizeof(why)) : "");
    return code;
}

/* Names of PROF_* below fd: counts them, keeps the first. 0 or errno. */
static int ap__find_prof(int fd, char **name, unsigned *count)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry = NULL;
    int rc = 0;

    *name = NULL;
    *count = 0;
    if (dir == NULL) {
        rc = errno;
        if (copy >= 0) {
            close(copy);
        }
        return rc;
    }
    while (rc == 0 && (entry = readdir(dir)) != NULL) {
        int child = -1;

        if (strncmp(entry->d_name, "PROF_", 5) != 0) {
            continue;
        }
        child = ap__open_dir(fd, entry->d_name);
        if (child < 0) {
            continue;
        }
        close(child);
        if ((*count)++ == 0) {
            *name = strdup(entry->d_name);
            rc = *name == NULL ? ENOMEM : 0;
        }
    }
    closedir(dir);
    return rc;
}

/* Replaces *prof_fd and *resolved by the only PROF_* below. */
static ap__reader_code ap__descend(char **resolved, int *prof_fd, char *text, size_t size)
{
    char *name = NULL;
    char *longer = NULL;
    unsigned count = 0;
    int fd = -1;
    int rc = ap__find_prof(*prof_fd, &name, &count);
    ap__reader_code code = AP_READER_OK;

    if (rc != 0) {
        code = ap__say(text, size, AP_READER_ERROR, *resolved, " cannot be read", rc);
    } else if (count == 0) {
        code = ap__say(text, size, AP_READER_NO_HOST, *resolved,
                       " is no profiling result: it has no host/ and no PROF_* below it", 0);
    } else if (count > 1) {
        code = AP_READER_AMBIGUOUS;
        snprintf(text, size, "%s holds %u PROF_* directories: name one of them, %s for instance",
                 *resolved, count, name);
    } else if (asprintf(&longer, "%s/%s", *resolved, name) < 0) {
        longer = NULL;
        code = ap__say(text, size, AP_READER_ERROR, *resolved, "", ENOMEM);
    } else {
        fd = ap__open_dir(*prof_fd, name);
        if (fd < 0) {
            code = ap__say(text, size, AP_READER_ERROR, longer, " cannot be opened", -fd);
            free(longer);
        } else {
            close(*prof_fd);
            *prof_fd = fd;
            free(*resolved);
            *resolved = longer;
        }
    }
    free(name);
    return code;
}

ap__reader_code ap__prof_path_open(const char *path, char **resolved, int *prof_fd, int *host_fd,
                                   char *text, size_t size)
{
    ap__reader_code code = AP_READER_OK;

    *host_fd = -1;
    *prof_fd = -1;
    *resolved = strdup(path);
    if (*resolved == NULL) {
        return ap__say(text, size, AP_READER_ERROR, path, "", ENOMEM);
    }
    *prof_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    if (*prof_fd < 0) {
        if (errno == ENOTDIR) {
            return ap__say(text, size, AP_READER_NOT_FOUND, path,
                           " is not a directory: give a PROF_* directory", 0);
        }
        return ap__say(text, size, errno == ENOENT ? AP_READER_NOT_FOUND : AP_READER_ERROR, path,
                       " cannot be opened", errno);
    }
    *host_fd = ap__open_dir(*prof_fd, "host");
    if (*host_fd == -ENOENT) {
        code = ap__descend(resolved, prof_fd, text, size);
        if (code != AP_READER_OK) {
            return code;
        }
        *host_fd = ap__open_dir(*prof_fd, "host");
    }
    if (*host_fd < 0) {
        int error = -*host_fd;

        *host_fd = -1;
        if (error == ENOENT) {
            return ap__say(text, size, AP_READER_NO_HOST, *resolved, " has no host/ directory", 0);
        }
        if (error == ENOTDIR || error == ELOOP) {
            return ap__say(text, size, AP_READER_NO_HOST, *resolved,
                           "/host is a link or no directory: not followed", 0);
        }
        return ap__say(text, size, AP_READER_ERROR, *resolved, "/host cannot be opened", error);
    }
    return AP_READER_OK;
}
