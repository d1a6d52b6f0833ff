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
#include "writer/slice.h"

#define MIB2 (2048u * 1024u)
#define NAME "aging.additional.msproftx"

typedef struct finished_list {
    unsigned count;
    uint32_t slice[8];
    uint64_t bytes[8];
} finished_list;

static void on_finished(void *context, const ap__stream *s, uint32_t slice, uint64_t bytes)
{
    finished_list *list = context;

    assert_string_equal(s->name, NAME);
    assert_true(list->count < 8);
    list->slice[list->count] = slice;
    list->bytes[list->count++] = bytes;
}

static uint8_t *pattern(size_t bytes)
{
    uint8_t *data = malloc(bytes);

    assert_non_null(data);
    for (size_t i = 0; i < bytes; i++) {
        data[i] = (uint8_t)(i / 256 * 31 + i);
    }
    return data;
}

/* The slices 0.. hold exactly data, each no larger than `cap`. */
static void assert_content(int fd, const char *stream, const uint8_t *data, size_t bytes)
{
    size_t seen = 0;

    for (unsigned k = 0;; k++) {
        char name[128];
        size_t n = 0;
        char *text = NULL;

        snprintf(name, sizeof(name), "%s.slice_%u", stream, k);
        text = scratch_read(fd, name, &n);
        if (text == NULL) {
            break;
        }
        assert_true(n > 0 && seen + n <= bytes);
        assert_memory_equal(text, data + seen, n);
        seen += n;
        free(text);
    }
    assert_int_equal(seen, bytes);
}

static void test_one_slice(void **state)
{
    scratch *t = *state;
    unsigned fds = scratch_open_fds();
    uint8_t *data = pattern(5376);
    ap__stream s;
    size_t written = 0;

    ap__stream_init(&s, t->fd, NAME, 256);
    assert_int_equal(scratch_count(t->fd), 0); /* made when there is something to write */
    assert_int_equal(ap__stream_append(&s, data, 0, &written), 0);
    assert_int_equal(scratch_count(t->fd), 0);
    assert_int_equal(ap__stream_append(&s, data, 5120, &written), 0);
    assert_int_equal(written, 5120);
    assert_int_equal(ap__stream_append(&s, data + 5120, 256, NULL), 0);
    assert_int_equal(scratch_count(t->fd), 1);
    assert_int_equal(ap__stream_finish(&s), 0);
    assert_content(t->fd, NAME, data, 5376);
    scratch_assert_text(t->fd, NAME ".slice_0.done", "filesize:5376\nstarttime:0\nendtime  :0\n");
    assert_int_equal(scratch_count(t->fd), 2);
    assert_int_equal(ap__stream_stored(&s), 5376 + 38);
    assert_int_equal(ap__stream_finish(&s), 0); /* again: nothing to do */
    assert_int_equal(scratch_count(t->fd), 2);
    assert_int_equal(scratch_open_fds(), fds);
    free(data);
}

static void test_nothing_written_leaves_nothing(void **state)
{
    scratch *t = *state;
    ap__stream s;

    ap__stream_init(&s, t->fd, NAME, 256);
    assert_int_equal(ap__stream_finish(&s), 0);
    assert_int_equal(scratch_count(t->fd), 0);
    assert_int_equal(ap__stream_stored(&s), 0);
}

static void test_slices_are_filled_exactly(void **state)
{
    scratch *t = *state;
    size_t bytes = 2 * MIB2 + 2560;
    uint8_t *data = pattern(bytes);
    finished_list list = {0};
    ap__stream s;
    size_t written = 0;

    ap__stream_init(&s, t->fd, NAME, 256);
    s.finished = on_finished;
    s.finished_context = &list;
    assert_int_equal(ap__stream_append(&s, data, 256, &written), 0);
    assert_int_equal(ap__stream_append(&s, data + 256, bytes - 256, &written), 0);
    assert_int_equal(written, bytes - 256);
    assert_int_equal(scratch_size(t->fd, NAME ".slice_0"), MIB2);
    assert_int_equal(scratch_size(t->fd, NAME ".slice_1"), MIB2);
    assert_int_equal(scratch_size(t->fd, NAME ".slice_2"), 2560);
    scratch_assert_text(t->fd, NAME ".slice_1.done",
                        "filesize:2097152\nstarttime:0\nendtime  :0\n");
    assert_int_equal(scratch_size(t->fd, NAME ".slice_2.done"), -1);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.slice[1], 1);
    assert_int_equal(list.bytes[1], MIB2);
    assert_int_equal(ap__stream_finish(&s), 0);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.bytes[2], 2560);
    assert_content(t->fd, NAME, data, bytes);
    assert_int_equal(ap__stream_stored(&s), bytes + 2 * 41 + 38);
    free(data);
}

static void test_full_slice_ends_at_once(void **state)
{
    scratch *t = *state;
    uint8_t *data = pattern(MIB2);
    ap__stream s;

    ap__stream_init(&s, t->fd, NAME, 256);
    assert_int_equal(ap__stream_append(&s, data, MIB2, NULL), 0);
    assert_int_equal(scratch_size(t->fd, NAME ".slice_0.done"), 41);
    assert_int_equal(s.slice, 1);
    assert_int_equal(s.size, 0);
    assert_int_equal(ap__stream_finish(&s), 0);
    assert_int_equal(scratch_count(t->fd), 2); /* no empty slice */
    free(data);
}

static void test_records_that_do_not_divide_a_slice(void **state)
{
    scratch *t = *state;
    size_t whole = MIB2 / 40 * 40;
    size_t bytes = whole + 4000;
    uint8_t *data = pattern(bytes);
    ap__stream s;

    ap__stream_init(&s, t->fd, "aging.api_event.data", 40);
    assert_int_equal(ap__stream_append(&s, data, bytes, NULL), 0);
    assert_int_equal(ap__stream_finish(&s), 0);
    assert_int_equal(scratch_size(t->fd, "aging.api_event.data.slice_0"), whole);
    assert_int_equal(scratch_size(t->fd, "aging.api_event.data.slice_1"), 4000);
    assert_content(t->fd, "aging.api_event.data", data, bytes);
    free(data);
}

static void test_partial_record_is_refused(void **state)
{
    scratch *t = *state;
    uint8_t data[300] = {0};
    size_t written = 1;
    ap__stream s;

    ap__stream_init(&s, t->fd, NAME, 256);
    assert_int_equal(ap__stream_append(&s, data, 300, &written), EINVAL);
    assert_int_equal(written, 0);
    assert_int_equal(scratch_count(t->fd), 0);
}

static void test_lines(void **state)
{
    scratch *t = *state;
    size_t bytes = 0;
    char *text = malloc(3u * MIB2);
    ap__stream s;

    assert_non_null(text);
    for (unsigned i = 0; bytes < 2 * MIB2 + 1000; i++) {
        bytes += (size_t)sprintf(text + bytes, "%u:a name that makes up a line\n", i);
    }
    ap__stream_init(&s, t->fd, "unaging.additional.hash_dic", 0);
    assert_int_equal(ap__stream_append(&s, text, bytes, NULL), 0);
    assert_int_equal(ap__stream_finish(&s), 0);
    for (unsigned k = 0; k < 3; k++) {
        char name[64];
        size_t n = 0;
        char *slice = NULL;

        snprintf(name, sizeof(name), "unaging.additional.hash_dic.slice_%u", k);
        slice = scratch_read(t->fd, name, &n);
        assert_non_null(slice);
        assert_true(n <= MIB2);
        assert_int_equal(slice[n - 1], '\n');
        free(slice);
    }
    assert_content(t->fd, "unaging.additional.hash_dic", (uint8_t *)text, bytes);
    free(text);
}

static void test_line_longer_than_a_slice(void **state)
{
    scratch *t = *state;
    char *text = malloc(MIB2 + 100);
    ap__stream s;

    assert_non_null(text);
    memset(text, 'x', MIB2 + 100);
    text[1] = '\n';
    text[MIB2 + 50] = '\n';
    text[MIB2 + 99] = '\n';
    ap__stream_init(&s, t->fd, "d", 0);
    assert_int_equal(ap__stream_append(&s, text, MIB2 + 100, NULL), 0);
    assert_int_equal(ap__stream_finish(&s), 0);
    assert_int_equal(scratch_size(t->fd, "d.slice_0"), 2);
    assert_int_equal(scratch_size(t->fd, "d.slice_1"), MIB2 + 49);
    assert_int_equal(scratch_size(t->fd, "d.slice_2"), 49);
    free(text);
}

static void test_short_and_interrupted_writes(void **state)
{
    scratch *t = *state;
    size_t bytes = MIB2 + 256 * 100;
    uint8_t *data = pattern(bytes);
    ap__stream s;

    faulty.most = 7777;
    faulty.interrupt_every = 3;
    ap__stream_init(&s, t->fd, NAME, 256);
    assert_int_equal(ap__stream_append(&s, data, bytes, NULL), 0);
    assert_int_equal(ap__stream_finish(&s), 0);
    assert_true(faulty.calls > 250);
    faulty_reset();
    assert_content(t->fd, NAME, data, bytes);
    free(data);
}

static void test_full_disk_keeps_whole_records(void **state)
{
    scratch *t = *state;
    uint8_t *data = pattern(256 * 20);
    ap__stream s;
    size_t written = 99;

    ap__stream_init(&s, t->fd, NAME, 256);
    faulty.room = 256 * 10 + 100;
    assert_int_equal(ap__stream_append(&s, data, 256 * 20, &written), ENOSPC);
    assert_int_equal(written, 256 * 10);
    assert_int_equal(scratch_size(t->fd, NAME ".slice_0"), 256 * 10); /* the torn tail is gone */
    assert_int_equal(s.size, 256 * 10);
    faulty.room = 0;
    assert_int_equal(ap__stream_append(&s, data, 256, &written), ENOSPC);
    assert_int_equal(written, 0);
    faulty_reset(); /* somebody has made room */
    assert_int_equal(ap__stream_append(&s, data + 256 * 10, 256 * 10, &written), 0);
    assert_int_equal(written, 256 * 10);
    assert_int_equal(ap__stream_finish(&s), 0);
    assert_content(t->fd, NAME, data, 256 * 20);
    free(data);
}

static void test_full_disk_from_the_start(void **state)
{
    scratch *t = *state;
    uint8_t data[512] = {1};
    ap__stream s;
    size_t written = 99;

    ap__stream_init(&s, t->fd, NAME, 256);
    faulty.room = 255;
    assert_int_equal(ap__stream_append(&s, data, 512, &written), ENOSPC);
    assert_int_equal(written, 0);
    assert_int_equal(scratch_count(t->fd), 0); /* no empty slice */
    assert_int_equal(ap__stream_stored(&s), 0);
    faulty_reset();
    assert_int_equal(ap__stream_append(&s, data, 512, &written), 0);
    assert_int_equal(ap__stream_finish(&s), 0);
    assert_int_equal(scratch_size(t->fd, NAME ".slice_0"), 512);
}

static void test_full_disk_cuts_text_at_a_line(void **state)
{
    scratch *t = *state;
    size_t written = 0;
    ap__stream s;

    ap__stream_init(&s, t->fd, "d", 0);
    faulty.room = 9;
    assert_int_equal(ap__stream_append(&s, "1:abc\n2:def\n", 12, &written), ENOSPC);
    assert_int_equal(written, 6);
    scratch_assert_text(t->fd, "d.slice_0", "1:abc\n");
    faulty_reset();
    assert_int_equal(ap__stream_append(&s, "2:def\n", 6, &written), 0);
    assert_int_equal(ap__stream_finish(&s), 0);
    scratch_assert_text(t->fd, "d.slice_0", "1:abc\n2:def\n");
}

static void test_owed_done_is_paid_later(void **state)
{
    scratch *t = *state;
    uint8_t *data = pattern(MIB2 + 256);
    finished_list list = {0};
    ap__stream s;
    size_t written = 0;

    ap__stream_init(&s, t->fd, NAME, 256);
    s.finished = on_finished;
    s.finished_context = &list;
    faulty.room = MIB2; /* all data fit, its .done does not */
    assert_int_equal(ap__stream_append(&s, data, MIB2, &written), ENOSPC);
    assert_int_equal(written, MIB2);
    assert_int_equal(scratch_size(t->fd, NAME ".slice_0"), MIB2);
    assert_int_equal(scratch_size(t->fd, NAME ".slice_0.done"), -1);
    assert_int_equal(list.count, 1);
    assert_int_equal(ap__stream_finish(&s), ENOSPC); /* still owed */
    faulty_reset();
    assert_int_equal(ap__stream_append(&s, data + MIB2, 256, &written), 0);
    assert_int_equal(ap__stream_finish(&s), 0);
    assert_int_equal(scratch_size(t->fd, NAME ".slice_0.done"), 41);
    assert_int_equal(scratch_size(t->fd, NAME ".slice_1.done"), 37);
    assert_int_equal(ap__stream_stored(&s), MIB2 + 256 + 41 + 37);
    assert_content(t->fd, NAME, data, MIB2 + 256);
    free(data);
}

static void test_owed_done_of_a_deleted_slice_is_dropped(void **state)
{
    scratch *t = *state;
    uint8_t *data = pattern(MIB2);
    ap__stream s;

    ap__stream_init(&s, t->fd, NAME, 256);
    faulty.room = MIB2;
    assert_int_equal(ap__stream_append(&s, data, MIB2, NULL), ENOSPC);
    faulty_reset();
    assert_int_equal(unlinkat(t->fd, NAME ".slice_0", 0), 0);
    assert_int_equal(ap__stream_finish(&s), 0);
    assert_int_equal(scratch_count(t->fd), 0);
    free(data);
}

static void test_modes_whatever_the_umask(void **state)
{
    static const mode_t masks[] = {0, 022, 077, 0777};
    scratch *t = *state;

    for (size_t i = 0; i < 4; i++) {
        uint8_t data[256] = {0};
        char name[32];
        char file[64];
        mode_t old = umask(masks[i]);
        ap__stream s;

        snprintf(name, sizeof(name), "aging.m%zu", i);
        ap__stream_init(&s, t->fd, name, 256);
        assert_int_equal(ap__stream_append(&s, data, 256, NULL), 0);
        assert_int_equal(ap__stream_finish(&s), 0);
        assert_int_equal(umask(old), masks[i]); /* not touched */
        snprintf(file, sizeof(file), "%s.slice_0", name);
        assert_int_equal(scratch_mode(t->fd, file), 0640);
        snprintf(file, sizeof(file), "%s.slice_0.done", name);
        assert_int_equal(scratch_mode(t->fd, file), 0640);
    }
}

static void test_a_foreign_file_is_not_written_over(void **state)
{
    scratch *t = *state;
    uint8_t data[256] = {0};
    ap__stream s;

    assert_int_equal(symlinkat("elsewhere", t->fd, NAME ".slice_0"), 0);
    ap__stream_init(&s, t->fd, NAME, 256);
    assert_int_equal(ap__stream_append(&s, data, 256, NULL), EEXIST);
    assert_int_equal(scratch_size(t->fd, "elsewhere"), -1);
    assert_int_equal(ap__stream_finish(&s), 0);
}

static void test_name_too_long(void **state)
{
    scratch *t = *state;
    char name[200];
    uint8_t data[256] = {0};
    ap__stream s;

    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    ap__stream_init(&s, t->fd, name, 256);
    assert_int_equal(ap__stream_append(&s, data, 256, NULL), ENAMETOOLONG);
    assert_int_equal(scratch_count(t->fd), 0);
}

static void test_fds_are_close_on_exec(void **state)
{
    scratch *t = *state;
    uint8_t data[256] = {0};
    ap__stream s;

    ap__stream_init(&s, t->fd, NAME, 256);
    assert_int_equal(ap__stream_append(&s, data, 256, NULL), 0);
    assert_int_equal(fcntl(s.fd, F_GETFD), FD_CLOEXEC);
    ap__stream_abandon(&s);
    assert_int_equal(s.fd, -1);
    assert_int_equal(scratch_size(t->fd, NAME ".slice_0.done"), -1);
}

static void test_resume(void **state)
{
    scratch *t = *state;
    uint8_t *data = pattern(2 * MIB2 + 2560);
    unsigned fds = scratch_open_fds();
    ap__stream s;

    /* as left by a killed process: no .done at all, a torn tail, a later slice begun */
    ap__stream_init(&s, t->fd, NAME, 256);
    assert_int_equal(ap__stream_append(&s, data, 2 * MIB2 + 2560, NULL), 0);
    ap__stream_abandon(&s);
    assert_int_equal(unlinkat(t->fd, NAME ".slice_0.done", 0), 0);

    ap__stream_init(&s, t->fd, NAME, 256);
    assert_int_equal(ap__stream_resume(&s, 3, 256), ENOENT);
    assert_int_equal(ap__stream_resume(&s, 1, 3 * MIB2), ERANGE);
    assert_int_equal(scratch_open_fds(), fds);
    assert_int_equal(ap__stream_resume(&s, 1, 512), 0);
    assert_int_equal(scratch_size(t->fd, NAME ".slice_1"), 512);
    assert_int_equal(scratch_size(t->fd, NAME ".slice_1.done"), -1);
    assert_int_equal(scratch_size(t->fd, NAME ".slice_2"), -1);
    assert_int_equal(ap__stream_append(&s, data + MIB2 + 512, 1024, NULL), 0);
    assert_int_equal(ap__stream_finish(&s), 0);
    assert_int_equal(scratch_size(t->fd, NAME ".slice_0.done"), 41);
    scratch_assert_text(t->fd, NAME ".slice_1.done",
                        "filesize:1536\nstarttime:0\nendtime  :0\n");
    assert_content(t->fd, NAME, data, MIB2 + 1536);

    /* at the beginning of a slice that may or may not be there */
    ap__stream_init(&s, t->fd, NAME, 256);
    assert_int_equal(ap__stream_resume(&s, 1, 0), 0);
    assert_int_equal(scratch_size(t->fd, NAME ".slice_1"), -1);
    assert_int_equal(ap__stream_finish(&s), 0);
    ap__stream_init(&s, t->fd, NAME, 256);
    assert_int_equal(ap__stream_resume(&s, 1, 0), 0);
    assert_int_equal(ap__stream_append(&s, data + MIB2, 256, NULL), 0);
    assert_int_equal(ap__stream_finish(&s), 0);
    assert_content(t->fd, NAME, data, MIB2 + 256);

    /* at the end of a full slice */
    ap__stream_init(&s, t->fd, NAME, 256);
    assert_int_equal(ap__stream_resume(&s, 0, MIB2), 0);
    assert_int_equal(ap__stream_append(&s, data + MIB2, 512, NULL), 0);
    assert_int_equal(ap__stream_finish(&s), 0);
    assert_content(t->fd, NAME, data, MIB2 + 512);
    free(data);
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
        TEST(test_one_slice),
        TEST(test_nothing_written_leaves_nothing),
        TEST(test_slices_are_filled_exactly),
        TEST(test_full_slice_ends_at_once),
        TEST(test_records_that_do_not_divide_a_slice),
        TEST(test_partial_record_is_refused),
        TEST(test_lines),
        TEST(test_line_longer_than_a_slice),
        TEST(test_short_and_interrupted_writes),
        TEST(test_full_disk_keeps_whole_records),
        TEST(test_full_disk_from_the_start),
        TEST(test_full_disk_cuts_text_at_a_line),
        TEST(test_owed_done_is_paid_later),
        TEST(test_owed_done_of_a_deleted_slice_is_dropped),
        TEST(test_modes_whatever_the_umask),
        TEST(test_a_foreign_file_is_not_written_over),
        TEST(test_name_too_long),
        TEST(test_fds_are_close_on_exec),
        TEST(test_resume),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
