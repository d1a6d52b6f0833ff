/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include "faulty_write.h"
#include "scratch.h"
#include "writer/account.h"

static ap__thread_account threads[] = {
    {.tid = 101, .emitted = 9007199254740993, .written = 9007199254740990, .lost_full = 3},
    {.tid = 102,
     .emitted = 10,
     .written = 5,
     .lost_full = 1,
     .lost_no_ring = 1,
     .lost_reentrant = 1,
     .lost_disk = 2,
     .cut_messages = 4}};

static const ap__clock_point points[] = {
    {.cycles = 1, .mono_raw_ns = 2, .mono_ns = 3, .real_ns = 1735689600123456789, .error_ns = 4},
    {.cycles = UINT64_MAX, .mono_raw_ns = 6, .mono_ns = 7, .real_ns = 8, .error_ns = 9}};

static ap__account sample(void)
{
    return (ap__account){.total = {.size = sizeof(aclprofStats),
                                   .emitted = 18446744073709551615u,
                                   .written = 9007199254740993,
                                   .pending = 1,
                                   .lostTotal = 2,
                                   .lostRingFull = 3,
                                   .lostNoRing = 4,
                                   .lostReentrant = 5,
                                   .lostDisk = 6,
                                   .lostAged = 7,
                                   .lostDamaged = 8,
                                   .openAtStop = 9,
                                   .cutMessages = 10,
                                   .bytesWritten = 11,
                                   .slicesRemoved = 12,
                                   .callNs = 13,
                                   .writerCpuNs = 14,
                                   .threads = 2},
                         .threads = threads,
                         .thread_count = 2,
                         .clock_is_ns = 1,
                         .state = "finished",
                         .arena = "file",
                         .data_types = 0x80,
                         .points = points,
                         .point_count = 2,
                         .disk_errno = 28};
}

static const char expected[] =
    "{\"version\":1,\"state\":\"finished\",\"arena\":\"file\",\"data_types\":128,"
    "\"clock_is_ns\":true,\"disk_errno\":28,\"total\":{\"emitted\":18446744073709551615,"
    "\"written\":9007199254740993,\"pending\":1,\"lost_total\":2,\"lost_full\":3,"
    "\"lost_no_ring\":4,\"lost_reentrant\":5,\"lost_disk\":6,\"lost_aged\":7,\"lost_damaged\":8,"
    "\"open_at_stop\":9,\"cut_messages\":10,\"bytes_written\":11,\"slices_removed\":12,"
    "\"call_ns\":13,\"writer_cpu_ns\":14,\"threads\":2},\"threads\":[{\"tid\":101,"
    "\"emitted\":9007199254740993,\"written\":9007199254740990,\"lost_full\":3,"
    "\"lost_no_ring\":0,\"lost_reentrant\":0,\"lost_disk\":0,\"cut_messages\":0},{\"tid\":102,"
    "\"emitted\":10,\"written\":5,\"lost_full\":1,\"lost_no_ring\":1,\"lost_reentrant\":1,"
    "\"lost_disk\":2,\"cut_messages\":4}],\"clock_points\":[{\"cycles\":1,\"mono_raw_ns\":2,"
    "\"mono_ns\":3,\"real_ns\":1735689600123456789,\"error_ns\":4},"
    "{\"cycles\":18446744073709551615,\"mono_raw_ns\":6,\"mono_ns\":7,\"real_ns\":8,"
    "\"error_ns\":9}]}";

static void test_every_figure_is_exact(void **state)
{
    scratch *t = *state;
    ap__account a = sample();
    mode_t old = umask(0777);
    int err = ap__account_write(t->fd, &a);

    umask(old);
    assert_int_equal(err, 0);
    scratch_assert_text(t->fd, "account.json", expected);
    assert_int_equal(scratch_mode(t->fd, "account.json"), 0640);
    assert_int_equal(scratch_count(t->fd), 1); /* no temporary file */
}

static void test_nothing_to_tell(void **state)
{
    scratch *t = *state;
    ap__account a = {.state = "recovered"};
    char *text = NULL;

    assert_int_equal(ap__account_write(t->fd, &a), 0);
    text = scratch_read(t->fd, "account.json", NULL);
    assert_non_null(strstr(text, "\"state\":\"recovered\",\"arena\":\"\""));
    assert_non_null(strstr(text, "\"threads\":[],\"clock_points\":[]}"));
    free(text);
}

static void test_replaces_at_once(void **state)
{
    scratch *t = *state;
    unsigned fds = scratch_open_fds();
    ap__account a = sample();
    ap__account none = {.state = "finished", .arena = "file"};
    int fd = -1;

    assert_int_equal(ap__account_write(t->fd, &none), 0);
    /* left by a process that was killed while it wrote */
    fd = openat(t->fd, "account.json.tmp", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(ap__account_write(t->fd, &a), 0);
    scratch_assert_text(t->fd, "account.json", expected);

    faulty.room = 50; /* a failure keeps the old file */
    assert_int_equal(ap__account_write(t->fd, &none), ENOSPC);
    scratch_assert_text(t->fd, "account.json", expected);
    assert_int_equal(scratch_count(t->fd), 1);
    assert_int_equal(scratch_open_fds(), fds);
}

static int reset_and_remove(void **state)
{
    faulty_reset();
    return scratch_teardown(state);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, reset_and_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_every_figure_is_exact),
        TEST(test_nothing_to_tell),
        TEST(test_replaces_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
