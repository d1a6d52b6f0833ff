/* SPDX-License-Identifier: Apache-2.0 */
/* What was copied: MEMCPY_INFO. */
#include "analysis/bulk.h"
#include "analysis/copies.h"
#include "format/wire_report.h"
#include "tool/db.h"
#include "tool/db_task.h"

#define AP_OTHER 65535u /* ENUM_MEMCPY_OPERATION */

void ap__db_copies(ap__db *db, const ap__model *m, const uint32_t *links, const uint32_t *ids)
{
    ap__copy *copies = NULL;
    uint32_t count = 0;
    ap__db_table t;
    int rc = ap__copies_read(m, &copies, &count);

    db->rc = db->rc != 0 ? db->rc : rc;
    ap__db_table_begin(db, &t, "MEMCPY_INFO",
                       "globalTaskId NUMERIC, size NUMERIC, memcpyOperation NUMERIC");
    for (uint32_t i = 0; i < m->track_count && db->rc == 0; i++) {
        const ap__copy *copy = NULL;

        if (m->tracks[i].type != AP_TASK_MEMCPY) {
            continue;
        }
        copy = ap__copy_of(copies, count, m, i, links[i]);
        ap__db_row(&t);
        ap__db_int(&t, ids[i]);
        ap__db_int(&t, copy != NULL ? copy->bytes : 0);
        ap__db_int(&t, copy != NULL && copy->direction < 8 ? copy->direction : AP_OTHER);
        ap__db_row_end(&t);
    }
    (void)ap__db_table_end(&t);
    ap__bulk_free(copies);
}
