/* SPDX-License-Identifier: Apache-2.0 */
/* msprof_<stamp>.db: the tables of db_*.c in one file. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "tool/export.h"
#ifdef AP_HAVE_SQLITE
#include "tool/db.h"
#endif

#ifdef AP_HAVE_SQLITE
#define AP_LARGE 100000u /* tasks and calls */

static int ap__write(ap__export *e, const ap__model *m, const char *name)
{
    static void (*const tables[])(ap__db *, const ap__model *) = {
        ap__db_base,   ap__db_stamps,      ap__db_calls,  ap__db_tasks,
        ap__db_memory, ap__db_frequencies, ap__db_overlap, ap__db_communication, ap__db_samples};
    _Static_assert(sizeof(tables) / sizeof(tables[0]) == AP_EXPORT_DATABASE, "steps of the bar");
    int dir_fd = open(e->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ap__db db;
    bool large = (uint64_t)m->task_count + m->call_count > AP_LARGE;
    int rc = dir_fd >= 0 ? ap__db_open(&db, e->base, dir_fd, name, large) : errno;

    if (rc == 0) {
        for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
            ap__export_progress(e, "database");
            tables[i](&db, m);
        }
        rc = ap__db_finish(&db);
    }
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    return rc;
}

void ap__db_one_thread(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
#else
void ap__db_one_thread(void)
{
}

static int ap__write(ap__export *e, const ap__model *m, const char *name)
{
    (void)e;
    (void)m;
    (void)name;
    return ENOTSUP;
}
#endif

int ap__db_export(ap__export *e, const ap__model *m)
{
    char name[64];
    int rc = 0;

    (void)snprintf(name, sizeof(name), "msprof_%s.db", e->stamp);
    rc = ap__write(e, m, name);
    if (rc != 0) {
        ap__export_failed(e, name, rc);
    } else {
        (void)snprintf(e->database, sizeof(e->database), "%s", name);
    }
    return rc;
}
