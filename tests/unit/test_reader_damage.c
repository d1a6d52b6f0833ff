/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader makes of directories that are damaged, cut, of another version, or made by an
 * enemy: a clear note, whatever is whole, no crash, no hanging, no memory without bounds. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <time.h>

#include "scratch.h"

#include "prof_fixture.h"
#include "read_back.h"
#include "reader/recover.h"

static read_back *open_fix(const prof_fix *fix)
{
    read_back *back = read_back_open(fix->path);

    assert_non_null(back);
    return back;
}

static void torn_and_bad_records_are_skipped(void **state)
{
    prof_fix fix;
    ap__record_counts counts;
    ap__records *records = NULL;
    ap__raw_record r;
    read_back *back = NULL;
    static const char zeros[256];

    fix_make(&fix, *state, false);
    fix_end(&fix);
    fix_marks(&fix, TX_SLICE "0", "m", 0, 3);
    fix_append(fix.data, TX_SLICE "0", zeros, sizeof(zeros));
    fix_marks(&fix, TX_SLICE "0", "m", 3, 2);
    fix_append(fix.data, TX_SLICE "0", "torn", 4);
    fix_marks(&fix, TX_SLICE "1", "m", 5, 1);
    fix_marks(&fix, TX_SLICE "3", "m", 6, 1);
    back = open_fix(&fix);
    assert_int_equal(back->count, 7);
    for (unsigned i = 0; i < 7; i++) {
        char message[16];

        snprintf(message, sizeof(message), "m%u", i);
        assert_string_equal(back->stamps[i].message, message);
    }
    assert_int_equal(back->stamps[3].index, 4); /* as it lies */
    assert_true(read_back_has_note(back, "slice_0: a torn record of 4 bytes"));
    assert_true(read_back_has_note(back, "slice_0: 1 damaged records"));
    assert_true(read_back_has_note(back, "slices 2 to 2 are missing"));
    records = ap__records_open(back->reader, AP_RECORD_ADDITIONAL, "msproftx");
    while (ap__records_next(records, &r)) {
    }
    ap__records_counts(records, &counts);
    assert_int_equal(counts.records, 7);
    assert_int_equal(counts.bad_records, 1);
    assert_int_equal(counts.torn_bytes, 4);
    ap__records_close(records);
    read_back_close(back);
    fix_close(&fix);
}

static void missing_and_damaged_control_files_are_told(void **state)
{
    prof_fix fix;
    read_back *back = NULL;

    fix_make(&fix, *state, false);
    fix_marks(&fix, TX_SLICE "0", "m", 0, 2);
    fix_text(fix.host, "info.json", "{\"pid\":\"42\",\"CPU\":[{\"Frequ");
    fix_text(fix.host, "start_info", "[]");
    assert_int_equal(unlinkat(fix.host, "sample.json", 0), 0);
    fix_text(fix.host, "host_start.log", "nothing of use");
    back = open_fix(&fix);
    assert_int_equal(back->count, 2);
    assert_true(read_back_has_note(back, "info.json is damaged or cut"));
    assert_true(read_back_has_note(back, "start_info is damaged or cut"));
    assert_true(read_back_has_note(back, "sample.json is missing"));
    assert_true(read_back_has_note(back, "end_info is missing"));
    assert_true(read_back_has_note(back, "host_start.log is damaged"));
    assert_int_equal(ap__reader_state_of(back->reader), AP_READER_UNFINISHED);
    assert_true(ap__reader_wall_ns(back->reader, 5) == 5);
    read_back_close(back);

    fix_info(&fix, "fast", 1);
    back = open_fix(&fix);
    assert_true(read_back_has_note(back, "\"fast\" is no number"));
    assert_true(back->stamps[1].start_ns == FIX_MONO + 1000);
    read_back_close(back);
    fix_close(&fix);
}

static void damaged_dictionaries_keep_what_is_whole(void **state)
{
    prof_fix fix;
    read_back *back = NULL;
    ap__ext_name torn = {.id = 3, .kind = AP_EXT_NAME, .length = 4000};
    ap__ext_name inside = {.id = 4, .kind = AP_EXT_NAME, .length = 8}; /* a NUL */

    fix_make(&fix, *state, true);
    fix_end(&fix);
    fix_text(fix.data, "unaging.additional.hash_dic.slice_0",
             "1:one\nno colon\n99999999999999999999:too large\n:empty\n2:two\n\n3");
    fix_text(fix.data, "unaging.additional.type_info_dic.slice_0",
             "1_2:a\n1:b\n4294967296_1:c\n3_4:d");
    fix_name(&fix, AP_EXT_NAME, 1, "first");
    fix_append(fix.ext, AP_EXT_NAMES_NAME, &inside, sizeof(inside));
    fix_append(fix.ext, AP_EXT_NAMES_NAME, "a\0bcdef", 8);
    fix_append(fix.ext, AP_EXT_NAMES_NAME, &torn, sizeof(torn));
    fix_append(fix.ext, AP_EXT_NAMES_NAME, "cut", 3);
    fix_marks(&fix, TX_SLICE "0", "m", 0, 3);
    fix_ext(&fix, 0, 0, AP_EXT_NAME, 4);
    fix_ext(&fix, 0, 2, AP_EXT_NAME, 1);
    fix_ext(&fix, 0, 1, AP_EXT_NAME, 1);
    fix_append(fix.ext, AP_EXT_STAMP_NAME, "torn", 4);
    back = open_fix(&fix);
    assert_string_equal(ap__reader_hash_text(back->reader, 1), "one");
    assert_string_equal(ap__reader_hash_text(back->reader, 2), "two");
    assert_null(ap__reader_hash_text(back->reader, 3));
    assert_string_equal(ap__reader_type_name(back->reader, 1, 2), "a");
    assert_string_equal(ap__reader_type_name(back->reader, 3, 4), "d");
    assert_null(ap__reader_type_name(back->reader, 0, 1));
    assert_string_equal(back->stamps[2].message, "first");
    assert_string_equal(back->stamps[0].message, "a");
    assert_int_equal(back->stamps[0].message_length, 1);
    assert_true(read_back_has_note(back, "hash_dic.slice_0: 4 damaged lines"));
    assert_true(read_back_has_note(back, "type_info_dic.slice_0: the last line has no end"));
    assert_true(read_back_has_note(back, "names.dic: damaged or cut after byte 48"));
    assert_true(read_back_has_note(back, "stamp_ext: a torn last entry"));
    assert_true(read_back_has_note(back, "stamp_ext is damaged: entries out of order"));
    read_back_close(back);
    fix_close(&fix);
}

/* An alarm ends the test program if one of them blocks. */
static void links_pipes_and_devices_are_not_opened(void **state)
{
    const scratch *s = *state;
    prof_fix fix;
    ap__reader_error error;
    read_back *back = NULL;
    ap__wire_additional secret = fix_stamp(AP_TX_MARK, 1, 1, 1, "secret");

    fix_make(&fix, s, true);
    fix_end(&fix);
    fix_put(s->fd, "secret", &secret, sizeof(secret));
    fix_marks(&fix, TX_SLICE "0", "m", 0, 1);
    assert_int_equal(symlinkat("../../../secret", fix.data, TX_SLICE "1"), 0);
    assert_int_equal(mkfifoat(fix.data, TX_SLICE "2", 0600), 0);
    assert_int_equal(mkdirat(fix.data, TX_SLICE "3", 0700), 0);
    assert_int_equal(symlinkat("/dev/zero", fix.data, "unaging.additional.hash_dic.slice_0"), 0);
    assert_int_equal(unlinkat(fix.host, "info.json", 0), 0);
    assert_int_equal(mkfifoat(fix.host, "info.json", 0600), 0);
    assert_int_equal(unlinkat(fix.host, "sample.json", 0), 0);
    assert_int_equal(symlinkat("/dev/zero", fix.host, "sample.json"), 0);
    assert_int_equal(mkfifoat(fix.ext, AP_EXT_NAMES_NAME, 0600), 0);
    assert_int_equal(mkfifoat(fix.ext, AP_EXT_STAMP_NAME, 0600), 0);
    assert_int_equal(mkfifoat(fix.ext, AP_EXT_ACCOUNT_NAME, 0600), 0);
    assert_int_equal(mkfifoat(fix.ext, AP_ARENA_NAME, 0600), 0);
    alarm(20);
    back = open_fix(&fix);
    alarm(0);
    assert_int_equal(back->count, 1);
    assert_true(read_back_has_note(back, "slice_1 is not a file"));
    assert_true(read_back_has_note(back, "slice_2 is not a file"));
    assert_true(read_back_has_note(back, "slice_3 is not a file"));
    assert_true(read_back_has_note(back, "info.json is a pipe"));
    assert_true(read_back_has_note(back, "sample.json is a symbolic link"));
    assert_true(read_back_has_note(back, "names.dic is a pipe"));
    assert_true(read_back_has_note(back, "stamp_ext is a pipe"));
    assert_true(read_back_has_note(back, "account.json is a pipe"));
    assert_true(read_back_has_note(back, "arena is a pipe"));
    read_back_close(back);

    assert_int_equal(renameat(fix.fd, "host", fix.fd, "real"), 0);
    assert_int_equal(symlinkat("real", fix.fd, "host"), 0);
    assert_null(ap__reader_open(fix.path, &error));
    assert_int_equal(error.code, AP_READER_NO_HOST);
    assert_non_null(strstr(error.text, "link or no directory"));
    fix_close(&fix);
}

static double seconds_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void huge_files_without_content_cost_nothing(void **state)
{
    static const char *const files[] = {"unaging.additional.hash_dic.slice_0",
                                        "unaging.additional.type_info_dic.slice_0",
                                        TX_SLICE "0", TX_SLICE "4294967295",
                                        "aging.compact.task_track.slice_0"};
    const uint64_t huge = (uint64_t)1 << 42;
    static ap__recover_report report;
    prof_fix fix;
    read_back *back = NULL;
    double begin = 0;

    fix_make(&fix, *state, true);
    fix_end(&fix);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        fix_sparse(fix.data, files[i], huge);
    }
    fix_sparse(fix.host, "info.json", huge);
    fix_sparse(fix.host, "host_start.log", huge);
    fix_sparse(fix.ext, AP_EXT_NAMES_NAME, huge);
    fix_sparse(fix.ext, AP_EXT_STAMP_NAME, huge);
    fix_sparse(fix.ext, AP_EXT_ACCOUNT_NAME, huge);
    fix_sparse(fix.ext, AP_ARENA_NAME, huge);
    fix_marks(&fix, TX_SLICE "1", "m", 0, 2);
    begin = seconds_now();
    back = open_fix(&fix);
    assert_true(seconds_now() - begin < 20);
    assert_int_equal(back->count, 2);
    assert_true(read_back_has_note(back, "info.json has "));
    assert_true(read_back_has_note(back, "damaged records skipped"));
    read_back_close(back);

    /* the same to recovery; a record of 64 bytes, and one of 40, which no buffer holds evenly */
    assert_int_equal(unlinkat(fix.host, "end_info", 0), 0);
    assert_int_equal(unlinkat(fix.ext, AP_ARENA_NAME, 0), 0);
    fix_text(fix.data, "unaging.additional.hash_dic.slice_0", "1:one\n2:tw");
    fix_sparse(fix.data, "unaging.additional.hash_dic.slice_0", huge);
    fix_sparse(fix.data, "aging.api_event.data.slice_0", huge);
    alarm(50);
    assert_int_equal(ap__recover(fix.path, &report), 0);
    alarm(0);
    ap__recover_report_free(&report);
    assert_int_equal(scratch_size(fix.data, "unaging.additional.hash_dic.slice_0"), 6);
    fix_close(&fix);
}

static uint64_t random_next(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

typedef struct mutant {
    int dirfd;
    const char *name;
    char *bytes;
    size_t size;
} mutant;

/* One random change: a byte, a word of all ones, a cut, or a part doubled. */
static void mutate(const mutant *m, uint64_t *x)
{
    char *copy = malloc(m->size * 2 + 8);
    size_t size = m->size;
    size_t at = size != 0 ? random_next(x) % size : 0;

    assert_non_null(copy);
    memcpy(copy, m->bytes, size);
    switch (random_next(x) % 5) {
    case 0:
        size = at;
        break;
    case 1:
        memset(copy + at, 0xff, size - at < 8 ? size - at : 8);
        break;
    case 2:
        memmove(copy + size, copy + at, size - at);
        size += size - at;
        break;
    default:
        for (unsigned i = 0; i < 4 && size != 0; i++) {
            copy[random_next(x) % size] ^= (char)(1u << random_next(x) % 8);
        }
    }
    fix_put(m->dirfd, m->name, copy, size);
    free(copy);
}

static void make_unfinished(const prof_fix *fix)
{
    static const uint64_t ids[] = {9 | 5ull << 32, 77, 1, 2, 3};
    arena_image image;

    fix_marks(fix, TX_SLICE "0", "d", 0, 20);
    fix_name(fix, AP_EXT_NAME, 1, "whole");
    fix_name(fix, AP_EXT_NAME, 2, "tag");
    fix_name(fix, AP_EXT_CATEGORY, 9, "category");
    fix_ext(fix, 0, 4, AP_EXT_NAME, 1);
    image_make(&image, 2, 4096);
    image_owner(&image, 0, 7);
    image_marks(&image, 0, "d", 0, 20);
    image_checkpoint(&image, 20, 0, 20 * 256, sizeof(ap__ext_stamp));
    image_event_full(&image, 0, AP_REC_PUSH_POP, 3000000, 3000100,
                     AP_BODY_ATTR | AP_BODY_NAME | AP_BODY_TAG | AP_BODY_STACK | AP_BODY_CUT, ids,
                     5, "who");
    image_owner(&image, 1, 8);
    image_marks(&image, 1, "r", 0, 30);
    image_ring(&image, 1)->depth = 2;
    image_write(&image, fix);
    image_free(&image);
}

static unsigned take_mutants(mutant *list, const prof_fix *fix)
{
    const mutant files[] = {
        {fix->host, "info.json", NULL, 0},         {fix->host, "start_info", NULL, 0},
        {fix->host, "host_start.log", NULL, 0},    {fix->data, TX_SLICE "0", NULL, 0},
        {fix->ext, AP_EXT_NAMES_NAME, NULL, 0},    {fix->ext, AP_EXT_STAMP_NAME, NULL, 0},
        {fix->ext, AP_ARENA_NAME, NULL, 0},
        {fix->data, "unaging.additional.type_info_dic.slice_0", NULL, 0},
    };
    unsigned n = sizeof(files) / sizeof(files[0]);

    for (unsigned i = 0; i < n; i++) {
        list[i] = files[i];
        list[i].bytes = scratch_read(files[i].dirfd, files[i].name, &list[i].size);
        assert_non_null(list[i].bytes);
    }
    return n;
}

static void clean_after_recovery(const prof_fix *fix)
{
    static const char *const made[] = {"end_info", "end_info.done", "info.json.done",
                                       "sample.json.done", "start_info.done",
                                       "host_start.log.done"};

    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        (void)unlinkat(fix->host, made[i], 0);
    }
    scratch_remove_tree(fix->host, "data");
    scratch_remove_tree(fix->host, AP_EXT_DIR);
}

/* No claim on the results but that there are some, and that what recovery leaves can be read and
 * balances. The changes are the same in every run. */
static void random_damage_never_crashes(void **state)
{
    uint64_t x = 88172645463325252ull;
    static ap__recover_report report;

    for (unsigned round = 0; round < 150; round++) {
        scratch sub;
        prof_fix fix;
        mutant list[16];
        unsigned n = 0;
        read_back *back = NULL;

        assert_true(snprintf(sub.path, sizeof(sub.path), "%s/%u", ((scratch *)*state)->path,
                             round) < (int)sizeof(sub.path));
        assert_int_equal(mkdir(sub.path, 0700), 0);
        sub.fd = open(sub.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        fix_make(&fix, &sub, true);
        make_unfinished(&fix);
        n = take_mutants(list, &fix);
        mutate(&list[random_next(&x) % n], &x);
        mutate(&list[random_next(&x) % 2 == 0 ? 6 : random_next(&x) % n], &x);
        if (random_next(&x) % 4 != 0) { /* the heads of the arena and of ring 1, where it hurts */
            size_t at = random_next(&x) % 2 == 0 ? random_next(&x) % 300
                                                 : AP_ARENA_HEAD_BYTES + random_next(&x) % 128;

            list[6].bytes[at] ^= (char)(1u << random_next(&x) % 8);
            fix_put(fix.ext, AP_ARENA_NAME, list[6].bytes, list[6].size);
        }
        back = open_fix(&fix);
        read_back_close(back);
        if (ap__recover(fix.path, &report) == 0) {
            back = open_fix(&fix);
            if (ap__reader_account_of(back->reader) != NULL) {
                assert_true(read_back_account_balances(back));
            }
            read_back_close(back);
        } else {
            assert_true(report.error[0] != '\0');
        }
        ap__recover_report_free(&report);
        for (unsigned i = 0; i < n; i++) {
            free(list[i].bytes);
        }
        clean_after_recovery(&fix);
        fix_close(&fix);
        close(sub.fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(torn_and_bad_records_are_skipped, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(missing_and_damaged_control_files_are_told, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(damaged_dictionaries_keep_what_is_whole, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(links_pipes_and_devices_are_not_opened, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(huge_files_without_content_cost_nothing, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(random_damage_never_crashes, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
