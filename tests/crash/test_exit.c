/* SPDX-License-Identifier: Apache-2.0 */
/* The process ends without aclprofStop. Where exit handlers run, the directory is finished and
 * holds every stamp whose call had returned; where they do not, recovery makes it so. */
#define _GNU_SOURCE
#include "finished.h"

#include <signal.h>
#include <sys/wait.h>

#include "exit_counts.h"
#include "reader/recover.h"

typedef struct outcome {
    int status; /* of waitpid */
    pid_t pid;
    uint32_t returned[EXIT_THREADS];
} outcome;

static pid_t start(const char *program, const char *way, const char *root, const char *counts)
{
    char path[4096];
    pid_t pid = 0;

    snprintf(path, sizeof(path), "%s/%s", AP_TEST_BINARY_DIR, program);
    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        execl(path, path, way, root, counts, (char *)NULL);
        perror(path);
        _exit(96);
    }
    return pid;
}

static void counts_path(char path[512], const char *root)
{
    snprintf(path, 512, "%s/counts", root);
}

static void read_counts(const char *root, uint32_t returned[EXIT_THREADS])
{
    char path[512];
    struct exit_counts *counts = NULL;

    counts_path(path, root);
    counts = exit_counts_map(path);
    assert_non_null(counts);
    for (uint32_t i = 0; i < EXIT_THREADS; i++) {
        returned[i] = atomic_load(&counts->returned[i]);
    }
    munmap(counts, sizeof(*counts));
}

static outcome run(const char *program, const char *way, const char *root)
{
    char counts[512];
    outcome o = {0};

    counts_path(counts, root);
    (void)unlink(counts);
    o.pid = start(program, way, root, counts);
    assert_int_equal(waitpid(o.pid, &o.status, 0), o.pid);
    read_counts(root, o.returned);
    return o;
}

static bool read_message(const ap__stamp_record *r, uint32_t *thread, uint32_t *seq)
{
    char kind = 0;
    int end = 0;

    if (message_read(r->message, r->message_length, &kind, thread, seq)) {
        return kind == 'm';
    }
    return sscanf(r->message, "%u %u%n", thread, seq, &end) == 2 && r->message[end] == '\0';
}

/* Every stamp whose call had returned is there once, in order; at most one more a thread, which
 * was on its way. */
static void check_stamps(const char *prof, const outcome *o, ap__reader_state state, bool balances)
{
    read_back *back = read_back_open(prof);
    uint32_t next[EXIT_THREADS] = {0};

    assert_non_null(back);
    assert_int_equal(ap__reader_state_of(back->reader), state);
    assert_true(!balances || read_back_account_balances(back));
    for (size_t i = 0; i < back->count; i++) {
        uint32_t thread = 0;
        uint32_t seq = 0;

        assert_true(read_message(&back->stamps[i], &thread, &seq));
        assert_true(thread < EXIT_THREADS);
        assert_int_equal(seq, next[thread]++);
    }
    for (uint32_t i = 0; i < EXIT_THREADS; i++) {
        assert_true(next[i] == o->returned[i] || next[i] == o->returned[i] + 1);
    }
    read_back_close(back);
}

static char *only_prof(const char *root)
{
    paths found = prof_paths(root);
    char *path = NULL;

    assert_int_equal(found.count, 1);
    path = strdup(found.list[0]);
    paths_free(&found);
    return path;
}

/* The ways in which exit handlers run. */
static void finished_ways(void **state)
{
    static const struct {
        const char *way;
        int code;
        uint32_t events[3]; /* of the first threads */
    } ways[] = {
        {"return", 0, {100, 0, 0}},       {"exit", 0, {100, 0, 0}},
        {"exit-thread", 7, {100, 50, 0}}, {"exit-handler", 8, {100, 0, 0}},
        {"atexit", 0, {100, 0, 10}},      {"main-ends", 0, {100, 50, 0}},
    };

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        outcome o;
        char *prof = NULL;

        if (UNDER_TSAN && (strcmp(ways[i].way, "exit-handler") == 0 ||
                           strcmp(ways[i].way, "main-ends") == 0)) {
            continue; /* it reports what exit() calls there; it has a thread that never ends */
        }
        o = run("exit_ways", ways[i].way, *state);
        prof = only_prof(*state);
        if (!WIFEXITED(o.status) || WEXITSTATUS(o.status) != ways[i].code) {
            fail_msg("%s: ended with 0x%x", ways[i].way, (unsigned)o.status);
        }
        assert_memory_equal(o.returned, ways[i].events, sizeof(ways[i].events));
        assert_finished(prof);
        assert_no_shm(o.pid);
        check_stamps(prof, &o, AP_READER_FINISHED, true);
        scratch_drop(prof);
        free(prof);
    }
}

/* exit() while other threads stamp: they are refused from some moment on. */
static void exit_under_load(void **state)
{
    setenv("ACLPROF_RING_SIZE", "16M", 1); /* nothing is lost for want of room */
    for (int n = 0; n < SCALED(20, 5); n++) {
        outcome o = run("exit_ways", "exit-busy", *state);
        char *prof = only_prof(*state);

        assert_true(WIFEXITED(o.status) && WEXITSTATUS(o.status) == 0);
        for (uint32_t i = 1; i < EXIT_THREADS; i++) {
            assert_true(o.returned[i] >= 1000);
        }
        assert_finished(prof);
        check_stamps(prof, &o, AP_READER_FINISHED, true);
        scratch_drop(prof);
        free(prof);
    }
}

static void recover_and_check(const char *prof, const outcome *o)
{
    static ap__recover_report report;

    check_stamps(prof, o, AP_READER_UNFINISHED, false);
    if (ap__recover(prof, &report) != 0) {
        fail_msg("%s", report.error);
    }
    assert_int_equal(report.code, AP_RECOVER_DONE);
    assert_int_equal(report.damaged_rings, 0);
    assert_int_equal(report.account.lostTotal, 0);
    ap__recover_report_free(&report);
    assert_finished(prof);
    assert_no_shm(o->pid);
    check_stamps(prof, o, AP_READER_RECOVERED, true);
}

/* The ways in which nobody is asked. */
static void recoverable_ways(void **state)
{
    static const struct {
        const char *way;
        int killed_by;
    } ways[] = {{"_exit", 0}, {"_exit-busy", 0}, {"quick_exit", 0}, {"abort", SIGABRT}};

    setenv("ACLPROF_RING_SIZE", "16M", 1);
    for (int shm = 0; shm < 2; shm++) {
        setenv("ACLPROF_ARENA", shm ? "shm" : "file", 1);
        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
            outcome o = run("exit_ways", ways[i].way, *state);
            char *prof = only_prof(*state);

            if (ways[i].killed_by != 0 ? !WIFSIGNALED(o.status) ||
                                             WTERMSIG(o.status) != ways[i].killed_by
                                       : !WIFEXITED(o.status) || WEXITSTATUS(o.status) != 0) {
                fail_msg("%s: ended with 0x%x", ways[i].way, (unsigned)o.status);
            }
            assert_int_equal(o.returned[0], 100);
            recover_and_check(prof, &o);
            scratch_drop(prof);
            free(prof);
        }
    }
}

/* exec: the process lives on, but it is another program, which has nothing of the capture. */
static void exec_leaves_it(void **state)
{
    char counts[512];
    outcome o = {0};
    char *prof = NULL;
    ap__reader_error error;
    ap__reader *reader = NULL;
    int ends[2];
    int in = dup(STDIN_FILENO);
    bool running = true;

    assert_int_equal(pipe(ends), 0);
    assert_true(fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    counts_path(counts, *state);
    o.pid = start("exit_ways", "exec", *state, counts);
    assert_int_equal(in >= 0 ? dup2(in, STDIN_FILENO) : STDIN_FILENO, STDIN_FILENO);
    close(ends[0]);
    while (running) { /* until exec has closed its files */
        paths found = prof_paths(*state);

        usleep(1000);
        reader = found.count == 1 ? ap__reader_open(found.list[0], &error) : NULL;
        read_counts(*state, o.returned);
        if (reader != NULL) {
            running = o.returned[0] < 100 || ap__reader_state_of(reader) == AP_READER_RUNNING;
            ap__reader_close(reader);
        }
        paths_free(&found);
    }
    assert_int_equal(waitpid(o.pid, &o.status, WNOHANG), 0); /* it lingers */
    prof = only_prof(*state);
    recover_and_check(prof, &o);
    close(ends[1]);
    assert_int_equal(waitpid(o.pid, &o.status, 0), o.pid);
    assert_true(WIFEXITED(o.status) && WEXITSTATUS(o.status) == 0);
    free(prof);
    if (in >= 0) {
        close(in);
    }
}

/* Opened at run time, and closed while a thread that has stamped lives on. */
static void dlopen_and_dlclose(void **state)
{
    static const char *const ways[] = {"stopped", "left"};

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        outcome o = run("exit_dlopen", ways[i], *state);
        char *prof = only_prof(*state);

        if (!WIFEXITED(o.status) || WEXITSTATUS(o.status) != 0) {
            fail_msg("%s: ended with 0x%x", ways[i], (unsigned)o.status);
        }
        assert_int_equal(o.returned[0], 100);
        assert_int_equal(o.returned[1], 50);
        assert_finished(prof);
        check_stamps(prof, &o, AP_READER_FINISHED, true);
        scratch_drop(prof);
        free(prof);
    }
}

static void dlopen_twice(void **state)
{
    outcome o = run("exit_dlopen", "again", *state);
    paths found = prof_paths(*state);
    uint64_t written = 0;

    assert_true(WIFEXITED(o.status) && WEXITSTATUS(o.status) == 0);
    assert_int_equal(found.count, 2);
    for (size_t i = 0; i < found.count; i++) {
        read_back *back = read_back_open(found.list[i]);

        assert_non_null(back);
        assert_finished(found.list[i]);
        assert_true(read_back_account_balances(back));
        written += back->count;
        read_back_close(back);
    }
    assert_int_equal(written, 180);
    paths_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(finished_ways),  SCRATCH_TEST(exit_under_load),
        SCRATCH_TEST(recoverable_ways), SCRATCH_TEST(exec_leaves_it),
        SCRATCH_TEST(dlopen_and_dlclose), SCRATCH_TEST(dlopen_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
