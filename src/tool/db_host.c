/* SPDX-License-Identifier: Apache-2.0 */
/* What the host did: CANN_API, MSTX_EVENTS. */
#include <errno.h>

#include "analysis/bulk.h"
#include "analysis/links.h"
#include "format/wire_host.h"
#include "tool/db.h"

#define AP_HOST_ONLY 4000000000u /* connection of a stamp that no device answers */

void ap__db_calls(ap__db *db, const ap__model *m)
{
    uint64_t process = (uint64_t)ap__reader_meta(m->reader)->pid << 32;
    ap__db_table t;
    char number[16];

    ap__db_table_begin(db, &t, "CANN_API",
                       "startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, "
                       "connectionId INTEGER PRIMARY KEY, name INTEGER");
    for (uint32_t i = 0; i < m->call_count && db->rc == 0; i++) {
        const ap__api_call *c = &m->calls[i];

        ap__db_row(&t);
        ap__db_int(&t, c->start_ns);
        ap__db_int(&t, c->end_ns);
        ap__db_int(&t, c->level);
        ap__db_int(&t, process | c->tid);
        ap__db_int(&t, ap__link_id(i));
        ap__db_name(&t, ap__call_name(m, c, number));
        ap__db_row_end(&t);
    }
    (void)ap__db_table_end(&t);
}

/* ---- stamps ---- */

typedef struct ap__stamp_row {
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t connection;
    uint64_t thread; /* pid << 32 | tid */
    uint32_t event;
    uint32_t category;
    uint32_t message; /* numbers of texts */
    uint32_t domain;
    uint32_t order; /* of arrival */
} ap__stamp_row;

static int ap__by_start(const void *a, const void *b)
{
    const ap__stamp_row *x = a;
    const ap__stamp_row *y = b;

    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

static int ap__collect(ap__db *db, const ap__model *m, ap__stamp_row **rows, uint32_t *count)
{
    ap__stamp_record s;

    ap__reader_rewind(m->reader);
    while (db->rc == 0 && ap__model_next_stamp(m, &s)) {
        bool extended = s.info_type == AP_TX_INFO_EX;
        ap__stamp_row *r = ap__bulk_push((void **)rows, count, sizeof(*r));

        if (r == NULL) {
            return ENOMEM;
        }
        *r = (ap__stamp_row){
            .start_ns = ap__reader_wall_ns(m->reader, s.start_ns),
            .end_ns = ap__reader_wall_ns(m->reader, s.end_ns),
            .connection = extended ? AP_HOST_ONLY + 1ull + s.mark_id : AP_HOST_ONLY,
            .thread = (uint64_t)s.pid << 32 | s.tid,
            .event = s.event,
            .category = extended ? UINT32_MAX : s.category,
            .message = ap__db_string_id(db, s.message),
            .domain = ap__db_string_id(db, !extended               ? ""
                                           : s.domain_name != NULL ? s.domain_name
                                                                   : "default"),
            .order = *count,
        };
    }
    return db->rc != 0 ? db->rc
                       : ap__bulk_sort((void **)rows, *count, sizeof(**rows), ap__by_start);
}

void ap__db_stamps(ap__db *db, const ap__model *m)
{
    ap__stamp_row *rows = NULL;
    uint32_t count = 0;
    ap__db_table t;
    int rc = ap__collect(db, m, &rows, &count);

    db->rc = db->rc != 0 ? db->rc : rc;
    ap__db_table_begin(
        db, &t, "MSTX_EVENTS",
        "startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER, "
        "message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, "
        "connectionId INTEGER");
    for (uint32_t i = 0; i < count && db->rc == 0; i++) {
        const ap__stamp_row *r = &rows[i];

        ap__db_row(&t);
        ap__db_int(&t, r->start_ns);
        ap__db_int(&t, r->end_ns);
        ap__db_int(&t, r->event);
        ap__db_int(&t, UINT32_MAX);
        ap__db_int(&t, r->category);
        ap__db_int(&t, r->message);
        ap__db_int(&t, r->thread);
        ap__db_int(&t, r->thread);
        ap__db_int(&t, r->domain);
        ap__db_int(&t, r->connection);
        ap__db_row_end(&t);
    }
    (void)ap__db_table_end(&t);
    ap__bulk_free(rows);
}
