/* SPDX-License-Identifier: Apache-2.0 */
/* The sets' traces in one file: one after the other as one trace, or as members of a tar archive
 * with the manifest that Perfetto (from version 58) puts them together by. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/merge/merge.h"
#include "tool/out_file.h"
#include "writer/json_build.h"

#define AP_BLOCK 512u
#define AP_MANIFEST "perfetto_manifest.json"

static int ap__scratch_file(const ap__merge *m)
{
    return open(m->scratch, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/* Without O_TMPFILE (some network file systems). */
static int ap__scratch_named(const ap__merge *m)
{
    char path[PATH_MAX];
    int fd = snprintf(path, sizeof(path), "%s/part", m->scratch) < (int)sizeof(path)
                 ? open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600)
                 : -1;

    if (fd >= 0) {
        (void)unlink(path);
    }
    return fd;
}

/* The set's trace with its new numbers in a file without a name. A descriptor, or -errno. */
static int ap__rewritten(const ap__merge *m, uint32_t set, bool alone, uint64_t *size)
{
    struct stat st;
    int fd = ap__scratch_file(m);
    int rc = 0;

    fd = fd < 0 ? ap__scratch_named(m) : fd;
    if (fd < 0) {
        return -errno;
    }
    rc = ap__merge_rewrite(m, set, alone, fd);
    if (rc == 0 && (fstat(fd, &st) != 0 || lseek(fd, 0, SEEK_SET) != 0)) {
        rc = errno;
    }
    if (rc != 0) {
        close(fd);
        return -rc;
    }
    *size = (uint64_t)st.st_size;
    return fd;
}

static void ap__copy(ap__out *out, int fd)
{
    char buffer[65536];
    ssize_t n = 0;

    while (out->rc == 0 && (n = read(fd, buffer, sizeof(buffer))) != 0) {
        if (n > 0) {
            ap__out_bytes(out, buffer, (size_t)n);
        } else if (errno != EINTR) {
            out->rc = errno;
        }
    }
}

/* ---- tar ---- */

static void ap__tar_head(ap__out *out, const char *name, uint64_t size)
{
    char head[AP_BLOCK] = {0};
    unsigned sum = 0;

    (void)snprintf(head, 100, "%s", name);
    memcpy(head + 100, "0000640", 8);
    memcpy(head + 108, "0000000", 8);
    memcpy(head + 116, "0000000", 8);
    if (size < (uint64_t)1 << 33) {
        (void)snprintf(head + 124, 12, "%011" PRIo64, size);
    } else { /* as GNU tar writes what octal digits cannot hold */
        head[124] = (char)0x80;
        for (uint32_t i = 0; i < 8; i++) {
            head[135 - i] = (char)(size >> 8 * i);
        }
    }
    memcpy(head + 136, "00000000000", 12);
    memset(head + 148, ' ', 8);
    head[156] = '0';
    memcpy(head + 257, "ustar\00000", 8);
    for (size_t i = 0; i < sizeof(head); i++) {
        sum += (unsigned char)head[i];
    }
    (void)snprintf(head + 148, 8, "%06o", sum & 0777777);
    head[155] = ' ';
    ap__out_bytes(out, head, sizeof(head));
}

static void ap__tar_fill(ap__out *out, uint64_t size)
{
    static const char zeros[AP_BLOCK];

    ap__out_bytes(out, zeros, (size_t)((AP_BLOCK - size % AP_BLOCK) % AP_BLOCK));
}

static void ap__member(const ap__merge *m, uint32_t set, char *name, size_t size)
{
    const ap__merge_set *s = &m->sets[set];

    if (s->rank >= 0) {
        (void)snprintf(name, size, "rank_%05" PRId64 "_%u.pftrace", s->rank, set);
    } else {
        (void)snprintf(name, size, "set_%05u.pftrace", set);
    }
}

/* ---- manifest ---- */

static void ap__attributes(const ap__merge *m, bool *ok, cJSON *manifest)
{
    cJSON *list = ap__json_object(ok, manifest, "attributes");
    char key[64];
    char by[96];
    char text[1024];

    for (uint32_t i = 0; i < m->count; i++) {
        const ap__merge_set *s = &m->sets[i];

        (void)snprintf(key, sizeof(key), "aclprof.set.%u", i);
        if (s->failed) {
            (void)snprintf(text, sizeof(text), "%s: left out", s->label);
        } else {
            ap__merge_by_text(s, by, sizeof(by));
            (void)snprintf(text, sizeof(text),
                           "%s: %.128s, host %.128s, process %u, shifted by "
                           "%" PRId64 " ns (%s)",
                           s->label, s->process, s->host, s->pid, s->shift_ns, by);
        }
        ap__json_text(ok, list, key, text);
    }
}

/* One line; NULL without memory. It begins with the key that it is known by. */
static char *ap__manifest(const ap__merge *m)
{
    cJSON *root = cJSON_CreateObject();
    bool ok = root != NULL;
    cJSON *manifest = ap__json_object(&ok, root, "perfetto_manifest");
    cJSON *list = NULL;
    char name[64];

    ap__json_u64(&ok, manifest, "version", 1);
    ap__json_text(&ok, ap__json_object(&ok, manifest, "trace_time"), "clock", "REALTIME");
    ap__attributes(m, &ok, manifest);
    list = ap__json_array(&ok, manifest, "files");
    for (uint32_t i = 0; i < m->count; i++) {
        const ap__merge_set *s = &m->sets[i];
        const ap__merge_set *machine = &m->sets[s->group];

        if (!s->failed) {
            cJSON *file = ap__json_item(&ok, list);

            ap__member(m, i, name, sizeof(name));
            ap__json_text(&ok, file, "path", name);
            ap__json_text(&ok, ap__json_object(&ok, file, "machine"), "name",
                          machine->host[0] != '\0' ? machine->host : machine->label);
        }
    }
    return ap__json_print(ok, root);
}

/* ---- the two files ---- */

static int ap__each(const ap__merge *m, ap__out *out, bool archive)
{
    char name[64];

    for (uint32_t i = 0; out->rc == 0 && i < m->count; i++) {
        uint64_t size = 0;
        int fd = -1;

        if (m->sets[i].failed) {
            continue;
        }
        fd = ap__rewritten(m, i, archive, &size);
        if (fd < 0) {
            out->rc = -fd;
            continue;
        }
        if (archive) {
            ap__member(m, i, name, sizeof(name));
            ap__tar_head(out, name, size);
        }
        ap__copy(out, fd);
        if (archive) {
            ap__tar_fill(out, size);
        }
        close(fd);
    }
    return out->rc;
}

static int ap__finish(ap__out *out)
{
    int rc = out->rc;

    if (rc != 0) {
        ap__out_drop(out);
    } else {
        rc = ap__out_finish(out);
    }
    free(out);
    return rc;
}

int ap__merge_trace(const ap__merge *m, const char *name)
{
    ap__out *out = malloc(sizeof(*out));
    int rc = out != NULL ? ap__out_open(out, m->output_fd, name) : ENOMEM;

    if (rc != 0) {
        free(out);
        return rc;
    }
    (void)ap__each(m, out, false);
    return ap__finish(out);
}

int ap__merge_archive(const ap__merge *m, const char *name)
{
    static const char zeros[2 * AP_BLOCK];
    ap__out *out = malloc(sizeof(*out));
    char *manifest = ap__manifest(m);
    int rc = out != NULL && manifest != NULL ? ap__out_open(out, m->output_fd, name) : ENOMEM;

    if (rc != 0) {
        free(out);
        cJSON_free(manifest);
        return rc;
    }
    ap__tar_head(out, AP_MANIFEST, strlen(manifest));
    ap__out_text(out, manifest);
    ap__tar_fill(out, strlen(manifest));
    cJSON_free(manifest);
    if (ap__each(m, out, true) == 0) {
        ap__out_bytes(out, zeros, sizeof(zeros));
    }
    return ap__finish(out);
}
