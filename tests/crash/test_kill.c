/* SPDX-License-Identifier: Apache-2.0 */
/* SIGKILL at a random moment under load: every stamp whose call had returned is in the directory
 * as it was left, and recovery makes that a normal one. */
#define _GNU_SOURCE
#include "finished.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "reader/recover.h"

#define THREADS 4u

static struct shared {
    _Atomic uint32_t tid[THREADS];
    _Atomic uint32_t returned[THREADS]; /* events whose last call has returned */
    _Atomic int stopping;
    _Atomic int stopped;
} *shared;

typedef struct way {
    const char *name;
    const char *arena;
    const char *ring_size;
    bool paced;          /* the writer keeps up easily */
    bool stops;          /* the kill comes while aclprofStop works, too */
    uint32_t runs;
} way;

/* ---- the child ---- */

static void returned(uint32_t index, uint32_t *seq)
{
    ++*seq;
    atomic_store_explicit(&shared->returned[index], *seq, memory_order_release);
}

static bool load_turn(uint32_t index, uint32_t *seq, void *a, void *b)
{
    uint32_t id = 0;

    switch (mix(index, *seq) % 3) {
    case 0:
        if (aclprofPush(b) != ACL_SUCCESS || message_set(b, 'p', index, *seq) != ACL_SUCCESS ||
            aclprofPop() != ACL_SUCCESS) {
            return false;
        }
        break;
    case 1:
        if (aclprofRangeStart(a, &id) != ACL_SUCCESS ||
            message_set(a, 'r', index, *seq) != ACL_SUCCESS ||
            aclprofRangeStop(id) != ACL_SUCCESS) {
            return false;
        }
        break;
    default:
        if (message_set(a, 'm', index, *seq) != ACL_SUCCESS || aclprofMark(a) != ACL_SUCCESS) {
            return false;
        }
        break;
    }
    returned(index, seq);
    return true;
}

typedef struct load_arg {
    const way *way;
    uint32_t index;
} load_arg;

/* Stamps until killed, or until the capture is over. */
static void *load(void *arg)
{
    const load_arg *l = arg;
    void *a = aclprofCreateStamp();
    void *b = aclprofCreateStamp();
    void *base = aclprofCreateStamp();
    uint32_t seq = 0;

    atomic_store(&shared->tid[l->index], (uint32_t)syscall(SYS_gettid));
    if (message_set(base, 'b', l->index, 0) != ACL_SUCCESS || aclprofPush(base) != ACL_SUCCESS) {
        _exit(4); /* it stays open */
    }
    while (load_turn(l->index, &seq, a, b)) {
        if (l->way->paced && seq % 16 == 0) {
            usleep(200);
        }
    }
    if (atomic_load(&shared->stopping) == 0) {
        _exit(5);
    }
    pause();
    return NULL;
}

static bool all_stamp(void)
{
    for (uint32_t i = 0; i < THREADS; i++) {
        if (atomic_load_explicit(&shared->returned[i], memory_order_acquire) == 0) {
            return false;
        }
    }
    return true;
}

static void kid(const way *w, const char *root)
{
    pthread_t threads[THREADS];
    load_arg args[THREADS];
    aclprofConfig *config = NULL;

    if (capture_begin(root, &config) != ACL_SUCCESS) {
        _exit(2);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        args[i] = (load_arg){w, i};
        if (pthread_create(&threads[i], NULL, load, &args[i]) != 0) {
            _exit(3);
        }
    }
    if (w->stops) {
        while (!all_stamp()) {
            usleep(100);
        }
        usleep(5000);
        atomic_store(&shared->stopping, 1);
        if (aclprofStop(config) != ACL_SUCCESS) {
            _exit(6);
        }
        atomic_store(&shared->stopped, 1);
    }
    for (;;) {
        pause();
    }
}

/* ---- the parent ---- */

static pid_t spawn(const way *w, const char *root)
{
    pid_t pid = 0;

    setenv("ACLPROF_ARENA", w->arena, 1);
    setenv("ACLPROF_RING_SIZE", w->ring_size, 1);
    memset(shared, 0, sizeof(*shared));
    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        kid(w, root);
    }
    return pid;
}

static void wait_for_load(const way *w, pid_t pid)
{
    int status = 0;

    while (!all_stamp() || (w->stops && atomic_load(&shared->stopping) == 0)) {
        usleep(100);
        if (waitpid(pid, &status, WNOHANG) != 0) {
            fail_msg("%s: the child ended with 0x%x", w->name, (unsigned)status);
        }
    }
}

/* Lets the child work for a while and kills it; what it had published by then counts. */
static void run_and_kill(const way *w, pid_t pid, uint32_t n)
{
    int status = 0;

    wait_for_load(w, pid);
    usleep(mix(n, 1234) % (w->stops ? 6000 : 25000));
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
        fail_msg("%s: the child ended with 0x%x", w->name, (unsigned)status);
    }
}

/* What a reading of the directory shows of one thread. */
typedef struct view {
    uint32_t seen;
    uint32_t next; /* one more than the last number */
    uint32_t hash; /* of everything seen, in order */
} view;

static uint32_t index_of_tid(uint32_t tid)
{
    uint32_t i = 0;

    while (i < THREADS && atomic_load(&shared->tid[i]) != tid) {
        i++;
    }
    return i;
}

static void view_stamp(view views[THREADS], const ap__stamp_record *r)
{
    uint32_t index = index_of_tid(r->tid);
    char kind = 0;
    uint32_t thread = 0;
    uint32_t seq = 0;
    view *v = &views[index];

    assert_true(index < THREADS);
    if (!message_read(r->message, r->message_length, &kind, &thread, &seq)) {
        fail_msg("torn: '%s'", r->message);
    }
    assert_int_equal(thread, index);
    assert_int_equal(r->event, event_of_kind(kind));
    assert_true(seq >= v->next); /* in order, none twice */
    assert_true(r->start_ns <= r->end_ns);
    v->next = seq + 1;
    v->seen++;
    v->hash = mix(mix(v->hash, seq), mix((uint32_t)r->start_ns, (uint32_t)r->end_ns));
}

static void look(const char *prof, ap__reader_state expected, view views[THREADS])
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(prof, &error);
    ap__stamp_record record;
    const char *note = NULL;

    if (reader == NULL) {
        fail_msg("%s", error.text);
    }
    memset(views, 0, THREADS * sizeof(*views));
    assert_int_equal(ap__reader_state_of(reader), expected);
    while (ap__reader_next_stamp(reader, &record)) {
        view_stamp(views, &record);
    }
    note = ap__reader_note(reader, 0);
    if (note != NULL && strstr(note, "damaged") != NULL) {
        fail_msg("%s", note);
    }
    ap__reader_close(reader);
}

/* Bounds of what thread i has lost: a call that was cut short may have counted its loss. */
static void check_thread(const way *w, uint32_t i, const view *v, uint64_t lost)
{
    uint32_t done = atomic_load(&shared->returned[i]);
    uint32_t numbers = v->next > done ? v->next : done;
    uint32_t gaps = numbers - v->seen;

    if (v->next > done + 1) {
        fail_msg("%s: thread %u: number %u, but only %u had begun", w->name, i, v->next - 1, done);
    }
    if (lost != gaps && lost != gaps + 1u) {
        fail_msg("%s: thread %u: %u of %u events are there, the account has lost %llu", w->name, i,
                 v->seen, numbers, (unsigned long long)lost);
    }
}

static uint64_t lost_of_tid(const ap__reader_account *account, uint32_t tid)
{
    uint64_t lost = 0;

    for (uint32_t i = 0; i < account->thread_count; i++) {
        if (account->threads[i].tid == tid) {
            assert_int_equal(account->threads[i].lost_reentrant, 0);
            assert_int_equal(account->threads[i].lost_disk, 0);
            lost += account->threads[i].lost_full;
        }
    }
    return lost;
}

static void check_account(const way *w, const char *prof, const view views[THREADS])
{
    read_back *back = read_back_open(prof);
    const aclprofStats *total = NULL;

    assert_non_null(back);
    assert_true(read_back_account_balances(back));
    total = &ap__reader_account_of(back->reader)->total;
    assert_int_equal(total->lostTotal, total->lostRingFull);
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t tid = atomic_load(&shared->tid[i]);

        check_thread(w, i, &views[i], lost_of_tid(ap__reader_account_of(back->reader), tid));
    }
    read_back_close(back);
}

/* Names, sizes and times of everything below a directory. */
static uint32_t tree_hash;

static int tree_entry(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)type;
    (void)walk;
    for (const char *c = path; *c != '\0'; c++) {
        tree_hash = mix(tree_hash, (unsigned char)*c);
    }
    tree_hash = mix(tree_hash, (uint32_t)st->st_size);
    tree_hash = mix(tree_hash, (uint32_t)st->st_mtim.tv_nsec);
    return 0;
}

static uint32_t tree(const char *path)
{
    tree_hash = 0;
    assert_int_equal(nftw(path, tree_entry, 16, FTW_PHYS), 0);
    return tree_hash;
}

static void check_open(const ap__recover_report *report)
{
    bool found[THREADS] = {false};

    assert_true(report->open_count <= 2 * THREADS);
    assert_int_equal(report->open_kept, report->open_count);
    for (uint32_t i = 0; i < report->open_kept; i++) {
        const ap__open_push *push = &report->open[i];
        uint32_t index = index_of_tid(push->tid);
        char kind = 0;
        uint32_t thread = 0;
        uint32_t seq = 0;

        assert_true(index < THREADS && push->since_ns != 0);
        if (message_read(push->message, push->length, &kind, &thread, &seq) && kind == 'b') {
            assert_int_equal(thread, index);
            assert_false(found[index]);
            found[index] = true;
        }
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_true(found[i] || atomic_load(&shared->returned[i]) == 0);
    }
}

static void recover(const way *w, const char *prof, ap__recover_code expected)
{
    static ap__recover_report report;

    if (ap__recover(prof, &report) != 0) {
        fail_msg("%s: %s", w->name, report.error);
    }
    assert_int_equal(report.code, expected);
    if (expected == AP_RECOVER_DONE) {
        assert_int_equal(report.damaged_rings, 0);
        assert_true(report.in_flight <= THREADS);
        if (!w->stops) { /* Stop voids what is open */
            assert_true(report.had_rings);
            check_open(&report);
            assert_int_equal(report.account.openAtStop, report.open_count);
        }
    }
    ap__recover_report_free(&report);
}

/* Everything there is to say of a directory whose process is gone. Returns the events lost. */
static uint64_t check(const way *w, const char *root, pid_t pid, uint64_t *seen)
{
    paths found = prof_paths(root);
    view before[THREADS];
    view after[THREADS];
    uint64_t lost = 0;
    uint32_t hash = 0;
    bool ended = atomic_load(&shared->stopped) != 0;
    ap__reader_state state = AP_READER_UNFINISHED;

    assert_int_equal(found.count, 1);
    if (w->stops) { /* at which moment of Stop it died is not known */
        ap__reader_error error;
        ap__reader *reader = ap__reader_open(found.list[0], &error);

        assert_non_null(reader);
        state = ap__reader_state_of(reader);
        ap__reader_close(reader);
        assert_true(state == AP_READER_FINISHED || (state == AP_READER_UNFINISHED && !ended));
    }
    look(found.list[0], state, before);
    recover(w, found.list[0],
            state == AP_READER_FINISHED ? AP_RECOVER_NOTHING : AP_RECOVER_DONE);
    if (w->stops) {
        ap__reader_error error;
        ap__reader *reader = ap__reader_open(found.list[0], &error);

        assert_non_null(reader);
        state = ap__reader_state_of(reader);
        ap__reader_close(reader);
        assert_true(state == AP_READER_FINISHED || state == AP_READER_RECOVERED);
    } else {
        state = AP_READER_RECOVERED;
    }
    look(found.list[0], state, after);
    assert_memory_equal(before, after, sizeof(before));
    assert_finished(found.list[0]);
    assert_no_shm(pid);
    check_account(w, found.list[0], after);
    hash = tree(found.list[0]);
    recover(w, found.list[0], AP_RECOVER_NOTHING);
    assert_int_equal(tree(found.list[0]), hash);
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t done = atomic_load(&shared->returned[i]);

        *seen += after[i].seen;
        lost += (after[i].next > done ? after[i].next : done) - after[i].seen;
    }
    scratch_drop(found.list[0]);
    paths_free(&found);
    return lost;
}

static void kill_at_random(const way *w, const char *root)
{
    uint64_t lost = 0;
    uint64_t seen = 0;

    for (uint32_t n = 0; n < w->runs; n++) {
        pid_t pid = spawn(w, root);

        run_and_kill(w, pid, n);
        lost += check(w, root, pid, &seen);
    }
    print_message("[          ] %u kills: %llu events found, %llu lost for want of room\n", w->runs,
                  (unsigned long long)seen, (unsigned long long)lost);
    if (w->paced) {
        assert_true(lost <= seen / 50); /* else nothing is shown but that losses are counted */
    }
    assert_true(seen != 0);
}

#define KILL_TEST(function, ...)                  \
    static void function(void **state)            \
    {                                             \
        static const way w = {__VA_ARGS__};       \
                                                  \
        kill_at_random(&w, *state);               \
    }

KILL_TEST(rings_in_a_file, .name = "file", .arena = "file", .ring_size = "1M", .paced = true,
          .runs = SCALED(40, 7))
KILL_TEST(rings_in_shared_memory, .name = "shm", .arena = "shm", .ring_size = "1M", .paced = true,
          .runs = SCALED(20, 4))
KILL_TEST(tiny_rings_at_full_speed, .name = "tiny", .arena = "file", .ring_size = "64K",
          .runs = SCALED(20, 4))
KILL_TEST(at_full_speed, .name = "full speed", .arena = "file", .ring_size = "1M",
          .runs = SCALED(10, 2))
KILL_TEST(while_it_stops, .name = "stop", .arena = "file", .ring_size = "1M", .paced = true,
          .stops = true, .runs = SCALED(30, 6))

/* Reading and recovering while the process lives: shown as running, and left alone. */
static void the_living_are_left_alone(void **state)
{
    static const way ways[] = {
        {.name = "living, file", .arena = "file", .ring_size = "1M", .paced = true},
        {.name = "living, shm", .arena = "shm", .ring_size = "1M", .paced = true},
    };

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        static ap__recover_report report;
        pid_t pid = spawn(&ways[i], *state);
        view views[THREADS];
        uint64_t seen = 0;
        paths found;

        wait_for_load(&ways[i], pid);
        found = prof_paths(*state);
        assert_int_equal(found.count, 1);
        for (int n = 0; n < 5; n++) {
            look(found.list[0], AP_READER_RUNNING, views);
            assert_int_equal(ap__recover(found.list[0], &report), AP_RECOVER_RUNNING);
            assert_true(report.error[0] != '\0');
            ap__recover_report_free(&report);
        }
        paths_free(&found);
        run_and_kill(&ways[i], pid, (uint32_t)i);
        (void)check(&ways[i], *state, pid, &seen);
    }
}

/* In a build with such points: death exactly between two steps of the writer or of a stamp. */
#ifdef AP_TESTPOINTS
static void die_at(const char *point, uint32_t pass, const char *root)
{
    const way w = {.name = point, .arena = "file", .ring_size = "64K", .paced = true};
    char text[64];
    uint64_t seen = 0;
    int status = 0;
    pid_t pid = 0;

    snprintf(text, sizeof(text), "%s:%u", point, pass);
    setenv("ACLPROF_TESTPOINT", text, 1);
    pid = spawn(&w, root);
    unsetenv("ACLPROF_TESTPOINT");
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    (void)check(&w, root, pid, &seen);
}
#endif

static void at_every_point(void **state)
{
#ifdef AP_TESTPOINTS
    static const char *const points[] = {"ring.publish", "drain.appended", "drain.checkpoint",
                                         "drain.switched"};

    for (size_t p = 0; p < sizeof(points) / sizeof(points[0]); p++) {
        for (uint32_t pass = 1; pass <= 64; pass = pass < 8 ? pass + 1 : pass * 2) {
            die_at(points[p], pass, *state);
        }
    }
#else
    (void)state;
    skip();
#endif
}

static int group_setup(void **state)
{
    (void)state;
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? -1 : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(rings_in_a_file),
        SCRATCH_TEST(rings_in_shared_memory),
        SCRATCH_TEST(tiny_rings_at_full_speed),
        SCRATCH_TEST(at_full_speed),
        SCRATCH_TEST(while_it_stops),
        SCRATCH_TEST(the_living_are_left_alone),
        SCRATCH_TEST(at_every_point),
    };

    return cmocka_run_group_tests(tests, group_setup, NULL);
}
