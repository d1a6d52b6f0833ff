/* SPDX-License-Identifier: Apache-2.0 */
/* Our databases of the golden directories against those that the vendor's parser made of them,
 * table by table. Numbers that no two runs of the parser agree on (texts, tasks, connections) are
 * compared by what they stand for. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "scratch.h"
#include "tool/export.h"

#define PROF "PROF_000001_20250101000000000_00004242CPNEIILO"

static const char *const directories[] = {"device_910b", "device_910b_split", "host_api",
                                          "host_stamps_counter", "host_stamps_monotonic"};

#define TEXT(column) "(SELECT value FROM %s.STRING_IDS WHERE id = t." #column ")"
#define TASK_KEY                                                                                   \
    "(SELECT deviceId||'/'||streamId||'/'||taskId||'/'||contextId FROM %s.TASK k "                 \
    "WHERE k.globalTaskId = t.globalTaskId)"
#define CALL "(SELECT startNs FROM %s.CANN_API c WHERE c.connectionId = t.connectionId)"

/* What is compared of each table that we write; "*": all columns. %s is "ours" or "theirs". */
static const struct {
    const char *table;
    const char *columns;
} tables[] = {
    {"META_DATA", "*"},
    {"SESSION_TIME_INFO", "*"},
    {"HOST_INFO", "*"},
    {"NPU_INFO", "*"},
    {"RANK_DEVICE_MAP", "*"},
    {"ENUM_API_TYPE", "*"},
    {"ENUM_MODULE", "*"},
    {"ENUM_HCCL_DATA_TYPE", "*"},
    {"ENUM_HCCL_LINK_TYPE", "*"},
    {"ENUM_HCCL_TRANSPORT_TYPE", "*"},
    {"ENUM_HCCL_RDMA_TYPE", "*"},
    {"ENUM_MSTX_EVENT_TYPE", "*"},
    {"ENUM_MEMCPY_OPERATION", "*"},
    {"ENUM_OVERLAP_ANALYSIS_TYPE", "*"},
    {"MSTX_EVENTS", "startNs, endNs, eventType, rangeId, category, " TEXT(
                        message) ", globalTid, "
                                 "endGlobalTid, " TEXT(domainId) ", connectionId"},
    {"CANN_API", "startNs, endNs, type, globalTid, " TEXT(name)},
    {"TASK", "startNs, endNs, deviceId, CASE WHEN connectionId BETWEEN 0 AND 3999999999 THEN " CALL
             " ELSE connectionId END, globalPid, " TEXT(taskType) ", contextId, streamId, taskId, "
                                                                  "modelId"},
    {"COMPUTE_TASK_INFO",
     TEXT(name) ", blockNum, mixBlockNum, " TEXT(taskType) ", " TEXT(opType) ", " TEXT(inputFormats) ", " TEXT(inputDataTypes) ", " TEXT(inputShapes) ", " TEXT(outputFormats) ", " TEXT(
         outputDataTypes) ", " TEXT(outputShapes) ", " TEXT(attrInfo) ", " TEXT(opState) ", " TEXT(hf32Eligible) ", " TEXT(gridDim) ", " TEXT(blockDim)},
    {"TASK_PMU_INFO", TASK_KEY ", " TEXT(name) ", round(value, 6)"},
    /* the parser repeats some rows: the set is what is compared (EXCEPT) */
    {"AICORE_FREQ", "*"},
    {"OVERLAP_ANALYSIS", "*"},
    {"NPU_MODULE_MEM", "*"},
    {"NPU_OP_MEM", TEXT(operatorName) ", addr, " TEXT(type) ", size, timestampNs, globalTid, "
                                                            "totalAllocate, totalReserve, " TEXT(
                                                                component) ", deviceId"},
    /* not its size: the parser writes 0 where the record says 1 MiB */
    {"MEMCPY_INFO", "memcpyOperation"},
    {"COMMUNICATION_OP", TEXT(opName) ", startNs, endNs, " CALL ", " TEXT(groupName) ", opId, relay, retry, "
                         "dataType, " TEXT(algType) ", count, " TEXT(opType) ", deviceId, rankSize"},
    {"COMMUNICATION_TASK_INFO",
     TEXT(name) ", " TASK_KEY ", " TEXT(taskType) ", planeId, " TEXT(groupName) ", notifyId, rdmaType, "
     "srcRank, dstRank, transportType, size, dataType, linkType, opId, isMaster, round(bandwidth, 3)"},
    /* not the bandwidth: the parser shows 0 twice, then the third over the time of two */
    {"HBM", "deviceId, timestampNs, hbmId, " TEXT(type)},
    {"HCCS", "*"},
    {"PCIE", "*"},
    {"NIC", "*"},
    {"ROCE", "*"},
    {"NPU_MEM", TEXT(type) ", ddr, hbm, timestampNs, deviceId"},
    {"ACC_PMU", "*"},
    {"SOC_BANDWIDTH_LEVEL", "*"},
    {"SIO", "deviceId, " TEXT(name) ", timestampNs, rxReq, rxRsp, rxSnp, rxDat, txReq, txRsp, txSnp, txDat"},
    {"QOS", "deviceId, " TEXT(eventName) ", bandwidth, timestampNs, dieId"},
    {"CPU_USAGE", "*"},
    {"HOST_MEM_USAGE", "*"},
    {"HOST_DISK_USAGE", "*"},
    {"HOST_NETWORK_USAGE", "timestampNs, usage, round(speed, 3)"},
    {"OSRT_API", TEXT(name) ", globalTid, startNs, endNs"},
};

/* What the eight events of LLC mean is not known. */
static const char *const not_ours[] = {"LLC"};

/* Rows that are not compared. */
static const struct {
    const char *table;
    const char *which;
    const char *why;
} but[] = {
    {"HCCS", "timestampNs < 1735689600060000000", "the parser leaves out the last sample"},
};

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    int64_t value = -1;

    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) {
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    }
    if (sqlite3_step(s) == SQLITE_ROW) {
        value = sqlite3_column_int64(s, 0);
    }
    sqlite3_finalize(s);
    return value;
}

/* "<dir>/msprof_<14 digits>.db" */
static void find_database(const char *dir, char *path, size_t size)
{
    DIR *list = opendir(dir);
    struct dirent *entry = NULL;
    unsigned found = 0;

    assert_non_null(list);
    while ((entry = readdir(list)) != NULL) {
        const char *name = entry->d_name;

        if (strncmp(name, "msprof_", 7) == 0 && strspn(name + 7, "0123456789") == 14 &&
            strcmp(name + 21, ".db") == 0) {
            snprintf(path, size, "%s/%s", dir, name);
            found++;
        }
        assert_null(strstr(name, ".part")); /* nothing half-written stays */
    }
    closedir(list);
    assert_int_equal(found, 1);
}

static void export(const char *prof, const char *out)
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(prof, &error);
    ap__model model;
    ap__export e;

    assert_non_null(reader);
    assert_int_equal(ap__model_load(&model, reader), 0);
    assert_int_equal(ap__export_open_base(&e, prof, out), 0);
    assert_int_equal(ap__db_export(&e, &model), 0);
    assert_string_equal(e.error, "");
    assert_string_not_equal(e.database, "");
    ap__export_close(&e);
    ap__model_free(&model);
    ap__reader_close(reader);
}

/* %s of the columns becomes the schema. */
static void put_columns(char *out, size_t size, const char *columns, const char *schema)
{
    size_t used = 0;

    for (const char *p = columns; *p != '\0' && used + 16 < size; p++) {
        if (p[0] == '%' && p[1] == 's') {
            used += (size_t)snprintf(out + used, size - used, "%s", schema);
            p++;
        } else {
            out[used++] = *p;
        }
    }
    out[used] = '\0';
}

static bool has_table(sqlite3 *db, const char *schema, const char *table)
{
    char sql[256];

    snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s.sqlite_master WHERE name = '%s'", schema,
             table);
    return number(db, sql) != 0;
}

static void compare(sqlite3 *db, const char *directory, const char *table, const char *columns)
{
    char left[4096];
    char right[4096];
    char sql[16384];
    const char *which = "1";
    bool there = has_table(db, "theirs", table);

    if (there != has_table(db, "ours", table)) {
        fail_msg("%s: %s is %s", directory, table, there ? "missing" : "only ours");
    }
    if (!there) {
        return;
    }
    for (size_t i = 0; i < sizeof(but) / sizeof(but[0]); i++) {
        which = strcmp(table, but[i].table) == 0 ? but[i].which : which;
    }
    put_columns(left, sizeof(left), columns, "ours");
    put_columns(right, sizeof(right), columns, "theirs");
    for (int turn = 0; turn < 2; turn++) {
        snprintf(sql, sizeof(sql),
                 "SELECT count(*) FROM (SELECT %s FROM %s.%s t WHERE %s EXCEPT SELECT %s FROM "
                 "%s.%s t)",
                 turn ? right : left, turn ? "theirs" : "ours", table, which, turn ? left : right,
                 turn ? "ours" : "theirs", table);
        if (number(db, sql) != 0) {
            fail_msg("%s: %s: %d rows only in %s", directory, table, (int)number(db, sql),
                     turn ? "theirs" : "ours");
        }
    }
    if (strcmp(table, "AICORE_FREQ") != 0) {
        snprintf(sql, sizeof(sql),
                 "SELECT (SELECT count(*) FROM ours.%s WHERE %s) - (SELECT count(*) FROM theirs.%s)",
                 table, which, table);
        assert_int_equal(number(db, sql), 0);
    }
    /* names, types and keys of the columns */
    snprintf(
        sql, sizeof(sql),
        "SELECT count(*) FROM (SELECT cid, name, type, pk FROM pragma_table_info('%s', 'ours') "
        "EXCEPT SELECT cid, name, type, pk FROM pragma_table_info('%s', 'theirs'))",
        table, table);
    assert_int_equal(number(db, sql), 0);
}

/* Every table of one side is compared or listed. */
static void check_tables(sqlite3 *db, const char *directory)
{
    sqlite3_stmt *s = NULL;

    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT name FROM theirs.sqlite_master WHERE type = 'table'"
                                        " AND name <> 'STRING_IDS' UNION SELECT name FROM "
                                        "ours.sqlite_master WHERE type = 'table' AND name <> "
                                        "'STRING_IDS'",
                                        -1, &s, NULL),
                     SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s, 0);
        bool known = false;

        for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
            known = known || strcmp(name, tables[i].table) == 0;
        }
        for (size_t i = 0; i < sizeof(not_ours) / sizeof(not_ours[0]); i++) {
            known = known || strcmp(name, not_ours[i]) == 0;
        }
        if (!known) {
            fail_msg("%s: nobody knows %s", directory, name);
        }
    }
    sqlite3_finalize(s);
}

/* What the readers rely on. */
static void check_queries(sqlite3 *db, const char *directory)
{
    bool device = strncmp(directory, "device", 6) == 0;

    assert_int_equal(number(db, "SELECT count(*) - count(DISTINCT value) FROM ours.STRING_IDS"), 0);
    assert_int_equal(number(db, "SELECT max(id) + 1 - count(*) FROM ours.STRING_IDS"), 0);
    assert_int_equal(number(db, "SELECT startTimeNs < endTimeNs FROM ours.SESSION_TIME_INFO"), 1);
    assert_int_equal(number(db, "SELECT count(*) FROM ours.NPU_INFO"), 1);
    if (!device) {
        return;
    }
    /* the operator view: inner joins, so a missing text would hide an operator */
    assert_int_equal(number(db, "SELECT count(*) FROM ours.COMPUTE_TASK_INFO c "
                                "JOIN ours.TASK t USING (globalTaskId) "
                                "JOIN ours.STRING_IDS n ON n.id = c.name "
                                "JOIN ours.STRING_IDS o ON o.id = c.opType "
                                "JOIN ours.STRING_IDS i ON i.id = c.inputShapes "
                                "JOIN ours.STRING_IDS s ON s.id = c.opState"),
                     4);
    /* kernels below their launch */
    assert_int_equal(number(db, "SELECT count(*) FROM ours.CANN_API a JOIN ours.TASK t "
                                "USING (connectionId) JOIN ours.STRING_IDS n ON n.id = a.name "
                                "WHERE n.value = 'launch' AND a.type = 10000"),
                     6);
    /* marks on streams */
    assert_int_equal(number(db, "SELECT count(*) FROM ours.TASK t JOIN ours.MSTX_EVENTS e "
                                "USING (connectionId) JOIN ours.STRING_IDS n ON n.id = e.message "
                                "WHERE n.value = 'acl_mark_ex'"),
                     1);
    assert_int_equal(number(db, "SELECT size FROM ours.MEMCPY_INFO m JOIN ours.TASK t "
                                "USING (globalTaskId) WHERE memcpyOperation = 1 AND taskId = 5"),
                     1 << 20);
    assert_int_equal(number(db, "SELECT count(*) - count(DISTINCT globalTaskId) FROM ours.TASK"),
                     0);
    assert_int_equal(number(db, "SELECT count(*) FROM ours.sqlite_master WHERE name = 'TaskIndex'"),
                     1);
}

static void test_databases(void **state)
{
    const char *root = ((scratch *)*state)->path;
    char command[4096];

    snprintf(command, sizeof(command), "tar -xJf '%s/../data/golden.tar.xz' -C '%s'",
             AP_TEST_SOURCE_DIR, root);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
        char path[4096];
        char out[4096];
        char sql[8400];
        sqlite3 *db = NULL;

        snprintf(path, sizeof(path), "%s/%s/" PROF, root, directories[i]);
        snprintf(out, sizeof(out), "%s/out_%s", root, directories[i]);
        assert_int_equal(mkdir(out, 0700), 0);
        export(path, out);
        assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
        find_database(out, path, sizeof(path));
        snprintf(sql, sizeof(sql), "ATTACH '%s' AS ours", path);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        snprintf(out, sizeof(out), "%s/%s/exported_so", root, directories[i]);
        find_database(out, path, sizeof(path));
        snprintf(sql, sizeof(sql), "ATTACH '%s' AS theirs", path);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        for (size_t k = 0; k < sizeof(tables) / sizeof(tables[0]); k++) {
            compare(db, directories[i], tables[k].table, tables[k].columns);
        }
        check_tables(db, directories[i]);
        check_queries(db, directories[i]);
        sqlite3_close(db);
    }
}

/* Nothing was recorded: what every database has, and nothing else. */
static void test_empty(void **state)
{
    const char *root = ((scratch *)*state)->path;
    char command[12400];
    char path[4096];
    sqlite3 *db = NULL;

    snprintf(command, sizeof(command),
             "tar -xJf '%s/../data/golden.tar.xz' -C '%s' && rm -f '%s'/host_api/" PROF
             "/host/data/*",
             AP_TEST_SOURCE_DIR, root, root);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof(path), "%s/host_api/" PROF, root);
    export(path, root);
    find_database(root, path, sizeof(path));
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(number(db, "SELECT count(*) FROM sqlite_master WHERE type = 'table'"), 15);
    assert_int_equal(number(db, "SELECT count(*) FROM STRING_IDS"), 0);
    assert_int_equal(number(db, "SELECT id FROM NPU_INFO WHERE name = 'UNKNOWN'"), -1);
    assert_int_equal(number(db, "SELECT count(*) FROM META_DATA"), 4);
    sqlite3_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_databases, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_empty, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
