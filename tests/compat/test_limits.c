/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that have few descriptors, little memory, no thread or small files left: a Start that
 * cannot be says so and leaves nothing, the program lives. */
#define _GNU_SOURCE
#include "journey.h"

#include <grp.h>
#include <signal.h>
#include <sys/resource.h>

/* Returns what it was. */
static rlim_t set_limit(int what, rlim_t value)
{
    struct rlimit limit;
    rlim_t before = 0;

    assert_int_equal(getrlimit((unsigned)what, &limit), 0);
    before = limit.rlim_cur;
    limit.rlim_cur = value;
    assert_int_equal(setrlimit((unsigned)what, &limit), 0);
    return before;
}

static unsigned amount(void)
{
    return (unsigned)atoi(getenv("JOURNEY_AMOUNT"));
}

/* Runs a role in a directory for each amount, and looks what it has left: a finished run when
 * Start went well (exit code 0), nothing otherwise (100). Returns how many went well. */
static unsigned with_amounts(const char *name, const char *root, unsigned from, unsigned to,
                             unsigned step)
{
    unsigned good = 0;

    for (unsigned n = from; n < to; n += step) {
        char number[16];
        char *dir = NULL;
        int code = 0;
        paths found;

        snprintf(number, sizeof(number), "%u", n);
        setenv("JOURNEY_AMOUNT", number, 1);
        dir = below(root, number);
        code = process_end(role_start(name, dir));
        if (code != 0 && code != 100) {
            fail_msg("%s with %u: exit code %d", name, n, code);
        }
        found = prof_paths(dir);
        if (found.count != (code == 0 ? 1u : 0u) || there_is(dir) != (code == 0)) {
            fail_msg("%s with %u has ended with %d and left %zu directories", name, n, code,
                     found.count);
        }
        if (code == 0) {
            read_back_close(open_finished(dir));
            good++;
        }
        paths_free(&found);
        free(dir);
    }
    unsetenv("JOURNEY_AMOUNT");
    return good;
}

/* After Start: a mark that is counted, the end. Exits with 100 when Start has failed; the same
 * Init must then do when the limit has gone. */
static void use_or_leave(const char *dir, aclprofConfig *config, aclError start, int limit,
                         rlim_t before)
{
    aclprofStats s;

    if (start == ACL_SUCCESS) {
        assert_ok(aclprofMark(stamp_of("limited")));
        assert_ok(aclprofStop(config));
        s = stats_now();
        assert_int_equal(s.emitted, 1);
        assert_int_equal(s.emitted, s.written + s.lostTotal);
        assert_ok(aclprofFinalize());
        return;
    }
    assert_int_equal(strncmp(aclprofGetLastError(), "EK", 2), 0);
    assert_int_equal(aclprofMark(NULL), ACL_ERROR_PROF_NOT_RUN);
    assert_ok(aclprofStop(config));
    assert_false(there_is(dir));
    set_limit(limit, before);
    window(config, "unlimited");
    check_work(dir, "unlimited", getpid());
    assert_ok(aclprofFinalize());
    scratch_drop(dir);
    exit(100);
}

/* ---- descriptors ---- */

static void few_descriptors(void **state)
{
    const int limit = 128;
    aclprofConfig *config = tx_config();
    rlim_t before = 0;
    int fd = -1;

    assert_ok(init_at(*state));
    before = set_limit(RLIMIT_NOFILE, limit);
    while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) {
    }
    assert_int_equal(errno, EMFILE);
    for (unsigned i = 0; i < amount(); i++) {
        assert_int_equal(close(limit - 1 - (int)i), 0);
    }
    use_or_leave(*state, config, aclprofStart(config), RLIMIT_NOFILE, before);
}

static void descriptors(void **state)
{
    unsigned good = with_amounts("few_descriptors", *state, 0, 30, 1);

    assert_true(good > 5 && good < 25);
}

/* ---- memory ---- */

static void little_memory(void **state)
{
    aclprofConfig *config = tx_config();
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long pages = 0;
    rlim_t before = 0;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    assert_ok(init_at(*state));
    before = set_limit(RLIMIT_AS, pages * (rlim_t)sysconf(_SC_PAGESIZE) + (amount() << 10));
    use_or_leave(*state, config, aclprofStart(config), RLIMIT_AS, before);
}

static void memory(void **state)
{
    unsigned good = 0;

#ifdef AP_SANITIZED
    skip(); /* they need all of the address space */
#endif
    good = with_amounts("little_memory", *state, 0, 1024, 128);
    assert_int_equal(good, 0);
    good = with_amounts("little_memory", *state, 1024, 16384, 1024);
    assert_true(good > 2);
}

/* ---- threads ---- */

static void no_threads(void **state)
{
    aclprofConfig *config = tx_config();
    rlim_t before = 0;

    assert_int_equal(chmod(*state, 0777), 0);
    assert_int_equal(setgroups(0, NULL), 0);
    assert_int_equal(setgid(65534), 0);
    assert_int_equal(setuid(65534), 0);
    before = set_limit(RLIMIT_NPROC, 0);
    assert_ok(init_at(*state));
    assert_refused(aclprofStart(config), ACL_ERROR_PROFILING_FAILURE, "EK0203");
    assert_int_equal(aclprofMark(NULL), ACL_ERROR_PROF_NOT_RUN);
    assert_ok(aclprofStop(config));
    set_limit(RLIMIT_NPROC, before);
    window(config, "threads");
    assert_ok(aclprofFinalize());
}

static void threads(void **state)
{
    paths found;

    if (geteuid() != 0) {
        skip(); /* the limit is one for a user, and this user has processes */
    }
    role_run("no_threads", *state);
    found = prof_paths_exactly(*state, 1);
    check_work(found.list[0], "threads", 0);
    paths_free(&found);
}

/* ---- file sizes ---- */

#define LIMIT (1536u << 10) /* room for one ring, not for a slice */

static void limited_files(void **state)
{
    char *good = below(*state, "good");
    char *bad = below(*state, "bad");
    char *cut = below(*state, "cut");
    aclprofConfig *config = tx_config();
    aclprofStats s;

    signal(SIGXFSZ, SIG_DFL); /* kills whom it meets */
    assert_ok(init_at(bad));
    set_limit(RLIMIT_FSIZE, 0);
    assert_refused(aclprofStart(config), ACL_ERROR_PROFILING_FAILURE, "bad");
    assert_false(there_is(bad));
    assert_ok(aclprofFinalize());

    set_limit(RLIMIT_FSIZE, LIMIT);
    assert_ok(init_at(cut));
    assert_ok(aclprofStart(config));
    for (unsigned i = 0; i < 2 * LIMIT / 256; i++) {
        void *stamp = stamp_of("limited");

        assert_ok(aclprofMark(stamp));
        aclprofDestroyStamp(stamp);
    }
    assert_ok(aclprofStop(config));
    s = stats_now();
    assert_int_equal(s.emitted, 2 * LIMIT / 256);
    assert_int_equal(s.written, LIMIT / 256);
    assert_int_equal(s.lostDisk, LIMIT / 256);
    assert_ok(aclprofFinalize());

    set_limit(RLIMIT_FSIZE, RLIM_INFINITY);
    assert_ok(init_at(good));
    window(config, "good");
    assert_ok(aclprofFinalize());
    free(good);
    free(bad);
    free(cut);
}

static void limited_file_size(void **state)
{
    char *good = below(*state, "good");
    char *cut = below(*state, "cut");
    read_back *back = NULL;

    role_run("limited_files", *state);
    back = open_finished(cut);
    assert_int_equal(read_back_count(back, "limited"), LIMIT / 256);
    assert_int_equal(ap__reader_account_of(back->reader)->disk_errno, EFBIG);
    read_back_close(back);
    check_work(good, "good", 0);
    free(good);
    free(cut);
}

static const role roles[] = {
    ROLE(few_descriptors), ROLE(little_memory), ROLE(no_threads), ROLE(limited_files)};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(descriptors),
        SCRATCH_TEST(memory),
        SCRATCH_TEST(threads),
        SCRATCH_TEST(limited_file_size),
    };

    if (argc == 3) {
        return role_main(roles, sizeof(roles) / sizeof(roles[0]), argv);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
