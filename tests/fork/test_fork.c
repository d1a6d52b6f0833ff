/* SPDX-License-Identifier: Apache-2.0 */
/* Children of all kinds: none records into its parent's capture or disturbs it, and each may have
 * one of its own. */
#define _GNU_SOURCE
#include "tests/compat/journey.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>

/* The sanitizers' allocator is not made for fork: a lock that another thread holds in it stays
 * locked in the child. There, let new threads come to rest before a fork, and look for leaks in the
 * process itself only. */
#ifdef AP_SANITIZED
#define settle() usleep(200000)

int __lsan_is_turned_off(void);

static pid_t role_pid;

__attribute__((constructor)) static void note_pid(void)
{
    role_pid = getpid();
}

int __lsan_is_turned_off(void)
{
    return getpid() != role_pid;
}
#else
#define settle() ((void)0)
#endif

/* cmocka's assertions belong to the role's own process. */
#define child_check(condition)                                                                  \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            fprintf(stderr, "child, line %d: %s (%s)\n", __LINE__, #condition,                  \
                    aclprofGetLastError());                                                     \
            _exit(1);                                                                           \
        }                                                                                       \
    } while (0)

#define CHILD_SECONDS SCALED(20, 120) /* a child that takes longer hangs */

static pid_t fork_checked(void)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(CHILD_SECONDS);
    }
    return pid;
}

/* Of its process in `root`; to be freed. */
static char *prof_of(const char *root, pid_t pid)
{
    paths found = prof_paths(root);
    char number[16];
    char *path = NULL;
    size_t count = 0;

    snprintf(number, sizeof(number), "_%08d", pid);
    for (size_t i = 0; i < found.count; i++) {
        if (strstr(found.list[i], number) != NULL) {
            free(path);
            path = strdup(found.list[i]);
            count++;
        }
    }
    paths_free(&found);
    assert_int_equal(count, 1);
    return path;
}

static void check_work_of(const char *root, const char *name, pid_t pid)
{
    char *prof = prof_of(root, pid);

    check_work(prof, name, pid);
    free(prof);
}

/* As work(), without cmocka. */
static bool child_work(const char *name)
{
    static const char *const parts[] = {"range", "outer", "inner", "mark"};
    void *s[4];
    uint32_t id = 0;
    bool good = true;

    for (size_t i = 0; i < 4; i++) {
        char text[64];

        snprintf(text, sizeof(text), "%s-%s", name, parts[i]);
        s[i] = stamp_of(text);
        good = good && s[i] != NULL;
    }
    return good && aclprofRangeStart(s[0], &id) == 0 && aclprofMark(s[3]) == 0 &&
           aclprofPush(s[1]) == 0 && aclprofMark(s[3]) == 0 && aclprofPush(s[2]) == 0 &&
           aclprofMark(s[3]) == 0 && aclprofPop() == 0 && aclprofPop() == 0 &&
           aclprofRangeStop(id) == 0;
}

/* Start, work, Stop. */
static void child_window(const aclprofConfig *config, const char *name)
{
    child_check(aclprofStart(config) == ACL_SUCCESS);
    child_check(child_work(name));
    child_check(aclprofStop(config) == ACL_SUCCESS);
}

/* Nothing is recorded here. */
static void child_is_outside(void *stamp)
{
    uint32_t id = 1;

    child_check(aclprofCreateStamp() == NULL);
    child_check(aclprofMark(stamp) == ACL_ERROR_PROF_NOT_RUN);
    child_check(aclprofPush(stamp) == ACL_ERROR_PROF_NOT_RUN);
    child_check(aclprofPop() == ACL_ERROR_PROF_NOT_RUN);
    child_check(aclprofRangeStart(stamp, &id) == ACL_ERROR_PROF_NOT_RUN);
    child_check(aclprofRangeStop(1) == ACL_ERROR_PROF_NOT_RUN);
}

static size_t tasks(void)
{
    DIR *dir = opendir("/proc/self/task");
    size_t count = 0;

    while (dir != NULL && readdir(dir) != NULL) {
        count++;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return count - 2;
}

static int open_fds(void)
{
    int count = 0;

    for (int fd = 0; fd < 1024; fd++) {
        count += fcntl(fd, F_GETFD) != -1;
    }
    return count;
}

/* No more descriptors than before the capture. Their numbers may differ: libuv makes its pipe of
 * the process anew in a child. */
static void child_has_only(int known)
{
    for (int fd = 0; open_fds() > known && fd < 1024; fd++) {
        char link[64];
        char path[4200] = "";

        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        if (fcntl(fd, F_GETFD) != -1 && readlink(link, path, sizeof(path) - 1) > 0) {
            fprintf(stderr, "child: descriptor %d: %s\n", fd, path);
        }
    }
    child_check(open_fds() <= known);
}

/* ---- threads that stamp all the time ---- */

#define WORKERS_MAX 64u

typedef struct worker {
    _Alignas(64) uint32_t index;
    uint32_t accepted;
    uint32_t wrong;
    pthread_t thread;
} worker;

static worker workers[WORKERS_MAX];
static uint32_t worker_count;
static _Atomic bool workers_end;

static void *stamping(void *arg)
{
    worker *w = arg;
    void *stamp = aclprofCreateStamp();

    while (!atomic_load_explicit(&workers_end, memory_order_relaxed)) {
        for (int i = 0; i < 64; i++) {
            w->wrong += message_set(stamp, 'm', w->index, w->accepted) != ACL_SUCCESS;
            if (aclprofMark(stamp) == ACL_SUCCESS) {
                w->accepted++;
            } else {
                w->wrong++;
            }
        }
        usleep(worker_count * SCALED(50, 500)); /* no more than is written at leisure */
    }
    aclprofDestroyStamp(stamp);
    return NULL;
}

static void workers_begin(uint32_t count)
{
    atomic_store(&workers_end, false);
    worker_count = count;
    for (uint32_t i = 0; i < count; i++) {
        workers[i] = (worker){.index = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, stamping, &workers[i]), 0);
    }
    settle();
}

static void workers_stop(void)
{
    atomic_store(&workers_end, true);
    for (uint32_t i = 0; i < worker_count; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].wrong, 0);
    }
}

/* All of theirs, in order, of this process; and `others` events beside. Where the writer was kept
 * from the processor for long, what found a ring full is missing, and counted. */
static void check_workers(const char *prof, size_t others)
{
    read_back *back = open_finished(prof);
    const aclprofStats *total = &ap__reader_account_of(back->reader)->total;
    uint32_t next[WORKERS_MAX] = {0};
    size_t beside = 0;
    uint64_t accepted = 0;

    for (size_t i = 0; i < back->count; i++) {
        const ap__stamp_record *r = &back->stamps[i];
        uint32_t thread = 0;
        uint32_t seq = 0;
        char kind = 0;

        assert_int_equal(r->pid, getpid());
        if (!message_read(r->message, r->message_length, &kind, &thread, &seq)) {
            beside++;
            continue;
        }
        assert_true(thread < worker_count);
        assert_true(seq >= next[thread]);
        next[thread] = seq + 1;
    }
    for (uint32_t i = 0; i < worker_count; i++) {
        assert_true(next[i] != 0 && next[i] <= workers[i].accepted);
        accepted += workers[i].accepted;
    }
    assert_int_equal(beside, others);
    assert_int_equal(total->emitted, accepted + others);
    assert_int_equal(total->lostTotal, total->lostRingFull);
    assert_int_equal(back->count + total->lostRingFull, total->emitted);
    assert_true(total->lostRingFull < accepted);
    read_back_close(back);
}

/* ---- fork after Init ---- */

static void forks_after_init(void **state)
{
    aclprofConfig *config = tx_config();
    pid_t children[3];

    assert_ok(init_at(*state));
    assert_ok(set_text(ACL_PROF_STORAGE_LIMIT, "250MB"));
    for (int i = 0; i < 3; i++) {
        children[i] = fork_checked();
        if (children[i] == 0) {
            child_check(init_at(*state) == ACL_ERROR_REPEAT_INITIALIZE); /* it is open here too */
            child_window(config, "child");
            child_check(aclprofDestroyConfig(config) == ACL_SUCCESS);
            if (i == 0) {
                _exit(0);
            }
            child_check(aclprofFinalize() == ACL_SUCCESS);
            exit(0);
        }
    }
    window(config, "parent");
    for (int i = 0; i < 3; i++) {
        char *prof = NULL;

        assert_int_equal(process_end(children[i]), 0);
        check_work_of(*state, "child", children[i]);
        prof = prof_of(*state, children[i]);
        check_sample(prof, "storageLimit", "250MB"); /* settings are inherited */
        free(prof);
    }
    assert_ok(aclprofDestroyConfig(config)); /* the children's did not count here */
    assert_ok(aclprofFinalize());
    check_work_of(*state, "parent", getpid());
}

static void after_init(void **state)
{
    paths found;

    role_run("forks_after_init", *state);
    found = prof_paths_exactly(*state, 4);
    paths_free(&found);
}

/* ---- fork while a capture runs and threads record ---- */

enum ending { BY_UNDERSCORE, BY_EXIT, BY_STOP, OWN_FINISHED, OWN_LEFT, OWN_TWICE, ENDINGS };

static void child_of_running(enum ending how, aclprofConfig *config, void *stamp,
                             int known)
{
    child_is_outside(stamp);
    child_check(stats_now().running == 0);
    child_check(tasks() == 1);
    child_has_only(known);
    switch (how) {
    case BY_UNDERSCORE:
        _exit(0);
    case BY_EXIT:
        exit(0);
    case BY_STOP:
        child_check(aclprofStop(config) == ACL_SUCCESS);
        child_check(aclprofFinalize() == ACL_SUCCESS);
        child_is_outside(stamp);
        exit(0);
    case OWN_FINISHED:
        child_window(config, "child");
        child_check(aclprofFinalize() == ACL_SUCCESS);
        child_has_only(known);
        _exit(0);
    case OWN_LEFT:
        child_check(aclprofStart(config) == ACL_SUCCESS);
        child_check(tasks() == 2); /* its own writer */
        child_check(child_work("child"));
        exit(0);
    default:
        child_window(config, "child");
        child_window(config, "again");
        exit(0);
    }
}

/* Running, and as running captures are. */
static void check_running(const char *prof)
{
    char *end = below(prof, "host/end_info");
    char *arena = below(prof, "host/.aclprof/arena");

    assert_int_equal(stats_now().running, 1);
    assert_false(there_is(end));
    assert_true(there_is(arena));
    free(end);
    free(arena);
}

static void forks_while_running(void **state)
{
    char *first = below(*state, "first");
    aclprofConfig *config = tx_config();
    int known = 0;
    pid_t children[2 * ENDINGS];
    char *mine = NULL;
    void *stamp = NULL;

    setenv("ACLPROF_RING_SIZE", "4M", 1);
    assert_ok(init_at(first));
    window(config, "first"); /* what stays open for the life of the process is libuv's */
    assert_ok(aclprofFinalize());
    known = open_fds();
    scratch_drop(first);
    free(first);
    assert_ok(init_at(*state));
    assert_ok(aclprofStart(config));
    mine = prof_of(*state, getpid());
    stamp = stamp_of("inherited");
    assert_ok(aclprofMark(stamp));
    workers_begin(4);
    for (int i = 0; i < 2 * ENDINGS; i++) {
        children[i] = fork_checked();
        if (children[i] == 0) {
            child_of_running((enum ending)(i % ENDINGS), config, stamp, known);
        }
        usleep(2000);
    }
    for (int i = 0; i < 2 * ENDINGS; i++) {
        assert_int_equal(process_end(children[i]), 0);
        check_running(mine);
    }
    assert_ok(aclprofMark(stamp));
    workers_stop();
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
    check_workers(mine, 2);
    for (int i = 0; i < 2 * ENDINGS; i++) {
        if (i % ENDINGS == OWN_FINISHED || i % ENDINGS == OWN_LEFT) {
            check_work_of(*state, "child", children[i]);
        }
    }
    free(mine);
}

static void while_running(void **state)
{
    paths found;

    role_run("forks_while_running", *state);
    found = prof_paths_exactly(*state, 1 + 2 * (1 + 1 + 2));
    for (size_t i = 0; i < found.count; i++) {
        read_back_close(open_finished(found.list[i]));
    }
    paths_free(&found);
}

/* ---- fork in the middle of 64 threads ---- */

static void forks_often(void **state)
{
    aclprofConfig *config = tx_config();
    char *mine = NULL;
    void *stamp = NULL;

    assert_ok(init_at(*state));
    assert_ok(aclprofStart(config));
    mine = prof_of(*state, getpid());
    stamp = stamp_of("inherited");
    workers_begin(SCALED(64, 16));
    for (unsigned i = 0; i < SCALED(200, 40); i++) {
        pid_t pid = fork_checked();

        if (pid == 0) {
            child_is_outside(stamp);
            _exit(0);
        }
        assert_int_equal(process_end(pid), 0);
        check_running(mine);
    }
    workers_stop();
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
    check_workers(mine, 0);
    free(mine);
}

static void amid_many_threads(void **state)
{
    paths found;

    role_run("forks_often", *state);
    found = prof_paths_exactly(*state, 1);
    paths_free(&found);
}

/* ---- what a child inherits ---- */

static sigset_t mask_now(void)
{
    sigset_t set;

    sigemptyset(&set);
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    return set;
}

static bool same_mask(const sigset_t *a, const sigset_t *b)
{
    for (int s = 1; s < NSIG; s++) {
        if (sigismember(a, s) != sigismember(b, s)) {
            return false;
        }
    }
    return true;
}

static void inherits(void **state)
{
    aclprofConfig *config = tx_config();
    char text[300];
    sigset_t blocked;
    sigset_t now;
    void *stamp = NULL;
    void *named = NULL;
    uint32_t open = 0;
    uint64_t id = aclprofStr2Id("of the parent");
    pid_t pid = 0;

    memset(text, 'L', sizeof(text));
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &blocked, NULL), 0);
    assert_ok(init_at(*state));
    assert_ok(aclprofStart(config));
    stamp = stamp_of("inherited");
    named = aclprofCreateStamp();
    assert_ok(aclprofSetStampTraceMessage(named, text, sizeof(text)));
    assert_ok(aclprofSetStampPayload(stamp, 1, &id));
    assert_ok(aclprofPush(stamp));
    assert_ok(aclprofRangeStart(stamp, &open));
    settle();
    pid = fork_checked();
    now = mask_now();
    if (pid == 0) {
        uint32_t mine = 0;

        child_check(same_mask(&now, &blocked));
        child_check(aclprofPop() == ACL_ERROR_PROF_NOT_RUN);
        child_check(aclprofStart(config) == ACL_SUCCESS);
        child_check(aclprofPop() == ACL_ERROR_INVALID_PARAM); /* the parent pushed, not this one */
        child_check(aclprofRangeStop(open) == ACL_ERROR_INVALID_PARAM);
        child_check(aclprofMark(stamp) == ACL_SUCCESS); /* stamps are its own */
        child_check(aclprofMark(named) == ACL_SUCCESS);
        child_check(aclprofRangeStart(stamp, &mine) == ACL_SUCCESS && mine != open);
        child_check(aclprofRangeStop(mine) == ACL_SUCCESS);
        aclprofDestroyStamp(stamp);
        child_check(aclprofStop(NULL) == ACL_SUCCESS);
        exit(0);
    }
    assert_true(same_mask(&now, &blocked));
    assert_int_equal(process_end(pid), 0);
    assert_ok(aclprofMark(stamp));
    assert_ok(aclprofPop());
    assert_ok(aclprofRangeStop(open));
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
    {
        char *parents = prof_of(*state, getpid());
        char *childs = prof_of(*state, pid);
        read_back *back = open_finished(parents);

        text[sizeof(text) - 1] = '\0';
        assert_int_equal(back->count, 3);
        assert_int_equal(read_back_count(back, "inherited"), 3);
        read_back_close(back);
        back = open_finished(childs);
        assert_int_equal(back->count, 3);
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(back->stamps[i].pid, pid);
            assert_int_equal(back->stamps[i].tid, pid);
        }
        assert_int_equal(read_back_count_event(back, "inherited", AP_TX_MARK), 1);
        assert_int_equal(read_back_count_event(back, "inherited", AP_TX_RANGE), 1);
        assert_int_equal(read_back_find(back, "inherited", 0)->payload, id);
        assert_string_equal(ap__reader_hash_text(back->reader, id), "of the parent");
        assert_int_equal(back->stamps[1].message_length, sizeof(text)); /* whole */
        assert_memory_equal(back->stamps[1].message, text, sizeof(text) - 1);
        read_back_close(back);
        free(parents);
        free(childs);
    }
}

static void inheritance(void **state)
{
    role_run("inherits", *state);
}

/* ---- generations ---- */

#define GENERATIONS 4

static void generation(const char *dir, aclprofConfig *config, int number)
{
    char name[32];
    pid_t child = 0;
    int status = 0;

    snprintf(name, sizeof(name), "generation%d", number);
    child_check(aclprofStart(config) == ACL_SUCCESS);
    if (number + 1 < GENERATIONS) {
        settle();
        child = fork();
        if (child == 0) {
            generation(dir, config, number + 1);
            exit(0); /* without Stop: all of it is finished here */
        }
        child_check(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
    child_check(child_work(name));
}

static void has_grandchildren(void **state)
{
    aclprofConfig *config = tx_config();

    alarm(CHILD_SECONDS);
    assert_ok(init_at(*state));
    generation(*state, config, 0);
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
}

static void grandchildren(void **state)
{
    bool found_generation[GENERATIONS] = {false};
    paths found;

    role_run("has_grandchildren", *state);
    found = prof_paths_exactly(*state, GENERATIONS);
    for (size_t i = 0; i < GENERATIONS; i++) {
        read_back *back = open_finished(found.list[i]);
        pid_t pid = (pid_t)ap__reader_meta(back->reader)->pid;
        char number[16];
        char name[32];
        int n = -1;

        assert_int_equal(back->count, WORK_EVENTS);
        assert_int_equal(sscanf(back->stamps[0].message, "generation%d", &n), 1);
        assert_true(n >= 0 && n < GENERATIONS && !found_generation[n]);
        found_generation[n] = true;
        snprintf(name, sizeof(name), "generation%d", n);
        snprintf(number, sizeof(number), "_%08d", pid);
        assert_non_null(strstr(found.list[i], number));
        read_back_close(back);
        check_work(found.list[i], name, pid);
    }
    paths_free(&found);
}

/* ---- programs that are started ---- */

extern char **environ;

/* What a started program sees of our descriptors, and that its output and code are right. */
static void listing_is_clean(FILE *listing)
{
    char line[4300];
    size_t lines = 0;

    while (fgets(line, sizeof(line), listing) != NULL) {
        lines++;
        if (strstr(line, "PROF_") != NULL || strstr(line, "anon_inode") != NULL) {
            fail_msg("inherited: %s", line);
        }
    }
    assert_true(lines >= 3);
}

static void starts_programs(void **state)
{
    char *const list[] = {"sh", "-c", "test $(ls /proc/self/fd | wc -l) -lt 12; exit 5", NULL};
    aclprofConfig *config = tx_config();
    char *mine = NULL;

    assert_ok(init_at(*state));
    assert_ok(aclprofStart(config));
    mine = prof_of(*state, getpid());
    workers_begin(4);
    for (int i = 0; i < 5; i++) {
        FILE *pipe = NULL;
        pid_t pid = 0;
        int status = system("exit 3");

        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
        pipe = popen("ls -l /proc/self/fd; exit 4", "r");
        assert_non_null(pipe);
        listing_is_clean(pipe);
        status = pclose(pipe);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 4);
        assert_int_equal(posix_spawn(&pid, "/bin/sh", NULL, NULL, list, environ), 0);
        assert_int_equal(process_end(pid), 5);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        pid = vfork();
#pragma GCC diagnostic pop
        if (pid == 0) {
            execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
            _exit(126);
        }
        assert_int_equal(process_end(pid), 6);
        check_running(mine);
    }
    workers_stop();
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
    check_workers(mine, 0);
    free(mine);
}

static void started_programs(void **state)
{
    paths found;

    role_run("starts_programs", *state);
    found = prof_paths_exactly(*state, 1);
    paths_free(&found);
}

/* ---- children that no fork handler has seen ---- */

static pid_t bare_clone(void)
{
    return (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
}

static void clones(void **state)
{
    aclprofConfig *config = tx_config();
    char *mine = NULL;
    void *stamp = NULL;

    assert_ok(init_at(*state));
    assert_ok(aclprofStart(config));
    mine = prof_of(*state, getpid());
    stamp = stamp_of("inherited");
    assert_ok(aclprofPush(stamp));
    workers_begin(4);
    for (int i = 0; i < SCALED(40, 10); i++) {
        pid_t pid = bare_clone();

        assert_true(pid >= 0);
        if (pid == 0) { /* nothing that takes a lock: others may have held it */
            uint32_t id = 0;

            alarm(CHILD_SECONDS);
            for (int k = 0; k < 1000; k++) {
                if (aclprofMark(stamp) != ACL_ERROR_PROF_NOT_RUN ||
                    aclprofPush(stamp) != ACL_ERROR_PROF_NOT_RUN ||
                    aclprofPop() != ACL_ERROR_PROF_NOT_RUN ||
                    aclprofRangeStart(stamp, &id) != ACL_ERROR_PROF_NOT_RUN ||
                    aclprofCreateStamp() != NULL) {
                    syscall(SYS_exit_group, 1);
                }
            }
            syscall(SYS_exit_group, 0);
        }
        assert_int_equal(process_end(pid), 0);
        check_running(mine);
    }
    assert_ok(aclprofPop());
    workers_stop();
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
    check_workers(mine, 1);
    free(mine);
}

/* The clone of a process without other threads may do everything. */
static void clone_goes_on(void **state)
{
    aclprofConfig *config = tx_config();
    pid_t pids[3];

    assert_ok(init_at(*state));
    assert_ok(aclprofStart(config));
    work("parent");
    while (stats_now().pending != 0) { /* the writer holds no lock */
        usleep(1000);
    }
    usleep(300000);
    for (int i = 0; i < 3; i++) {
        pids[i] = bare_clone();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0) {
            alarm(CHILD_SECONDS);
            if (i == 0) {
                exit(0); /* does not finish what is the parent's */
            }
            child_check(stats_now().running == 0);
            if (i == 1) {
                child_check(aclprofStop(config) == ACL_SUCCESS);
                child_check(aclprofFinalize() == ACL_SUCCESS);
                exit(0);
            }
            child_window(config, "child");
            exit(0);
        }
        assert_int_equal(process_end(pids[i]), 0);
    }
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
    check_work_of(*state, "parent", getpid());
    check_work_of(*state, "child", pids[2]);
}

static void bare_clones(void **state)
{
    char *first = below(*state, "first");
    char *second = below(*state, "second");
    paths found;

    role_run("clones", first);
    found = prof_paths_exactly(first, 1);
    paths_free(&found);
    role_run("clone_goes_on", second);
    found = prof_paths_exactly(second, 2);
    paths_free(&found);
    free(first);
    free(second);
}

/* ---- fork while another thread is in Start or Stop ---- */

static _Atomic bool controller_end;
static uint32_t controller_turns;

static void *start_and_stop(void *arg)
{
    aclprofConfig *config = arg;

    for (; !atomic_load(&controller_end); controller_turns++) {
        void *stamp = NULL;

        if (aclprofStart(config) != ACL_SUCCESS || (stamp = stamp_of("controlled")) == NULL ||
            aclprofMark(stamp) != ACL_SUCCESS || aclprofStop(config) != ACL_SUCCESS) {
            fprintf(stderr, "controller: %s\n", aclprofGetLastError());
            return arg;
        }
        aclprofDestroyStamp(stamp);
    }
    return NULL;
}

static void forks_amid_control(void **state)
{
    aclprofConfig *config = tx_config();
    char *mine = below(*state, "mine");
    char *theirs = below(*state, "theirs");
    void *failed = NULL;
    pthread_t thread;

    assert_ok(init_at(mine));
    assert_int_equal(pthread_create(&thread, NULL, start_and_stop, config), 0);
    for (int i = 0; i < SCALED(150, 30); i++) {
        pid_t pid = fork_checked();

        if (pid == 0) {
            child_check(aclprofMark(NULL) == ACL_ERROR_PROF_NOT_RUN);
            child_check(aclprofStop(config) == ACL_SUCCESS);
            if (i % 3 != 0) {
                child_check(set_text(ACL_PROF_PATH, theirs) == ACL_SUCCESS);
                child_window(config, "child");
            }
            if (i % 2 != 0) {
                exit(0);
            }
            _exit(0);
        }
        assert_int_equal(process_end(pid), 0);
        usleep(i % 7 * 300);
    }
    atomic_store(&controller_end, true);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    assert_ok(aclprofFinalize());
    {
        paths found = prof_paths_exactly(mine, controller_turns);

        for (size_t i = 0; i < found.count; i++) {
            read_back *back = open_finished(found.list[i]);

            assert_int_equal(back->count, 1);
            assert_int_equal(read_back_count(back, "controlled"), 1);
            read_back_close(back);
        }
        paths_free(&found);
        found = prof_paths_exactly(theirs, SCALED(100, 20));
        for (size_t i = 0; i < found.count; i++) {
            check_work(found.list[i], "child", 0);
        }
        paths_free(&found);
    }
    free(mine);
    free(theirs);
}

static void amid_control_calls(void **state)
{
#ifdef AP_SANITIZED
    skip(); /* their allocator may be locked for ever in the child of a thread that allocates */
#endif
    role_run("forks_amid_control", *state);
}

/* ---- a daemon ---- */

/* The parent leaves by _exit in the midst of its capture, the child goes on with its own. */
static void becomes_daemon(void **state)
{
    aclprofConfig *config = tx_config();

    assert_ok(init_at(*state));
    assert_ok(aclprofStart(config));
    work("before");
    settle();
    assert_int_equal(daemon(1, 1), 0);
    alarm(CHILD_SECONDS);
    child_check(aclprofMark(NULL) == ACL_ERROR_PROF_NOT_RUN);
    child_window(config, "after");
    _exit(0); /* its end of the pipe tells the test */
}

static void daemons(void **state)
{
    read_back *back = NULL;
    char *before = NULL;
    int ends[2];
    char byte = 0;
    pid_t pid = 0;
    paths found;

    assert_int_equal(pipe(ends), 0);
    pid = role_run("becomes_daemon", *state);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    before = prof_of(*state, pid);
    back = read_back_open(before);
    assert_non_null(back);
    /* not RUNNING: the child does not keep it */
    assert_int_equal(ap__reader_state_of(back->reader), AP_READER_UNFINISHED);
    assert_int_equal(back->count, WORK_EVENTS);
    check_work_in(back, "before");
    read_back_close(back);
    found = prof_paths_exactly(*state, 2);
    check_work(found.list[strcmp(found.list[0], before) == 0], "after", 0);
    paths_free(&found);
    free(before);
}

static const role roles[] = {
    ROLE(forks_after_init), ROLE(forks_while_running), ROLE(forks_often),   ROLE(inherits),
    ROLE(has_grandchildren), ROLE(starts_programs),    ROLE(clones),        ROLE(clone_goes_on),
    ROLE(forks_amid_control), ROLE(becomes_daemon),
};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(after_init),
        SCRATCH_TEST(while_running),
        SCRATCH_TEST(amid_many_threads),
        SCRATCH_TEST(inheritance),
        SCRATCH_TEST(grandchildren),
        SCRATCH_TEST(started_programs),
        SCRATCH_TEST(bare_clones),
        SCRATCH_TEST(amid_control_calls),
        SCRATCH_TEST(daemons),
    };

    if (UNDER_TSAN) {
        print_message("TSan does not support threads in the children of threaded processes\n");
        return 77;
    }
    if (argc == 3) {
        return role_main(roles, sizeof(roles) / sizeof(roles[0]), argv);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
