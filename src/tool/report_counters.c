/* SPDX-License-Identifier: Apache-2.0 */
/* Counters over time: what the process takes of the host, memory of devices, tasks that wait. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bulk.h"
#include "tool/raw_files.h"
#include "tool/report.h"

#define AP_COUNTER_PARTS 2048u
#define AP_PAGE_BYTES 4096.0 /* as the vendor's parser takes it */

/* A counter in equal parts of the run. */
typedef struct ap__counter {
    const ap__run *run;
    ap__out *o;
    bool written; /* another before this one */
    bool any;
    bool set[AP_COUNTER_PARTS];
    double most[AP_COUNTER_PARTS];
    double last[AP_COUNTER_PARTS];
    uint64_t now_ns; /* of the sample that is read */
    uint64_t before_ns;
    uint64_t now;
    uint64_t before;
} ap__counter;

static void ap__counter_begin(ap__counter *c)
{
    c->any = false;
    memset(c->set, 0, sizeof(c->set));
    c->now_ns = c->before_ns = c->now = c->before = 0;
}

static void ap__counter_take(ap__counter *c, uint64_t wall_ns, double value)
{
    uint64_t span = c->run->end_ns - c->run->base_ns;
    uint64_t at = wall_ns > c->run->base_ns ? wall_ns - c->run->base_ns : 0;
    uint32_t part = 0;

    if (span == 0 || at > span) {
        return;
    }
    part = (uint32_t)((double)at / (double)span * AP_COUNTER_PARTS);
    part = part < AP_COUNTER_PARTS ? part : AP_COUNTER_PARTS - 1;
    c->most[part] = c->set[part] && c->most[part] > value && at != 0 ? c->most[part] : value;
    c->last[part] = value;
    c->set[part] = true;
    c->any = true;
}

static void ap__counter_point(ap__counter *c, uint32_t part, double value, bool first)
{
    double width = (double)(c->run->end_ns - c->run->base_ns) / AP_COUNTER_PARTS;

    ap__out_printf(c->o, "%s[%.0f,%.6g]", first ? "" : ",", part * width, value);
}

/* device -1: the host. */
static void ap__counter_end(ap__counter *c, int64_t device, const char *name, const char *unit)
{
    bool first = true;

    if (!c->any) {
        return;
    }
    ap__out_printf(c->o, "%s{\"device\":%" PRId64 ",\"name\":\"%s\",\"unit\":\"%s\",\"points\":[",
                   c->written ? "," : "", device, name, unit);
    for (uint32_t i = 0; i < AP_COUNTER_PARTS; i++) {
        if (!c->set[i]) {
            continue;
        }
        ap__counter_point(c, i, c->most[i], first);
        first = false;
        if (i + 1 < AP_COUNTER_PARTS && !c->set[i + 1] && c->last[i] < c->most[i]) {
            ap__counter_point(c, i + 1, c->last[i], false);
        }
    }
    ap__out_text(c->o, "]}");
    c->written = true;
}

/* ---- the host's samples ---- */

static void ap__cpu_sample(ap__counter *c)
{
    uint32_t ticks = ap__reader_meta(c->run->reader)->clock_ticks;

    if (c->before_ns != 0 && c->now_ns > c->before_ns && c->now >= c->before) {
        double seconds = (double)(c->now - c->before) / (ticks != 0 ? ticks : 100);

        ap__counter_take(c, ap__reader_wall_ns(c->run->reader, c->before_ns),
                         100e9 * seconds / (double)(c->now_ns - c->before_ns));
    }
    c->before_ns = c->now_ns;
    c->before = c->now;
    c->now = 0;
}

/* "time NS", then a line of /proc/…/stat for each thread. */
static int ap__take_cpu(void *context, uint32_t device, char *line)
{
    ap__counter *c = context;
    const char *name_end = strrchr(line, ')'); /* a name may hold anything */
    uint64_t ns = 0;
    uint64_t user = 0;
    uint64_t system = 0;

    (void)device;
    if (sscanf(line, "time %" SCNu64, &ns) == 1) {
        ap__cpu_sample(c);
        c->now_ns = ns;
    } else if (name_end != NULL &&
               sscanf(name_end + 1,
                      " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64, &user,
                      &system) == 2) {
        c->now += user + system;
    }
    return 0;
}

/* "NS size resident …" in pages. */
static int ap__take_memory(void *context, uint32_t device, char *line)
{
    ap__counter *c = context;
    uint64_t ns = 0;
    uint64_t pages = 0;

    (void)device;
    if (sscanf(line, "%" SCNu64 " %*u %" SCNu64, &ns, &pages) == 2) {
        ap__counter_take(c, ap__reader_wall_ns(c->run->reader, ns),
                         (double)pages * AP_PAGE_BYTES / 1e6);
    }
    return 0;
}

/* ---- devices ---- */

static int ap__take_npu_memory(void *context, uint32_t device, ap__blob record)
{
    ap__counter *c = context;
    const ap__device_view *d = &c->run->model.devices[device];
    uint64_t ns = d->clock.mono_raw_ns + (uint64_t)ap__blob_u32(record, 0) * 1000;
    double bytes = (double)ap__blob_u64(record, 16) + (double)ap__blob_u64(record, 24);

    if (ap__blob_u32(record, 4) != 0) { /* of the device, not of the process */
        ap__counter_take(c, ap__host_clock_wall_ns(&d->clock, ns), bytes / 1e6);
    }
    return 0;
}

static int ap__by_time(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Tasks that the host has launched and the device has not begun. */
static int ap__waiting(ap__counter *c, uint32_t device)
{
    const ap__model *m = &c->run->model;
    uint64_t *launches = NULL;
    uint64_t *starts = NULL;
    uint32_t count = 0;
    uint32_t start_count = 0;
    uint32_t begun = 0;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < m->task_count; i++) {
        const ap__task *t = &m->tasks[i];
        uint64_t *launch = NULL;
        uint64_t *start = NULL;

        if (t->device != device || t->track >= m->track_count ||
            (t->part != AP_NONE && t->part != 0)) {
            continue;
        }
        launch = ap__bulk_push((void **)&launches, &count, sizeof(*launch));
        start = ap__bulk_push((void **)&starts, &start_count, sizeof(*start));
        if (launch == NULL || start == NULL) {
            rc = ENOMEM;
            break;
        }
        *start = t->start_ns;
        *launch = m->tracks[t->track].time_ns;
        *launch = *launch < *start ? *launch : *start; /* clocks agree to microseconds only */
    }
    rc = rc != 0 ? rc : ap__bulk_sort((void **)&launches, count, sizeof(*launches), ap__by_time);
    for (uint32_t i = 0; rc == 0 && (i < count || begun < count);) {
        if (i < count && launches[i] <= starts[begun]) {
            i++;
            ap__counter_take(c, launches[i - 1], i - begun);
        } else {
            begun++;
            ap__counter_take(c, starts[begun - 1], i - begun);
        }
    }
    ap__bulk_free(launches);
    ap__bulk_free(starts);
    return rc;
}

int ap__report_counters(ap__out *o, const ap__run *run)
{
    const ap__model *m = &run->model;
    ap__counter *c = calloc(1, sizeof(*c));
    int rc = 0;

    if (c == NULL) {
        return ENOMEM;
    }
    c->run = run;
    c->o = o;
    ap__out_text(o, "\"counters\":[");
    rc = ap__each_line(m, AP_HOST, "host_cpu.data", ap__take_cpu, c);
    ap__cpu_sample(c);
    ap__counter_end(c, -1, "hostCpu", " %");
    ap__counter_begin(c);
    rc = rc != 0 ? rc : ap__each_line(m, AP_HOST, "host_mem.data", ap__take_memory, c);
    ap__counter_end(c, -1, "hostMemory", " MB");
    for (uint32_t i = 0; rc == 0 && i < m->device_count; i++) {
        ap__counter_begin(c);
        rc = ap__waiting(c, i);
        ap__counter_end(c, m->devices[i].device, "waiting", "");
        ap__counter_begin(c);
        rc = rc != 0 ? rc : ap__each_record(m, i, "npu_mem.data", 32, ap__take_npu_memory, c);
        ap__counter_end(c, m->devices[i].device, "npuMemory", " MB");
    }
    ap__out_text(o, "],");
    free(c);
    return rc;
}
