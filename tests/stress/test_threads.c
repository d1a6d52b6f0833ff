/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads, self-checking messages: emitted = written + lost, nothing torn, duplicated or
 * reordered within a thread. */
#define _GNU_SOURCE
#include "harness.h"

#include <pthread.h>
#include <sys/syscall.h>

#define THREADS 64u
#define TID_TABLE 4096u /* open addressing */
#define CLOCK_SLOP 1000000u

/* A range that the thread before has opened and this one shall stop. */
typedef struct handover {
    _Atomic int full;
    void *stamp; /* the giver's, the taker's to use while full */
    uint32_t id;
} handover;

typedef struct worker {
    _Alignas(64) uint32_t index;
    uint32_t tid;
    uint32_t events;
    uint32_t seq;      /* events that were accepted: the next one's number */
    uint32_t failures; /* calls that did not return 0 */
    struct worker *next;
    void *given; /* stamp for the hand-over */
    handover in;
    pthread_t thread;

    /* what the reader saw */
    uint32_t seen;
    uint32_t expected; /* the least number that may come */
    uint32_t gaps;
    uint64_t last_end;
    uint32_t inner_seq; /* of the newest inner push; UINT32_MAX: none */
    uint64_t inner_start;
    uint64_t inner_end;
} worker;

static pthread_barrier_t barrier;
static worker workers[THREADS];
static uint64_t began; /* around the capture */
static uint64_t ended;

static void expect_ok(worker *w, aclError code)
{
    w->failures += code != ACL_SUCCESS;
}

static void do_mark(worker *w, void *stamp)
{
    expect_ok(w, message_set(stamp, 'm', w->index, w->seq));
    expect_ok(w, aclprofMark(stamp));
    w->seq++;
}

/* The record of a push bears what the stamp says at the pop: numbers follow the pops. */
static void do_push_pop(worker *w, void *outer, void *inner)
{
    expect_ok(w, aclprofPush(outer));
    expect_ok(w, aclprofPush(inner));
    expect_ok(w, message_set(inner, 'p', w->index, w->seq));
    expect_ok(w, aclprofPop());
    w->seq++;
    expect_ok(w, message_set(outer, 'q', w->index, w->seq));
    expect_ok(w, aclprofPop());
    w->seq++;
}

static void do_range(worker *w, void *stamp)
{
    uint32_t id = 0;

    expect_ok(w, aclprofRangeStart(stamp, &id));
    expect_ok(w, message_set(stamp, 'r', w->index, w->seq));
    expect_ok(w, aclprofRangeStop(id));
    w->seq++;
}

static void take_over(worker *w)
{
    if (atomic_load_explicit(&w->in.full, memory_order_acquire) != 0) {
        expect_ok(w, message_set(w->in.stamp, 'x', w->index, w->seq));
        expect_ok(w, aclprofRangeStop(w->in.id));
        w->seq++;
        atomic_store_explicit(&w->in.full, 0, memory_order_release);
    }
}

static void hand_over(worker *w)
{
    handover *to = &w->next->in;

    if (atomic_load_explicit(&to->full, memory_order_acquire) == 0) {
        to->stamp = w->given;
        expect_ok(w, aclprofRangeStart(w->given, &to->id));
        atomic_store_explicit(&to->full, 1, memory_order_release);
    }
}

static void *work(void *arg)
{
    worker *w = arg;
    void *a = aclprofCreateStamp();
    void *b = aclprofCreateStamp();

    w->tid = (uint32_t)syscall(SYS_gettid);
    w->given = aclprofCreateStamp();
    w->failures += a == NULL || b == NULL || w->given == NULL;
    pthread_barrier_wait(&barrier);
    while (w->seq < w->events) {
        switch (mix(w->index, w->seq) % 5) {
        case 0:
            do_push_pop(w, a, b);
            break;
        case 1:
            do_range(w, b);
            break;
        case 2:
            hand_over(w);
            do_mark(w, a);
            break;
        default:
            do_mark(w, a);
            break;
        }
        take_over(w);
    }
    pthread_barrier_wait(&barrier); /* nobody hands over any more */
    take_over(w);
    aclprofDestroyStamp(a);
    aclprofDestroyStamp(b);
    pthread_barrier_wait(&barrier);
    aclprofDestroyStamp(w->given);
    pthread_barrier_wait(&barrier); /* all live until here: their numbers are unique */
    return NULL;
}

static void run_workers(uint32_t events)
{
    memset(workers, 0, sizeof(workers));
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].index = i;
        workers[i].events = events;
        workers[i].inner_seq = UINT32_MAX;
        workers[i].next = &workers[(i + 1) % THREADS];
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].failures, 0);
    }
    pthread_barrier_destroy(&barrier);
}

/* ---- reading back ---- */

static uint32_t table[TID_TABLE]; /* index + 1 */

static worker *worker_of(uint32_t tid)
{
    for (uint32_t i = tid % TID_TABLE; table[i] != 0; i = (i + 1) % TID_TABLE) {
        if (workers[table[i] - 1].tid == tid) {
            return &workers[table[i] - 1];
        }
    }
    return NULL;
}

static void table_fill(void)
{
    memset(table, 0, sizeof(table));
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t i = workers[t].tid % TID_TABLE;

        assert_null(worker_of(workers[t].tid));
        while (table[i] != 0) {
            i = (i + 1) % TID_TABLE;
        }
        table[i] = t + 1;
    }
}

/* An inner push is followed by its outer one, unless either was lost. */
static void check_nesting(worker *w, const ap__stamp_record *r, char kind, uint32_t seq)
{
    if (kind == 'p') {
        w->inner_seq = seq;
        w->inner_start = r->start_ns;
        w->inner_end = r->end_ns;
    } else if (seq != 0 && seq - 1 == w->inner_seq) {
        assert_true(r->start_ns <= w->inner_start);
        assert_true(r->end_ns >= w->inner_end);
    }
}

static void check_record(const ap__stamp_record *r)
{
    worker *w = worker_of(r->tid);
    char kind = 0;
    uint32_t thread = 0;
    uint32_t seq = 0;

    assert_non_null(w);
    if (!message_read(r->message, r->message_length, &kind, &thread, &seq)) {
        fail_msg("torn message '%s' (event %u, thread %u)", r->message, r->event, w->index);
    }
    assert_int_equal(thread, w->index);
    assert_int_equal(r->event, event_of_kind(kind));
    assert_int_equal(r->pid, getpid());
    assert_true(seq < w->seq);
    if (seq < w->expected) {
        fail_msg("thread %u: number %u after %u", w->index, seq, w->expected - 1);
    }
    w->gaps += seq - w->expected;
    w->expected = seq + 1;
    w->seen++;
    assert_true(r->start_ns >= began - CLOCK_SLOP);
    assert_true(r->start_ns <= r->end_ns);
    assert_true(r->end_ns <= ended + CLOCK_SLOP);
    assert_true(r->end_ns >= w->last_end);
    w->last_end = r->end_ns;
    if (kind == 'm') {
        assert_true(r->start_ns == r->end_ns);
    } else if (kind == 'p' || kind == 'q') {
        check_nesting(w, r, kind, seq);
    }
}

static void check_thread_accounts(const ap__reader_account *account)
{
    uint32_t known = 0;

    for (uint32_t i = 0; i < account->thread_count; i++) {
        const ap__thread_account *a = &account->threads[i];
        worker *w = worker_of(a->tid);

        assert_non_null(w);
        w->gaps += w->seq - w->expected; /* those at the end */
        assert_int_equal(a->emitted, w->seq);
        assert_int_equal(a->written, w->seen);
        assert_int_equal(a->lost_full, w->gaps);
        assert_int_equal(a->lost_no_ring + a->lost_reentrant + a->lost_disk, 0);
        known++;
    }
    assert_int_equal(known, THREADS);
}

static void check_totals(const aclprofStats *s, uint64_t emitted, uint64_t seen)
{
    assert_int_equal(s->emitted, emitted);
    assert_int_equal(s->written, seen);
    assert_int_equal(s->lostTotal, emitted - seen);
    assert_int_equal(s->lostRingFull, s->lostTotal); /* no other reason here */
    assert_int_equal(s->pending, 0);
    assert_int_equal(s->openAtStop, 0);
    assert_int_equal(s->cutMessages, 0);
    assert_int_equal(s->threads, THREADS);
    assert_int_equal(s->slicesRemoved, 0);
}

static void check_directory(const char *root, const aclprofStats *stats)
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(root, &error);
    ap__stamp_record record;
    uint64_t seen = 0;
    uint64_t emitted = 0;

    if (reader == NULL) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(ap__reader_state_of(reader), AP_READER_FINISHED);
    table_fill();
    while (ap__reader_next_stamp(reader, &record)) {
        check_record(&record);
        seen++;
    }
    assert_null(ap__reader_note(reader, 0));
    for (uint32_t i = 0; i < THREADS; i++) {
        emitted += workers[i].seq;
    }
    check_totals(stats, emitted, seen);
    assert_non_null(ap__reader_account_of(reader));
    check_totals(&ap__reader_account_of(reader)->total, emitted, seen);
    check_thread_accounts(ap__reader_account_of(reader));
    ap__reader_close(reader);
    print_message("[          ] %u threads: emitted %llu, written %llu, lost %llu\n", THREADS,
                  (unsigned long long)emitted, (unsigned long long)seen,
                  (unsigned long long)(emitted - seen));
}

/* ---- tests ---- */

static _Atomic int watching;

/* Statistics are read while events flow; they need not balance then, but never go back. */
static void *watch(void *arg)
{
    uint32_t *bad = arg;
    uint64_t emitted = 0;
    uint64_t written = 0;

    while (atomic_load(&watching) != 0) {
        aclprofStats s = stats_now();

        *bad += s.running != 1 || s.emitted < emitted || s.written < written ||
                s.lostTotal != lost_of(&s);
        emitted = s.emitted;
        written = s.written;
        usleep(1000);
    }
    return NULL;
}

static void run(const char *root, uint32_t events)
{
    aclprofConfig *config = NULL;
    pthread_t watcher;
    uint32_t bad = 0;
    aclprofStats stats;

    began = raw_ns();
    assert_int_equal(capture_begin(root, &config), ACL_SUCCESS);
    atomic_store(&watching, 1);
    assert_int_equal(pthread_create(&watcher, NULL, watch, &bad), 0);
    run_workers(events);
    atomic_store(&watching, 0);
    pthread_join(watcher, NULL);
    assert_int_equal(bad, 0);
    assert_int_equal(aclprofStop(config), ACL_SUCCESS);
    ended = raw_ns();
    stats = stats_now();
    assert_int_equal(stats.running, 0);
    assert_int_equal(capture_end(config), ACL_SUCCESS);
    check_directory(root, &stats);
}

/* Full speed: the writer need not keep up, but what it loses is counted to the event. */
static void full_speed_is_accounted_exactly(void **state)
{
    run(*state, SCALED(100000, 8000));
}

/* The smallest rings: every one of them wraps many times and is full now and then. */
static void tiny_rings_are_accounted_exactly(void **state)
{
    setenv("ACLPROF_RING_SIZE", "64K", 1);
    run(*state, SCALED(20000, 4000));
}

/* All of it fits into the rings: nothing may be lost at all, however slow the writer is. */
static void what_fits_is_kept(void **state)
{
    setenv("ACLPROF_RING_SIZE", "2M", 1);
    run(*state, SCALED(8000, 2000));
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(workers[i].gaps, 0);
        assert_int_equal(workers[i].seen, workers[i].seq);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(full_speed_is_accounted_exactly),
        SCRATCH_TEST(tiny_rings_are_accounted_exactly),
        SCRATCH_TEST(what_fits_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
