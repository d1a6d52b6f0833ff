/* SPDX-License-Identifier: Apache-2.0 */
/* What the cores counted, and how fast they ran: TASK_PMU_INFO, AICORE_FREQ. */
#include <stdio.h>
#include <string.h>

#include "tool/db.h"
#include "tool/db_task.h"
#include "tool/samples.h"

/* Positions in the counters of PipeUtilization on this class; -1: time and cycles of the whole. */
enum {
    AP_VEC,
    AP_MAC,
    AP_SCALAR,
    AP_MTE1,
    AP_MTE2,
    AP_MTE3,
    AP_ICACHE,
    AP_ICACHE_MISS,
    AP_FIXPIPE
};

#define AP_PIPES 7u                          /* the last, fixpipe, only on the 950 */
#define AP_COLUMNS (2u + 2u * AP_PIPES + 1u) /* of one kind of core, at most */

typedef struct ap__pmu_names {
    bool known;
    uint32_t pipes;
    uint32_t id[2][AP_COLUMNS];
} ap__pmu_names;

static void ap__names(ap__db *db, ap__pmu_names *n)
{
    static const char *const pipes[AP_PIPES] = {"vec",  "mac",  "scalar", "mte1",
                                                "mte2", "mte3", "fixpipe"};
    char text[40];

    for (uint32_t k = 0; k < 2; k++) {
        const char *core = k == 0 ? "aic" : "aiv";
        uint32_t *id = n->id[k];

        (void)snprintf(text, sizeof(text), "%s_total_time", core);
        *id++ = ap__db_string_id(db, text);
        (void)snprintf(text, sizeof(text), "%s_total_cycles", core);
        *id++ = ap__db_string_id(db, text);
        for (uint32_t i = 0; i < n->pipes; i++) {
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

/* n NULL: the kind of core that the task has not run on, all 0. pipes 0: totals only. */
static void ap__core(ap__db_table *t, uint32_t task, const uint32_t *id, const ap__counters *n,
                     double ns, uint32_t pipes)
{
    static const int places[AP_PIPES] = {AP_VEC,  AP_MAC,  AP_SCALAR, AP_MTE1,
                                         AP_MTE2, AP_MTE3, AP_FIXPIPE};
    double cycles = n != NULL ? (double)n->cycles : 0;

    ap__value(t, task, *id++, ns);
    ap__value(t, task, *id++, cycles);
    for (uint32_t i = 0; i < pipes; i++) {
        double ratio = cycles > 0 ? (double)n->values[places[i]] / cycles : 0;

        ap__value(t, task, *id++, ratio * ns);
        ap__value(t, task, *id++, ratio);
    }
    if (pipes != 0) {
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
        uint32_t pipes = m->devices[task->device].chip >= 15 ? AP_PIPES : AP_PIPES - 1;
        double ns = mhz != 0 ? (double)n->cycles * 1000.0 / mhz / blocks : 0;

        if (n == NULL) {
            continue;
        }
        if (!names.known) { /* all devices of a machine are of one kind */
            names.pipes = pipes;
            ap__names(db, &names);
        }
        pipes =
            strstr(m->devices[task->device].metrics, "PipeUtilization") != NULL ? names.pipes : 0;
        ns = n->ns != 0 ? (double)n->ns : ns;
        ap__core(&t, i, names.id[0], n->vector ? NULL : n, n->vector ? 0 : ns, pipes);
        ap__core(&t, i, names.id[1], n->vector ? n : NULL, n->vector ? ns : 0, pipes);
    }
    (void)ap__db_table_end(&t);
}

typedef struct ap__frequencies {
    ap__db_table t;
    const ap__model *m;
} ap__frequencies;

static void ap__frequency_row(ap__db_table *t, uint32_t device, uint64_t ns, uint32_t mhz,
                              uint64_t die)
{
    ap__db_row(t);
    ap__db_int(t, device);
    ap__db_int(t, ns);
    ap__db_int(t, mhz);
    ap__db_int(t, die);
    ap__db_row_end(t);
}

/* The 950 samples each die. */
static int ap__die_mhz(void *context, const ap__sample *s)
{
    ap__frequencies *f = context;

    if (s->ns >= f->m->from_ns && s->ns <= f->m->to_ns) {
        ap__frequency_row(&f->t, f->m->devices[s->device].device, s->ns, (uint32_t)s->values[0],
                          s->id);
    }
    return f->t.db->rc;
}

/* From the session's start to its end, and where it changes. */
void ap__db_frequencies(ap__db *db, const ap__model *m)
{
    const ap__meta *meta = ap__reader_meta(m->reader);
    const uint64_t whole_chip = UINT64_MAX;
    ap__frequencies all = {.m = m};
    ap__db_table *t = &all.t;
    int rc = 0;

    ap__db_table_begin(db, t, "AICORE_FREQ",
                       "deviceId INTEGER, timestampNs NUMERIC, freq INTEGER, dieId NUMERIC");
    for (uint32_t i = 0; i < m->frequency_count && db->rc == 0; i++) {
        const ap__frequency *f = &m->frequencies[i];
        const ap__device_view *view = &m->devices[f->device];
        uint64_t ns = ap__device_wall_ns(view, f->cycles);
        bool first = i == 0 || f[-1].device != f->device;
        bool last = i + 1 == m->frequency_count || f[1].device != f->device;

        if (first && ns > meta->begin_wall_us * 1000) {
            ap__frequency_row(t, view->device, meta->begin_wall_us * 1000, view->aic_mhz,
                              whole_chip);
        }
        ap__frequency_row(t, view->device, ns, f->mhz, whole_chip);
        if (last && meta->end_wall_us * 1000 > ns) {
            ap__frequency_row(t, view->device, meta->end_wall_us * 1000, f->mhz, whole_chip);
        }
    }
    for (uint32_t i = 0; rc == 0 && i < m->device_count; i++) {
        rc = ap__samples_die_mhz(m, i, ap__die_mhz, &all);
    }
    (void)ap__db_table_end(t);
    db->rc = db->rc != 0 ? db->rc : rc;
}
