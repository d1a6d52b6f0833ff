/* SPDX-License-Identifier: Apache-2.0 */
/* What passes through a device's links: pcie, hccs, ub; and its video engines: dvpp. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tool/csv.h"
#include "tool/raw_files.h"

#define AP_MIB 1048576.0

/* ---- pcie ---- */

#define AP_PCIE_VALUES 7u

typedef struct ap__pcie {
    uint64_t samples;
    uint32_t min[AP_PCIE_VALUES];
    uint32_t max[AP_PCIE_VALUES];
    uint64_t sum[AP_PCIE_VALUES];
} ap__pcie;

/* After the time and the device, a minimum, maximum and average of each. */
static int ap__take_pcie(void *context, uint32_t device, ap__blob record)
{
    ap__pcie *p = context;

    (void)device;
    for (size_t i = 0; i < AP_PCIE_VALUES; i++) {
        uint32_t min = ap__blob_u32(record, 12 + i * 12);
        uint32_t max = ap__blob_u32(record, 16 + i * 12);

        p->min[i] = p->samples == 0 || min < p->min[i] ? min : p->min[i];
        p->max[i] = p->samples == 0 || max > p->max[i] ? max : p->max[i];
        p->sum[i] += ap__blob_u32(record, 20 + i * 12);
    }
    p->samples++;
    return 0;
}

static void ap__pcie_rows(ap__csv *c, uint32_t device, const ap__pcie *p)
{
    static const struct {
        const char *name;
        double unit; /* a megabyte of 10^6 bytes in MB of 2^20; a nanosecond in µs */
    } rows[AP_PCIE_VALUES] = {{"Tx_p_avg(MB/s)", 1e6 / AP_MIB},   {"Tx_np_avg(MB/s)", 1e6 / AP_MIB},
                              {"Tx_cpl_avg(MB/s)", 1e6 / AP_MIB}, {"Tx_latency_avg(us)", 1e-3},
                              {"Rx_p_avg(MB/s)", 1e6 / AP_MIB},   {"Rx_np_avg(MB/s)", 1e6 / AP_MIB},
                              {"Rx_cpl_avg(MB/s)", 1e6 / AP_MIB}};

    for (size_t i = 0; p->samples != 0 && i < AP_PCIE_VALUES; i++) {
        ap__csv_row(c);
        ap__csv_u64(c, device);
        ap__csv_raw(c, rows[i].name);
        ap__csv_round(c, p->min[i] * rows[i].unit);
        ap__csv_round(c, p->max[i] * rows[i].unit);
        ap__csv_round(c, (double)p->sum[i] / (double)p->samples * rows[i].unit);
    }
}

int ap__csv_pcie(ap__export *e, const ap__model *m)
{
    ap__csv *c = ap__csv_begin(e, "pcie", "Device_id,Mode,Min,Max,Avg", 0);
    int rc = c != NULL ? 0 : ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < m->device_count; i++) {
        ap__pcie p = {.samples = 0};

        rc = ap__each_record(m, i, "pcie.data", 96, ap__take_pcie, &p);
        if (rc == 0) {
            ap__pcie_rows(c, m->devices[i].device, &p);
        }
    }
    return ap__csv_finish(c, rc);
}

/* ---- hccs ---- */

typedef struct ap__rates {
    uint64_t lines;
    uint64_t ns;
    uint64_t last[2]; /* bytes sent and received, ever more */
    uint64_t samples;
    double min[2];
    double max[2];
    double sum[2];
} ap__rates;

static int ap__take_hccs(void *context, uint32_t device, char *line)
{
    ap__rates *r = context;
    uint64_t ns = 0;
    uint64_t bytes[2] = {0, 0};

    (void)device;
    if (sscanf(line, "%" SCNu64 ": %" SCNu64 " %" SCNu64, &ns, &bytes[0], &bytes[1]) != 3) {
        return 0; /* the heading */
    }
    for (int i = 0; r->lines != 0 && ns > r->ns && i < 2; i++) {
        double rate = bytes[i] >= r->last[i]
                          ? (double)(bytes[i] - r->last[i]) * 1e9 / (double)(ns - r->ns) / AP_MIB
                          : 0;

        r->min[i] = r->samples == 0 || rate < r->min[i] ? rate : r->min[i];
        r->max[i] = r->samples == 0 || rate > r->max[i] ? rate : r->max[i];
        r->sum[i] += rate;
    }
    r->samples += r->lines != 0 && ns > r->ns;
    r->lines++;
    r->ns = ns;
    memcpy(r->last, bytes, sizeof(bytes));
    return 0;
}

int ap__csv_hccs(ap__export *e, const ap__model *m)
{
    static const char *const modes[] = {"Tx (MB/s)", "Rx (MB/s)"};
    ap__csv *c = ap__csv_begin(e, "hccs", "Device_id,Mode,Max,Min,Average", 0);
    int rc = c != NULL ? 0 : ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < m->device_count; i++) {
        ap__rates r = {.lines = 0};

        rc = ap__each_line(m, i, "hccs.data", ap__take_hccs, &r);
        for (int k = 0; rc == 0 && r.samples != 0 && k < 2; k++) {
            ap__csv_row(c);
            ap__csv_u64(c, m->devices[i].device);
            ap__csv_raw(c, modes[k]);
            ap__csv_round(c, r.max[k]);
            ap__csv_round(c, r.min[k]);
            ap__csv_round(c, r.sum[k] / (double)r.samples);
        }
    }
    return ap__csv_finish(c, rc);
}

/* ---- ub ---- */

typedef struct ap__table {
    ap__csv *c;
    const ap__model *m;
} ap__table;

static int ap__ub_row(void *context, uint32_t device, ap__blob record)
{
    const ap__table *t = context;
    const ap__device_view *d = &t->m->devices[device];

    ap__csv_row(t->c);
    ap__csv_u64(t->c, d->device);
    ap__csv_u64(t->c, ap__blob_u16(record, 4));
    ap__csv_time(t->c, ap__device_mono_wall_ns(d, ap__blob_u64(record, 8)));
    ap__csv_u64(t->c, ap__blob_u64(record, 16));
    ap__csv_u64(t->c, ap__blob_u64(record, 24));
    return 0;
}

int ap__csv_ub(ap__export *e, const ap__model *m)
{
    ap__table t = {ap__csv_begin(e, "ub",
                                 "Device_id,PortId,TimeStamp,UBRxPortBandWidth(MB/"
                                 "s),UBTxPortBandWidth(MB/s)",
                                 0),
                   m};
    int rc = t.c != NULL ? 0 : ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < m->device_count; i++) {
        rc = ap__each_record(m, i, "ub.data", 128, ap__ub_row, &t);
    }
    return ap__csv_finish(t.c, rc);
}

/* ---- dvpp ---- */

#define AP_ENGINES 64u

typedef struct ap__engine {
    unsigned id;
    unsigned type;
    unsigned number;
    uint64_t samples;
    uint64_t first_time;
    uint64_t first_frames;
    uint64_t last_time; /* ever more */
    uint64_t last_frames;
    double use;
} ap__engine;

typedef struct ap__engines {
    ap__engine list[AP_ENGINES];
    uint32_t count;
} ap__engines;

static int ap__take_dvpp(void *context, uint32_t device, char *line)
{
    ap__engines *all = context;
    ap__engine now = {.samples = 1};
    ap__engine *e = all->list;

    (void)device;
    if (sscanf(line, "%*u:%*u %u %u %u %" SCNu64 " %" SCNu64 " %lf", &now.id, &now.type,
               &now.number, &now.last_time, &now.last_frames, &now.use) != 6) {
        return 0;
    }
    while (e < all->list + all->count &&
           (e->id != now.id || e->type != now.type || e->number != now.number)) {
        e++;
    }
    if (e == all->list + AP_ENGINES) {
        return 0;
    }
    if (e == all->list + all->count) {
        all->count++;
        *e = now;
        e->first_time = now.last_time;
        e->first_frames = now.last_frames;
        return 0;
    }
    e->samples++;
    e->last_time = now.last_time;
    e->last_frames = now.last_frames;
    e->use += now.use;
    return 0;
}

int ap__csv_dvpp(ap__export *e, const ap__model *m)
{
    static const char *const types[] = {"VDEC", "JPEGD", "PNGD", "JPEGE", "VPC", "VENC", "SCD"};
    ap__csv *c = ap__csv_begin(e, "dvpp",
                               "Device_id,Dvpp Id,Engine Type,Engine ID,All Time(us),All Frame,All "
                               "Utilization(%)",
                               0);
    int rc = c != NULL ? 0 : ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < m->device_count; i++) {
        ap__engines all = {.count = 0};

        rc = ap__each_line(m, i, "dvpp.data", ap__take_dvpp, &all);
        for (uint32_t k = 0; rc == 0 && k < all.count; k++) {
            const ap__engine *x = &all.list[k];

            ap__csv_row(c);
            ap__csv_u64(c, m->devices[i].device);
            ap__csv_u64(c, x->id);
            ap__csv_raw(c, x->type < 7 ? types[x->type] : "N/A");
            ap__csv_u64(c, x->number);
            ap__csv_round(c, (double)x->last_time - (double)x->first_time);
            ap__csv_round(c, (double)x->last_frames - (double)x->first_frames);
            ap__csv_short(c, x->use / (double)x->samples);
        }
    }
    return ap__csv_finish(c, rc);
}
