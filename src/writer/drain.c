/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "writer/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/encode_stamp.h"
#include "ring/ring.h"
#include "session/errtext.h"
#include "stamp/body.h"
#include "stamp/type_names.h"
#include "writer/dict.h"
#include "writer/texts.h"

#define AP_OTHER_BYTES (512u << 10) /* control files, account, reserve */
#define AP_STREAM_TX "aging.additional.msproftx"
#define AP_SLICE_RECORDS (AP_SLICE_BYTES / (uint32_t)sizeof(ap__wire_additional))

_Static_assert(AP_SLICE_BYTES % sizeof(ap__wire_additional) == 0, "slices hold whole records");

static void *ap__pages(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static void ap__pages_free(void *p, size_t bytes)
{
    if (p != NULL) {
        munmap(p, bytes);
    }
}

static void ap__drain_free(ap__drain *d)
{
    ap__pages_free(d->batch, AP_DRAIN_BATCH * sizeof(*d->batch));
    ap__pages_free(d->owners, AP_DRAIN_BATCH * sizeof(*d->owners));
    ap__pages_free(d->exts, AP_DRAIN_EXTS * sizeof(*d->exts));
    ap__pages_free(d->cuts, AP_DRAIN_BATCH * sizeof(*d->cuts));
    ap__pages_free(d->slots, AP_ARENA_MAX_SLOTS * sizeof(*d->slots));
    ap__pages_free(d->accounts, AP_MAX_ACCOUNTS * sizeof(*d->accounts));
    d->batch = NULL;
    d->owners = NULL;
    d->exts = NULL;
    d->cuts = NULL;
    d->slots = NULL;
    d->accounts = NULL;
    ap__ageing_free(&d->ageing); /* it knows the streams */
    ap__raw_streams_abandon(&d->raw);
    pthread_mutex_destroy(&d->lock);
}

static const char *ap__name_of_type(void *context, uint16_t level, uint32_t type)
{
    const char *name = ap__type_name(level, type);

    (void)context;
    return name != NULL ? name : ap__dict_default_type(level, type);
}

static void ap__raw_is_done(void *context, uint32_t owner, bool written)
{
    ap__drain *d = context;

    d->accounts[owner].written += written;
    d->accounts[owner].lost_disk += !written;
    d->raw_kept += written;
    d->raw_lost += !written;
}

int ap__drain_init(ap__drain *d, ap__arena *arena, int data_fd, int ext_fd,
                   const ap__clock_point *start, const ap__clock_point *ready, uint64_t limit_bytes)
{
    int rc = 0;

    memset(d, 0, offsetof(ap__drain, convert));
    d->arena = arena;
    d->pid = (uint32_t)getpid();
    d->batch_count = 0;
    d->ext_count = 0;
    d->cut_count = 0;
    d->cut_messages = 0;
    d->slot_count = 0;
    d->aged_slots = 0;
    d->account_count = 0;
    d->taken = d->written = d->tx_written = d->lost_disk = d->batches = 0;
    memset(&d->aged, 0, sizeof(d->aged));
    d->disk_errno = 0;
    pthread_mutex_init(&d->lock, NULL);
    ap__convert_init(&d->convert, start, ready, ap__clock_is_ns);
    ap__stream_init(&d->tx, data_fd, AP_STREAM_TX, sizeof(ap__wire_additional));
    ap__ageing_init(&d->ageing, data_fd, limit_bytes, AP_AGEING_RESERVE);
    ap__raw_streams_init(&d->raw, data_fd);
    d->raw.namer = ap__name_of_type;
    d->raw.told = ap__raw_is_done;
    d->raw.told_context = d;
    d->raw.ageing = &d->ageing;
    d->raw_names = ap__type_generation();
    d->raw_taken = d->raw_kept = d->raw_lost = d->raw_stored = 0;
    d->batch = ap__pages(AP_DRAIN_BATCH * sizeof(*d->batch));
    d->owners = ap__pages(AP_DRAIN_BATCH * sizeof(*d->owners));
    d->exts = ap__pages(AP_DRAIN_EXTS * sizeof(*d->exts));
    d->cuts = ap__pages(AP_DRAIN_BATCH * sizeof(*d->cuts));
    d->slots = ap__pages(AP_ARENA_MAX_SLOTS * sizeof(*d->slots));
    d->accounts = ap__pages(AP_MAX_ACCOUNTS * sizeof(*d->accounts));
    d->ext.fd = -1;
    if (d->batch == NULL || d->owners == NULL || d->exts == NULL || d->cuts == NULL ||
        d->slots == NULL || d->accounts == NULL) {
        rc = ENOMEM;
    }
    if (rc == 0) {
        rc = ap__ageing_watch(&d->ageing, &d->tx);
    }
    if (rc == 0) {
        rc = ap__ext_open(&d->ext, ext_fd, AP_EXT_STAMP_NAME);
    }
    if (rc != 0) {
        ap__drain_free(d);
    }
    return rc;
}

/* ---- accounts ---- */

static void ap__account_close(ap__drain *d, const ap__drain_slot *slot, uint64_t emitted,
                              uint64_t full, uint64_t reentrant)
{
    ap__thread_account *a = &d->accounts[slot->account];

    a->emitted += emitted - slot->base.emitted_base + reentrant - slot->base.lost_reentrant_base;
    a->lost_full += full - slot->base.lost_full_base;
    a->lost_reentrant += reentrant - slot->base.lost_reentrant_base;
}

static void ap__owner_changes(ap__drain *d, ap__drain_slot *slot, const ap__rec_thread *rec)
{
    pthread_mutex_lock(&d->lock);
    if (slot->tid != 0) {
        ap__account_close(d, slot, rec->emitted_base, rec->lost_full_base,
                          rec->lost_reentrant_base);
    }
    if (slot->tid != rec->tid) {
        if (d->account_count < AP_MAX_ACCOUNTS) {
            slot->account = d->account_count++;
            memset(&d->accounts[slot->account], 0, sizeof(d->accounts[0]));
            d->accounts[slot->account].tid = rec->tid;
        } else {
            slot->account = AP_MAX_ACCOUNTS - 1;
            d->accounts[slot->account].tid = 0;
        }
        slot->tid = rec->tid;
    }
    slot->base = *rec;
    pthread_mutex_unlock(&d->lock);
}

void ap__drain_settle(ap__drain *d)
{
    pthread_mutex_lock(&d->lock);
    for (uint32_t i = 0; i < d->slot_count; i++) {
        ap__ring_head *rh = d->arena->slots[i];

        if (d->slots[i].tid != 0) {
            ap__account_close(d, &d->slots[i], atomic_load(&rh->emitted),
                              atomic_load(&rh->lost_full), atomic_load(&rh->lost_reentrant));
            d->slots[i].tid = 0;
        }
    }
    pthread_mutex_unlock(&d->lock);
}

/* ---- to disk ---- */

/* Publishes what is on disk: first the copy that is not valid yet, then the switch, then the
 * space for the producers. A kill at any point leaves one whole copy. */
static void ap__checkpoint_write(ap__drain *d)
{
    ap__arena_head *head = d->arena->head;
    uint32_t next = atomic_load_explicit(&head->active, memory_order_relaxed) ^ 1;
    ap__checkpoint *cp = &head->checkpoint[next];

    cp->batch = ++d->batches;
    cp->tx_records = d->tx_written;
    cp->tx_slice = d->tx.slice;
    cp->tx_slice_bytes = (uint32_t)d->tx.size;
    cp->ext_bytes = d->ext.size;
    cp->lost_disk = d->lost_disk;
    cp->aged_records = ap__ageing_removed_records(&d->ageing, &d->tx);
    cp->raw_aged = d->aged.records - cp->aged_records;
    cp->clock = d->convert.last;
    cp->line_cycles = d->convert.line.cycles0;
    cp->line_ns = d->convert.line.ns0;
    cp->line_mult = d->convert.line.mult;
    head->raw_count[next] = ap__raw_streams_points(&d->raw, head->raw[next]);
    for (uint32_t i = 0; i < d->slot_count; i++) {
        ap__ring_head *rh = d->arena->slots[i];

        atomic_store_explicit(&rh->drained[next], d->slots[i].pos, memory_order_relaxed);
        atomic_store_explicit(&rh->drained_tid[next], d->slots[i].tid, memory_order_relaxed);
    }
    AP_TESTPOINT("drain.checkpoint");
    atomic_store_explicit(&head->active, next, memory_order_release);
    AP_TESTPOINT("drain.switched");
    for (uint32_t i = 0; i < d->slot_count; i++) {
        atomic_store_explicit(&d->arena->slots[i]->tail, d->slots[i].pos, memory_order_release);
    }
}

static void ap__disk_failed(ap__drain *d, int rc)
{
    if (d->disk_errno == 0) {
        char text[64] = "";

        d->disk_errno = rc;
        ap__log(AP_LOG_ERROR,
                "EK0204: Insufficient disk space or write error. Reason: %s; records from now on "
                "are counted as lost until writing works again. Free space on the volume of the "
                "result directory.",
                strerror_r(rc, text, sizeof(text)));
    }
}

/* Appends the batch; under a storage limit, a full disk costs old slices first. */
static uint32_t ap__append(ap__drain *d)
{
    size_t bytes = d->batch_count * sizeof(*d->batch);
    size_t done = 0;
    int rc = ap__stream_append(&d->tx, d->batch, bytes, &done);

    if ((rc == ENOSPC || rc == EDQUOT) && done < bytes && d->ageing.limit != 0 &&
        ap__ageing_make_room(&d->ageing, 2 * AP_SLICE_BYTES, &d->aged) != 0) {
        size_t more = 0;

        rc = ap__stream_append(&d->tx, (const char *)d->batch + done, bytes - done, &more);
        done += more;
    }
    if (rc != 0) {
        ap__disk_failed(d, rc);
    }
    return (uint32_t)(done / sizeof(*d->batch));
}

static void ap__exts_write(ap__drain *d, uint32_t slice, uint64_t first, uint32_t kept)
{
    for (uint32_t i = 0; i < d->ext_count; i++) {
        const ap__pending_ext *e = &d->exts[i];
        uint64_t at = first + e->record;

        if (e->record < kept) {
            (void)ap__ext_add_stamp(&d->ext, slice + (uint32_t)(at / AP_SLICE_RECORDS),
                                    (uint32_t)(at % AP_SLICE_RECORDS), e->kind, e->id);
        }
    }
    d->ext_count = 0;
    if (ap__ext_flush(&d->ext) != 0) {
        ap__ext_discard(&d->ext); /* only whole texts of cut names go without */
    }
}

/* Keeps the directory under the storage limit; only this stream's slices can go. */
static void ap__age(ap__drain *d)
{
    uint64_t before = d->aged.slices;
    uint64_t others = d->others_stored != NULL ? d->others_stored(d->others_context) : 0;

    if (d->ageing.limit == 0) {
        return;
    }
    d->aged_slots = d->slot_count;
    ap__ageing_set_other(&d->ageing, ap__ext_stored(&d->ext) + ap__texts_stored() +
                                         ap__arena_stored(d->arena) + others + AP_OTHER_BYTES);
    ap__ageing_run(&d->ageing, &d->aged);
    if (d->aged.slices != before) {
        ap__ext_drop_before(&d->ext, (uint32_t)(ap__ageing_removed_records(&d->ageing, &d->tx) /
                                                AP_SLICE_RECORDS));
    }
}

/* The records of CANN's libraries. */
static void ap__flush_raw(ap__drain *d)
{
    if (d->raw_taken == 0) {
        return;
    }
    ap__raw_streams_flush(&d->raw);
    if (d->raw.first_errno != 0) {
        ap__disk_failed(d, d->raw.first_errno);
    }
    pthread_mutex_lock(&d->lock);
    d->taken += d->raw_taken;
    d->written += d->raw_kept;
    d->lost_disk += d->raw_lost;
    d->raw_stored = ap__raw_streams_stored(&d->raw);
    if (d->ageing.limit != 0) {
        ap__age(d);
    }
    pthread_mutex_unlock(&d->lock);
    d->raw_taken = d->raw_kept = d->raw_lost = 0;
}

static void ap__flush(ap__drain *d)
{
    uint32_t slice = d->tx.slice;
    uint64_t first = d->tx.size / sizeof(*d->batch);
    uint32_t kept = 0;

    if (!ap__stream_intact(&d->tx)) {
        d->cut_off = true;
        d->batch_count = 0;
        d->ext_count = 0;
        d->cut_count = 0;
        return; /* without a checkpoint: after this process, recovery reads the rings */
    }
    ap__flush_raw(d);
    if (d->batch_count != 0) {
        pthread_mutex_lock(&d->lock);
        kept = ap__append(d);
        AP_TESTPOINT("drain.appended");
        for (uint32_t i = 0; i < d->batch_count; i++) {
            ap__thread_account *a = &d->accounts[d->owners[i]];

            a->written += i < kept;
            a->lost_disk += i >= kept;
        }
        for (uint32_t i = 0; i < d->cut_count; i++) {
            d->accounts[d->cuts[i]].cut_messages++;
        }
        d->cut_messages += d->cut_count;
        d->cut_count = 0;
        d->taken += d->batch_count;
        d->written += kept;
        d->tx_written += kept;
        d->lost_disk += d->batch_count - kept;
        if (d->ext_count != 0) {
            ap__exts_write(d, slice, first, kept);
        }
        if (d->tx.slice != slice || d->slot_count != d->aged_slots) {
            ap__age(d);
        }
        d->batch_count = 0;
        pthread_mutex_unlock(&d->lock);
    }
    ap__checkpoint_write(d);
}

/* ---- from the rings ---- */

static void ap__add_ext(ap__drain *d, uint32_t kind, uint64_t id)
{
    d->exts[d->ext_count++] = (ap__pending_ext){d->batch_count, kind, id};
}

static void ap__take_event(ap__drain *d, ap__drain_slot *slot, const uint64_t *rec)
{
    const ap__rec_head *head = (const ap__rec_head *)(const void *)rec;
    uint32_t times = head->kind == AP_REC_MARK ? 1 : 2;
    const uint64_t *w = rec + 1 + times;
    ap__stamp_fields f = {.tid = slot->tid, .pid = d->pid};

    f.event_type = head->kind == AP_REC_MARK       ? AP_TX_MARK
                   : head->kind == AP_REC_PUSH_POP ? AP_TX_PUSH_POP
                                                   : AP_TX_RANGE;
    f.end_ns = ap__convert_ns(&d->convert, rec[times]);
    if (f.end_ns < slot->last_ns) {
        f.end_ns = slot->last_ns;
    }
    slot->last_ns = f.end_ns;
    f.start_ns = times == 1 ? f.end_ns : ap__convert_ns(&d->convert, rec[1]);
    if (f.start_ns > f.end_ns) {
        f.start_ns = f.end_ns;
    }
    if ((head->flags & AP_BODY_ATTR) != 0) {
        f.category = (uint32_t)w[0];
        f.payload_type = (int32_t)(uint32_t)(w[0] >> 32);
        f.payload = w[1];
        w += 2;
    }
    if ((head->flags & AP_BODY_NAME) != 0) {
        ap__add_ext(d, AP_EXT_NAME, *w++);
    }
    if ((head->flags & AP_BODY_TAG) != 0) {
        ap__add_ext(d, AP_EXT_TAG, *w++);
    }
    if ((head->flags & AP_BODY_STACK) != 0) {
        ap__add_ext(d, AP_EXT_STACK, *w++);
    }
    f.message = (const char *)w;
    f.length = strnlen(f.message, (size_t)(rec + head->words - w) * 8);
    if ((head->flags & AP_BODY_CUT) != 0) {
        d->cuts[d->cut_count++] = slot->account;
    }
    ap__encode_stamp(&d->batch[d->batch_count], &f);
    d->owners[d->batch_count] = slot->account;
    d->batch_count++;
}

static bool ap__raw_ok(const ap__rec_head *head)
{
    uint32_t size = ap__raw_bytes(head->flags);
    uint64_t bytes = head->words >= 2 ? ((const uint64_t *)(const void *)head)[1] : UINT64_MAX;

    return (head->flags & ~AP_RAW_KNOWN) == 0 && bytes <= (head->words - 2) * 8u &&
           (size == 1 ? bytes != 0 && bytes <= AP_RAW_MAX_BYTES : bytes == size);
}

static void ap__take_raw(ap__drain *d, const ap__drain_slot *slot, const ap__rec_head *head)
{
    const uint64_t *words = (const uint64_t *)(const void *)head;

    if (ap__raw_is_tx(head->flags, words + 2)) {
        memcpy(&d->batch[d->batch_count], words + 2, sizeof(*d->batch));
        d->owners[d->batch_count++] = slot->account;
        return;
    }
    ap__raw_streams_take(&d->raw, head->flags, words + 2, (uint32_t)words[1], slot->account);
    d->raw_taken++;
}

/* A ring is a mapping of the host program's: never trust its content. */
static bool ap__record_ok(const ap__rec_head *head, uint64_t room_bytes)
{
    uint32_t times = head->kind == AP_REC_MARK ? 1 : 2;
    uint32_t bytes = head->words * 8u;

    if (head->words == 0 || bytes > room_bytes) {
        return false;
    }
    switch (head->kind) {
    case AP_REC_PAD:
        return true;
    case AP_REC_THREAD:
        return bytes == sizeof(ap__rec_thread);
    case AP_REC_RAW:
        return ap__raw_ok(head);
    case AP_REC_MARK:
    case AP_REC_PUSH_POP:
    case AP_REC_RANGE:
        return head->words <= AP_REC_MAX_WORDS &&
               head->words >= 1 + times + ap__body_words_before_message(head->flags);
    default:
        return false;
    }
}

static uint64_t ap__take_ring(ap__drain *d, uint32_t index)
{
    ap__drain_slot *slot = &d->slots[index];
    const uint8_t *ring = ap__ring_data(d->arena, d->arena->slots[index]);
    uint64_t size = d->arena->head->ring_bytes;
    uint64_t taken = 0;

    while (slot->pos < slot->target) {
        uint64_t offset = slot->pos & (size - 1);
        const uint64_t *rec = (const uint64_t *)(const void *)(ring + offset);
        const ap__rec_head *head = (const ap__rec_head *)(const void *)rec;
        uint64_t room =
            slot->target - slot->pos < size - offset ? slot->target - slot->pos : size - offset;

        if (!ap__record_ok(head, room)) {
            slot->pos = slot->target; /* what lies between shows up as lostDamaged */
            break;
        }
        if (head->kind == AP_REC_THREAD) {
            ap__owner_changes(d, slot, (const ap__rec_thread *)(const void *)rec);
        } else if (head->kind == AP_REC_RAW) {
            ap__take_raw(d, slot, head);
            taken++;
        } else if (head->kind != AP_REC_PAD) {
            ap__take_event(d, slot, rec);
            taken++;
        }
        slot->pos += head->words * 8u;
        if (d->batch_count == AP_DRAIN_BATCH) {
            ap__flush(d);
        }
    }
    return taken;
}

static uint32_t ap__slots_now(ap__drain *d)
{
    uint32_t n = atomic_load_explicit(&d->arena->head->slot_count, memory_order_acquire);

    d->slot_count = n; /* new entries of slots[] are zero pages */
    return n;
}

bool ap__drain_pending(const ap__drain *d)
{
    uint32_t n = atomic_load_explicit(&d->arena->head->slot_count, memory_order_acquire);

    for (uint32_t i = 0; i < n && !d->cut_off; i++) {
        /* less than taken: somebody has written over the word; nothing more comes from there */
        if (atomic_load_explicit(&d->arena->slots[i]->committed, memory_order_acquire) >
            d->slots[i].pos) {
            return true;
        }
    }
    return false;
}

uint64_t ap__drain_pass(ap__drain *d)
{
    uint32_t n = ap__slots_now(d);
    uint64_t taken = 0;
    bool any = false;

    if (!ap__drain_pending(d)) {
        return 0;
    }
    if (d->raw_names != ap__type_generation()) {
        d->raw_names = ap__type_generation();
        ap__raw_streams_renamed(&d->raw);
    }
    for (uint32_t i = 0; i < n; i++) {
        d->slots[i].target =
            atomic_load_explicit(&d->arena->slots[i]->committed, memory_order_acquire);
    }
    ap__convert_advance(&d->convert); /* after the look: what is taken is not younger */
    for (uint32_t i = 0; i < n; i++) {
        if (d->slots[i].target > d->slots[i].pos) {
            any = true;
            taken += ap__take_ring(d, i);
        }
    }
    if (any) {
        ap__flush(d);
    }
    return d->cut_off ? 0 : taken;
}

int ap__drain_finish(ap__drain *d)
{
    int rc = ap__stream_finish(&d->tx);
    int rc2 = ap__ext_close(&d->ext);
    int rc3 = ap__raw_streams_finish(&d->raw);

    ap__drain_free(d);
    return rc != 0 ? rc : rc2 != 0 ? rc2 : rc3;
}

void ap__drain_abandon(ap__drain *d)
{
    ap__stream_abandon(&d->tx);
    ap__ext_abandon(&d->ext);
    ap__drain_free(d);
}
