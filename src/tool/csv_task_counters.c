/* SPDX-License-Identifier: Apache-2.0 */
/* What counters outside the cores say of each task: l2_cache, soc_pmu, page_fault; and the AI CPU's
 * own records: aicpu, aicpu_mi, dp. */
#include <errno.h>
#include <inttypes.h>

#include "analysis/task_index.h"
#include "format/wire_host.h"
#include "tool/csv.h"
#include "tool/raw_files.h"

typedef struct ap__table {
    ap__csv *c;
    const ap__model *m;
    ap__task_index index;
} ap__table;

static double ap__ratio(uint64_t part, uint64_t whole)
{
    return whole != 0 ? (double)part / (double)whole : 0.0;
}

/* Device, stream, task. */
static void ap__task_fields(ap__table *t, uint32_t device, uint32_t stream, uint32_t task)
{
    ap__csv_row(t->c);
    ap__csv_u64(t->c, t->m->devices[device].device);
    ap__csv_u64(t->c, stream);
    ap__csv_u64(t->c, task);
}

static int ap__table_of(ap__table *t, const ap__model *m, const char *file, uint32_t bytes,
                        int (*each)(void *, uint32_t, ap__blob))
{
    int rc = t->c != NULL ? 0 : ENOMEM;
    bool there = false;

    for (uint32_t i = 0; i < m->device_count; i++) {
        there |= ap__has_file(m, i, file);
    }
    rc = rc == 0 && there ? ap__task_index_make(&t->index, m) : rc; /* large: not for nothing */
    for (uint32_t i = 0; rc == 0 && i < m->device_count; i++) {
        rc = ap__each_record(m, i, file, bytes, each, t);
    }
    ap__task_index_free(&t->index);
    return ap__csv_finish(t->c, rc);
}

/* ---- l2_cache ---- */

/* The counter of an event; 0: it has not been counted. */
static uint64_t ap__l2_count(const ap__device_view *view, ap__blob record, uint32_t event)
{
    for (uint32_t i = 0; i < view->l2_event_count; i++) {
        if (view->l2_events[i] == event) {
            return ap__blob_u64(record, 8 + i * 8u);
        }
    }
    return 0;
}

static int ap__l2_row(void *context, uint32_t device, ap__blob record)
{
    ap__table *t = context;
    const ap__device_view *view = &t->m->devices[device];
    uint32_t stream = ap__blob_u16(record, 2);
    uint32_t task = ap__blob_u16(record, 4);

    ap__task_fields(t, device, stream, task);
    if (view->chip == 1) {
        uint64_t requests = ap__l2_count(view, record, 0x59);

        ap__csv_six(t->c, ap__ratio(ap__l2_count(view, record, 0x5b), requests));
        ap__csv_six(t->c, ap__ratio(ap__l2_count(view, record, 0x5c), requests));
    } else {
        ap__csv_raw(t->c, "N/A");
        if (view->chip >= 15) {
            ap__csv_six(t->c, ap__ratio(ap__l2_count(view, record, 0x74) +
                                            ap__l2_count(view, record, 0x75),
                                        ap__l2_count(view, record, 0x00)));
        } else if (view->chip >= 5) {
            ap__csv_six(t->c, ap__ratio(ap__l2_count(view, record, 0x9c),
                                        ap__l2_count(view, record, 0xfb) +
                                            ap__l2_count(view, record, 0xfc)));
        } else {
            ap__csv_raw(t->c, "N/A");
        }
    }
    ap__csv_text(t->c, ap__task_index_name(&t->index, device, stream, task));
    return 0;
}

int ap__csv_l2_cache(ap__export *e, const ap__model *m)
{
    ap__table t = {.c =
                       ap__csv_begin(e, "l2_cache",
                                     "Device_id,Stream Id,Task Id,Hit Rate,Victim Rate,Op Name", 0),
                   .m = m};

    return ap__table_of(&t, m, "l2_cache.data", 72, ap__l2_row);
}

/* ---- soc_pmu, page_fault ---- */

enum { AP_SOC_SMMU = 2, AP_SOC_PAGE_FAULT = 4 };

typedef struct ap__soc {
    uint32_t kind;
    uint32_t stream;
    uint32_t task;
} ap__soc;

static ap__soc ap__soc_of(const ap__model *m, uint32_t device, ap__blob record)
{
    if (m->devices[device].chip >= 15) {
        return (ap__soc){ap__blob_u16(record, 6), ap__blob_u16(record, 10),
                         ap__blob_u32(record, 12)};
    }
    return (ap__soc){ap__blob_u16(record, 14), ap__blob_u16(record, 10), ap__blob_u16(record, 12)};
}

/* Events 0x2,0x8a,0x8b,0x8c,0x8d: misses, look-ups, and what was found in three ways. */
static int ap__smmu_row(void *context, uint32_t device, ap__blob record)
{
    ap__table *t = context;
    ap__soc s = ap__soc_of(t->m, device, record);
    uint64_t lookups = ap__blob_u64(record, 24);

    if (s.kind == AP_SOC_SMMU) {
        ap__task_fields(t, device, s.stream, s.task);
        ap__csv_six(t->c, ap__ratio(ap__blob_u64(record, 40) + ap__blob_u64(record, 48), lookups));
        ap__csv_six(t->c, ap__ratio(ap__blob_u64(record, 16), lookups));
        ap__csv_text(t->c, ap__task_index_name(&t->index, device, s.stream, s.task));
    }
    return 0;
}

static int ap__fault_row(void *context, uint32_t device, ap__blob record)
{
    ap__table *t = context;
    ap__soc s = ap__soc_of(t->m, device, record);

    if (s.kind == AP_SOC_PAGE_FAULT) {
        ap__task_fields(t, device, s.stream, s.task);
        ap__csv_u64(t->c, ap__blob_u64(record, 16));
        ap__csv_text(t->c, ap__task_index_name(&t->index, device, s.stream, s.task));
    }
    return 0;
}

int ap__csv_soc_pmu(ap__export *e, const ap__model *m)
{
    ap__table t = {
        .c = ap__csv_begin(e, "soc_pmu",
                           "Device_id,Stream Id,Task Id,TLB Hit Rate,TLB Miss Rate,Op Name", 0),
        .m = m};

    return ap__table_of(&t, m, "socpmu.data", 80, ap__smmu_row);
}

int ap__csv_page_fault(ap__export *e, const ap__model *m)
{
    ap__table t = {.c = ap__csv_begin(e, "page_fault",
                                      "Device Id,Stream Id,Task Id,Page Fault Num,Op Name", 0),
                   .m = m};

    return ap__table_of(&t, m, "socpmu.data", 80, ap__fault_row);
}

/* ---- aicpu, aicpu_mi, dp: additional records of the device ---- */

enum { AP_AICPU_NODE = 0, AP_AICPU_DP = 1, AP_AICPU_MI = 3 };

#define AP_DATA 24u /* of an additional record */

static bool ap__is_aicpu(ap__blob record, uint32_t type)
{
    return ap__blob_u16(record, 0) == AP_WIRE_MAGIC && ap__blob_u16(record, 2) == AP_LEVEL_AICPU &&
           ap__blob_u32(record, 4) == type;
}

/* Microseconds between two readings of the device's counter. */
static double ap__ticks_us(const ap__device_view *d, uint64_t from, uint64_t to)
{
    return to > from ? (double)(ap__device_wall_ns(d, to) - ap__device_wall_ns(d, from)) / 1000.0
                     : 0.0;
}

static int ap__aicpu_row(void *context, uint32_t device, ap__blob record)
{
    ap__table *t = context;
    const ap__device_view *d = &t->m->devices[device];
    ap__blob w = ap__blob_part(record, AP_DATA, 232);
    uint32_t stream = ap__blob_u16(w, 0);
    uint32_t task = ap__blob_u16(w, 2);
    uint64_t compute = ap__blob_u64(w, 24);
    uint64_t copy = ap__blob_u64(w, 32);
    uint64_t copied = ap__blob_u64(w, 40);

    if (!ap__is_aicpu(record, AP_AICPU_NODE)) {
        return 0;
    }
    ap__csv_row(t->c);
    ap__csv_u64(t->c, d->device);
    ap__csv_time(t->c, ap__device_wall_ns(d, ap__blob_u64(w, 8)));
    ap__csv_text(t->c, ap__task_index_name(&t->index, device, stream, task));
    ap__csv_round(t->c, copy > compute ? (double)(copy - compute) : 0);
    ap__csv_round(t->c, copied > copy ? (double)(copied - copy) : 0);
    ap__csv_round(t->c, ap__ticks_us(d, ap__blob_u64(w, 8), ap__blob_u64(w, 48)));
    ap__csv_round(t->c, ap__blob_u32(w, 108));
    ap__csv_round(t->c, ap__ticks_us(d, ap__blob_u64(w, 72), ap__blob_u64(w, 96)));
    ap__csv_u64(t->c, stream);
    ap__csv_u64(t->c, task);
    return 0;
}

int ap__csv_aicpu(ap__export *e, const ap__model *m)
{
    ap__table t = {.c = ap__csv_begin(e, "aicpu",
                                      "Device_id,Timestamp(us),Node,Compute_time(us),Memcpy_time("
                                      "us),Task_time(us),Dispatch_time(us),Total_time(us),Stream "
                                      "ID,Task ID",
                                      0),
                   .m = m};

    return ap__table_of(&t, m, "aicpu.data", 256, ap__aicpu_row);
}

static int ap__mi_row(void *context, uint32_t device, ap__blob record)
{
    const ap__table *t = context;
    ap__blob w = ap__blob_part(record, AP_DATA, 232);

    if (ap__is_aicpu(record, AP_AICPU_MI)) {
        ap__csv_row(t->c);
        ap__csv_u64(t->c, t->m->devices[device].device);
        ap__csv_raw(t->c, ap__blob_u32(w, 0) == 1 ? "GetNext_dequeue_wait" : "N/A");
        ap__csv_round(t->c, (double)ap__blob_u64(w, 16));
        ap__csv_round(t->c, (double)ap__blob_u64(w, 24));
        ap__csv_u64(t->c, ap__blob_u64(w, 8));
    }
    return 0;
}

int ap__csv_aicpu_mi(ap__export *e, const ap__model *m)
{
    ap__table t = {.c = ap__csv_begin(e, "aicpu_mi",
                                      "Device_id,Node Name,Start Time(us),End Time(us),Queue Size",
                                      0),
                   .m = m};

    return ap__table_of(&t, m, "aicpu.data", 256, ap__mi_row);
}

static void ap__chars(ap__csv *c, ap__blob text)
{
    char copy[65] = "";
    size_t length = ap__blob_text_length(text);

    (void)ap__blob_copy(text, 0, copy, length < sizeof(copy) ? length : sizeof(copy) - 1);
    ap__csv_text(c, copy);
}

static int ap__dp_row(void *context, uint32_t device, ap__blob record)
{
    const ap__table *t = context;
    const ap__device_view *d = &t->m->devices[device];
    ap__blob w = ap__blob_part(record, AP_DATA, 232);

    if (ap__is_aicpu(record, AP_AICPU_DP)) {
        ap__csv_row(t->c);
        ap__csv_u64(t->c, d->device);
        ap__csv_us(t->c, ap__host_clock_wall_ns(&d->clock, ap__blob_u64(record, 16)));
        ap__chars(t->c, ap__blob_part(w, 0, 16));
        ap__chars(t->c, ap__blob_part(w, 16, 64));
        ap__csv_u64(t->c, ap__blob_u64(w, 88));
    }
    return 0;
}

int ap__csv_dp(ap__export *e, const ap__model *m)
{
    ap__table t = {
        .c = ap__csv_begin(e, "dp", "Device_id,Timestamp(us),Action,Source,Cached Buffer Size", 0),
        .m = m};

    return ap__table_of(&t, m, "aicpu.data", 256, ap__dp_row);
}
