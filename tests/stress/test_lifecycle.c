/* SPDX-License-Identifier: Apache-2.0 */
/* Start and Stop against threads that record, come and go, or control at the same time. */
#define _GNU_SOURCE
#include "harness.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "format/ext_wire.h"
#include "ring/arena_layout.h"

/* Runs `count` threads over an array of arguments and joins them. */
static void run_threads(void *(*function)(void *), void *args, size_t size, uint32_t count)
{
    pthread_t *threads = calloc(count, sizeof(*threads));

    assert_non_null(threads);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, function, (char *)args + i * size), 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    free(threads);
}

/* The directory is finished and its account balances; returns its emitted. */
static uint64_t check_finished(const char *path)
{
    read_back *back = read_back_open(path);
    uint64_t emitted = 0;

    assert_non_null(back);
    assert_int_equal(ap__reader_state_of(back->reader), AP_READER_FINISHED);
    assert_true(read_back_account_balances(back));
    assert_null(ap__reader_note(back->reader, 0));
    emitted = ap__reader_account_of(back->reader)->total.emitted;
    read_back_close(back);
    return emitted;
}

static void drop_paths(paths *p)
{
    for (size_t i = 0; i < p->count; i++) {
        scratch_drop(p->list[i]);
    }
    paths_free(p);
}

/* ---- the very first events after Start ---- */

#define FIRST_THREADS 64u
#define FIRST_MARKS 10u

typedef struct first_marks {
    uint32_t index;
    uint32_t accepted; /* bit per mark */
} first_marks;

static void *mark_at_once(void *arg)
{
    first_marks *f = arg;
    void *stamp = aclprofCreateStamp();

    for (uint32_t i = 0; stamp != NULL && i < FIRST_MARKS; i++) {
        if (message_set(stamp, 'm', f->index, i) == ACL_SUCCESS &&
            aclprofMark(stamp) == ACL_SUCCESS) {
            f->accepted |= 1u << i;
        }
    }
    aclprofDestroyStamp(stamp);
    return NULL;
}

static void check_first_marks(const char *root)
{
    read_back *back = read_back_open(root);
    uint32_t found[FIRST_THREADS] = {0};

    assert_non_null(back);
    for (size_t i = 0; i < back->count; i++) {
        const ap__stamp_record *r = &back->stamps[i];
        char kind = 0;
        uint32_t thread = 0;
        uint32_t seq = 0;

        assert_true(message_read(r->message, r->message_length, &kind, &thread, &seq));
        assert_true(kind == 'm' && thread < FIRST_THREADS && seq < FIRST_MARKS);
        assert_int_equal(found[thread] >> seq, 0); /* in order, none twice */
        found[thread] |= 1u << seq;
    }
    for (uint32_t i = 0; i < FIRST_THREADS; i++) {
        assert_int_equal(found[i], (1u << FIRST_MARKS) - 1);
    }
    assert_true(read_back_account_balances(back));
    read_back_close(back);
}

static void first_marks_are_kept(void **state)
{
    setenv("ACLPROF_RING_SIZE", "64K", 1);
    for (uint32_t n = 0; n < SCALED(200, 25); n++) {
        first_marks marks[FIRST_THREADS];
        aclprofConfig *config = NULL;
        paths found;

        for (uint32_t i = 0; i < FIRST_THREADS; i++) {
            marks[i] = (first_marks){.index = i};
        }
        assert_int_equal(capture_begin(*state, &config), ACL_SUCCESS);
        run_threads(mark_at_once, marks, sizeof(*marks), FIRST_THREADS);
        assert_int_equal(capture_end(config), ACL_SUCCESS);
        for (uint32_t i = 0; i < FIRST_THREADS; i++) {
            assert_int_equal(marks[i].accepted, (1u << FIRST_MARKS) - 1);
        }
        check_first_marks(*state);
        found = prof_paths(*state);
        assert_int_equal(found.count, 1);
        drop_paths(&found);
    }
}

/* ---- two threads stop at once ---- */

static pthread_barrier_t two;

typedef struct stopper {
    aclprofConfig *config;
    bool by_null;
    aclError code;
    aclprofStats stats;
} stopper;

static void *stop_at_once(void *arg)
{
    stopper *s = arg;

    pthread_barrier_wait(&two);
    s->code = aclprofStop(s->by_null ? NULL : s->config);
    s->stats = stats_now();
    return NULL;
}

static void two_stops_at_once(void **state)
{
    pthread_barrier_init(&two, NULL, 2);
    for (uint32_t n = 0; n < SCALED(300, 50); n++) {
        stopper s[2] = {{.by_null = false}, {.by_null = n % 2 != 0}};
        const uint32_t marks = 1 + n % 7;
        void *stamp = NULL;
        paths found;

        assert_int_equal(capture_begin(*state, &s[0].config), ACL_SUCCESS);
        s[1].config = s[0].config;
        stamp = stamp_of("both");
        for (uint32_t i = 0; i < marks; i++) {
            assert_int_equal(aclprofMark(stamp), ACL_SUCCESS);
        }
        run_threads(stop_at_once, s, sizeof(*s), 2);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(s[i].code, ACL_SUCCESS);
            assert_int_equal(s[i].stats.running, 0);
            assert_int_equal(s[i].stats.emitted, marks);
            assert_int_equal(s[i].stats.written, marks);
        }
        aclprofDestroyStamp(stamp);
        assert_int_equal(capture_end(s[0].config), ACL_SUCCESS);
        found = prof_paths(*state);
        assert_int_equal(found.count, 1);
        assert_int_equal(check_finished(found.list[0]), marks);
        drop_paths(&found);
    }
    pthread_barrier_destroy(&two);
}

/* ---- Stop under fire ---- */

#define SHOOTERS 16u

typedef struct shooter {
    _Alignas(64) void *stamp;
    _Atomic uint64_t events; /* that were accepted */
    uint64_t opened;         /* pushes and range starts that were accepted */
    uint64_t closed;
    uint32_t wrong; /* codes that may not come */
    pthread_t thread;
} shooter;

static _Atomic int shooting;

static bool shot(shooter *s, aclError code, uint64_t *count)
{
    s->wrong += code != ACL_SUCCESS && code != ACL_ERROR_PROF_NOT_RUN;
    *count += code == ACL_SUCCESS;
    return code == ACL_SUCCESS;
}

static void *shoot(void *arg)
{
    shooter *s = arg;

    while (atomic_load_explicit(&shooting, memory_order_relaxed) != 0) {
        uint64_t events = 0;
        uint32_t id = 0;

        if (!shot(s, aclprofMark(s->stamp), &events)) {
            sched_yield(); /* Stop has work to do */
        }
        if (shot(s, aclprofPush(s->stamp), &s->opened) &&
            shot(s, aclprofPop(), &s->closed)) {
            events++;
        }
        if (shot(s, aclprofRangeStart(s->stamp, &id), &s->opened)) {
            s->wrong += id == 0;
            if (shot(s, aclprofRangeStop(id), &s->closed)) {
                events++;
            }
        }
        atomic_fetch_add_explicit(&s->events, events, memory_order_relaxed);
    }
    return NULL;
}

/* After Stop all calls are refused. */
static void check_refused(void *stamp)
{
    uint32_t id = 77;

    assert_int_equal(aclprofMark(stamp), ACL_ERROR_PROF_NOT_RUN);
    assert_int_equal(aclprofPush(stamp), ACL_ERROR_PROF_NOT_RUN);
    assert_int_equal(aclprofPop(), ACL_ERROR_PROF_NOT_RUN);
    assert_int_equal(aclprofRangeStart(stamp, &id), ACL_ERROR_PROF_NOT_RUN);
    assert_int_equal(aclprofRangeStop(1), ACL_ERROR_PROF_NOT_RUN);
}

static void fire(const char *root)
{
    static shooter s[SHOOTERS];
    aclprofConfig *config = NULL;
    uint64_t events = 0;
    uint64_t open = 0;
    aclprofStats stats;
    paths found;

    memset(s, 0, sizeof(s));
    assert_int_equal(capture_begin(root, &config), ACL_SUCCESS);
    atomic_store(&shooting, 1);
    for (uint32_t i = 0; i < SHOOTERS; i++) {
        s[i].stamp = stamp_of("under fire");
        assert_int_equal(pthread_create(&s[i].thread, NULL, shoot, &s[i]), 0);
    }
    for (uint32_t i = 0; i < SHOOTERS; i++) {
        while (atomic_load_explicit(&s[i].events, memory_order_relaxed) == 0) {
            sched_yield();
        }
    }
    assert_int_equal(aclprofStop(config), ACL_SUCCESS);
    stats = stats_now();
    check_refused(s[0].stamp);
    atomic_store(&shooting, 0);
    for (uint32_t i = 0; i < SHOOTERS; i++) {
        pthread_join(s[i].thread, NULL);
        assert_int_equal(s[i].wrong, 0);
        events += s[i].events;
        open += s[i].opened - s[i].closed;
        aclprofDestroyStamp(s[i].stamp);
    }
    assert_int_equal(stats.emitted, events);
    assert_int_equal(stats.openAtStop, open);
    assert_int_equal(stats.emitted, stats.written + stats.lostTotal);
    assert_int_equal(capture_end(config), ACL_SUCCESS);
    found = prof_paths(root);
    assert_int_equal(found.count, 1);
    assert_int_equal(check_finished(found.list[0]), events);
    drop_paths(&found);
}

static void stop_under_fire(void **state)
{
    setenv("ACLPROF_RING_SIZE", "128K", 1);
    for (int n = 0; n < SCALED(15, 6); n++) {
        fire(*state);
    }
}

/* ---- each call from another thread ---- */

typedef struct step {
    void (*function)(struct step *);
    const char *root;
    aclprofConfig *config;
    aclError code;
} step;

static void *do_step(void *arg)
{
    step *s = arg;

    s->function(s);
    return NULL;
}

static void step_init(step *s)
{
    s->code = aclprofInit(s->root, strlen(s->root));
}

static void step_start(step *s)
{
    s->config = tx_config();
    s->code = aclprofStart(s->config);
}

static void step_mark(step *s)
{
    void *stamp = stamp_of("from another thread");

    s->code = aclprofPush(stamp);
    s->code = s->code != ACL_SUCCESS ? s->code : aclprofMark(stamp);
    s->code = s->code != ACL_SUCCESS ? s->code : aclprofPop();
    aclprofDestroyStamp(stamp);
}

static void step_stop(step *s)
{
    s->code = aclprofStop(s->config);
}

static void step_finalize(step *s)
{
    s->code = aclprofDestroyConfig(s->config);
    s->code = s->code != ACL_SUCCESS ? s->code : aclprofFinalize();
}

static void every_call_from_its_own_thread(void **state)
{
    static void (*const steps[])(step *) = {step_init, step_start, step_mark, step_stop,
                                            step_finalize};

    for (int n = 0; n < SCALED(200, 40); n++) {
        step s = {.root = *state};
        paths found;

        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
            s.function = steps[i];
            run_threads(do_step, &s, sizeof(s), 1);
            assert_int_equal(s.code, ACL_SUCCESS);
        }
        found = prof_paths(*state);
        assert_int_equal(found.count, 1);
        assert_int_equal(check_finished(found.list[0]), 2);
        drop_paths(&found);
    }
}

/* ---- short-lived threads ---- */

#define CHURN_AT_ONCE 8u
#define CHURN_EVENTS 10u

typedef struct short_life {
    uint32_t index;
    uint32_t tid;
    uint32_t accepted;
} short_life;

static void *live_shortly(void *arg)
{
    short_life *life = arg;
    void *stamp = aclprofCreateStamp();

    life->tid = (uint32_t)syscall(SYS_gettid);
    for (uint32_t i = 0; i < CHURN_EVENTS; i++) {
        uint32_t id = 0;

        if (aclprofRangeStart(stamp, &id) == ACL_SUCCESS &&
            message_set(stamp, 'r', life->index, i) == ACL_SUCCESS &&
            aclprofRangeStop(id) == ACL_SUCCESS) {
            life->accepted++;
        }
    }
    aclprofDestroyStamp(stamp);
    return NULL;
}

static uint64_t resident_kib(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    unsigned long long kib = 0;

    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL && sscanf(line, "VmRSS: %llu", &kib) != 1) {
    }
    fclose(file);
    assert_true(kib != 0);
    return kib;
}

static uint64_t arena_bytes(const char *prof)
{
    char path[1024];
    struct stat st;

    snprintf(path, sizeof(path), "%s/host/%s/%s", prof, AP_EXT_DIR, AP_ARENA_NAME);
    assert_int_equal(stat(path, &st), 0);
    return (uint64_t)st.st_size;
}

static void check_churn(const char *root, const short_life *lives, uint32_t count)
{
    read_back *back = read_back_open(root);
    uint8_t *next = calloc(count, 1);

    assert_non_null(back);
    assert_non_null(next);
    assert_int_equal(back->count, (uint64_t)count * CHURN_EVENTS);
    for (size_t i = 0; i < back->count; i++) {
        const ap__stamp_record *r = &back->stamps[i];
        char kind = 0;
        uint32_t thread = 0;
        uint32_t seq = 0;

        assert_true(message_read(r->message, r->message_length, &kind, &thread, &seq));
        assert_true(thread < count);
        assert_int_equal(seq, next[thread]++);
        assert_int_equal(r->tid, lives[thread].tid); /* a ring's new owner is not its old one */
    }
    assert_true(read_back_account_balances(back));
    assert_int_equal(ap__reader_account_of(back->reader)->total.lostTotal, 0);
    free(next);
    read_back_close(back);
}

static void short_threads_leave_no_memory(void **state)
{
    const uint32_t count = SCALED(2000, 400);
    short_life *lives = calloc(count, sizeof(*lives));
    aclprofConfig *config = NULL;
    uint64_t before = 0;
    uint64_t arena = 0;
    paths found;

    assert_non_null(lives);
    setenv("ACLPROF_ARENA", "file", 1); /* its size is looked at */
    assert_int_equal(capture_begin(*state, &config), ACL_SUCCESS);
    found = prof_paths(*state);
    assert_int_equal(found.count, 1);
    for (uint32_t i = 0; i < count; i += CHURN_AT_ONCE) {
        for (uint32_t j = i; j < i + CHURN_AT_ONCE; j++) {
            lives[j].index = j;
        }
        run_threads(live_shortly, &lives[i], sizeof(*lives), CHURN_AT_ONCE);
        if (i == count / 4 / CHURN_AT_ONCE * CHURN_AT_ONCE) {
            before = resident_kib();
            arena = arena_bytes(found.list[0]);
        }
    }
    assert_true(arena > 0);
    /* 8 at a time need 8 rings; a few more when the writer has not emptied one yet */
    assert_true(arena_bytes(found.list[0]) <= 2 * CHURN_AT_ONCE * ((1u << 20) + 65536) + 65536);
#ifndef AP_SANITIZED /* those keep what was freed */
    assert_true(resident_kib() < before + 8 * 1024);
#else
    (void)before;
#endif
    assert_int_equal(capture_end(config), ACL_SUCCESS);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(lives[i].accepted, CHURN_EVENTS);
    }
    check_churn(*state, lives, count);
    paths_free(&found);
    free(lives);
}

/* ---- everything at once ---- */

#define CONTROLLERS 8u

typedef struct controller {
    _Alignas(64) uint32_t index;
    uint32_t turns;
    uint64_t accepted; /* marks */
    uint32_t wrong;
    int first_wrong;
} controller;

static void controlled(controller *c, aclError code)
{
    if (code != ACL_SUCCESS) {
        c->first_wrong = c->wrong++ == 0 ? code : c->first_wrong;
    }
}

static void *control(void *arg)
{
    static const char *const limits[] = {"200MB", "4294967295MB"};
    controller *c = arg;
    uint32_t random = mix(c->index, 4711);
    void *stamp = NULL;

    for (uint32_t n = 0; n < c->turns; n++) {
        const char *limit = limits[n % 2];
        aclprofConfig *config = tx_config();

        random = mix(random, n);
        c->wrong += config == NULL;
        switch (random % 4) {
        case 0:
            controlled(c, aclprofStart(config));
            break;
        case 1:
            controlled(c, aclprofStop(random & 16 ? config : NULL));
            break;
        case 2:
            controlled(c, aclprofSetConfig(ACL_PROF_STORAGE_LIMIT, limit, strlen(limit)));
            break;
        default: {
            aclprofStats s = stats_now();

            c->wrong += s.running == 0 && s.emitted != s.written + s.lostTotal;
            break;
        }
        }
        if (stamp == NULL) {
            stamp = stamp_of("controlled");
        }
        for (int i = 0; stamp != NULL && i < 20; i++) {
            c->accepted += aclprofMark(stamp) == ACL_SUCCESS;
        }
        controlled(c, aclprofDestroyConfig(config)); /* also one that runs */
    }
    aclprofDestroyStamp(stamp);
    return NULL;
}

static void control_calls_at_once(void **state)
{
    static controller c[CONTROLLERS];
    uint64_t accepted = 0;
    uint64_t emitted = 0;
    paths found;

    setenv("ACLPROF_RING_SIZE", "64K", 1);
    assert_int_equal(aclprofInit(*state, strlen(*state)), ACL_SUCCESS);
    for (uint32_t i = 0; i < CONTROLLERS; i++) {
        c[i] = (controller){.index = i, .turns = SCALED(150, 60)};
    }
    run_threads(control, c, sizeof(*c), CONTROLLERS);
    assert_int_equal(aclprofFinalize(), ACL_SUCCESS);
    for (uint32_t i = 0; i < CONTROLLERS; i++) {
        if (c[i].wrong != 0) {
            fail_msg("thread %u: %u wrong results, first code %d", i, c[i].wrong, c[i].first_wrong);
        }
        accepted += c[i].accepted;
    }
    found = prof_paths(*state);
    assert_true(found.count > 1);
    for (size_t i = 0; i < found.count; i++) {
        emitted += check_finished(found.list[i]);
    }
    assert_int_equal(emitted, accepted);
    assert_true(accepted != 0);
    paths_free(&found);
}

/* ---- one stamp for all: a text may be missing when setters are at work, never torn ---- */

#define SHARERS 6u
#define SETTERS 2u

static void *shared_stamp;
static _Atomic uint32_t sharers_left;
static _Atomic uint32_t setters_ready;

typedef struct sharer {
    _Alignas(64) uint32_t index;
    bool sets;
    uint32_t wrong;
    uint64_t events;
} sharer;

static void set_for_others(sharer *s)
{
    atomic_fetch_add(&setters_ready, 1);
    for (uint32_t n = 0; atomic_load_explicit(&sharers_left, memory_order_relaxed) != 0; n++) {
        s->wrong += message_set(shared_stamp, 'm', s->index, n % 256) != ACL_SUCCESS;
    }
}

static void use_what_others_set(sharer *s)
{
    while (atomic_load(&setters_ready) < SETTERS) {
        sched_yield();
    }
    for (uint32_t n = 0; n < SCALED(10000, 1500); n++) {
        uint32_t id = 0;

        s->wrong += aclprofMark(shared_stamp) != ACL_SUCCESS;
        s->wrong += aclprofPush(shared_stamp) != ACL_SUCCESS;
        s->wrong += aclprofRangeStart(shared_stamp, &id) != ACL_SUCCESS;
        s->wrong += aclprofPop() != ACL_SUCCESS;
        s->wrong += aclprofRangeStop(id) != ACL_SUCCESS;
        s->events += 3;
    }
    atomic_fetch_sub(&sharers_left, 1);
}

static void *share(void *arg)
{
    sharer *s = arg;

    if (s->sets) {
        set_for_others(s);
    } else {
        use_what_others_set(s);
    }
    return NULL;
}

static void one_stamp_for_all(void **state)
{
    sharer s[SHARERS + SETTERS];
    aclprofConfig *config = NULL;
    uint64_t events = 0;
    size_t texts = 0;
    read_back *back = NULL;

    assert_int_equal(capture_begin(*state, &config), ACL_SUCCESS);
    shared_stamp = aclprofCreateStamp();
    assert_non_null(shared_stamp);
    atomic_store(&setters_ready, 0);
    atomic_store(&sharers_left, SHARERS);
    for (uint32_t i = 0; i < SHARERS + SETTERS; i++) {
        s[i] = (sharer){.index = i, .sets = i >= SHARERS};
    }
    run_threads(share, s, sizeof(*s), SHARERS + SETTERS);
    while (stats_now().pending != 0) {
        usleep(1000); /* the last mark shall find room */
    }
    assert_int_equal(message_set(shared_stamp, 'm', SHARERS, 255), ACL_SUCCESS);
    assert_int_equal(aclprofMark(shared_stamp), ACL_SUCCESS);
    events++;
    aclprofDestroyStamp(shared_stamp);
    assert_int_equal(capture_end(config), ACL_SUCCESS);
    for (uint32_t i = 0; i < SHARERS + SETTERS; i++) {
        assert_int_equal(s[i].wrong, 0);
        events += s[i].events;
    }
    back = read_back_open(*state);
    assert_non_null(back);
    for (size_t i = 0; i < back->count; i++) {
        const ap__stamp_record *r = &back->stamps[i];
        char kind = 0;
        uint32_t thread = 0;
        uint32_t seq = 0;

        if (r->message_length == 0) {
            continue;
        }
        texts++;
        if (!message_read(r->message, r->message_length, &kind, &thread, &seq) ||
            thread < SHARERS || thread >= SHARERS + SETTERS || seq >= 256) {
            fail_msg("torn: '%s'", r->message);
        }
    }
    assert_true(texts != 0); /* that of the last mark */
    assert_true(read_back_account_balances(back));
    assert_int_equal(ap__reader_account_of(back->reader)->total.emitted, events);
    read_back_close(back);
}

/* ---- texts that come while a capture begins and ends ---- */

#define NAMERS 3u

static _Atomic int naming;

typedef struct namer {
    _Alignas(64) uint32_t index;
    _Atomic uint32_t count; /* texts */
    pthread_t thread;
} namer;

static size_t name_make(char out[64], uint32_t index, uint32_t n)
{
    return (size_t)snprintf(out, 64, "text %u of thread %u", n, index);
}

static void *name(void *arg)
{
    namer *n = arg;
    char text[64];

    while (atomic_load_explicit(&naming, memory_order_relaxed) != 0) {
        name_make(text, n->index, atomic_load_explicit(&n->count, memory_order_relaxed));
        (void)aclprofStr2Id(text);
        atomic_fetch_add(&n->count, 1);
        usleep(50); /* every capture's dictionary has all texts so far */
    }
    return NULL;
}

/* Each text that was there before Stop is in that capture's dictionary, with its number. */
static void texts_at_any_time(void **state)
{
    static namer n[NAMERS];

    atomic_store(&naming, 1);
    for (uint32_t i = 0; i < NAMERS; i++) {
        n[i].index = i;
        atomic_store(&n[i].count, 0);
        assert_int_equal(pthread_create(&n[i].thread, NULL, name, &n[i]), 0);
    }
    for (uint32_t round = 0; round < SCALED(100, 25); round++) {
        uint32_t before[NAMERS];
        aclprofConfig *config = NULL;
        read_back *back = NULL;
        paths found;

        assert_int_equal(capture_begin(*state, &config), ACL_SUCCESS);
        for (uint32_t i = 0; i < NAMERS; i++) {
            before[i] = atomic_load(&n[i].count);
        }
        assert_int_equal(capture_end(config), ACL_SUCCESS);
        found = prof_paths(*state);
        assert_int_equal(found.count, 1);
        back = read_back_open(found.list[0]);
        assert_non_null(back);
        for (uint32_t i = 0; i < NAMERS; i++) {
            for (uint32_t j = 0; j < before[i]; j += before[i] < 200 + j ? 1 : 97) {
                char text[64];
                const char *there = NULL;

                name_make(text, i, j);
                there = ap__reader_hash_text(back->reader, aclprofStr2Id(text));
                assert_non_null(there);
                assert_string_equal(there, text);
            }
        }
        read_back_close(back);
        drop_paths(&found);
    }
    atomic_store(&naming, 0);
    for (uint32_t i = 0; i < NAMERS; i++) {
        pthread_join(n[i].thread, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(first_marks_are_kept),
        SCRATCH_TEST(two_stops_at_once),
        SCRATCH_TEST(stop_under_fire),
        SCRATCH_TEST(every_call_from_its_own_thread),
        SCRATCH_TEST(short_threads_leave_no_memory),
        SCRATCH_TEST(control_calls_at_once),
        SCRATCH_TEST(one_stamp_for_all),
        SCRATCH_TEST(texts_at_any_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
