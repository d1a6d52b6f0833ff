/* SPDX-License-Identifier: Apache-2.0 */
/* What the devices did: task_time, op_summary, op_statistic. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bulk.h"
#include "analysis/stats.h"
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

#define AP_SUMMARY_START                                                                           \
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start "          \
    "Time(us),Task Duration(us),Task Wait Time(us),Block Num,"
#define AP_SUMMARY_TENSORS                                                                         \
    "HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data "         \
    "Types,Output Formats"
#define AP_SUMMARY_BASE AP_SUMMARY_START "Mix Block Num," AP_SUMMARY_TENSORS ",Context ID"
#define AP_SUMMARY_910 AP_SUMMARY_START AP_SUMMARY_TENSORS

#define AP_AIC_PIPE                                                                                \
    ",aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,aic_scalar_time(us),"        \
    "aic_scalar_ratio,aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,"          \
    "aic_mte3_time(us),aic_mte3_ratio,"
#define AP_AIV_PIPE                                                                                \
    "aic_icache_miss_rate,aiv_time(us),aiv_total_cycles,"                                          \
    "aiv_vec_time(us),aiv_vec_ratio,aiv_scalar_time(us),aiv_scalar_ratio,aiv_mte2_time(us),"       \
    "aiv_mte2_ratio,aiv_mte3_time(us),aiv_mte3_ratio,aiv_icache_miss_rate,cube_utilization(%)"
#define AP_PIPE_910                                                                                \
    ",aicore_time(us),total_cycles,vec_time(us),vec_ratio,mac_time(us),mac_ratio,scalar_time(us)," \
    "scalar_ratio,mte1_time(us),mte1_ratio,mte2_time(us),mte2_ratio,mte3_time(us),mte3_ratio,"     \
    "icache_miss_rate,memory_bound,cube_utilization(%)"

/* Positions in the counters of PipeUtilization: events 0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55 or, on the
 * 950, 0x501,0x301,0x1,0x701,0x202,0x203,0x34,0x35,0x714. */
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

typedef enum ap__chip_class { AP_CHIP_910, AP_CHIP_910B, AP_CHIP_950 } ap__chip_class;
typedef enum ap__metric_set {
    AP_METRICS_NONE,
    AP_METRICS_PIPE,
    AP_METRICS_OTHER, /* totals only: what a count stands for is not known of the bandwidth sets */
    AP_METRICS_ARITHMETIC,
    AP_METRICS_CONFLICT,
    AP_METRICS_L2
} ap__metric_set;

/* The columns of an op_summary. */
typedef struct ap__columns {
    ap__chip_class chip;
    ap__metric_set set;
    const char *header;
    uint32_t counters; /* how many columns they have */
} ap__columns;

#define AP_AIC_TOTAL ",aicore_time(us),aic_total_cycles"
#define AP_AIV_TOTAL ",aiv_time(us),aiv_total_cycles"
#define AP_L2_OF(core)                                                                             \
    "," core "_write_cache_hit," core "_write_cache_miss_allocate," core "_r0_read_cache_hit,"     \
    core "_r0_read_cache_miss_allocate," core "_r1_read_cache_hit," core                           \
    "_r1_read_cache_miss_allocate"

/* Further sets of the 910B class. */
static const ap__columns ap__more_columns[] = {
    {AP_CHIP_910B, AP_METRICS_ARITHMETIC,
     AP_SUMMARY_BASE AP_AIC_TOTAL ",aic_mac_fp16_ratio,aic_mac_int8_ratio,aic_cube_fops" AP_AIV_TOTAL
                     ",aiv_vec_fp32_ratio,aiv_vec_fp16_ratio,aiv_vec_int32_ratio,"
                     "aiv_vec_misc_ratio,aiv_vector_fops",
     12},
    {AP_CHIP_910B, AP_METRICS_CONFLICT,
     AP_SUMMARY_BASE AP_AIC_TOTAL AP_AIV_TOTAL ",aiv_vec_bankgroup_cflt_ratio,"
                                               "aiv_vec_bank_cflt_ratio,aiv_vec_resc_cflt_ratio",
     7},
    {AP_CHIP_910B, AP_METRICS_L2,
     AP_SUMMARY_BASE AP_AIC_TOTAL AP_L2_OF("aic") AP_AIV_TOTAL AP_L2_OF("aiv"), 16}};

static const ap__columns ap__all_columns[3][3] = {
    {{AP_CHIP_910, AP_METRICS_NONE, AP_SUMMARY_910, 0},
     {AP_CHIP_910, AP_METRICS_PIPE, AP_SUMMARY_910 AP_PIPE_910, 17},
     {AP_CHIP_910, AP_METRICS_OTHER, AP_SUMMARY_910 ",aicore_time(us),total_cycles", 2}},
    {{AP_CHIP_910B, AP_METRICS_NONE, AP_SUMMARY_BASE, 0},
     {AP_CHIP_910B, AP_METRICS_PIPE, AP_SUMMARY_BASE AP_AIC_PIPE AP_AIV_PIPE, 25},
     {AP_CHIP_910B, AP_METRICS_OTHER,
      AP_SUMMARY_BASE ",aicore_time(us),aic_total_cycles,aiv_time(us),aiv_total_cycles", 4}},
    {{AP_CHIP_950, AP_METRICS_NONE, AP_SUMMARY_BASE, 0},
     {AP_CHIP_950, AP_METRICS_PIPE,
      AP_SUMMARY_BASE AP_AIC_PIPE "aic_fixpipe_time(us),aic_fixpipe_ratio," AP_AIV_PIPE, 27},
     {AP_CHIP_950, AP_METRICS_OTHER,
      AP_SUMMARY_BASE ",aicore_time(us),aic_total_cycles,aiv_time(us),aiv_total_cycles", 4}}};

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

static void ap__unknown(ap__csv *c, uint32_t fields)
{
    for (uint32_t i = 0; i < fields; i++) {
        ap__csv_raw(c, "N/A");
    }
}

static void ap__pipe_910(ap__csv *c, const ap__core_time *t, double cube)
{
    static const int parts[] = {AP_VEC, AP_MAC, AP_SCALAR, AP_MTE1, AP_MTE2, AP_MTE3};
    const uint64_t *v = t->counters->values;
    uint64_t busy = v[AP_VEC] > v[AP_MAC] ? v[AP_VEC] : v[AP_MAC];

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        ap__part(c, t, parts[i]);
    }
    ap__misses(c, t);
    ap__csv_round(c, busy != 0 ? (double)v[AP_MTE2] / (double)busy : 0);
    ap__csv_round(c, cube);
}

static void ap__pipe(ap__csv *c, const ap__core_time *aic, const ap__core_time *aiv, bool fixpipe,
                     double cube)
{
    char text[32];

    ap__part(c, aic, AP_MAC);
    ap__part(c, aic, AP_SCALAR);
    ap__part(c, aic, AP_MTE1);
    ap__part(c, aic, AP_MTE2);
    ap__part(c, aic, AP_MTE3);
    if (fixpipe) {
        ap__part(c, aic, AP_FIXPIPE);
    }
    ap__misses(c, aic);
    ap__totals(c, aiv);
    ap__part(c, aiv, AP_VEC);
    ap__part(c, aiv, AP_SCALAR);
    ap__part(c, aiv, AP_MTE2);
    ap__part(c, aiv, AP_MTE3);
    ap__misses(c, aiv);
    (void)snprintf(text, sizeof(text), "%.3f", cube);
    ap__csv_raw(c, text);
}

/* One counter's share of the cycles, or of two together. */
static void ap__share(ap__csv *c, const ap__core_time *t, int counter, int other)
{
    const ap__counters *n = t->counters;
    uint64_t sum = n != NULL ? n->values[counter] + (other >= 0 ? n->values[other] : 0) : 0;

    ap__csv_round(c, n != NULL && n->cycles != 0 ? (double)sum / (double)n->cycles : 0.0);
}

/* Events 0x49 to 0x4f: cube fp16, int8; vector fp32, fp16 of 128 and of 64 lanes, int32, others. How
 * many operations one of them stands for is not known: N/A. */
static void ap__arithmetic(ap__csv *c, const ap__core_time *aic, const ap__core_time *aiv)
{
    ap__share(c, aic, 0, -1);
    ap__share(c, aic, 1, -1);
    ap__csv_raw(c, "N/A");
    ap__totals(c, aiv);
    ap__share(c, aiv, 2, -1);
    ap__share(c, aiv, 3, 4);
    ap__share(c, aiv, 5, -1);
    ap__share(c, aiv, 6, -1);
    ap__csv_raw(c, "N/A");
}

/* Events 0x64 to 0x66. */
static void ap__conflicts(ap__csv *c, const ap__core_time *aiv)
{
    ap__totals(c, aiv);
    for (int i = 0; i < 3; i++) {
        ap__share(c, aiv, i, -1);
    }
}

/* Events 0x500 to 0x50a: counts. */
static void ap__l2(ap__csv *c, const ap__core_time *aic, const ap__core_time *aiv)
{
    for (int core = 0; core < 2; core++) {
        const ap__core_time *t = core == 0 ? aic : aiv;

        if (core == 1) {
            ap__totals(c, aiv);
        }
        for (int i = 0; i < 6; i++) {
            ap__csv_u64(c, t->counters != NULL ? t->counters->values[i] : 0);
        }
    }
}

static void ap__counter_fields(ap__csv *c, const ap__model *m, const ap__task *task,
                               const ap__columns *columns)
{
    const ap__device_view *d = &m->devices[task->device];
    const ap__counters *n = task->counters != AP_NONE ? &m->counters[task->counters] : NULL;
    const ap__node *node = ap__task_node(m, task);
    double blocks = node != NULL && (node->blocks & 0xFFFF) != 0 ? node->blocks & 0xFFFF : 1;
    uint32_t mhz = n != NULL ? ap__task_mhz(m, task, n->vector) : 0;
    ap__core_time none = {0, NULL};
    ap__core_time time = {0, n};
    double cube = 0;

    if (n == NULL) {
        ap__unknown(c, columns->counters);
        return;
    }
    if (n->ns != 0) {
        time.us = (double)n->ns / 1000.0;
    } else if (mhz != 0) {
        time.us = (double)n->cycles / mhz / blocks;
    }
    if (!n->vector && mhz != 0 && d->aic_num != 0 && task->end_ns > task->start_ns) {
        cube = (double)n->cycles / mhz / d->aic_num * 100.0 * 1000.0 /
               (double)(task->end_ns - task->start_ns);
    }
    ap__totals(c, n->vector ? &none : &time);
    if (columns->chip == AP_CHIP_910 && columns->set == AP_METRICS_PIPE) {
        ap__pipe_910(c, &time, cube);
    } else if (columns->set == AP_METRICS_PIPE) {
        ap__pipe(c, n->vector ? &none : &time, n->vector ? &time : &none,
                 columns->chip == AP_CHIP_950, cube);
    } else if (columns->set == AP_METRICS_ARITHMETIC) {
        ap__arithmetic(c, n->vector ? &none : &time, n->vector ? &time : &none);
    } else if (columns->set == AP_METRICS_CONFLICT) {
        ap__conflicts(c, n->vector ? &time : &none);
    } else if (columns->set == AP_METRICS_L2) {
        ap__l2(c, n->vector ? &none : &time, n->vector ? &time : &none);
    } else if (columns->chip != AP_CHIP_910) {
        ap__totals(c, n->vector ? &time : &none);
    }
}

/* All devices of a machine are of one kind: the first says which. */
static const ap__columns *ap__columns_of(const ap__model *m)
{
    uint32_t chip = m->device_count != 0 ? m->devices[0].chip : 0;
    ap__chip_class class = chip >= 15 ? AP_CHIP_950 : chip >= 5 ? AP_CHIP_910B : AP_CHIP_910;
    ap__metric_set set = m->counters_count != 0 ? AP_METRICS_OTHER : AP_METRICS_NONE;

    static const struct {
        const char *name;
        ap__metric_set set;
    } sets[] = {{"ArithmeticUtilization", AP_METRICS_ARITHMETIC},
                {"ResourceConflictRatio", AP_METRICS_CONFLICT},
                {"L2Cache", AP_METRICS_L2}};
    const char *metrics = m->device_count != 0 ? m->devices[0].metrics : "";

    for (uint32_t i = 0; m->counters_count != 0 && i < m->device_count; i++) {
        if (strstr(m->devices[i].metrics, "PipeUtilization") != NULL) {
            set = AP_METRICS_PIPE;
        }
    }
    for (size_t i = 0; set == AP_METRICS_OTHER && class == AP_CHIP_910B && i < 3; i++) {
        if (strcmp(metrics, sets[i].name) == 0) {
            return &ap__more_columns[i];
        }
    }
    return &ap__all_columns[class][set];
}

/* A row to come: a task, or a communication operator as a whole. */
typedef struct ap__summary_ref {
    uint64_t start_ns;
    uint32_t index;
    uint32_t device; /* its number */
    bool whole;
} ap__summary_ref;

/* By device as text, then by start. */
static int ap__summary_order(const void *a, const void *b)
{
    const ap__summary_ref *x = a;
    const ap__summary_ref *y = b;
    char left[12];
    char right[12];

    if (x->device != y->device) {
        (void)snprintf(left, sizeof(left), "%" PRIu32, x->device);
        (void)snprintf(right, sizeof(right), "%" PRIu32, y->device);
        return strcmp(left, right);
    }
    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    if (x->whole != y->whole) {
        return x->whole ? 1 : -1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

/* How long the device has waited since the last row's end. */
static void ap__wait_field(ap__csv *c, bool first, uint64_t start_ns, uint64_t last_end_ns)
{
    char wait[40] = "0";

    if (!first) {
        (void)snprintf(wait, sizeof(wait), "%f",
                       start_ns > last_end_ns ? (double)(start_ns - last_end_ns) / 1000.0 : 0.0);
    }
    ap__csv_raw(c, wait);
}

static uint64_t ap__model_of(const ap__model *m, uint32_t track)
{
    return m->tracks[track].model != AP_NONE ? m->tracks[track].model : AP_NO_MODEL;
}

static void ap__task_row(ap__csv *c, const ap__model *m, const ap__task *t, bool first,
                         uint64_t last_end_ns, const ap__columns *columns)
{
    const ap__node *node = ap__task_node(m, t);
    const char *hf32 = node->hf32 != 0 ? ap__reader_hash_text(m->reader, node->hf32) : NULL;

    ap__csv_row(c);
    ap__csv_u64(c, m->devices[t->device].device);
    ap__csv_u64(c, ap__model_of(m, t->track));
    ap__csv_u64(c, t->task);
    ap__csv_u64(c, t->stream);
    ap__csv_text(c, ap__reader_hash_text(m->reader, node->name));
    ap__csv_text(c, ap__reader_hash_text(m->reader, node->op_type));
    ap__csv_raw(c, "dynamic");
    ap__csv_text(c, ap__task_type(m, t));
    ap__csv_time(c, t->start_ns);
    ap__csv_us(c, t->end_ns - t->start_ns);
    ap__wait_field(c, first, t->start_ns, last_end_ns);
    ap__csv_u64(c, node->blocks & 0xFFFF);
    if (columns->chip != AP_CHIP_910) {
        ap__csv_u64(c, (uint64_t)(node->blocks & 0xFFFF) * (node->blocks >> 16));
    }
    ap__csv_raw(c, hf32 == NULL                                            ? "NO"
                   : strcmp(hf32, "hf32:1") == 0 || strcmp(hf32, "1") == 0 ? "YES"
                                                                           : "NO");
    ap__tensor_fields(c, m, node, 0);
    ap__tensor_fields(c, m, node, 1);
    ap__unknown(c, columns->chip != AP_CHIP_910);
    if (columns->set != AP_METRICS_NONE) {
        ap__counter_fields(c, m, t, columns);
    }
}

static void ap__comm_row(ap__csv *c, const ap__model *m, const ap__comm_op *op, bool first,
                         uint64_t last_end_ns, const ap__columns *columns)
{
    char name[512];

    ap__comm_op_name(m, op, name, sizeof(name));
    ap__csv_row(c);
    ap__csv_u64(c, m->devices[op->device].device);
    ap__csv_u64(c, ap__model_of(m, op->track));
    ap__unknown(c, 2);
    ap__csv_text(c, name);
    ap__csv_text(c, ap__reader_hash_text(m->reader, m->nodes[op->node].op_type));
    ap__csv_raw(c, "N/A");
    ap__csv_raw(c, "COMMUNICATION");
    ap__csv_time(c, op->start_ns);
    ap__csv_us(c, op->end_ns - op->start_ns);
    ap__wait_field(c, first, op->start_ns, last_end_ns);
    ap__csv_raw(c, "0");
    ap__unknown(c, (columns->chip != AP_CHIP_910 ? 9 : 7) + columns->counters);
}

static int ap__summary_refs(const ap__model *m, ap__summary_ref **refs, uint32_t *count)
{
    for (uint32_t i = 0; i < m->task_count + m->comm_op_count; i++) {
        bool whole = i >= m->task_count;
        const ap__comm_op *op = whole ? &m->comm_ops[i - m->task_count] : NULL;
        const ap__task *t = whole ? NULL : &m->tasks[i];
        ap__summary_ref *r = NULL;

        if (!whole && ap__task_node(m, t) == NULL) {
            continue;
        }
        r = ap__bulk_push((void **)refs, count, sizeof(*r));
        if (r == NULL) {
            return ENOMEM;
        }
        *r = (ap__summary_ref){whole ? op->start_ns : t->start_ns, whole ? i - m->task_count : i,
                               m->devices[whole ? op->device : t->device].device, whole};
    }
    return ap__bulk_sort((void **)refs, *count, sizeof(**refs), ap__summary_order);
}

int ap__csv_op_summary(ap__export *e, const ap__model *m)
{
    const ap__columns *columns = ap__columns_of(m);
    ap__summary_ref *refs = NULL;
    ap__csv *c = NULL;
    uint32_t count = 0;
    uint64_t last_end = 0;
    int rc = ap__summary_refs(m, &refs, &count);

    if (rc != 0) {
        ap__export_failed(e, "op_summary", rc);
        ap__bulk_free(refs);
        return rc;
    }
    c = ap__csv_begin(e, "op_summary", columns->header, count);
    for (uint32_t i = 0; c != NULL && i < count; i++) {
        /* unlike the vendor's parser, a device does not wait for another */
        bool first = i == 0 || refs[i].device != refs[i - 1].device;

        if (refs[i].whole) {
            ap__comm_row(c, m, &m->comm_ops[refs[i].index], first, last_end, columns);
            last_end = m->comm_ops[refs[i].index].end_ns;
        } else {
            ap__task_row(c, m, &m->tasks[refs[i].index], first, last_end, columns);
            last_end = m->tasks[refs[i].index].end_ns;
        }
    }
    ap__bulk_free(refs);
    return c != NULL ? ap__csv_end(c) : ENOMEM;
}

/* ---- op_statistic, communication_statistic ---- */

/* Rows: key[0] is the device's number, key[1] and key[2] are addresses of texts. */
static const char *ap__text_of(uint64_t key)
{
    return (const char *)(uintptr_t)key;
}

static int ap__stat_texts(const ap__stat *x, const ap__stat *y)
{
    int order = strcmp(ap__text_of(x->key[1]), ap__text_of(y->key[1]));

    return order != 0 ? order : strcmp(ap__text_of(x->key[2]), ap__text_of(y->key[2]));
}

static int ap__stats_by_key(const void *a, const void *b)
{
    const ap__stat *x = a;
    const ap__stat *y = b;

    return x->key[0] != y->key[0] ? (x->key[0] < y->key[0] ? -1 : 1) : ap__stat_texts(x, y);
}

static int ap__stats_by_total(const void *a, const void *b)
{
    const ap__stat *x = a;
    const ap__stat *y = b;

    return x->total_ns != y->total_ns ? (x->total_ns > y->total_ns ? -1 : 1)
                                      : ap__stats_by_key(a, b);
}

/* Several ids may have one text: one element for each text, by total. */
static int ap__gather(ap__stats *s)
{
    uint32_t kept = 0;
    int rc = ap__bulk_sort((void **)&s->list, s->count, sizeof(*s->list), ap__stats_by_key);

    for (uint32_t i = 0; rc == 0 && i < s->count; i++) {
        if (kept != 0 && ap__stats_by_key(&s->list[kept - 1], &s->list[i]) == 0) {
            ap__stat_merge(&s->list[kept - 1], &s->list[i]);
        } else {
            s->list[kept++] = s->list[i];
        }
    }
    s->count = rc == 0 ? kept : s->count;
    return rc != 0 ? rc
                   : ap__bulk_sort((void **)&s->list, kept, sizeof(*s->list), ap__stats_by_total);
}

/* `all`: what the device took, in all. */
static void ap__statistic_row(ap__csv *c, const ap__stat *t, uint64_t all, bool core)
{
    ap__csv_row(c);
    ap__csv_u64(c, t->key[0]);
    ap__csv_text(c, ap__text_of(t->key[1]));
    if (core) {
        ap__csv_text(c, ap__text_of(t->key[2]));
    }
    ap__csv_u64(c, t->count);
    ap__csv_short(c, (double)t->total_ns / 1000.0);
    ap__csv_short(c, (double)t->min_ns / 1000.0);
    ap__csv_short(c, (double)t->total_ns / 1000.0 / (double)t->count);
    ap__csv_short(c, (double)t->max_ns / 1000.0);
    ap__csv_short(c, all != 0 ? 100.0 * (double)t->total_ns / (double)all : 0);
}

static int ap__statistic(ap__export *e, ap__stats *s, int rc, bool core)
{
    const char *type = core ? "op_statistic" : "communication_statistic";
    ap__stats devices = {.count = 0};
    ap__csv *c = NULL;

    rc = rc != 0 ? rc : ap__gather(s);
    if (rc != 0) {
        ap__export_failed(e, type, rc);
        ap__stats_free(s);
        return rc;
    }
    c = ap__csv_begin(e, type,
                      core ? "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg "
                             "Time(us),Max Time(us),Ratio(%)"
                           : "Device_id,OP Type,Count,Total Time(us),Min Time(us),Avg "
                             "Time(us),Max Time(us),Ratio(%)",
                      s->count);
    for (uint32_t i = 0; rc == 0 && i < s->count; i++) {
        const ap__stat *t = &s->list[i];

        rc = ap__stats_add(&devices, (const uint64_t[]){t->key[0], 0, 0}, t->total_ns);
    }
    for (uint32_t i = 0; c != NULL && rc == 0 && i < s->count; i++) {
        uint32_t k = 0;

        while (devices.list[k].key[0] != s->list[i].key[0]) {
            k++; /* of a few */
        }
        ap__statistic_row(c, &s->list[i], devices.list[k].total_ns, core);
    }
    ap__stats_free(&devices);
    ap__stats_free(s);
    return ap__csv_finish(c, rc);
}

int ap__csv_op_statistic(ap__export *e, const ap__model *m)
{
    ap__stats s = {.count = 0};
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < m->task_count; i++) {
        const ap__task *t = &m->tasks[i];
        const ap__node *node = ap__task_node(m, t);
        const char *type = node != NULL ? ap__reader_hash_text(m->reader, node->op_type) : NULL;

        ap__bulk_step();
        if (type != NULL) {
            rc = ap__stats_add(&s,
                               (const uint64_t[]){m->devices[t->device].device, (uintptr_t)type,
                                                  (uintptr_t)ap__task_type(m, t)},
                               t->end_ns - t->start_ns);
        }
    }
    return ap__statistic(e, &s, rc, true);
}

int ap__csv_communication_statistic(ap__export *e, const ap__model *m)
{
    ap__stats s = {.count = 0};
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < m->comm_op_count; i++) {
        const ap__comm_op *op = &m->comm_ops[i];
        const char *type = ap__reader_hash_text(m->reader, m->nodes[op->node].op_type);

        if (type != NULL) {
            rc = ap__stats_add(
                &s,
                (const uint64_t[]){m->devices[op->device].device, (uintptr_t)type, (uintptr_t) ""},
                op->end_ns - op->start_ns);
        }
    }
    return ap__statistic(e, &s, rc, false);
}
