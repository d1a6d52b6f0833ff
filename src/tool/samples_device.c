/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool/raw_files.h"
#include "tool/samples.h"

#define AP_HBM_LINE 32.0 /* bytes that one count stands for */
#define AP_MIB 1048576.0
#define AP_LAST 256u

/* stars_soc_profile.data: kind in the low six bits, who it is of in the high ones */
#define AP_SOC_FILE "stars_soc_profile.data"
#define AP_SOC_BYTES 64u
#define AP_SOC_SIO 0x19u
#define AP_SOC_ACC 0x1Au
#define AP_SOC_LINKS 0x1Bu
#define AP_SOC_LEVELS 0x1Cu
#define AP_SOC_POWER 0x1Du
#define AP_SOC_LINK_PA 0x3Fu
#define AP_SOC_LINK_PCIE 0x22u
#define AP_SOC_POWER_MHZ 46u

/* The time of the last sample of each thing. */
typedef struct ap__last {
    uint64_t key;
    uint64_t ns;
} ap__last;

typedef struct ap__walk {
    const ap__model *m;
    ap__sample_take take;
    void *context;
    uint32_t last_count;
    ap__last last[AP_LAST];
    uint64_t lines; /* of a text file */
    uint64_t ns;
    uint64_t amounts[2];
} ap__walk;

/* Seconds since the thing's last sample, 0: it is the first. */
static double ap__since(ap__walk *w, uint64_t key, uint64_t ns)
{
    for (uint32_t i = 0; i < w->last_count; i++) {
        if (w->last[i].key == key) {
            double seconds = ns > w->last[i].ns ? (double)(ns - w->last[i].ns) / 1e9 : 0;

            w->last[i].ns = ns;
            return seconds;
        }
    }
    if (w->last_count < AP_LAST) {
        w->last[w->last_count++] = (ap__last){key, ns};
    }
    return 0;
}

static int ap__walk_records(const ap__model *m, uint32_t device, const char *file, uint32_t bytes,
                            int (*each)(void *, uint32_t, ap__blob), ap__sample_take take,
                            void *context)
{
    ap__walk w = {.m = m, .take = take, .context = context};

    return ap__each_record(m, device, file, bytes, each, &w);
}

static int ap__walk_lines(const ap__model *m, uint32_t device, const char *file,
                          int (*each)(void *, uint32_t, char *), ap__sample_take take,
                          void *context)
{
    ap__walk w = {.m = m, .take = take, .context = context};

    return ap__each_line(m, device, file, each, &w);
}

/* Microseconds since the device's clocks were compared. */
static uint64_t ap__sampled_wall_ns(const ap__walk *w, uint32_t device, uint64_t us)
{
    const ap__host_clock *clock = &w->m->devices[device].clock;

    return ap__host_clock_wall_ns(clock, clock->mono_raw_ns + us * 1000);
}

/* ---- memory ---- */

static int ap__hbm(void *context, uint32_t device, ap__blob record)
{
    ap__walk *w = context;
    ap__sample s = {.ns = ap__sampled_wall_ns(w, device, ap__blob_u64(record, 0)),
                    .device = device,
                    .id = ap__blob_u32(record, 20),
                    .kind = ap__blob_u32(record, 16)};
    double seconds = ap__since(w, (uint64_t)s.id << 32 | s.kind, s.ns);

    s.values[0] = seconds > 0 ? (double)ap__blob_u64(record, 8) * AP_HBM_LINE / seconds : 0;
    return s.kind < 2 ? w->take(w->context, &s) : 0;
}

int ap__samples_hbm(const ap__model *m, uint32_t device, ap__sample_take take, void *context)
{
    return ap__walk_records(m, device, "hbm.data", 24, ap__hbm, take, context);
}

static int ap__npu_mem(void *context, uint32_t device, ap__blob record)
{
    ap__walk *w = context;
    ap__sample s = {.ns = ap__sampled_wall_ns(w, device, ap__blob_u32(record, 0)),
                    .device = device,
                    .kind = ap__blob_u32(record, 4) == 0 ? 0 : 1,
                    .values = {(double)ap__blob_u64(record, 16), (double)ap__blob_u64(record, 24)}};

    return w->take(w->context, &s);
}

int ap__samples_npu_mem(const ap__model *m, uint32_t device, ap__sample_take take, void *context)
{
    int rc = ap__walk_records(m, device, "npu_mem.data", 32, ap__npu_mem, take, context);

    return rc != 0 ? rc
                   : ap__walk_records(m, device, "npu_mem.app", 32, ap__npu_mem, take, context);
}

/* ---- links ---- */

static int ap__pcie(void *context, uint32_t device, ap__blob record)
{
    ap__walk *w = context;
    ap__sample s = {
        .ns = ap__device_mono_wall_ns(&w->m->devices[device], ap__blob_u64(record, 0)),
        .device = device};

    for (uint32_t i = 0; i < 21; i++) {
        s.values[i] = ap__blob_u32(record, 12 + i * 4u);
    }
    return w->take(w->context, &s);
}

int ap__samples_pcie(const ap__model *m, uint32_t device, ap__sample_take take, void *context)
{
    return ap__walk_records(m, device, "pcie.data", 96, ap__pcie, take, context);
}

static int ap__hccs(void *context, uint32_t device, char *line)
{
    ap__walk *w = context;
    ap__sample s = {.device = device};
    uint64_t amounts[2] = {0, 0};
    uint64_t ns = 0;
    bool first = w->lines == 0;

    if (sscanf(line, "%" SCNu64 ": %" SCNu64 " %" SCNu64, &ns, &amounts[0], &amounts[1]) != 3) {
        return 0; /* the heading */
    }
    for (int i = 0; i < 2; i++) {
        if (!first && ns > w->ns && amounts[i] >= w->amounts[i]) {
            double rate = (double)(amounts[i] - w->amounts[i]) * 1e9 / (double)(ns - w->ns);

            s.values[i] = floor(rate / AP_MIB * 1000.0 + 0.5) / 1000.0;
        }
        w->amounts[i] = amounts[i];
    }
    w->lines++;
    w->ns = ns;
    s.ns = ap__device_mono_wall_ns(&w->m->devices[device], ns);
    return first ? 0 : w->take(w->context, &s);
}

int ap__samples_hccs(const ap__model *m, uint32_t device, ap__sample_take take, void *context)
{
    return ap__walk_lines(m, device, "hccs.data", ap__hccs, take, context);
}

static int ap__net(void *context, uint32_t device, char *line)
{
    ap__walk *w = context;
    ap__sample s = {.device = device};
    uint64_t ns = 0;
    char *at = line;
    char *end = NULL;

    ns = strtoull(line, &at, 10);
    if (at == line || *at != ':') {
        return 0;
    }
    at++;
    for (uint32_t i = 0; i < 13; i++, at = end) {
        s.values[i] = strtod(at, &end);
        if (end == at || !isfinite(s.values[i]) || s.values[i] < 0) {
            return 0;
        }
    }
    s.id = (uint32_t)strtoul(at, &end, 10);
    s.ns = ap__device_mono_wall_ns(&w->m->devices[device], ns);
    return w->take(w->context, &s);
}

int ap__samples_nic(const ap__model *m, uint32_t device, ap__sample_take take, void *context)
{
    return ap__walk_lines(m, device, "nic.data", ap__net, take, context);
}

int ap__samples_roce(const ap__model *m, uint32_t device, ap__sample_take take, void *context)
{
    return ap__walk_lines(m, device, "roce.data", ap__net, take, context);
}

static int ap__ub(void *context, uint32_t device, ap__blob record)
{
    ap__walk *w = context;
    ap__sample s = {
        .ns = ap__device_mono_wall_ns(&w->m->devices[device], ap__blob_u64(record, 8)),
        .device = device,
        .id = ap__blob_u16(record, 4),
        .values = {(double)ap__blob_u64(record, 16), (double)ap__blob_u64(record, 24)}};

    return w->take(w->context, &s);
}

int ap__samples_ub(const ap__model *m, uint32_t device, ap__sample_take take, void *context)
{
    return ap__walk_records(m, device, "ub.data", 128, ap__ub, take, context);
}

static int ap__qos(void *context, uint32_t device, ap__blob record)
{
    ap__walk *w = context;
    ap__sample s = {.ns = ap__device_wall_ns(&w->m->devices[device], ap__blob_u64(record, 16)),
                    .device = device};

    for (uint32_t i = 0; i < 10; i++) {
        s.values[i] = ap__blob_u32(record, 24 + i * 4u);
    }
    return w->take(w->context, &s);
}

int ap__samples_qos(const ap__model *m, uint32_t device, ap__sample_take take, void *context)
{
    return ap__walk_records(m, device, "qos.data", 64, ap__qos, take, context);
}

/* ---- stars_soc_profile ---- */

static bool ap__is_soc(const ap__walk *w, uint32_t device, ap__blob record, uint32_t function,
                       ap__sample *s)
{
    *s = (ap__sample){
        .ns = ap__device_wall_ns(&w->m->devices[device], ap__blob_u64(record, 8)),
        .device = device,
        .id = ap__blob_u16(record, 18) & 0x3F,
    };
    return (ap__blob_u16(record, 0) & 0x3F) == function;
}

static bool ap__is_v6(const ap__walk *w, uint32_t device)
{
    return w->m->devices[device].chip >= 15;
}

static int ap__acc(void *context, uint32_t device, ap__blob record)
{
    ap__walk *w = context;
    ap__sample s;

    if (!ap__is_soc(w, device, record, AP_SOC_ACC, &s)) {
        return 0;
    }
    for (uint32_t i = 0; i < 4; i++) {
        s.values[i] = (double)ap__blob_u64(record, 32 + i * 8u);
    }
    return w->take(w->context, &s);
}

int ap__samples_acc(const ap__model *m, uint32_t device, ap__sample_take take, void *context)
{
    return ap__walk_records(m, device, AP_SOC_FILE, AP_SOC_BYTES, ap__acc, take, context);
}

static int ap__levels(void *context, uint32_t device, ap__blob record)
{
    ap__walk *w = context;
    ap__sample s;

    if (!ap__is_soc(w, device, record, AP_SOC_LEVELS, &s)) {
        return 0;
    }
    s.values[0] = ap__blob_u16(record, 32) & 0x7;
    s.values[1] = ap__blob_u16(record, 32) >> 3 & 0x1F;
    return w->take(w->context, &s);
}

int ap__samples_soc_levels(const ap__model *m, uint32_t device, ap__sample_take take,
                           void *context)
{
    return ap__walk_records(m, device, AP_SOC_FILE, AP_SOC_BYTES, ap__levels, take, context);
}

static int ap__links(void *context, uint32_t device, ap__blob record)
{
    ap__walk *w = context;
    ap__sample s;
    uint32_t who = ap__blob_u16(record, 0) >> 10;
    bool v6 = ap__is_v6(w, device);

    if (!ap__is_soc(w, device, record, AP_SOC_LINKS, &s) ||
        (!v6 && who != AP_SOC_LINK_PA && who != AP_SOC_LINK_PCIE)) {
        return 0;
    }
    s.kind = v6 || who == AP_SOC_LINK_PCIE;
    s.id = v6 ? who : s.id;
    s.values[0] = (double)ap__blob_u64(record, v6 ? 16 : 32);
    s.values[1] = (double)ap__blob_u64(record, v6 ? 24 : 40);
    return w->take(w->context, &s);
}

int ap__samples_chip_links(const ap__model *m, uint32_t device, ap__sample_take take,
                           void *context)
{
    return ap__walk_records(m, device, AP_SOC_FILE, AP_SOC_BYTES, ap__links, take, context);
}

static int ap__sio(void *context, uint32_t device, ap__blob record)
{
    ap__walk *w = context;
    ap__sample s;
    bool v6 = ap__is_v6(w, device);
    double seconds = 0;

    if (!ap__is_soc(w, device, record, AP_SOC_SIO, &s)) {
        return 0;
    }
    s.id = v6 ? ap__blob_u16(record, 16) : s.id;
    seconds = ap__since(w, s.id, s.ns);
    for (uint32_t i = 0; seconds > 0 && i < 8; i++) { /* the 950's received ones are one earlier */
        size_t at = 32 + i * 4u - (v6 && i < 4 ? 4u : 0u);

        s.values[i] = (double)ap__blob_u32(record, at) / seconds;
    }
    return seconds > 0 ? w->take(w->context, &s) : 0;
}

int ap__samples_sio(const ap__model *m, uint32_t device, ap__sample_take take, void *context)
{
    return ap__walk_records(m, device, AP_SOC_FILE, AP_SOC_BYTES, ap__sio, take, context);
}

static int ap__power(void *context, uint32_t device, ap__blob record)
{
    ap__walk *w = context;
    ap__sample s;

    if (!ap__is_soc(w, device, record, AP_SOC_POWER, &s) || !ap__is_v6(w, device)) {
        return 0;
    }
    s.id = ap__blob_u16(record, 0) >> 10;
    s.values[0] = ap__blob_u16(record, AP_SOC_POWER_MHZ);
    return w->take(w->context, &s);
}

int ap__samples_die_mhz(const ap__model *m, uint32_t device, ap__sample_take take, void *context)
{
    return ap__walk_records(m, device, AP_SOC_FILE, AP_SOC_BYTES, ap__power, take, context);
}
