/* SPDX-License-Identifier: Apache-2.0 */
/* One database of the sets' databases: the same tables, with numbers that no two sets share (texts,
 * tasks, connections, devices, processes), and MERGED_SETS and MERGED_DEVICES to tell whose they
 * are. Tables and columns are taken from the databases themselves; what a column's numbers mean is
 * known by its name. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/merge/merge.h"

#define AP_SQL_MOST 16384u
#define AP_HOST_ONLY "4000000000" /* connection of a stamp that no device answers */
#define AP_SET_SHIFT 40           /* numbers of tasks and connections of one set stay below */

typedef struct ap__merger {
    sqlite3 *db;
    int rc;
} ap__merger;

typedef struct ap__sql {
    char text[AP_SQL_MOST];
    size_t used;
    bool full;
} ap__sql;

static void ap__add(ap__sql *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void ap__add(ap__sql *s, const char *format, ...)
{
    va_list args;
    int n = 0;

    va_start(args, format);
    n = vsnprintf(s->text + s->used, sizeof(s->text) - s->used, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof(s->text) - s->used) {
        s->full = true;
    } else {
        s->used += (size_t)n;
    }
}

static void ap__failed(ap__merger *g, int rc)
{
    if (rc != SQLITE_OK && g->rc == 0) {
        g->rc = (rc & 0xFF) == SQLITE_NOMEM ? ENOMEM : (rc & 0xFF) == SQLITE_FULL ? ENOSPC : EIO;
    }
}

static void ap__exec(ap__merger *g, const char *sql)
{
    if (g->rc == 0) {
        ap__failed(g, sqlite3_exec(g->db, sql, NULL, NULL, NULL));
    }
}

/* ---- what columns hold ---- */

typedef enum ap__meaning { AP_PLAIN, AP_TEXT, AP_NUMBER, AP_DEVICE, AP_PID, AP_TID } ap__meaning;

static const struct {
    const char *table; /* NULL: any */
    const char *column;
    ap__meaning meaning;
} ap__meanings[] = {
    {NULL, "name", AP_TEXT},
    {NULL, "message", AP_TEXT},
    {NULL, "domainId", AP_TEXT},
    {NULL, "taskType", AP_TEXT},
    {NULL, "opType", AP_TEXT},
    {NULL, "opName", AP_TEXT},
    {NULL, "inputFormats", AP_TEXT},
    {NULL, "inputDataTypes", AP_TEXT},
    {NULL, "inputShapes", AP_TEXT},
    {NULL, "outputFormats", AP_TEXT},
    {NULL, "outputDataTypes", AP_TEXT},
    {NULL, "outputShapes", AP_TEXT},
    {NULL, "attrInfo", AP_TEXT},
    {NULL, "opState", AP_TEXT},
    {NULL, "hf32Eligible", AP_TEXT},
    {NULL, "gridDim", AP_TEXT},
    {NULL, "blockDim", AP_TEXT},
    {NULL, "groupName", AP_TEXT},
    {NULL, "algType", AP_TEXT},
    {NULL, "operatorName", AP_TEXT},
    {NULL, "component", AP_TEXT},
    {NULL, "eventName", AP_TEXT},
    {NULL, "mode", AP_TEXT},
    {NULL, "metric", AP_TEXT},
    {NULL, "args", AP_TEXT},
    {"NPU_MEM", "type", AP_TEXT},
    {"NPU_OP_MEM", "type", AP_TEXT},
    {"HBM", "type", AP_TEXT},
    {NULL, "globalTaskId", AP_NUMBER},
    {NULL, "connectionId", AP_NUMBER},
    {NULL, "opId", AP_NUMBER},
    {"OVERLAP_ANALYSIS", "id", AP_NUMBER},
    {NULL, "deviceId", AP_DEVICE},
    {NULL, "dpuDeviceId", AP_DEVICE},
    {"NPU_INFO", "id", AP_DEVICE},
    {NULL, "globalPid", AP_PID},
    {NULL, "globalTid", AP_TID},
    {NULL, "endGlobalTid", AP_TID},
};

static ap__meaning ap__meaning_of(const char *table, const char *column, const char *type)
{
    for (size_t i = 0; i < sizeof(ap__meanings) / sizeof(ap__meanings[0]); i++) {
        if (strcmp(ap__meanings[i].column, column) == 0 &&
            (ap__meanings[i].table == NULL || strcmp(ap__meanings[i].table, table) == 0)) {
            /* a column of texts themselves needs no number */
            return ap__meanings[i].meaning == AP_TEXT && sqlite3_stricmp(type, "TEXT") == 0
                       ? AP_PLAIN
                       : ap__meanings[i].meaning;
        }
    }
    return AP_PLAIN;
}

static void ap__add_column(ap__sql *s, ap__meaning meaning, const char *c, uint32_t set,
                           uint32_t pid)
{
    switch (meaning) {
    case AP_TEXT:
        ap__add(s, "coalesce((SELECT new FROM temp.texts WHERE old = t.\"%s\"), t.\"%s\")", c, c);
        break;
    case AP_NUMBER:
        ap__add(s,
                "CASE WHEN t.\"%s\" < 0 OR t.\"%s\" = " AP_HOST_ONLY
                " THEN t.\"%s\" ELSE t.\"%s\" + "
                "%" PRIu64 " END",
                c, c, c, c, (uint64_t)set << AP_SET_SHIFT);
        break;
    case AP_DEVICE:
        ap__add(s, "coalesce((SELECT new FROM temp.devices WHERE old = t.\"%s\"), t.\"%s\")", c, c);
        break;
    case AP_PID:
        ap__add(s, "%u", pid);
        break;
    case AP_TID:
        ap__add(s, "(t.\"%s\" & 4294967295) | %" PRIu64, c, (uint64_t)pid << 32);
        break;
    default:
        ap__add(s, "t.\"%s\"", c);
    }
}

/* ---- a table ---- */

/* Names come from a database that this program has just written. */
static void ap__take_table(ap__merger *g, const ap__merge *m, uint32_t set, const char *table)
{
    ap__sql *s = calloc(1, sizeof(*s));
    sqlite3_stmt *q = NULL;
    bool first = true;

    if (s == NULL) {
        g->rc = ENOMEM;
        return;
    }
    ap__add(s, "INSERT OR %s INTO main.\"%s\" SELECT ",
            strncmp(table, "ENUM_", 5) == 0 ? "IGNORE" : "ABORT", table);
    ap__failed(g, sqlite3_prepare_v2(g->db, "SELECT name, type FROM pragma_table_info(?1, 's')", -1,
                                     &q, NULL));
    if (g->rc == 0) {
        (void)sqlite3_bind_text(q, 1, table, -1, SQLITE_STATIC);
    }
    while (g->rc == 0 && sqlite3_step(q) == SQLITE_ROW) {
        const char *column = (const char *)sqlite3_column_text(q, 0);
        const char *type = (const char *)sqlite3_column_text(q, 1);

        ap__add(s, first ? "" : ", ");
        ap__add_column(s, ap__meaning_of(table, column, type != NULL ? type : ""), column, set,
                       m->sets[set].global_pid);
        first = false;
    }
    sqlite3_finalize(q);
    ap__add(s, " FROM s.\"%s\" t", table);
    if (g->rc == 0) {
        g->rc = s->full ? EFBIG : 0;
        ap__exec(g, s->text);
    }
    free(s);
}

/* The table as the set's database declares it, unless it is there. */
static void ap__make_tables(ap__merger *g)
{
    sqlite3_stmt *q = NULL;

    ap__failed(g, sqlite3_prepare_v2(g->db,
                                     "SELECT sql FROM s.sqlite_master WHERE sql IS NOT NULL AND "
                                     "name NOT IN (SELECT name FROM main.sqlite_master) "
                                     "ORDER BY type DESC",
                                     -1, &q, NULL));
    while (g->rc == 0 && sqlite3_step(q) == SQLITE_ROW) {
        ap__exec(g, (const char *)sqlite3_column_text(q, 0));
    }
    sqlite3_finalize(q);
}

/* Not a set's own: of the first alone, or written anew. */
static bool ap__is_common(const char *table, bool first)
{
    return strcmp(table, "STRING_IDS") == 0 || strcmp(table, "RANK_DEVICE_MAP") == 0 ||
           (!first && strcmp(table, "META_DATA") == 0);
}

static void ap__take_tables(ap__merger *g, const ap__merge *m, uint32_t set, bool first)
{
    sqlite3_stmt *q = NULL;

    ap__failed(g, sqlite3_prepare_v2(g->db, "SELECT name FROM s.sqlite_master WHERE type = 'table'",
                                     -1, &q, NULL));
    while (g->rc == 0 && sqlite3_step(q) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(q, 0);

        if (!ap__is_common(table, first)) {
            ap__take_table(g, m, set, table);
        }
    }
    sqlite3_finalize(q);
}

/* ---- a set ---- */

static void ap__numbers(ap__merger *g, const ap__merge_set *s)
{
    char sql[128];

    ap__exec(g, "CREATE TEMP TABLE texts (old INTEGER PRIMARY KEY, new INTEGER);"
                "CREATE TEMP TABLE devices (old INTEGER PRIMARY KEY, new INTEGER);"
                "INSERT INTO main.STRING_IDS (value) SELECT value FROM s.STRING_IDS o WHERE NOT "
                "EXISTS (SELECT 1 FROM main.STRING_IDS n WHERE n.value = o.value);"
                "INSERT INTO temp.texts SELECT o.id, min(n.id) FROM s.STRING_IDS o JOIN "
                "main.STRING_IDS n ON n.value = o.value GROUP BY o.id");
    for (uint32_t i = 0; i < s->device_count; i++) {
        (void)snprintf(sql, sizeof(sql), "INSERT INTO temp.devices VALUES (%u, %u)",
                       s->devices[i].device, s->devices[i].global);
        ap__exec(g, sql);
    }
}

static void ap__take_set(ap__merger *g, const ap__merge *m, uint32_t set, bool first)
{
    sqlite3_stmt *q = NULL;

    ap__failed(g, sqlite3_prepare_v2(g->db, "ATTACH ?1 AS s", -1, &q, NULL));
    if (g->rc == 0) {
        (void)sqlite3_bind_text(q, 1, m->sets[set].database, -1, SQLITE_STATIC);
        ap__failed(g, sqlite3_step(q) == SQLITE_DONE ? SQLITE_OK : SQLITE_IOERR);
    }
    sqlite3_finalize(q);
    ap__exec(g, "BEGIN");
    ap__make_tables(g);
    if (first) {
        ap__exec(g, "CREATE INDEX main.merge_texts ON STRING_IDS (value)");
    }
    ap__numbers(g, &m->sets[set]);
    ap__take_tables(g, m, set, first);
    ap__exec(g, "COMMIT; DROP TABLE temp.texts; DROP TABLE temp.devices; DETACH s");
}

/* ---- what is told of all ---- */

static void ap__insert_set(ap__merger *g, const ap__merge *m, uint32_t set)
{
    const ap__merge_set *s = &m->sets[set];
    sqlite3_stmt *q = NULL;
    char by[96];

    ap__merge_by_text(s, by, sizeof(by));
    ap__failed(g,
               sqlite3_prepare_v2(g->db, "INSERT INTO MERGED_SETS VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                                  -1, &q, NULL));
    if (g->rc == 0) {
        (void)sqlite3_bind_int64(q, 1, set);
        (void)sqlite3_bind_int64(q, 2, s->rank);
        (void)sqlite3_bind_text(q, 3, s->host, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int64(q, 4, s->pid);
        (void)sqlite3_bind_int64(q, 5, s->global_pid);
        (void)sqlite3_bind_text(q, 6, s->process, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(q, 7, s->path, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int64(q, 8, s->shift_ns);
        if (s->error_ns != UINT64_MAX) {
            (void)sqlite3_bind_int64(q, 9, (int64_t)s->error_ns);
        }
        (void)sqlite3_bind_text(q, 10, by, -1, SQLITE_STATIC);
        if (s->failed) {
            (void)sqlite3_bind_text(q, 11, s->error, -1, SQLITE_STATIC);
        }
        ap__failed(g, sqlite3_step(q) == SQLITE_DONE ? SQLITE_OK : SQLITE_IOERR);
    }
    sqlite3_finalize(q);
}

static void ap__insert_devices(ap__merger *g, const ap__merge *m, uint32_t set)
{
    const ap__merge_set *s = &m->sets[set];
    char sql[256];

    for (uint32_t i = 0; i < s->device_count && !s->failed; i++) {
        const ap__merge_device *d = &s->devices[i];
        char error[24] = "NULL";

        if (d->snapshots >= 2) {
            (void)snprintf(error, sizeof(error), "%" PRIu64, d->error_ns);
        }
        (void)snprintf(sql, sizeof(sql),
                       "INSERT INTO MERGED_DEVICES VALUES (%u, %u, %u, %u, %s);"
                       "INSERT INTO RANK_DEVICE_MAP VALUES (%" PRId64 ", %u)",
                       d->global, set, d->device, d->snapshots, error, s->rank, d->global);
        ap__exec(g, sql);
    }
    if (s->device_count == 0 && !s->failed) {
        (void)snprintf(sql, sizeof(sql), "INSERT INTO RANK_DEVICE_MAP VALUES (%" PRId64 ", -1)",
                       s->rank);
        ap__exec(g, sql);
    }
}

static void ap__summary(ap__merger *g, const ap__merge *m)
{
    ap__exec(g,
             "BEGIN; DROP INDEX merge_texts;"
             "CREATE TABLE MERGED_SETS (setId INTEGER PRIMARY KEY, rankId INTEGER, hostName TEXT, "
             "pid INTEGER, globalPid INTEGER, processName TEXT, directory TEXT, shiftNs INTEGER, "
             "errorNs INTEGER, alignment TEXT, leftOut TEXT);"
             "CREATE TABLE MERGED_DEVICES (deviceId INTEGER PRIMARY KEY, setId INTEGER, device "
             "INTEGER, clockSnapshots INTEGER, clockErrorNs INTEGER);"
             "CREATE TEMP TABLE span AS SELECT min(startTimeNs) a, max(endTimeNs) b FROM "
             "SESSION_TIME_INFO; DELETE FROM SESSION_TIME_INFO;"
             "INSERT INTO SESSION_TIME_INFO SELECT a, b FROM temp.span;"
             "DELETE FROM HOST_INFO WHERE rowid NOT IN (SELECT min(rowid) FROM HOST_INFO GROUP BY "
             "hostUid, hostName);"
             "DELETE FROM NPU_INFO WHERE id < 0 AND EXISTS (SELECT 1 FROM NPU_INFO WHERE id >= 0);"
             "DELETE FROM NPU_INFO WHERE rowid NOT IN (SELECT min(rowid) FROM NPU_INFO GROUP BY "
             "id)");
    for (uint32_t i = 0; i < m->count; i++) {
        ap__insert_set(g, m, i);
        ap__insert_devices(g, m, i);
    }
    ap__exec(g, "COMMIT");
}

int ap__merge_database(const ap__merge *m, const char *name)
{
    ap__merger g = {0};
    char part[128];
    char path[PATH_MAX + 160];
    bool first = true;
    int fd = -1;

    (void)snprintf(part, sizeof(part), ".%s.part", name);
    (void)snprintf(path, sizeof(path), "%s/%s", m->output, part);
    (void)unlinkat(m->output_fd, part, 0);
    fd = openat(m->output_fd, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (fd < 0) {
        return errno;
    }
    (void)fchmod(fd, 0640);
    close(fd);
    ap__failed(&g, sqlite3_open_v2(path, &g.db, SQLITE_OPEN_READWRITE, NULL));
    ap__exec(&g, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    for (uint32_t i = 0; i < m->count && g.rc == 0; i++) {
        if (!m->sets[i].failed) {
            ap__take_set(&g, m, i, first);
            first = false;
        }
    }
    ap__summary(&g, m);
    if (sqlite3_close(g.db) != SQLITE_OK && g.rc == 0) {
        g.rc = EIO;
    }
    if (g.rc == 0 && renameat(m->output_fd, part, m->output_fd, name) != 0) {
        g.rc = errno;
    }
    if (g.rc != 0) {
        (void)unlinkat(m->output_fd, part, 0);
    }
    return g.rc;
}
