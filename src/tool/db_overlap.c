/* SPDX-License-Identifier: Apache-2.0 */
/* OVERLAP_ANALYSIS. */
#include "analysis/overlap.h"
#include "tool/db.h"

typedef struct ap__rows {
    ap__db_table table;
    uint32_t device; /* number */
    uint64_t id;
} ap__rows;

static void ap__overlap_row(void *context, uint64_t start, uint64_t end, int type)
{
    ap__rows *r = context;

    ap__db_row(&r->table);
    ap__db_int(&r->table, r->id++);
    ap__db_int(&r->table, r->device);
    ap__db_int(&r->table, start);
    ap__db_int(&r->table, end);
    ap__db_int(&r->table, (uint64_t)type);
    ap__db_row_end(&r->table);
}

void ap__db_overlap(ap__db *db, const ap__model *m)
{
    ap__rows rows = {.id = 0};
    int rc = 0;

    ap__db_table_begin(db, &rows.table, "OVERLAP_ANALYSIS",
                       "id INTEGER PRIMARY KEY, deviceId INTEGER, startNs NUMERIC, endNs NUMERIC, "
                       "type INTEGER");
    for (uint32_t i = 0; rc == 0 && db->rc == 0 && i < m->device_count; i++) {
        rows.device = m->devices[i].device;
        rc = ap__overlap_each(m, i, ap__overlap_row, &rows);
    }
    db->rc = db->rc != 0 ? db->rc : rc;
    (void)ap__db_table_end(&rows.table);
}
