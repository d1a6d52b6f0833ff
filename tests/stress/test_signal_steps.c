/* SPDX-License-Identifier: Apache-2.0 */
/* A signal handler that stamps, between any two instructions of a stamp call: a tracer steps
 * through the call and lets the handler run after the first, second, third … instruction. */
#define _GNU_SOURCE
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define BLOCK_IDS 128u    /* range ids that a thread takes at a time: where its edge is */
#define STACK_FRAMES 224u /* pushes that need no memory of their own */

/* Set by the tracer while the child stands. */
static struct shared {
    _Atomic int quit;
    _Atomic int handled;
} *shared;

/* ---- in the traced child ---- */

static struct {
    void *stamp;   /* of the interrupted call */
    void *victim;  /* destroyed by it */
    void *handler; /* of the handler */
    uint32_t id;   /* of a range */
    _Atomic uint64_t accepted; /* events whose last call returned 0 */
    _Atomic uint64_t open;     /* pushes and ranges that were begun, minus those that were ended */
    aclprofConfig *config;
    char *root;
    void (*in_handler)(void);
} kid;

#define MUST(condition)                                                          \
    do {                                                                         \
        if (!(condition)) {                                                      \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition,   \
                    aclprofGetLastError());                                      \
            _exit(2);                                                            \
        }                                                                        \
    } while (0)

static void stand(void)
{
    /* to this thread: another one that takes it would stop for good */
    (void)syscall(SYS_tgkill, (int)syscall(SYS_getpid), (int)syscall(SYS_gettid), SIGSTOP);
}

static void mark(void *stamp)
{
    kid.accepted += aclprofMark(stamp) == ACL_SUCCESS;
}

static void push(void *stamp)
{
    kid.open += aclprofPush(stamp) == ACL_SUCCESS;
}

static void pop(void)
{
    bool ok = aclprofPop() == ACL_SUCCESS;

    kid.accepted += ok;
    kid.open -= ok;
}

static uint32_t range_start(void *stamp)
{
    uint32_t id = 0;

    kid.open += aclprofRangeStart(stamp, &id) == ACL_SUCCESS;
    return id;
}

static void range_stop(uint32_t id)
{
    bool ok = aclprofRangeStop(id) == ACL_SUCCESS;

    kid.accepted += ok;
    kid.open -= ok;
}

static void handle_everything(void)
{
    void *own = aclprofCreateStamp();

    MUST(own != NULL);
    MUST(aclprofSetStampTraceMessage(own, "own of the handler", 18) == ACL_SUCCESS);
    mark(own);
    push(kid.handler);
    pop();
    range_stop(range_start(kid.handler));
    mark(kid.stamp);
    MUST(aclprofSetStampTraceMessage(kid.stamp, "set by the handler, a longer text", 33) ==
         ACL_SUCCESS);
    mark(kid.stamp);
    aclprofDestroyStamp(own);
    mark(own); /* refused, or lost with all the others */
}

static void handle_push(void)
{
    push(kid.handler);
}

static void handle_pop(void)
{
    pop();
}

static void on_signal(int number)
{
    (void)number;
    errno = 4711;
    kid.in_handler();
    atomic_store(&shared->handled, errno == 4711 ? 1 : -1);
}

static void capture(void)
{
    MUST(capture_begin(kid.root, &kid.config) == ACL_SUCCESS);
    kid.accepted = 0;
    kid.open = 0;
}

static void check_capture(void)
{
    aclprofStats s;

    MUST(capture_end(kid.config) == ACL_SUCCESS);
    s = stats_now();
    if (s.emitted != kid.accepted || s.emitted != s.written + s.lostTotal ||
        s.lostTotal != s.lostReentrant + s.lostNoRing || s.openAtStop > kid.open) {
        fprintf(stderr,
                "emitted %llu, accepted %llu, written %llu, lost %llu (reentrant %llu, no ring "
                "%llu), open %llu of %llu\n",
                (unsigned long long)s.emitted, (unsigned long long)atomic_load(&kid.accepted),
                (unsigned long long)s.written, (unsigned long long)s.lostTotal,
                (unsigned long long)s.lostReentrant, (unsigned long long)s.lostNoRing,
                (unsigned long long)s.openAtStop, (unsigned long long)atomic_load(&kid.open));
        _exit(3);
    }
}

static void make_stamps(void)
{
    kid.stamp = stamp_of("main");
    kid.handler = stamp_of("handler");
    MUST(kid.stamp != NULL && kid.handler != NULL);
}

/* ---- scenarios: what is prepared, and the call that is interrupted ---- */

static void prepare_nothing(void)
{
}

static void act_mark(void)
{
    mark(kid.stamp);
}

static void act_message(void)
{
    (void)aclprofSetStampTraceMessage(kid.stamp, "main", 4);
}

static void act_push(void)
{
    push(kid.stamp);
}

/* The push stays for the next round's pop. */
static void prepare_push(void)
{
    push(kid.stamp);
}

static void act_pop(void)
{
    pop();
}

static void act_create(void)
{
    aclprofDestroyStamp(aclprofCreateStamp());
}

static void prepare_destroy(void)
{
    kid.victim = stamp_of("main");
}

static void act_destroy(void)
{
    aclprofDestroyStamp(kid.victim);
}

static void act_range_start(void)
{
    kid.id = range_start(kid.stamp);
}

/* One id is left of the thread's block. */
static void prepare_last_id(void)
{
    range_stop(kid.id); /* of the round before */
    do {
        kid.id = range_start(kid.stamp);
        range_stop(kid.id);
    } while (kid.id % BLOCK_IDS != BLOCK_IDS - 2);
    kid.id = 0;
}

static void prepare_no_id(void)
{
    prepare_last_id();
    range_stop(range_start(kid.stamp));
}

static void prepare_range(void)
{
    kid.id = range_start(kid.stamp);
}

static void act_range_stop(void)
{
    range_stop(kid.id);
}

/* Room for one more push. */
static void prepare_full_stack(void)
{
    for (uint32_t i = 0; i < STACK_FRAMES - 1; i++) {
        push(kid.stamp);
    }
}

static void prepare_one_push(void)
{
    while (aclprofPop() == ACL_SUCCESS) {
        kid.accepted++;
        kid.open--;
    }
    push(kid.stamp);
}

/* The thread recorded in an earlier capture, whose rings are gone. */
static void prepare_second_capture(void)
{
    mark(kid.stamp);
    check_capture();
    capture();
}

/* Nothing has been called in this thread before: capture and stamps are another's. */
static void *begin_elsewhere(void *arg)
{
    (void)arg;
    capture();
    make_stamps();
    return NULL;
}

typedef struct scenario {
    const char *name;
    void (*prepare)(void);
    void (*act)(void);
    void (*in_handler)(void);
    bool fresh;      /* a process for each round */
    bool unprepared; /* the thread has made no call before */
    uint32_t stride; /* in instructions */
} scenario;

static const scenario scenarios[] = {
    {"mark", prepare_nothing, act_mark, handle_everything, false, false, 1},
    {"set message", prepare_nothing, act_message, handle_everything, false, false, 1},
    {"push", prepare_nothing, act_push, handle_everything, false, false, 1},
    {"pop", prepare_push, act_pop, handle_everything, false, false, 1},
    {"create and destroy", prepare_nothing, act_create, handle_everything, false, false, 1},
    {"destroy", prepare_destroy, act_destroy, handle_everything, false, false, 1},
    {"range start", prepare_nothing, act_range_start, handle_everything, false, false, 1},
    {"range start, last id", prepare_last_id, act_range_start, handle_everything, false, false, 1},
    {"range start, no id", prepare_no_id, act_range_start, handle_everything, false, false, 29},
    {"range stop", prepare_range, act_range_stop, handle_everything, false, false, 1},
    {"push against push", prepare_full_stack, act_push, handle_push, true, false, 3},
    {"pop against pop", prepare_one_push, act_pop, handle_pop, false, false, 1},
    {"first mark of a capture", prepare_second_capture, act_mark, handle_everything, true, false,
     31},
    {"first mark of a thread", prepare_nothing, act_mark, handle_everything, true, true, 61},
};

static void be_traced(const scenario *s, char *root)
{
    struct sigaction action = {.sa_handler = on_signal};
    pthread_t thread;

    kid.root = root;
    kid.in_handler = s->in_handler;
    setenv("ACLPROF_RING_SIZE", s->fresh ? "256K" : "16M", 1);
    if (s->unprepared) {
        MUST(pthread_create(&thread, NULL, begin_elsewhere, NULL) == 0);
        pthread_join(thread, NULL);
    } else {
        capture();
        make_stamps();
        mark(kid.stamp);
    }
    sigaction(SIGUSR1, &action, NULL);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(77);
    }
    for (;;) {
        stand();
        if (atomic_load(&shared->quit) != 0) {
            break;
        }
        s->prepare();
        stand();
        s->act();
    }
    check_capture();
    _exit(0);
}

/* ---- the tracer ---- */

static void bad_end(const scenario *s, uint32_t step, int status)
{
    if (WIFSIGNALED(status)) {
        fail_msg("%s: died of signal %d, interrupted after %u instructions", s->name,
                 WTERMSIG(status), step);
    }
    fail_msg("%s: ended with %d, interrupted after %u instructions", s->name, WEXITSTATUS(status),
             step);
}

/* Resumes the child and returns the signal with which it stands again. */
static int resume(int request, pid_t pid, int number, const scenario *s, uint32_t step)
{
    int status = 0;

    assert_int_equal(ptrace(request, pid, NULL, (void *)(intptr_t)number), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFSTOPPED(status)) {
        bad_end(s, step, status);
    }
    return WSTOPSIG(status);
}

/* From stand to stand. false: the call was over before so many instructions. */
static bool round_trip(pid_t pid, const scenario *s, uint32_t step)
{
    int number = resume(PTRACE_CONT, pid, 0, s, step);

    assert_int_equal(number, SIGSTOP); /* it is prepared */
    for (uint32_t i = 0; i < step; i++) {
        number = resume(PTRACE_SINGLESTEP, pid, 0, s, step);
        if (number == SIGSTOP) {
            return false;
        }
        assert_int_equal(number, SIGTRAP);
    }
    atomic_store(&shared->handled, 0);
    number = resume(PTRACE_CONT, pid, SIGUSR1, s, step);
    while (number == SIGUSR1) { /* it was blocked and comes now */
        number = resume(PTRACE_CONT, pid, SIGUSR1, s, step);
    }
    assert_int_equal(number, SIGSTOP);
    if (atomic_load(&shared->handled) == 0) {
        return false; /* the last step was the child's call to stand: the handler comes behind it */
    }
    assert_int_equal(atomic_load(&shared->handled), 1); /* errno is what it was */
    return true;
}

static pid_t spawn(const scenario *s, char *root)
{
    int status = 0;
    pid_t pid = 0;

    assert_int_equal(mkdir(root, 0700), 0);
    atomic_store(&shared->quit, 0);
    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        be_traced(s, root);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("this process may not trace its children\n");
        skip();
    }
    if (!WIFSTOPPED(status)) {
        bad_end(s, 0, status);
    }
    assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_EXITKILL), 0);
    return pid;
}

/* No text is torn: each is one that somebody set, or none while it was being set. */
static void check_texts(const char *root)
{
    static const char *const texts[] = {"", "main", "handler", "own of the handler",
                                        "set by the handler, a longer text"};
    paths found = prof_paths(root);

    for (size_t p = 0; p < found.count; p++) {
        read_back *back = read_back_open(found.list[p]);

        assert_non_null(back);
        assert_true(read_back_account_balances(back));
        for (size_t i = 0; i < back->count; i++) {
            bool known = false;

            for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
                known = known || strcmp(texts[t], back->stamps[i].message) == 0;
            }
            if (!known) {
                fail_msg("torn: '%s'", back->stamps[i].message);
            }
        }
        read_back_close(back);
    }
    assert_true(found.count != 0);
    paths_free(&found);
}

static void dismiss(pid_t pid, const scenario *s, uint32_t step, const char *root)
{
    int status = 0;

    atomic_store(&shared->quit, 1);
    assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        bad_end(s, step, status);
    }
    check_texts(root);
    scratch_drop(root);
}

static void run(const scenario *s, const char *scratch)
{
    char root[512];
    uint32_t step = 0;
    bool more = true;
    pid_t pid = 0;

    snprintf(root, sizeof(root), "%s/steps", scratch);
    pid = spawn(s, root);
    while (more) {
        more = round_trip(pid, s, step);
        if (s->fresh) {
            dismiss(pid, s, step, root);
            pid = more ? spawn(s, root) : 0;
        }
        step += s->stride * SCALED(1, 7);
    }
    if (pid != 0) {
        dismiss(pid, s, step, root);
    }
    print_message("[          ] %s: %u instructions\n", s->name, step);
}

static void handlers_between_any_two_instructions(void **state)
{
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        run(&scenarios[i], *state);
    }
    munmap(shared, sizeof(*shared));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(handlers_between_any_two_instructions),
    };

    if (UNDER_TSAN) {
        return 77; /* it lets handlers run at points of its own choice */
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
