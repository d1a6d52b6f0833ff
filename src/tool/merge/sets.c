/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/merge/merge.h"

#define AP_LEVELS 2
#define AP_SYNCS_MOST 100000u

/* ---- finding ---- */

static bool ap__is_prof(const char *path)
{
    char host[PATH_MAX];
    struct stat st;

    return snprintf(host, sizeof(host), "%s/host", path) < (int)sizeof(host) &&
           lstat(host, &st) == 0 && S_ISDIR(st.st_mode);
}

static int ap__take(ap__merge *m, const char *path)
{
    char *real = realpath(path, NULL);
    void *bigger = NULL;

    for (uint32_t i = 0; real != NULL && i < m->count; i++) {
        if (strcmp(m->sets[i].path, real) == 0) { /* given twice */
            free(real);
            return 0;
        }
    }
    bigger = m->count < AP_MERGE_MOST ? realloc(m->sets, (m->count + 1) * sizeof(*m->sets)) : NULL;
    if (real == NULL || bigger == NULL) {
        (void)snprintf(m->error, sizeof(m->error), "%.1000s: %s", path,
                       m->count == AP_MERGE_MOST ? "too many directories" : strerror(errno));
        free(real);
        m->sets = bigger != NULL ? bigger : m->sets;
        return -1;
    }
    m->sets = bigger;
    memset(&m->sets[m->count], 0, sizeof(*m->sets));
    m->sets[m->count].path = real;
    m->sets[m->count++].rank = -1;
    return 0;
}

static int ap__by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int ap__below(ap__merge *m, const char *path, int levels)
{
    struct dirent **list = NULL;
    int count = 0;
    int rc = 0;

    if (ap__is_prof(path)) {
        return ap__take(m, path);
    }
    count = levels != 0 ? scandir(path, &list, NULL, ap__by_name) : 0;
    for (int i = 0; i < count; i++) {
        char name[PATH_MAX];
        struct stat st;

        if (rc == 0 && list[i]->d_name[0] != '.' &&
            snprintf(name, sizeof(name), "%s/%s", path, list[i]->d_name) < (int)sizeof(name) &&
            lstat(name, &st) == 0 && S_ISDIR(st.st_mode)) {
            rc = ap__below(m, name, levels - 1);
        }
        free(list[i]);
    }
    free(list);
    return rc;
}

int ap__merge_add(ap__merge *m, const char *path)
{
    uint32_t before = m->count;
    struct stat st;

    if (stat(path, &st) != 0) {
        (void)snprintf(m->error, sizeof(m->error), "%.1000s: %s", path, strerror(errno));
        return -1;
    }
    if (ap__below(m, path, AP_LEVELS) != 0) {
        return -1;
    }
    if (m->count == before && !ap__is_prof(path)) {
        (void)snprintf(m->error, sizeof(m->error), "there is no result directory at %.1000s", path);
        return -1;
    }
    return 0;
}

/* ---- who they are ---- */

static void ap__find_syncs(const ap__merge *m, ap__merge_set *s, ap__reader *reader)
{
    ap__stamp_record stamp;
    uint32_t room = 0;

    while (m->sync != NULL && s->sync_count < AP_SYNCS_MOST &&
           ap__reader_next_stamp(reader, &stamp)) {
        if (strcmp(stamp.message, m->sync) != 0) {
            continue;
        }
        if (s->sync_count == room) {
            uint64_t *bigger = realloc(s->syncs, (room += 1024) * sizeof(*bigger));

            if (bigger == NULL) {
                return;
            }
            s->syncs = bigger;
        }
        s->syncs[s->sync_count++] = stamp.end_ns + (uint64_t)s->offset_ns;
    }
}

static void ap__devices(ap__merge_set *s, ap__reader *reader)
{
    ap__device_view *views = calloc(AP_MODEL_DEVICES, sizeof(*views));
    uint32_t count = views != NULL ? ap__device_views_open(reader, views, AP_MODEL_DEVICES) : 0;

    for (uint32_t i = 0; i < count; i++) {
        s->devices[s->device_count++] = (ap__merge_device){.device = views[i].device,
                                                           .snapshots = views[i].precise.snapshots,
                                                           .error_ns = views[i].precise.error_ns};
    }
    ap__device_views_close(views, count);
    free(views);
}

static void ap__look(const ap__merge *m, ap__merge_set *s)
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(s->path, &error);
    const ap__meta *meta = NULL;

    if (reader == NULL) {
        s->failed = true;
        (void)snprintf(s->error, sizeof(s->error), "%s", error.text);
        return;
    }
    meta = ap__reader_meta(reader);
    s->rank = meta->rank;
    s->pid = meta->pid;
    s->state = (int)ap__reader_state_of(reader);
    (void)snprintf(s->host, sizeof(s->host), "%s", meta->host_name);
    (void)snprintf(s->process, sizeof(s->process), "%.120s", meta->process_name);
    s->has_clock = ap__reader_wall_offset(reader, &s->offset_ns, &s->error_ns);
    s->boot_ns = (uint64_t)s->offset_ns;
    ap__reader_align(reader, 0);
    ap__find_syncs(m, s, reader);
    ap__devices(s, reader);
    ap__reader_close(reader);
}

/* By rank, those without one behind, else as they were given. */
static int ap__by_rank(const void *a, const void *b)
{
    const ap__merge_set *x = a;
    const ap__merge_set *y = b;
    uint64_t p = (uint64_t)x->rank;
    uint64_t q = (uint64_t)y->rank;

    return p != q ? (p < q ? -1 : 1) : strcmp(x->path, y->path);
}

static bool ap__device_taken(const ap__merge *m, uint32_t set, uint32_t number)
{
    for (uint32_t i = 0; i < m->count; i++) {
        for (uint32_t k = 0; i != set && k < m->sets[i].device_count; k++) {
            if (m->sets[i].devices[k].device == number) {
                return true;
            }
        }
    }
    return false;
}

/* Devices keep their numbers where no two sets have the same, else all are counted through. */
static void ap__number_devices(ap__merge *m)
{
    bool clash = false;
    uint32_t next = 0;

    for (uint32_t i = 0; i < m->count; i++) {
        for (uint32_t k = 0; k < m->sets[i].device_count; k++) {
            clash = clash || ap__device_taken(m, i, m->sets[i].devices[k].device);
        }
    }
    for (uint32_t i = 0; i < m->count; i++) {
        for (uint32_t k = 0; k < m->sets[i].device_count; k++) {
            m->sets[i].devices[k].global = clash ? next++ : m->sets[i].devices[k].device;
        }
    }
}

static void ap__number_processes(ap__merge *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        m->sets[i].global_pid = m->sets[i].pid & 0x3FFFFFFF;
        for (uint32_t k = 0; k < m->count; k++) {
            if (k != i && m->sets[k].pid == m->sets[i].pid) {
                m->sets[i].global_pid = 0x40000000u + i;
            }
        }
    }
}

static void ap__labels(ap__merge *m)
{
    bool hosts = false;

    for (uint32_t i = 1; i < m->count; i++) {
        hosts = hosts || strcmp(m->sets[0].host, m->sets[i].host) != 0;
    }
    for (uint32_t i = 0; i < m->count; i++) {
        ap__merge_set *s = &m->sets[i];
        char name[32];

        (void)snprintf(name, sizeof(name), s->rank >= 0 ? "rank %" PRId64 : "set %" PRId64,
                       s->rank >= 0 ? s->rank : (int64_t)i);
        (void)snprintf(s->label, sizeof(s->label), "%s%s%.120s", name, hosts ? " · " : "",
                       hosts ? s->host : "");
    }
}

void ap__merge_survey(ap__merge *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        ap__look(m, &m->sets[i]);
    }
    if (m->count != 0) {
        qsort(m->sets, m->count, sizeof(*m->sets), ap__by_rank);
    }
    ap__number_devices(m);
    ap__number_processes(m);
    ap__labels(m);
}

void ap__merge_free(ap__merge *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        free(m->sets[i].path);
        free(m->sets[i].syncs);
    }
    free(m->sets);
    m->sets = NULL;
    m->count = 0;
}
