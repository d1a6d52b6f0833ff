/* SPDX-License-Identifier: Apache-2.0 */
/* Where a torn end of a device's file is cut: as the writer has noted, else by the usual sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include "reader/record_sizes.h"
#include "scratch.h"

static void test_noted(void **state)
{
    static const char notes[] = "aicore.data.1 96\nhccs.data.1 0\nodd.data.1 17\nbad.data.1 x\n"
                                "big.data.1 99999999999\nhalf.data.1 12";

    (void)state;
    assert_int_equal(ap__record_size_of(notes, "aicore.data.1", 1), 96); /* sampled */
    assert_int_equal(ap__record_size_of(notes, "hccs.data.1", 1), AP_RECORD_LINES);
    assert_int_equal(ap__record_size_of(notes, "odd.data.1", 1), 17);
    assert_int_equal(ap__record_size_of(notes, "bad.data.1", 1), 0);
    assert_int_equal(ap__record_size_of(notes, "big.data.1", 1), 0);
    assert_int_equal(ap__record_size_of(notes, "half.data.1", 1), 0); /* torn itself */
    assert_int_equal(ap__record_size_of(notes, "dd.data.1", 1), 0);
    /* what is not named is as usual */
    assert_int_equal(ap__record_size_of(notes, "aicore.data.10", 1), 128);
    assert_int_equal(ap__record_size_of(notes, "stars_soc.data.1", 5), 64);
    assert_int_equal(ap__record_size_of(notes, "stars_soc.data.1", 15), 32);
    assert_int_equal(ap__record_size_of(NULL, "nic.data.0", 5), AP_RECORD_LINES);
    assert_int_equal(ap__record_size_of("", "dvpp.venc.0", 5), AP_RECORD_LINES);
    assert_int_equal(ap__record_size_of("\n\n", "training_trace.data.0", 1), 0);
}

static void test_file(void **state)
{
    scratch *t = *state;
    ap__notes notes = {0};
    int fd = openat(t->fd, "device_files.3", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    char *text = NULL;

    assert_int_equal(write(fd, "a.3 8\n", 6), 6);
    close(fd);
    text = ap__record_sizes_read(t->fd, 3, &notes);
    assert_non_null(text);
    assert_int_equal(ap__record_size_of(text, "a.3", 5), 8);
    free(text);
    assert_null(ap__record_sizes_read(t->fd, 4, &notes));
    assert_null(ap__record_sizes_read(-1, 3, &notes));
    assert_int_equal(symlinkat("device_files.3", t->fd, "device_files.5"), 0);
    assert_null(ap__record_sizes_read(t->fd, 5, &notes));
    assert_int_equal(unlinkat(t->fd, "device_files.5", 0), 0);
    assert_int_equal(unlinkat(t->fd, "device_files.3", 0), 0);
    ap__notes_free(&notes);
}

static void test_host_text(void **state)
{
    (void)state;
    assert_true(ap__record_is_host_text("host_syscall.data"));
    assert_true(ap__record_is_host_text("host_sys_mem.data"));
    assert_true(ap__record_is_host_text("4242-CpuUsage.data"));
    assert_true(ap__record_is_host_text("4242-Memory.data"));
    assert_false(ap__record_is_host_text("aging.additional.msproftx"));
    assert_false(ap__record_is_host_text("-Memory.data"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noted),
        cmocka_unit_test_setup_teardown(test_file, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_host_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
