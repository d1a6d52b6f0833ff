/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: npu_mem, npu_module_mem, memory_record, operator_memory, static_op_mem. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bulk.h"
#include "format/wire_host.h"
#include "tool/csv.h"
#include "tool/raw_files.h"

#define AP_TYPE_TASK_MEMORY 6u
#define AP_TYPE_STATIC_MEMORY 11u

typedef struct ap__table {
    ap__csv *c;
    const ap__model *m;
} ap__table;

/* Rows that belong to no device in particular: the first device, as the vendor's parser has it. */
static void ap__any_device(ap__csv *c, const ap__model *m)
{
    if (m->device_count != 0) {
        ap__csv_u64(c, m->devices[0].device);
    } else {
        ap__csv_raw(c, "host");
    }
}

static void ap__npu_field(ap__csv *c, uint32_t device)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "NPU:%" PRIu32, device);
    ap__csv_raw(c, text);
}

static void ap__kb(ap__csv *c, uint64_t bytes)
{
    ap__csv_round(c, (double)bytes / 1024.0);
}

/* ---- npu_mem ---- */

static int ap__npu_row(void *context, uint32_t device, ap__blob record)
{
    const ap__table *t = context;
    const ap__device_view *d = &t->m->devices[device];
    uint64_t ddr = ap__blob_u64(record, 16);
    uint64_t hbm = ap__blob_u64(record, 24);
    uint64_t us = ap__blob_u32(record, 0);

    ap__csv_row(t->c);
    ap__csv_u64(t->c, d->device);
    ap__csv_raw(t->c, ap__blob_u32(record, 4) == 0 ? "APP" : "Device");
    ap__csv_u64(t->c, ddr / 1024);
    ap__csv_u64(t->c, hbm / 1024);
    ap__csv_u64(t->c, ddr / 1024 + hbm / 1024);
    ap__csv_time(t->c, ap__host_clock_wall_ns(&d->clock, d->clock.mono_raw_ns + us * 1000));
    return 0;
}

int ap__csv_npu_mem(ap__export *e, const ap__model *m)
{
    ap__table t = {
        ap__csv_begin(e, "npu_mem", "Device_id,event,ddr(KB),hbm(KB),memory(KB),timestamp(us)", 0),
        m};
    int rc = t.c != NULL ? 0 : ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < m->device_count; i++) {
        rc = ap__each_record(m, i, "npu_mem.data", 32, ap__npu_row, &t);
        rc = rc != 0 ? rc : ap__each_record(m, i, "npu_mem.app", 32, ap__npu_row, &t);
    }
    return ap__csv_finish(t.c, rc);
}

/* ---- npu_module_mem ---- */

typedef struct ap__module_row {
    uint64_t ns;
    uint64_t bytes;
    uint32_t module;
    uint32_t device;
} ap__module_row;

typedef struct ap__module_rows {
    const ap__model *m;
    ap__module_row *list;
    uint32_t count;
} ap__module_rows;

static int ap__by_module(const void *a, const void *b)
{
    const ap__module_row *x = a;
    const ap__module_row *y = b;

    if (x->module != y->module) {
        return x->module < y->module ? -1 : 1;
    }
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static int ap__take_module(void *context, uint32_t device, ap__blob record)
{
    ap__module_rows *rows = context;
    ap__module_row *r = ap__bulk_push((void **)&rows->list, &rows->count, sizeof(*r));
    const ap__host_clock *clock = &ap__reader_meta(rows->m->reader)->clock;

    if (r == NULL) {
        return ENOMEM;
    }
    *r = (ap__module_row){
        .ns = ap__host_clock_wall_ns(clock, ap__host_clock_ns(clock, ap__blob_u64(record, 8))),
        .bytes = ap__blob_u64(record, 16),
        .module = ap__blob_u32(record, 0),
        .device = rows->m->devices[device].device};
    return 0;
}

/* CANN's module numbers. */
static const char *ap__module_name(uint32_t module)
{
    static const char *const names[] = {[0] = "SLOG",       [1] = "IDEDD",
                                        [2] = "SCC",        [3] = "HCCL",
                                        [4] = "FMK",        [5] = "CCU",
                                        [6] = "DVPP",       [7] = "RUNTIME",
                                        [8] = "CCE",        [9] = "HDC",
                                        [10] = "DRV",       [11] = "NET",
                                        [22] = "DEVMM",     [23] = "KERNEL",
                                        [24] = "LIBMEDIA",  [25] = "CCECPU",
                                        [27] = "ROS",       [28] = "HCCP",
                                        [29] = "ROCE",      [30] = "TEFUSION",
                                        [31] = "PROFILING", [32] = "DP",
                                        [33] = "APP",       [34] = "TS",
                                        [35] = "TSDUMP",    [36] = "AICPU",
                                        [37] = "LP",        [38] = "TDT",
                                        [39] = "FE",        [40] = "MD",
                                        [41] = "MB",        [42] = "ME",
                                        [43] = "IMU",       [44] = "IMP",
                                        [45] = "GE",        [47] = "CAMERA",
                                        [48] = "ASCENDCL",  [49] = "TEEOS",
                                        [50] = "ISP",       [51] = "SIS",
                                        [52] = "HSM",       [53] = "DSS",
                                        [54] = "PROCMGR",   [55] = "BBOX",
                                        [56] = "AIVECTOR",  [57] = "TBE",
                                        [58] = "FV",        [59] = "MDCMAP",
                                        [60] = "TUNE",      [61] = "HSS",
                                        [62] = "FFTS",      [63] = "OP",
                                        [64] = "UDF",       [65] = "HICAID",
                                        [66] = "TSYNC",     [67] = "AUDIO",
                                        [68] = "TPRT",      [69] = "ASCENDCKERNEL",
                                        [70] = "ASYS",      [71] = "ATRACE",
                                        [72] = "RTC",       [73] = "SYSMONITOR",
                                        [74] = "AMP",       [75] = "ADETECT",
                                        [76] = "MBUFF",     [77] = "CUSTOM"};

    return module < sizeof(names) / sizeof(names[0]) && names[module] != NULL ? names[module]
                                                                              : "Unknown";
}

int ap__csv_npu_module_mem(ap__export *e, const ap__model *m)
{
    ap__module_rows rows = {.m = m};
    ap__csv *c = NULL;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < m->device_count; i++) {
        rc = ap__each_record(m, i, "npu_module_mem.data", 24, ap__take_module, &rows);
    }
    rc = rc != 0
             ? rc
             : ap__bulk_sort((void **)&rows.list, rows.count, sizeof(*rows.list), ap__by_module);
    c = ap__csv_begin(e, "npu_module_mem",
                      "Device_id,Component,Timestamp(us),Total Reserved(KB),Device", rows.count);
    for (uint32_t i = 0; c != NULL && rc == 0 && i < rows.count; i++) {
        const ap__module_row *r = &rows.list[i];

        ap__csv_row(c);
        ap__csv_u64(c, r->device);
        ap__csv_raw(c, ap__module_name(r->module));
        ap__csv_time(c, r->ns);
        ap__csv_u64(c, r->bytes / 1024);
        ap__npu_field(c, r->device);
    }
    ap__bulk_free(rows.list);
    return ap__csv_finish(c, rc);
}

/* ---- memory_record, operator_memory ---- */

typedef struct ap__allocation {
    uint64_t ns;
    uint64_t address;
    int64_t size; /* negative: given back */
    uint64_t node;
    uint64_t allocated;
    uint64_t reserved;
    uint64_t end_ns; /* of one that has been given back, else 0 */
    uint64_t end_allocated;
    uint64_t end_reserved;
    uint32_t device;
} ap__allocation;

typedef struct ap__allocations {
    const ap__model *m;
    ap__allocation *list;
    uint32_t count;
} ap__allocations;

static int ap__take_allocation(void *context, const ap__raw_record *r)
{
    ap__allocations *a = context;
    ap__allocation *x = ap__bulk_push((void **)&a->list, &a->count, sizeof(*x));

    if (x == NULL) {
        return ENOMEM;
    }
    *x = (ap__allocation){.ns = ap__reader_wall_ns(a->m->reader, r->begin_ns),
                          .address = ap__blob_u64(r->payload, 0),
                          .size = (int64_t)ap__blob_u64(r->payload, 8),
                          .node = ap__blob_u64(r->payload, 16),
                          .allocated = ap__blob_u64(r->payload, 24),
                          .reserved = ap__blob_u64(r->payload, 32),
                          .device = ap__blob_u32(r->payload, 40)};
    return 0;
}

static int ap__by_time(const void *a, const void *b)
{
    const ap__allocation *x = a;
    const ap__allocation *y = b;

    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static int ap__by_address(const void *a, const void *b)
{
    const ap__allocation *x = a;
    const ap__allocation *y = b;

    if (x->device != y->device) {
        return x->device < y->device ? -1 : 1;
    }
    if (x->address != y->address) {
        return x->address < y->address ? -1 : 1;
    }
    return ap__by_time(a, b);
}

static int ap__read_allocations(const ap__model *m, ap__allocations *a,
                                int (*order)(const void *, const void *))
{
    int rc = ap__each_host_record(m, AP_RECORD_ADDITIONAL, AP_LEVEL_NODE, AP_TYPE_TASK_MEMORY,
                                  ap__take_allocation, a);

    return rc != 0 ? rc : ap__bulk_sort((void **)&a->list, a->count, sizeof(*a->list), order);
}

int ap__csv_memory_record(ap__export *e, const ap__model *m)
{
    ap__allocations a = {.m = m};
    int rc = ap__read_allocations(m, &a, ap__by_time);
    ap__csv *c = ap__csv_begin(e, "memory_record",
                               "Device_id,Component,Timestamp(us),Total Allocated(KB),Total "
                               "Reserved(KB),Device",
                               a.count);

    for (uint32_t i = 0; c != NULL && rc == 0 && i < a.count; i++) {
        ap__csv_row(c);
        ap__any_device(c, m);
        ap__csv_raw(c, "GE");
        ap__csv_time(c, a.list[i].ns);
        ap__kb(c, a.list[i].allocated);
        ap__kb(c, a.list[i].reserved);
        ap__npu_field(c, a.list[i].device);
    }
    ap__bulk_free(a.list);
    return ap__csv_finish(c, rc);
}

/* An allocation ends with the next record of its address, if that gives it back. */
static uint32_t ap__pair(ap__allocations *a)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < a->count; i++) {
        ap__allocation x = a->list[i];
        const ap__allocation *next = i + 1 < a->count ? &a->list[i + 1] : NULL;

        if (x.size <= 0) {
            continue;
        }
        if (next != NULL && next->device == x.device && next->address == x.address &&
            next->size < 0) {
            x.end_ns = next->ns;
            x.end_allocated = next->allocated;
            x.end_reserved = next->reserved;
        }
        a->list[kept++] = x;
    }
    return kept;
}

static void ap__operator_row(ap__csv *c, const ap__model *m, const ap__allocation *x)
{
    ap__csv_row(c);
    ap__any_device(c, m);
    ap__csv_text(c, ap__reader_hash_text(m->reader, x->node));
    ap__kb(c, (uint64_t)x->size);
    ap__csv_time(c, x->ns);
    if (x->end_ns != 0) {
        ap__csv_round(c, (double)(x->end_ns - x->ns) / 1000.0);
    } else {
        ap__csv_raw(c, "N/A");
    }
    ap__kb(c, x->allocated);
    ap__kb(c, x->reserved);
    if (x->end_ns != 0) {
        ap__kb(c, x->end_allocated);
        ap__kb(c, x->end_reserved);
    } else {
        ap__csv_raw(c, "N/A");
        ap__csv_raw(c, "N/A");
    }
    ap__npu_field(c, x->device);
}

int ap__csv_operator_memory(ap__export *e, const ap__model *m)
{
    ap__allocations a = {.m = m};
    int rc = ap__read_allocations(m, &a, ap__by_address);
    uint32_t count = rc == 0 ? ap__pair(&a) : 0;
    ap__csv *c = NULL;

    rc = rc != 0 ? rc : ap__bulk_sort((void **)&a.list, count, sizeof(*a.list), ap__by_time);
    c = ap__csv_begin(e, "operator_memory",
                      "Device_id,Name,Size(KB),Allocation Time(us),Duration(us),Allocation Total "
                      "Allocated(KB),Allocation Total Reserved(KB),Release Total "
                      "Allocated(KB),Release Total Reserved(KB),Device",
                      count);
    for (uint32_t i = 0; c != NULL && rc == 0 && i < count; i++) {
        ap__operator_row(c, m, &a.list[i]);
    }
    ap__bulk_free(a.list);
    return ap__csv_finish(c, rc);
}

/* ---- static_op_mem ---- */

static void ap__name_field(ap__csv *c, const ap__model *m, uint64_t id)
{
    const char *name = ap__reader_hash_text(m->reader, id);

    if (name != NULL) {
        ap__csv_text(c, name);
    } else {
        ap__csv_u64(c, id);
    }
}

static int ap__static_row(void *context, const ap__raw_record *r)
{
    const ap__table *t = context;

    ap__csv_row(t->c);
    ap__csv_raw(t->c, "host");
    ap__name_field(t->c, t->m, ap__blob_u64(r->payload, 8));
    ap__name_field(t->c, t->m, ap__blob_u64(r->payload, 40));
    ap__csv_u64(t->c, ap__blob_u32(r->payload, 48));
    ap__csv_u64(t->c, ap__blob_u64(r->payload, 16));
    ap__csv_u64(t->c, ap__blob_u64(r->payload, 24));
    ap__csv_short(t->c, (double)(int64_t)ap__blob_u64(r->payload, 0) / 1024.0);
    return 0;
}

int ap__csv_static_op_mem(ap__export *e, const ap__model *m)
{
    ap__table t = {ap__csv_begin(e, "static_op_mem",
                                 "Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node "
                                 "Index End,Size(KB)",
                                 0),
                   m};
    int rc = t.c == NULL ? ENOMEM
                         : ap__each_host_record(m, AP_RECORD_ADDITIONAL, AP_LEVEL_NODE,
                                                AP_TYPE_STATIC_MEMORY, ap__static_row, &t);

    return ap__csv_finish(t.c, rc);
}
