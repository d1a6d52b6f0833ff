/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <sys/mman.h>
#include <sys/wait.h>

#include "scratch.h"
#include "session/arg_text.h"
#include "session/path.h"

#define LONGEST (AP_PATH_MAX - 1)

static char out[AP_PATH_MAX];
static char reason[AP_PATH_REASON_SIZE];

static bool resolve(const char *path)
{
    memset(out, '?', sizeof(out));
    memset(reason, 0, sizeof(reason));
    return ap__path_resolve(path, strlen(path), out, reason);
}

static void check_refused(const char *path, const char *because)
{
    if (resolve(path)) {
        fail_msg("[%s] was accepted as [%s]", path, out);
    }
    if (strstr(reason, because) == NULL) {
        fail_msg("[%s]: the reason is [%s], not [%s]", path, reason, because);
    }
}

static void check_below(const scratch *t, const char *rest, const char *expected)
{
    char path[1024];
    char full[1024];

    snprintf(path, sizeof(path), "%s%s", t->path, rest);
    snprintf(full, sizeof(full), "%s%s", t->path, expected);
    if (!resolve(path)) {
        fail_msg("[%s] was refused: %s", path, reason);
    }
    assert_string_equal(out, full);
}

static void check_refused_below(const scratch *t, const char *rest, const char *because)
{
    char path[1024];

    snprintf(path, sizeof(path), "%s%s", t->path, rest);
    check_refused(path, because);
}

static void test_absolute(void **state)
{
    scratch *t = *state;

    check_below(t, "", "");
    check_below(t, "/", "");
    check_below(t, "///a//b///", "/a/b");
    check_below(t, "/./a/./b/.", "/a/b");
    check_below(t, "/a/../b", "/a/../b");
    check_below(t, "/...", "/...");
    check_below(t, "/~/a b*(#@:,-_.?)", "/~/a b*(#@:,-_.?)");
    check_below(t, "/\xE4\xB8\xAD\xFF", "/\xE4\xB8\xAD\xFF");
    assert_int_equal(scratch_count(t->fd), 0);
}

/* In a child: the current directory is the process's. */
static void in_directory(const char *dir, void (*body)(const scratch *), const scratch *t)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        if (chdir(dir) != 0) {
            _exit(2);
        }
        body(t);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void need(bool holds)
{
    if (!holds) {
        _exit(1);
    }
}

static void relative_body(const scratch *t)
{
    char full[1024];

    snprintf(full, sizeof(full), "%s/x/y", t->path);
    need(resolve("x/y") && strcmp(out, full) == 0);
    need(resolve("./x/./y/") && strcmp(out, full) == 0);
    need(resolve(".") && strcmp(out, t->path) == 0);
    snprintf(full, sizeof(full), "%s/~/x", t->path);
    need(resolve("~/x") && strcmp(out, full) == 0);
    snprintf(full, sizeof(full), "%s/..", t->path);
    need(resolve("..") && strcmp(out, full) == 0);
}

static void bad_cwd_body(const scratch *t)
{
    (void)t;
    need(!resolve("x") && strstr(reason, "character $") != NULL);
}

static void gone_cwd_body(const scratch *t)
{
    char path[1024];

    snprintf(path, sizeof(path), "%s/gone", t->path);
    need(rmdir(path) == 0);
    need(!resolve("x") && strstr(reason, "absolute path") != NULL);
    need(resolve(t->path));
}

static void test_relative(void **state)
{
    scratch *t = *state;
    char path[1024];

    in_directory(t->path, relative_body, t);
    snprintf(path, sizeof(path), "%s/a$b", t->path);
    assert_int_equal(mkdir(path, 0755), 0);
    in_directory(path, bad_cwd_body, t);
    snprintf(path, sizeof(path), "%s/gone", t->path);
    assert_int_equal(mkdir(path, 0755), 0);
    in_directory(path, gone_cwd_body, t);
}

static void test_characters(void **state)
{
    static const char bad[] = "\"'\\%><|&$;`";
    scratch *t = *state;
    char rest[8];
    char because[32];

    for (unsigned c = 1; c < 256; c++) {
        snprintf(rest, sizeof(rest), "/a%cb", (int)c);
        if (c < 0x20 || c == 0x7F) {
            snprintf(because, sizeof(because), "0x%02x at byte ", c);
            check_refused_below(t, rest, because);
        } else if (strchr(bad, (int)c) != NULL) {
            snprintf(because, sizeof(because), "character %c at byte ", (int)c);
            check_refused_below(t, rest, because);
        } else if (c != '/') {
            check_below(t, rest, rest);
        }
    }
    check_refused_below(t, "/\n", "newline");
    check_refused_below(t, "/$(touch x)", "character $");
    assert_int_equal(scratch_count(t->fd), 0);
}

static void test_lengths(void **state)
{
    scratch *t = *state;
    char path[AP_PATH_MAX + 512];
    size_t used = strlen(t->path);

    memcpy(path, t->path, used);
    path[used] = '/';
    memset(path + used + 1, 'n', 300);
    path[used + 256] = '\0';
    assert_true(resolve(path)); /* 255 */
    path[used + 256] = 'n';
    path[used + 257] = '\0';
    check_refused(path, "has 256 bytes, at most 255");

    for (size_t i = used; i < sizeof(path) - 1; i++) {
        path[i] = (i - used) % 100 == 0 ? '/' : 'd';
    }
    path[LONGEST] = '\0';
    if (path[LONGEST - 1] == '/') {
        path[LONGEST - 1] = 'd';
    }
    assert_true(resolve(path));
    assert_int_equal(strlen(out), LONGEST);
    path[LONGEST] = 'd';
    path[LONGEST + 1] = '\0';
    check_refused(path, "has 4096 bytes, at most 4095");
    assert_int_equal(scratch_count(t->fd), 0);
}

/* A relative path of legal length that the current directory makes too long. */
static void long_body(const scratch *t)
{
    char path[AP_PATH_MAX];

    (void)t;
    for (size_t i = 0; i < LONGEST; i++) {
        path[i] = i % 100 == 99 ? '/' : 'd';
    }
    path[LONGEST] = '\0';
    need(!resolve(path) && strstr(reason, "at most 4095") != NULL);
}

static void test_long_relative(void **state)
{
    scratch *t = *state;

    in_directory(t->path, long_body, t);
}

static void test_what_is_there(void **state)
{
    scratch *t = *state;
    int fd = openat(t->fd, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(mkdirat(t->fd, "dir", 0755), 0);
    assert_int_equal(symlinkat("dir", t->fd, "link"), 0);
    assert_int_equal(symlinkat("nowhere", t->fd, "dangling"), 0);
    assert_int_equal(symlinkat("loop2", t->fd, "loop1"), 0);
    assert_int_equal(symlinkat("loop1", t->fd, "loop2"), 0);
    check_below(t, "/dir", "/dir");
    check_below(t, "/dir/../dir/x", "/dir/../dir/x");
    check_below(t, "/link", "/link");
    check_below(t, "/link/x/y", "/link/x/y");
    check_refused_below(t, "/file", "/file] is not a directory");
    check_refused_below(t, "/file/", "/file] is not a directory");
    check_refused_below(t, "/file/x", "/file] is not a directory");
    check_refused_below(t, "/dangling", "symbolic link to nothing");
    check_refused_below(t, "/dangling/x", "symbolic link to nothing");
    check_refused_below(t, "/loop1", "cannot be reached");
    check_refused_below(t, "/loop1/x", "cannot be reached");
    check_refused("/dev/null", "is not a directory");
}

static void rights_body(const scratch *t)
{
    char path[1024];

    snprintf(path, sizeof(path), "%s/closed", t->path);
    need(!resolve(path) && strstr(reason, "closed] cannot be written") != NULL);
    snprintf(path, sizeof(path), "%s/closed/new/x", t->path);
    need(!resolve(path) && strstr(reason, "closed] cannot be written") != NULL);
    snprintf(path, sizeof(path), "%s/open/new/x", t->path);
    need(resolve(path));
    snprintf(path, sizeof(path), "%s/hidden/in/x", t->path);
    need(!resolve(path) && strstr(reason, "hidden/in] cannot be reached") != NULL);
    snprintf(path, sizeof(path), "%s/unsearchable", t->path);
    need(!resolve(path) && strstr(reason, "cannot be written") != NULL);
}

static void drop_and_check(const scratch *t)
{
    /* the effective id is what counts */
    if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0)) {
        _exit(0); /* root in a sandbox: nobody else to be */
    }
    rights_body(t);
}

static void test_rights(void **state)
{
    static const struct {
        const char *name;
        mode_t mode;
    } dirs[] = {{"closed", 0555},
                {"open", 0777},
                {"hidden", 0700},
                {"hidden/in", 0777},
                {"unsearchable", 0666}};
    scratch *t = *state;

    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        assert_int_equal(mkdirat(t->fd, dirs[i].name, 0700), 0);
        assert_int_equal(fchmodat(t->fd, dirs[i].name, dirs[i].mode, 0), 0);
    }
    assert_int_equal(chmod(t->path, 0755), 0);
    if (geteuid() != 0) {
        assert_int_equal(fchmodat(t->fd, "hidden", 0, 0), 0);
    }
    in_directory(t->path, drop_and_check, t);
}

/* ---- lengths of argument strings ---- */

static void test_argument_length(void **state)
{
    (void)state;
    assert_true(ap__arg_length_fits("abc", 3));
    assert_true(ap__arg_length_fits("", 0));
    assert_false(ap__arg_length_fits("abc", 2));
    assert_false(ap__arg_length_fits("abc", 0));
    assert_false(ap__arg_length_fits("ab\0d", 4));
    assert_false(ap__arg_length_fits("abc", 4));
}

/* Strings that end where their mapping ends, with and without a NUL. */
static void test_argument_at_the_end_of_a_mapping(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *end = NULL;

    (void)state;
    assert_ptr_not_equal(map, MAP_FAILED);
    assert_int_equal(mprotect(map + page, page, PROT_NONE), 0);
    end = map + page;
    memset(map, 'a', page);
    assert_true(ap__arg_length_fits(end - 5, 5));
    assert_false(ap__arg_length_fits(end - 5, 4));
    assert_true(ap__arg_length_fits(end, 0));
    end[-1] = '\0';
    assert_true(ap__arg_length_fits(end - 5, 4));
    assert_false(ap__arg_length_fits(end - 5, 3));
    assert_false(ap__arg_length_fits(end - 5, 5));
    munmap(map, 2 * page);
}

static void test_argument_leaves_no_descriptor(void **state)
{
    unsigned before = scratch_open_fds();

    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        (void)ap__arg_length_fits("abc", i % 4);
    }
    assert_int_equal(scratch_open_fds(), before);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_absolute),
        TEST(test_relative),
        TEST(test_characters),
        TEST(test_lengths),
        TEST(test_long_relative),
        TEST(test_what_is_there),
        TEST(test_rights),
        cmocka_unit_test(test_argument_length),
        cmocka_unit_test(test_argument_at_the_end_of_a_mapping),
        cmocka_unit_test(test_argument_leaves_no_descriptor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
