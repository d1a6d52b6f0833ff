/* SPDX-License-Identifier: Apache-2.0 */
/* The host program's own state is the same before, during and after a capture. */
#define _GNU_SOURCE
#include "harness.h"

#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>

#define RANDOMS 100u
#define ODD_ERRNO 4711

extern char **environ;

/* Everything but errno; padding is zero, it is compared as bytes where it is plain. */
typedef struct host_state {
    int rounding;
    int traps;
    mode_t mask;
    char cwd[4096];
    char locale[1024];
    sigset_t signals;
    struct sigaction actions[65];
    struct rlimit limits[RLIMIT_NLIMITS];
    struct itimerval timers[3];
    stack_t alternate;
    cpu_set_t cpus;
    int policy;
    int priority;
    int cancel;
    pid_t group;
    pid_t session;
    uid_t uid;
    char name[16];
    char *env_first;
    size_t env_count;
} host_state;

static mode_t current_umask(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return mask;
}

static void look(host_state *s)
{
    const char *locale = setlocale(LC_ALL, NULL);

    memset(s, 0, sizeof(*s));
    s->rounding = fegetround();
    s->traps = fegetexcept();
    s->mask = current_umask();
    assert_non_null(getcwd(s->cwd, sizeof(s->cwd)));
    snprintf(s->locale, sizeof(s->locale), "%s", locale != NULL ? locale : "");
    pthread_sigmask(SIG_SETMASK, NULL, &s->signals);
    for (int i = 1; i <= 64; i++) {
        (void)sigaction(i, NULL, &s->actions[i]); /* two of them are the C library's */
    }
    for (int i = 0; i < RLIMIT_NLIMITS; i++) {
        (void)getrlimit(i, &s->limits[i]);
    }
    for (int i = 0; i < 3; i++) {
        (void)getitimer(i, &s->timers[i]);
    }
    (void)sigaltstack(NULL, &s->alternate);
    (void)sched_getaffinity(0, sizeof(s->cpus), &s->cpus);
    s->policy = sched_getscheduler(0);
    s->priority = getpriority(PRIO_PROCESS, 0);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &s->cancel);
    pthread_setcancelstate(s->cancel, NULL);
    s->group = getpgrp();
    s->session = getsid(0);
    s->uid = geteuid();
    (void)pthread_getname_np(pthread_self(), s->name, sizeof(s->name));
    s->env_first = environ[0];
    while (environ[s->env_count] != NULL) {
        s->env_count++;
    }
}

static void same(const host_state *a, const host_state *b)
{
    assert_int_equal(a->rounding, b->rounding);
    assert_int_equal(a->traps, b->traps);
    assert_int_equal(a->mask, b->mask);
    assert_string_equal(a->cwd, b->cwd);
    assert_string_equal(a->locale, b->locale);
    assert_memory_equal(&a->signals, &b->signals, sizeof(a->signals));
    for (int i = 1; i <= 64; i++) {
        assert_true(a->actions[i].sa_handler == b->actions[i].sa_handler);
        assert_int_equal(a->actions[i].sa_flags, b->actions[i].sa_flags);
    }
    assert_memory_equal(a->limits, b->limits, sizeof(a->limits));
    assert_memory_equal(a->timers, b->timers, sizeof(a->timers));
    assert_true(a->alternate.ss_sp == b->alternate.ss_sp);
    assert_memory_equal(&a->cpus, &b->cpus, sizeof(a->cpus));
    assert_int_equal(a->policy, b->policy);
    assert_int_equal(a->priority, b->priority);
    assert_int_equal(a->cancel, b->cancel);
    assert_int_equal(a->group, b->group);
    assert_int_equal(a->session, b->session);
    assert_int_equal(a->uid, b->uid);
    assert_string_equal(a->name, b->name);
    assert_true(a->env_first == b->env_first);
    assert_int_equal(a->env_count, b->env_count);
}

/* The test's own state is odd, so that nobody gives it back by chance. */
static void be_odd(const char *root)
{
    sigset_t some;

    assert_int_equal(chdir(root), 0);
    umask(0027);
    (void)setlocale(LC_ALL, "C.UTF-8");
    sigemptyset(&some);
    sigaddset(&some, SIGHUP);
    sigaddset(&some, SIGRTMAX);
    sigaddset(&some, SIGXFSZ);
    pthread_sigmask(SIG_SETMASK, &some, NULL);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(fesetround(FE_UPWARD), 0);
#ifdef __GLIBC__
    (void)feenableexcept(FE_DIVBYZERO | FE_INVALID);
#endif
    (void)pthread_setname_np(pthread_self(), "host");
}

static void be_plain(void)
{
    sigset_t none;

#ifdef __GLIBC__
    (void)fedisableexcept(FE_ALL_EXCEPT);
#endif
    fesetround(FE_TONEAREST);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    assert_int_equal(chdir("/"), 0);
}

static int odd_setup(void **state)
{
    (void)scratch_setup(state);
    be_odd(*state);
    return 0;
}

static int odd_teardown(void **state)
{
    be_plain();
    return scratch_teardown(state);
}

#define ODD_TEST(function) cmocka_unit_test_setup_teardown(function, odd_setup, odd_teardown)

static size_t entries_of(const char *path)
{
    DIR *dir = opendir(path);
    size_t count = 0;

    assert_non_null(dir);
    while (readdir(dir) != NULL) {
        count++;
    }
    closedir(dir);
    return count;
}

static void *stamp_a_little(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        (void)aclprofMark(arg);
    }
    return NULL;
}

static void everything_is_as_it_was(void **state)
{
    static host_state before;
    static host_state during;
    static host_state after;
    aclprofConfig *config = NULL;
    pthread_t thread;
    void *stamp = NULL;
    size_t files = 0;
    size_t threads = 0;

    /* libuv keeps a pipe from the first loop on */
    assert_int_equal(capture_begin(*state, &config), ACL_SUCCESS);
    assert_int_equal(capture_end(config), ACL_SUCCESS);
    for (int round = 0; round < 3; round++) {
        files = entries_of("/proc/self/fd");
        threads = entries_of("/proc/self/task");
        look(&before);
        assert_int_equal(capture_begin(*state, &config), ACL_SUCCESS);
        stamp = stamp_of("host");
        for (int i = 0; i < 10000; i++) {
            assert_int_equal(aclprofMark(stamp), ACL_SUCCESS);
        }
        look(&during);
        same(&before, &during);
        assert_int_equal(pthread_create(&thread, NULL, stamp_a_little, stamp), 0);
        pthread_join(thread, NULL);
        aclprofDestroyStamp(stamp);
        assert_int_equal(capture_end(config), ACL_SUCCESS);
        look(&after);
        same(&before, &after);
        assert_int_equal(entries_of("/proc/self/fd"), files);
        assert_int_equal(entries_of("/proc/self/task"), threads);
    }
}

static void random_numbers_go_on(void **state)
{
    int expected[RANDOMS];
    double expected48[RANDOMS];
    aclprofConfig *config = NULL;
    void *stamp = NULL;

    srand(42);
    srand48(42);
    for (uint32_t i = 0; i < RANDOMS; i++) {
        expected[i] = rand();
        expected48[i] = drand48();
    }
    srand(42);
    srand48(42);
    for (uint32_t i = 0; i < RANDOMS; i++) {
        if (i == 10) {
            assert_int_equal(capture_begin(*state, &config), ACL_SUCCESS);
            stamp = stamp_of("host");
        } else if (i == RANDOMS - 10) {
            aclprofDestroyStamp(stamp);
            assert_int_equal(capture_end(config), ACL_SUCCESS);
        } else if (stamp != NULL && i < RANDOMS - 10) {
            assert_int_equal(aclprofMark(stamp), ACL_SUCCESS);
        }
        assert_int_equal(rand(), expected[i]);
        assert_true(drand48() == expected48[i]);
    }
}

/* `call` leaves errno alone. */
#define KEEPS_ERRNO(call)                      \
    do {                                       \
        errno = ODD_ERRNO;                     \
        (void)(call);                          \
        assert_int_equal(errno, ODD_ERRNO);    \
    } while (0)

static void stamp_calls_keep_errno(void *stamp, uint32_t *id)
{
    static char long_text[300];
    uint64_t payload = 1;

    memset(long_text, 'x', sizeof(long_text));
    KEEPS_ERRNO(aclprofSetStampTraceMessage(stamp, "text", 4));
    KEEPS_ERRNO(aclprofSetStampTraceMessage(stamp, long_text, sizeof(long_text)));
    KEEPS_ERRNO(aclprofSetStampTraceMessage(stamp, NULL, 4));
    KEEPS_ERRNO(aclprofSetStampCategory(stamp, 3));
    KEEPS_ERRNO(aclprofSetStampPayload(stamp, 1, &payload));
    KEEPS_ERRNO(aclprofSetStampPayload(stamp, 1, NULL));
    KEEPS_ERRNO(aclprofSetStampTagName(stamp, "tag", 3));
    KEEPS_ERRNO(aclprofSetStampCallStack(stamp, "stack", 5));
    KEEPS_ERRNO(aclprofSetCategoryName(3, "three"));
    KEEPS_ERRNO(aclprofSetCategoryName(3, NULL));
    KEEPS_ERRNO(aclprofStr2Id("an id"));
    KEEPS_ERRNO(aclprofMark(stamp));
    KEEPS_ERRNO(aclprofPush(stamp));
    KEEPS_ERRNO(aclprofPop());
    KEEPS_ERRNO(aclprofPop());
    KEEPS_ERRNO(aclprofRangeStart(stamp, id));
    KEEPS_ERRNO(aclprofRangeStart(stamp, NULL));
    KEEPS_ERRNO(aclprofRangeStop(*id));
    KEEPS_ERRNO(aclprofRangeStop(*id));
    KEEPS_ERRNO(aclprofGetLastError());
}

static void every_call_keeps_errno(void **state)
{
    const char *root = *state;
    aclprofStats stats = {.size = sizeof(stats)};
    aclprofConfig *config = NULL;
    uint32_t device = 0;
    uint32_t id = 0;
    void *stamp = NULL;

    KEEPS_ERRNO(aclprofInit(NULL, 1));
    KEEPS_ERRNO(aclprofInit("/proc/nowhere/at/all", 20));
    KEEPS_ERRNO(aclprofInit(root, strlen(root)));
    KEEPS_ERRNO(aclprofInit(root, strlen(root)));
    KEEPS_ERRNO(aclprofSetConfig(ACL_PROF_STORAGE_LIMIT, "500MB", 5));
    KEEPS_ERRNO(aclprofSetConfig(ACL_PROF_STORAGE_LIMIT, "no", 2));
    KEEPS_ERRNO(aclprofSetConfig(ACL_PROF_PATH, "relative", 8));
    KEEPS_ERRNO(aclprofSetConfig(ACL_PROF_PATH, root, strlen(root)));
    KEEPS_ERRNO(aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX));
    KEEPS_ERRNO(config = tx_config());
    KEEPS_ERRNO(aclprofStart(NULL));
    KEEPS_ERRNO(stamp = aclprofCreateStamp()); /* outside */
    stamp_calls_keep_errno(stamp, &id);
    KEEPS_ERRNO(aclprofWarmup(config));
    KEEPS_ERRNO(aclprofStart(config));
    KEEPS_ERRNO(aclprofStart(config));
    KEEPS_ERRNO(stamp = aclprofCreateStamp());
    assert_non_null(stamp);
    for (int i = 0; i < 40000; i++) { /* across refills and wake-ups of the writer */
        KEEPS_ERRNO(aclprofMark(stamp));
    }
    stamp_calls_keep_errno(stamp, &id);
    KEEPS_ERRNO(aclprofGetStats(&stats));
    assert_true(stats.emitted > 40000);
    KEEPS_ERRNO(aclprofGetStats(NULL));
    KEEPS_ERRNO(aclprofDestroyStamp(stamp));
    KEEPS_ERRNO(aclprofDestroyStamp(stamp));
    stamp_calls_keep_errno(stamp, &id);
    KEEPS_ERRNO(aclprofStop(config));
    KEEPS_ERRNO(aclprofStop(config));
    KEEPS_ERRNO(aclprofDestroyConfig(config));
    KEEPS_ERRNO(aclprofDestroyConfig(config));
    KEEPS_ERRNO(aclprofStart(config));
    KEEPS_ERRNO(aclprofFinalize());
    KEEPS_ERRNO(aclprofFinalize());
}

/* A failed Start gives everything back, and so does a Stop. */
static void failing_starts_leave_nothing(void **state)
{
    static host_state before;
    static host_state after;
    struct rlimit limit;
    struct rlimit none;
    aclprofConfig *config = tx_config();
    size_t files = entries_of("/proc/self/fd");
    int refused = 0;
    int started = 0;

    assert_non_null(config);
    assert_int_equal(aclprofInit(*state, strlen(*state)), ACL_SUCCESS);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    look(&before);
    for (rlim_t allowed = files - 3, last = files + 25; allowed < last; allowed++) {
        aclError code = ACL_SUCCESS;

        none = (struct rlimit){allowed, limit.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
        code = aclprofStart(config);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        if (code == ACL_SUCCESS) {
            started++;
            assert_int_equal(aclprofStop(config), ACL_SUCCESS);
        } else {
            refused++;
            assert_true(aclprofGetLastError()[0] != '\0');
        }
        assert_int_equal(entries_of("/proc/self/fd"), files);
    }
    look(&after);
    same(&before, &after);
    assert_true(refused > 0);
    assert_true(started > 0);
    assert_int_equal(aclprofDestroyConfig(config), ACL_SUCCESS);
    assert_int_equal(aclprofFinalize(), ACL_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ODD_TEST(failing_starts_leave_nothing), /* first: see there */
        ODD_TEST(everything_is_as_it_was),
        ODD_TEST(random_numbers_go_on),
        ODD_TEST(every_call_keeps_errno),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
