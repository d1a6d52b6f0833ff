/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured from time to time: a table for each source (samples.h). Bandwidths are in bytes
 * a second. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tool/db.h"
#include "tool/samples.h"

#define AP_MIB 1048576.0

typedef struct ap__rows {
    ap__db *db;
    const ap__model *m;
    ap__db_table t;
    ap__sample_take take;
} ap__rows;

/* Of the part of the capture that is wanted. */
static int ap__take(void *context, const ap__sample *s)
{
    ap__rows *r = context;

    return s->ns >= r->m->from_ns && s->ns <= r->m->to_ns ? r->take(r, s) : 0;
}

static uint32_t ap__device(const ap__rows *r, const ap__sample *s)
{
    return r->m->devices[s->device].device;
}

/* Begins a row with its device and time. */
static void ap__begin(ap__rows *r, const ap__sample *s)
{
    ap__db_row(&r->t);
    ap__db_int(&r->t, ap__device(r, s));
    ap__db_int(&r->t, s->ns);
}

static void ap__values(ap__rows *r, const ap__sample *s, uint32_t from, uint32_t to, double unit)
{
    for (uint32_t i = from; i < to; i++) {
        ap__db_real(&r->t, s->values[i] * unit);
    }
}

/* ---- devices ---- */

static int ap__hbm(void *context, const ap__sample *s)
{
    ap__rows *r = context;

    ap__begin(r, s);
    ap__db_real(&r->t, s->values[0]);
    ap__db_int(&r->t, s->id);
    ap__db_name(&r->t, s->kind == 0 ? "read" : "write");
    ap__db_row_end(&r->t);
    return r->db->rc;
}

static int ap__hccs(void *context, const ap__sample *s)
{
    ap__rows *r = context;

    ap__begin(r, s);
    ap__db_int(&r->t, (uint64_t)(s->values[0] * AP_MIB));
    ap__db_int(&r->t, (uint64_t)(s->values[1] * AP_MIB));
    ap__db_row_end(&r->t);
    return r->db->rc;
}

static int ap__pcie(void *context, const ap__sample *s)
{
    ap__rows *r = context;

    ap__begin(r, s);
    ap__values(r, s, 0, 9, 1e6);
    ap__values(r, s, 9, 12, 1); /* ns */
    ap__values(r, s, 12, 21, 1e6);
    ap__db_row_end(&r->t);
    return r->db->rc;
}

static int ap__port(void *context, const ap__sample *s)
{
    ap__rows *r = context;

    ap__begin(r, s);
    ap__db_real(&r->t, s->values[0] * AP_MIB);
    ap__values(r, s, 1, 13, 1);
    ap__db_int(&r->t, s->id);
    ap__db_row_end(&r->t);
    return r->db->rc;
}

static int ap__npu_mem(void *context, const ap__sample *s)
{
    ap__rows *r = context;

    ap__db_row(&r->t);
    ap__db_name(&r->t, s->kind == 0 ? "app" : "device");
    ap__values(r, s, 0, 2, 1);
    ap__db_int(&r->t, s->ns);
    ap__db_int(&r->t, ap__device(r, s));
    ap__db_row_end(&r->t);
    return r->db->rc;
}

static int ap__acc(void *context, const ap__sample *s)
{
    static const uint32_t order[] = {1, 0, 3, 2}; /* read, written */
    ap__rows *r = context;

    ap__db_row(&r->t);
    ap__db_int(&r->t, s->id);
    for (uint32_t i = 0; i < 4; i++) {
        ap__db_int(&r->t, (uint64_t)s->values[order[i]]);
    }
    ap__db_int(&r->t, s->ns);
    ap__db_int(&r->t, ap__device(r, s));
    ap__db_row_end(&r->t);
    return r->db->rc;
}

static int ap__levels(void *context, const ap__sample *s)
{
    ap__rows *r = context;

    ap__db_row(&r->t);
    ap__values(r, s, 0, 2, 1);
    ap__db_int(&r->t, s->ns);
    ap__db_int(&r->t, ap__device(r, s));
    ap__db_row_end(&r->t);
    return r->db->rc;
}

static int ap__sio(void *context, const ap__sample *s)
{
    ap__rows *r = context;
    char die[32];

    (void)snprintf(die, sizeof(die), "%s%u",
                   r->m->devices[s->device].chip >= 15 ? "D-DIE" : "die ", (unsigned)s->id);
    ap__db_row(&r->t);
    ap__db_int(&r->t, ap__device(r, s));
    ap__db_name(&r->t, die);
    ap__db_int(&r->t, s->ns);
    ap__values(r, s, 0, 8, 1);
    ap__db_row_end(&r->t);
    return r->db->rc;
}

static int ap__qos(void *context, const ap__sample *s)
{
    ap__rows *r = context;
    const char *at = r->m->devices[s->device].qos_events;

    for (uint32_t i = 0; i < 10 && *at != '\0'; i++) {
        size_t length = strcspn(at, ",");
        char name[280];

        (void)snprintf(name, sizeof(name), "QoS %.*s", (int)length, at);
        ap__db_row(&r->t);
        ap__db_int(&r->t, ap__device(r, s));
        ap__db_name(&r->t, name);
        ap__db_real(&r->t, s->values[i] * AP_MIB);
        ap__db_int(&r->t, s->ns);
        ap__db_int(&r->t, UINT64_MAX); /* no die */
        ap__db_row_end(&r->t);
        at += length;
        at += *at == ',';
    }
    return r->db->rc;
}

static int ap__ub(void *context, const ap__sample *s)
{
    ap__rows *r = context;

    ap__db_row(&r->t);
    ap__db_int(&r->t, ap__device(r, s));
    ap__db_int(&r->t, s->id);
    ap__db_int(&r->t, s->ns);
    ap__values(r, s, 0, 2, 1);
    ap__db_row_end(&r->t);
    return r->db->rc;
}

#define AP_PORT_COLUMNS                                                                            \
    "deviceId INTEGER, timestampNs INTEGER, bandwidth INTEGER, rxPacketRate NUMERIC, rxByteRate "  \
    "NUMERIC, rxPackets INTEGER, rxBytes INTEGER, rxErrors INTEGER, rxDropped INTEGER, "           \
    "txPacketRate NUMERIC, txByteRate NUMERIC, txPackets INTEGER, txBytes INTEGER, txErrors "      \
    "INTEGER, txDropped INTEGER, funcId INTEGER"

static const struct {
    const char *name;
    const char *columns;
    int (*each)(const ap__model *, uint32_t, ap__sample_take, void *);
    ap__sample_take take;
} ap__device_tables[] = {
    {"HBM",
     "deviceId INTEGER, timestampNs INTEGER, bandwidth NUMERIC, hbmId INTEGER, type INTEGER",
     ap__samples_hbm, ap__hbm},
    {"HCCS", "deviceId INTEGER, timestampNs INTEGER, txThroughput NUMERIC, rxThroughput NUMERIC",
     ap__samples_hccs, ap__hccs},
    {"PCIE",
     "deviceId INTEGER, timestampNs INTEGER, txPostMin NUMERIC, txPostMax NUMERIC, txPostAvg "
     "NUMERIC, txNonpostMin NUMERIC, txNonpostMax NUMERIC, txNonpostAvg NUMERIC, txCplMin NUMERIC, "
     "txCplMax NUMERIC, txCplAvg NUMERIC, txNonpostLatencyMin NUMERIC, txNonpostLatencyMax "
     "NUMERIC, txNonpostLatencyAvg NUMERIC, rxPostMin NUMERIC, rxPostMax NUMERIC, rxPostAvg "
     "NUMERIC, rxNonpostMin NUMERIC, rxNonpostMax NUMERIC, rxNonpostAvg NUMERIC, rxCplMin NUMERIC, "
     "rxCplMax NUMERIC, rxCplAvg NUMERIC",
     ap__samples_pcie, ap__pcie},
    {"NIC", AP_PORT_COLUMNS, ap__samples_nic, ap__port},
    {"ROCE", AP_PORT_COLUMNS, ap__samples_roce, ap__port},
    {"NPU_MEM",
     "type INTEGER, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER, deviceId INTEGER",
     ap__samples_npu_mem, ap__npu_mem},
    {"ACC_PMU",
     "accId INTEGER, readBwLevel INTEGER, writeBwLevel INTEGER, readOstLevel INTEGER, "
     "writeOstLevel INTEGER, timestampNs NUMERIC, deviceId INTEGER",
     ap__samples_acc, ap__acc},
    {"SOC_BANDWIDTH_LEVEL",
     "l2BufferBwLevel INTEGER, mataBwLevel INTEGER, timestampNs NUMERIC, deviceId INTEGER",
     ap__samples_soc_levels, ap__levels},
    {"SIO",
     "deviceId NUMERIC, name NUMERIC, timestampNs NUMERIC, rxReq NUMERIC, rxRsp NUMERIC, rxSnp "
     "NUMERIC, rxDat NUMERIC, txReq NUMERIC, txRsp NUMERIC, txSnp NUMERIC, txDat NUMERIC",
     ap__samples_sio, ap__sio},
    {"QOS",
     "deviceId INTEGER, eventName NUMERIC, bandwidth NUMERIC, timestampNs NUMERIC, dieId NUMERIC",
     ap__samples_qos, ap__qos},
    {"UB",
     "deviceId NUMERIC, portId NUMERIC, timestampNs NUMERIC, rxUdmaBind NUMERIC, txUdmaBind "
     "NUMERIC",
     ap__samples_ub, ap__ub},
};

/* ---- host ---- */

static int ap__cpu(void *context, const ap__sample *s)
{
    ap__rows *r = context;

    if (s->id != UINT32_MAX) { /* not the mean of all */
        ap__db_row(&r->t);
        ap__db_int(&r->t, s->ns);
        ap__db_int(&r->t, s->id);
        ap__db_real(&r->t, s->values[0]);
        ap__db_row_end(&r->t);
    }
    return r->db->rc;
}

static int ap__memory(void *context, const ap__sample *s)
{
    ap__rows *r = context;

    ap__db_row(&r->t);
    ap__db_int(&r->t, s->ns);
    ap__db_real(&r->t, s->values[0]);
    ap__db_row_end(&r->t);
    return r->db->rc;
}

static int ap__disk(void *context, const ap__sample *s)
{
    ap__rows *r = context;

    ap__db_row(&r->t);
    ap__db_int(&r->t, s->ns);
    ap__values(r, s, 1, 3, 1024);
    ap__db_real(&r->t, s->values[0]);
    ap__db_row_end(&r->t);
    return r->db->rc;
}

static int ap__network(void *context, const ap__sample *s)
{
    ap__rows *r = context;

    ap__db_row(&r->t);
    ap__db_int(&r->t, s->ns);
    ap__values(r, s, 0, 2, 1);
    ap__db_row_end(&r->t);
    return r->db->rc;
}

static int ap__os_call(void *context, const ap__sample *s)
{
    ap__rows *r = context;

    ap__db_row(&r->t);
    ap__db_name(&r->t, s->name);
    ap__db_int(&r->t, (uint64_t)s->kind << 32 | s->id);
    ap__db_int(&r->t, s->ns);
    ap__db_int(&r->t, s->end_ns);
    ap__db_row_end(&r->t);
    return r->db->rc;
}

static const struct {
    const char *name;
    const char *columns;
    int (*each)(const ap__model *, ap__sample_take, void *);
    ap__sample_take take;
} ap__host_tables[] = {
    {"CPU_USAGE", "timestampNs NUMERIC, cpuId NUMERIC, usage NUMERIC", ap__samples_host_cpu,
     ap__cpu},
    {"HOST_MEM_USAGE", "timestampNs NUMERIC, usage NUMERIC", ap__samples_host_memory, ap__memory},
    {"HOST_DISK_USAGE",
     "timestampNs NUMERIC, readRate NUMERIC, writeRate NUMERIC, usage NUMERIC",
     ap__samples_host_disk, ap__disk},
    {"HOST_NETWORK_USAGE", "timestampNs NUMERIC, usage NUMERIC, speed NUMERIC",
     ap__samples_host_network, ap__network},
    {"OSRT_API", "name NUMERIC, globalTid NUMERIC, startNs NUMERIC, endNs NUMERIC",
     ap__samples_os_calls, ap__os_call},
};

void ap__db_samples(ap__db *db, const ap__model *m)
{
    ap__rows r = {.db = db, .m = m};
    int rc = 0;

    for (size_t k = 0; k < sizeof(ap__device_tables) / sizeof(ap__device_tables[0]); k++) {
        ap__db_table_begin(db, &r.t, ap__device_tables[k].name, ap__device_tables[k].columns);
        for (uint32_t i = 0; rc == 0 && i < m->device_count; i++) {
            r.take = ap__device_tables[k].take;
            rc = ap__device_tables[k].each(m, i, ap__take, &r);
        }
        (void)ap__db_table_end(&r.t);
    }
    for (size_t k = 0; k < sizeof(ap__host_tables) / sizeof(ap__host_tables[0]); k++) {
        ap__db_table_begin(db, &r.t, ap__host_tables[k].name, ap__host_tables[k].columns);
        r.take = ap__host_tables[k].take;
        rc = rc != 0 ? rc : ap__host_tables[k].each(m, ap__take, &r);
        (void)ap__db_table_end(&r.t);
    }
    db->rc = db->rc != 0 ? db->rc : rc;
}
