/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tool/export.h"
#include "tool/merge/merge.h"

static int ap__fail(ap__merge *m, const char *path, int rc)
{
    (void)snprintf(m->error, sizeof(m->error), "%.1000s: %s", path, strerror(rc));
    return -1;
}

int ap__merge_open(ap__merge *m, const char *output)
{
    time_t now = time(NULL);
    struct tm local;

    m->output_fd = -1;
    if (mkdir(output, 0750) != 0 && errno != EEXIST) {
        return ap__fail(m, output, errno);
    }
    if (realpath(output, m->output) == NULL) {
        return ap__fail(m, output, errno);
    }
    m->output_fd = open(m->output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (m->output_fd < 0) {
        return ap__fail(m, output, errno);
    }
    if (localtime_r(&now, &local) == NULL ||
        strftime(m->stamp, sizeof(m->stamp), "%Y%m%d%H%M%S", &local) == 0) {
        (void)snprintf(m->stamp, sizeof(m->stamp), "99999999999999");
    }
    if (snprintf(m->scratch, sizeof(m->scratch), "%s/.merge_XXXXXX", m->output) >=
        (int)sizeof(m->scratch)) {
        return ap__fail(m, output, ENAMETOOLONG);
    }
    if (mkdtemp(m->scratch) == NULL) {
        int rc = errno;

        m->scratch[0] = '\0';
        return ap__fail(m, output, rc);
    }
    return 0;
}

static void ap__remove(int parent, const char *name, int levels)
{
    int fd = -1;
    DIR *list = NULL;
    struct dirent *entry = NULL;

    if (unlinkat(parent, name, 0) == 0) {
        return;
    }
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    list = fd >= 0 ? fdopendir(fd) : NULL;
    while (levels > 0 && list != NULL && (entry = readdir(list)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            ap__remove(fd, entry->d_name, levels - 1);
        }
    }
    if (list != NULL) {
        closedir(list);
    }
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

void ap__merge_close(ap__merge *m)
{
    if (m->scratch[0] != '\0') {
        ap__remove(AT_FDCWD, m->scratch, 4);
    }
    if (m->output_fd >= 0) {
        close(m->output_fd);
    }
    m->output_fd = -1;
}

static int ap__export_set(ap__merge_set *s, const char *dir, ap__reader *reader, bool trace,
                          bool database)
{
    ap__model model;
    ap__export e;
    int rc = ap__model_load(&model, reader) == 0 ? 0 : ENOMEM;

    if (rc != 0) {
        (void)snprintf(s->error, sizeof(s->error), "no memory for its records");
        return rc;
    }
    if (ap__export_open(&e, ap__reader_path(reader), dir) != 0 ||
        (trace && ap__pftrace(&e, &model) != 0) || (database && ap__db_export(&e, &model) != 0)) {
        rc = EIO;
        (void)snprintf(s->error, sizeof(s->error), "%.1000s", e.error);
    } else if ((trace && snprintf(s->trace, sizeof(s->trace), "%s/%s", e.dir, e.files[0]) >=
                             (int)sizeof(s->trace)) ||
               (database && snprintf(s->database, sizeof(s->database), "%s/%s", e.base,
                                     e.database) >= (int)sizeof(s->database))) {
        rc = ENAMETOOLONG;
        (void)snprintf(s->error, sizeof(s->error), "the output path is too long");
    }
    ap__export_close(&e);
    ap__model_free(&model);
    return rc;
}

void ap__merge_part(ap__merge *m, uint32_t set, bool trace, bool database)
{
    ap__merge_set *s = &m->sets[set];
    ap__reader_error error;
    ap__reader *reader = NULL;
    char dir[PATH_MAX];

    if (snprintf(dir, sizeof(dir), "%s/%u", m->scratch, set) >= (int)sizeof(dir) ||
        mkdir(dir, 0700) != 0) {
        s->failed = true;
        (void)snprintf(s->error, sizeof(s->error), "%s", strerror(errno));
        return;
    }
    reader = ap__reader_open(s->path, &error);
    if (reader == NULL) {
        s->failed = true;
        (void)snprintf(s->error, sizeof(s->error), "%s", error.text);
        return;
    }
    ap__reader_align(reader, s->shift_ns);
    s->failed = ap__export_set(s, dir, reader, trace, database) != 0;
    ap__reader_close(reader);
}
