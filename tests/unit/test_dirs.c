/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <ctype.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

#include "scratch.h"
#include "writer/dirs.h"

static void join(char *out, size_t size, const scratch *t, const char *rest)
{
    assert_true(snprintf(out, size, "%s%s", t->path, rest) < (int)size);
}

static void test_root_levels_and_modes(void **state)
{
    static const mode_t masks[] = {0, 022, 0777};
    scratch *t = *state;

    for (unsigned i = 0; i < 3; i++) {
        char rest[64];
        char path[600];
        mode_t old = umask(masks[i]);
        unsigned made = 99;
        int err = 0;

        snprintf(rest, sizeof(rest), "//r%u/b//c/", i);
        join(path, sizeof(path), t, rest);
        err = ap__dirs_make_root_counted(path, &made);
        assert_int_equal(umask(old), masks[i]);
        assert_int_equal(err, 0);
        assert_int_equal(made, 3);
        snprintf(rest, sizeof(rest), "r%u", i);
        assert_int_equal(scratch_mode(t->fd, rest), 0750);
        snprintf(rest, sizeof(rest), "r%u/b", i);
        assert_int_equal(scratch_mode(t->fd, rest), 0750);
        snprintf(rest, sizeof(rest), "r%u/b/c", i);
        assert_int_equal(scratch_mode(t->fd, rest), 0750);
    }
}

static void test_existing_levels_stay_as_they_are(void **state)
{
    scratch *t = *state;
    unsigned made = 99;
    char path[600];

    assert_int_equal(mkdirat(t->fd, "a", 0700), 0);
    assert_int_equal(fchmodat(t->fd, "a", 0711, 0), 0);
    join(path, sizeof(path), t, "/a/b");
    assert_int_equal(ap__dirs_make_root_counted(path, &made), 0);
    assert_int_equal(made, 1);
    assert_int_equal(scratch_mode(t->fd, "a"), 0711);
    assert_int_equal(fchmodat(t->fd, "a/b", 0700, 0), 0);
    assert_int_equal(ap__dirs_make_root(path), 0);
    assert_int_equal(scratch_mode(t->fd, "a/b"), 0700);
    assert_int_equal(ap__dirs_make_root("/"), 0);
}

static void test_root_through_a_symlink(void **state)
{
    scratch *t = *state;
    char path[600];

    assert_int_equal(mkdirat(t->fd, "real", 0750), 0);
    assert_int_equal(symlinkat("real", t->fd, "link"), 0);
    join(path, sizeof(path), t, "/link/sub");
    assert_int_equal(ap__dirs_make_root(path), 0);
    assert_int_equal(scratch_mode(t->fd, "real/sub"), 0750);
}

static void test_root_failures_leave_nothing(void **state)
{
    scratch *t = *state;
    char path[6000];
    char part[300];
    int fd = openat(t->fd, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    close(fd);
    join(path, sizeof(path), t, "/file");
    assert_int_equal(ap__dirs_make_root(path), ENOTDIR);
    join(path, sizeof(path), t, "/file/x");
    assert_int_equal(ap__dirs_make_root(path), ENOTDIR);
    assert_int_equal(ap__dirs_make_root(""), ENOENT);

    memset(part, 'n', sizeof(part));
    snprintf(path, sizeof(path), "%s/new1/new2/%.*s", t->path, 299, part);
    assert_int_equal(ap__dirs_make_root(path), ENAMETOOLONG); /* component over 255 */
    assert_int_equal(scratch_count(t->fd), 1);

    memset(path, 'p', sizeof(path) - 1);
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(ap__dirs_make_root(path), ENAMETOOLONG);
}

static void test_unmake_takes_back_only_empty_levels(void **state)
{
    scratch *t = *state;
    unsigned made = 0;
    char path[600];

    assert_int_equal(mkdirat(t->fd, "old", 0750), 0);
    join(path, sizeof(path), t, "/old/x/y/z//");
    assert_int_equal(ap__dirs_make_root_counted(path, &made), 0);
    assert_int_equal(mkdirat(t->fd, "old/x/other", 0750), 0);
    ap__dirs_unmake_root(path, made);
    assert_int_equal(scratch_size(t->fd, "old/x/y"), -1);
    assert_int_equal(scratch_mode(t->fd, "old/x/other"), 0750);
    assert_int_equal(unlinkat(t->fd, "old/x/other", AT_REMOVEDIR), 0);
    assert_int_equal(ap__dirs_make_root_counted(path, &made), 0);
    assert_int_equal(made, 2);
    ap__dirs_unmake_root(path, made + 1); /* all of x */
    assert_int_equal(scratch_size(t->fd, "old/x"), -1);
    assert_int_equal(scratch_mode(t->fd, "old"), 0750);
}

static void test_root_by_many_processes(void **state)
{
    scratch *t = *state;
    char path[600];
    pid_t pids[8];

    join(path, sizeof(path), t, "/p/q/r/s/t");
    for (unsigned i = 0; i < 8; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0) {
            int bad = 0;

            for (unsigned round = 0; round < 200 && bad == 0; round++) {
                unsigned made = 0;

                bad = ap__dirs_make_root_counted(path, &made);
                ap__dirs_unmake_root(path, made); /* makes it hard for the others */
            }
            _exit(bad == 0 ? 0 : 1);
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        int status = -1;

        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
}

static void check_name(const char *name, const char *number)
{
    struct tm local;
    time_t now = time(NULL);
    char text[32];

    /* PROF_000001_20250101000000000_00004242CPNEIILO */
    assert_int_equal(strlen(name), 46);
    assert_memory_equal(name, "PROF_", 5);
    assert_memory_equal(name + 5, number, 6);
    assert_int_equal(name[11], '_');
    for (unsigned i = 12; i < 29; i++) {
        assert_true(isdigit((unsigned char)name[i]));
    }
    localtime_r(&now, &local);
    snprintf(text, sizeof(text), "%04d%02d", local.tm_year + 1900, local.tm_mon + 1);
    assert_memory_equal(name + 12, text, 6);
    snprintf(text, sizeof(text), "_%08ld", (long)getpid());
    assert_memory_equal(name + 29, text, 9);
    for (unsigned i = 38; i < 46; i++) {
        assert_true(name[i] >= 'A' && name[i] <= 'R');
    }
}

static void test_prof_dir(void **state)
{
    static const mode_t masks[] = {0, 022, 0777};
    scratch *t = *state;
    unsigned fds = scratch_open_fds();
    char root[600];

    join(root, sizeof(root), t, "/");
    for (unsigned i = 0; i < 3; i++) {
        mode_t old = umask(masks[i]);
        ap__prof_dir dir;
        int err = ap__prof_dir_create(root, i + 1, &dir);
        char number[16];

        assert_int_equal(umask(old), masks[i]);
        assert_int_equal(err, 0);
        snprintf(number, sizeof(number), "%06u", i + 1);
        assert_memory_equal(dir.path, t->path, strlen(t->path));
        check_name(dir.path + strlen(t->path) + 1, number);
        assert_int_equal(scratch_mode(AT_FDCWD, dir.path), 0750);
        assert_int_equal(scratch_mode(dir.prof_fd, "host"), 0750);
        assert_int_equal(scratch_mode(dir.host_fd, "data"), 0750);
        assert_int_equal(scratch_mode(dir.host_fd, ".aclprof"), 0750);
        assert_int_equal(scratch_count(dir.prof_fd), 1);
        assert_int_equal(scratch_count(dir.data_fd), 0);
        assert_int_equal(scratch_count(dir.ext_fd), 0);
        assert_int_equal(fcntl(dir.root_fd, F_GETFD), FD_CLOEXEC);
        assert_int_equal(fcntl(dir.prof_fd, F_GETFD), FD_CLOEXEC);
        assert_int_equal(fcntl(dir.host_fd, F_GETFD), FD_CLOEXEC);
        assert_int_equal(fcntl(dir.data_fd, F_GETFD), FD_CLOEXEC);
        assert_int_equal(fcntl(dir.ext_fd, F_GETFD), FD_CLOEXEC);
        ap__prof_dir_close(&dir);
        ap__prof_dir_close(&dir);
    }
    assert_int_equal(scratch_open_fds(), fds);
    assert_int_equal(scratch_count(t->fd), 3);
}

static void test_start_numbers_wrap(void **state)
{
    static const struct {
        uint32_t number;
        const char *text;
    } cases[] = {{999999, "999999"}, {1000000, "000001"}, {4294967295u, "971589"}};
    scratch *t = *state;

    for (unsigned i = 0; i < 3; i++) {
        ap__prof_dir dir;

        assert_int_equal(ap__prof_dir_create(t->path, cases[i].number, &dir), 0);
        check_name(dir.path + strlen(t->path) + 1, cases[i].text);
        ap__prof_dir_close(&dir);
    }
}

static void *make_many(void *arg)
{
    const scratch *t = arg;

    for (unsigned i = 0; i < 50; i++) {
        ap__prof_dir dir;

        if (ap__prof_dir_create(t->path, 1, &dir) != 0) {
            return arg;
        }
        ap__prof_dir_close(&dir);
    }
    return NULL;
}

static void test_prof_dirs_never_collide(void **state)
{
    scratch *t = *state;
    pthread_t threads[4];

    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, make_many, t), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        void *bad = t;

        assert_int_equal(pthread_join(threads[i], &bad), 0);
        assert_null(bad);
    }
    assert_int_equal(scratch_count(t->fd), 200);
}

static void test_prof_dir_failures(void **state)
{
    scratch *t = *state;
    unsigned fds = scratch_open_fds();
    char path[600];
    ap__prof_dir dir;

    join(path, sizeof(path), t, "/missing");
    assert_int_equal(ap__prof_dir_create(path, 1, &dir), ENOENT);
    assert_int_equal(dir.root_fd, -1);
    assert_int_equal(dir.ext_fd, -1);
    if (geteuid() != 0) {
        assert_int_equal(fchmodat(t->fd, ".", 0500, 0), 0);
        assert_int_equal(ap__prof_dir_create(t->path, 1, &dir), EACCES);
        assert_int_equal(fchmodat(t->fd, ".", 0700, 0), 0);
    }
    assert_int_equal(scratch_count(t->fd), 0);
    assert_int_equal(scratch_open_fds(), fds);
}

static void test_prof_dir_remove(void **state)
{
    scratch *t = *state;
    unsigned fds = scratch_open_fds();
    ap__prof_dir dir;
    int fd = -1;

    assert_int_equal(mkdirat(t->fd, "kept", 0750), 0);
    assert_int_equal(ap__prof_dir_create(t->path, 1, &dir), 0);
    fd = openat(dir.data_fd, "aging.x.slice_0", O_CREAT | O_WRONLY | O_CLOEXEC, 0640);
    assert_true(fd >= 0);
    close(fd);
    fd = openat(dir.host_fd, "info.json", O_CREAT | O_WRONLY | O_CLOEXEC, 0640);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(symlinkat("../../../kept", dir.ext_fd, "link"), 0);
    assert_int_equal(mkdirat(dir.prof_fd, "device_0", 0750), 0);
    ap__prof_dir_remove(&dir);
    assert_int_equal(scratch_count(t->fd), 1);
    assert_int_equal(scratch_mode(t->fd, "kept"), 0750);
    assert_int_equal(scratch_open_fds(), fds);
    ap__prof_dir_remove(&dir); /* harmless */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_root_levels_and_modes),
        TEST(test_existing_levels_stay_as_they_are),
        TEST(test_root_through_a_symlink),
        TEST(test_root_failures_leave_nothing),
        TEST(test_unmake_takes_back_only_empty_levels),
        TEST(test_root_by_many_processes),
        TEST(test_prof_dir),
        TEST(test_start_numbers_wrap),
        TEST(test_prof_dirs_never_collide),
        TEST(test_prof_dir_failures),
        TEST(test_prof_dir_remove),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
