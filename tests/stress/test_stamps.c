/* SPDX-License-Identifier: Apache-2.0 */
/* Stamps, pushes and ranges used wrongly, in great numbers, and at the edges of memory. */
#define _GNU_SOURCE
#include "harness.h"

#include <pthread.h>
#include <sys/mman.h>

static aclprofConfig *config;

static int capture_setup(void **state)
{
    (void)scratch_setup(state);
    setenv("ACLPROF_RING_SIZE", "32M", 1); /* nothing is lost however slow the writer is */
    return capture_begin(*state, &config) == ACL_SUCCESS ? 0 : -1;
}

#define CAPTURE_TEST(function) \
    cmocka_unit_test_setup_teardown(function, capture_setup, scratch_teardown)

/* Ends the capture and reads it back; nothing was lost, `events` were recorded. */
static read_back *finish(const char *root, uint64_t events)
{
    read_back *back = NULL;

    assert_int_equal(capture_end(config), ACL_SUCCESS);
    back = read_back_open(root);
    assert_non_null(back);
    assert_null(ap__reader_note(back->reader, 0));
    assert_true(read_back_account_balances(back));
    assert_int_equal(ap__reader_account_of(back->reader)->total.lostTotal, 0);
    assert_int_equal(back->count, events);
    return back;
}

static uint64_t open_at_stop(const read_back *back)
{
    return ap__reader_account_of(back->reader)->total.openAtStop;
}

/* ---- handles ---- */

static void refused_everywhere(void *stamp)
{
    uint32_t id = 4711;
    uint64_t payload = 1;

    assert_int_equal(aclprofMark(stamp), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofPush(stamp), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofRangeStart(stamp, &id), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(id, 4711);
    assert_int_equal(aclprofSetStampTraceMessage(stamp, "x", 1), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofSetStampCategory(stamp, 1), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofSetStampPayload(stamp, 1, &payload), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofSetStampTagName(stamp, "x", 1), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofSetStampCallStack(stamp, "x", 1), ACL_ERROR_INVALID_PARAM);
    aclprofDestroyStamp(stamp); /* must not harm anybody either */
}

static void *handle_of(uintptr_t bits)
{
    return (void *)bits;
}

static void bad_handles_are_refused(void **state)
{
    void *live = stamp_of("live");
    void *dead = stamp_of("dead");
    uintptr_t bits = (uintptr_t)live;
    uint64_t on_stack[64];
    void *on_heap = calloc(1, 4096);
    uint64_t random = 88172645463325252u;
    read_back *back = NULL;

    memset(on_stack, 0x5a, sizeof(on_stack));
    aclprofDestroyStamp(dead);
    refused_everywhere(dead);
    aclprofDestroyStamp(dead);
    refused_everywhere(dead);
    refused_everywhere(NULL);
    refused_everywhere(on_stack);
    refused_everywhere(on_heap);
    refused_everywhere(&config);
    refused_everywhere(handle_of(1));
    refused_everywhere(handle_of(UINTPTR_MAX));
    for (unsigned i = 1; i < 16; i++) {
        refused_everywhere(handle_of(bits + i));
    }
    for (unsigned i = 0; i < 64; i++) {
        refused_everywhere(handle_of(bits ^ (uintptr_t)1 << i));
    }
    for (unsigned i = 0; i < SCALED(200000, 20000); i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        refused_everywhere(handle_of((uintptr_t)random));
        /* with the parts of a real handle */
        refused_everywhere(
            handle_of((bits & 0xf000000000000000u) | (random & 0x0ffffffffffffff0u)));
    }
    free(on_heap);
    assert_int_equal(aclprofMark(live), ACL_SUCCESS);
    aclprofDestroyStamp(live);
    back = finish(*state, 1);
    assert_string_equal(back->stamps[0].message, "live");
    assert_int_equal(open_at_stop(back), 0);
    read_back_close(back);
}

static int order_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void all_different(uint64_t *values, size_t count)
{
    qsort(values, count, sizeof(*values), order_u64);
    for (size_t i = 1; i < count; i++) {
        assert_true(values[i] != values[i - 1]);
    }
}

static void handles_never_come_again(void **state)
{
    const size_t count = SCALED(100000, 20000);
    uint64_t *handles = calloc(count, sizeof(*handles));

    assert_non_null(handles);
    for (size_t i = 0; i < count; i++) {
        void *stamp = aclprofCreateStamp();

        assert_non_null(stamp);
        handles[i] = (uintptr_t)stamp;
        aclprofDestroyStamp(stamp);
    }
    for (size_t i = 0; i < count; i += i < 100 ? 1 : 997) {
        refused_everywhere(handle_of((uintptr_t)handles[i]));
    }
    all_different(handles, count);
    free(handles);
    read_back_close(finish(*state, 0));
}

static void a_million_live_stamps(void **state)
{
    const uint32_t count = SCALED(1000000, 100000);
    const uint32_t stride = 1000;
    void **stamps = calloc(count, sizeof(*stamps));
    read_back *back = NULL;

    assert_non_null(stamps);
    for (uint32_t i = 0; i < count; i++) {
        stamps[i] = aclprofCreateStamp();
        assert_non_null(stamps[i]);
        assert_int_equal(message_set(stamps[i], 'm', 1, i), ACL_SUCCESS);
    }
    for (uint32_t i = 0; i < count; i += stride) {
        assert_int_equal(aclprofMark(stamps[i]), ACL_SUCCESS);
    }
    for (uint32_t i = 0; i < count; i++) {
        aclprofDestroyStamp(stamps[i]);
    }
    for (uint32_t i = 0; i < count; i += stride) {
        assert_int_equal(aclprofMark(stamps[i]), ACL_ERROR_INVALID_PARAM);
    }
    free(stamps);
    back = finish(*state, count / stride);
    for (uint32_t i = 0; i < back->count; i++) {
        char text[MESSAGE_MAX + 1];

        text[message_make(text, 'm', 1, i * stride)] = '\0';
        assert_string_equal(back->stamps[i].message, text);
    }
    read_back_close(back);
}

static void stamps_outlive_captures(void **state)
{
    void *stamp = stamp_of("kept");
    paths found;

    assert_int_equal(aclprofMark(stamp), ACL_SUCCESS);
    read_back_close(finish(*state, 1));
    assert_int_equal(aclprofMark(stamp), ACL_ERROR_PROF_NOT_RUN);
    assert_int_equal(aclprofSetStampTraceMessage(stamp, "renamed", 7), ACL_SUCCESS);
    assert_int_equal(capture_begin(*state, &config), ACL_SUCCESS);
    assert_int_equal(aclprofMark(stamp), ACL_SUCCESS);
    aclprofDestroyStamp(stamp);
    assert_int_equal(aclprofMark(stamp), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(capture_end(config), ACL_SUCCESS);
    found = prof_paths(*state);
    assert_int_equal(found.count, 2);
    for (size_t i = 0; i < found.count; i++) {
        read_back *back = read_back_open(found.list[i]);

        assert_non_null(back);
        assert_int_equal(back->count, 1);
        assert_int_equal(read_back_count(back, "kept") + read_back_count(back, "renamed"), 1);
        read_back_close(back);
    }
    paths_free(&found);
}

/* Whatever a stamp bore in its former life is gone. */
static void stamps_begin_empty(void **state)
{
    void *old[200];
    void *fresh[200];
    uint64_t payload = 0x1122334455667788u;
    read_back *back = NULL;

    for (int i = 0; i < 200; i++) {
        old[i] = stamp_of("a message that is longer than one block of a copy, of a former life");
        assert_int_equal(aclprofSetStampCategory(old[i], 7), ACL_SUCCESS);
        assert_int_equal(aclprofSetStampPayload(old[i], 3, &payload), ACL_SUCCESS);
        assert_int_equal(aclprofSetStampTagName(old[i], "tag", 3), ACL_SUCCESS);
        assert_int_equal(aclprofSetStampCallStack(old[i], "stack", 5), ACL_SUCCESS);
    }
    for (int i = 0; i < 200; i++) {
        aclprofDestroyStamp(old[i]);
    }
    for (int i = 0; i < 200; i++) {
        fresh[i] = aclprofCreateStamp();
        assert_int_equal(aclprofMark(fresh[i]), ACL_SUCCESS);
    }
    back = finish(*state, 200);
    for (int i = 0; i < 200; i++) {
        const ap__stamp_record *r = &back->stamps[i];

        assert_string_equal(r->message, "");
        assert_int_equal(r->category, 0);
        assert_int_equal(r->payload_type, 0);
        assert_int_equal(r->payload, 0);
        assert_null(r->tag);
        assert_null(r->call_stack);
        aclprofDestroyStamp(fresh[i]);
    }
    read_back_close(back);
}

/* ---- pushes ---- */

static void pushes_nest_deeply(void **state)
{
    const uint32_t depth = SCALED(100000, 20000);
    const uint32_t left = 10;
    uint64_t start = UINT64_MAX;
    uint64_t end = 0;
    read_back *back = NULL;

    for (uint32_t i = 0; i < depth; i++) {
        void *stamp = aclprofCreateStamp();

        assert_int_equal(message_set(stamp, 'p', 2, i), ACL_SUCCESS);
        assert_int_equal(aclprofPush(stamp), ACL_SUCCESS);
        aclprofDestroyStamp(stamp); /* the frame keeps its text */
    }
    for (uint32_t i = left; i < depth; i++) {
        assert_int_equal(aclprofPop(), ACL_SUCCESS);
    }
    back = finish(*state, depth - left);
    assert_int_equal(open_at_stop(back), left);
    for (uint32_t i = 0; i < back->count; i++) {
        const ap__stamp_record *r = &back->stamps[i];
        char text[MESSAGE_MAX + 1];

        text[message_make(text, 'p', 2, depth - 1 - i)] = '\0';
        assert_string_equal(r->message, text);
        assert_int_equal(r->event, AP_TX_PUSH_POP);
        assert_true(r->start_ns <= start && r->end_ns >= end && r->start_ns <= r->end_ns);
        start = r->start_ns;
        end = r->end_ns;
    }
    read_back_close(back);
}

static void pops_need_pushes(void **state)
{
    void *stamp = stamp_of("pushed");
    read_back *back = NULL;

    assert_int_equal(aclprofPop(), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofPush(stamp), ACL_SUCCESS);
    assert_int_equal(aclprofPush(stamp), ACL_SUCCESS); /* the same one twice */
    assert_int_equal(aclprofPop(), ACL_SUCCESS);
    assert_int_equal(aclprofPop(), ACL_SUCCESS);
    assert_int_equal(aclprofPop(), ACL_ERROR_INVALID_PARAM);
    /* what is open when a capture ends is not closed by the next one's pops */
    assert_int_equal(aclprofPush(stamp), ACL_SUCCESS);
    back = finish(*state, 2);
    assert_int_equal(open_at_stop(back), 1);
    read_back_close(back);
    scratch_drop(*state);
    assert_int_equal(capture_begin(*state, &config), ACL_SUCCESS);
    assert_int_equal(aclprofPop(), ACL_ERROR_INVALID_PARAM);
    aclprofDestroyStamp(stamp);
    back = finish(*state, 0);
    assert_int_equal(open_at_stop(back), 0);
    read_back_close(back);
}

/* What a stamp says at the end counts; what it said at the beginning, when it is no more. */
static void texts_between_begin_and_end(void **state)
{
    static const char *const expected[] = {"new text", "new text", "old text", "old text"};
    read_back *back = NULL;

    for (int destroy = 0; destroy < 2; destroy++) {
        void *pushed = stamp_of("old text");
        void *ranged = stamp_of("old text");
        void *other = NULL;
        uint32_t id = 0;

        assert_int_equal(aclprofPush(pushed), ACL_SUCCESS);
        assert_int_equal(aclprofRangeStart(ranged, &id), ACL_SUCCESS);
        if (destroy) {
            aclprofDestroyStamp(pushed);
            aclprofDestroyStamp(ranged);
            other = stamp_of("whose slot it may be");
        } else {
            assert_int_equal(aclprofSetStampTraceMessage(pushed, "new text", 8), ACL_SUCCESS);
            assert_int_equal(aclprofSetStampTraceMessage(ranged, "new text", 8), ACL_SUCCESS);
        }
        assert_int_equal(aclprofPop(), ACL_SUCCESS);
        assert_int_equal(aclprofRangeStop(id), ACL_SUCCESS);
        aclprofDestroyStamp(other);
    }
    back = finish(*state, 4);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(back->stamps[i].message, expected[i]);
        assert_int_equal(back->stamps[i].event, i % 2 == 0 ? AP_TX_PUSH_POP : AP_TX_RANGE);
    }
    read_back_close(back);
}

/* ---- ranges ---- */

#define RANGE_THREADS 4u
#define RANGE_WINDOW 500u

typedef struct ranger {
    uint64_t *ids;
    uint32_t count;
    uint32_t wrong;
} ranger;

static void *open_and_stop(void *arg)
{
    ranger *r = arg;
    void *stamp = stamp_of("r");

    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t id = 0;

        r->wrong += aclprofRangeStart(stamp, &id) != ACL_SUCCESS || id == 0;
        r->ids[i] = id;
        if (i >= RANGE_WINDOW) {
            r->wrong += aclprofRangeStop((uint32_t)r->ids[i - RANGE_WINDOW]) != ACL_SUCCESS;
        }
    }
    for (uint32_t i = r->count - RANGE_WINDOW; i < r->count; i++) {
        r->wrong += aclprofRangeStop((uint32_t)r->ids[i]) != ACL_SUCCESS;
    }
    for (uint32_t i = 0; i < r->count; i += i + RANGE_WINDOW < r->count ? 101 : 1) {
        r->wrong += aclprofRangeStop((uint32_t)r->ids[i]) != ACL_ERROR_INVALID_PARAM;
    }
    aclprofDestroyStamp(stamp);
    return NULL;
}

static void range_ids_are_unique(void **state)
{
    const uint32_t count = SCALED(1000000, 100000);
    uint64_t *ids = calloc(count, sizeof(*ids));
    ranger rangers[RANGE_THREADS];
    pthread_t threads[RANGE_THREADS];

    (void)state;
    assert_non_null(ids);
    assert_int_equal(capture_end(config), ACL_SUCCESS);
    scratch_drop(*state);
    setenv("ACLPROF_RING_SIZE", "64K", 1); /* the records are not looked at */
    assert_int_equal(capture_begin(*state, &config), ACL_SUCCESS);
    for (uint32_t i = 0; i < RANGE_THREADS; i++) {
        uint32_t share = count / RANGE_THREADS;

        rangers[i] = (ranger){ids + (size_t)i * share, share, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_stop, &rangers[i]), 0);
    }
    for (uint32_t i = 0; i < RANGE_THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(rangers[i].wrong, 0);
    }
    all_different(ids, count);
    assert_true(ids[0] > 0);
    free(ids);
    assert_int_equal(capture_end(config), ACL_SUCCESS);
    assert_int_equal(stats_now().emitted, count);
    assert_int_equal(stats_now().openAtStop, 0);
}

static void *stop_range(void *arg)
{
    uint32_t *id = arg;

    *id = (uint32_t)aclprofRangeStop(*id);
    return NULL;
}

static void ranges_end_once(void **state)
{
    void *stamp = stamp_of("range");
    uint32_t ids[3] = {0};
    uint32_t passed = 0;
    pthread_t thread;
    read_back *back = NULL;

    assert_int_equal(aclprofRangeStop(0), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofRangeStop(UINT32_MAX), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofRangeStart(stamp, NULL), ACL_ERROR_INVALID_PARAM);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(aclprofRangeStart(stamp, &ids[i]), ACL_SUCCESS);
    }
    assert_int_equal(aclprofRangeStop(ids[2] + 1), ACL_ERROR_INVALID_PARAM);
    passed = ids[0];
    assert_int_equal(pthread_create(&thread, NULL, stop_range, &passed), 0);
    pthread_join(thread, NULL);
    assert_int_equal(passed, ACL_SUCCESS);
    assert_int_equal(aclprofRangeStop(ids[0]), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofRangeStop(ids[1]), ACL_SUCCESS);
    assert_int_equal(aclprofRangeStop(ids[1]), ACL_ERROR_INVALID_PARAM);
    back = finish(*state, 2); /* ids[2] is open */
    assert_int_equal(open_at_stop(back), 1);
    assert_int_not_equal(back->stamps[0].tid, back->stamps[1].tid); /* who stopped it */
    read_back_close(back);
    assert_int_equal(aclprofRangeStop(ids[2]), ACL_ERROR_PROF_NOT_RUN);
    scratch_drop(*state);
    assert_int_equal(capture_begin(*state, &config), ACL_SUCCESS);
    assert_int_equal(aclprofRangeStop(ids[2]), ACL_ERROR_INVALID_PARAM); /* of another capture */
    assert_int_equal(aclprofRangeStart(stamp, &ids[0]), ACL_SUCCESS);
    assert_true(ids[0] != ids[1] && ids[0] != ids[2]);
    assert_int_equal(aclprofRangeStop(ids[0]), ACL_SUCCESS);
    aclprofDestroyStamp(stamp);
    back = finish(*state, 1);
    assert_int_equal(open_at_stop(back), 0);
    read_back_close(back);
}

/* Two threads stop the same range: one of them does. */
static pthread_barrier_t both;

static void *stop_same(void *arg)
{
    uint32_t *ids = arg;
    uintptr_t done = 0;

    for (uint32_t i = 0; i < 64; i++) {
        pthread_barrier_wait(&both);
        for (uint32_t j = 0; j < 50; j++) {
            done += aclprofRangeStop(ids[i * 50 + j]) == ACL_SUCCESS;
        }
    }
    return (void *)done;
}

static void two_stops_of_a_range(void **state)
{
    void *stamp = stamp_of("range");
    uint32_t ids[64 * 50];
    pthread_t threads[2];
    uintptr_t done = 0;

    pthread_barrier_init(&both, NULL, 2);
    for (uint32_t i = 0; i < 64 * 50; i++) {
        assert_int_equal(aclprofRangeStart(stamp, &ids[i]), ACL_SUCCESS);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, stop_same, ids), 0);
    }
    for (int i = 0; i < 2; i++) {
        void *result = NULL;

        pthread_join(threads[i], &result);
        done += (uintptr_t)result;
    }
    pthread_barrier_destroy(&both);
    assert_int_equal(done, 64 * 50);
    aclprofDestroyStamp(stamp);
    read_back_close(finish(*state, 64 * 50));
}

/* ---- the edge of memory ---- */

#define EDGE_PAGES 4u

/* `length` bytes that end where readable memory ends. */
static char *at_the_edge(size_t length)
{
    static char *region;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (region == NULL) {
        region = mmap(NULL, (EDGE_PAGES + 1) * page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(region != MAP_FAILED);
        assert_int_equal(mprotect(region + EDGE_PAGES * page, page, PROT_NONE), 0);
    }
    return region + EDGE_PAGES * page - length;
}

static void *edge_text(const char *text, size_t length)
{
    return memcpy(at_the_edge(length), text, length);
}

#define EDGE_LENGTHS 400u

static void edge_fill(char *out, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        out[i] = (char)('A' + (i * 7 + length) % 26);
    }
}

static void messages_are_not_read_beyond_their_length(void **state)
{
    void *stamp = aclprofCreateStamp();
    read_back *back = NULL;
    char text[EDGE_LENGTHS];

    for (size_t n = 0; n < EDGE_LENGTHS; n++) {
        edge_fill(text, n);
        assert_int_equal(aclprofSetStampTraceMessage(stamp, edge_text(text, n), (uint32_t)n),
                         ACL_SUCCESS);
        assert_int_equal(aclprofMark(stamp), ACL_SUCCESS);
    }
    aclprofDestroyStamp(stamp);
    back = finish(*state, EDGE_LENGTHS);
    for (size_t n = 0; n < EDGE_LENGTHS; n++) {
        edge_fill(text, n);
        assert_int_equal(back->stamps[n].message_length, n);
        assert_memory_equal(back->stamps[n].message, text, n);
    }
    assert_int_equal(ap__reader_account_of(back->reader)->total.cutMessages,
                     EDGE_LENGTHS - 1 - MESSAGE_MAX);
    read_back_close(back);
}

/* A NUL ends a text before its length does: nothing behind it is read either. */
static void messages_end_at_nul(void **state)
{
    static const uint32_t claimed[] = {4, 5, 127, 128, 4096, UINT32_MAX};
    const size_t count = sizeof(claimed) / sizeof(claimed[0]);
    void *stamp = aclprofCreateStamp();
    read_back *back = NULL;

    for (size_t i = 0; i < count; i++) {
        assert_int_equal(aclprofSetStampTraceMessage(stamp, edge_text("abc", 4), claimed[i]),
                         ACL_SUCCESS);
        assert_int_equal(aclprofMark(stamp), ACL_SUCCESS);
    }
    aclprofDestroyStamp(stamp);
    back = finish(*state, count);
    assert_int_equal(read_back_count(back, "abc"), count);
    read_back_close(back);
}

static void attributes_are_not_read_beyond_their_length(void **state)
{
    void *stamp = stamp_of("edge");
    uint64_t payload = 0x0123456789abcdefu;
    aclprofStats *small = NULL;
    size_t size = 2 * sizeof(uint64_t);
    read_back *back = NULL;

    assert_int_equal(aclprofSetStampTagName(stamp, edge_text("tag", 3), 3), ACL_SUCCESS);
    assert_int_equal(aclprofSetStampCallStack(stamp, edge_text("main;loop", 9), 9), ACL_SUCCESS);
    assert_int_equal(aclprofSetStampPayload(stamp, 2, edge_text((char *)&payload, 8)),
                     ACL_SUCCESS);
    assert_int_equal(aclprofSetStampCategory(stamp, 9), ACL_SUCCESS);
    assert_int_equal(aclprofSetCategoryName(9, edge_text("nine", 5)), ACL_SUCCESS);
    assert_true(aclprofStr2Id(edge_text("id", 3)) == aclprofStr2Id("id"));
    assert_int_equal(aclprofMark(stamp), ACL_SUCCESS);
    small = edge_text((char *)&size, sizeof(size));
    small = (aclprofStats *)(void *)((char *)small - (size - sizeof(size)));
    small->size = size;
    assert_int_equal(aclprofGetStats(small), ACL_SUCCESS); /* writes no further either */
    assert_int_equal(small->emitted, 1);
    aclprofDestroyStamp(stamp);
    back = finish(*state, 1);
    assert_string_equal(back->stamps[0].tag, "tag");
    assert_string_equal(back->stamps[0].call_stack, "main;loop");
    assert_int_equal(back->stamps[0].payload, payload);
    assert_int_equal(back->stamps[0].payload_type, 2);
    assert_int_equal(back->stamps[0].category, 9);
    assert_string_equal(ap__reader_category_name(back->reader, 9), "nine");
    assert_string_equal(ap__reader_hash_text(back->reader, aclprofStr2Id("id")), "id");
    read_back_close(back);
}

static void control_texts_are_not_read_beyond_their_length(void **state)
{
    static const struct {
        aclprofConfigType type;
        const char *value;
        aclError code;
    } settings[] = {
        {ACL_PROF_STORAGE_LIMIT, "500MB", ACL_SUCCESS},
        {ACL_PROF_STORAGE_LIMIT, "500M", ACL_ERROR_INVALID_PROFILING_CONFIG},
        {ACL_PROF_HOST_SYS, "cpu,mem", ACL_SUCCESS},
        {ACL_PROF_HOST_SYS, "cpu,me", ACL_ERROR_INVALID_PROFILING_CONFIG},
        {ACL_PROF_HOST_SYS_USAGE, "cpu", ACL_SUCCESS},
        {ACL_PROF_HOST_SYS_USAGE_FREQ, "50", ACL_SUCCESS},
        {ACL_PROF_HOST_SYS_USAGE_FREQ, "51", ACL_ERROR_INVALID_PROFILING_CONFIG},
        {ACL_PROF_LLC_MODE, "rea", ACL_ERROR_INVALID_PROFILING_CONFIG},
    };
    const char *root = *state;
    size_t length = strlen(root);
    uint32_t *devices = NULL;

    assert_int_equal(capture_end(config), ACL_SUCCESS);
    scratch_drop(root);
    assert_int_equal(aclprofInit(edge_text(root, length), length), ACL_SUCCESS);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        size_t n = strlen(settings[i].value);

        assert_int_equal(
            aclprofSetConfig(settings[i].type, edge_text(settings[i].value, n), n),
            settings[i].code);
    }
    assert_int_equal(aclprofSetConfig(ACL_PROF_PATH, edge_text(root, length), length),
                     ACL_SUCCESS);
    for (uint32_t n = 1; n <= 64; n++) {
        devices = edge_text((char[64 * sizeof(uint32_t)]){0}, n * sizeof(uint32_t));
        assert_null(aclprofCreateConfig(devices, n, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX));
    }
    config = tx_config();
    assert_int_equal(aclprofStart(config), ACL_SUCCESS);
    read_back_close(finish(root, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CAPTURE_TEST(bad_handles_are_refused),
        CAPTURE_TEST(handles_never_come_again),
        CAPTURE_TEST(a_million_live_stamps),
        CAPTURE_TEST(stamps_outlive_captures),
        CAPTURE_TEST(stamps_begin_empty),
        CAPTURE_TEST(pushes_nest_deeply),
        CAPTURE_TEST(pops_need_pushes),
        CAPTURE_TEST(texts_between_begin_and_end),
        CAPTURE_TEST(range_ids_are_unique),
        CAPTURE_TEST(ranges_end_once),
        CAPTURE_TEST(two_stops_of_a_range),
        CAPTURE_TEST(messages_are_not_read_beyond_their_length),
        CAPTURE_TEST(messages_end_at_nul),
        CAPTURE_TEST(attributes_are_not_read_beyond_their_length),
        CAPTURE_TEST(control_texts_are_not_read_beyond_their_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
