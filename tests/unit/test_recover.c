/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery of what a killed process leaves: every event once, accounts that balance, and the same
 * answer however often it is run. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <sys/file.h>

#include "scratch.h"

#include "prof_fixture.h"
#include "read_back.h"
#include "reader/recover.h"

static ap__recover_report report;

static int recover(const prof_fix *fix)
{
    ap__recover_report_free(&report);
    return ap__recover(fix->path, &report);
}

static read_back *open_fix(const prof_fix *fix)
{
    read_back *back = read_back_open(fix->path);

    assert_non_null(back);
    return back;
}

static const aclprofStats *totals(const read_back *back)
{
    const ap__reader_account *a = ap__reader_account_of(back->reader);

    assert_non_null(a);
    return &a->total;
}

/* Marks "<prefix>0" … each once and in order. */
static void assert_marks(const read_back *back, const char *prefix, unsigned count)
{
    unsigned next = 0;

    for (size_t i = 0; i < back->count; i++) {
        const char *message = back->stamps[i].message;
        char expected[64];

        if (strncmp(message, prefix, strlen(prefix)) != 0) {
            continue;
        }
        snprintf(expected, sizeof(expected), "%s%u", prefix, next++);
        assert_string_equal(message, expected);
    }
    assert_int_equal(next, count);
}

static void assert_finished(const prof_fix *fix)
{
    static const char *const host[] = {"info.json.done", "sample.json.done", "start_info.done",
                                       "host_start.log.done", "end_info", "end_info.done"};

    for (size_t i = 0; i < sizeof(host) / sizeof(host[0]); i++) {
        assert_true(fix_exists(fix->host, host[i]));
    }
    assert_true(fix_exists(fix->data, "unaging.additional.type_info_dic.slice_0.done"));
    assert_false(fix_exists(fix->ext, AP_ARENA_NAME));
    assert_false(fix_exists(fix->ext, AP_ARENA_POINTER_NAME));
    assert_false(fix_exists(fix->ext, AP_EXT_RESERVE_NAME));
    assert_true(fix_exists(fix->ext, AP_EXT_ACCOUNT_NAME));
}

/* 10 records on disk by the checkpoint, 5 more behind it that the rings still hold, 3 in a slice
 * that should not be there. */
static void make_killed(prof_fix *fix, const scratch *s)
{
    static const uint64_t parts[] = {9 | (uint64_t)(uint32_t)-5 << 32, 77, 1, 2, 3};
    arena_image image;

    fix_make(fix, s, true);
    fix_text(fix->ext, AP_EXT_RESERVE_NAME, "reserve");
    fix_name(fix, AP_EXT_NAME, 1, "the whole of it");
    fix_name(fix, AP_EXT_NAME, 2, "tag");
    fix_name(fix, AP_EXT_NAME, 3, "stack");
    fix_marks(fix, TX_SLICE "0", "a", 0, 15);
    fix_append(fix->data, TX_SLICE "0", "torn", 4);
    fix_marks(fix, TX_SLICE "1", "a", 15, 3);
    fix_text(fix->data, TX_SLICE "1.done", "filesize:768\nstarttime:0\nendtime  :0\n");
    fix_ext(fix, 0, 3, AP_EXT_TAG, 2);
    fix_ext(fix, 0, 12, AP_EXT_TAG, 1);
    image_make(&image, 3, 4096);
    image_owner(&image, 0, 7);
    image_marks(&image, 0, "a", 0, 10);
    image_checkpoint(&image, 10, 0, 10 * 256, sizeof(ap__ext_stamp));
    image_marks(&image, 0, "a", 10, 20);
    image_owner(&image, 1, 8);
    image_event_full(&image, 1, AP_REC_PUSH_POP, 3000000, 3000100,
                     AP_BODY_ATTR | AP_BODY_NAME | AP_BODY_TAG | AP_BODY_STACK | AP_BODY_CUT,
                     parts, 5, "the who");
    image_event(&image, 1, AP_REC_RANGE, 3000200, 3000300, "range");
    image_write(&image, fix);
    image_free(&image);
}

static void assert_killed_content(const read_back *back, bool recovered)
{
    const ap__stamp_record *s = NULL;

    assert_int_equal(back->count, 32);
    assert_marks(back, "a", 30);
    s = read_back_find(back, "the whole of it", 0);
    assert_non_null(s);
    assert_string_equal(s->tag, "tag");
    assert_int_equal(s->event, AP_TX_PUSH_POP);
    assert_true(s->start_ns == FIX_MONO + 3000000);
    assert_true(s->end_ns == FIX_MONO + 3000100);
    assert_int_equal(s->tid, 8);
    assert_int_equal(s->category, 9);
    assert_int_equal(s->payload_type, -5);
    assert_int_equal(s->payload, 77);
    assert_string_equal(s->call_stack, "stack");
    assert_int_equal(s->from_ring, !recovered);
    s = read_back_find(back, "range", 0);
    assert_int_equal(s->event, AP_TX_RANGE);
    assert_true(s->end_ns == FIX_MONO + 3000300);
    s = read_back_find(back, "a3", 0);
    assert_string_equal(s->tag, "tag");
    assert_null(read_back_find(back, "a12", 0)->tag);
}

static void events_left_in_rings_come_out_once(void **state)
{
    prof_fix fix;
    read_back *back = NULL;
    char text[4096];

    make_killed(&fix, *state);
    back = open_fix(&fix);
    assert_int_equal(ap__reader_state_of(back->reader), AP_READER_UNFINISHED);
    assert_killed_content(back, false);
    assert_null(ap__reader_account_of(back->reader));
    read_back_close(back);

    assert_int_equal(recover(&fix), 0);
    assert_int_equal(report.code, AP_RECOVER_DONE);
    assert_int_equal(report.on_disk, 10);
    assert_int_equal(report.saved, 22);
    assert_int_equal(report.in_flight, 0);
    assert_int_equal(report.damaged_rings, 0);
    assert_true(ap__recover_report_text(&report, text, sizeof(text)) < sizeof(text));
    assert_non_null(strstr(text, "10 were on disk, 22 saved from memory"));
    assert_finished(&fix);
    assert_int_equal(scratch_size(fix.data, TX_SLICE "0"), 32 * 256);
    scratch_assert_text(fix.data, TX_SLICE "0.done", "filesize:8192\nstarttime:0\nendtime  :0\n");
    assert_false(fix_exists(fix.data, TX_SLICE "1"));
    assert_false(fix_exists(fix.data, TX_SLICE "1.done"));

    back = open_fix(&fix);
    assert_int_equal(ap__reader_state_of(back->reader), AP_READER_RECOVERED);
    assert_killed_content(back, true);
    assert_true(read_back_account_balances(back));
    assert_int_equal(totals(back)->emitted, 32);
    assert_int_equal(totals(back)->lostTotal, 0);
    assert_int_equal(totals(back)->threads, 2);
    assert_true(ap__reader_meta(back->reader)->end_mono_ns == FIX_MONO + 3000300);
    read_back_print_notes(back);
    assert_null(ap__reader_note(back->reader, 0));
    read_back_close(back);

    assert_int_equal(recover(&fix), 0);
    assert_int_equal(report.code, AP_RECOVER_NOTHING);
    assert_int_equal(scratch_size(fix.data, TX_SLICE "0"), 32 * 256);
    ap__recover_report_free(&report);
    fix_close(&fix);
}

/* The writer gives up only what the counters tell, with the cause. */
static void losses_are_told_by_cause(void **state)
{
    prof_fix fix;
    arena_image image;
    read_back *back = NULL;
    const ap__reader_account *account = NULL;

    fix_make(&fix, *state, true);
    fix_marks(&fix, TX_SLICE "3", "a", 0, 6); /* slices 0 to 2 were removed for a limit */
    image_make(&image, 2, 4096);
    image_owner(&image, 0, 7);
    image_marks(&image, 0, "a", 0, 6);
    image_ring(&image, 0)->lost_full += 4;
    image_ring(&image, 0)->emitted += 4 + 2; /* 2 were drained and not written */
    image_checkpoint(&image, 30, 3, 6 * 256, 0);
    image_head(&image)->checkpoint[image_head(&image)->active].lost_disk = 2;
    image_head(&image)->checkpoint[image_head(&image)->active].aged_records = 20;
    image_ring(&image, 0)->emitted += 24; /* the removed ones; 4 of them after the checkpoint */
    image_ring(&image, 0)->lost_reentrant = 3;
    image_owner(&image, 0, 9);
    image_marks(&image, 0, "b", 0, 5);
    image_ring(&image, 0)->lost_full += 1;
    image_ring(&image, 0)->emitted += 1;
    image_write(&image, &fix);
    image_free(&image);

    assert_int_equal(recover(&fix), 0);
    back = open_fix(&fix);
    account = ap__reader_account_of(back->reader);
    assert_true(read_back_account_balances(back));
    assert_int_equal(totals(back)->written, 11);
    assert_int_equal(totals(back)->lostRingFull, 5);
    assert_int_equal(totals(back)->lostReentrant, 3);
    assert_int_equal(totals(back)->lostDisk, 2);
    assert_int_equal(totals(back)->lostAged, 24);
    assert_int_equal(totals(back)->lostDamaged, 0);
    assert_int_equal(totals(back)->emitted, 45);
    assert_int_equal(totals(back)->slicesRemoved, 3);
    assert_string_equal(account->state, "recovered");
    assert_string_equal(account->arena, "file");
    assert_int_equal(account->thread_count, 2);
    assert_int_equal(account->threads[0].tid, 7);
    assert_int_equal(account->threads[0].lost_full, 4);
    assert_int_equal(account->threads[1].tid, 9);
    assert_int_equal(account->threads[1].written, 5);
    assert_int_equal(account->threads[1].lost_full, 1);
    assert_int_equal(account->point_count, 3);
    read_back_close(back);
    ap__recover_report_free(&report);
    fix_close(&fix);
}

static void a_call_that_had_not_returned_is_not_an_event(void **state)
{
    prof_fix fix;
    arena_image image;
    read_back *back = NULL;

    fix_make(&fix, *state, true);
    image_make(&image, 2, 4096);
    image_owner(&image, 0, 7);
    image_marks(&image, 0, "a", 0, 3);
    image_ring(&image, 0)->emitted++; /* counted, killed before it was published */
    image_owner(&image, 1, 8);
    image_marks(&image, 1, "b", 0, 3);
    image_write(&image, &fix);
    image_free(&image);
    assert_int_equal(recover(&fix), 0);
    assert_int_equal(report.in_flight, 1);
    back = open_fix(&fix);
    assert_true(read_back_account_balances(back));
    assert_int_equal(totals(back)->emitted, 6);
    assert_int_equal(totals(back)->lostDamaged, 0);
    read_back_close(back);
    ap__recover_report_free(&report);
    fix_close(&fix);
}

static void what_nothing_explains_is_damage(void **state)
{
    prof_fix fix;
    arena_image image;
    read_back *back = NULL;

    fix_make(&fix, *state, true);
    image_make(&image, 1, 4096);
    image_owner(&image, 0, 7);
    image_marks(&image, 0, "a", 0, 3);
    image_ring(&image, 0)->emitted += 5;
    image_write(&image, &fix);
    image_free(&image);
    assert_int_equal(recover(&fix), 0);
    assert_int_equal(report.in_flight, 0);
    back = open_fix(&fix);
    assert_true(read_back_account_balances(back));
    assert_int_equal(totals(back)->emitted, 8);
    assert_int_equal(totals(back)->lostDamaged, 5);
    read_back_close(back);
    ap__recover_report_free(&report);
    fix_close(&fix);
}

/* Positions far beyond the ring's size, a pad at its end, owners that follow each other. */
static void rings_wrap_and_change_owners(void **state)
{
    prof_fix fix;
    arena_image image;
    read_back *back = NULL;

    fix_make(&fix, *state, true);
    image_make(&image, 1, 4096);
    image_owner(&image, 0, 7);
    fix_marks(&fix, TX_SLICE "0", "x", 0, 500);
    image_marks(&image, 0, "x", 0, 500);
    image_checkpoint(&image, 500, 0, 500 * 256, 0);
    image_marks(&image, 0, "a", 0, 20); /* tid 7 still: only drained_tid tells */
    image_owner(&image, 0, 8);
    image_marks(&image, 0, "b", 0, 70);
    image_owner(&image, 0, 9);
    image_marks(&image, 0, "c", 0, 50);
    image_write(&image, &fix);
    image_free(&image);
    assert_int_equal(recover(&fix), 0);
    assert_int_equal(report.saved, 140);
    back = open_fix(&fix);
    assert_true(read_back_account_balances(back));
    assert_marks(back, "x", 500);
    assert_marks(back, "a", 20);
    assert_marks(back, "b", 70);
    assert_marks(back, "c", 50);
    assert_int_equal(read_back_find(back, "a19", 0)->tid, 7);
    assert_int_equal(read_back_find(back, "b69", 0)->tid, 8);
    assert_int_equal(read_back_find(back, "c0", 0)->tid, 9);
    read_back_close(back);
    ap__recover_report_free(&report);
    fix_close(&fix);
}

static void damage_ends_one_ring_only(void **state)
{
    prof_fix fix;
    arena_image image;
    read_back *back = NULL;

    fix_make(&fix, *state, true);
    image_make(&image, 4, 4096);
    for (unsigned i = 0; i < 4; i++) {
        char prefix[2] = {(char)('a' + i), '\0'};

        image_owner(&image, i, 7 + i);
        image_marks(&image, i, prefix, 0, 10);
    }
    image_data(&image, 0)[48 + 5 * 24 + 2] = 9;                 /* kind of the sixth mark */
    memset(image_data(&image, 1) + 48 + 2 * 24, 0, 8);          /* words of the third */
    image_ring(&image, 2)->drained[0] = image_ring(&image, 2)->committed + 8; /* impossible */
    image_write(&image, &fix);
    image_free(&image);

    back = open_fix(&fix);
    assert_int_equal(back->count, 5 + 2 + 0 + 10);
    assert_true(read_back_has_note(back, "ring 0 is damaged (a record of unknown kind)"));
    assert_true(read_back_has_note(back, "ring 1 is damaged (a record without length)"));
    assert_true(read_back_has_note(back, "ring 2 is damaged (impossible positions)"));
    read_back_close(back);
    assert_int_equal(recover(&fix), 0);
    assert_int_equal(report.damaged_rings, 3);
    assert_int_equal(report.saved, 17);
    back = open_fix(&fix);
    assert_true(read_back_account_balances(back));
    assert_marks(back, "d", 10);
    assert_int_equal(totals(back)->emitted, 40);
    assert_int_equal(totals(back)->lostDamaged, 23);
    read_back_close(back);
    ap__recover_report_free(&report);
    fix_close(&fix);
}

static void a_running_capture_is_left_alone(void **state)
{
    prof_fix fix;
    read_back *back = NULL;
    int fd = -1;

    make_killed(&fix, *state);
    fd = openat(fix.ext, AP_ARENA_NAME, O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(recover(&fix), AP_RECOVER_RUNNING);
    assert_non_null(strstr(report.error, "still runs"));
    assert_false(fix_exists(fix.host, "end_info"));
    assert_int_equal(scratch_size(fix.data, TX_SLICE "0"), 15 * 256 + 4);
    assert_true(fix_exists(fix.data, TX_SLICE "1"));
    back = open_fix(&fix);
    assert_int_equal(ap__reader_state_of(back->reader), AP_READER_RUNNING);
    assert_int_equal(back->count, 10);
    read_back_close(back);
    close(fd);
    assert_int_equal(recover(&fix), 0);
    ap__recover_report_free(&report);
    fix_close(&fix);
}

static void another_version_is_left_alone(void **state)
{
    prof_fix fix;
    read_back *back = NULL;
    uint32_t version = AP_ARENA_VERSION + 1;
    int fd = -1;

    make_killed(&fix, *state);
    fd = openat(fix.ext, AP_ARENA_NAME, O_RDWR | O_CLOEXEC);
    assert_int_equal(pwrite(fd, &version, sizeof(version), offsetof(ap__arena_head, version)),
                     sizeof(version));
    close(fd);
    assert_int_equal(recover(&fix), AP_RECOVER_VERSION);
    assert_non_null(strstr(report.error, "version 4"));
    assert_true(fix_exists(fix.ext, AP_ARENA_NAME));
    assert_false(fix_exists(fix.host, "end_info"));
    back = open_fix(&fix);
    assert_true(read_back_has_note(back, "version 4"));
    assert_int_equal(back->count, 18); /* whatever is whole */
    read_back_close(back);
    ap__recover_report_free(&report);
    fix_close(&fix);
}

static void an_unreadable_arena_is_set_aside(void **state)
{
    prof_fix fix;
    read_back *back = NULL;

    fix_make(&fix, *state, true);
    fix_marks(&fix, TX_SLICE "0", "a", 0, 4);
    fix_append(fix.data, TX_SLICE "0", "torn", 4);
    fix_text(fix.ext, AP_ARENA_NAME, "not an arena, but longer than the head of one would have to "
                                     "be for anybody to take it for a file that was cut short by "
                                     "whatever may cut a file: a full disk, a power failure, a "
                                     "person with a text editor who thought that this was a note "
                                     "and not the memory of a process that was killed, and so on");
    assert_int_equal(recover(&fix), 0);
    assert_false(fix_exists(fix.ext, AP_ARENA_NAME));
    assert_true(fix_exists(fix.ext, AP_ARENA_NAME ".damaged"));
    back = open_fix(&fix);
    assert_marks(back, "a", 4);
    assert_true(read_back_account_balances(back));
    assert_int_equal(scratch_size(fix.data, TX_SLICE "0"), 4 * 256);
    read_back_close(back);
    assert_int_equal(recover(&fix), 0);
    assert_int_equal(report.code, AP_RECOVER_NOTHING);
    ap__recover_report_free(&report);
    fix_close(&fix);
}

/* Killed inside Start, or rings that no file holds: the files are finished all the same. */
static void without_rings_the_files_are_finished(void **state)
{
    prof_fix fix;
    read_back *back = NULL;
    static const char zeros[AP_ARENA_HEAD_BYTES];

    fix_make(&fix, *state, true);
    fix_put(fix.ext, AP_ARENA_NAME, zeros, sizeof(zeros));
    fix_marks(&fix, TX_SLICE "0", "a", 0, 3);
    fix_text(fix.data, "unaging.additional.hash_dic.slice_0", "1:one\n2:tw");
    fix_append(fix.ext, AP_EXT_NAMES_NAME, "torn", 4);
    fix_text(fix.host, "end_info", ""); /* created, never filled */
    assert_int_equal(recover(&fix), 0);
    assert_false(report.had_rings);
    assert_finished(&fix);
    scratch_assert_text(fix.data, "unaging.additional.hash_dic.slice_0", "1:one\n");
    scratch_assert_text(fix.data, "unaging.additional.hash_dic.slice_0.done",
                        "filesize:6\nstarttime:0\nendtime  :0\n");
    assert_int_equal(scratch_size(fix.ext, AP_EXT_NAMES_NAME), 0);
    back = open_fix(&fix);
    assert_true(read_back_account_balances(back));
    assert_int_equal(back->count, 3);
    assert_true(ap__reader_meta(back->reader)->end_mono_ns == FIX_MONO + 2000);
    assert_true(ap__reader_meta(back->reader)->end_wall_us == FIX_WALL_US + 2);
    read_back_close(back);

    /* again with a process that lives and no arena */
    assert_int_equal(unlinkat(fix.host, "end_info", 0), 0);
    fix_info(&fix, "", (uint32_t)getpid());
    fix_text(fix.host, "start_info", "{}"); /* a start that is not known */
    assert_int_equal(recover(&fix), AP_RECOVER_RUNNING);
    assert_false(fix_exists(fix.host, "end_info"));
    /* a capture of 2025 was not made by a process born now */
    fix_text(fix.host, "start_info", "{\"collectionTimeBegin\":\"1735689600000000\","
                                     "\"clockMonotonicRaw\":\"1000000000000\"}");
    assert_int_equal(recover(&fix), 0);
    assert_int_equal(report.code, AP_RECOVER_DONE);
    ap__recover_report_free(&report);
    fix_close(&fix);
}

static void an_unfinished_directory_of_the_vendor_is_left_alone(void **state)
{
    prof_fix fix;

    fix_make(&fix, *state, false);
    fix_marks(&fix, TX_SLICE "0", "a", 0, 3);
    assert_int_equal(recover(&fix), AP_RECOVER_FOREIGN);
    assert_non_null(strstr(report.error, "not written by this library"));
    assert_int_equal(scratch_count(fix.host), 5);
    assert_int_equal(scratch_count(fix.data), 2);
    fix_end(&fix);
    assert_int_equal(recover(&fix), 0);
    assert_int_equal(report.code, AP_RECOVER_NOTHING);
    assert_int_equal(scratch_count(fix.host), 6);
    ap__recover_report_free(&report);
    fix_close(&fix);
}

static void rings_in_shared_memory(void **state)
{
    prof_fix fix;
    arena_image image;
    read_back *back = NULL;
    char path[64];
    int shm = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (shm < 0) {
        skip();
    }
    snprintf(path, sizeof(path), "/dev/shm/aclprof-%d-test-0", (int)getpid());
    fix_make(&fix, *state, true);
    image_make(&image, 1, 4096);
    image_owner(&image, 0, 7);
    image_marks(&image, 0, "a", 0, 6);
    fix_put(shm, path + 9, image.bytes, image.size);
    image_free(&image);
    fix_text(fix.ext, AP_ARENA_POINTER_NAME, path);
    back = open_fix(&fix);
    assert_marks(back, "a", 6);
    read_back_close(back);
    assert_int_equal(recover(&fix), 0);
    assert_finished(&fix);
    assert_false(fix_exists(shm, path + 9));
    back = open_fix(&fix);
    assert_marks(back, "a", 6);
    assert_string_equal(ap__reader_account_of(back->reader)->arena, "shm");
    read_back_close(back);

    /* a machine that was restarted */
    fix_text(fix.ext, AP_ARENA_POINTER_NAME, path);
    assert_int_equal(unlinkat(fix.host, "end_info", 0), 0);
    assert_int_equal(recover(&fix), 0);
    assert_int_equal(report.code, AP_RECOVER_DONE);
    assert_false(report.had_rings);
    assert_finished(&fix);
    ap__recover_report_free(&report);
    close(shm);
    fix_close(&fix);
}

/* A pointer decides which file is deleted: only ring memory can be named. */
static void a_pointer_to_something_else_is_not_followed(void **state)
{
    const scratch *s = *state;
    static const char *const targets[] = {"/dev/shm/aclprof-../../tmp/x", "/dev/shm/other",
                                          "/etc/passwd", "/dev/shm/aclprof-1/2", "relative"};
    char mine[640];

    for (size_t i = 0; i <= sizeof(targets) / sizeof(targets[0]); i++) {
        prof_fix fix;

        fix_make(&fix, s, true);
        fix_text(s->fd, "mine", "precious");
        snprintf(mine, sizeof(mine), "%s/mine", s->path);
        fix_text(fix.ext, AP_ARENA_POINTER_NAME,
                 i < sizeof(targets) / sizeof(targets[0]) ? targets[i] : mine);
        assert_int_equal(recover(&fix), 0);
        assert_false(report.had_rings);
        assert_true(fix_exists(AT_FDCWD, "/etc/passwd"));
        scratch_assert_text(s->fd, "mine", "precious");
        assert_true(fix_exists(fix.ext, AP_ARENA_POINTER_NAME ".damaged"));
        ap__recover_report_free(&report);
        fix_close(&fix);
        scratch_remove_tree(s->fd, PROF_NAME);
    }
}

static void ring_memory_of_somebody_else_is_not_touched(void **state)
{
    prof_fix fix;
    arena_image image;
    char path[64];
    int shm = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (shm < 0 || geteuid() != 0) {
        skip(); /* only root can make a file of somebody else's */
    }
    snprintf(path, sizeof(path), "/dev/shm/aclprof-%d-test-1", (int)getpid());
    fix_make(&fix, *state, true);
    image_make(&image, 1, 4096);
    fix_put(shm, path + 9, image.bytes, image.size);
    image_free(&image);
    assert_int_equal(fchownat(shm, path + 9, 12345, 12345, 0), 0);
    fix_text(fix.ext, AP_ARENA_POINTER_NAME, path);
    assert_int_equal(recover(&fix), 0);
    assert_false(report.had_rings);
    assert_true(fix_exists(shm, path + 9));
    assert_true(fix_exists(fix.ext, AP_ARENA_POINTER_NAME ".damaged"));
    assert_int_equal(unlinkat(shm, path + 9, 0), 0);
    ap__recover_report_free(&report);
    close(shm);
    fix_close(&fix);
}

static void pushes_left_open_are_listed(void **state)
{
    prof_fix fix;
    arena_image image;
    ap__frame frames[3];
    char text[4096];
    read_back *back = NULL;

    memset(frames, 0, sizeof(frames));
    for (unsigned i = 0; i < 3; i++) {
        static const char *const names[] = {"outer", "in\033ner", "no frame of ours"};

        frames[i].cycles = FIX_CYCLES + 2 * (uint64_t)(i + 1) * 1000;
        frames[i].shape = (i + 1) | (i == 2 ? 0x80u : 0u) << 24;
        memcpy(frames[i].body, names[i], strlen(names[i]));
    }
    fix_make(&fix, *state, true);
    image_make(&image, 2, 4096);
    image_owner(&image, 0, 7);
    image_marks(&image, 0, "a", 0, 2);
    memcpy((uint8_t *)image_ring(&image, 0) + AP_RING_HEAD_BYTES, frames, sizeof(frames));
    image_ring(&image, 0)->depth = 3;
    image_ring(&image, 1)->depth = 1;
    image_ring(&image, 1)->in_use = 0; /* its thread has ended */
    image_write(&image, &fix);
    image_free(&image);
    assert_int_equal(recover(&fix), 0);
    assert_int_equal(report.open_count, 3);
    assert_int_equal(report.open_kept, 2);
    assert_int_equal(report.open[0].tid, 7);
    assert_string_equal(report.open[0].message, "outer");
    assert_true(report.open[0].since_ns == FIX_MONO + 1000);
    ap__recover_report_text(&report, text, sizeof(text));
    assert_non_null(strstr(text, "pushed and not popped: 3"));
    assert_non_null(strstr(text, "thread 7 since 1000.000001000 s: outer"));
    assert_non_null(strstr(text, "in?ner"));
    assert_true(ap__recover_report_text(&report, text, 10) > 100); /* as snprintf */
    assert_int_equal(strlen(text), 9);
    back = open_fix(&fix);
    assert_int_equal(totals(back)->openAtStop, 3);
    read_back_close(back);
    ap__recover_report_free(&report);
    fix_close(&fix);
}

/* 2 MiB slices: the checkpoint lies two records before the end of one. */
static void slices_roll_over_in_recovery(void **state)
{
    static const uint32_t full = 2048 * 1024 / 256;
    prof_fix fix;
    arena_image image;
    read_back *back = NULL;
    ap__wire_additional *records = calloc(full, sizeof(*records));
    uint64_t tag = 2;

    assert_non_null(records);
    for (uint32_t i = 0; i < full; i++) {
        records[i] = fix_stamp(AP_TX_MARK, 7, FIX_MONO, FIX_MONO, "x");
    }
    fix_make(&fix, *state, true);
    fix_name(&fix, AP_EXT_NAME, 2, "tag");
    fix_put(fix.data, TX_SLICE "0", records, full * sizeof(*records));
    fix_text(fix.data, TX_SLICE "0.done", "");
    fix_put(fix.data, TX_SLICE "1", records, (full - 2) * sizeof(*records));
    free(records);
    image_make(&image, 1, 65536);
    image_owner(&image, 0, 7);
    image_ring(&image, 0)->emitted = 2 * full - 2;
    image_checkpoint(&image, 2 * full - 2, 1, (full - 2) * 256, 0);
    for (unsigned i = 0; i < 600; i++) {
        image_event_full(&image, 0, AP_REC_MARK, 0, i, AP_BODY_TAG, &tag, 1, "tagged");
    }
    image_write(&image, &fix);
    image_free(&image);
    back = open_fix(&fix);
    assert_int_equal(back->count, 2 * full - 2 + 600);
    assert_int_equal(back->stamps[2 * full - 1].slice, 1);
    assert_int_equal(back->stamps[2 * full - 1].index, full - 1);
    assert_int_equal(back->stamps[2 * full].slice, 2);
    assert_int_equal(back->stamps[2 * full].index, 0);
    read_back_close(back);
    assert_int_equal(recover(&fix), 0);
    scratch_assert_text(fix.data, TX_SLICE "0.done",
                        "filesize:2097152\nstarttime:0\nendtime  :0\n");
    assert_int_equal(scratch_size(fix.data, TX_SLICE "1"), 2048 * 1024);
    assert_int_equal(scratch_size(fix.data, TX_SLICE "2"), 598 * 256);
    assert_true(fix_exists(fix.data, TX_SLICE "1.done"));
    assert_true(fix_exists(fix.data, TX_SLICE "2.done"));
    back = open_fix(&fix);
    assert_true(read_back_account_balances(back));
    assert_int_equal(read_back_count(back, "tagged"), 600);
    for (size_t i = 0; i < back->count; i++) {
        assert_int_equal(back->stamps[i].tag != NULL, i >= 2 * full - 2);
    }
    read_back_close(back);
    ap__recover_report_free(&report);
    fix_close(&fix);
}

/* Killed between the account of a normal Stop and its last files. */
static void the_better_account_is_kept(void **state)
{
    prof_fix fix;
    read_back *back = NULL;

    fix_make(&fix, *state, true);
    fix_marks(&fix, TX_SLICE "0", "a", 0, 2);
    fix_text(fix.ext, AP_EXT_ACCOUNT_NAME,
             "{\"version\":1,\"state\":\"finished\",\"arena\":\"file\",\"total\":{\"emitted\":5,"
             "\"written\":2,\"lost_total\":3,\"lost_no_ring\":3},\"threads\":[]}");
    assert_int_equal(recover(&fix), 0);
    assert_int_equal(report.account.lostNoRing, 3);
    back = open_fix(&fix);
    assert_string_equal(ap__reader_account_of(back->reader)->state, "finished");
    assert_int_equal(ap__reader_state_of(back->reader), AP_READER_FINISHED);
    assert_true(read_back_account_balances(back));
    read_back_close(back);
    ap__recover_report_free(&report);
    fix_close(&fix);
}

static void shorter_slices_than_promised_are_accounted(void **state)
{
    prof_fix fix;
    arena_image image;
    read_back *back = NULL;

    fix_make(&fix, *state, true);
    fix_marks(&fix, TX_SLICE "0", "a", 0, 6);
    image_make(&image, 1, 4096);
    image_owner(&image, 0, 7);
    image_marks(&image, 0, "a", 0, 10);
    image_checkpoint(&image, 10, 0, 10 * 256, 0);
    image_marks(&image, 0, "b", 0, 5);
    image_write(&image, &fix);
    image_free(&image);
    assert_int_equal(recover(&fix), 0);
    back = open_fix(&fix);
    assert_true(read_back_account_balances(back));
    assert_marks(back, "a", 6);
    assert_marks(back, "b", 5);
    assert_int_equal(totals(back)->emitted, 15);
    assert_int_equal(totals(back)->lostDamaged, 4);
    read_back_close(back);
    ap__recover_report_free(&report);
    fix_close(&fix);
}

/* Files of the directory and their bytes, as text. */
static char *listing(const prof_fix *fix)
{
    char command[700];
    char *text = calloc(1, 65536);
    FILE *pipe = NULL;
    size_t n = 0;

    assert_non_null(text);
    assert_true(snprintf(command, sizeof(command), "cd '%s' && find . | sort && find . -type f | "
                         "sort | xargs cksum", fix->path) < (int)sizeof(command));
    pipe = popen(command, "r");
    assert_non_null(pipe);
    n = fread(text, 1, 65535, pipe);
    assert_true(n > 0);
    assert_int_equal(pclose(pipe), 0);
    return text;
}

static void devices_are_finished_and_told(void **state)
{
    static ap__recover_report report;
    static char text[4096];
    char *once = NULL;
    char *twice = NULL;
    prof_fix fix;
    int device = -1;
    int data = -1;

    fix_make(&fix, *state, true);
    device = fix_mkdir(fix.fd, "device_0");
    data = fix_mkdir(device, "data");
    fix_text(device, "info.json.0", "{\"platform_version\":\"5\",\"DeviceInfo\":[]}");
    fix_sparse(data, "stars_soc.data.0.slice_0", 100); /* a record, and a piece of one */
    assert_int_equal(ap__recover(fix.path, &report), 0);
    assert_int_equal(report.devices, 1);
    (void)ap__recover_report_text(&report, text, sizeof(text));
    assert_non_null(strstr(text, "devices: 1 finished with what was on disk"));
    assert_non_null(strstr(text, "a torn end of 36 bytes removed"));
    assert_non_null(strstr(text, "what was in memory is gone"));
    ap__recover_report_free(&report);
    assert_int_equal(scratch_size(data, "stars_soc.data.0.slice_0"), 64);
    assert_true(scratch_size(data, "stars_soc.data.0.slice_0.done") > 0);
    assert_true(scratch_size(device, "end_info.0") > 0);
    once = listing(&fix);
    assert_int_equal(ap__recover(fix.path, &report), 0);
    assert_int_equal(report.code, AP_RECOVER_NOTHING);
    assert_int_equal(report.devices, 0);
    ap__recover_report_free(&report);
    twice = listing(&fix);
    assert_string_equal(once, twice);
    free(once);
    free(twice);
    close(data);
    close(device);
    fix_close(&fix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_left_in_rings_come_out_once, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(losses_are_told_by_cause, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_call_that_had_not_returned_is_not_an_event,
                                        scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(what_nothing_explains_is_damage, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(rings_wrap_and_change_owners, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(damage_ends_one_ring_only, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_running_capture_is_left_alone, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(another_version_is_left_alone, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(an_unreadable_arena_is_set_aside, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(without_rings_the_files_are_finished, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(an_unfinished_directory_of_the_vendor_is_left_alone,
                                        scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(rings_in_shared_memory, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_pointer_to_something_else_is_not_followed,
                                        scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(ring_memory_of_somebody_else_is_not_touched,
                                        scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(pushes_left_open_are_listed, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(slices_roll_over_in_recovery, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(devices_are_finished_and_told, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(the_better_account_is_kept, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(shorter_slices_than_promised_are_accounted, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
