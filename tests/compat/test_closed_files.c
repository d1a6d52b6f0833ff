/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that close descriptors they have not opened while a capture runs, and open files of their
 * own in their places: they live, their files stay theirs, and what was on disk can be recovered. */
#define _GNU_SOURCE
#include "journey.h"

#include "reader/recover.h"

#define OWN_FILES 24u
#define OWN_TEXT "the program's own\n"

static int own[OWN_FILES];

static unsigned long fd_count(void)
{
    unsigned long count = 0;

    for (int fd = 0; fd < 256; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

static void *a_stamp(void)
{
    void *stamp = aclprofCreateStamp();

    assert_non_null(stamp);
    assert_ok(aclprofSetStampTraceMessage(stamp, "closed", 6));
    return stamp;
}

static aclprofConfig *begin(const char *dir)
{
    aclprofConfig *config = aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX);

    assert_non_null(config);
    assert_ok(aclprofInit(dir, strlen(dir)));
    assert_ok(aclprofStart(config));
    return config;
}

/* Closes all but the standard ones and takes their places. */
static void take_all(const char *dir)
{
    for (int fd = 3; fd < 256; fd++) {
        close(fd);
    }
    for (uint32_t i = 0; i < OWN_FILES; i++) {
        char path[600];

        snprintf(path, sizeof(path), "%s/own%u", dir, i);
        own[i] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        assert_true(own[i] >= 3 && own[i] < 256);
        assert_int_equal(write(own[i], OWN_TEXT, strlen(OWN_TEXT)), strlen(OWN_TEXT));
    }
}

static void check_own(void)
{
    for (uint32_t i = 0; i < OWN_FILES; i++) {
        char text[64] = "";

        assert_int_equal(pread(own[i], text, sizeof(text), 0), strlen(OWN_TEXT)); /* and it is open */
        assert_string_equal(text, OWN_TEXT);
    }
}

static void stamp_many(void *stamp, uint32_t count, bool pauses)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_ok(aclprofMark(stamp));
        if (pauses && i % 100 == 0) {
            usleep(2000);
        }
    }
}

static void end(aclprofConfig *config)
{
    aclError code = aclprofStop(config);

    assert_int_equal(code, ACL_ERROR_PROFILING_FAILURE);
    assert_non_null(strstr(aclprofGetLastError(), "recover"));
    check_own();
    assert_ok(aclprofDestroyConfig(config));
    assert_ok(aclprofFinalize());
    check_own();
}

static void while_it_writes(void **state)
{
    aclprofConfig *config = begin(*state);
    void *stamp = a_stamp();

    stamp_many(stamp, 2000, true);
    take_all(*state);
    stamp_many(stamp, 20000, true);
    assert_ok(aclprofSetStampTraceMessage(stamp, "a text of more than thirty-two bytes, long", 42));
    stamp_many(stamp, 100, false);
    end(config);
}

static void while_it_sleeps(void **state)
{
    aclprofConfig *config = begin(*state);
    void *stamp = a_stamp();

    stamp_many(stamp, 2000, false);
    usleep(600000);
    take_all(*state);
    stamp_many(stamp, 2000, false);
    end(config);
}

static void begins_anew(void **state)
{
    char *again = below(*state, "again");
    aclprofConfig *config = begin(*state);
    void *stamp = a_stamp();

    stamp_many(stamp, 10, false);
    take_all(*state);
    end(config);
    config = begin(again);
    stamp_many(stamp, 100, false);
    assert_ok(aclprofStop(config));
    assert_ok(aclprofDestroyConfig(config));
    assert_ok(aclprofFinalize());
    check_own();
    free(again);
}

static void leaves_no_descriptor(void **state)
{
    unsigned long before = fd_count();

    for (int i = 0; i < 3; i++) {
        aclprofConfig *config = begin(*state);

        stamp_many(a_stamp(), 10, false);
        assert_ok(aclprofStop(config));
        assert_ok(aclprofDestroyConfig(config));
        assert_ok(aclprofFinalize());
        assert_int_equal(fd_count(), before);
    }
}

static const role roles[] = {ROLE(while_it_writes), ROLE(while_it_sleeps), ROLE(begins_anew),
                             ROLE(leaves_no_descriptor)};

static void recovered(const char *dir, size_t at_least)
{
    ap__recover_report report;
    paths found = prof_paths(dir);
    read_back *back = NULL;

    assert_int_equal(found.count, 1);
    assert_int_equal(ap__recover(found.list[0], &report), AP_RECOVER_DONE);
    ap__recover_report_free(&report);
    back = read_back_open(dir);
    assert_non_null(back);
    if (back->count < at_least) {
        fail_msg("%zu records of at least %zu", (size_t)back->count, at_least);
    }
    read_back_close(back);
    paths_free(&found);
}

static void test_while_it_writes(void **state)
{
    (void)role_run("while_it_writes", *state);
    recovered(*state, 2000);
}

static void test_while_it_sleeps(void **state)
{
    (void)role_run("while_it_sleeps", *state);
    recovered(*state, 2000); /* and what came after is in the rings */
}

static void test_begins_anew(void **state)
{
    char *again = below(*state, "again");

    (void)role_run("begins_anew", *state);
    read_back_close(open_finished(again));
    free(again);
}

static void test_leaves_no_descriptor(void **state)
{
    (void)role_run("leaves_no_descriptor", *state);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(test_while_it_writes),
        SCRATCH_TEST(test_while_it_sleeps),
        SCRATCH_TEST(test_begins_anew),
        SCRATCH_TEST(test_leaves_no_descriptor),
    };

    if (argc > 1) {
        return role_main(roles, sizeof(roles) / sizeof(roles[0]), argv);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
