/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of devices: NPU_OP_MEM, what operators allocated and released, and NPU_MODULE_MEM, what
 * the driver's modules hold. */
#include <errno.h>
#include <stdlib.h>

#include "format/wire_host.h"
#include "tool/db.h"

#define AP_TYPE_TASK_MEMORY 6u /* of an additional record of the node level */

static void ap__operators(ap__db *db, const ap__model *m)
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

static void ap__modules(ap__db *db, const ap__model *m)
{
    const ap__host_clock *clock = &ap__reader_meta(m->reader)->clock;
    ap__slice_cursor *cursor = malloc(sizeof(*cursor));
    ap__blob record;
    uint32_t slice = 0;
    uint32_t index = 0;
    ap__db_table t;

    if (db->rc == 0 && cursor == NULL) {
        db->rc = ENOMEM;
    }
    ap__db_table_begin(db, &t, "NPU_MODULE_MEM",
                       "moduleId INTEGER, timestampNs INTEGER, totalReserved NUMERIC, deviceId "
                       "INTEGER");
    for (uint32_t i = 0; db->rc == 0 && i < m->device_count; i++) {
        if (!ap__device_records(&m->devices[i], m->reader, "npu_module_mem.data", 24, 0, 0,
                                cursor)) {
            continue;
        }
        while (db->rc == 0 && ap__slice_cursor_next(cursor, &record, &slice, &index)) {
            uint64_t mono_ns = ap__host_clock_ns(clock, ap__blob_u64(record, 8));

            ap__db_row(&t);
            ap__db_int(&t, ap__blob_u32(record, 0));
            ap__db_int(&t, ap__reader_wall_ns(m->reader, mono_ns));
            ap__db_int(&t, ap__blob_u64(record, 16));
            ap__db_int(&t, m->devices[i].device);
            ap__db_row_end(&t);
        }
        ap__slice_cursor_end(cursor);
    }
    (void)ap__db_table_end(&t);
    free(cursor);
}

void ap__db_memory(ap__db *db, const ap__model *m)
{
    ap__operators(db, m);
    ap__modules(db, m);
}
