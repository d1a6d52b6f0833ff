/* SPDX-License-Identifier: Apache-2.0 */
/* What the cores counted, and how fast they ran: TASK_PMU_INFO, AICORE_FREQ. */
#include <stdio.h>
#include <string.h>

#include "tool/db.h"
#include "tool/db_task.h"

/* Positions in the counters of PipeUtilization on this class; -1: time and cycles of the whole. */
enum { AP_VEC, AP_MAC, AP_SCALAR, AP_MTE1, AP_MTE2, AP_MTE3, AP_ICACHE, AP_ICACHE_MISS };

#define AP_PIPES 6u
#define AP_COLUMNS (2u + 2u * AP_PIPES + 1u) /* of one kind of core */

typedef struct ap__pmu_names {
    bool known;
    uint32_t id[2][AP_COLUMNS];
} ap__pmu_names;

static void ap__names(ap__db *db, ap__pmu_names *n)
{
    static const char *const pipes[AP_PIPES] = {"vec", "mac", "scalar", "mte1", "mte2", "mte3"};
    char text[40];

    for (uint32_t k = 0; k < 2; k++) {
        const char *core = k == 0 ? "aic" : "aiv";
        uint32_t *id = n->id[k];

        (void)snprintf(text, sizeof(text), "%s_total_time", core);
        *id++ = ap__db_string_id(db, text);
        (void)snprintf(text, sizeof(text), "%s_total_cycles", core);
        *id++ = ap__db_string_id(db, text);
        for (uint32_t i = 0; i < AP_PIPES; i++) {
            (void)snprintf(text, sizeof(text), "%s_%s_time", core, pipes[i]);
            *id++ = ap__db_string_id(db, text);
            (void)snprintf(text, sizeof(text), "%s_%s_ratio", core, pipes[i]);
            *id++ = ap__db_string_id(db, text);
        }
        (void)snprintf(text, sizeof(text), "%s_icache_miss_rate", core);
        *id++ = ap__db_string_id(db, text);
    }
    n->known = true;
}

static void ap__value(ap__db_table *t, uint32_t task, uint32_t name, double value)
{
    ap__db_row(t);
    ap__db_int(t, task);
    ap__db_int(t, name);
    ap__db_real(t, value);
    ap__db_row_end(t);
}

/* n NULL: the kind of core that the task has not run on, all 0. */
static void ap__core(ap__db_table *t, uint32_t task, const uint32_t *id, const ap__counters *n,
                     double ns, bool pipes)
{
    double cycles = n != NULL ? (double)n->cycles : 0;

    ap__value(t, task, *id++, ns);
    ap__value(t, task, *id++, cycles);
    for (uint32_t i = 0; pipes && i < AP_PIPES; i++) {
        double ratio = cycles > 0 ? (double)n->values[i] / cycles : 0;

        ap__value(t, task, *id++, ratio * ns);
        ap__value(t, task, *id++, ratio);
    }
    if (pipes) {
        ap__value(t, task, *id,
                  n != NULL && n->values[AP_ICACHE] != 0
                      ? (double)n->values[AP_ICACHE_MISS] / (double)n->values[AP_ICACHE]
                      : 0);
    }
}

void ap__db_counters(ap__db *db, const ap__model *m)
{
    ap__pmu_names names = {0};
    ap__db_table t;

    ap__db_table_begin(db, &t, "TASK_PMU_INFO",
                       "globalTaskId INTEGER, name INTEGER, value NUMERIC");
    for (uint32_t i = 0; i < m->task_count && db->rc == 0; i++) {
        const ap__task *task = &m->tasks[i];
        const ap__node *node = ap__task_node(m, task);
        const ap__counters *n = task->counters != AP_NONE ? &m->counters[task->counters] : NULL;
        uint32_t blocks = node != NULL && (node->blocks & 0xFFFF) != 0 ? node->blocks & 0xFFFF : 1;
        uint32_t mhz = n != NULL ? ap__task_mhz(m, task, n->vector) : 0;
        bool pipes = strstr(m->devices[task->device].metrics, "PipeUtilization") != NULL;
        double ns = mhz != 0 ? (double)n->cycles * 1000.0 / mhz / blocks : 0;

        if (n == NULL) {
            continue;
        }
        if (!names.known) {
            ap__names(db, &names);
        }
        ap__core(&t, i, names.id[0], n->vector ? NULL : n, n->vector ? 0 : ns, pipes);
        ap__core(&t, i, names.id[1], n->vector ? n : NULL, n->vector ? ns : 0, pipes);
    }
    (void)ap__db_table_end(&t);
}

static void ap__frequency_row(ap__db_table *t, uint32_t device, uint64_t ns, uint32_t mhz)
{
    ap__db_row(t);
    ap__db_int(t, device);
    ap__db_int(t, ns);
    ap__db_int(t, mhz);
    ap__db_int(t, UINT64_MAX); /* the whole chip */
    ap__db_row_end(t);
}

/* From the session's start to its end, and where it changes. */
void ap__db_frequencies(ap__db *db, const ap__model *m)
{
    const ap__meta *meta = ap__reader_meta(m->reader);
    ap__db_table t;

    ap__db_table_begin(db, &t, "AICORE_FREQ",
                       "deviceId INTEGER, timestampNs NUMERIC, freq INTEGER, dieId NUMERIC");
    for (uint32_t i = 0; i < m->frequency_count && db->rc == 0; i++) {
        const ap__frequency *f = &m->frequencies[i];
        const ap__device_view *view = &m->devices[f->device];
        uint64_t ns = ap__device_wall_ns(view, f->cycles);
        bool first = i == 0 || f[-1].device != f->device;
        bool last = i + 1 == m->frequency_count || f[1].device != f->device;

        if (first && ns > meta->begin_wall_us * 1000) {
            ap__frequency_row(&t, view->device, meta->begin_wall_us * 1000, view->aic_mhz);
        }
        ap__frequency_row(&t, view->device, ns, f->mhz);
        if (last && meta->end_wall_us * 1000 > ns) {
            ap__frequency_row(&t, view->device, meta->end_wall_us * 1000, f->mhz);
        }
    }
    (void)ap__db_table_end(&t);
}
