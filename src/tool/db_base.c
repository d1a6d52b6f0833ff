/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that every database has: schema, session, host, devices, and what numbers mean. */
#include "analysis/bulk.h"
#include "tool/db.h"

typedef struct ap__enum_row {
    const char *table; /* NULL: the same as before */
    uint32_t id;
    const char *name;
} ap__enum_row;

static const ap__enum_row ap__enums[] = {
    {"ENUM_API_TYPE", 5000, "runtime"},
    {NULL, 5500, "communication"},
    {NULL, 10000, "node"},
    {NULL, 15000, "model"},
    {NULL, 20000, "acl"},
    {"ENUM_MODULE", 0, "SLOG"},
    {NULL, 1, "IDEDD"},
    {NULL, 2, "SCC"},
    {NULL, 3, "HCCL"},
    {NULL, 4, "FMK"},
    {NULL, 5, "CCU"},
    {NULL, 6, "DVPP"},
    {NULL, 7, "RUNTIME"},
    {NULL, 8, "CCE"},
    {NULL, 9, "HDC"},
    {NULL, 10, "DRV"},
    {NULL, 11, "NET"},
    {NULL, 22, "DEVMM"},
    {NULL, 23, "KERNEL"},
    {NULL, 24, "LIBMEDIA"},
    {NULL, 25, "CCECPU"},
    {NULL, 27, "ROS"},
    {NULL, 28, "HCCP"},
    {NULL, 29, "ROCE"},
    {NULL, 30, "TEFUSION"},
    {NULL, 31, "PROFILING"},
    {NULL, 32, "DP"},
    {NULL, 33, "APP"},
    {NULL, 34, "TS"},
    {NULL, 35, "TSDUMP"},
    {NULL, 36, "AICPU"},
    {NULL, 37, "LP"},
    {NULL, 38, "TDT"},
    {NULL, 39, "FE"},
    {NULL, 40, "MD"},
    {NULL, 41, "MB"},
    {NULL, 42, "ME"},
    {NULL, 43, "IMU"},
    {NULL, 44, "IMP"},
    {NULL, 45, "GE"},
    {NULL, 47, "CAMERA"},
    {NULL, 48, "ASCENDCL"},
    {NULL, 49, "TEEOS"},
    {NULL, 50, "ISP"},
    {NULL, 51, "SIS"},
    {NULL, 52, "HSM"},
    {NULL, 53, "DSS"},
    {NULL, 54, "PROCMGR"},
    {NULL, 55, "BBOX"},
    {NULL, 56, "AIVECTOR"},
    {NULL, 57, "TBE"},
    {NULL, 58, "FV"},
    {NULL, 60, "TUNE"},
    {NULL, 61, "HSS"},
    {NULL, 62, "FFTS"},
    {NULL, 63, "OP"},
    {NULL, 64, "UDF"},
    {NULL, 65, "HICAID"},
    {NULL, 66, "TSYNC"},
    {NULL, 67, "AUDIO"},
    {NULL, 68, "TPRT"},
    {NULL, 69, "ASCENDCKERNEL"},
    {NULL, 70, "ASYS"},
    {NULL, 71, "ATRACE"},
    {NULL, 72, "RTC"},
    {NULL, 73, "SYSMONITOR"},
    {NULL, 74, "AMP"},
    {NULL, 75, "ADETECT"},
    {NULL, 76, "MBUFF"},
    {NULL, 77, "CUSTOM"},
    {"ENUM_HCCL_DATA_TYPE", 0, "INT8"},
    {NULL, 1, "INT16"},
    {NULL, 2, "INT32"},
    {NULL, 3, "FP16"},
    {NULL, 4, "FP32"},
    {NULL, 5, "INT64"},
    {NULL, 6, "UINT64"},
    {NULL, 7, "UINT8"},
    {NULL, 8, "UINT16"},
    {NULL, 9, "UINT32"},
    {NULL, 10, "FP64"},
    {NULL, 11, "BFP16"},
    {NULL, 12, "INT128"},
    {NULL, 14, "HIF8"},
    {NULL, 15, "FP8E4M3"},
    {NULL, 16, "FP8E5M2"},
    {NULL, 17, "FP8E8M0"},
    {NULL, 255, "RESERVED"},
    {NULL, 65534, "N/A"},
    {NULL, 65535, "INVALID_TYPE"},
    {"ENUM_HCCL_LINK_TYPE", 0, "ON_CHIP"},
    {NULL, 1, "HCCS"},
    {NULL, 2, "PCIE"},
    {NULL, 3, "ROCE"},
    {NULL, 4, "SIO"},
    {NULL, 5, "HCCS_SW"},
    {NULL, 6, "STANDARD_ROCE"},
    {NULL, 7, "UB"},
    {NULL, 8, "UBoE"},
    {NULL, 255, "RESERVED"},
    {NULL, 65534, "N/A"},
    {NULL, 65535, "INVALID_TYPE"},
    {"ENUM_HCCL_TRANSPORT_TYPE", 0, "SDMA"},
    {NULL, 1, "RDMA"},
    {NULL, 2, "LOCAL"},
    {NULL, 3, "UB"},
    {NULL, 4, "ROCE"},
    {NULL, 255, "RESERVED"},
    {NULL, 65534, "N/A"},
    {NULL, 65535, "INVALID_TYPE"},
    {"ENUM_HCCL_RDMA_TYPE", 0, "RDMA_SEND_NOTIFY"},
    {NULL, 1, "RDMA_SEND_PAYLOAD"},
    {NULL, 255, "RESERVED"},
    {NULL, 65534, "N/A"},
    {NULL, 65535, "INVALID_TYPE"},
    {"ENUM_MSTX_EVENT_TYPE", 0, "marker"},
    {NULL, 1, "push/pop"},
    {NULL, 2, "start/end"},
    {NULL, 3, "marker_ex"},
    {"ENUM_MEMCPY_OPERATION", 0, "host to host"},
    {NULL, 1, "host to device"},
    {NULL, 2, "device to host"},
    {NULL, 3, "device to device"},
    {NULL, 4, "managed memory"},
    {NULL, 5, "addr device to device"},
    {NULL, 6, "host to device ex"},
    {NULL, 7, "device to host ex"},
    {NULL, 65535, "other"},
    {"ENUM_OVERLAP_ANALYSIS_TYPE", 0, "COMPUTE"},
    {NULL, 1, "COMMUNICATION"},
    {NULL, 2, "COMM_NOT_OVERLAP_COMP"},
    {NULL, 3, "FREE"},
    {NULL, 65535, "RESERVE"},
};

static void ap__enum_tables(ap__db *db)
{
    ap__db_table t = {0};

    for (size_t i = 0; i < sizeof(ap__enums) / sizeof(ap__enums[0]); i++) {
        if (ap__enums[i].table != NULL) {
            (void)ap__db_table_end(&t);
            ap__db_table_begin(db, &t, ap__enums[i].table, "id INTEGER PRIMARY KEY, name TEXT");
        }
        ap__db_row(&t);
        ap__db_int(&t, ap__enums[i].id);
        ap__db_text(&t, ap__enums[i].name);
        ap__db_row_end(&t);
    }
    (void)ap__db_table_end(&t);
}

static void ap__schema(ap__db *db)
{
    static const char *const rows[][2] = {{"SCHEMA_VERSION", "1.2.0"},
                                          {"SCHEMA_VERSION_MAJOR", "1"},
                                          {"SCHEMA_VERSION_MINOR", "2"},
                                          {"SCHEMA_VERSION_MICRO", "0"}};
    ap__db_table t;

    ap__db_table_begin(db, &t, "META_DATA", "name TEXT, value TEXT");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ap__db_row(&t);
        ap__db_text(&t, rows[i][0]);
        ap__db_text(&t, rows[i][1]);
        ap__db_row_end(&t);
    }
    (void)ap__db_table_end(&t);
}

/* Without an end_info the session ends with the last thing that is known of. */
static uint64_t ap__session_end(const ap__model *m)
{
    const ap__meta *meta = ap__reader_meta(m->reader);
    uint64_t end = meta->begin_wall_us * 1000;
    ap__stamp_record s;

    if (meta->end_wall_us != 0) {
        return meta->end_wall_us * 1000;
    }
    for (uint32_t i = 0; i < m->call_count; i++) {
        end = m->calls[i].end_ns > end ? m->calls[i].end_ns : end;
    }
    for (uint32_t i = 0; i < m->task_count; i++) {
        ap__bulk_step();
        end = m->tasks[i].end_ns > end ? m->tasks[i].end_ns : end;
    }
    ap__reader_rewind(m->reader);
    while (ap__model_next_stamp(m, &s)) {
        uint64_t stamp = ap__reader_wall_ns(m->reader, s.end_ns);

        end = stamp > end ? stamp : end;
    }
    return end;
}

static void ap__session(ap__db *db, const ap__model *m)
{
    const ap__meta *meta = ap__reader_meta(m->reader);
    ap__db_table t;

    ap__db_table_begin(db, &t, "SESSION_TIME_INFO", "startTimeNs INTEGER, endTimeNs INTEGER");
    ap__db_row(&t);
    ap__db_int(&t, meta->begin_wall_us * 1000);
    ap__db_int(&t, ap__session_end(m));
    ap__db_row_end(&t);
    (void)ap__db_table_end(&t);

    ap__db_table_begin(db, &t, "HOST_INFO", "hostUid TEXT, hostName TEXT");
    ap__db_row(&t);
    ap__db_text(&t, meta->host_uid[0] != '\0' ? meta->host_uid : "0");
    ap__db_text(&t, meta->host_name);
    ap__db_row_end(&t);
    (void)ap__db_table_end(&t);
}

static const char *ap__chip_name(uint32_t chip)
{
    static const struct {
        uint32_t chip;
        const char *name;
    } chips[] = {{0, "Ascend310"},  {1, "Ascend910A"}, {4, "Ascend310P"},
                 {5, "Ascend910B"}, {7, "Ascend310B"}, {15, "Ascend950"}};

    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
        if (chips[i].chip == chip) {
            return chips[i].name;
        }
    }
    return "UNKNOWN";
}

static void ap__devices(ap__db *db, const ap__model *m)
{
    ap__db_table info;
    ap__db_table ranks;
    uint32_t count = m->device_count != 0 ? m->device_count : 1; /* none: a row that says so */

    ap__db_table_begin(db, &info, "NPU_INFO", "id INTEGER, name TEXT");
    ap__db_table_begin(db, &ranks, "RANK_DEVICE_MAP", "rankId INTEGER, deviceId INTEGER");
    for (uint32_t i = 0; i < count; i++) {
        uint64_t device = m->device_count != 0 ? m->devices[i].device : UINT64_MAX;

        ap__db_row(&info);
        ap__db_int(&info, device);
        ap__db_text(&info, m->device_count != 0 ? ap__chip_name(m->devices[i].chip) : "UNKNOWN");
        ap__db_row_end(&info);
        ap__db_row(&ranks);
        ap__db_int(&ranks, UINT64_MAX);
        ap__db_int(&ranks, device);
        ap__db_row_end(&ranks);
    }
    (void)ap__db_table_end(&info);
    (void)ap__db_table_end(&ranks);
}

void ap__db_base(ap__db *db, const ap__model *m)
{
    ap__schema(db);
    ap__session(db, m);
    ap__devices(db, m);
    ap__enum_tables(db);
}
