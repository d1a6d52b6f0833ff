/* SPDX-License-Identifier: Apache-2.0 */
/* What went wrong for users of such libraries in public, control calls: each a program here. */
#define _GNU_SOURCE
#include "journey.h"

#include <sched.h>
#include <sys/mount.h>

#define STATS_AND_TX (ACL_PROF_MSPROFTX | ACL_PROF_API_STATS) /* the latter replaces the former */

/* ---- a path without Init ---- */

static void path_by_setting(void **state)
{
    char *other = below(*state, "other");
    char *dir = below(*state, "set");
    aclprofConfig *config = tx_config();

    setenv("ASCEND_WORK_PATH", other, 1);
    assert_ok(set_text(ACL_PROF_PATH, dir));
    window(config, "set");
    assert_false(there_is(other));
    assert_ok(set_text(ACL_PROF_PATH, other)); /* after Init: for the next Start */
    window(config, "changed");
    assert_ok(aclprofDestroyConfig(config));
    free(other);
    free(dir);
}

static void path_by_environment(void **state)
{
    char *dir = below(*state, "env");

    setenv("ASCEND_WORK_PATH", dir, 1);
    window(tx_config(), "env");
    free(dir);
}

static void path_by_cwd(void **state)
{
    char *dir = below(*state, "cwd");

    assert_int_equal(mkdir(dir, 0755), 0);
    assert_int_equal(chdir(dir), 0);
    window(tx_config(), "cwd");
    free(dir);
}

static void start_without_init(void **state)
{
    static const char *const where[][2] = {
        {"set", "set"}, {"other", "changed"}, {"env", "env"}, {"cwd", "cwd"}};

    role_run("path_by_setting", *state);
    role_run("path_by_environment", *state);
    role_run("path_by_cwd", *state);
    for (size_t i = 0; i < 4; i++) {
        char *dir = below(*state, where[i][0]);
        paths found = prof_paths_exactly(dir, 1);

        check_work(found.list[0], where[i][1], 0);
        paths_free(&found);
        free(dir);
    }
}

/* ---- directories without a capture ---- */

static void nothing_yet(void **state)
{
    char *dir = below(*state, "new/deep");
    char *top = below(*state, "new");
    aclprofConfig *config = tx_config();
    paths found;

    assert_ok(init_at(dir));
    assert_ok(set_text(ACL_PROF_STORAGE_LIMIT, "200MB"));
    assert_ok(set_text(ACL_PROF_PATH, dir));
    assert_false(there_is(top));
    assert_ok(aclprofFinalize());
    assert_false(there_is(top));

    assert_ok(init_at(dir));
    assert_ok(aclprofWarmup(config));
    found = prof_paths_exactly(dir, 1);
    paths_free(&found);
    work("warm"); /* succeeds and is discarded */
    assert_ok(aclprofFinalize());

    assert_ok(init_at(dir));
    assert_ok(aclprofWarmup(config));
    work("warm");
    assert_ok(aclprofStart(config));
    work("hot");
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
    free(dir);
    free(top);
}

static void no_directory_before_start(void **state)
{
    char *dir = below(*state, "new/deep");
    paths found;

    role_run("nothing_yet", *state);
    found = prof_paths_exactly(dir, 2);
    check_empty(found.list[0]);
    check_work(found.list[1], "hot", 0);
    paths_free(&found);
    free(dir);
}

/* ---- Start twice, Stop without Start ---- */

static void starts_twice(void **state)
{
    aclprofConfig *config = tx_config();
    aclprofConfig *equal = tx_config();
    aclprofConfig *other = aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL,
                                               ACL_PROF_MSPROFTX | ACL_PROF_ACL_API);

    assert_ok(init_at(*state));
    assert_ok(aclprofStart(config));
    assert_ok(aclprofStart(config));
    assert_ok(aclprofStart(equal));
    assert_refused(aclprofStart(other), ACL_ERROR_INVALID_PROFILING_CONFIG, "the host");
    assert_refused(aclprofStart(other), ACL_ERROR_INVALID_PROFILING_CONFIG, "aclprofStop");
    assert_refused(aclprofStop(other), ACL_ERROR_INVALID_PROFILING_CONFIG, "goes on");
    work("one");
    assert_ok(aclprofDestroyConfig(config)); /* while it runs */
    assert_refused(aclprofStop(config), ACL_ERROR_INVALID_PARAM, "destroyed");
    assert_refused(aclprofDestroyConfig(config), ACL_ERROR_INVALID_PARAM, "EK0001");
    assert_ok(aclprofStop(equal));
    assert_ok(aclprofStop(equal));
    window(other, "two");
    assert_ok(aclprofFinalize());
}

static void second_start(void **state)
{
    paths found;

    role_run("starts_twice", *state);
    found = prof_paths_exactly(*state, 2);
    check_work(found.list[0], "one", 0);
    check_work(found.list[1], "two", 0);
    paths_free(&found);
}

static void stops_first(void **state)
{
    aclprofConfig *config = tx_config();
    long rubbish[8] = {0};

    assert_ok(aclprofStop(config));
    assert_ok(aclprofStop(NULL));
    assert_ok(aclprofFinalize());
    assert_ok(init_at(*state));
    assert_ok(aclprofStop(config));
    assert_ok(aclprofStop(NULL));
    assert_refused(aclprofStop((aclprofConfig *)rubbish), ACL_ERROR_INVALID_PARAM,
                   "profilerConfig");
    assert_ok(aclprofDestroyConfig(config));
    assert_refused(aclprofStart(config), ACL_ERROR_INVALID_PARAM, "destroyed");
    assert_refused(aclprofStart((aclprofConfig *)rubbish), ACL_ERROR_INVALID_PARAM,
                   "profilerConfig");
    assert_refused(aclprofStart(NULL), ACL_ERROR_INVALID_PARAM, "aclprofCreateConfig");
    window(tx_config(), "then");
    assert_ok(aclprofFinalize());
    assert_ok(aclprofStop(NULL));
}

static void stop_without_start(void **state)
{
    paths found;

    role_run("stops_first", *state);
    found = prof_paths_exactly(*state, 1);
    check_work(found.list[0], "then", 0);
    paths_free(&found);
}

/* ---- used again ---- */

static void uses_again(void **state)
{
    char *other = below(*state, "b");
    char *same = below(*state, "a");
    aclprofConfig *config = tx_config();
    void *kept = NULL;
    uint32_t old = 0;
    uint32_t id = 0;

    assert_ok(init_at(same));
    assert_ok(aclprofStart(config));
    work("a1");
    kept = stamp_of("kept");
    assert_ok(aclprofPush(kept)); /* neither of them is ended in this window */
    assert_ok(aclprofRangeStart(kept, &old));
    assert_ok(aclprofStop(config));
    assert_int_equal(aclprofMark(kept), ACL_ERROR_PROF_NOT_RUN);
    assert_ok(aclprofStart(config));
    assert_int_equal(aclprofPop(), ACL_ERROR_INVALID_PARAM); /* not of this window */
    assert_int_equal(aclprofRangeStop(old), ACL_ERROR_INVALID_PARAM);
    assert_ok(aclprofRangeStart(kept, &id));
    assert_int_not_equal(id, old);
    assert_ok(aclprofRangeStop(id));
    work("a2");
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
    assert_ok(init_at(other));
    window(config, "b1");
    aclprofDestroyStamp(kept);
    assert_ok(aclprofFinalize());
    free(same);
    free(other);
}

static void windows_are_apart(void **state)
{
    char *other = below(*state, "b");
    char *same = below(*state, "a");
    read_back *back = NULL;
    paths found;

    role_run("uses_again", *state);
    found = prof_paths_exactly(same, 2);
    back = open_finished(found.list[0]);
    assert_int_equal(back->count, WORK_EVENTS);
    check_work_in(back, "a1");
    assert_int_equal(ap__reader_account_of(back->reader)->total.openAtStop, 2);
    read_back_close(back);
    back = open_finished(found.list[1]);
    assert_int_equal(back->count, WORK_EVENTS + 1);
    check_work_in(back, "a2");
    assert_int_equal(read_back_count_event(back, "kept", AP_TX_RANGE), 1);
    assert_int_equal(ap__reader_account_of(back->reader)->total.openAtStop, 0);
    read_back_close(back);
    check_work(other, "b1", 0);
    paths_free(&found);
    free(same);
    free(other);
}

/* ---- paths that cannot be written ---- */

/* An attempt that fails, with all the calls of a program that does not look at codes; then one
 * that must not suffer from it. */
static void recovers(const char *bad, aclError init, aclError start, const char *part,
                     const char *good)
{
    aclprofConfig *config = tx_config();

    assert_int_equal(init_at(bad), init);
    if (init == ACL_SUCCESS) {
        assert_int_equal(aclprofStart(config), start);
    }
    if (strstr(aclprofGetLastError(), part) == NULL) {
        fail_msg("%s: '%s' is not in '%s'", bad, part, aclprofGetLastError());
    }
    assert_null(aclprofCreateStamp());
    assert_int_equal(aclprofMark(NULL), ACL_ERROR_PROF_NOT_RUN);
    assert_int_equal(aclprofPop(), ACL_ERROR_PROF_NOT_RUN);
    assert_ok(aclprofStop(config));
    assert_ok(aclprofDestroyConfig(config));
    assert_ok(aclprofFinalize());
    config = tx_config();
    assert_ok(init_at(good));
    window(config, "good");
    assert_ok(aclprofDestroyConfig(config));
    assert_ok(aclprofFinalize());
    check_work(good, "good", 0);
    scratch_drop(good);
}

static void no_directory(void **state)
{
    char *good = below(*state, "good");
    char *bad = below(*state, "file");
    int fd = open(bad, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    close(fd);
    recovers(bad, ACL_ERROR_INVALID_FILE, 0, "is not a directory", good);
    /* a directory at Init, a file at Start */
    assert_int_equal(unlink(bad), 0);
    assert_int_equal(mkdir(bad, 0755), 0);
    assert_ok(init_at(bad));
    assert_int_equal(rmdir(bad), 0);
    close(open(bad, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    assert_refused(aclprofStart(tx_config()), ACL_ERROR_INVALID_FILE, "EK0001");
    assert_int_equal(unlink(bad), 0);
    window(tx_config(), "again"); /* the same Init */
    assert_ok(aclprofFinalize());
    check_work(bad, "again", 0);
    free(bad);
    free(good);
}

static void unwritable_path(void **state)
{
    role_run("no_directory", *state);
}

/* A namespace where mounts of ours are nobody else's; false: not permitted. */
static bool own_mounts(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool tmpfs_at(const char *dir, const char *options, unsigned long flags)
{
    return mkdir(dir, 0755) == 0 && mount("none", dir, "tmpfs", flags, options) == 0;
}

static void odd_mounts(void **state)
{
    char *good = below(*state, "good");
    char *ro = below(*state, "ro");
    char *small = below(*state, "small");
    char *below_ro = below(ro, "x/y");
    char *below_small = below(small, "x/y");
    char *x = below(small, "x");

    if (!own_mounts() || !tmpfs_at(ro, "size=32m", MS_RDONLY) || !tmpfs_at(small, "size=8m", 0)) {
        exit(77);
    }
    recovers(ro, ACL_ERROR_INVALID_FILE, 0, "cannot be written", good);
    recovers(below_ro, ACL_ERROR_INVALID_FILE, 0, "cannot be written", good);
    recovers(below_small, ACL_SUCCESS, ACL_ERROR_INVALID_FILE, "EK0204", good);
    assert_false(there_is(x)); /* what the failed Start had made */
    free(good);
    free(ro);
    free(small);
    free(below_ro);
    free(below_small);
    free(x);
}

static void read_only_and_full_volumes(void **state)
{
    int code = process_end(role_start("odd_mounts", *state));

    if (code == 77) {
        skip(); /* may not mount */
    }
    assert_int_equal(code, 0);
}

/* ---- arguments of CreateConfig ---- */

static void bad_configs(void **state)
{
    uint32_t many[65];
    const aclprofAicoreEvents *events = (const aclprofAicoreEvents *)(uintptr_t)8;
    const struct {
        uint32_t *ids;
        uint32_t count;
        const aclprofAicoreEvents *events;
        uint64_t mask;
        const char *part; /* of the text */
    } refused[] = {{NULL, 0, NULL, 0, "ACL_PROF_MSPROFTX"},
                   {NULL, 0, NULL, ACL_PROF_ACL_API, "ACL_PROF_MSPROFTX"},
                   {many, 1, NULL, ACL_PROF_MSPROFTX, "driver"},
                   {many, 64, NULL, ACL_PROF_MSPROFTX, "driver"},
                   {many, 65, NULL, ACL_PROF_MSPROFTX, "64"},
                   {NULL, 1, NULL, ACL_PROF_MSPROFTX, "deviceIdList"},
                   {many, UINT32_MAX, NULL, ACL_PROF_MSPROFTX, "deviceNums"},
                   {NULL, 0, events, ACL_PROF_MSPROFTX, "aicoreEvents"}};
    const struct {
        int metrics;
        uint64_t mask;
        aclError code;
        const char *part;
    } at_start[] = {{0xFF, ACL_PROF_MSPROFTX | 1ull << 40, 200007, "0x10000000000"},
                    {0xFF, UINT64_MAX, 200007, "unknown bits"},
                    {9, ACL_PROF_MSPROFTX, 100000, "aicoreMetrics"},
                    {0xFE, ACL_PROF_MSPROFTX, 100000, "[254]"},
                    {-1, ACL_PROF_MSPROFTX, 100000, "[-1]"},
                    {12345, ACL_PROF_MSPROFTX, 100000, "0 to 8"}};

    for (uint32_t i = 0; i < 65; i++) {
        many[i] = i;
    }
    assert_ok(init_at(*state));
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        const char *text = NULL;

        assert_null(aclprofCreateConfig(refused[i].ids, refused[i].count, ACL_AICORE_NONE,
                                        refused[i].events, refused[i].mask));
        text = aclprofGetLastError();
        if (strncmp(text, "EK000", 5) != 0 || strstr(text, refused[i].part) == NULL) {
            fail_msg("%zu: '%s' is not in '%s'", i, refused[i].part, text);
        }
    }
    for (size_t i = 0; i < sizeof(at_start) / sizeof(at_start[0]); i++) {
        aclprofConfig *config = aclprofCreateConfig(
            NULL, 0, (aclprofAicoreMetrics)at_start[i].metrics, NULL, at_start[i].mask);

        assert_non_null(config);
        assert_refused(aclprofStart(config), at_start[i].code, at_start[i].part);
        assert_ok(aclprofDestroyConfig(config));
    }
    window(aclprofCreateConfig(NULL, 0, ACL_AICORE_MEMORY_ACCESS, NULL, ACL_PROF_MSPROFTX), "good");
    assert_ok(aclprofFinalize());
}

static void arguments_of_configs(void **state)
{
    paths found;

    role_run("bad_configs", *state);
    found = prof_paths_exactly(*state, 1);
    check_work(found.list[0], "good", 0);
    paths_free(&found);
}

/* ---- many ranks make the same directory ---- */

#define RANKS 32u

static void rank(void **state)
{
    const char *fd = getenv("JOURNEY_GATE");
    char *dir = below(*state, "same/new/deep/path");
    aclprofConfig *config = tx_config();
    char byte = 0;

    assert_non_null(fd);
    assert_int_equal(read(atoi(fd), &byte, 1), 0);
    assert_ok(init_at(dir));
    window(config, "rank");
    assert_ok(aclprofDestroyConfig(config));
    assert_ok(aclprofFinalize());
    free(dir);
}

static void ranks_at_once(void **state)
{
    char *dir = below(*state, "same/new/deep/path");
    pid_t pids[RANKS];
    char number[16];
    int ends[2];
    paths found;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETFD, FD_CLOEXEC), 0);
    snprintf(number, sizeof(number), "%d", ends[0]);
    setenv("JOURNEY_GATE", number, 1);
    for (size_t i = 0; i < RANKS; i++) {
        pids[i] = role_start("rank", *state);
    }
    usleep(200000);
    close(ends[1]);
    for (size_t i = 0; i < RANKS; i++) {
        assert_int_equal(process_end(pids[i]), 0);
    }
    close(ends[0]);
    unsetenv("JOURNEY_GATE");
    found = prof_paths_exactly(dir, RANKS);
    for (size_t i = 0; i < RANKS; i++) {
        check_work(found.list[i], "rank", 0);
    }
    paths_free(&found);
    free(dir);
}

/* ---- masks ---- */

static void no_msproftx(const char *prof)
{
    char *data = below(prof, "host/data");
    DIR *list = opendir(data);
    struct dirent *entry = NULL;

    assert_non_null(list);
    while ((entry = readdir(list)) != NULL) {
        assert_null(strstr(entry->d_name, "additional.msproftx"));
    }
    closedir(list);
    check_sample(prof, "msproftx", "off");
    free(data);
}

static void refused_while_off(void *stamp)
{
    uint32_t id = 77;

    assert_null(aclprofCreateStamp());
    assert_non_null(strstr(aclprofGetLastError(), "ACL_PROF_MSPROFTX"));
    if (stamp != NULL) {
        assert_ok(aclprofSetStampTraceMessage(stamp, "off", 3));
    }
    assert_int_equal(aclprofMark(stamp), ACL_ERROR_PROF_NOT_RUN);
    assert_int_equal(aclprofPop(), ACL_ERROR_PROF_NOT_RUN);
    assert_int_equal(aclprofPush(stamp),
                     stamp != NULL ? ACL_ERROR_PROF_NOT_RUN : ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofRangeStart(stamp, &id),
                     stamp != NULL ? ACL_ERROR_PROF_NOT_RUN : ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofRangeStop(id), ACL_ERROR_PROF_NOT_RUN);
}

static void on_and_off(void **state)
{
    aclprofConfig *on = tx_config();
    aclprofConfig *off = aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, STATS_AND_TX);
    void *stamp = NULL;

    assert_non_null(off);
    refused_while_off(NULL); /* before */
    assert_ok(init_at(*state));
    assert_ok(aclprofStart(off));
    refused_while_off(NULL);
    assert_ok(aclprofStop(off));
    assert_ok(aclprofStart(on));
    stamp = stamp_of("own");
    work("on");
    assert_ok(aclprofStop(on));
    refused_while_off(stamp); /* between */
    assert_ok(aclprofStart(off));
    refused_while_off(stamp);
    assert_ok(aclprofStop(off));
    assert_ok(aclprofStart(on));
    assert_ok(aclprofMark(stamp));
    assert_ok(aclprofStop(on));
    assert_ok(aclprofFinalize());
    refused_while_off(stamp); /* after */
    aclprofDestroyStamp(stamp);
}

static void stamps_need_their_bit(void **state)
{
    read_back *back = NULL;
    paths found;

    role_run("on_and_off", *state);
    found = prof_paths_exactly(*state, 4);
    no_msproftx(found.list[0]);
    no_msproftx(found.list[2]);
    check_work(found.list[1], "on", 0);
    back = open_finished(found.list[3]);
    assert_int_equal(back->count, 1);
    assert_int_equal(read_back_count(back, "off"), 1); /* set while off, marked now */
    read_back_close(back);
    paths_free(&found);
}

/* ---- values of the storage limit ---- */

static void bad_limits(void **state)
{
    static const char *const refused[] = {"199MB", "200", "200mb", "200M", "-1MB", "-200MB", "",
                                          "MB", "1e3MB", "200 MB", " 200MB", "200MB ", "200.5MB",
                                          "4294967296MB", "99999999999999999999MB", "+200MB",
                                          "0x200MB", "200GB", "abc"};
    aclprofConfig *config = tx_config();
    char nines[301];

    memset(nines, '9', 300);
    memcpy(nines + 298, "MB", 3);
    assert_ok(init_at(*state));
    assert_ok(set_text(ACL_PROF_STORAGE_LIMIT, "200MB"));
    assert_ok(set_text(ACL_PROF_STORAGE_LIMIT, "4294967295MB"));
    assert_ok(set_text(ACL_PROF_STORAGE_LIMIT, "345MB"));
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        assert_refused(set_text(ACL_PROF_STORAGE_LIMIT, refused[i]),
                       ACL_ERROR_INVALID_PROFILING_CONFIG, "EK0001");
        assert_refused(set_text(ACL_PROF_STORAGE_LIMIT, refused[i]),
                       ACL_ERROR_INVALID_PROFILING_CONFIG, "200 to 4294967295");
        assert_non_null(strstr(aclprofGetLastError(), "ACL_PROF_STORAGE_LIMIT"));
    }
    assert_refused(set_text(ACL_PROF_STORAGE_LIMIT, nines), ACL_ERROR_INVALID_PARAM, "256");
    assert_refused(aclprofSetConfig(ACL_PROF_STORAGE_LIMIT, "200MB", 4), ACL_ERROR_INVALID_PARAM,
                   "configLength");
    assert_refused(aclprofSetConfig(ACL_PROF_STORAGE_LIMIT, NULL, 4), ACL_ERROR_INVALID_PARAM,
                   "config");
    assert_refused(set_text((aclprofConfigType)0, "200MB"), ACL_ERROR_INVALID_PARAM, "configType");
    assert_refused(set_text((aclprofConfigType)17, "200MB"), ACL_ERROR_INVALID_PARAM,
                   "configType");
    assert_refused(set_text((aclprofConfigType)2, "200MB"), ACL_ERROR_INVALID_PROFILING_CONFIG,
                   "configType");
    window(config, "limited");
    assert_ok(aclprofFinalize());
}

static void refused_values_change_nothing(void **state)
{
    role_run("bad_limits", *state);
    check_work(*state, "limited", 0);
    {
        paths found = prof_paths_exactly(*state, 1);

        check_sample(found.list[0], "storageLimit", "345MB");
        paths_free(&found);
    }
}

/* ---- documented errors instead of lenient zeros ---- */

static void strictly(void **state)
{
    aclprofConfig *config = tx_config();
    char text[200];
    void *stamp = NULL;

    memset(text, 's', sizeof(text));
    assert_refused(aclprofFinalize(), ACL_ERROR_PROF_NOT_RUN, "aclprofInit");
    assert_refused(aclprofStart(config), ACL_ERROR_PROF_NOT_RUN, "aclprofInit");
    assert_refused(aclprofStop(config), ACL_ERROR_PROF_NOT_RUN, "EK0002");
    assert_ok(init_at(*state));
    assert_refused(aclprofStop(config), ACL_ERROR_PROF_NOT_RUN, "aclprofStart");
    assert_refused(aclprofStop(NULL), ACL_ERROR_PROF_NOT_RUN, "aclprofStart");
    assert_ok(aclprofStart(config));
    assert_refused(aclprofStart(config), ACL_ERROR_PROF_ALREADY_RUN, "aclprofStop");
    work("strict");
    stamp = stamp_of("short");
    assert_refused(aclprofSetStampTraceMessage(stamp, text, 128), ACL_ERROR_INVALID_PARAM, "127");
    assert_ok(aclprofMark(stamp));
    assert_ok(aclprofSetStampTraceMessage(stamp, text, 127));
    assert_ok(aclprofMark(stamp));
    assert_ok(aclprofStop(config));
    assert_refused(aclprofStop(config), ACL_ERROR_PROF_NOT_RUN, "EK0002");
    assert_ok(aclprofFinalize());
    assert_refused(aclprofFinalize(), ACL_ERROR_PROF_NOT_RUN, "aclprofInit");
}

static void strict_mode(void **state)
{
    read_back *back = NULL;
    char text[128];

    memset(text, 's', 127);
    text[127] = '\0';
    setenv("ACLPROF_STRICT", "1", 1);
    role_run("strictly", *state);
    unsetenv("ACLPROF_STRICT");
    back = open_finished(*state);
    assert_int_equal(back->count, WORK_EVENTS + 2);
    check_work_in(back, "strict");
    assert_int_equal(read_back_count(back, "short"), 1); /* the refused one changed nothing */
    assert_int_equal(read_back_count(back, text), 1);
    read_back_close(back);
}

static const role roles[] = {
    ROLE(path_by_setting), ROLE(path_by_environment), ROLE(path_by_cwd), ROLE(nothing_yet),
    ROLE(starts_twice), ROLE(stops_first), ROLE(uses_again), ROLE(no_directory), ROLE(odd_mounts),
    ROLE(bad_configs), ROLE(rank), ROLE(on_and_off), ROLE(bad_limits),
    ROLE(strictly),
};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(start_without_init),
        SCRATCH_TEST(no_directory_before_start),
        SCRATCH_TEST(second_start),
        SCRATCH_TEST(stop_without_start),
        SCRATCH_TEST(windows_are_apart),
        SCRATCH_TEST(unwritable_path),
        SCRATCH_TEST(read_only_and_full_volumes),
        SCRATCH_TEST(arguments_of_configs),
        SCRATCH_TEST(ranks_at_once),
        SCRATCH_TEST(stamps_need_their_bit),
        SCRATCH_TEST(refused_values_change_nothing),
        SCRATCH_TEST(strict_mode),
    };

    if (argc == 3) {
        return role_main(roles, sizeof(roles) / sizeof(roles[0]), argv);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
