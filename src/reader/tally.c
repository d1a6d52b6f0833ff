/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/tally.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/wire_host.h"
#include "reader/safe_file.h"
#include "reader/slice_cursor.h"

/* The account of a thread; NULL when there are too many or no memory. */
static ap__thread_account *ap__tally_thread(ap__tally *t, uint32_t tid)
{
    uint32_t low = 0;
    uint32_t high = t->thread_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (t->threads[middle].tid < tid) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < t->thread_count && t->threads[low].tid == tid) {
        return &t->threads[low];
    }
    if (t->thread_count == AP_TALLY_THREADS) {
        return NULL;
    }
    if (t->thread_count == t->thread_room) {
        uint32_t room = t->thread_room != 0 ? t->thread_room * 2 : 64;
        ap__thread_account *bigger = realloc(t->threads, room * sizeof(*bigger));

        if (bigger == NULL) {
            return NULL;
        }
        t->threads = bigger;
        t->thread_room = room;
    }
    memmove(&t->threads[low + 1], &t->threads[low],
            (t->thread_count - low) * sizeof(t->threads[0]));
    memset(&t->threads[low], 0, sizeof(t->threads[0]));
    t->threads[low].tid = tid;
    t->thread_count++;
    return &t->threads[low];
}

/* Losses of the slot since its owner took it are the owner's. What earlier owners lost, whose
 * events are all on disk, goes to the first owner that is known. */
static void ap__owner_ends(ap__tally *t, const ap__ring_counters *now)
{
    ap__thread_account *a = NULL;
    uint64_t full = now->lost_full - t->base.lost_full;
    uint64_t reentrant = now->lost_reentrant - t->base.lost_reentrant;

    if (t->owner == 0 || (full == 0 && reentrant == 0)) {
        return;
    }
    a = ap__tally_thread(t, t->owner);
    if (a != NULL) {
        a->lost_full += full;
        a->lost_reentrant += reentrant;
    }
}

static void ap__slot_ends(ap__tally *t, const ap__ring_item *item)
{
    ap__owner_ends(t, &item->counters);
    t->emitted += item->counters.emitted + item->counters.lost_reentrant;
    t->lost_full += item->counters.lost_full;
    t->lost_reentrant += item->counters.lost_reentrant;
    t->sampled_cycles += item->counters.sampled_cycles;
    t->sampled_calls += item->counters.sampled_calls;
    if (item->damaged) {
        t->damaged_rings++;
        t->damaged_bytes += item->left_bytes;
    }
    if (item->counters.in_use &&
        !(t->seq_known && t->seq + 1 == (uint32_t)item->counters.emitted)) {
        t->maybe_in_flight++;
    }
}

void ap__tally_item(ap__tally *t, const ap__ring_item *item)
{
    switch (item->kind) {
    case AP_RING_BEGIN:
        t->owner = item->tid;
        memset(&t->base, 0, sizeof(t->base));
        t->seq_known = false;
        break;
    case AP_RING_OWNER:
        if (t->owner != 0) {
            ap__owner_ends(t, &item->counters);
        }
        t->owner = item->tid;
        t->base = item->counters;
        break;
    case AP_RING_EVENT:
    case AP_RING_RAW:
        t->saved++;
        t->seq_known = true;
        t->seq = item->seq;
        break;
    case AP_RING_END:
        ap__slot_ends(t, item);
        break;
    }
}

static void ap__tally_record(ap__tally *t, ap__blob record, bool cut)
{
    size_t data = offsetof(ap__wire_additional, data);
    uint64_t end = ap__blob_u64(record, data + offsetof(ap__wire_tx, end_time));
    ap__thread_account *a =
        ap__tally_thread(t, ap__blob_u32(record, data + offsetof(ap__wire_tx, thread_id)));

    if (a != NULL) {
        a->written++;
        a->cut_messages += cut ? 1 : 0;
    }
    if (end > t->newest_ns) {
        t->newest_ns = end;
    }
    t->cut_messages += cut ? 1 : 0;
    t->records++;
}

bool ap__tally_disk(ap__tally *t, int data_fd, int ext_fd, const ap__source *source,
                    ap__notes *notes)
{
    ap__slice_cursor *cursor = NULL;
    ap__ext_cursor ext;
    ap__blob record;
    uint32_t slice = 0;
    uint32_t index = 0;

    if (source == NULL || source->slice_count == 0) {
        return true;
    }
    cursor = malloc(sizeof(*cursor));
    if (cursor == NULL) {
        return false;
    }
    t->first_slice = source->slices[0].number;
    ap__slice_cursor_begin(cursor, data_fd, source, notes);
    ap__ext_cursor_begin(&ext, ext_fd, UINT64_MAX, notes);
    while (ap__slice_cursor_next(cursor, &record, &slice, &index)) {
        ap__ext_ids ids;

        ap__ext_cursor_ids(&ext, slice, index, &ids);
        ap__tally_record(t, record, ids.name != 0);
    }
    t->bad_records = cursor->bad_records;
    ap__ext_cursor_end(&ext);
    ap__slice_cursor_end(cursor);
    free(cursor);
    for (uint32_t i = 0; i < t->thread_count; i++) {
        ap__thread_account *a = &t->threads[i];

        a->emitted = a->written + a->lost_full + a->lost_reentrant;
    }
    return true;
}

static void ap__tally_raw(ap__tally *t, ap__source_kind kind, ap__blob record)
{
    size_t at = kind == AP_SOURCE_API_EVENT ? offsetof(ap__wire_api, end)
                                            : offsetof(ap__wire_compact, time_stamp);
    uint64_t end = ap__blob_u64(record, at);
    ap__thread_account *a = ap__tally_thread(t, ap__blob_u32(record, 8));

    if (end == AP_WIRE_EVENT_END) {
        end = ap__blob_u64(record, offsetof(ap__wire_event, time_stamp));
    }
    if (a != NULL) {
        a->written++;
        a->emitted = a->written + a->lost_full + a->lost_reentrant;
    }
    if (end > t->newest_ns) {
        t->newest_ns = end;
    }
    t->records++;
}

/* Whose they are is read from their headers, as far as those tell their length; how many there are
 * the rings have told. */
static void ap__tally_variable(ap__tally *t, int data_fd, const ap__source *source,
                               ap__notes *notes)
{
    const uint32_t head_bytes = offsetof(ap__wire_additional, data);

    for (uint32_t i = 0; i < source->slice_count; i++) {
        uint64_t size = 0;
        uint64_t at = 0;
        char name[NAME_MAX + 1];
        uint8_t head[sizeof(ap__wire_additional)];
        int fd = -1;

        if (ap__source_name_make(name, sizeof(name), source->name, source->slices[i].number)) {
            fd = ap__open_regular(data_fd, name, 0, &size, notes);
        }
        while (fd >= 0 && at + head_bytes <= size &&
               ap__pread_full(fd, head, head_bytes, at) == (int64_t)head_bytes) {
            ap__blob record = {head, head_bytes};
            uint64_t bytes = (uint64_t)head_bytes +
                             ap__blob_u32(record, offsetof(ap__wire_additional, data_length));

            if (ap__blob_u16(record, 0) != AP_WIRE_MAGIC || bytes > size - at) {
                break;
            }
            ap__tally_raw(t, source->kind, record);
            t->records--;
            at += bytes;
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    t->records += t->variable_records;
}

bool ap__tally_raw_source(ap__tally *t, int data_fd, const ap__source *source, ap__notes *notes)
{
    ap__slice_cursor *cursor = NULL;
    ap__blob record;
    uint32_t slice = 0;
    uint32_t index = 0;

    if (source->kind == AP_SOURCE_VARIABLE) {
        ap__tally_variable(t, data_fd, source, notes);
        return true;
    }
    if (ap__source_record_size(source->kind) == 0) {
        return true;
    }
    cursor = malloc(sizeof(*cursor));
    if (cursor == NULL) {
        return false;
    }
    ap__slice_cursor_begin(cursor, data_fd, source, notes);
    while (ap__slice_cursor_next(cursor, &record, &slice, &index)) {
        ap__tally_raw(t, source->kind, record);
    }
    t->bad_records += cursor->bad_records;
    ap__slice_cursor_end(cursor);
    free(cursor);
    return true;
}

void ap__tally_free(ap__tally *tally)
{
    free(tally->threads);
    memset(tally, 0, sizeof(*tally));
}

uint64_t ap__tally_totals(const ap__tally *t, const ap__checkpoint *checkpoint, uint64_t missing,
                          aclprofStats *out)
{
    uint64_t known = 0;
    uint64_t in_flight = 0;

    out->size = sizeof(*out);
    out->written = t->records;
    out->emitted = t->records;
    out->threads = t->thread_count;
    out->slicesRemoved = t->first_slice;
    out->cutMessages = t->cut_messages;
    if (checkpoint == NULL) {
        return 0;
    }
    out->lostRingFull = t->lost_full;
    out->lostReentrant = t->lost_reentrant;
    out->lostDisk = checkpoint->lost_disk;
    out->lostAged = checkpoint->aged_records + checkpoint->raw_aged;
    out->lostDamaged = t->bad_records;
    if (t->first_slice != 0) {
        out->lostAged += missing; /* deleted after the last checkpoint */
    } else {
        out->lostDamaged += missing;
    }
    known = out->written + out->lostRingFull + out->lostReentrant + out->lostDisk + out->lostAged +
            out->lostDamaged;
    out->emitted = t->emitted;
    if (t->emitted < known) {
        out->emitted = known; /* a counter that was behind its record */
    } else if (t->damaged_rings == 0 && t->emitted - known <= t->maybe_in_flight) {
        in_flight = t->emitted - known;
        out->emitted = known;
    } else {
        out->lostDamaged += t->emitted - known;
    }
    out->lostTotal = out->emitted - out->written;
    return in_flight;
}
