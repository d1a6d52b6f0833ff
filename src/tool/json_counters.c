/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of what the devices measure from time to time. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tool/json_layers.h"
#include "tool/samples.h"

#define AP_MIB 1048576.0
#define AP_PCIE_MB (1e6 / AP_MIB)

/* A counter with one series. */
static void ap__value(ap__timeline *t, uint64_t pid, const char *name, uint64_t ns,
                      const char *series, double value)
{
    ap__json_counter(&t->j, name, pid, 0, ns);
    ap__arg_double(&t->j, series, value);
    ap__json_end(&t->j);
}

/* A whole number: written without a point. */
static void ap__whole(ap__timeline *t, uint64_t pid, const char *name, uint64_t ns,
                      const char *series, double value)
{
    ap__json_counter(&t->j, name, pid, 0, ns);
    ap__arg_u64(&t->j, series, (uint64_t)value);
    ap__json_end(&t->j);
}

static int ap__npu_mem(void *context, const ap__sample *s)
{
    static const char *const names[2][3] = {{"APP/DDR", "APP/HBM", "APP/Memory"},
                                            {"Device/DDR", "Device/HBM", "Device/Memory"}};
    ap__timeline *t = context;
    uint64_t pid = ap__device_layer(t, s->device, AP_SORT_NPU_MEM, "NPU MEM");

    ap__value(t, pid, names[s->kind][0], s->ns, "KB", s->values[0] / 1024.0);
    ap__value(t, pid, names[s->kind][1], s->ns, "KB", s->values[1] / 1024.0);
    ap__value(t, pid, names[s->kind][2], s->ns, "KB", (s->values[0] + s->values[1]) / 1024.0);
    return 0;
}

static int ap__acc(void *context, const ap__sample *s)
{
    ap__timeline *t = context;
    uint64_t pid = ap__device_layer(t, s->device, AP_SORT_ACC, "Acc PMU");

    ap__whole(t, pid, "read_bandwidth", s->ns, "value", s->values[1]);
    ap__whole(t, pid, "read_ost", s->ns, "value", s->values[3]);
    ap__whole(t, pid, "write_bandwidth", s->ns, "value", s->values[0]);
    ap__whole(t, pid, "write_ost", s->ns, "value", s->values[2]);
    return 0;
}

static int ap__hccs(void *context, const ap__sample *s)
{
    ap__timeline *t = context;
    uint64_t pid = ap__device_layer(t, s->device, AP_SORT_HCCS, "HCCS");

    ap__value(t, pid, "Rx", s->ns, "Rx(MB/s)", s->values[1]);
    ap__value(t, pid, "Tx", s->ns, "Tx(MB/s)", s->values[0]);
    return 0;
}

static double ap__share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static void ap__port(ap__timeline *t, const ap__sample *s, uint32_t sort, const char *layer)
{
    static const char *const keys[2][4] = {
        {"Rx Bandwidth Efficiency", "Rx Packets", "Rx Error Rate", "Rx Dropped Rate"},
        {"Tx Bandwidth Efficiency", "Tx Packets", "Tx Error Rate", "Tx Dropped Rate"}};
    uint64_t pid = ap__device_layer(t, s->device, sort, layer);

    for (uint32_t i = 0; i < 2; i++) {
        const double *v = &s->values[1 + i * 6u]; /* packets/s, bytes/s, packets, bytes, … */
        double efficiency = ap__share(v[1], s->values[0] * AP_MIB);
        char name[32];

        (void)snprintf(name, sizeof(name), "Port %" PRIu32 "/%s", s->id, i == 0 ? "Rx" : "Tx");
        ap__json_counter(&t->j, name, pid, 0, s->ns);
        /* three decimals, as the vendor has it */
        ap__arg_double(&t->j, keys[i][0], (double)(uint64_t)(efficiency * 1000.0 + 0.5) / 1000.0);
        ap__arg_double(&t->j, keys[i][1], v[0]);
        ap__arg_double(&t->j, keys[i][2], ap__share(v[4], v[2]));
        ap__arg_double(&t->j, keys[i][3], ap__share(v[5], v[2]));
        ap__json_end(&t->j);
    }
}

static int ap__nic(void *context, const ap__sample *s)
{
    ap__port(context, s, AP_SORT_NIC, "NIC");
    return 0;
}

static int ap__roce(void *context, const ap__sample *s)
{
    ap__port(context, s, AP_SORT_ROCE, "RoCE");
    return 0;
}

static int ap__pcie(void *context, const ap__sample *s)
{
    static const struct {
        const char *name;
        int tx; /* index of the average; -1 none */
        int rx;
        double unit;
    } counters[] = {{"PCIe_cpl", 8, 20, AP_PCIE_MB},
                    {"PCIe_nonpost", 5, 17, AP_PCIE_MB},
                    {"PCIe_nonpost_latency", 11, -1, 1e-3},
                    {"PCIe_post", 2, 14, AP_PCIE_MB}};
    ap__timeline *t = context;
    uint64_t pid = ap__device_layer(t, s->device, AP_SORT_PCIE, "PCIe");

    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        double rx = counters[i].rx >= 0 ? s->values[counters[i].rx] : 0;

        ap__json_counter(&t->j, counters[i].name, pid, 0, s->ns);
        ap__arg_double(&t->j, "Rx", rx * counters[i].unit);
        ap__arg_double(&t->j, "Tx", s->values[counters[i].tx] * counters[i].unit);
        ap__json_end(&t->j);
    }
    return 0;
}

static int ap__hbm(void *context, const ap__sample *s)
{
    ap__timeline *t = context;
    uint64_t pid = ap__device_layer(t, s->device, AP_SORT_HBM, "HBM");
    char name[32];

    (void)snprintf(name, sizeof(name), "HBM %" PRIu32 "/%s", s->id, s->kind == 0 ? "Read" : "Write");
    ap__value(t, pid, name, s->ns, s->kind == 0 ? "Read(MB/s)" : "Write(MB/s)",
              s->values[0] / AP_MIB);
    return 0;
}

static int ap__levels(void *context, const ap__sample *s)
{
    ap__timeline *t = context;
    uint64_t pid = ap__device_layer(t, s->device, AP_SORT_SOC, "Stars Soc Info");

    ap__whole(t, pid, "L2 Buffer Bw Level", s->ns, "L2 Buffer Bw Level", s->values[0]);
    ap__whole(t, pid, "Mata Bw Level", s->ns, "Mata Bw Level", s->values[1]);
    return 0;
}

/* `id_key` NULL: the die is in the name of the series. */
static void ap__link_value(ap__timeline *t, const ap__sample *s, uint64_t pid, uint32_t tid,
                           const char *name, double value, const char *id_key)
{
    char series[32];

    (void)snprintf(series, sizeof(series), "U-Die%" PRIu32, s->id);
    ap__json_counter(&t->j, name, pid, tid, s->ns);
    ap__arg_u64(&t->j, id_key != NULL ? name : series, (uint64_t)value);
    if (id_key != NULL) {
        ap__arg_u64(&t->j, id_key, s->id);
    }
    ap__json_end(&t->j);
}

static int ap__chip_links(void *context, const ap__sample *s)
{
    ap__timeline *t = context;
    uint64_t pid = ap__device_layer(t, s->device, AP_SORT_CHIP_LINKS, "Stars Chip Trans");
    const char *pcie = t->m->devices[s->device].chip >= 15 ? NULL : "PCIE ID";

    if (s->kind == 0) { /* thread numbers: the vendor's */
        ap__link_value(t, s, pid, 111111, "PA Link Rx", s->values[0], "PA Link ID");
        ap__link_value(t, s, pid, 111111, "PA Link Tx", s->values[1], "PA Link ID");
    } else {
        ap__link_value(t, s, pid, 100010, "PCIE Read Bandwidth", s->values[1], pcie);
        ap__link_value(t, s, pid, 100010, "PCIE Write Bandwidth", s->values[0], pcie);
    }
    return 0;
}

static int ap__sio(void *context, const ap__sample *s)
{
    static const char *const names[] = {"req_rx", "rsp_rx", "snp_rx", "dat_rx",
                                        "req_tx", "rsp_tx", "snp_tx", "dat_tx"};
    ap__timeline *t = context;
    uint64_t pid = ap__device_layer(t, s->device, AP_SORT_SIO, "SIO");
    bool v6 = t->m->devices[s->device].chip >= 15;
    char die[32];

    (void)snprintf(die, sizeof(die), v6 ? "D-DIE%" PRIu32 : "die %" PRIu32, s->id);
    for (uint32_t i = 0; i < 8; i++) {
        ap__value(t, pid, names[i], s->ns, die, s->values[i] / AP_MIB);
    }
    return 0;
}

static int ap__qos(void *context, const ap__sample *s)
{
    ap__timeline *t = context;
    uint64_t pid = ap__device_layer(t, s->device, AP_SORT_QOS, "QoS");
    const char *at = t->m->devices[s->device].qos_events;

    for (uint32_t i = 0; i < 10 && *at != '\0'; i++) {
        size_t length = strcspn(at, ",");
        char name[280];

        (void)snprintf(name, sizeof(name), "QoS %.*s", (int)length, at);
        ap__whole(t, pid, name, s->ns, "value", s->values[i]);
        at += length;
        at += *at == ',';
    }
    return 0;
}

static int ap__ub(void *context, const ap__sample *s)
{
    ap__timeline *t = context;
    uint64_t pid = ap__device_layer(t, s->device, AP_SORT_UB, "Ub");
    char name[32];

    (void)snprintf(name, sizeof(name), "UB Port%03" PRIu32, s->id);
    ap__json_counter(&t->j, name, pid, 0, s->ns);
    ap__arg_double(&t->j, "bandwidth_tx(MB/s)", s->values[1]);
    ap__arg_double(&t->j, "bandwidth_rx(MB/s)", s->values[0]);
    ap__json_end(&t->j);
    return 0;
}

/* ---- frequency ---- */

static int ap__die_mhz(void *context, const ap__sample *s)
{
    ap__timeline *t = context;
    uint64_t pid = ap__device_layer(t, s->device, AP_SORT_FREQUENCY, "AI Core Freq");
    char name[32];

    (void)snprintf(name, sizeof(name), "AI Core Freq Die %" PRIu32, s->id);
    ap__whole(t, pid, name, s->ns, "MHz", s->values[0]);
    return 0;
}

static void ap__mhz(ap__timeline *t, uint32_t device, uint64_t ns, uint32_t mhz)
{
    uint64_t pid = ap__device_layer(t, device, AP_SORT_FREQUENCY, "AI Core Freq");

    ap__whole(t, pid, "AI Core Freq", ns, "MHz", mhz);
}

/* From the session's start to its end, and where it changes. */
static void ap__frequencies(ap__timeline *t)
{
    const ap__model *m = t->m;
    const ap__meta *meta = ap__reader_meta(m->reader);

    for (uint32_t i = 0; i < m->frequency_count; i++) {
        const ap__frequency *f = &m->frequencies[i];
        uint64_t ns = ap__device_wall_ns(&m->devices[f->device], f->cycles);
        bool first = i == 0 || f[-1].device != f->device;
        bool last = i + 1 == m->frequency_count || f[1].device != f->device;

        if (first && ns > meta->begin_wall_us * 1000) {
            ap__mhz(t, f->device, meta->begin_wall_us * 1000, m->devices[f->device].aic_mhz);
        }
        ap__mhz(t, f->device, ns, f->mhz);
        if (last && meta->end_wall_us * 1000 > ns) {
            ap__mhz(t, f->device, meta->end_wall_us * 1000, f->mhz);
        }
    }
}

typedef struct ap__shown {
    ap__timeline *t;
    ap__sample_take take;
} ap__shown;

static int ap__take_shown(void *context, const ap__sample *s)
{
    const ap__shown *shown = context;

    return ap__is_shown(shown->t, s->ns) ? shown->take(shown->t, s) : 0;
}

int ap__layer_counters(ap__timeline *t)
{
    static const struct {
        enum ap__json_layers layer;
        int (*each)(const ap__model *, uint32_t, ap__sample_take, void *);
        ap__sample_take take;
    } layers[] = {
        {AP_LAYER_FREQ, ap__samples_die_mhz, ap__die_mhz},
        {AP_LAYER_NPU_MEM, ap__samples_npu_mem, ap__npu_mem},
        {AP_LAYER_ACC_PMU, ap__samples_acc, ap__acc},
        {AP_LAYER_HCCS, ap__samples_hccs, ap__hccs},
        {AP_LAYER_NIC, ap__samples_nic, ap__nic},
        {AP_LAYER_ROCE, ap__samples_roce, ap__roce},
        {AP_LAYER_PCIE, ap__samples_pcie, ap__pcie},
        {AP_LAYER_HBM, ap__samples_hbm, ap__hbm},
        {AP_LAYER_STARS_SOC, ap__samples_soc_levels, ap__levels},
        {AP_LAYER_STARS_CHIP_TRANS, ap__samples_chip_links, ap__chip_links},
        {AP_LAYER_SIO, ap__samples_sio, ap__sio},
        {AP_LAYER_QOS, ap__samples_qos, ap__qos},
        {AP_LAYER_UB, ap__samples_ub, ap__ub},
    };
    int rc = 0;

    if (ap__wants(t, AP_LAYER_FREQ)) {
        ap__frequencies(t);
    }
    for (uint32_t i = 0; rc == 0 && i < t->m->device_count; i++) {
        for (size_t k = 0; rc == 0 && k < sizeof(layers) / sizeof(layers[0]); k++) {
            ap__shown shown = {t, layers[k].take};

            if (ap__wants(t, layers[k].layer)) {
                rc = layers[k].each(t->m, i, ap__take_shown, &shown);
            }
        }
    }
    return rc;
}
