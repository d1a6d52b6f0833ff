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

int ap__db_open(ap__db *db, const char *dir, int dir_fd, const char *name)
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
    *t = (ap__db_table){.db = db, .name = name, .columns = columns};
}

static void ap__make_table(ap__db_table *t)
{
    char sql[1400];
    size_t used = 0;
    uint32_t commas = 0;

    (void)snprintf(sql, sizeof(sql), "CREATE TABLE %s (%s)", t->name, t->columns);
    ap__db_exec(t->db, sql);
    for (const char *p = t->columns; *p != '\0'; p++) {
        commas += *p == ',';
    }
    used = (size_t)snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (?", t->name);
    for (uint32_t i = 0; i < commas; i++) {
        used += (size_t)snprintf(sql + used, sizeof(sql) - used, ",?");
    }
    (void)snprintf(sql + used, sizeof(sql) - used, ")");
    t->insert = ap__prepare(t->db, sql);
}

void ap__db_row(ap__db_table *t)
{
    ap__bulk_step();
    if (t->insert == NULL && t->db->rc == 0) {
        ap__make_table(t);
    }
    t->column = 0;
}

void ap__db_int(ap__db_table *t, uint64_t value)
{
    if (t->db->rc == 0) {
        (void)sqlite3_bind_int64(t->insert, ++t->column, (int64_t)value);
    }
}

void ap__db_real(ap__db_table *t, double value)
{
    if (t->db->rc == 0) {
        (void)sqlite3_bind_double(t->insert, ++t->column, value);
    }
}

void ap__db_text(ap__db_table *t, const char *text)
{
    int rc = t->db->rc == 0 ? sqlite3_bind_text(t->insert, ++t->column, text, -1, SQLITE_TRANSIENT)
                            : SQLITE_OK;

    if (rc != SQLITE_OK) {
        ap__fail(t->db, rc);
    }
}

void ap__db_name(ap__db_table *t, const char *text)
{
    ap__db_int(t, ap__db_string_id(t->db, text));
}

void ap__db_row_end(ap__db_table *t)
{
    int rc = SQLITE_DONE;

    if (t->db->rc != 0) {
        return;
    }
    rc = sqlite3_step(t->insert);
    (void)sqlite3_reset(t->insert);
    if (rc != SQLITE_DONE) {
        ap__fail(t->db, rc);
    }
}

bool ap__db_table_end(ap__db_table *t)
{
    bool rows = t->insert != NULL;

    sqlite3_finalize(t->insert);
    t->insert = NULL;
    return rows;
}
