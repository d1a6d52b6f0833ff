/* SPDX-License-Identifier: Apache-2.0 */
/* From a stamp, a frame or a range entry to a ring record. */
#ifndef AP_STAMP_EMIT_H_
#define AP_STAMP_EMIT_H_

#include "ring/ring.h"
#include "stamp/pool.h"

/* Copies a body of at most `room` words. Returns its shape without the sequence; 0, an empty body,
 * when setters left no quiet moment or the body has grown beyond the room: the caller's own race
 * then costs the text, never the event. */
uint32_t ap__stamp_read_slow(const ap__stamp *stamp, uint64_t *dst, uint32_t room);

static inline uint32_t ap__stamp_read(const ap__stamp *stamp, uint64_t *dst)
{
    uint64_t shape = atomic_load_explicit(&stamp->shape, memory_order_acquire);

    if (AP_LIKELY(AP_SHAPE_WORDS(shape) <= AP_COPY_WORDS)) {
        ap__copy_short(dst, stamp->body, AP_SHAPE_WORDS(shape));
        atomic_thread_fence(memory_order_acquire);
        if (AP_LIKELY((shape >> 32 & 1) == 0 &&
                      atomic_load_explicit(&stamp->shape, memory_order_relaxed) == shape)) {
            return (uint32_t)shape;
        }
    }
    return ap__stamp_read_slow(stamp, dst, AP_BODY_MAX_WORDS);
}

/* The second half of a call that could not go the straight way: no room at hand, a setter at work,
 * or a call to be timed. Leaves the stamp call. Returns ACL_SUCCESS: a loss is counted. */
int ap__emit_slow(ap__thread *thread, const ap__stamp *stamp, uint32_t kind, uint64_t start,
                  uint64_t end);
int ap__emit_copy(ap__thread *thread, const uint64_t *body, uint32_t shape, uint32_t kind,
                  uint64_t start, uint64_t end);
int ap__emit_sampled(ap__thread *thread, uint64_t since);

/* Writes one event of a live stamp and leaves the stamp call. AP_REC_MARK has one time, `end`. */
static inline __attribute__((always_inline)) int ap__emit(ap__thread *thread, const ap__stamp *stamp,
                                                          uint32_t kind, uint64_t start,
                                                          uint64_t end, uint64_t key)
{
    const uint32_t fixed = kind == AP_REC_MARK ? 2 : 3;
    uint64_t shape = atomic_load_explicit(&stamp->shape, memory_order_acquire);
    uint64_t *rec = (uint64_t *)(void *)thread->at;
    uint8_t *next = (uint8_t *)(rec + fixed + AP_SHAPE_WORDS(shape));
    ap__ring_head *rh = thread->ring_head;
    uint64_t emitted = 0;

    if (AP_UNLIKELY(next > thread->end || AP_SHAPE_WORDS(shape) > AP_COPY_WORDS)) {
        return ap__emit_slow(thread, stamp, kind, start, end);
    }
    rec[1] = fixed == 2 ? end : start;
    if (fixed == 3) {
        rec[2] = end;
    }
    ap__copy_short(rec + fixed, stamp->body, AP_SHAPE_WORDS(shape));
    atomic_thread_fence(memory_order_acquire);
    if (AP_UNLIKELY((shape >> 32 & 1) != 0 ||
                    atomic_load_explicit(&stamp->shape, memory_order_relaxed) != shape)) {
        return ap__emit_slow(thread, stamp, kind, start, end);
    }
    emitted = atomic_load_explicit(&rh->emitted, memory_order_relaxed);
    rec[0] = ((uint32_t)shape + (fixed | kind << 16)) | emitted << 32;
    atomic_store_explicit(&rh->emitted, emitted + 1, memory_order_relaxed);
    ap__ring_publish(thread, next);
    if (AP_UNLIKELY(emitted % AP_COST_SAMPLE == 0)) {
        return ap__emit_sampled(thread, end);
    }
    ap__stamp_leave(thread, key);
    return 0;
}

#endif
