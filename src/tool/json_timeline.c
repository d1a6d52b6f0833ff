/* SPDX-License-Identifier: Apache-2.0 */
/* msprof_<stamp>.json: everything, layer by layer, as one compact array of Chrome trace events; and
 * the files that have one kind of it again: msprof_tx_<stamp>.json, step_trace_<stamp>.json. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/bulk.h"
#include "analysis/links.h"
#include "tool/export.h"
#include "tool/json_layers.h"

/* Where layers lie in the file. */
typedef struct ap__stretch {
    uint64_t from;
    uint64_t to;
} ap__stretch;

static void ap__made(ap__export *e, const char *name)
{
    if (e->file_count < AP_EXPORT_FILES) {
        (void)snprintf(e->files[e->file_count++], sizeof(e->files[0]), "%s", name);
    }
}

/* The stretch of another file, without the comma it may begin with. */
static int ap__copy_stretch(ap__out *o, int fd, const ap__stretch *s)
{
    char buffer[16384];
    uint64_t at = s->from;

    while (at < s->to) {
        size_t want = s->to - at < sizeof(buffer) ? (size_t)(s->to - at) : sizeof(buffer);
        ssize_t n = pread(fd, buffer, want, (off_t)at);
        size_t skip = 0;

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return n < 0 ? errno : EIO;
        }
        skip = at == s->from && buffer[0] == ',' ? 1 : 0;
        ap__out_bytes(o, buffer + skip, (size_t)n - skip);
        at += (uint64_t)n;
    }
    return 0;
}

/* A file of some stretches of `from`. */
static int ap__excerpt(ap__export *e, ap__out *o, const char *from, const char *type,
                       const ap__stretch *stretches, uint32_t count)
{
    char name[64];
    int fd = openat(e->dir_fd, from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int rc = fd >= 0 ? 0 : errno;
    bool first = true;

    (void)snprintf(name, sizeof(name), "%s_%s.json", type, e->stamp);
    rc = rc != 0 ? rc : ap__out_open(o, e->dir_fd, name);
    if (rc == 0) {
        ap__out_text(o, "[");
        for (uint32_t i = 0; rc == 0 && i < count; i++) {
            if (stretches[i].to > stretches[i].from) {
                ap__out_text(o, first ? "" : ",");
                first = false;
                rc = ap__copy_stretch(o, fd, &stretches[i]);
            }
        }
        ap__out_text(o, "]");
        if (rc == 0) {
            rc = ap__out_finish(o);
        } else {
            ap__out_drop(o);
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    if (rc != 0) {
        ap__export_failed(e, name, rc);
    } else {
        ap__made(e, name);
    }
    return rc;
}

/* Writes a layer; *where: what it has become. */
static int ap__layer(ap__export *e, ap__timeline *t, int (*layer)(ap__timeline *),
                     ap__stretch *where)
{
    int rc = 0;

    ap__export_progress(e, "timeline");
    where->from = ap__out_size(t->j.o);
    rc = layer(t);
    where->to = ap__out_size(t->j.o);
    return rc != 0 ? rc : t->j.rc;
}

/* Each excerpt names its processes and threads itself. */
static void ap__forget_names(ap__json *j)
{
    ap__json_free(j);
    j->seen_count = 0;
    j->last = 0;
}

static int ap__layers(ap__export *e, ap__timeline *t, ap__stretch tx[2], ap__stretch *steps)
{
    static int (*const others[])(ap__timeline *) = {
        ap__layer_calls,   ap__layer_host_use, ap__layer_tasks,   ap__layer_communication,
        ap__layer_overlap, ap__layer_counters, ap__layer_fusion_and_blocks};
    ap__stretch ignored;
    int rc = ap__layer(e, t, ap__layer_stamps, &tx[0]);

    rc = rc != 0 ? rc : ap__layer(e, t, ap__layer_device_stamps, &tx[1]);
    ap__forget_names(&t->j);
    rc = rc != 0 ? rc : ap__layer(e, t, ap__layer_steps, steps);
    ap__forget_names(&t->j);
    for (size_t i = 0; rc == 0 && i < sizeof(others) / sizeof(others[0]); i++) {
        rc = ap__layer(e, t, others[i], &ignored);
    }
    return rc;
}

int ap__json_timeline(ap__export *e, const ap__model *m)
{
    ap__out *o = malloc(sizeof(*o));
    ap__timeline t = {.j = {.o = o, .process = ap__reader_meta(m->reader)->pid, .first = true},
                      .m = m,
                      .layers = e->layers};
    ap__stretch tx[2] = {{0, 0}, {0, 0}};
    ap__stretch steps = {0, 0};
    char name[64];
    int rc = 0;

    (void)snprintf(name, sizeof(name), "msprof_%s.json", e->stamp);
    t.texts = calloc(1, sizeof(*t.texts));
    t.links = ap__links_make(m);
    rc = o != NULL && t.texts != NULL && t.links != NULL
             ? ap__tx_marks_make(m, &t.marks, &t.mark_count)
             : ENOMEM;
    rc = rc != 0 ? rc : ap__out_open(o, e->dir_fd, name);
    if (rc == 0) {
        ap__out_background(o);
        ap__out_text(o, "[");
        rc = ap__layers(e, &t, tx, &steps);
        ap__out_text(o, "]");
        if (rc == 0) {
            rc = ap__out_finish(o);
        } else {
            ap__out_drop(o);
        }
    }
    if (rc != 0) {
        ap__export_failed(e, name, rc);
        goto out;
    }
    ap__made(e, name);
    if (tx[0].to > tx[0].from) { /* device marks alone are none of the host's stamps */
        rc = ap__excerpt(e, o, name, "msprof_tx", tx, 2);
    }
    if (steps.to > steps.from) {
        int steps_rc = ap__excerpt(e, o, name, "step_trace", &steps, 1);

        rc = rc != 0 ? rc : steps_rc;
    }
out:
    ap__json_free(&t.j);
    ap__bulk_free(t.links);
    ap__bulk_free(t.marks);
    if (t.texts != NULL) {
        ap__text_pool_free(t.texts);
    }
    free(t.texts);
    free(o);
    return rc;
}
