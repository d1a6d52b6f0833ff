/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C at any moment of a capture, Start and Stop included: the host program's disposition of
 * SIGINT is what happens, once, and what was recorded so far is readable. */
#define _GNU_SOURCE
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "reader/recover.h"

#define KID_THREADS 2u

enum phase { PHASE_NONE, PHASE_STARTING, PHASE_RUNNING, PHASE_STOPPING, PHASE_OVER };

static struct shared {
    _Atomic int phase;
    _Atomic int interrupted; /* runs of the host's own handler */
    _Atomic int sent;        /* the parent has sent its signal */
    _Atomic uint32_t returned[KID_THREADS]; /* stamps whose call has returned */
} *shared;

static void own_handler(int number)
{
    (void)number;
    atomic_fetch_add(&shared->interrupted, 1);
}

static _Atomic int kid_stamps;

static void *kid_thread(void *arg)
{
    uint32_t index = (uint32_t)(uintptr_t)arg;
    void *stamp = aclprofCreateStamp();

    for (uint32_t seq = 0; atomic_load_explicit(&kid_stamps, memory_order_relaxed) != 0; seq++) {
        if (message_set(stamp, 'm', index, seq) != ACL_SUCCESS ||
            aclprofMark(stamp) != ACL_SUCCESS) {
            _exit(4);
        }
        atomic_store_explicit(&shared->returned[index], seq + 1, memory_order_release);
        if (seq % 20 == 0) {
            usleep(200);
        }
    }
    return NULL;
}

/* Init, Start, two threads, Stop, Finalize; ends when the signal has come. */
static void kid(const char *root, void (*disposition)(int))
{
    struct sigaction action = {.sa_handler = disposition};
    pthread_t threads[KID_THREADS];
    aclprofConfig *config = NULL;

    sigaction(SIGINT, &action, NULL);
    setenv("ACLPROF_RING_SIZE", "8M", 1); /* nothing is lost for want of room */
    atomic_store(&shared->phase, PHASE_STARTING);
    if (capture_begin(root, &config) != ACL_SUCCESS) {
        _exit(2);
    }
    atomic_store(&kid_stamps, 1);
    for (uintptr_t i = 0; i < KID_THREADS; i++) {
        pthread_create(&threads[i], NULL, kid_thread, (void *)i);
    }
    atomic_store(&shared->phase, PHASE_RUNNING);
    usleep(20000);
    atomic_store(&kid_stamps, 0);
    for (uint32_t i = 0; i < KID_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    atomic_store(&shared->phase, PHASE_STOPPING);
    if (capture_end(config) != ACL_SUCCESS) {
        _exit(3);
    }
    atomic_store(&shared->phase, PHASE_OVER);
    while (atomic_load(&shared->sent) == 0) {
        usleep(100);
    }
    exit(0);
}

/* The child, interrupted `delay` microseconds after it has reached `phase`; its status. */
static int interrupt(const char *root, void (*disposition)(int), enum phase phase, unsigned delay)
{
    struct sigaction action;
    int status = 0;
    pid_t pid = 0;

    memset(shared, 0, sizeof(*shared));
    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        kid(root, disposition);
    }
    while (atomic_load(&shared->phase) < (int)phase && waitpid(pid, &status, WNOHANG) == 0) {
        usleep(50);
    }
    usleep(delay);
    assert_int_equal(kill(pid, SIGINT), 0);
    atomic_store(&shared->sent, 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    sigaction(SIGINT, NULL, &action);
    assert_true(action.sa_handler == SIG_DFL);
    return status;
}

/* Every stamp whose call had returned is there once, in order. */
static void check_stamps(const char *prof)
{
    read_back *back = read_back_open(prof);
    uint32_t next[KID_THREADS] = {0};

    assert_non_null(back);
    for (size_t i = 0; i < back->count; i++) {
        const ap__stamp_record *r = &back->stamps[i];
        char kind = 0;
        uint32_t thread = 0;
        uint32_t seq = 0;

        assert_true(message_read(r->message, r->message_length, &kind, &thread, &seq));
        assert_true(thread < KID_THREADS);
        assert_int_equal(seq, next[thread]++);
    }
    for (uint32_t i = 0; i < KID_THREADS; i++) {
        uint32_t returned = atomic_load(&shared->returned[i]);

        assert_true(next[i] == returned || next[i] == returned + 1);
    }
    read_back_close(back);
}

/* At most one result directory, and a Start that returned has made one. */
static void check_results(const char *root, bool ended)
{
    static ap__recover_report report;
    paths found = prof_paths(root);
    int phase = atomic_load(&shared->phase);

    assert_true(found.count <= 1);
    assert_true(found.count == 1 || phase <= PHASE_STARTING);
    if (found.count == 1 && phase >= PHASE_RUNNING) {
        check_stamps(found.list[0]);
        if (ap__recover(found.list[0], &report) != 0) {
            fail_msg("%s", report.error);
        }
        assert_true(!ended || report.code == AP_RECOVER_NOTHING);
        ap__recover_report_free(&report);
        check_stamps(found.list[0]);
    }
    for (size_t i = 0; i < found.count; i++) {
        scratch_drop(found.list[i]);
    }
    paths_free(&found);
}

/* Phase and delay of the n-th attempt: all of them in turn, at various moments. */
static enum phase phase_of(uint32_t n)
{
    static const enum phase phases[] = {PHASE_RUNNING, PHASE_STOPPING, PHASE_STARTING};

    return phases[n % 3];
}

static unsigned delay_of(uint32_t n)
{
    return mix(n, 11) % (phase_of(n) == PHASE_RUNNING ? 20000 : 3000);
}

#define ATTEMPTS SCALED(34, 10)

static void by_default_it_kills(void **state)
{
    for (uint32_t n = 0; n < ATTEMPTS; n++) {
        int status = interrupt(*state, SIG_DFL, phase_of(n), delay_of(n));
        bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGINT;

        assert_true(killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
                               atomic_load(&shared->phase) == PHASE_OVER));
        check_results(*state, !killed);
    }
}

static void the_hosts_handler_runs_once(void **state)
{
    for (uint32_t n = 0; n < ATTEMPTS; n++) {
        int status = interrupt(*state, own_handler, phase_of(n), delay_of(n));

        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_int_equal(atomic_load(&shared->interrupted), 1);
        check_results(*state, true);
    }
}

static void ignored_it_does_nothing(void **state)
{
    for (uint32_t n = 0; n < ATTEMPTS; n++) {
        int status = interrupt(*state, SIG_IGN, phase_of(n), delay_of(n));

        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        check_results(*state, true);
    }
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
        SCRATCH_TEST(by_default_it_kills),
        SCRATCH_TEST(the_hosts_handler_runs_once),
        SCRATCH_TEST(ignored_it_does_nothing),
    };

    signal(SIGINT, SIG_DFL); /* a shell may have had it ignored */
    return cmocka_run_group_tests(tests, group_setup, NULL);
}
