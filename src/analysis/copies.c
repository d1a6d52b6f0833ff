/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/copies.h"

#include <errno.h>

#include "analysis/bulk.h"
#include "format/wire_host.h"
#include "format/wire_report.h"

static int ap__copies_by_thread(const void *a, const void *b)
{
    const ap__copy *x = a;
    const ap__copy *y = b;

    if (x->tid != y->tid) {
        return x->tid < y->tid ? -1 : 1;
    }
    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

int ap__copies_read(const ap__model *m, ap__copy **copies, uint32_t *count)
{
    ap__records *records = ap__records_open(m->reader, AP_RECORD_COMPACT, NULL);
    ap__raw_record r;
    int rc = records != NULL ? 0 : ENOMEM;

    while (rc == 0 && ap__records_next(records, &r)) {
        ap__copy *copy = NULL;

        if (r.level != AP_LEVEL_RUNTIME || r.type != AP_TYPE_MEMCPY_INFO) {
            continue;
        }
        copy = ap__bulk_push((void **)copies, count, sizeof(*copy));
        if (copy == NULL) {
            rc = ENOMEM;
            break;
        }
        *copy = (ap__copy){ap__reader_wall_ns(m->reader, r.begin_ns), ap__blob_u64(r.payload, 0),
                           r.tid, ap__blob_u16(r.payload, 16)};
    }
    if (records != NULL) {
        ap__records_close(records);
    }
    return rc != 0 || *count == 0
               ? rc
               : ap__bulk_sort((void **)copies, *count, sizeof(**copies), ap__copies_by_thread);
}

const ap__copy *ap__copy_of(const ap__copy *copies, uint32_t count, const ap__model *m,
                                   uint32_t track, uint32_t call)
{
    const ap__track *t = &m->tracks[track];
    uint64_t from = call != AP_NONE ? m->calls[call].start_ns : t->time_ns;
    uint64_t to = call != AP_NONE ? m->calls[call].end_ns : t->time_ns;
    ap__copy key = {.time_ns = from, .tid = t->tid};
    uint32_t low = 0;
    uint32_t high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (ap__copies_by_thread(&copies[middle], &key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && copies[low].tid == t->tid && copies[low].time_ns <= to ? &copies[low]
                                                                                 : NULL;
}
