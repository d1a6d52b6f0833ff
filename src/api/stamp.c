/* SPDX-License-Identifier: Apache-2.0 */
/* msproftx: create, fill, mark, push, pop, range. Argument checks and codes; the work is inline. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "aclprof_ext.h"
#include "ring/ring.h"
#include "session/autostart.h"
#include "session/control_socket.h"
#include "session/errtext.h"
#include "session/session.h"
#include "stamp/body.h"
#include "stamp/emit.h"
#include "stamp/intern.h"
#include "stamp/range.h"

#define AP_STRICT_MESSAGE 128u /* the vendor refuses messages of this length and longer */

#define AP_SITE_BAD_STAMP(call)                                                                    \
    {                                                                                              \
        ACL_ERROR_INVALID_PARAM, AP_EK_BAD_VALUE, call,                                            \
            "Value for parameter stamp is not a live stamp. Reason: it is NULL, was destroyed, "   \
            "or was not made by aclprofCreateStamp; pass the handle that aclprofCreateStamp "      \
            "returned and destroy it last."                                                        \
    }
#define AP_SITE_NOT_RUN(call)                                                                      \
    {                                                                                              \
        ACL_ERROR_PROF_NOT_RUN, AP_EK_CALL_ORDER, call,                                            \
            "No capture with ACL_PROF_MSPROFTX (0x80) runs, nothing was recorded. Call "           \
            "aclprofStart with a config whose dataTypeConfig has that bit first, then " call "."   \
    }

static const ap__fail_site ap__create_not_run = AP_SITE_NOT_RUN("aclprofCreateStamp");
static const ap__fail_site ap__mark_not_run = AP_SITE_NOT_RUN("aclprofMark");
static const ap__fail_site ap__push_not_run = AP_SITE_NOT_RUN("aclprofPush");
static const ap__fail_site ap__pop_not_run = AP_SITE_NOT_RUN("aclprofPop");
static const ap__fail_site ap__start_not_run = AP_SITE_NOT_RUN("aclprofRangeStart");
static const ap__fail_site ap__stop_not_run = AP_SITE_NOT_RUN("aclprofRangeStop");
static const ap__fail_site ap__mark_bad = AP_SITE_BAD_STAMP("aclprofMark");
static const ap__fail_site ap__push_bad = AP_SITE_BAD_STAMP("aclprofPush");
static const ap__fail_site ap__start_bad = AP_SITE_BAD_STAMP("aclprofRangeStart");

/* A call that did not get in: a warm-up or a counted loss succeeds. */
static aclError ap__outside(bool counted, const ap__fail_site *site)
{
    return counted ? ACL_SUCCESS : ap__fail_quick(site);
}

static aclError ap__reject(ap__thread *thread, const ap__fail_site *site)
{
    ap__stamp_leave_slow(thread);
    return ap__fail_quick(site);
}

/* Every call below has two halves: the straight way, which calls nothing, and a cold function
 * that starts over and can do everything. What belongs to the thread is looked at inside only:
 * before that a signal handler may change it. */
#define AP_COLD __attribute__((noinline, cold)) static

AP_COLD void *ap__create_slow(void)
{
    static const ap__fail_site no_memory = {
        ACL_ERROR_BAD_ALLOC, AP_EK_MEMORY, "aclprofCreateStamp",
        "Failed to allocate 256 KiB of host memory for stamps. Destroy stamps that are not needed "
        "or raise the process's memory limit."};
    bool counted = false;
    ap__thread *thread = ap__stamp_enter_silent(&counted);
    uint64_t handle = 0;

    if (thread == NULL && !counted && ap__autostart_used()) {
        thread = ap__stamp_enter_silent(&counted);
    }
    counted = counted || (thread == NULL && ap__control_used());
    if (thread == NULL && !counted) {
        (void)ap__fail_quick(&ap__create_not_run);
        return NULL;
    }
    if (thread != NULL) {
        handle = ap__stamp_create(thread);
        ap__stamp_leave_slow(thread);
    } else {
        handle = ap__stamp_create_shared(); /* warm-up, inside a signal handler, outside control */
    }
    if (handle == 0) {
        (void)ap__fail_quick(&no_memory);
    }
    return (void *)(uintptr_t)handle;
}

ACL_FUNC_VISIBILITY void *aclprofCreateStamp(void)
{
    uint64_t key = ap__gate_key();
    ap__thread *thread = ap__self;
    uint64_t handle = 0;

    if (AP_UNLIKELY(key == 0 || thread->stamp_count == 0 || !ap__stamp_enter_fast(thread, key))) {
        return ap__create_slow();
    }
    handle = ap__stamp_create(thread);
    ap__stamp_leave(thread, key);
    return (void *)(uintptr_t)handle;
}

ACL_FUNC_VISIBILITY void aclprofDestroyStamp(void *stamp)
{
    static const ap__fail_site bad = AP_SITE_BAD_STAMP("aclprofDestroyStamp");
    ap__thread *thread = ap__self;
    uint64_t armed = atomic_load_explicit(&thread->armed, memory_order_relaxed);
    bool ok = false;

    if (stamp == NULL) {
        return;
    }
    if (AP_LIKELY(armed != AP_INSIDE && thread != &ap__nobody)) {
        /* keeps a signal handler's calls out of the cache; the gate does not matter here */
        atomic_store_explicit(&thread->armed, AP_INSIDE, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
        ok = ap__stamp_destroy(thread, (uintptr_t)stamp);
        ap__stamp_leave(thread, armed);
    } else {
        ok = ap__stamp_destroy(NULL, (uintptr_t)stamp);
    }
    if (AP_UNLIKELY(!ok)) {
        (void)ap__fail_quick(&bad);
    }
}

/* Bytes of text before its NUL, `limit` at most; reads no further. */
static inline size_t ap__text_length(const char *text, size_t limit)
{
    const char *nul = memchr(text, '\0', limit);

    return nul == NULL ? limit : (size_t)(nul - text);
}

ACL_FUNC_VISIBILITY aclError aclprofSetStampTraceMessage(void *stamp, const char *msg,
                                                         uint32_t msgLen)
{
    static const ap__fail_site bad = AP_SITE_BAD_STAMP("aclprofSetStampTraceMessage");
    ap__stamp *s = ap__stamp_get((uintptr_t)stamp);

    if (AP_UNLIKELY(s == NULL)) {
        return ap__fail_quick(&bad);
    }
    if (AP_UNLIKELY(msg == NULL)) {
        return ap__fail_null("aclprofSetStampTraceMessage", "msg");
    }
    if (AP_UNLIKELY(msgLen >= AP_STRICT_MESSAGE)) {
        int saved_errno = errno;

        if (ap__strict()) {
            return ap__fail(ACL_ERROR_INVALID_PARAM, AP_EK_BAD_VALUE, "aclprofSetStampTraceMessage",
                            "Value [%u] for parameter msgLen is invalid. Reason: with "
                            "ACLPROF_STRICT=1 it must be 0 to %u; shorten the message.",
                            msgLen, AP_STRICT_MESSAGE - 1);
        }
        ap__stamp_set_message(s, msg, ap__text_length(msg, msgLen));
        errno = saved_errno;
        return ACL_SUCCESS;
    }
    ap__stamp_set_message(s, msg, ap__text_length(msg, msgLen));
    return ACL_SUCCESS;
}

AP_COLD aclError ap__mark_slow(void *stamp)
{
    bool counted = false;
    ap__thread *thread = ap__stamp_enter(&counted);
    const ap__stamp *s = NULL;

    if (thread == NULL) {
        return ap__outside(counted, &ap__mark_not_run);
    }
    s = ap__stamp_get((uintptr_t)stamp);
    if (s == NULL) {
        return ap__reject(thread, &ap__mark_bad);
    }
    return ap__emit_slow(thread, s, AP_REC_MARK, 0, ap__cycles());
}

ACL_FUNC_VISIBILITY aclError aclprofMark(void *stamp)
{
    uint64_t key = ap__gate_key();
    ap__thread *thread = ap__self;
    const ap__stamp *s = NULL;

    if (AP_UNLIKELY(key == 0)) {
        return ap__fail_quick(&ap__mark_not_run);
    }
    s = ap__stamp_get((uintptr_t)stamp);
    if (AP_UNLIKELY(s == NULL || !ap__stamp_enter_fast(thread, key))) {
        return ap__mark_slow(stamp);
    }
    return ap__emit(thread, s, AP_REC_MARK, 0, ap__counter(), key);
}

/* The push stack outgrew its room: twice as much, from the kernel. */
AP_COLD bool ap__frames_grow(ap__thread *thread)
{
    int saved_errno = errno;
    size_t bytes =
        (thread->frame_room < 224 ? 224 : (size_t)thread->frame_room) * 2 * sizeof(ap__frame);
    ap__frame *frames =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    errno = saved_errno;
    if (frames == MAP_FAILED) {
        return false;
    }
    if (thread->depth != 0) {
        memcpy(frames, thread->frames, thread->depth * sizeof(ap__frame));
    }
    if (thread->heap_frames != NULL) {
        munmap(thread->heap_frames, thread->heap_bytes);
    }
    if (thread->ring_head != NULL) { /* the frames that a kill would show are no longer there */
        atomic_store_explicit(&thread->ring_head->depth, 0, memory_order_release);
    }
    thread->heap_frames = frames;
    thread->heap_bytes = bytes;
    thread->frames = frames;
    thread->frame_room = (uint32_t)(bytes / sizeof(ap__frame));
    return true;
}

/* What a kill leaves for the reader: how many frames of the slot's stack are in use. */
static inline void ap__depth_set(ap__thread *thread, uint32_t depth)
{
    thread->depth = depth;
    if (AP_LIKELY(thread->heap_frames == NULL && thread->ring_head != NULL)) {
        atomic_store_explicit(&thread->ring_head->depth, depth, memory_order_release);
    }
}

static inline ap__frame *ap__push_frame(ap__thread *thread, const ap__stamp *s, void *stamp)
{
    ap__frame *frame = &thread->frames[thread->depth];

    frame->stamp = (uintptr_t)stamp;
    frame->shape = ap__stamp_read(s, frame->body);
    return frame;
}

AP_COLD aclError ap__push_slow(void *stamp)
{
    static const ap__fail_site no_memory = {
        ACL_ERROR_BAD_ALLOC, AP_EK_MEMORY, "aclprofPush",
        "Failed to allocate host memory for the push stack. Pop what was pushed, or raise the "
        "process's memory limit."};
    bool counted = false;
    ap__thread *thread = ap__stamp_enter_silent(&counted);
    const ap__stamp *s = NULL;

    if (thread == NULL) {
        return ap__outside(counted, stamp == NULL ? &ap__push_bad : &ap__push_not_run);
    }
    s = ap__stamp_get((uintptr_t)stamp);
    if (s == NULL) {
        return ap__reject(thread, &ap__push_bad);
    }
    if (thread->depth == thread->frame_room && !ap__frames_grow(thread)) {
        return ap__reject(thread, &no_memory);
    }
    ap__push_frame(thread, s, stamp)->cycles = ap__cycles();
    ap__depth_set(thread, thread->depth + 1);
    ap__stamp_leave_slow(thread);
    return ACL_SUCCESS;
}

ACL_FUNC_VISIBILITY aclError aclprofPush(void *stamp)
{
    uint64_t key = ap__gate_key();
    ap__thread *thread = ap__self;
    const ap__stamp *s = NULL;

    if (AP_UNLIKELY(key == 0)) {
        return ap__fail_quick(stamp == NULL ? &ap__push_bad : &ap__push_not_run);
    }
    s = ap__stamp_get((uintptr_t)stamp);
    if (AP_UNLIKELY(s == NULL || !ap__stamp_enter_fast(thread, key))) {
        return ap__push_slow(stamp);
    }
    if (AP_UNLIKELY(thread->depth == thread->frame_room)) {
        ap__stamp_leave(thread, key);
        return ap__push_slow(stamp);
    }
    ap__push_frame(thread, s, stamp)->cycles = ap__counter();
    ap__depth_set(thread, thread->depth + 1);
    ap__stamp_leave(thread, key);
    return ACL_SUCCESS;
}

AP_COLD aclError ap__pop_slow(void)
{
    static const ap__fail_site empty = {
        ACL_ERROR_INVALID_PARAM, AP_EK_CALL_ORDER, "aclprofPop",
        "This thread has no open push in this capture. Call aclprofPush first, then aclprofPop, "
        "both in the same thread."};
    uint64_t end = ap__cycles();
    bool counted = false;
    ap__thread *thread = ap__stamp_enter(&counted);
    const ap__frame *frame = NULL;
    const ap__stamp *s = NULL;

    if (thread == NULL) {
        return ap__outside(counted, &ap__pop_not_run);
    }
    if (thread->depth == 0) {
        return ap__reject(thread, &empty);
    }
    ap__depth_set(thread, thread->depth - 1);
    frame = &thread->frames[thread->depth];
    s = ap__stamp_get(frame->stamp);
    if (s != NULL) {
        return ap__emit_slow(thread, s, AP_REC_PUSH_POP, frame->cycles, end);
    }
    return ap__emit_copy(thread, frame->body, frame->shape, AP_REC_PUSH_POP, frame->cycles, end);
}

ACL_FUNC_VISIBILITY aclError aclprofPop(void)
{
    uint64_t key = ap__gate_key();
    ap__thread *thread = ap__self;
    const ap__frame *frame = NULL;
    const ap__stamp *s = NULL;
    uint64_t end = 0;

    if (AP_UNLIKELY(key == 0)) {
        return ap__fail_quick(&ap__pop_not_run);
    }
    if (AP_UNLIKELY(!ap__stamp_enter_fast(thread, key))) {
        return ap__pop_slow();
    }
    if (AP_UNLIKELY(thread->depth == 0)) {
        ap__stamp_leave(thread, key);
        return ap__pop_slow(); /* says why */
    }
    end = ap__counter();
    ap__depth_set(thread, thread->depth - 1);
    frame = &thread->frames[thread->depth];
    s = ap__stamp_get(frame->stamp);
    if (AP_UNLIKELY(s == NULL)) { /* destroyed since: what it said at the push */
        return ap__emit_copy(thread, frame->body, frame->shape, AP_REC_PUSH_POP, frame->cycles,
                             end);
    }
    /* what the stamp says now, as the vendor's does */
    return ap__emit(thread, s, AP_REC_PUSH_POP, frame->cycles, end, key);
}

static inline void ap__range_fill(ap__range *range, const ap__stamp *s, void *stamp, uint64_t key)
{
    range->shape = ap__stamp_read(s, range->body);
    range->stamp = (uintptr_t)stamp;
    range->key = (uint32_t)key;
}

AP_COLD aclError ap__range_start_slow(void *stamp, uint32_t *range_id)
{
    static const ap__fail_site no_id = {
        ACL_ERROR_INVALID_PARAM, AP_EK_NULL, "aclprofRangeStart",
        "Parameter rangeId cannot be a null pointer. Pass the address of a uint32_t."};
    static const ap__fail_site no_memory = {
        ACL_ERROR_BAD_ALLOC, AP_EK_MEMORY, "aclprofRangeStart",
        "Failed to allocate host memory for ranges. Stop ranges that are over, or raise the "
        "process's memory limit."};
    bool counted = false;
    ap__thread *thread = NULL;
    const ap__stamp *s = NULL;
    ap__range *range = NULL;
    uint32_t id = 0;

    if (range_id == NULL) {
        return ap__fail_quick(&no_id);
    }
    thread = ap__stamp_enter_silent(&counted);
    if (thread == NULL) {
        if (counted) {
            *range_id = 0; /* no id: stopping it is refused */
        }
        return ap__outside(counted, stamp == NULL ? &ap__start_bad : &ap__start_not_run);
    }
    s = ap__stamp_get((uintptr_t)stamp);
    if (s == NULL) {
        return ap__reject(thread, &ap__start_bad);
    }
    range = ap__range_next(thread, &id);
    if (range == NULL) {
        return ap__reject(thread, &no_memory);
    }
    ap__range_fill(range, s, stamp, thread->key);
    range->cycles = ap__cycles();
    ap__range_open(range, id);
    *range_id = id;
    ap__stamp_leave_slow(thread);
    return ACL_SUCCESS;
}

ACL_FUNC_VISIBILITY aclError aclprofRangeStart(void *stamp, uint32_t *rangeId)
{
    uint64_t key = ap__gate_key();
    ap__thread *thread = ap__self;
    const ap__stamp *s = NULL;
    ap__range *range = NULL;
    uint32_t id = 0;

    if (AP_UNLIKELY(key == 0 || rangeId == NULL)) {
        return ap__range_start_slow(stamp, rangeId);
    }
    s = ap__stamp_get((uintptr_t)stamp);
    if (AP_UNLIKELY(s == NULL || !ap__stamp_enter_fast(thread, key))) {
        return ap__range_start_slow(stamp, rangeId);
    }
    if (AP_UNLIKELY(!ap__range_at_hand(thread))) {
        ap__stamp_leave(thread, key);
        return ap__range_start_slow(stamp, rangeId);
    }
    range = ap__range_take(thread, &id);
    ap__range_fill(range, s, stamp, key);
    range->cycles = ap__counter();
    ap__range_open(range, id);
    *rangeId = id;
    ap__stamp_leave(thread, key);
    return ACL_SUCCESS;
}

AP_COLD aclError ap__range_stop_slow(uint32_t range_id)
{
    static const ap__fail_site unknown = {
        ACL_ERROR_INVALID_PARAM, AP_EK_BAD_VALUE, "aclprofRangeStop",
        "Value for parameter rangeId is not that of an open range. Reason: it was not given by "
        "aclprofRangeStart in this capture, or has been stopped already; stop each range once."};
    uint64_t end = ap__cycles();
    bool counted = false;
    ap__thread *thread = ap__stamp_enter(&counted);
    ap__range *range = NULL;
    const ap__stamp *s = NULL;
    aclError code = ACL_SUCCESS;

    if (thread == NULL) {
        return ap__outside(counted, &ap__stop_not_run);
    }
    range = ap__range_claim(range_id, thread->key);
    if (range == NULL) {
        return ap__reject(thread, &unknown);
    }
    s = ap__stamp_get(range->stamp);
    code = s != NULL
               ? ap__emit_slow(thread, s, AP_REC_RANGE, range->cycles, end)
               : ap__emit_copy(thread, range->body, range->shape, AP_REC_RANGE, range->cycles, end);
    ap__range_close(range, range_id);
    return code;
}

ACL_FUNC_VISIBILITY aclError aclprofRangeStop(uint32_t rangeId)
{
    uint64_t key = ap__gate_key();
    ap__thread *thread = ap__self;
    ap__range *range = NULL;
    const ap__stamp *s = NULL;
    uint64_t end = 0;
    uint64_t start = 0;

    if (AP_UNLIKELY(key == 0)) {
        return ap__fail_quick(&ap__stop_not_run);
    }
    if (AP_UNLIKELY(!ap__stamp_enter_fast(thread, key))) {
        return ap__range_stop_slow(rangeId);
    }
    end = ap__counter();
    range = ap__range_claim(rangeId, key);
    if (AP_UNLIKELY(range == NULL)) {
        ap__stamp_leave(thread, key);
        return ap__range_stop_slow(rangeId); /* says why */
    }
    start = range->cycles;
    s = ap__stamp_get(range->stamp);
    if (AP_UNLIKELY(s == NULL)) {
        aclError code = ap__emit_copy(thread, range->body, range->shape, AP_REC_RANGE, start, end);

        ap__range_close(range, rangeId);
        return code;
    }
    ap__range_close(range, rangeId);
    return ap__emit(thread, s, AP_REC_RANGE, start, end, key);
}
