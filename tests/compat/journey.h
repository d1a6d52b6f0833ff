/* SPDX-License-Identifier: Apache-2.0 */
/* For journeys: programs that use the library like real ones do, each in a process of its own, and
 * what their directories must hold. Include it first, after #define _GNU_SOURCE. */
#ifndef AP_TESTS_JOURNEY_H_
#define AP_TESTS_JOURNEY_H_

#include "tests/stress/harness.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cjson/cJSON.h>

/* ---- programs: this executable, started again with the name of a role and a directory ---- */

/* In a role cmocka's assertions may be used; its state is the directory. */
typedef struct role {
    const char *name;
    CMUnitTestFunction run;
} role;

#define ROLE(function) {#function, function}

static inline void hush(int fd)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    dup2(null, fd);
    close(null);
}

static CMUnitTestFunction role_now;

/* What follows a good end is cmocka's summary only. */
static inline void role_run_now(void **state)
{
    role_now(state);
    hush(STDERR_FILENO);
}

/* For main(): runs the role that argv[1] names. */
static inline int role_main(const role *roles, size_t count, char **argv)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(roles[i].name, argv[1]) == 0) {
            const struct CMUnitTest test[] = {{argv[1], role_run_now, NULL, NULL, argv[2]}};
            int saved = dup(STDERR_FILENO);
            int failed = 0;

            role_now = roles[i].run;
            failed = cmocka_run_group_tests_name(argv[1], test, NULL, NULL);
            dup2(saved, STDERR_FILENO); /* for what sanitizers say at exit */
            close(saved);
            return failed == 0 ? 0 : 1;
        }
    }
    return 127;
}

static inline pid_t role_start(const char *name, const char *dir)
{
    pid_t pid = fork();

    if (pid == 0) {
        hush(STDOUT_FILENO); /* cmocka's report; failures go to stderr */
        execl("/proc/self/exe", program_invocation_name, name, dir, (char *)NULL);
        _exit(126);
    }
    assert_true(pid > 0);
    return pid;
}

/* Exit code, or -1 when it died by a signal. */
static inline int process_end(pid_t pid)
{
    int status = 0;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status)) {
        print_error("died: %s\n", strsignal(WTERMSIG(status)));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Runs a role to its end, which must be a good one; returns the pid it had. */
static inline pid_t role_run(const char *name, const char *dir)
{
    pid_t pid = role_start(name, dir);
    int code = process_end(pid);

    if (code != 0) {
        fail_msg("%s: exit code %d", name, code);
    }
    return pid;
}

/* ---- what programs do ---- */

#define assert_ok(call)                                                    \
    do {                                                                   \
        aclError code_ = (call);                                           \
        if (code_ != ACL_SUCCESS) {                                        \
            fail_msg("%s: %d: %s", #call, code_, aclprofGetLastError());   \
        }                                                                  \
    } while (0)

/* Fails with this code, and this is in the text. */
#define assert_refused(call, code, part)                                                      \
    do {                                                                                      \
        assert_int_equal(call, code);                                                         \
        if (strstr(aclprofGetLastError(), part) == NULL) {                                    \
            fail_msg("%s: '%s' is not in '%s'", #call, part, aclprofGetLastError());          \
        }                                                                                     \
    } while (0)

static inline aclError init_at(const char *dir)
{
    return aclprofInit(dir, strlen(dir));
}

static inline aclError set_text(aclprofConfigType type, const char *value)
{
    return aclprofSetConfig(type, value, strlen(value));
}

/* 3 marks, 2 pushes one inside the other, 1 range around them; messages begin with `name`. */
#define WORK_EVENTS 6u

static inline void work(const char *name)
{
    static const char *const parts[] = {"range", "outer", "inner", "mark"};
    void *stamps[4];
    uint32_t id = 0;

    for (size_t i = 0; i < 4; i++) {
        char text[64];

        snprintf(text, sizeof(text), "%s-%s", name, parts[i]);
        stamps[i] = stamp_of(text);
        if (stamps[i] == NULL) {
            fail_msg("no stamp: %s", aclprofGetLastError());
        }
    }
    assert_ok(aclprofRangeStart(stamps[0], &id));
    assert_ok(aclprofMark(stamps[3]));
    assert_ok(aclprofPush(stamps[1]));
    assert_ok(aclprofMark(stamps[3]));
    assert_ok(aclprofPush(stamps[2]));
    assert_ok(aclprofMark(stamps[3]));
    assert_ok(aclprofPop());
    assert_ok(aclprofPop());
    assert_ok(aclprofRangeStop(id));
    for (size_t i = 0; i < 4; i++) {
        aclprofDestroyStamp(stamps[i]);
    }
}

/* Start, work, Stop. */
static inline void window(const aclprofConfig *config, const char *name)
{
    assert_ok(aclprofStart(config));
    work(name);
    assert_ok(aclprofStop(config));
}

/* ---- what their directories hold ---- */

/* Of a finished run without anything to complain of. */
static inline read_back *open_finished(const char *dir)
{
    read_back *back = read_back_open(dir);

    assert_non_null(back);
    assert_int_equal(ap__reader_state_of(back->reader), AP_READER_FINISHED);
    assert_true(read_back_account_balances(back));
    if (ap__reader_note(back->reader, 0) != NULL) {
        read_back_print_notes(back);
        fail_msg("the reader has notes on %s", dir);
    }
    return back;
}

static inline const ap__stamp_record *only_one(const read_back *back, const char *name,
                                               const char *part, uint32_t event)
{
    char text[64];

    snprintf(text, sizeof(text), "%s-%s", name, part);
    assert_int_equal(read_back_count(back, text), 1);
    assert_int_equal(read_back_count_event(back, text, event), 1);
    return read_back_find(back, text, 0);
}

/* The six events of work(name), as they were nested. */
static inline void check_work_in(const read_back *back, const char *name)
{
    const ap__stamp_record *range = only_one(back, name, "range", AP_TX_RANGE);
    const ap__stamp_record *outer = only_one(back, name, "outer", AP_TX_PUSH_POP);
    const ap__stamp_record *inner = only_one(back, name, "inner", AP_TX_PUSH_POP);
    const ap__stamp_record *mark = NULL;
    char text[64];
    uint64_t at[3];

    snprintf(text, sizeof(text), "%s-mark", name);
    assert_int_equal(read_back_count_event(back, text, AP_TX_MARK), 3);
    for (size_t i = 0; i < 3; i++) {
        mark = read_back_find(back, text, i);
        assert_int_equal(mark->start_ns, mark->end_ns);
        at[i] = mark->start_ns;
    }
    assert_true(range->start_ns <= at[0] && at[0] <= outer->start_ns);
    assert_true(outer->start_ns <= at[1] && at[1] <= inner->start_ns);
    assert_true(inner->start_ns <= at[2] && at[2] <= inner->end_ns);
    assert_true(inner->end_ns <= outer->end_ns && outer->end_ns <= range->end_ns);
    assert_true(range->tid == mark->tid && outer->tid == mark->tid && inner->tid == mark->tid);
}

/* A finished run of the process `pid` (0: any) with the events of work(name) and no other. */
static inline void check_work(const char *dir, const char *name, pid_t pid)
{
    read_back *back = open_finished(dir);

    assert_int_equal(back->count, WORK_EVENTS);
    check_work_in(back, name);
    for (size_t i = 0; pid != 0 && i < back->count; i++) {
        assert_int_equal(back->stamps[i].pid, pid);
    }
    assert_true(pid == 0 || ap__reader_meta(back->reader)->pid == (uint32_t)pid);
    read_back_close(back);
}

/* A finished run without events. */
static inline void check_empty(const char *dir)
{
    read_back *back = open_finished(dir);

    assert_int_equal(back->count, 0);
    read_back_close(back);
}

/* Exactly `count` PROF_* directories lie in `root`, and nothing else does. */
static inline paths prof_paths_exactly(const char *root, size_t count)
{
    paths found = prof_paths(root);
    DIR *dir = opendir(root);
    size_t entries = 0;

    assert_non_null(dir);
    while (readdir(dir) != NULL) {
        entries++;
    }
    closedir(dir);
    assert_int_equal(found.count, count);
    assert_int_equal(entries - 2, count);
    return found;
}

/* Text of a file, to be freed; NULL: there is none. */
static inline char *file_text(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    char *text = NULL;

    if (fd < 0) {
        return NULL;
    }
    assert_int_equal(fstat(fd, &st), 0);
    text = calloc(1, (size_t)st.st_size + 1);
    assert_non_null(text);
    assert_int_equal(read(fd, text, (size_t)st.st_size), st.st_size);
    close(fd);
    return text;
}

static inline char *file_below(const char *prof, const char *name)
{
    char *path = NULL;
    char *text = NULL;

    assert_true(asprintf(&path, "%s/%s", prof, name) > 0);
    text = file_text(path);
    free(path);
    return text;
}

static inline bool there_is(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

/* "<dir>/<name>", to be freed. */
static inline char *below(const char *dir, const char *name)
{
    char *path = NULL;

    assert_true(asprintf(&path, "%s/%s", dir, name) > 0);
    return path;
}

/* The value of a text in host/sample.json. */
static inline void check_sample(const char *prof, const char *key, const char *value)
{
    char *text = file_below(prof, "host/sample.json");
    cJSON *json = cJSON_Parse(text);
    const char *found = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));

    if (found == NULL || strcmp(found, value) != 0) {
        fail_msg("%s is '%s', not '%s'", key, found != NULL ? found : "(none)", value);
    }
    cJSON_Delete(json);
    free(text);
}

#endif
