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
#include "writer/ageing.h"

#define MIB (1024u * 1024u)
#define MIB2 (2u * MIB)
#define TX "aging.additional.msproftx"
#define API "aging.api_event.data"

static uint8_t block[MIB2];

/* Bytes of all files. */
static uint64_t bytes_in(int dir_fd)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fdopendir(fd);
    struct dirent *entry = NULL;
    uint64_t sum = 0;

    assert_non_null(list);
    while ((entry = readdir(list)) != NULL) {
        if (entry->d_name[0] != '.') {
            sum += (uint64_t)scratch_size(dir_fd, entry->d_name);
        }
    }
    closedir(list);
    return sum;
}

static void test_share(void **state)
{
    (void)state;
    assert_true(ap__ageing_share(0) == 0);
    assert_true(ap__ageing_share(200) == 100ull * MIB);
    assert_true(ap__ageing_share(4294967295u) == 2147483647ull * MIB);
    assert_true(ap__ageing_share(UINT64_MAX) == UINT64_MAX);
}

static void test_limit_holds_at_every_moment(void **state)
{
    scratch *t = *state;
    ap__aged removed = {0};
    ap__ageing a;
    ap__stream tx;

    ap__stream_init(&tx, t->fd, TX, 256);
    ap__ageing_init(&a, t->fd, 40ull * MIB, 20ull * MIB);
    assert_int_equal(ap__ageing_watch(&a, &tx), 0);
    for (unsigned i = 0; i < 60; i++) { /* 60 MiB in pieces of 1 MiB */
        assert_int_equal(ap__stream_append(&tx, block, MIB, NULL), 0);
        assert_true(bytes_in(t->fd) <= 40ull * MIB);
        ap__ageing_run(&a, &removed);
        assert_true(bytes_in(t->fd) <= 20ull * MIB);
        assert_true(ap__ageing_total(&a) == bytes_in(t->fd));
    }
    assert_int_equal(removed.slices, 21); /* 30 slices and their .done, 9 of them fit into 20 MiB */
    assert_int_equal(removed.records, removed.slices * 8192);
    assert_int_equal(removed.bytes, removed.slices * (MIB2 + 41));
    assert_int_equal(ap__ageing_removed_records(&a, &tx), removed.records);
    assert_int_equal(scratch_size(t->fd, TX ".slice_20"), -1); /* the oldest went */
    assert_int_equal(scratch_size(t->fd, TX ".slice_20.done"), -1);
    assert_int_equal(scratch_size(t->fd, TX ".slice_21"), MIB2);
    assert_int_equal(ap__stream_finish(&tx), 0);
    ap__ageing_free(&a);
    assert_null(tx.finished);
}

static void test_without_a_limit_nothing_goes(void **state)
{
    scratch *t = *state;
    ap__aged removed = {0};
    ap__ageing a;
    ap__stream tx;

    ap__stream_init(&tx, t->fd, TX, 256);
    ap__ageing_init(&a, t->fd, 0, AP_AGEING_RESERVE);
    assert_int_equal(ap__ageing_watch(&a, &tx), 0);
    for (unsigned i = 0; i < 15; i++) {
        assert_int_equal(ap__stream_append(&tx, block, MIB2, NULL), 0);
        ap__ageing_run(&a, &removed);
    }
    assert_int_equal(ap__ageing_make_room(&a, MIB2, &removed), 0);
    assert_int_equal(removed.slices, 0);
    assert_int_equal(scratch_count(t->fd), 30);
    ap__ageing_free(&a);
}

static void test_last_slice_and_dictionaries_stay(void **state)
{
    scratch *t = *state;
    ap__aged removed = {0};
    ap__ageing a;
    ap__stream tx;
    ap__stream api;
    ap__stream dict;
    char line[64];

    ap__stream_init(&tx, t->fd, TX, 256);
    ap__stream_init(&api, t->fd, API, 40);
    ap__stream_init(&dict, t->fd, "unaging.additional.hash_dic", 0);
    ap__ageing_init(&a, t->fd, 1, 0); /* everything is too much */
    assert_int_equal(ap__ageing_watch(&a, &tx), 0);
    assert_int_equal(ap__ageing_watch(&a, &api), 0);
    assert_int_equal(ap__ageing_watch(&a, &dict), 0);
    snprintf(line, sizeof(line), "1:text\n");
    assert_int_equal(ap__stream_append(&dict, line, 7, NULL), 0);
    assert_int_equal(ap__stream_finish(&dict), 0);
    assert_int_equal(ap__stream_append(&api, block, 40, NULL), 0);
    assert_int_equal(ap__stream_finish(&api), 0); /* its only slice */
    assert_int_equal(ap__stream_append(&tx, block, MIB2, NULL), 0);
    assert_int_equal(ap__stream_append(&tx, block, MIB2, NULL), 0);
    ap__ageing_run(&a, &removed);
    assert_int_equal(removed.slices, 1);
    assert_int_equal(scratch_size(t->fd, TX ".slice_0"), -1);
    assert_int_equal(scratch_size(t->fd, TX ".slice_1"), MIB2); /* the last one */
    assert_int_equal(scratch_size(t->fd, API ".slice_0"), 40);
    assert_int_equal(scratch_size(t->fd, "unaging.additional.hash_dic.slice_0"), 7);

    assert_int_equal(ap__stream_append(&tx, block, 256, NULL), 0); /* now it is not the last */
    ap__ageing_run(&a, &removed);
    assert_int_equal(removed.slices, 2);
    assert_int_equal(scratch_size(t->fd, TX ".slice_1"), -1);
    assert_int_equal(scratch_size(t->fd, TX ".slice_2"), 256);
    assert_int_equal(ap__stream_finish(&tx), 0);
    ap__ageing_free(&a);
}

static void test_oldest_goes_first_across_streams(void **state)
{
    scratch *t = *state;
    ap__aged removed = {0};
    ap__ageing a;
    ap__stream tx;
    ap__stream other;

    ap__stream_init(&tx, t->fd, TX, 256);
    ap__stream_init(&other, t->fd, "aging.additional.tensor_info", 256);
    ap__ageing_init(&a, t->fd, 8ull * MIB, 0);
    assert_int_equal(ap__ageing_watch(&a, &tx), 0);
    assert_int_equal(ap__ageing_watch(&a, &other), 0);
    assert_int_equal(ap__stream_append(&other, block, MIB2, NULL), 0);
    assert_int_equal(ap__stream_append(&tx, block, MIB2, NULL), 0);
    assert_int_equal(ap__stream_append(&other, block, MIB2, NULL), 0);
    ap__ageing_run(&a, &removed);
    assert_int_equal(removed.slices, 0);
    assert_int_equal(ap__stream_append(&tx, block, MIB2, NULL), 0);
    ap__ageing_run(&a, &removed);
    assert_int_equal(removed.slices, 1);
    assert_int_equal(scratch_size(t->fd, "aging.additional.tensor_info.slice_0"), -1);
    assert_int_equal(ap__stream_append(&tx, block, MIB2, NULL), 0);
    ap__ageing_run(&a, &removed); /* tensor_info has only one left */
    assert_int_equal(removed.slices, 2);
    assert_int_equal(scratch_size(t->fd, "aging.additional.tensor_info.slice_1"), MIB2);
    assert_int_equal(scratch_size(t->fd, TX ".slice_0"), -1);
    assert_int_equal(scratch_size(t->fd, TX ".slice_1"), MIB2);
    assert_int_equal(ap__ageing_removed_records(&a, &tx), 8192);
    assert_int_equal(ap__ageing_removed_records(&a, &other), 8192);
    ap__ageing_free(&a);
}

static void test_other_bytes_count(void **state)
{
    scratch *t = *state;
    ap__aged removed = {0};
    ap__ageing a;
    ap__stream tx;

    ap__stream_init(&tx, t->fd, TX, 256);
    ap__ageing_init(&a, t->fd, 10ull * MIB, 0);
    assert_int_equal(ap__ageing_watch(&a, &tx), 0);
    assert_int_equal(ap__stream_append(&tx, block, MIB2, NULL), 0);
    assert_int_equal(ap__stream_append(&tx, block, MIB2, NULL), 0);
    ap__ageing_set_other(&a, 5ull * MIB);
    ap__ageing_run(&a, &removed);
    assert_int_equal(removed.slices, 0);
    ap__ageing_set_other(&a, 7ull * MIB); /* though no slice was finished since */
    ap__ageing_run(&a, &removed);
    assert_int_equal(removed.slices, 1);
    ap__ageing_free(&a);
}

static void test_make_room(void **state)
{
    scratch *t = *state;
    ap__aged removed = {0};
    ap__ageing a;
    ap__stream tx;

    ap__stream_init(&tx, t->fd, TX, 256);
    ap__ageing_init(&a, t->fd, 1ull << 40, 0);
    assert_int_equal(ap__ageing_watch(&a, &tx), 0);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(ap__stream_append(&tx, block, MIB2, NULL), 0);
    }
    assert_int_equal(ap__ageing_make_room(&a, 1, &removed), MIB2 + 41);
    assert_int_equal(ap__ageing_make_room(&a, 1ull << 30, &removed), 2 * (MIB2 + 41));
    assert_int_equal(ap__ageing_make_room(&a, 1, &removed), 0); /* the last slice stays */
    assert_int_equal(removed.slices, 3);
    assert_int_equal(scratch_count(t->fd), 2);
    ap__ageing_free(&a);
}

static void test_missing_done_is_not_counted(void **state)
{
    scratch *t = *state;
    ap__aged removed = {0};
    ap__ageing a;
    ap__stream tx;

    ap__stream_init(&tx, t->fd, TX, 256);
    ap__ageing_init(&a, t->fd, 1, 0);
    assert_int_equal(ap__ageing_watch(&a, &tx), 0);
    faulty.room = MIB2;
    assert_int_equal(ap__stream_append(&tx, block, MIB2, NULL), ENOSPC);
    faulty_reset();
    assert_int_equal(ap__stream_append(&tx, block, 256, NULL), 0);
    assert_int_equal(unlinkat(t->fd, TX ".slice_0.done", 0), -1);
    ap__ageing_run(&a, &removed);
    assert_int_equal(removed.bytes, MIB2);
    assert_true(ap__ageing_total(&a) == 256);
    assert_int_equal(ap__stream_finish(&tx), 0);
    assert_int_equal(scratch_count(t->fd), 2);
    ap__ageing_free(&a);
}

static void test_long_run_needs_no_growing_list(void **state)
{
    scratch *t = *state;
    ap__aged removed = {0};
    ap__ageing a;
    ap__stream tx;

    ap__stream_init(&tx, t->fd, TX, 256);
    ap__ageing_init(&a, t->fd, 3u * MIB2, 0);
    assert_int_equal(ap__ageing_watch(&a, &tx), 0);
    for (unsigned i = 0; i < 200; i++) {
        assert_int_equal(ap__stream_append(&tx, block, MIB2, NULL), 0);
        ap__ageing_run(&a, &removed);
    }
    assert_int_equal(removed.slices, 198);
    assert_true(a.room <= 64);
    ap__ageing_free(&a);
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
        cmocka_unit_test(test_share),
        TEST(test_limit_holds_at_every_moment),
        TEST(test_without_a_limit_nothing_goes),
        TEST(test_last_slice_and_dictionaries_stay),
        TEST(test_oldest_goes_first_across_streams),
        TEST(test_other_bytes_count),
        TEST(test_make_room),
        TEST(test_missing_done_is_not_counted),
        TEST(test_long_run_needs_no_growing_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
