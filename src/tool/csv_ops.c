/* SPDX-License-Identifier: Apache-2.0 */
/* What the devices did: task_time, op_summary, op_statistic. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/csv.h"

#define AP_NO_MODEL 4294967295u

/* ---- task_time ---- */

int ap__csv_task_time(ap__export *e, const ap__model *m)
{
    ap__csv *c = ap__csv_begin(e, "task_time",
                               "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),"
                               "task_start(us),task_stop(us)",
                               m->task_count);

    if (c == NULL) {
        return ENOMEM;
    }
    for (uint32_t i = 0; i < m->task_count; i++) {
        const ap__task *t = &m->tasks[i];

        ap__csv_row(c);
        ap__csv_u64(c, m->devices[t->device].device);
        ap__csv_text(c, ap__task_name(m, t));
        ap__csv_text(c, ap__task_type(m, t));
        ap__csv_u64(c, t->stream);
        ap__csv_u64(c, t->task);
        ap__csv_us(c, t->end_ns - t->start_ns);
        ap__csv_time(c, t->start_ns);
        ap__csv_time(c, t->end_ns);
    }
    return ap__csv_end(c);
}

/* ---- op_summary ---- */

#define AP_SUMMARY_BASE                                                                            \
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start "          \
    "Time(us),Task Duration(us),Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Input "   \
    "Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output "                \
    "Formats,Context "                                                                             \
    "ID"
#define AP_SUMMARY_PIPE                                                                            \
    ",aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,aic_scalar_time(us),"        \
    "aic_scalar_ratio,aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,"          \
    "aic_mte3_time(us),aic_mte3_ratio,aic_icache_miss_rate,aiv_time(us),aiv_total_cycles,"         \
    "aiv_vec_time(us),aiv_vec_ratio,aiv_scalar_time(us),aiv_scalar_ratio,aiv_mte2_time(us),"       \
    "aiv_mte2_ratio,aiv_mte3_time(us),aiv_mte3_ratio,aiv_icache_miss_rate,cube_utilization(%)"
#define AP_SUMMARY_TOTALS ",aicore_time(us),aic_total_cycles,aiv_time(us),aiv_total_cycles"

/* Positions in the counters of PipeUtilization on this class: 0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55. */
enum { AP_VEC, AP_MAC, AP_SCALAR, AP_MTE1, AP_MTE2, AP_MTE3, AP_ICACHE, AP_ICACHE_MISS };

typedef enum ap__metric_set { AP_METRICS_NONE, AP_METRICS_PIPE, AP_METRICS_OTHER } ap__metric_set;

const char *ap__data_type(uint32_t type)
{
    static const char *const names[] = {
        "FLOAT",     "FLOAT16", "INT8",      "INT32",      "UINT8",  "",        "INT16",
        "UINT16",    "UINT32",  "INT64",     "UINT64",     "DOUBLE", "BOOL",    "STRING",
        "COMPLEX32", "",        "COMPLEX64", "COMPLEX128", "QINT8",  "QINT16",  "QINT32",
        "QUINT8",    "QUINT16", "RESOURCE",  "STRING_REF", "DUAL",   "VARIANT", "BF16"};

    return type < sizeof(names) / sizeof(names[0]) && names[type][0] != '\0' ? names[type]
                                                                             : "UNDEFINED";
}

const char *ap__format(uint32_t format)
{
    static const char *const names[] = {"NCHW", "NHWC", "ND", "NC1HWC0", "FRACTAL_Z"};

    if (format == 29) {
        return "FRACTAL_NZ";
    }
    return (format & 0xFF) < sizeof(names) / sizeof(names[0]) ? names[format & 0xFF] : "UNDEFINED";
}

/* Three fields of a node's inputs or outputs. */
static void ap__tensor_fields(ap__csv *c, const ap__model *m, const ap__node *node, uint32_t kind)
{
    char shapes[1024] = "\"\"\"";
    char types[256] = "";
    char formats[256] = "";
    size_t at = 3;
    uint32_t count = 0;

    for (uint32_t i = 0; i < node->tensor_count; i++) {
        const ap__tensor *t = &m->tensors[node->tensor_from + i];
        size_t used = strlen(types);

        if (t->kind != kind) {
            continue;
        }
        if (count++ != 0) {
            at += (size_t)snprintf(shapes + at, sizeof(shapes) - at, ";");
        }
        for (uint32_t k = 0; k < 8 && t->shape[k] != 0; k++) {
            at += (size_t)snprintf(shapes + at, sizeof(shapes) - at, "%s%" PRIu32,
                                   k != 0 ? "," : "", t->shape[k]);
        }
        (void)snprintf(types + used, sizeof(types) - used, "%s%s", count > 1 ? ";" : "",
                       ap__data_type(t->data_type));
        used = strlen(formats);
        (void)snprintf(formats + used, sizeof(formats) - used, "%s%s", count > 1 ? ";" : "",
                       ap__format(t->format));
    }
    (void)snprintf(shapes + at, sizeof(shapes) - at, "\"\"\"");
    ap__csv_raw(c, count != 0 ? shapes : "N/A");
    ap__csv_raw(c, count != 0 ? types : "N/A");
    ap__csv_raw(c, count != 0 ? formats : "N/A");
}

typedef struct ap__core_time {
    double us;
    const ap__counters *counters; /* NULL: the other kind of core */
} ap__core_time;

static void ap__part(ap__csv *c, const ap__core_time *t, int counter)
{
    double ratio = t->counters != NULL && t->counters->cycles != 0
                       ? (double)t->counters->values[counter] / (double)t->counters->cycles
                       : 0.0;

    ap__csv_round(c, ratio * t->us);
    ap__csv_round(c, ratio);
}

static void ap__misses(ap__csv *c, const ap__core_time *t)
{
    const uint64_t *v = t->counters != NULL ? t->counters->values : NULL;

    ap__csv_round(
        c, v != NULL && v[AP_ICACHE] != 0 ? (double)v[AP_ICACHE_MISS] / (double)v[AP_ICACHE] : 0.0);
}

static void ap__totals(ap__csv *c, const ap__core_time *t)
{
    ap__csv_round(c, t->us);
    ap__csv_u64(c, t->counters != NULL ? t->counters->cycles : 0);
}

static void ap__counter_fields(ap__csv *c, const ap__model *m, const ap__task *task,
                               ap__metric_set set)
{
    const ap__device_view *d = &m->devices[task->device];
    const ap__counters *n = task->counters != AP_NONE ? &m->counters[task->counters] : NULL;
    const ap__node *node = ap__task_node(m, task);
    double blocks = node != NULL && (node->blocks & 0xFFFF) != 0 ? node->blocks & 0xFFFF : 1;
    ap__core_time aic = {0, NULL};
    ap__core_time aiv = {0, NULL};
    double cube = 0;
    uint32_t mhz = n != NULL ? ap__task_mhz(m, task, n->vector) : 0;

    if (n == NULL) {
        for (int i = 0; i < (set == AP_METRICS_PIPE ? 25 : 4); i++) {
            ap__csv_raw(c, "N/A");
        }
        return;
    }
    if (n->vector) {
        aiv.counters = n;
        aiv.us = mhz != 0 ? (double)n->cycles / mhz / blocks : 0;
    } else {
        aic.counters = n;
        aic.us = mhz != 0 ? (double)n->cycles / mhz / blocks : 0;
        cube = mhz != 0 && d->aic_num != 0 && task->end_ns > task->start_ns
                   ? (double)n->cycles / mhz / d->aic_num * 100.0 * 1000.0 /
                         (double)(task->end_ns - task->start_ns)
                   : 0;
    }
    ap__totals(c, &aic);
    if (set == AP_METRICS_PIPE) {
        char text[32];

        ap__part(c, &aic, AP_MAC);
        ap__part(c, &aic, AP_SCALAR);
        ap__part(c, &aic, AP_MTE1);
        ap__part(c, &aic, AP_MTE2);
        ap__part(c, &aic, AP_MTE3);
        ap__misses(c, &aic);
        ap__totals(c, &aiv);
        ap__part(c, &aiv, AP_VEC);
        ap__part(c, &aiv, AP_SCALAR);
        ap__part(c, &aiv, AP_MTE2);
        ap__part(c, &aiv, AP_MTE3);
        ap__misses(c, &aiv);
        (void)snprintf(text, sizeof(text), "%.3f", cube);
        ap__csv_raw(c, text);
    } else {
        ap__totals(c, &aiv);
    }
}

static ap__metric_set ap__metrics_of(const ap__model *m)
{
    for (uint32_t i = 0; m->counters_count != 0 && i < m->device_count; i++) {
        if (strstr(m->devices[i].metrics, "PipeUtilization") != NULL) {
            return AP_METRICS_PIPE;
        }
    }
    return m->counters_count != 0 ? AP_METRICS_OTHER : AP_METRICS_NONE;
}

/* By device as text, then by start. */
static int ap__device_order(const void *a, const void *b, void *context)
{
    const ap__model *m = context;
    const ap__task *x = &m->tasks[*(const uint32_t *)a];
    const ap__task *y = &m->tasks[*(const uint32_t *)b];
    char left[12];
    char right[12];
    int order = 0;

    if (x->device != y->device) {
        (void)snprintf(left, sizeof(left), "%" PRIu32, m->devices[x->device].device);
        (void)snprintf(right, sizeof(right), "%" PRIu32, m->devices[y->device].device);
        order = strcmp(left, right);
    }
    return order != 0 ? order : *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static void ap__summary_row(ap__csv *c, const ap__model *m, const ap__task *t,
                            const ap__task *before, ap__metric_set set)
{
    const ap__node *node = ap__task_node(m, t);
    const char *hf32 = node->hf32 != 0 ? ap__reader_hash_text(m->reader, node->hf32) : NULL;
    char wait[40] = "0";

    /* unlike the vendor's parser, a device does not wait for another */
    if (before != NULL && before->device == t->device) {
        (void)snprintf(
            wait, sizeof(wait), "%f",
            t->start_ns > before->end_ns ? (double)(t->start_ns - before->end_ns) / 1000.0 : 0.0);
    }
    ap__csv_row(c);
    ap__csv_u64(c, m->devices[t->device].device);
    ap__csv_u64(c, m->tracks[t->track].model != AP_NONE ? m->tracks[t->track].model : AP_NO_MODEL);
    ap__csv_u64(c, t->task);
    ap__csv_u64(c, t->stream);
    ap__csv_text(c, ap__reader_hash_text(m->reader, node->name));
    ap__csv_text(c, ap__reader_hash_text(m->reader, node->op_type));
    ap__csv_raw(c, "dynamic");
    ap__csv_text(c, ap__task_type(m, t));
    ap__csv_time(c, t->start_ns);
    ap__csv_us(c, t->end_ns - t->start_ns);
    ap__csv_raw(c, wait);
    ap__csv_u64(c, node->blocks & 0xFFFF);
    ap__csv_u64(c, (uint64_t)(node->blocks & 0xFFFF) * (node->blocks >> 16));
    ap__csv_raw(c, hf32 == NULL                                            ? "NO"
                   : strcmp(hf32, "hf32:1") == 0 || strcmp(hf32, "1") == 0 ? "YES"
                                                                           : "NO");
    ap__tensor_fields(c, m, node, 0);
    ap__tensor_fields(c, m, node, 1);
    ap__csv_raw(c, "N/A");
    if (set != AP_METRICS_NONE) {
        ap__counter_fields(c, m, t, set);
    }
}

int ap__csv_op_summary(ap__export *e, const ap__model *m)
{
    static const char *const headers[] = {AP_SUMMARY_BASE, AP_SUMMARY_BASE AP_SUMMARY_PIPE,
                                          AP_SUMMARY_BASE AP_SUMMARY_TOTALS};
    ap__metric_set set = ap__metrics_of(m);
    uint32_t *order = calloc((size_t)m->task_count + 1, sizeof(*order));
    const ap__task *before = NULL;
    ap__csv *c = NULL;
    uint32_t count = 0;

    if (order == NULL) {
        ap__export_failed(e, "op_summary", ENOMEM);
        return ENOMEM;
    }
    for (uint32_t i = 0; i < m->task_count; i++) {
        if (ap__task_node(m, &m->tasks[i]) != NULL) {
            order[count++] = i;
        }
    }
    qsort_r(order, count, sizeof(*order), ap__device_order, (void *)(uintptr_t)m);
    c = ap__csv_begin(e, "op_summary", headers[set], count);
    for (uint32_t i = 0; c != NULL && i < count; i++) {
        ap__summary_row(c, m, &m->tasks[order[i]], before, set);
        before = &m->tasks[order[i]];
    }
    free(order);
    return c != NULL ? ap__csv_end(c) : ENOMEM;
}

/* ---- op_statistic ---- */

typedef struct ap__op_sum {
    uint32_t device; /* number */
    const char *op_type;
    const char *core;
    uint64_t count;
    uint64_t total_ns;
    uint64_t min_ns;
    uint64_t max_ns;
} ap__op_sum;

static int ap__sums_by_key(const void *a, const void *b)
{
    const ap__op_sum *x = a;
    const ap__op_sum *y = b;
    int order = x->device != y->device ? (x->device < y->device ? -1 : 1) : 0;

    order = order != 0 ? order : strcmp(x->op_type, y->op_type);
    return order != 0 ? order : strcmp(x->core, y->core);
}

static int ap__sums_by_total(const void *a, const void *b)
{
    const ap__op_sum *x = a;
    const ap__op_sum *y = b;

    return x->total_ns != y->total_ns ? (x->total_ns > y->total_ns ? -1 : 1)
                                      : ap__sums_by_key(a, b);
}

/* One element for each key, sorted by total; the new count. */
static uint32_t ap__gather(ap__op_sum *sums, uint32_t count)
{
    uint32_t kept = 0;

    qsort(sums, count, sizeof(*sums), ap__sums_by_key);
    for (uint32_t i = 0; i < count; i++) {
        ap__op_sum *last = kept != 0 ? &sums[kept - 1] : NULL;

        if (last == NULL || ap__sums_by_key(last, &sums[i]) != 0) {
            sums[kept++] = sums[i];
            continue;
        }
        last->count += sums[i].count;
        last->total_ns += sums[i].total_ns;
        last->min_ns = sums[i].min_ns < last->min_ns ? sums[i].min_ns : last->min_ns;
        last->max_ns = sums[i].max_ns > last->max_ns ? sums[i].max_ns : last->max_ns;
    }
    qsort(sums, kept, sizeof(*sums), ap__sums_by_total);
    return kept;
}

int ap__csv_op_statistic(ap__export *e, const ap__model *m)
{
    ap__op_sum *sums = calloc((size_t)m->task_count + 1, sizeof(*sums));
    uint32_t count = 0;
    ap__csv *c = NULL;

    if (sums == NULL) {
        ap__export_failed(e, "op_statistic", ENOMEM);
        return ENOMEM;
    }
    for (uint32_t i = 0; i < m->task_count; i++) {
        const ap__task *t = &m->tasks[i];
        const ap__node *node = ap__task_node(m, t);
        const char *type = node != NULL ? ap__reader_hash_text(m->reader, node->op_type) : NULL;
        uint64_t ns = t->end_ns - t->start_ns;

        if (type != NULL) {
            sums[count++] = (ap__op_sum){
                m->devices[t->device].device, type, ap__task_type(m, t), 1, ns, ns, ns};
        }
    }
    count = ap__gather(sums, count);
    c = ap__csv_begin(e, "op_statistic",
                      "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),"
                      "Max Time(us),Ratio(%)",
                      count);
    for (uint32_t i = 0; c != NULL && i < count; i++) {
        const ap__op_sum *s = &sums[i];
        uint64_t all = 0;

        for (uint32_t k = 0; k < count; k++) {
            all += sums[k].device == s->device ? sums[k].total_ns : 0;
        }
        ap__csv_row(c);
        ap__csv_u64(c, s->device);
        ap__csv_text(c, s->op_type);
        ap__csv_text(c, s->core);
        ap__csv_u64(c, s->count);
        ap__csv_short(c, (double)s->total_ns / 1000.0);
        ap__csv_short(c, (double)s->min_ns / 1000.0);
        ap__csv_short(c, (double)s->total_ns / 1000.0 / (double)s->count);
        ap__csv_short(c, (double)s->max_ns / 1000.0);
        ap__csv_short(c, all != 0 ? 100.0 * (double)s->total_ns / (double)all : 0);
    }
    free(sums);
    return c != NULL ? ap__csv_end(c) : ENOMEM;
}
