/* SPDX-License-Identifier: Apache-2.0 */
#include "ring/raw.h"

/* As ap__stamp_enter, for either gate. NULL: see *result. */
static ap__thread *ap__raw_enter(bool stamps, ap__raw_result *result)
{
    uint64_t key = stamps ? ap__gate_key() : ap__report_key();
    ap__thread *thread = NULL;

    *result = key == AP_GATE_WARM ? AP_RAW_TAKEN : AP_RAW_OFF;
    while (key > AP_GATE_WARM) {
        *result = AP_RAW_TAKEN;
        thread = ap__thread_self();
        if (thread == NULL) {
            atomic_fetch_add_explicit(&ap__no_ring.emitted, 1, memory_order_relaxed);
            return NULL;
        }
        if (atomic_load_explicit(&thread->armed, memory_order_relaxed) == AP_INSIDE) {
            ap__lose_reentrant(thread, key);
            return NULL;
        }
        atomic_store_explicit(&thread->armed, AP_INSIDE, memory_order_relaxed);
        if (thread->key == key && (key & AP_GATE_SLOW) == 0) {
            atomic_signal_fence(memory_order_seq_cst); /* the closer's membarrier does the rest */
        } else {
            atomic_thread_fence(memory_order_seq_cst);
        }
        if ((stamps ? ap__gate_key() : ap__report_key()) == key && (thread->key == key || ap__thread_attach(thread, key))) {
            return thread;
        }
        atomic_store_explicit(&thread->armed, AP_IDLE, memory_order_release);
        *result = AP_RAW_OFF;
        key = stamps ? ap__gate_key() : ap__report_key();
    }
    return NULL;
}

static void ap__put(uint8_t *at, uint32_t flags, uint64_t emitted, uint32_t bytes, const void *head,
                    uint32_t head_bytes, const void *rest, uint32_t rest_bytes)
{
    uint32_t words = 2 + (bytes + 7) / 8;
    ap__rec_head *rec = (ap__rec_head *)(void *)at;
    uint8_t *data = at + 16;

    rec->words = (uint16_t)words;
    rec->kind = AP_REC_RAW;
    rec->flags = (uint8_t)(flags & AP_RAW_KNOWN);
    rec->seq = (uint32_t)emitted;
    ((uint64_t *)(void *)rec)[1] = bytes;
    ((uint64_t *)(void *)rec)[words - 1] = 0; /* of an odd length */
    memcpy(data, head, head_bytes);
    if (rest_bytes != 0) {
        memcpy(data + head_bytes, rest, rest_bytes);
    }
    if (head_bytes + rest_bytes < bytes) {
        memset(data + head_bytes + rest_bytes, 0, bytes - head_bytes - rest_bytes);
    }
}

ap__raw_result ap__raw_emit(uint32_t flags, const void *head, uint32_t head_bytes, const void *rest,
                            uint32_t rest_bytes)
{
    uint32_t size = ap__raw_bytes(flags);
    uint32_t bytes = size != 1 ? size : head_bytes + rest_bytes;
    uint32_t words = 2 + (bytes + 7) / 8;
    ap__raw_result result = AP_RAW_OFF;
    ap__thread *thread = ap__raw_enter((flags & AP_RAW_OF_STAMPS) != 0, &result);
    uint64_t emitted = 0;

    if (thread == NULL) {
        return result;
    }
    if (ap__ring_reserve(thread, words * 8)) {
        emitted = atomic_load_explicit(&thread->ring_head->emitted, memory_order_relaxed);
        ap__put(thread->at, flags, emitted, bytes, head, head_bytes, rest, rest_bytes);
        atomic_store_explicit(&thread->ring_head->emitted, emitted + 1, memory_order_relaxed);
        ap__ring_publish(thread, thread->at + words * 8u);
    }
    ap__stamp_leave_slow(thread);
    return AP_RAW_TAKEN;
}

ap__raw_result ap__raw_emit_run(uint32_t flags, const void *records, uint32_t count, bool *lost)
{
    uint32_t bytes = ap__raw_bytes(flags);
    uint32_t step = 16 + (bytes + 7) / 8 * 8;
    ap__raw_result result = AP_RAW_OFF;
    ap__thread *thread = ap__raw_enter((flags & AP_RAW_OF_STAMPS) != 0, &result);
    uint64_t emitted = 0;

    *lost = thread == NULL;
    if (thread == NULL) {
        return result;
    }
    *lost = !ap__ring_reserve(thread, count * step);
    if (!*lost) {
        emitted = atomic_load_explicit(&thread->ring_head->emitted, memory_order_relaxed);
        for (uint32_t i = 0; i < count; i++) {
            ap__put(thread->at + i * step, flags, emitted + i, bytes,
                    (const uint8_t *)records + i * bytes, bytes, NULL, 0);
        }
        atomic_store_explicit(&thread->ring_head->emitted, emitted + count, memory_order_relaxed);
        ap__ring_publish(thread, thread->at + count * step);
    }
    ap__stamp_leave_slow(thread);
    return AP_RAW_TAKEN;
}
