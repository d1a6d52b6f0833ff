/* SPDX-License-Identifier: Apache-2.0 */
/* The database of an export: tables that are made with their first row, texts by number. */
#ifndef AP_TOOL_DB_H_
#define AP_TOOL_DB_H_

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "tool/export.h"
#include "tool/text_ids.h"

typedef struct ap__db {
    sqlite3 *handle;
    int rc; /* first errno; later calls do nothing */
    int dir_fd;
    char name[96];
    char part[112];
    char path[4600]; /* of the part */
    ap__text_ids strings;
    sqlite3_stmt *string_insert;
} ap__db;

#define AP_DB_COLUMNS 24u /* of a table, at most */
#define AP_DB_ROWS 32u    /* that one statement inserts */

typedef struct ap__db_cell {
    int type; /* SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT */
    union {
        int64_t number;
        double real;
        const char *text;
    } value;
} ap__db_cell;

/* A table that is being filled. Rows wait until there are AP_DB_ROWS of them: a statement costs more
 * than a row. */
typedef struct ap__db_table {
    ap__db *db;
    const char *name;
    const char *columns; /* "startNs INTEGER, …" */
    uint32_t width;
    sqlite3_stmt *insert;
    sqlite3_stmt *insert_many; /* made when there are enough */
    uint32_t rows;             /* that wait */
    uint32_t column;
    bool texts; /* the row has some that live no longer than it does */
    ap__db_cell cells[AP_DB_ROWS * AP_DB_COLUMNS];
} ap__db_table;

/* Begins the file in a directory that is open as dir_fd too; `large`: millions of rows are to come.
 * 0 or errno. */
int ap__db_open(ap__db *db, const char *dir, int dir_fd, const char *name, bool large);
/* Gives the file its name; 0, or the first errno with nothing left behind. */
int ap__db_finish(ap__db *db);
void ap__db_exec(ap__db *db, const char *sql);
/* Number of a text; NULL is N/A. */
uint32_t ap__db_string_id(ap__db *db, const char *text);

/* Nothing happens before the first row; `columns` must live as long. */
void ap__db_table_begin(ap__db *db, ap__db_table *t, const char *name, const char *columns);
void ap__db_row(ap__db_table *t);
void ap__db_int(ap__db_table *t, uint64_t value); /* 2^64 - 1 becomes -1 */
void ap__db_real(ap__db_table *t, double value);
void ap__db_text(ap__db_table *t, const char *text); /* itself */
void ap__db_name(ap__db_table *t, const char *text); /* its number */
void ap__db_row_end(ap__db_table *t);
/* Whether there were rows. */
bool ap__db_table_end(ap__db_table *t);

/* The tables, by theme. */
void ap__db_base(ap__db *db, const ap__model *m);
void ap__db_calls(ap__db *db, const ap__model *m);
void ap__db_stamps(ap__db *db, const ap__model *m);
void ap__db_tasks(ap__db *db, const ap__model *m);
void ap__db_frequencies(ap__db *db, const ap__model *m);
void ap__db_memory(ap__db *db, const ap__model *m);
void ap__db_overlap(ap__db *db, const ap__model *m);
void ap__db_communication(ap__db *db, const ap__model *m);
void ap__db_samples(ap__db *db, const ap__model *m);

#endif
