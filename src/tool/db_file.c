/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tool/db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/bulk.h"

static void ap__fail(ap__db *db, int sqlite_rc)
{
    if (db->rc != 0) {
        return;
    }
    db->rc = (sqlite_rc & 0xFF) == SQLITE_NOMEM  ? ENOMEM
             : (sqlite_rc & 0xFF) == SQLITE_FULL ? ENOSPC
                                                 : EIO;
}

void ap__db_exec(ap__db *db, const char *sql)
{
    int rc = db->rc == 0 ? sqlite3_exec(db->handle, sql, NULL, NULL, NULL) : SQLITE_OK;

    if (rc != SQLITE_OK) {
        ap__fail(db, rc);
    }
}

static sqlite3_stmt *ap__prepare(ap__db *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    int rc = db->rc == 0 ? sqlite3_prepare_v2(db->handle, sql, -1, &s, NULL) : SQLITE_OK;

    if (rc != SQLITE_OK) {
        ap__fail(db, rc);
    }
    return s;
}

int ap__db_open(ap__db *db, const char *dir, int dir_fd, const char *name, bool large)
{
    int fd = -1;
    int rc = 0;

    memset(db, 0, sizeof(*db));
    db->dir_fd = dir_fd;
    (void)snprintf(db->name, sizeof(db->name), "%s", name);
    (void)snprintf(db->part, sizeof(db->part), ".%s.part", name);
    (void)snprintf(db->path, sizeof(db->path), "%s/%s", dir, db->part);
    (void)unlinkat(dir_fd, db->part, 0);
    fd = openat(dir_fd, db->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (fd < 0) {
        db->rc = errno;
        return db->rc;
    }
    (void)fchmod(fd, 0640);
    (void)close(fd);
    rc = sqlite3_open_v2(db->path, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK) {
        ap__fail(db, rc);
    }
    if (large) { /* pages are filled in order: larger ones cost less */
        ap__db_exec(db, "PRAGMA page_size = 32768");
    }
    /* the file has no name before it is whole: nothing has to survive a crash */
    ap__db_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                    "PRAGMA locking_mode = EXCLUSIVE; BEGIN;"
                    "CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT)");
    db->string_insert = ap__prepare(db, "INSERT INTO STRING_IDS VALUES (?, ?)");
    return db->rc != 0 ? ap__db_finish(db) : 0;
}

int ap__db_finish(ap__db *db)
{
    ap__db_exec(db, "COMMIT");
    sqlite3_finalize(db->string_insert);
    db->string_insert = NULL;
    if (sqlite3_close(db->handle) != SQLITE_OK && db->rc == 0) {
        db->rc = EIO;
    }
    db->handle = NULL;
    ap__text_ids_free(&db->strings);
    if (db->rc == 0 && renameat(db->dir_fd, db->part, db->dir_fd, db->name) != 0) {
        db->rc = errno;
    }
    if (db->rc != 0) {
        (void)unlinkat(db->dir_fd, db->part, 0);
    }
    return db->rc;
}

/* ---- texts ---- */

uint32_t ap__db_string_id(ap__db *db, const char *text)
{
    uint32_t id = 0;
    bool fresh = false;
    int rc = 0;

    text = text != NULL ? text : "N/A";
    if (db->rc == 0) {
        db->rc = ap__text_id(&db->strings, text, &id, &fresh);
    }
    if (db->rc == 0 && fresh) {
        (void)sqlite3_bind_int64(db->string_insert, 1, id);
        (void)sqlite3_bind_text(db->string_insert, 2, text, -1, SQLITE_STATIC);
        rc = sqlite3_step(db->string_insert);
        (void)sqlite3_reset(db->string_insert);
        if (rc != SQLITE_DONE) {
            ap__fail(db, rc);
        }
    }
    return id;
}

/* ---- tables ---- */

void ap__db_table_begin(ap__db *db, ap__db_table *t, const char *name, const char *columns)
{
    t->db = db;
    t->name = name;
    t->columns = columns;
    t->width = 1;
    t->insert = NULL;
    t->insert_many = NULL;
    t->rows = 0;
    t->column = 0;
    t->texts = false;
    for (const char *p = columns; *p != '\0'; p++) {
        t->width += *p == ',';
    }
    if (t->width > AP_DB_COLUMNS && db->rc == 0) {
        db->rc = E2BIG;
    }
}

/* "INSERT INTO name VALUES (?,?),(?,?)…" */
static sqlite3_stmt *ap__prepare_insert(ap__db_table *t, uint32_t rows)
{
    char sql[64 + AP_DB_ROWS * (AP_DB_COLUMNS + 2) * 2];
    size_t used = (size_t)snprintf(sql, sizeof(sql), "INSERT INTO %.40s VALUES ", t->name);

    for (uint32_t i = 0; i < rows; i++) {
        sql[used++] = i != 0 ? ',' : ' ';
        for (uint32_t k = 0; k < t->width; k++) {
            sql[used++] = k != 0 ? ',' : '(';
            sql[used++] = '?';
        }
        sql[used++] = ')';
    }
    sql[used] = '\0';
    return ap__prepare(t->db, sql);
}

static void ap__make_table(ap__db_table *t)
{
    char sql[1400];

    (void)snprintf(sql, sizeof(sql), "CREATE TABLE %s (%s)", t->name, t->columns);
    ap__db_exec(t->db, sql);
    t->insert = ap__prepare_insert(t, 1);
}

static int ap__bind(sqlite3_stmt *s, int index, const ap__db_cell *cell)
{
    switch (cell->type) {
    case SQLITE_INTEGER:
        return sqlite3_bind_int64(s, index, cell->value.number);
    case SQLITE_FLOAT:
        return sqlite3_bind_double(s, index, cell->value.real);
    default:
        return sqlite3_bind_text(s, index, cell->value.text, -1, SQLITE_TRANSIENT);
    }
}

static void ap__insert(ap__db_table *t, sqlite3_stmt *s, const ap__db_cell *cells, uint32_t count)
{
    int rc = SQLITE_OK;

    if (t->db->rc != 0) {
        return;
    }
    for (uint32_t i = 0; rc == SQLITE_OK && i < count; i++) {
        rc = ap__bind(s, (int)i + 1, &cells[i]);
    }
    rc = rc == SQLITE_OK ? sqlite3_step(s) : rc;
    (void)sqlite3_reset(s);
    if (rc != SQLITE_DONE) {
        ap__fail(t->db, rc);
    }
}

static void ap__insert_waiting(ap__db_table *t)
{
    if (t->rows == AP_DB_ROWS) {
        if (t->insert_many == NULL) {
            t->insert_many = ap__prepare_insert(t, AP_DB_ROWS);
        }
        ap__insert(t, t->insert_many, t->cells, AP_DB_ROWS * t->width);
    } else {
        for (uint32_t i = 0; i < t->rows; i++) {
            ap__insert(t, t->insert, &t->cells[i * t->width], t->width);
        }
    }
    t->rows = 0;
    t->texts = false;
}

void ap__db_row(ap__db_table *t)
{
    ap__bulk_step();
    if (t->insert == NULL && t->db->rc == 0) {
        ap__make_table(t);
    }
    t->column = 0;
}

static ap__db_cell *ap__next_cell(ap__db_table *t)
{
    uint32_t at = t->rows * t->width + t->column;

    t->column += t->column + 1 < t->width;
    return &t->cells[at < AP_DB_ROWS * AP_DB_COLUMNS ? at : 0];
}

void ap__db_int(ap__db_table *t, uint64_t value)
{
    ap__db_cell *cell = ap__next_cell(t);

    cell->type = SQLITE_INTEGER;
    cell->value.number = (int64_t)value;
}

void ap__db_real(ap__db_table *t, double value)
{
    ap__db_cell *cell = ap__next_cell(t);

    cell->type = SQLITE_FLOAT;
    cell->value.real = value;
}

void ap__db_text(ap__db_table *t, const char *text)
{
    ap__db_cell *cell = ap__next_cell(t);

    cell->type = SQLITE_TEXT;
    cell->value.text = text;
    t->texts = true;
}

void ap__db_name(ap__db_table *t, const char *text)
{
    ap__db_int(t, ap__db_string_id(t->db, text));
}

void ap__db_row_end(ap__db_table *t)
{
    t->rows++;
    if (t->rows == AP_DB_ROWS || t->texts) {
        ap__insert_waiting(t);
    }
}

bool ap__db_table_end(ap__db_table *t)
{
    bool rows = t->insert != NULL;

    ap__insert_waiting(t);
    sqlite3_finalize(t->insert);
    sqlite3_finalize(t->insert_many);
    t->insert = NULL;
    t->insert_many = NULL;
    return rows;
}
