/* SPDX-License-Identifier: Apache-2.0 */
/* Modes of what a capture makes: the same whatever the umask, nothing for others, and without
 * privileges. */
#define _GNU_SOURCE
#include "journey.h"

#include <grp.h>

#define NOBODY 65534u

static void masked(void **state)
{
    mode_t mask = (mode_t)strtoul(getenv("JOURNEY_UMASK"), NULL, 8);
    char *dir = below(*state, "made/for/it");
    aclprofConfig *config = tx_config();
    char text[300];
    void *stamp = NULL;

    memset(text, 'n', sizeof(text));
    umask(mask);
    assert_ok(init_at(dir));
    assert_ok(aclprofStart(config));
    work("masked");
    stamp = aclprofCreateStamp();
    assert_ok(aclprofSetStampTraceMessage(stamp, text, sizeof(text))); /* makes all files */
    assert_ok(aclprofMark(stamp));
    aclprofDestroyStamp(stamp);
    assert_int_not_equal(aclprofStr2Id("hashed"), UINT64_MAX);
    if (getenv("JOURNEY_RUNNING") != NULL) {
        _exit(0); /* leaves what a running capture has, too */
    }
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
    assert_int_equal(umask(0), mask);
    free(dir);
}

static size_t files_seen;
static size_t dirs_seen;
static uid_t owner_wanted;

static int check_mode(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    unsigned mode = st->st_mode & 07777;

    (void)walk;
    if (type == FTW_D) {
        dirs_seen++;
        if (mode != 0750) {
            print_error("%s: %04o\n", path, mode);
            return 1;
        }
    } else {
        files_seen++;
        if ((mode & ~0640u) != 0 || (mode & 0600) != 0600) {
            print_error("%s: %04o\n", path, mode);
            return 1;
        }
    }
    return st->st_uid == owner_wanted ? 0 : 2;
}

static void check_modes(const char *top, uid_t owner, size_t files)
{
    files_seen = dirs_seen = 0;
    owner_wanted = owner;
    assert_int_equal(nftw(top, check_mode, 16, FTW_PHYS), 0);
    assert_true(dirs_seen >= 3);
    assert_true(files_seen >= files);
}

static void any_umask(void **state)
{
    static const char *const masks[] = {"0", "022", "027", "077", "0177"};

    for (size_t i = 0; i < 2 * sizeof(masks) / sizeof(masks[0]); i++) {
        char *top = below(*state, "made");

        setenv("JOURNEY_UMASK", masks[i / 2], 1);
        if (i % 2 != 0) {
            setenv("JOURNEY_RUNNING", "1", 1);
        }
        role_run("masked", *state);
        unsetenv("JOURNEY_RUNNING");
        check_modes(top, geteuid(), i % 2 != 0 ? 14 : 19);
        scratch_drop(top);
        free(top);
    }
    unsetenv("JOURNEY_UMASK");
}

/* ---- without privileges ---- */

/* Effective ids only, as a service that keeps its way back does. */
static void not_root(void **state)
{
    char *mine = below(*state, "mine");
    char *deep = below(mine, "made/for/it");
    char *foreign = below(*state, "foreign");
    char *foreign_new = below(foreign, "new");
    aclprofConfig *config = tx_config();

    assert_int_equal(mkdir(mine, 0755), 0);
    assert_int_equal(mkdir(foreign, 0755), 0);
    assert_int_equal(chown(mine, NOBODY, NOBODY), 0);
    assert_int_equal(chmod(*state, 0755), 0);
    assert_int_equal(setgroups(0, NULL), 0);
    assert_int_equal(setegid(NOBODY), 0);
    assert_int_equal(seteuid(NOBODY), 0);
    assert_refused(init_at(foreign), ACL_ERROR_INVALID_FILE, "cannot be written");
    assert_refused(init_at(foreign_new), ACL_ERROR_INVALID_FILE, "cannot be written");
    assert_ok(init_at(deep));
    window(config, "nobody");
    check_work(deep, "nobody", getpid()); /* the owner reads it */
    assert_ok(aclprofFinalize());
    /* a directory that is taken away between Init and Start */
    assert_ok(init_at(mine));
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(chown(mine, 0, 0), 0);
    assert_int_equal(seteuid(NOBODY), 0);
    assert_refused(aclprofStart(config), ACL_ERROR_INVALID_FILE, "Permission denied");
    assert_ok(aclprofFinalize());
    assert_int_equal(seteuid(0), 0); /* sanitizers look for leaks with it */
    assert_int_equal(setegid(0), 0);
    free(mine);
    free(deep);
    free(foreign);
    free(foreign_new);
}

/* For good, like a daemon that drops its rights after it has begun to profile: no file can be made
 * any more, those that are open go on. */
static void drops_rights(void **state)
{
    aclprofConfig *config = tx_config();
    aclprofStats s;

    assert_ok(init_at(*state));
    assert_ok(aclprofStart(config));
    work("before");
    while (stats_now().pending != 0) {
        usleep(1000);
    }
    assert_int_equal(setgroups(0, NULL), 0);
    assert_int_equal(setgid(NOBODY), 0);
    assert_int_equal(setuid(NOBODY), 0);
    work("after");
    assert_refused(aclprofStop(config), ACL_ERROR_PROFILING_FAILURE, "Permission denied");
    s = stats_now();
    assert_int_equal(s.emitted, 2 * WORK_EVENTS);
    assert_int_equal(s.written, 2 * WORK_EVENTS);
    assert_int_equal(s.lostTotal, 0);
    assert_ok(aclprofFinalize());
}

static void unprivileged(void **state)
{
    char *top = below(*state, "mine/made");

    if (geteuid() != 0) {
        skip(); /* every other test here is one without privileges */
    }
    role_run("not_root", *state);
    check_modes(top, NOBODY, 19);
    free(top);
}

static void rights_dropped(void **state)
{
    read_back *back = NULL;

    if (geteuid() != 0) {
        skip();
    }
    role_run("drops_rights", *state);
    back = read_back_open(*state);
    assert_non_null(back);
    assert_int_equal(ap__reader_state_of(back->reader), AP_READER_UNFINISHED);
    assert_int_equal(back->count, 2 * WORK_EVENTS);
    check_work_in(back, "before");
    check_work_in(back, "after");
    read_back_close(back);
}

static const role roles[] = {ROLE(masked), ROLE(not_root), ROLE(drops_rights)};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(any_umask),
        SCRATCH_TEST(unprivileged),
        SCRATCH_TEST(rights_dropped),
    };

    if (argc == 3) {
        return role_main(roles, sizeof(roles) / sizeof(roles[0]), argv);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
