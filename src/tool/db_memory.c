/* SPDX-License-Identifier: Apache-2.0 */
/* What operators allocated and released: NPU_OP_MEM. */
#include <errno.h>

#include "format/wire_host.h"
#include "tool/db.h"

#define AP_TYPE_TASK_MEMORY 6u /* of an additional record of the node level */

void ap__db_memory(ap__db *db, const ap__model *m)
{
    uint64_t process = (uint64_t)ap__reader_meta(m->reader)->pid << 32;
    ap__records *records = ap__records_open(m->reader, AP_RECORD_ADDITIONAL, NULL);
    ap__raw_record r;
    ap__db_table t;

    if (db->rc == 0 && records == NULL) {
        db->rc = ENOMEM;
    }
    ap__db_table_begin(db, &t, "NPU_OP_MEM",
                       "operatorName INTEGER, addr INTEGER, type INTEGER, size INTEGER, "
                       "timestampNs INTEGER, globalTid INTEGER, totalAllocate NUMERIC, "
                       "totalReserve NUMERIC, component INTEGER, deviceId INTEGER");
    while (db->rc == 0 && ap__records_next(records, &r)) {
        uint64_t size = ap__blob_u64(r.payload, 8);
        bool release = size >> 63 != 0; /* a negative size */

        if (r.level != AP_LEVEL_NODE || r.type != AP_TYPE_TASK_MEMORY) {
            continue;
        }
        ap__db_row(&t);
        ap__db_name(&t, ap__reader_hash_text(m->reader, ap__blob_u64(r.payload, 16)));
        ap__db_int(&t, ap__blob_u64(r.payload, 0));
        ap__db_name(&t, release ? "release" : "allocate");
        ap__db_int(&t, release ? 0 - size : size);
        ap__db_int(&t, ap__reader_wall_ns(m->reader, r.begin_ns));
        ap__db_int(&t, process | r.tid);
        ap__db_int(&t, ap__blob_u64(r.payload, 24));
        ap__db_int(&t, ap__blob_u64(r.payload, 32));
        ap__db_name(&t, "GE");
        ap__db_int(&t, ap__blob_u32(r.payload, 40));
        ap__db_row_end(&t);
    }
    (void)ap__db_table_end(&t);
    if (records != NULL) {
        ap__records_close(records);
    }
}
