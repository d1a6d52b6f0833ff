/* SPDX-License-Identifier: Apache-2.0 */
/* The devices' records: tasks from the scheduler's log, counters from its reports. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bulk.h"
#include "analysis/device_layout.h"
#include "analysis/model.h"
#include "format/wire_device.h"

/* Tasks that have begun, a list for each stream and task. */
typedef struct ap__begun {
    uint64_t cycles;
    uint64_t key;  /* part << 32 | stream << 16 | task */
    uint32_t next; /* in the pool + 1 */
    uint32_t kind;
} ap__begun;

#define AP_BUCKETS 65536u

typedef struct ap__pairing {
    uint32_t *heads; /* AP_BUCKETS */
    ap__begun *pool;
    uint32_t pool_count;
    uint32_t free; /* list through next */
} ap__pairing;

static uint32_t ap__bucket(uint64_t key)
{
    return (uint32_t)((key * 0x9E3779B97F4A7C15ull) >> 48);
}

static int ap__begin(ap__pairing *p, uint64_t key, uint32_t kind, uint64_t cycles)
{
    uint32_t *tail = &p->heads[ap__bucket(key)];
    uint32_t at = p->free;
    ap__begun *b = NULL;

    if (at != 0) {
        p->free = p->pool[at - 1].next;
    } else {
        if (ap__bulk_push((void **)&p->pool, &p->pool_count, sizeof(*p->pool)) == NULL) {
            return ENOMEM;
        }
        at = p->pool_count;
    }
    b = &p->pool[at - 1];
    *b = (ap__begun){cycles, key, 0, kind};
    while (*tail != 0) { /* oldest first */
        tail = &p->pool[*tail - 1].next;
    }
    *tail = at;
    return 0;
}

/* false: nothing of the key has begun */
static bool ap__end(ap__pairing *p, uint64_t key, uint32_t kind, uint64_t *cycles)
{
    for (uint32_t *at = &p->heads[ap__bucket(key)]; *at != 0; at = &p->pool[*at - 1].next) {
        ap__begun *b = &p->pool[*at - 1];

        if (b->key == key && b->kind == kind) {
            uint32_t mine = *at;

            *cycles = b->cycles;
            *at = b->next;
            b->next = p->free;
            p->free = mine;
            return true;
        }
    }
    return false;
}

static int ap__add_task(ap__model *m, uint32_t device, const ap__task_log *log,
                        uint64_t start_cycles)
{
    ap__task *t = ap__bulk_push((void **)&m->tasks, &m->task_count, sizeof(*t));
    const ap__device_view *view = &m->devices[device];

    if (t == NULL) {
        return ENOMEM;
    }
    *t = (ap__task){
        .start_ns = ap__device_wall_ns(view, start_cycles),
        .end_ns = ap__device_wall_ns(view, log->cycles),
        .start_cycles = start_cycles,
        .end_cycles = log->cycles,
        .device = device,
        .kind = log->kind,
        .part = log->part,
        .stream = (uint16_t)log->stream,
        .task = log->task,
        .track = AP_NONE,
        .counters = AP_NONE,
    };
    return 0;
}

static void ap__unpack(const ap__model *m, const ap__device_layout *layout, uint32_t kind,
                       uint32_t *stream, uint32_t *task)
{
    uint16_t s = (uint16_t)*stream;
    uint16_t t = (uint16_t)*task;

    if (layout->packed_ids) {
        ap__stars_unpack(m->many_streams, kind, &s, &t);
        *stream = s;
        *task = t;
    }
}

static int ap__load_tasks(ap__model *m, uint32_t device, const ap__device_layout *layout,
                          ap__slice_cursor *cursor)
{
    ap__pairing p = {.heads = calloc(AP_BUCKETS, sizeof(*p.heads))};
    ap__blob record;
    uint32_t slice = 0;
    uint32_t index = 0;
    uint64_t begun = 0;
    uint64_t paired = 0;
    int rc = p.heads != NULL ? 0 : ENOMEM;

    while (rc == 0 && ap__slice_cursor_next(cursor, &record, &slice, &index)) {
        ap__task_log log;
        uint64_t start = 0;
        uint64_t key = 0;
        uint32_t kind = 0;

        if (!layout->log(record, &log)) {
            continue;
        }
        ap__unpack(m, layout, log.kind, &log.stream, &log.task);
        key = (uint64_t)(log.stream & 0xFFFF) << 16 ^ log.task; /* one of them is short */
        key |= (uint64_t)(log.part != AP_NONE ? log.part + 1u : 0) << 32;
        kind = log.part != AP_NONE ? AP_KIND_OTHER : log.kind;
        if (!log.end) {
            begun++;
            rc = ap__begin(&p, key, kind, log.cycles);
        } else if (ap__end(&p, key, kind, &start)) {
            paired++;
            rc = ap__add_task(m, device, &log, start);
        } else {
            m->unfinished_tasks++;
        }
    }
    m->unfinished_tasks += begun - paired;
    free(p.heads);
    ap__bulk_free(p.pool);
    return rc;
}

/* ---- counters ---- */

typedef struct ap__pmu {
    uint32_t key;
    uint32_t counters; /* in the order of the reports */
    uint64_t start;
    uint32_t taken; /* at a key's first: how many tasks have one already */
} ap__pmu;

static int ap__pmus_by_key(const void *a, const void *b)
{
    const ap__pmu *x = a;
    const ap__pmu *y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    return x->counters < y->counters ? -1 : x->counters > y->counters;
}

static uint32_t ap__pmu_key(uint32_t stream, uint32_t task)
{
    return stream << 16 ^ task; /* with long ids there is no stream */
}

static int ap__read_pmus(ap__model *m, uint32_t device, const ap__device_layout *layout,
                         ap__slice_cursor *cursor, ap__pmu **list, uint32_t *count)
{
    ap__blob record;
    uint32_t slice = 0;
    uint32_t index = 0;

    while (ap__slice_cursor_next(cursor, &record, &slice, &index)) {
        ap__task_pmu read = {.task = 0};
        ap__pmu *pmu = NULL;
        ap__counters *c = NULL;

        if (!layout->pmu(record, &m->devices[device], &read)) {
            continue;
        }
        ap__unpack(m, layout, AP_SQE_AICORE, &read.stream, &read.task);
        pmu = ap__bulk_push((void **)list, count, sizeof(*pmu));
        c = pmu != NULL ? ap__bulk_push((void **)&m->counters, &m->counters_count, sizeof(*c))
                        : NULL;
        if (c == NULL) {
            return ENOMEM;
        }
        *pmu = (ap__pmu){ap__pmu_key(read.stream, read.task), m->counters_count - 1,
                         read.start_cycles, 0};
        *c = read.counters;
    }
    return 0;
}

/* Of the same key, the report whose start lies in the task; without times the next one. */
static void ap__give_counters(ap__model *m, uint32_t from, const ap__device_layout *layout,
                              ap__pmu *list, uint32_t count)
{
    for (uint32_t i = from; i < m->task_count; i++) {
        ap__task *t = &m->tasks[i];
        ap__pmu key = {.key = ap__pmu_key(layout->long_ids ? 0 : t->stream, t->task),
                       .start = t->start_cycles};
        uint32_t low = 0;
        uint32_t high = count;

        ap__bulk_step();
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;

            if (ap__pmus_by_key(&list[middle], &key) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (t->part != AP_NONE || low == count || list[low].key != key.key) {
            continue;
        }
        if (list[low].start != AP_NO_CYCLES) {
            t->counters = list[low].start <= t->end_cycles ? list[low].counters : AP_NONE;
        } else if (list[low].taken < count - low && list[low + list[low].taken].key == key.key) {
            t->counters = list[low + list[low].taken++].counters;
        }
    }
}

static int ap__tasks_by_start(const void *a, const void *b)
{
    const ap__task *x = a;
    const ap__task *y = b;

    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    if (x->device != y->device) {
        return x->device < y->device ? -1 : 1;
    }
    return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

/* ---- frequency ---- */

static int ap__frequencies_by_time(const void *a, const void *b)
{
    const ap__frequency *x = a;
    const ap__frequency *y = b;

    if (x->device != y->device) {
        return x->device < y->device ? -1 : 1;
    }
    return x->cycles < y->cycles ? -1 : x->cycles > y->cycles;
}

static int ap__take_frequencies(ap__model *m, uint32_t device, const ap__wire_lpm *w)
{
    for (uint32_t k = 0; w->kind == AP_LPM_AIC_MHZ && k < w->count && k < AP_LPM_CHANGES; k++) {
        ap__frequency *f = ap__bulk_push((void **)&m->frequencies, &m->frequency_count, sizeof(*f));

        if (f == NULL) {
            return ENOMEM;
        }
        *f = (ap__frequency){w->changes[k].cycles, device, w->changes[k].value};
    }
    return 0;
}

static int ap__load_frequencies(ap__model *m, uint32_t device, ap__slice_cursor *cursor)
{
    static const char *const files[] = {"lpmFreqConv.data", "lpmInfoConv.data"};
    ap__blob record;
    uint32_t slice = 0;
    uint32_t index = 0;
    int rc = 0;

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (!ap__device_records(&m->devices[device], m->reader, files[i], sizeof(ap__wire_lpm), 0,
                                0, cursor)) {
            continue;
        }
        while (rc == 0 && ap__slice_cursor_next(cursor, &record, &slice, &index)) {
            ap__wire_lpm w;

            memcpy(&w, record.data, sizeof(w));
            rc = ap__take_frequencies(m, device, &w);
        }
        ap__slice_cursor_end(cursor);
    }
    return rc;
}

uint32_t ap__task_mhz(const ap__model *m, const ap__task *task, bool vector)
{
    const ap__device_view *view = &m->devices[task->device];
    uint32_t mhz = vector ? view->aiv_mhz : view->aic_mhz;
    uint32_t low = 0;
    uint32_t high = m->frequency_count;
    ap__frequency key = {task->start_cycles, task->device, 0};

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (ap__frequencies_by_time(&m->frequencies[middle], &key) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low != 0 && m->frequencies[low - 1].device == task->device &&
        m->frequencies[low - 1].mhz != 0) {
        mhz = m->frequencies[low - 1].mhz;
    }
    return mhz;
}

static int ap__load_device(ap__model *m, uint32_t device, const ap__device_layout *layout,
                           ap__slice_cursor *cursor)
{
    uint32_t from = m->task_count;
    ap__pmu *pmus = NULL;
    uint32_t count = 0;
    int rc = 0;

    if (ap__device_records(&m->devices[device], m->reader, layout->log_file, layout->log_bytes,
                           AP_STARS_MAGIC, 2, cursor)) {
        rc = ap__load_tasks(m, device, layout, cursor);
        ap__slice_cursor_end(cursor);
    }
    if (rc == 0 && m->devices[device].pmu_by_task &&
        ap__device_records(&m->devices[device], m->reader, layout->pmu_file, layout->pmu_bytes,
                           AP_STARS_MAGIC, 2, cursor)) {
        rc = ap__read_pmus(m, device, layout, cursor, &pmus, &count);
        ap__slice_cursor_end(cursor);
    }
    rc = rc != 0 ? rc : ap__load_frequencies(m, device, cursor);
    rc = rc != 0 ? rc : ap__bulk_sort((void **)&pmus, count, sizeof(*pmus), ap__pmus_by_key);
    if (rc == 0) {
        ap__give_counters(m, from, layout, pmus, count);
    }
    ap__bulk_free(pmus);
    return rc;
}

int ap__model_load_devices(ap__model *model)
{
    ap__slice_cursor *cursor = malloc(sizeof(*cursor));
    int rc = cursor != NULL ? 0 : ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < model->device_count; i++) {
        const ap__device_layout *layout = ap__device_layout_of(model->devices[i].chip);

        if (layout != NULL) {
            rc = ap__load_device(model, i, layout, cursor);
        }
    }
    rc = rc != 0 ? rc
                 : ap__bulk_sort((void **)&model->frequencies, model->frequency_count,
                                 sizeof(model->frequencies[0]), ap__frequencies_by_time);
    rc = rc != 0 ? rc
                 : ap__bulk_sort((void **)&model->tasks, model->task_count, sizeof(model->tasks[0]),
                                 ap__tasks_by_start);
    free(cursor);
    return rc;
}
