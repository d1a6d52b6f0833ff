/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader gives back of whole directories. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include "scratch.h"

#include "prof_fixture.h"
#include "read_back.h"

static read_back *open_fix(const prof_fix *fix)
{
    read_back *back = read_back_open(fix->path);

    assert_non_null(back);
    return back;
}

static void every_field_of_a_stamp(void **state)
{
    prof_fix fix;
    ap__wire_additional record;
    ap__stamp_fields f = {.event_type = AP_TX_RANGE, .tid = 43, .pid = 42, .category = 9,
                          .payload_type = -2, .payload = UINT64_MAX - 1,
                          .start_ns = FIX_MONO + 5, .end_ns = FIX_MONO + 1000005,
                          .message = "hello", .length = 5};
    const ap__stamp_record *s = NULL;
    read_back *back = NULL;

    fix_make(&fix, *state, true);
    fix_end(&fix);
    ap__encode_stamp(&record, &f);
    fix_append(fix.data, TX_SLICE "0", &record, sizeof(record));
    fix_name(&fix, AP_EXT_CATEGORY, 9, "training");
    back = open_fix(&fix);
    assert_int_equal(back->count, 1);
    s = &back->stamps[0];
    assert_int_equal(s->event, AP_TX_RANGE);
    assert_int_equal(s->info_type, AP_TX_INFO_STAMP);
    assert_int_equal(s->pid, 42);
    assert_int_equal(s->tid, 43);
    assert_int_equal(s->category, 9);
    assert_string_equal(s->category_name, "training");
    assert_int_equal(s->payload_type, -2);
    assert_true(s->payload == UINT64_MAX - 1);
    assert_true(s->start_ns == FIX_MONO + 5);
    assert_true(s->end_ns == FIX_MONO + 1000005);
    assert_true(ap__reader_wall_ns(back->reader, s->end_ns) == FIX_WALL_US * 1000 + 1000005);
    assert_string_equal(s->message, "hello");
    assert_int_equal(s->message_length, 5);
    assert_false(s->message_cut);
    assert_null(s->tag);
    assert_null(s->call_stack);
    assert_int_equal(s->segments, 1);
    assert_false(s->from_ring);
    assert_int_equal(ap__reader_state_of(back->reader), AP_READER_FINISHED);
    assert_string_equal(ap__reader_meta(back->reader)->process_name, "demo");
    assert_true(ap__reader_meta(back->reader)->end_wall_us == 1735689602000000ull);
    assert_null(ap__reader_note(back->reader, 0));
    read_back_close(back);
    fix_close(&fix);
}

static void long_names_tags_and_stacks_come_from_our_files(void **state)
{
    static const char whole[] = "a message that did not fit and is kept whole elsewhere";
    prof_fix fix;
    read_back *back = NULL;

    fix_make(&fix, *state, true);
    fix_end(&fix);
    fix_marks(&fix, TX_SLICE "0", "m", 0, 600);
    fix_marks(&fix, TX_SLICE "1", "n", 0, 3);
    fix_ext(&fix, 0, 1, AP_EXT_NAME, 77);
    fix_ext(&fix, 0, 1, AP_EXT_TAG, 78);
    fix_ext(&fix, 0, 1, AP_EXT_STACK, 79);
    for (uint32_t i = 2; i < 599; i++) {
        fix_ext(&fix, 0, i, AP_EXT_TAG, 78);
    }
    fix_ext(&fix, 1, 2, AP_EXT_NAME, 99); /* text was never written */
    fix_name(&fix, AP_EXT_NAME, 77, whole);
    fix_name(&fix, AP_EXT_NAME, 78, "tag text");
    fix_name(&fix, AP_EXT_NAME, 79, "main\nstep");
    fix_name(&fix, AP_EXT_NAME, 77, "a second text of one id is ignored");
    back = open_fix(&fix);
    assert_int_equal(back->count, 603);
    assert_string_equal(back->stamps[0].message, "m0");
    assert_null(back->stamps[0].tag);
    assert_string_equal(back->stamps[1].message, whole);
    assert_string_equal(back->stamps[1].tag, "tag text");
    assert_string_equal(back->stamps[1].call_stack, "main\nstep");
    assert_string_equal(back->stamps[598].tag, "tag text");
    assert_null(back->stamps[599].tag);
    assert_string_equal(back->stamps[602].message, "n2");
    assert_true(back->stamps[602].message_cut);
    assert_int_equal(back->stamps[602].slice, 1);
    assert_int_equal(back->stamps[602].index, 2);
    assert_null(ap__reader_note(back->reader, 0));
    read_back_close(back);
    fix_close(&fix);
}

static void counters_are_converted_without_loss(void **state)
{
    static const uint64_t counter = 9007199254740993ull; /* 2^53 + 1: no double holds it */
    prof_fix fix;
    ap__wire_additional record = fix_stamp(AP_TX_PUSH_POP, 1, counter + 7, counter + 333, "t");
    ap__wire_additional early = fix_stamp(AP_TX_MARK, 1, 5, 5, "early");
    read_back *back = NULL;

    fix_make(&fix, *state, false);
    fix_end(&fix);
    fix_info(&fix, "100.000000", 1);
    fix_host_start(&fix, FIX_MONO, counter, 0);
    fix_append(fix.data, TX_SLICE "0", &record, sizeof(record));
    fix_append(fix.data, TX_SLICE "0", &early, sizeof(early));
    back = open_fix(&fix);
    assert_true(back->stamps[0].start_ns == FIX_MONO + 70);
    assert_true(back->stamps[0].end_ns == FIX_MONO + 3330);
    assert_true(back->stamps[1].start_ns == 0); /* before the clock began */
    read_back_close(back);

    fix_host_start(&fix, FIX_MONO, counter, 100);
    back = open_fix(&fix);
    assert_true(back->stamps[0].start_ns == FIX_MONO + 1070);
    read_back_close(back);

    fix_info(&fix, "1500", 1);
    fix_host_start(&fix, FIX_MONO, counter, 0);
    back = open_fix(&fix);
    assert_true(back->stamps[0].end_ns == FIX_MONO + 222);
    read_back_close(back);
    fix_close(&fix);
}

static void slices_in_order_of_their_numbers(void **state)
{
    prof_fix fix;
    read_back *back = NULL;

    fix_make(&fix, *state, false);
    fix_end(&fix);
    for (unsigned k = 0; k < 12; k++) {
        char name[64];

        snprintf(name, sizeof(name), TX_SLICE "%u", 11 - k);
        fix_marks(&fix, name, "m", 11 - k, 1);
        snprintf(name, sizeof(name), TX_SLICE "%u.done", 11 - k);
        fix_text(fix.data, name, "filesize:256\nstarttime:0\nendtime  :0\n");
    }
    fix_marks(&fix, TX_SLICE "07", "no number of ours", 0, 1);
    fix_marks(&fix, TX_SLICE "1x", "no number", 0, 1);
    fix_marks(&fix, TX_SLICE "99999999999", "too large", 0, 1);
    back = open_fix(&fix);
    assert_int_equal(back->count, 12);
    for (unsigned i = 0; i < 12; i++) {
        char message[16];

        snprintf(message, sizeof(message), "m%u", i);
        assert_string_equal(back->stamps[i].message, message);
        assert_int_equal(back->stamps[i].slice, i);
    }
    read_back_close(back);
    fix_close(&fix);
}

static ap__wire_additional segment(uint32_t tid, uint64_t mark_id, uint16_t number, char c,
                                   unsigned length)
{
    char text[256];
    ap__wire_additional record;
    ap__wire_tx tx;

    memset(text, c, length);
    text[length] = '\0';
    record = fix_stamp(AP_TX_RANGE, tid, FIX_MONO, FIX_MONO + tid, text);
    memcpy(&tx, record.data, sizeof(tx));
    tx.info_type = AP_TX_INFO_EX;
    tx.segment = number;
    tx.mark_id = mark_id;
    tx.domain = 5;
    memcpy(record.data, &tx, sizeof(tx));
    return record;
}

static void segments_of_a_message_are_joined(void **state)
{
    prof_fix fix;
    ap__wire_additional parts[] = {
        segment(1, 10, 0, 'a', 155), segment(2, 11, 0, 'x', 153), /* cut at a character */
        segment(1, 10, 1, 'b', 155), segment(2, 11, 1, 'y', 1),
        segment(1, 10, 2, 'c', 3),   segment(1, 12, 0, 'd', 155), /* nothing follows */
        segment(1, 13, 0, 'e', 2),   segment(1, 14, 5, 'f', 4),   /* its beginning is gone */
        segment(3, 15, 0, 'g', 155), segment(3, 15, 2, 'h', 1), /* one in between is lost */
    };
    read_back *back = NULL;

    fix_make(&fix, *state, false);
    fix_end(&fix);
    fix_text(fix.data, "unaging.additional.hash_dic.slice_0", "5:my:domain\n5:second\n");
    fix_append(fix.data, TX_SLICE "0", parts, 3 * sizeof(parts[0]));
    fix_append(fix.data, TX_SLICE "1", parts + 3, sizeof(parts) - 3 * sizeof(parts[0]));
    back = open_fix(&fix);
    assert_int_equal(back->count, 7);
    assert_int_equal(back->stamps[0].message_length, 154);
    assert_int_equal(back->stamps[0].segments, 2);
    assert_int_equal(back->stamps[0].message[153], 'y');
    assert_int_equal(back->stamps[0].tid, 2);
    assert_int_equal(back->stamps[1].message_length, 313);
    assert_int_equal(back->stamps[1].segments, 3);
    assert_int_equal(back->stamps[1].message[312], 'c');
    assert_string_equal(back->stamps[1].domain_name, "my:domain");
    assert_true(back->stamps[1].mark_id == 10);
    assert_int_equal(back->stamps[2].message_length, 155);
    assert_int_equal(back->stamps[2].message[0], 'd');
    assert_string_equal(back->stamps[3].message, "ee");
    assert_string_equal(back->stamps[4].message, "ffff");
    assert_int_equal(back->stamps[5].message_length, 155);
    assert_int_equal(back->stamps[5].message[0], 'g');
    assert_string_equal(back->stamps[6].message, "h");
    read_back_close(back);
    fix_close(&fix);
}

static void all_kinds_of_records(void **state)
{
    prof_fix fix;
    ap__reader_error error;
    ap__reader *reader = NULL;
    ap__records *records = NULL;
    ap__raw_record r;
    ap__wire_api api = {.magic = AP_WIRE_MAGIC, .level = AP_LEVEL_RUNTIME, .type = 1003,
                        .thread_id = 3, .begin = FIX_MONO + 1, .end = FIX_MONO + 9, .item_id = 6};
    ap__wire_event event = {.magic = AP_WIRE_MAGIC, .level = AP_LEVEL_MODEL, .type = 1,
                            .thread_id = 3, .request_id = 8, .time_stamp = FIX_MONO + 4,
                            .end = AP_WIRE_EVENT_END, .item_id = 2};
    ap__wire_compact compact = {.magic = AP_WIRE_MAGIC, .level = AP_LEVEL_RUNTIME, .type = 802,
                                .thread_id = 3, .data_length = 24, .time_stamp = FIX_MONO + 5,
                                .data = {1, 2, 3}};
    ap__wire_additional more = {.magic = AP_WIRE_MAGIC, .level = AP_LEVEL_NODE, .type = 1,
                                .data_length = 4000000000u, .time_stamp = FIX_MONO};

    fix_make(&fix, *state, false);
    fix_end(&fix);
    fix_append(fix.data, "aging.api_event.data.slice_0", &api, sizeof(api));
    fix_append(fix.data, "unaging.api_event.data.slice_0", &event, sizeof(event));
    fix_append(fix.data, "aging.compact.task_track.slice_0", &compact, sizeof(compact));
    fix_append(fix.data, "aging.additional.tensor_info.slice_0", &more, sizeof(more));
    fix_text(fix.data, "host_cpu.data.slice_0", "time 5\n");
    fix_marks(&fix, TX_SLICE "0", "m", 0, 1);
    reader = ap__reader_open(fix.path, &error);
    assert_non_null(reader);

    records = ap__records_open(reader, AP_RECORD_API, NULL);
    assert_true(ap__records_next(records, &r));
    assert_true(r.aging && !r.is_event && r.item == 6);
    assert_true(r.begin_ns == FIX_MONO + 1 && r.end_ns == FIX_MONO + 9);
    assert_string_equal(r.type_name, "KernelLaunch");
    assert_true(ap__records_next(records, &r));
    assert_true(!r.aging && r.is_event && r.request == 8 && r.item == 2);
    assert_true(r.begin_ns == FIX_MONO + 4 && r.end_ns == FIX_MONO + 4);
    assert_null(r.type_name);
    assert_false(ap__records_next(records, &r));
    assert_false(ap__records_next(records, &r));
    ap__records_close(records);

    records = ap__records_open(reader, AP_RECORD_COMPACT | AP_RECORD_ADDITIONAL, NULL);
    assert_true(ap__records_next(records, &r));
    assert_string_equal(r.tag, "msproftx");
    assert_true(ap__records_next(records, &r));
    assert_string_equal(r.tag, "tensor_info");
    assert_int_equal(r.payload.size, 232); /* not what the header claims */
    assert_true(ap__records_next(records, &r));
    assert_string_equal(r.tag, "task_track");
    assert_int_equal(r.payload.size, 24);
    assert_int_equal(r.payload.data[2], 3);
    assert_int_equal(r.record.size, 64);
    assert_false(ap__records_next(records, &r));
    ap__records_close(records);

    records = ap__records_open(reader, AP_RECORD_COMPACT, "memcpy_info");
    assert_false(ap__records_next(records, &r));
    ap__records_close(records);
    ap__reader_close(reader);
    fix_close(&fix);
}

/* Compact records may straddle slices; the oldest slices may be gone. */
static void records_over_slice_ends(void **state)
{
    prof_fix fix;
    ap__reader_error error;
    ap__reader *reader = NULL;
    ap__records *records = NULL;
    ap__record_counts counts;
    ap__raw_record r;
    ap__wire_compact all[9];

    for (unsigned i = 0; i < 9; i++) {
        memset(&all[i], 0, sizeof(all[i]));
        all[i].magic = AP_WIRE_MAGIC;
        all[i].type = i;
    }
    fix_make(&fix, *state, false);
    fix_end(&fix);
    fix_append(fix.data, "aging.compact.task_track.slice_0", all, 100);
    fix_append(fix.data, "aging.compact.task_track.slice_1", (uint8_t *)all + 100, 30);
    fix_append(fix.data, "aging.compact.task_track.slice_2", (uint8_t *)all + 130, 190 + 20);
    /* starts in the middle of a record */
    fix_append(fix.data, "aging.compact.memcpy_info.slice_4", (uint8_t *)all + 40, 24 + 100);
    fix_append(fix.data, "aging.compact.memcpy_info.slice_5", (uint8_t *)all + 164, 92);
    reader = ap__reader_open(fix.path, &error);
    assert_non_null(reader);

    records = ap__records_open(reader, AP_RECORD_COMPACT, "task_track");
    for (unsigned i = 0; i < 5; i++) {
        assert_true(ap__records_next(records, &r));
        assert_int_equal(r.type, i);
        assert_int_equal(r.slice, i < 2 ? 0 : (i == 2 ? 1 : 2)); /* where it begins */
        assert_int_equal(r.index, i < 2 ? i : (i == 2 ? 0 : i - 3));
    }
    assert_false(ap__records_next(records, &r));
    ap__records_counts(records, &counts);
    assert_int_equal(counts.records, 5);
    assert_int_equal(counts.torn_bytes, 20);
    ap__records_close(records);

    records = ap__records_open(reader, AP_RECORD_COMPACT, "memcpy_info");
    for (unsigned i = 1; i < 4; i++) {
        assert_true(ap__records_next(records, &r));
        assert_int_equal(r.type, i);
    }
    assert_false(ap__records_next(records, &r));
    ap__records_close(records);
    ap__reader_close(reader);
    fix_close(&fix);
}

static void the_account_keeps_every_bit(void **state)
{
    prof_fix fix;
    const ap__reader_account *a = NULL;
    read_back *back = NULL;

    fix_make(&fix, *state, true);
    fix_end(&fix);
    fix_text(fix.ext, AP_EXT_ACCOUNT_NAME,
             "{\"version\":1,\"state\":\"finished\",\"arena\":\"file\",\"data_types\":128,"
             "\"clock_is_ns\":true,\"disk_errno\":28,\"total\":{\"emitted\":18446744073709551615,"
             "\"written\":9007199254740993,\"lost_full\":3},\"threads\":[{\"tid\":9,\"emitted\":5,"
             "\"written\":4,\"lost_full\":1}],\"clock_points\":[{\"cycles\":1,\"real_ns\":"
             "1735689600000000001,\"note\":\"a \\\" 12 in a text\"}]}\n");
    back = open_fix(&fix);
    a = ap__reader_account_of(back->reader);
    assert_non_null(a);
    assert_string_equal(a->state, "finished");
    assert_true(a->clock_is_ns);
    assert_int_equal(a->disk_errno, 28);
    assert_true(a->total.emitted == UINT64_MAX);
    assert_true(a->total.written == 9007199254740993ull);
    assert_int_equal(a->total.lostRingFull, 3);
    assert_int_equal(a->thread_count, 1);
    assert_int_equal(a->threads[0].tid, 9);
    assert_int_equal(a->point_count, 1);
    assert_true(a->points[0].real_ns == 1735689600000000001ull);
    read_back_close(back);

    fix_text(fix.ext, AP_EXT_ACCOUNT_NAME, "{\"version\":2}");
    back = open_fix(&fix);
    assert_null(ap__reader_account_of(back->reader));
    assert_true(read_back_has_note(back, "version 2"));
    read_back_close(back);
    fix_close(&fix);
}

static void a_path_may_name_the_directory_above(void **state)
{
    const scratch *s = *state;
    prof_fix fix;
    ap__reader_error error;
    ap__reader *reader = NULL;
    char *path = NULL;
    char file[640];

    fix_make(&fix, s, false);
    fix_end(&fix);
    path = read_back_prof_path(s->path);
    assert_string_equal(path, fix.path);
    free(path);

    assert_null(ap__reader_open("/no/such/place", &error));
    assert_int_equal(error.code, AP_READER_NOT_FOUND);
    assert_non_null(strstr(error.text, "/no/such/place"));
    snprintf(file, sizeof(file), "%s/file", s->path);
    fix_text(s->fd, "file", "x");
    assert_null(ap__reader_open(file, &error));
    assert_int_equal(error.code, AP_READER_NOT_FOUND);
    assert_non_null(strstr(error.text, "not a directory"));

    assert_int_equal(mkdirat(s->fd, "PROF_2", 0750), 0);
    reader = ap__reader_open(s->path, &error);
    assert_null(reader);
    assert_int_equal(error.code, AP_READER_AMBIGUOUS);
    snprintf(file, sizeof(file), "%s/PROF_2", s->path);
    assert_null(ap__reader_open(file, &error));
    assert_int_equal(error.code, AP_READER_NO_HOST);
    fix_close(&fix);
}

static void rewinding_gives_the_same_again(void **state)
{
    prof_fix fix;
    ap__reader_error error;
    ap__reader *reader = NULL;
    ap__stamp_record stamp;
    unsigned n = 0;

    fix_make(&fix, *state, false);
    fix_end(&fix);
    fix_marks(&fix, TX_SLICE "0", "m", 0, 300);
    reader = ap__reader_open(fix.path, &error);
    for (unsigned i = 0; i < 10; i++) {
        assert_true(ap__reader_next_stamp(reader, &stamp));
    }
    ap__reader_rewind(reader);
    while (ap__reader_next_stamp(reader, &stamp)) {
        char message[16];

        snprintf(message, sizeof(message), "m%u", n++);
        assert_string_equal(stamp.message, message);
    }
    assert_int_equal(n, 300);
    ap__reader_close(reader);
    fix_close(&fix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_field_of_a_stamp, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(long_names_tags_and_stacks_come_from_our_files,
                                        scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(counters_are_converted_without_loss, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(slices_in_order_of_their_numbers, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(segments_of_a_message_are_joined, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(all_kinds_of_records, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(records_over_slice_ends, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(the_account_keeps_every_bit, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_path_may_name_the_directory_above, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(rewinding_gives_the_same_again, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
