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
#include "writer/dict.h"

#define HASH AP_DICT_HASH_NAME ".slice_0"
#define TYPE AP_DICT_TYPE_NAME ".slice_0"

static void test_hash_lines(void **state)
{
    scratch *t = *state;
    ap__dict d;

    ap__dict_init(&d, t->fd, AP_DICT_HASH_NAME);
    assert_int_equal(ap__dict_flush(&d), 0);
    assert_int_equal(scratch_count(t->fd), 0);
    assert_int_equal(ap__dict_add_hash(&d, 6438267842827357177u, "default", 7), 0);
    assert_int_equal(ap__dict_add_hash(&d, 1, "a:b", 3), 0);
    assert_int_equal(ap__dict_add_hash(&d, 2, "line\nbreak\r\0end", 15), 0);
    assert_int_equal(ap__dict_add_hash(&d, 3, "\xFF\xE4\xBD\xA0", 4), 0);
    assert_int_equal(ap__dict_add_hash(&d, 0, "zero", 4), 0);
    assert_int_equal(ap__dict_add_hash(&d, UINT64_MAX, "", 0), 0);
    /* the first text of an id counts */
    assert_int_equal(ap__dict_add_hash(&d, 1, "other", 5), 0);
    assert_int_equal(ap__dict_add_hash(&d, 0, "other", 5), 0);
    assert_int_equal(ap__dict_flush(&d), 0);
    scratch_assert_text(t->fd, HASH,
                        "6438267842827357177:default\n1:a:b\n2:line break  end\n"
                        "3:\xEF\xBF\xBD\xE4\xBD\xA0\n0:zero\n18446744073709551615:\n");
    assert_int_equal(ap__dict_add_hash(&d, 1, "other", 5), 0); /* nor after a flush */
    assert_int_equal(ap__dict_add_hash(&d, 4, "new", 3), 0);
    assert_int_equal(ap__dict_finish(&d), 0);
    scratch_assert_text(t->fd, HASH,
                        "6438267842827357177:default\n1:a:b\n2:line break  end\n"
                        "3:\xEF\xBF\xBD\xE4\xBD\xA0\n0:zero\n18446744073709551615:\n4:new\n");
    assert_int_equal(scratch_size(t->fd, HASH ".done"), 36);
    assert_int_equal(scratch_mode(t->fd, HASH), 0640);
}

static void test_many_ids(void **state)
{
    scratch *t = *state;
    size_t length = 0;
    size_t lines = 0;
    char *text = NULL;
    ap__dict d;

    ap__dict_init(&d, t->fd, AP_DICT_HASH_NAME);
    for (unsigned round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < 20000; i++) {
            assert_int_equal(ap__dict_add_hash(&d, i << 40 | i, "name", 4), 0);
        }
        assert_int_equal(ap__dict_flush(&d), 0);
    }
    assert_int_equal(ap__dict_finish(&d), 0);
    text = scratch_read(t->fd, HASH, &length);
    assert_non_null(text);
    for (size_t i = 0; i < length; i++) {
        lines += text[i] == '\n';
    }
    assert_int_equal(lines, 20000);
    free(text);
}

static void test_default_types(void **state)
{
    scratch *t = *state;
    char *text = NULL;
    ap__dict d;

    ap__dict_init(&d, t->fd, AP_DICT_TYPE_NAME);
    assert_int_equal(ap__dict_add_default_types(&d), 0);
    assert_int_equal(ap__dict_add_type(&d, 5000, 1003, "KernelLaunch"), 0);
    assert_int_equal(ap__dict_add_type(&d, 20500, 0, "again"), 0);
    assert_int_equal(ap__dict_finish(&d), 0);
    text = scratch_read(t->fd, TYPE, NULL);
    assert_non_null(text);
    assert_memory_equal(text, "20500_0:msproftx\n15000_0:graph_id_map\n", 37);
    assert_non_null(strstr(text, "\n10000_0:node_basic_info\n"));
    assert_non_null(strstr(text, "\n10000_11:static_op_mem\n"));
    assert_non_null(strstr(text, "\n5000_802:task_track\n"));
    assert_non_null(strstr(text, "\n5000_1003:KernelLaunch\n"));
    assert_null(strstr(text, "again"));
    free(text);
}

static void test_full_disk_keeps_lines_pending(void **state)
{
    scratch *t = *state;
    ap__dict d;

    ap__dict_init(&d, t->fd, AP_DICT_HASH_NAME);
    assert_int_equal(ap__dict_add_hash(&d, 1, "one", 3), 0);
    assert_int_equal(ap__dict_add_hash(&d, 2, "two", 3), 0);
    faulty.room = 8;
    assert_int_equal(ap__dict_flush(&d), ENOSPC);
    scratch_assert_text(t->fd, HASH, "1:one\n");
    assert_int_equal(ap__dict_add_hash(&d, 3, "three", 5), 0);
    faulty_reset();
    assert_int_equal(ap__dict_finish(&d), 0);
    scratch_assert_text(t->fd, HASH, "1:one\n2:two\n3:three\n");
}

static void test_finish_frees_in_spite_of_errors(void **state)
{
    scratch *t = *state;
    unsigned fds = scratch_open_fds();
    ap__dict d;

    ap__dict_init(&d, t->fd, AP_DICT_HASH_NAME);
    assert_int_equal(ap__dict_add_hash(&d, 1, "one", 3), 0);
    faulty.room = 0;
    faulty.error = EDQUOT;
    assert_int_equal(ap__dict_finish(&d), EDQUOT);
    assert_null(d.pending);
    assert_int_equal(scratch_open_fds(), fds);
}

static void test_ext_stamps(void **state)
{
    scratch *t = *state;
    ap__ext_file f;
    ap__ext_stamp *entries = NULL;
    size_t length = 0;

    assert_int_equal(ap__ext_open(&f, t->fd, AP_EXT_STAMP_NAME), 0);
    assert_int_equal(fcntl(f.fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(scratch_mode(t->fd, AP_EXT_STAMP_NAME), 0640);
    assert_int_equal(ap__ext_add_stamp(&f, 3, 77, AP_EXT_TAG, 0x1122334455667788), 0);
    assert_int_equal(ap__ext_flush(&f), 0);
    assert_int_equal(f.size, 24);
    assert_int_equal(ap__ext_add_stamp(&f, 4, 0, AP_EXT_NAME, 1), 0);
    ap__ext_discard(&f);
    assert_int_equal(ap__ext_add_stamp(&f, 5, 1, AP_EXT_STACK, 2), 0);
    assert_int_equal(ap__ext_close(&f), 0);
    entries = (ap__ext_stamp *)(void *)scratch_read(t->fd, AP_EXT_STAMP_NAME, &length);
    assert_non_null(entries);
    assert_int_equal(length, 48);
    assert_int_equal(entries[0].slice, 3);
    assert_int_equal(entries[0].index, 77);
    assert_int_equal(entries[0].kind, AP_EXT_TAG);
    assert_int_equal(entries[0].reserved, 0);
    assert_true(entries[0].id == 0x1122334455667788);
    assert_int_equal(entries[1].slice, 5);
    free(entries);
    assert_int_equal(ap__ext_open(&f, t->fd, AP_EXT_STAMP_NAME), EEXIST);
    assert_int_equal(f.fd, -1);
    assert_int_equal(ap__ext_close(&f), 0);
}

static void test_ext_names(void **state)
{
    scratch *t = *state;
    ap__ext_file f;
    ap__ext_name head;
    char *text = NULL;
    size_t length = 0;

    assert_int_equal(ap__ext_open(&f, t->fd, AP_EXT_NAMES_NAME), 0);
    assert_int_equal(ap__ext_add_name(&f, AP_EXT_NAME, 9, "a\xFF", 2), 0);
    assert_int_equal(ap__ext_add_name(&f, AP_EXT_CATEGORY, 7, "12345678", 8), 0);
    assert_int_equal(ap__ext_add_name(&f, AP_EXT_NAME, 8, "", 0), 0);
    assert_int_equal(ap__ext_close(&f), 0);
    text = scratch_read(t->fd, AP_EXT_NAMES_NAME, &length);
    assert_non_null(text);
    assert_int_equal(length, 16 + 8 + 16 + 8 + 16);
    memcpy(&head, text, sizeof(head));
    assert_int_equal(head.id, 9);
    assert_int_equal(head.kind, AP_EXT_NAME);
    assert_int_equal(head.length, 4);
    assert_memory_equal(text + 16, "a\xEF\xBF\xBD\0\0\0\0", 8);
    memcpy(&head, text + 24, sizeof(head));
    assert_int_equal(head.kind, AP_EXT_CATEGORY);
    assert_int_equal(head.length, 8);
    assert_memory_equal(text + 40, "12345678", 8);
    memcpy(&head, text + 48, sizeof(head));
    assert_int_equal(head.length, 0);
    free(text);
}

static void test_ext_on_a_full_disk(void **state)
{
    scratch *t = *state;
    ap__ext_file f;

    assert_int_equal(ap__ext_open(&f, t->fd, AP_EXT_STAMP_NAME), 0);
    assert_int_equal(ap__ext_add_stamp(&f, 0, 0, AP_EXT_NAME, 1), 0);
    assert_int_equal(ap__ext_flush(&f), 0);
    assert_int_equal(ap__ext_add_stamp(&f, 0, 1, AP_EXT_NAME, 2), 0);
    assert_int_equal(ap__ext_add_stamp(&f, 0, 2, AP_EXT_NAME, 3), 0);
    faulty.room = 30;
    assert_int_equal(ap__ext_flush(&f), ENOSPC);
    assert_int_equal(f.size, 24);
    assert_int_equal(scratch_size(t->fd, AP_EXT_STAMP_NAME), 24);
    faulty_reset();
    assert_int_equal(ap__ext_close(&f), 0);
    assert_int_equal(scratch_size(t->fd, AP_EXT_STAMP_NAME), 72);
}

static void test_ext_head_is_given_back(void **state)
{
    scratch *t = *state;
    ap__ext_file f;
    ap__ext_stamp *entries = NULL;
    size_t length = 0;
    size_t first = 0;

    assert_int_equal(ap__ext_open(&f, t->fd, AP_EXT_STAMP_NAME), 0);
    for (uint32_t i = 0; i < 30000; i++) {
        assert_int_equal(ap__ext_add_stamp(&f, i / 1000, i % 1000, AP_EXT_NAME, i), 0);
    }
    assert_int_equal(ap__ext_flush(&f), 0);
    ap__ext_drop_before(&f, 0);
    assert_int_equal(ap__ext_stored(&f), 720000);
    ap__ext_drop_before(&f, 10);
    ap__ext_drop_before(&f, 20);
    assert_int_equal(f.scanned, 20000 * 24);
    assert_int_equal(f.size, 720000);
    assert_int_equal(ap__ext_add_stamp(&f, 30, 0, AP_EXT_NAME, 30000), 0);
    assert_int_equal(ap__ext_flush(&f), 0);
    /* 480000 bytes are droppable; whole units of 64 KiB go where holes are known */
    first = (size_t)f.dropped;
    assert_true(first == 0 || first == 458752);
    assert_int_equal(ap__ext_stored(&f), 720024 - first);
    assert_int_equal(ap__ext_close(&f), 0);
    entries = (ap__ext_stamp *)(void *)scratch_read(t->fd, AP_EXT_STAMP_NAME, &length);
    assert_non_null(entries);
    assert_int_equal(length, 720024);
    for (uint32_t i = 0; i <= 30000; i++) {
        if ((i + 1) * 24 <= first) {
            assert_int_equal(entries[i].kind, 0);
        } else if (i * 24 >= first) {
            assert_int_equal(entries[i].kind, AP_EXT_NAME);
            assert_int_equal(entries[i].id, i);
        }
    }
    free(entries);
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
        TEST(test_hash_lines),
        TEST(test_many_ids),
        TEST(test_default_types),
        TEST(test_full_disk_keeps_lines_pending),
        TEST(test_finish_frees_in_spite_of_errors),
        TEST(test_ext_stamps),
        TEST(test_ext_names),
        TEST(test_ext_on_a_full_disk),
        TEST(test_ext_head_is_given_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
