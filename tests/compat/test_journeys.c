/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which real programs use the control calls, each as a program of its own. */
#define _GNU_SOURCE
#include "journey.h"

#include <limits.h>

static void marks(const char *prefix, unsigned count)
{
    void *stamp = aclprofCreateStamp();

    for (unsigned i = 0; i < count; i++) {
        char text[64];

        snprintf(text, sizeof(text), "%s%u", prefix, i);
        assert_ok(aclprofSetStampTraceMessage(stamp, text, (uint32_t)strlen(text)));
        assert_ok(aclprofMark(stamp));
    }
    aclprofDestroyStamp(stamp);
}

/* ---- once, and several times with new paths ---- */

static void once(void **state)
{
    aclprofConfig *config = NULL;

    assert_ok(init_at(*state));
    config = tx_config();
    assert_non_null(config);
    assert_ok(set_text(ACL_PROF_STORAGE_LIMIT, "500MB"));
    window(config, "once");
    assert_ok(aclprofDestroyConfig(config));
    assert_ok(aclprofFinalize());
}

static void in_the_documented_order(void **state)
{
    pid_t pid = role_run("once", *state);
    paths found = prof_paths_exactly(*state, 1);

    check_work(found.list[0], "once", pid);
    check_sample(found.list[0], "storageLimit", "500MB");
    check_sample(found.list[0], "msproftx", "on");
    check_sample(found.list[0], "result_dir", *state);
    paths_free(&found);
}

#define ROUNDS 4u

static void rounds(void **state)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        char number[16];
        char *dir = NULL;
        aclprofConfig *config = NULL;

        snprintf(number, sizeof(number), "round%u", i);
        dir = below(*state, number);
        assert_ok(init_at(dir));
        config = tx_config();
        window(config, number);
        assert_ok(aclprofDestroyConfig(config));
        assert_ok(aclprofFinalize());
        free(dir);
    }
}

static void again_with_new_paths(void **state)
{
    pid_t pid = role_run("rounds", *state);

    for (unsigned i = 0; i < ROUNDS; i++) {
        char number[16];
        char *dir = NULL;
        paths found;

        snprintf(number, sizeof(number), "round%u", i);
        dir = below(*state, number);
        found = prof_paths_exactly(dir, 1);
        check_work(found.list[0], number, pid);
        paths_free(&found);
        free(dir);
    }
}

/* ---- the order of things ---- */

static void config_first(void **state)
{
    aclprofConfig *config = tx_config();

    assert_non_null(config);
    assert_ok(init_at(*state));
    window(config, "first");
    assert_ok(aclprofFinalize());
    assert_ok(aclprofDestroyConfig(config)); /* outlives Finalize */
}

static void config_before_init(void **state)
{
    pid_t pid = role_run("config_first", *state);

    check_work(*state, "first", pid);
}

static void settings(void **state)
{
    aclprofConfig *config = NULL;

    assert_ok(init_at(*state));
    assert_ok(set_text(ACL_PROF_HOST_SYS, "mem,cpu"));
    config = tx_config();
    assert_ok(set_text(ACL_PROF_HOST_SYS_USAGE, "mem"));
    assert_ok(aclprofStart(config));
    assert_ok(set_text(ACL_PROF_STORAGE_LIMIT, "300MB")); /* not for what runs */
    work("one");
    assert_ok(aclprofStop(config));
    assert_ok(set_text(ACL_PROF_HOST_SYS, "disk"));
    window(config, "two");
    assert_ok(aclprofFinalize());
    assert_ok(init_at(*state));
    window(config, "three");
    assert_ok(aclprofDestroyConfig(config));
    assert_ok(aclprofFinalize());
}

static void settings_at_any_time(void **state)
{
    static const struct {
        const char *name;
        const char *host_sys;
        const char *usage;
        const char *limit;
    } want[] = {{"one", "cpu,mem", "mem", ""},
                {"two", "disk", "mem", "300MB"},
                {"three", "", "", ""}}; /* Finalize resets */
    paths found;

    role_run("settings", *state);
    found = prof_paths_exactly(*state, 3);
    for (size_t i = 0; i < 3; i++) {
        check_work(found.list[i], want[i].name, 0);
        check_sample(found.list[i], "host_sys", want[i].host_sys);
        check_sample(found.list[i], "hostSysUsage", want[i].usage);
        check_sample(found.list[i], "storageLimit", want[i].limit);
    }
    paths_free(&found);
}

static void windows(void **state)
{
    char *dir = below(*state, "tree/of/results");
    aclprofConfig *config = tx_config();

    assert_ok(init_at(dir));
    for (unsigned i = 1; i <= ROUNDS; i++) {
        char number[16];
        char prefix[24];
        paths found;

        snprintf(number, sizeof(number), "window%u", i);
        window(config, number);
        found = prof_paths_exactly(dir, 1);
        check_work(found.list[0], number, getpid());
        snprintf(prefix, sizeof(prefix), "PROF_%06u_", i); /* counts Starts */
        assert_non_null(strstr(found.list[0], prefix));
        paths_free(&found);
        if (i != ROUNDS) {
            char *tree = below(*state, "tree");

            scratch_drop(tree);
            free(tree);
        }
    }
    assert_ok(aclprofDestroyConfig(config));
    assert_ok(aclprofFinalize());
    free(dir);
}

static void windows_with_the_tree_deleted(void **state)
{
    char *dir = below(*state, "tree/of/results");

    role_run("windows", *state);
    check_work(dir, "window4", 0);
    free(dir);
}

/* ---- calls that are left out ---- */

static void leaves_config(void **state)
{
    for (unsigned i = 0; i < 3; i++) {
        assert_ok(init_at(*state));
        window(tx_config(), "left");
        assert_ok(aclprofFinalize());
    }
}

static void without_destroy(void **state)
{
    paths found;

    role_run("leaves_config", *state);
    found = prof_paths_exactly(*state, 3);
    for (size_t i = 0; i < 3; i++) {
        check_work(found.list[i], "left", 0);
    }
    paths_free(&found);
}

static void leaves_open(void **state)
{
    aclprofConfig *config = tx_config();

    assert_ok(init_at(*state));
    window(config, "open");
    exit(0);
}

static void leaves_running(void **state)
{
    assert_ok(init_at(*state));
    assert_ok(aclprofStart(tx_config()));
    work("running");
    exit(0);
}

static void without_finalize(void **state)
{
    char *stopped = below(*state, "stopped");
    char *running = below(*state, "running");

    check_work((role_run("leaves_open", stopped), stopped), "open", 0);
    check_work((role_run("leaves_running", running), running), "running", 0);
    free(stopped);
    free(running);
}

static aclprofConfig *late_config;
static void *late_stamp;

static void at_exit(void)
{
    if (late_config != NULL && (aclprofMark(late_stamp) != ACL_SUCCESS ||
                                aclprofStop(late_config) != ACL_SUCCESS ||
                                aclprofDestroyConfig(late_config) != ACL_SUCCESS)) {
        _exit(9);
    }
}

/* After main and its atexit handlers, before the library's own end. */
__attribute__((destructor)) static void at_unload(void)
{
    if (late_stamp != NULL && aclprofMark(late_stamp) != ACL_ERROR_PROF_NOT_RUN) {
        _exit(10);
    }
    if (late_stamp != NULL) {
        aclprofDestroyStamp(late_stamp);
        (void)aclprofFinalize();
    }
}

static void destroys_late(void **state)
{
    aclprofConfig *early = tx_config();

    assert_ok(init_at(*state));
    window(early, "early");
    assert_ok(aclprofFinalize());
    assert_ok(aclprofDestroyConfig(early));
    assert_int_equal(aclprofDestroyConfig(early), ACL_ERROR_INVALID_PARAM);
    assert_ok(init_at(*state));
    late_config = tx_config();
    assert_ok(aclprofStart(late_config));
    late_stamp = stamp_of("late");
    assert_non_null(late_stamp);
    assert_int_equal(atexit(at_exit), 0);
    exit(0);
}

static void destroy_after_finalize_and_at_exit(void **state)
{
    paths found;
    read_back *back = NULL;

    role_run("destroys_late", *state);
    found = prof_paths_exactly(*state, 2);
    check_work(found.list[0], "early", 0);
    back = open_finished(found.list[1]);
    assert_int_equal(back->count, 1);
    assert_int_equal(read_back_count(back, "late"), 1);
    read_back_close(back);
    paths_free(&found);
}

/* ---- many processes ---- */

#define CROWD 8u

/* Waits for the others. */
static void gate(void)
{
    const char *fd = getenv("JOURNEY_GATE");
    char byte = 0;

    assert_non_null(fd);
    assert_int_equal(read(atoi(fd), &byte, 1), 0);
}

static void one_of_many(void **state)
{
    aclprofConfig *config = tx_config();

    assert_int_equal(chdir(*state), 0);
    gate();
    assert_ok(init_at("same/relative"));
    assert_ok(aclprofStart(config));
    marks("mine", 100);
    assert_ok(aclprofStop(config));
    assert_ok(aclprofDestroyConfig(config));
    assert_ok(aclprofFinalize());
}

static void processes_in_the_same_second(void **state)
{
    char *dir = below(*state, "same/relative");
    pid_t pids[CROWD];
    char number[16];
    int ends[2];
    paths found;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETFD, FD_CLOEXEC), 0);
    snprintf(number, sizeof(number), "%d", ends[0]);
    setenv("JOURNEY_GATE", number, 1);
    for (size_t i = 0; i < CROWD; i++) {
        pids[i] = role_start("one_of_many", *state);
    }
    usleep(50000);
    close(ends[1]);
    for (size_t i = 0; i < CROWD; i++) {
        assert_int_equal(process_end(pids[i]), 0);
    }
    close(ends[0]);
    unsetenv("JOURNEY_GATE");
    found = prof_paths_exactly(dir, CROWD);
    for (size_t i = 0; i < CROWD; i++) {
        read_back *back = open_finished(found.list[i]);
        pid_t owner = (pid_t)ap__reader_meta(back->reader)->pid;
        size_t at = 0;

        snprintf(number, sizeof(number), "_%08d", owner);
        assert_non_null(strstr(found.list[i], number));
        while (at < CROWD && pids[at] != owner) {
            at++;
        }
        assert_true(at < CROWD);
        pids[at] = -1; /* each has one */
        assert_int_equal(back->count, 100);
        for (size_t k = 0; k < 100; k++) {
            snprintf(number, sizeof(number), "mine%zu", k);
            assert_string_equal(back->stamps[k].message, number);
            assert_int_equal(back->stamps[k].pid, owner);
        }
        read_back_close(back);
    }
    paths_free(&found);
    free(dir);
}

/* ---- dlopen ---- */

static void by_dlopen(void **state)
{
    static const char *const modes[] = {"finalize", "stop", "leave"};

    for (size_t i = 0; i < 3; i++) {
        char *dir = below(*state, modes[i]);
        pid_t pid = fork();
        read_back *back = NULL;

        if (pid == 0) {
            execl(AP_TEST_BINARY_DIR "/dlopen_user", "dlopen_user", AP_TEST_LIB_PATH, dir, modes[i],
                  (char *)NULL);
            _exit(126);
        }
        assert_int_equal(process_end(pid), 0);
        back = open_finished(dir);
        assert_int_equal(back->count, 4); /* before the dlclose and after it */
        assert_int_equal(read_back_count(back, "from dlopen"), 4);
        read_back_close(back);
        free(dir);
    }
}

/* ---- Init twice, no devices ---- */

static void inits_twice(void **state)
{
    char *first = below(*state, "first");
    char *second = below(*state, "second");
    aclprofConfig *config = tx_config();

    assert_ok(init_at(first));
    assert_refused(init_at(second), ACL_ERROR_REPEAT_INITIALIZE, "EK0002");
    window(config, "one");
    assert_refused(init_at(second), ACL_ERROR_REPEAT_INITIALIZE, "aclprofFinalize");
    assert_ok(aclprofStart(config));
    assert_refused(init_at(second), ACL_ERROR_REPEAT_INITIALIZE, "EK0002");
    work("two");
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
    assert_ok(init_at(second));
    window(config, "three");
    assert_ok(aclprofFinalize());
    free(first);
    free(second);
}

static void init_without_finalize(void **state)
{
    char *first = below(*state, "first");
    char *second = below(*state, "second");
    paths found;

    role_run("inits_twice", *state);
    found = prof_paths_exactly(first, 2);
    check_work(found.list[0], "one", 0);
    check_work(found.list[1], "two", 0);
    check_work(second, "three", 0);
    paths_free(&found);
    free(first);
    free(second);
}

static void no_devices(void **state)
{
    uint32_t unused[2] = {7, 7};
    aclprofConfig *config = NULL;

    assert_ok(init_at(*state));
    config = aclprofCreateConfig(unused, 0, ACL_AICORE_PIPE_UTILIZATION, NULL,
                                 ACL_PROF_MSPROFTX | ACL_PROF_ACL_API);
    assert_non_null(config);
    window(config, "none");
    assert_ok(aclprofDestroyConfig(config));
    assert_null(aclprofCreateConfig(unused, 1, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX));
    assert_non_null(strstr(aclprofGetLastError(), "EK0001"));
    assert_ok(aclprofFinalize());
}

static void stamps_without_devices(void **state)
{
    paths found;
    char *host = NULL;

    role_run("no_devices", *state);
    found = prof_paths_exactly(*state, 1);
    check_work(found.list[0], "none", 0);
    host = below(found.list[0], "host");
    assert_true(there_is(host));
    free(host);
    host = below(found.list[0], "device_7");
    assert_false(there_is(host));
    free(host);
    paths_free(&found);
}

/* ---- paths ---- */

static void into_shared_memory(void **state)
{
    char dir[] = "/dev/shm/aclprof-test-XXXXXX";
    pid_t pid = 0;

    (void)state;
    if (mkdtemp(dir) == NULL) {
        skip();
    }
    pid = role_run("once", dir);
    check_work(dir, "once", pid);
    scratch_drop(dir);
}

static void relative_paths(void **state)
{
    /* as given, and where it is */
    static const char *const cases[][2] = {
        {"plain", "plain"},           {"./dotted", "dotted"},
        {"trailing///", "trailing"},  {"a//b/./c/d", "a/b/c/d"},
        {"a/../up", "up"},            {"~/x", "~/x"},
        {"with space", "with space"}, {"naïve-结果", "naïve-结果"},
        {"link/below", "target/below"}, {"#(x)*?,@=", "#(x)*?,@="}};
    const char *root = *state;
    aclprofConfig *config = tx_config();

    assert_int_equal(chdir(root), 0);
    assert_int_equal(mkdir("target", 0755), 0);
    assert_int_equal(symlink("target", "link"), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *dir = below(root, cases[i][1]);

        assert_ok(init_at(cases[i][0]));
        assert_int_equal(chdir("/"), 0); /* the directory of Init counts */
        window(config, "rel");
        assert_ok(aclprofFinalize());
        assert_int_equal(chdir(root), 0);
        check_work(dir, "rel", 0);
        free(dir);
    }
    assert_ok(aclprofDestroyConfig(config));
}

static void current_directory(void **state)
{
    static const char *const here[] = {"./", ".", ".//."};
    aclprofConfig *config = tx_config();

    for (size_t i = 0; i < 3; i++) {
        char number[16];
        char *dir = NULL;

        snprintf(number, sizeof(number), "cwd%zu", i);
        dir = below(*state, number);
        assert_int_equal(mkdir(dir, 0755), 0);
        assert_int_equal(chdir(dir), 0);
        assert_ok(init_at(here[i]));
        window(config, "here");
        assert_ok(aclprofFinalize());
        free(dir);
    }
}

/* `bytes` in all, in components of at most 100. */
static char *deep_path(const char *root, size_t bytes)
{
    size_t used = strlen(root);
    char *path = malloc(bytes + 1);

    assert_non_null(path);
    memcpy(path, root, used);
    while (used < bytes) {
        size_t left = bytes - used;
        size_t n = left > 202 ? 100 : left > 101 ? left / 2 : left;

        path[used] = '/';
        memset(path + used + 1, 'd', n - 1);
        used += n;
    }
    path[used] = '\0';
    return path;
}

static void deep_paths(void **state)
{
    aclprofConfig *config = tx_config();
    char *path = deep_path(*state, 3000);

    assert_int_equal(strlen(path), 3000);
    assert_ok(init_at(path));
    window(config, "deep");
    assert_ok(aclprofFinalize());
    check_work(path, "deep", 0);
    free(path);

    path = deep_path(*state, 4095); /* names below it cannot be said any more */
    assert_ok(init_at(path));
    window(config, "deepest");
    assert_ok(aclprofFinalize());
    assert_int_equal(chdir(*state), 0);
    for (char *part = strtok(path + strlen(*state), "/"); part != NULL; part = strtok(NULL, "/")) {
        assert_int_equal(chdir(part), 0);
    }
    check_work(".", "deepest", 0);
    free(path);

    path = deep_path(*state, 4096);
    assert_refused(init_at(path), ACL_ERROR_INVALID_PARAM, "4095");
    free(path);
}

static void paths_of_all_kinds(void **state)
{
    role_run("relative_paths", *state);
    role_run("current_directory", *state);
    for (unsigned i = 0; i < 3; i++) {
        char number[16];
        char *dir = NULL;
        paths found;

        snprintf(number, sizeof(number), "cwd%u", i);
        dir = below(*state, number);
        found = prof_paths_exactly(dir, 1);
        check_work(found.list[0], "here", 0);
        paths_free(&found);
        free(dir);
    }
    role_run("deep_paths", *state);
}

static void refuses_paths(void **state)
{
    static const char *const bad[] = {"a;b", "a$b", "a'b", "a\nb", "a|b", "a&b", "a%b", "a\\b",
                                      "a<b", "a>b", "a\"b", "a`b", "a\tb", "$(x)"};
    char *file = below(*state, "file");
    char *under = below(file, "x");
    char *loop = below(*state, "loop");
    char *named = NULL;
    char name[301];
    int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    close(fd);
    memset(name, 'n', 300);
    name[300] = '\0';
    named = below(*state, name);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char *path = below(*state, bad[i]);

        assert_refused(init_at(path), ACL_ERROR_INVALID_FILE, "EK0001");
        assert_false(there_is(path));
        free(path);
    }
    assert_refused(init_at(file), ACL_ERROR_INVALID_FILE, "is not a directory");
    assert_refused(init_at(under), ACL_ERROR_INVALID_FILE, "is not a directory");
    assert_refused(init_at(named), ACL_ERROR_INVALID_FILE, "300 bytes");
    assert_int_equal(symlink(loop, loop), 0);
    assert_refused(init_at(loop), ACL_ERROR_INVALID_FILE, "EK0001");
    assert_refused(aclprofInit(NULL, 3), ACL_ERROR_INVALID_PARAM, "profilerResultPath");
    assert_refused(aclprofInit(*state, 0), ACL_ERROR_INVALID_PARAM, "length");
    assert_refused(aclprofInit(*state, strlen(*state) - 1), ACL_ERROR_INVALID_PARAM, "strlen");
    assert_refused(aclprofInit(*state, strlen(*state) + 1), ACL_ERROR_INVALID_PARAM, "strlen");
    assert_ok(init_at(*state)); /* none of them has opened it */
    assert_ok(aclprofFinalize());
    free(file);
    free(under);
    free(loop);
    free(named);
}

static void paths_that_are_refused(void **state)
{
    paths found;

    role_run("refuses_paths", *state);
    found = prof_paths(*state);
    assert_int_equal(found.count, 0);
}

static const role roles[] = {
    ROLE(once), ROLE(rounds), ROLE(config_first), ROLE(settings), ROLE(windows),
    ROLE(leaves_config), ROLE(leaves_open), ROLE(leaves_running), ROLE(destroys_late),
    ROLE(one_of_many), ROLE(inits_twice), ROLE(no_devices), ROLE(relative_paths),
    ROLE(current_directory), ROLE(deep_paths), ROLE(refuses_paths),
};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(in_the_documented_order),
        SCRATCH_TEST(again_with_new_paths),
        SCRATCH_TEST(config_before_init),
        SCRATCH_TEST(settings_at_any_time),
        SCRATCH_TEST(windows_with_the_tree_deleted),
        SCRATCH_TEST(without_destroy),
        SCRATCH_TEST(without_finalize),
        SCRATCH_TEST(destroy_after_finalize_and_at_exit),
        SCRATCH_TEST(processes_in_the_same_second),
        SCRATCH_TEST(by_dlopen),
        SCRATCH_TEST(init_without_finalize),
        SCRATCH_TEST(stamps_without_devices),
        SCRATCH_TEST(into_shared_memory),
        SCRATCH_TEST(paths_of_all_kinds),
        SCRATCH_TEST(paths_that_are_refused),
    };

    if (argc == 3) {
        return role_main(roles, sizeof(roles) / sizeof(roles[0]), argv);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
