/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: facts, how busy each was over time, frequency of its cores. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report.h"

#define AP_BUSY_BUCKETS 2048u
#define AP_MAX_FREQUENCIES 5000u

typedef struct ap__busy {
    uint64_t tasks;
    uint64_t first;
    uint64_t last;
    uint64_t busy;
    uint64_t gap;                    /* the longest */
    double buckets[AP_BUSY_BUCKETS]; /* busy ns */
} ap__busy;

static void ap__busy_add(ap__busy *b, const ap__run *run, uint64_t from, uint64_t to)
{
    double width = (double)(run->end_ns - run->base_ns) / AP_BUSY_BUCKETS;
    double start = width > 0 ? (double)(from - run->base_ns) / width : AP_BUSY_BUCKETS;
    double end = width > 0 ? (double)(to - run->base_ns) / width : AP_BUSY_BUCKETS;

    for (uint32_t k = (uint32_t)start; k < AP_BUSY_BUCKETS && k < end; k++) {
        b->buckets[k] += width * ((end < k + 1.0 ? end : k + 1.0) - (start > k ? start : k));
    }
}

static void ap__busy_count(ap__busy *b, const ap__run *run, uint32_t device)
{
    for (uint32_t i = 0; i < run->model.task_count; i++) {
        const ap__task *t = &run->model.tasks[i];

        if (t->device != device) {
            continue;
        }
        if (b->tasks++ == 0) {
            b->first = b->last = t->start_ns;
        }
        if (t->start_ns > b->last && t->start_ns - b->last > b->gap) {
            b->gap = t->start_ns - b->last;
        }
        if (t->end_ns > b->last) { /* tasks are by start: the union grows at its end only */
            uint64_t from = t->start_ns > b->last ? t->start_ns : b->last;

            b->busy += t->end_ns - from;
            ap__busy_add(b, run, from, t->end_ns);
            b->last = t->end_ns;
        }
    }
}

static void ap__frequencies(ap__out *o, const ap__run *run, uint32_t device)
{
    const ap__model *m = &run->model;
    uint32_t n = 0;

    ap__out_text(o, "\"mhz\":[");
    for (uint32_t i = 0; i < m->frequency_count && n < AP_MAX_FREQUENCIES; i++) {
        const ap__frequency *f = &m->frequencies[i];
        uint64_t ns = f->device == device ? ap__device_wall_ns(&m->devices[device], f->cycles) : 0;

        if (f->device == device) {
            ap__out_printf(o, "%s[%" PRIu64 ",%" PRIu32 "]", n++ != 0 ? "," : "",
                           ns > run->base_ns ? ns - run->base_ns : 0, f->mhz);
        }
    }
    ap__out_text(o, "]}");
}

int ap__report_devices(ap__out *o, const ap__run *run)
{
    const ap__model *m = &run->model;
    double width = (double)(run->end_ns - run->base_ns) / AP_BUSY_BUCKETS;
    ap__busy *b = malloc(sizeof(*b));

    if (b == NULL) {
        return ENOMEM;
    }
    ap__out_text(o, "\"devices\":[");
    for (uint32_t i = 0; i < m->device_count; i++) {
        const ap__device_view *d = &m->devices[i];

        memset(b, 0, sizeof(*b));
        ap__busy_count(b, run, i);
        ap__out_printf(o,
                       "%s{\"device\":%" PRIu32 ",\"chip\":%" PRIu32 ",\"simulated\":%s,"
                       "\"aic\":%" PRIu32 ",\"aiv\":%" PRIu32 ",\"tasks\":%" PRIu64
                       ",\"busy\":%" PRIu64 ",\"span\":%" PRIu64 ",\"gap\":%" PRIu64 ",",
                       i != 0 ? "," : "", d->device, d->chip, d->simulated ? "true" : "false",
                       d->aic_num, d->aiv_num, b->tasks, b->busy, b->last - b->first, b->gap);
        ap__report_fact(o, "metrics", d->metrics);
        ap__out_text(o, "\"load\":[");
        for (uint32_t k = 0; b->tasks != 0 && k < AP_BUSY_BUCKETS; k++) {
            ap__out_printf(o, "%s%.0f", k != 0 ? "," : "",
                           width > 0 ? 100.0 * b->buckets[k] / width : 0.0);
        }
        ap__out_text(o, "],");
        ap__frequencies(o, run, i);
    }
    ap__out_text(o, "],");
    free(b);
    return 0;
}
