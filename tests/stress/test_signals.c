/* SPDX-License-Identifier: Apache-2.0 */
/* Signal handlers that stamp, in threads that stamp. Events of a handler that interrupted a stamp
 * call are lost and counted; all others are there. test_signal_steps does it systematically. */
#define _GNU_SOURCE
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>

#define STREAMS 16u /* message streams: of threads, and of their handlers */

/* One thread's or handler's own numbering. Only its owner writes. */
typedef struct stream {
    _Alignas(64) uint32_t index;
    uint32_t seq; /* events that were accepted */
    uint32_t wrong;
    void *a;
    void *b;
} stream;

static stream streams[STREAMS];

static bool stream_begin(uint32_t index)
{
    stream *s = &streams[index];

    *s = (stream){.index = index, .a = aclprofCreateStamp(), .b = aclprofCreateStamp()};
    return s->a != NULL && s->b != NULL;
}

static void stream_end(uint32_t index)
{
    aclprofDestroyStamp(streams[index].a);
    aclprofDestroyStamp(streams[index].b);
}

static void ok(stream *s, aclError code)
{
    s->wrong += code != ACL_SUCCESS;
}

static void mark(stream *s)
{
    ok(s, message_set(s->a, 'm', s->index, s->seq));
    ok(s, aclprofMark(s->a));
    s->seq++;
}

static void push_pop(stream *s)
{
    ok(s, aclprofPush(s->b));
    ok(s, message_set(s->b, 'p', s->index, s->seq));
    ok(s, aclprofPop());
    s->seq++;
}

static void range(stream *s)
{
    uint32_t id = 0;

    ok(s, aclprofRangeStart(s->a, &id));
    ok(s, message_set(s->a, 'r', s->index, s->seq));
    ok(s, aclprofRangeStop(id));
    s->seq++;
}

static void all_kinds(stream *s)
{
    mark(s);
    push_pop(s);
    range(s);
}

/* Every record belongs to a stream and is in order; gaps are as many as the account says. */
static void check_streams(const char *root, const aclprofStats *stats)
{
    read_back *back = read_back_open(root);
    uint32_t next[STREAMS] = {0};
    uint64_t gaps = 0;
    uint64_t accepted = 0;

    assert_non_null(back);
    assert_null(ap__reader_note(back->reader, 0));
    assert_true(read_back_account_balances(back));
    for (size_t i = 0; i < back->count; i++) {
        const ap__stamp_record *r = &back->stamps[i];
        char kind = 0;
        uint32_t index = 0;
        uint32_t seq = 0;

        if (!message_read(r->message, r->message_length, &kind, &index, &seq)) {
            fail_msg("torn: '%s'", r->message);
        }
        assert_true(index < STREAMS && seq < streams[index].seq);
        assert_int_equal(r->event, event_of_kind(kind));
        assert_true(seq >= next[index]);
        gaps += seq - next[index];
        next[index] = seq + 1;
    }
    for (uint32_t i = 0; i < STREAMS; i++) {
        assert_int_equal(streams[i].wrong, 0);
        gaps += streams[i].seq - next[i];
        accepted += streams[i].seq;
    }
    assert_int_equal(stats->emitted, accepted);
    assert_int_equal(stats->written, back->count);
    assert_int_equal(stats->lostReentrant + stats->lostRingFull + stats->lostNoRing, gaps);
    assert_int_equal(stats->lostTotal, gaps);
    assert_int_equal(stats->openAtStop, 0);
    print_message("[          ] emitted %llu, lost in handlers %llu, ring full %llu\n",
                  (unsigned long long)stats->emitted, (unsigned long long)stats->lostReentrant,
                  (unsigned long long)stats->lostRingFull);
    read_back_close(back);
}

static void end_and_check(const char *root, aclprofConfig *config)
{
    aclprofStats stats;

    assert_int_equal(capture_end(config), ACL_SUCCESS);
    stats = stats_now();
    check_streams(root, &stats);
}

/* ---- one thread, another one that interrupts it all the time ---- */

static _Atomic uint32_t handled;
static _Atomic uint32_t stamping;

static void stamp_in_handler(int number)
{
    int saved = errno;

    (void)number;
    errno = 0;
    all_kinds(&streams[1]);
    streams[1].wrong += errno != 0;
    errno = saved;
    atomic_fetch_add_explicit(&handled, 1, memory_order_relaxed);
}

static void *stamp_interrupted(void *arg)
{
    const uint32_t least = *(uint32_t *)arg;

    uint32_t now = 0;

    while (now < least) {
        if (streams[0].seq < 150 * now + 30000) {
            all_kinds(&streams[0]);
        } else {
            sched_yield(); /* the disk is not what is tested */
        }
        now = atomic_load_explicit(&handled, memory_order_relaxed);
    }
    atomic_store(&stamping, 0);
    return NULL;
}

static void handlers_in_a_stamping_thread(void **state)
{
    struct sigaction action = {.sa_handler = stamp_in_handler};
    struct sigaction before;
    uint32_t least = SCALED(10000, 3000);
    aclprofConfig *config = NULL;
    pthread_t thread;

    assert_int_equal(capture_begin(*state, &config), ACL_SUCCESS);
    assert_true(stream_begin(0) && stream_begin(1));
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    atomic_store(&handled, 0);
    atomic_store(&stamping, 1);
    assert_int_equal(pthread_create(&thread, NULL, stamp_interrupted, &least), 0);
    while (atomic_load_explicit(&stamping, memory_order_relaxed) != 0) {
        pthread_kill(thread, SIGUSR1); /* it is not joined yet */
        sched_yield();
    }
    pthread_join(thread, NULL);
    sigaction(SIGUSR1, &before, NULL);
    stream_end(0);
    stream_end(1);
    end_and_check(*state, config);
}

/* ---- a timer that interrupts whichever thread it likes, but never the writer ---- */

#define TIMED_THREADS 4u

static __thread uint32_t my_index = UINT32_MAX;
static _Atomic uint32_t strangers; /* handlers in a thread that is none of ours */
static _Atomic int ticking;

static void stamp_at_tick(int number)
{
    int saved = errno;

    (void)number;
    if (my_index >= TIMED_THREADS) {
        atomic_fetch_add(&strangers, 1);
    } else {
        all_kinds(&streams[TIMED_THREADS + my_index]);
    }
    atomic_fetch_add_explicit(&handled, 1, memory_order_relaxed);
    errno = saved;
}

static void *stamp_timed(void *arg)
{
    sigset_t alarm;

    my_index = *(uint32_t *)arg;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    while (atomic_load_explicit(&ticking, memory_order_relaxed) != 0) {
        if (streams[my_index].seq <
            100 * atomic_load_explicit(&handled, memory_order_relaxed) + 10000) {
            all_kinds(&streams[my_index]);
        } else {
            sched_yield();
        }
    }
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    return NULL;
}

static void handlers_of_a_timer(void **state)
{
    struct sigaction action = {.sa_handler = stamp_at_tick, .sa_flags = SA_RESTART};
    struct sigaction before;
    struct itimerval timer = {{0, 100}, {0, 100}};
    uint32_t indices[TIMED_THREADS];
    pthread_t threads[TIMED_THREADS];
    aclprofConfig *config = NULL;
    sigset_t alarm;

    assert_int_equal(capture_begin(*state, &config), ACL_SUCCESS);
    for (uint32_t i = 0; i < 2 * TIMED_THREADS; i++) {
        assert_true(stream_begin(i));
    }
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL); /* here; the writer was made with all blocked */
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    atomic_store(&handled, 0);
    atomic_store(&strangers, 0);
    atomic_store(&ticking, 1);
    for (uint32_t i = 0; i < TIMED_THREADS; i++) {
        indices[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, stamp_timed, &indices[i]), 0);
    }
    assert_int_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
    while (atomic_load_explicit(&handled, memory_order_relaxed) < SCALED(2000, 300)) {
        usleep(1000);
    }
    timer = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
    atomic_store(&ticking, 0);
    for (uint32_t i = 0; i < TIMED_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    sigaction(SIGALRM, &before, NULL);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    assert_int_equal(atomic_load(&strangers), 0);
    for (uint32_t i = 0; i < 2 * TIMED_THREADS; i++) {
        stream_end(i);
    }
    end_and_check(*state, config);
}

/* ---- a thread's first event ---- */

static void *ready_stamp;
static _Atomic uint32_t first_wrong;
static _Atomic uint32_t first_handled;

static void stamp_first(int number)
{
    (void)number;
    if (aclprofPush(ready_stamp) != ACL_SUCCESS || aclprofMark(ready_stamp) != ACL_SUCCESS ||
        aclprofPop() != ACL_SUCCESS) {
        atomic_fetch_add(&first_wrong, 1);
    }
    atomic_fetch_add(&first_handled, 1);
}

/* It signals itself: TSan loses what another thread sends while a thread unblocks. */
static void *be_signalled(void *arg)
{
    uint32_t before = atomic_load(&first_handled);

    *(uint32_t *)arg = (uint32_t)syscall(SYS_gettid);
    pthread_kill(pthread_self(), SIGUSR2);
    if (atomic_load(&first_handled) != before + 1 ||
        aclprofMark(ready_stamp) != ACL_SUCCESS) {
        atomic_fetch_add(&first_wrong, 1);
    }
    return NULL;
}

static void first_events_in_a_handler(void **state)
{
    struct sigaction action = {.sa_handler = stamp_first};
    struct sigaction before;
    const uint32_t count = 50;
    uint32_t tids[50];
    aclprofConfig *config = NULL;
    read_back *back = NULL;

    setenv("ACLPROF_RING_SIZE", "64K", 1);
    assert_int_equal(capture_begin(*state, &config), ACL_SUCCESS);
    ready_stamp = stamp_of("first");
    assert_int_equal(sigaction(SIGUSR2, &action, &before), 0);
    for (uint32_t i = 0; i < count; i++) {
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, be_signalled, &tids[i]), 0);
        pthread_join(thread, NULL);
    }
    sigaction(SIGUSR2, &before, NULL);
    assert_int_equal(atomic_load(&first_wrong), 0);
    aclprofDestroyStamp(ready_stamp);
    assert_int_equal(capture_end(config), ACL_SUCCESS);
    back = read_back_open(*state);
    assert_non_null(back);
    assert_true(read_back_account_balances(back));
    assert_int_equal(back->count, 3 * count);
    for (uint32_t i = 0; i < back->count; i++) {
        assert_int_equal(back->stamps[i].tid, tids[i / 3]);
        assert_int_equal(back->stamps[i].event, i % 3 == 1 ? AP_TX_PUSH_POP : AP_TX_MARK);
    }
    read_back_close(back);
}

/* ---- the writer ---- */

/* Field `name` of a thread of this process, a hexadecimal number; false when there is none. */
static bool status_mask(const char *task, const char *name, unsigned long long *mask)
{
    char path[300];
    char line[256];
    bool found = false;
    FILE *file = NULL;

    snprintf(path, sizeof(path), "/proc/self/task/%s/status", task);
    file = fopen(path, "re");
    while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL) {
        found = strncmp(line, name, strlen(name)) == 0 &&
                sscanf(line + strlen(name), ": %llx", mask) == 1;
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

static bool is_named(const char *task, const char *name)
{
    char path[300];
    char line[64] = "";
    FILE *file = NULL;

    snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task);
    file = fopen(path, "re");
    if (file != NULL) {
        (void)!fgets(line, sizeof(line), file);
        fclose(file);
    }
    line[strcspn(line, "\n")] = '\0';
    return strcmp(line, name) == 0;
}

/* Threads of the name; *mask: signals that the last of them blocks. */
static uint32_t writers(unsigned long long *mask)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry = NULL;
    uint32_t count = 0;

    assert_non_null(tasks);
    while ((entry = readdir(tasks)) != NULL) {
        if (entry->d_name[0] != '.' && is_named(entry->d_name, "aclprof-writer")) {
            assert_true(status_mask(entry->d_name, "SigBlk", mask));
            count++;
        }
    }
    closedir(tasks);
    return count;
}

static void the_writer_takes_no_signals(void **state)
{
    unsigned long long mask = 0;
    aclprofConfig *config = NULL;
    void *stamp = NULL;

    assert_int_equal(writers(&mask), 0);
    assert_int_equal(capture_begin(*state, &config), ACL_SUCCESS);
    stamp = stamp_of("wakes the writer");
    assert_int_equal(aclprofMark(stamp), ACL_SUCCESS);
    while (stats_now().written == 0) { /* then it has its name */
        usleep(1000);
    }
    assert_int_equal(writers(&mask), 1);
    for (int number = 1; number <= 64; number++) {
        /* two cannot be blocked, and the C library keeps two for itself */
        if (number != SIGKILL && number != SIGSTOP && number != 32 && number != 33) {
            assert_true((mask >> (number - 1) & 1) != 0);
        }
    }
    aclprofDestroyStamp(stamp);
    assert_int_equal(capture_end(config), ACL_SUCCESS);
    assert_int_equal(writers(&mask), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(handlers_in_a_stamping_thread),
        SCRATCH_TEST(handlers_of_a_timer),
        SCRATCH_TEST(first_events_in_a_handler),
        SCRATCH_TEST(the_writer_takes_no_signals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
