/* SPDX-License-Identifier: Apache-2.0 */
#include "stamp/emit.h"

#define AP_SEQ_TRIES 4

uint32_t ap__stamp_read_slow(const ap__stamp *stamp, uint64_t *dst, uint32_t room)
{
    for (int i = 0; i < AP_SEQ_TRIES; i++) {
        uint64_t shape = atomic_load_explicit(&stamp->shape, memory_order_acquire);

        if (AP_SHAPE_WORDS(shape) > room) {
            break;
        }
        ap__copy_body(dst, stamp->body, AP_SHAPE_WORDS(shape));
        atomic_thread_fence(memory_order_acquire);
        if ((shape >> 32 & 1) == 0 &&
            atomic_load_explicit(&stamp->shape, memory_order_relaxed) == shape) {
            return (uint32_t)shape;
        }
    }
    return 0;
}

/* Header, account and publication of a record whose times and body are in place. */
static int ap__finish(ap__thread *thread, uint64_t *rec, uint32_t fixed, uint32_t shape,
                      uint32_t kind, uint64_t since)
{
    ap__ring_head *rh = thread->ring_head;
    uint64_t emitted = atomic_load_explicit(&rh->emitted, memory_order_relaxed);

    rec[0] = (shape + (fixed | kind << 16)) | emitted << 32;
    atomic_store_explicit(&rh->emitted, emitted + 1, memory_order_relaxed);
    ap__ring_publish(thread, (uint8_t *)(rec + fixed + AP_SHAPE_WORDS(shape)));
    if (emitted % AP_COST_SAMPLE == 0) {
        ap__cost_sample(thread, since);
    }
    ap__stamp_leave_slow(thread);
    return 0;
}

static uint64_t *ap__begin(ap__thread *thread, uint32_t kind, uint32_t body_words, uint64_t start,
                           uint64_t end)
{
    uint32_t fixed = kind == AP_REC_MARK ? 2 : 3;
    uint64_t *rec = NULL;

    if (!ap__ring_reserve(thread, (fixed + body_words) * 8)) {
        ap__stamp_leave_slow(thread);
        return NULL;
    }
    rec = (uint64_t *)(void *)thread->at;
    rec[1] = fixed == 2 ? end : start;
    if (fixed == 3) {
        rec[2] = end;
    }
    return rec;
}

int ap__emit_slow(ap__thread *thread, const ap__stamp *stamp, uint32_t kind, uint64_t start,
                  uint64_t end)
{
    uint32_t fixed = kind == AP_REC_MARK ? 2 : 3;
    uint32_t room =
        AP_SHAPE_WORDS(atomic_load_explicit(&stamp->shape, memory_order_relaxed));
    uint64_t *rec = ap__begin(thread, kind, room, start, end);

    if (rec == NULL) {
        return 0;
    }
    return ap__finish(thread, rec, fixed, ap__stamp_read_slow(stamp, rec + fixed, room), kind, end);
}

int ap__emit_copy(ap__thread *thread, const uint64_t *body, uint32_t shape, uint32_t kind,
                  uint64_t start, uint64_t end)
{
    uint64_t *rec = ap__begin(thread, kind, AP_SHAPE_WORDS(shape), start, end);

    if (rec == NULL) {
        return 0;
    }
    ap__copy_body(rec + 3, body, AP_SHAPE_WORDS(shape));
    return ap__finish(thread, rec, 3, shape, kind, end);
}

int ap__emit_sampled(ap__thread *thread, uint64_t since)
{
    ap__cost_sample(thread, since);
    ap__stamp_leave_slow(thread);
    return 0;
}
