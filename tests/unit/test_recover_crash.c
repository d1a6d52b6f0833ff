/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery that is itself killed, or meets a full disk, at every single step: running it again
 * gives what an undisturbed one gives. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <sys/syscall.h>

#include "scratch.h"

#include "prof_fixture.h"
#include "read_back.h"
#include "reader/recover.h"

/* ---- every call that changes the disk passes here ---- */

static struct {
    unsigned calls;
    unsigned die_at;  /* _exit before the n-th change; 0: never */
    unsigned fail_at; /* ENOSPC from the n-th pwrite on; 0: never */
    unsigned writes;
} steps;

static void step(void)
{
    steps.calls++;
    if (steps.die_at != 0 && steps.calls == steps.die_at) {
        _exit(99);
    }
}

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *data, size_t bytes,
                                                      off_t offset);
__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *data, size_t bytes,
                                                      off_t offset)
{
    step();
    if (steps.fail_at != 0 && ++steps.writes >= steps.fail_at) {
        errno = ENOSPC;
        return -1;
    }
    return (ssize_t)syscall(SYS_pwrite64, fd, data, bytes, offset);
}

__attribute__((visibility("default"))) int ftruncate(int fd, off_t size)
{
    step();
    return (int)syscall(SYS_ftruncate, fd, size);
}

__attribute__((visibility("default"))) int unlinkat(int dirfd, const char *name, int flags)
{
    step();
    return (int)syscall(SYS_unlinkat, dirfd, name, flags);
}

__attribute__((visibility("default"))) int renameat(int from, const char *a, int to, const char *b)
{
    step();
    return (int)syscall(SYS_renameat2, from, a, to, b, 0);
}

/* ---- */

static void make_killed(prof_fix *fix, const scratch *s)
{
    static const uint64_t tag = 2;
    arena_image image;

    fix_make(fix, s, true);
    fix_text(fix->ext, AP_EXT_RESERVE_NAME, "reserve");
    fix_name(fix, AP_EXT_NAME, 2, "tag");
    fix_append(fix->ext, AP_EXT_NAMES_NAME, "torn", 4);
    fix_text(fix->data, "unaging.additional.hash_dic.slice_0", "1:one\n2:tw");
    fix_marks(fix, TX_SLICE "0", "a", 0, 15);
    fix_append(fix->data, TX_SLICE "0", "torn", 4);
    fix_text(fix->data, TX_SLICE "0.done", "");
    fix_marks(fix, TX_SLICE "1", "a", 15, 3);
    fix_marks(fix, TX_SLICE "2", "a", 18, 1);
    image_make(&image, 2, 16384);
    image_owner(&image, 0, 7);
    image_marks(&image, 0, "a", 0, 10);
    image_checkpoint(&image, 10, 0, 10 * 256, 0);
    image_marks(&image, 0, "a", 10, 300);
    image_ring(&image, 0)->lost_full++;
    image_ring(&image, 0)->emitted++;
    image_owner(&image, 1, 8);
    for (unsigned i = 0; i < 250; i++) {
        image_event_full(&image, 1, AP_REC_MARK, 0, 3000000 + i, AP_BODY_TAG, &tag, 1, "tagged");
    }
    image_write(&image, fix);
    image_free(&image);
}

static void assert_recovered(const prof_fix *fix)
{
    read_back *back = read_back_open(fix->path);
    const aclprofStats *t = NULL;

    assert_non_null(back);
    read_back_print_notes(back);
    assert_null(ap__reader_note(back->reader, 0));
    assert_int_equal(ap__reader_state_of(back->reader), AP_READER_RECOVERED);
    assert_true(read_back_account_balances(back));
    t = &ap__reader_account_of(back->reader)->total;
    assert_int_equal(t->emitted, 561);
    assert_int_equal(t->lostRingFull, 1);
    assert_int_equal(t->lostDamaged, 0);
    assert_int_equal(back->count, 560);
    for (unsigned i = 0; i < 310; i++) {
        char message[16];

        snprintf(message, sizeof(message), "a%u", i);
        assert_string_equal(back->stamps[i].message, message);
        assert_null(back->stamps[i].tag);
    }
    for (unsigned i = 310; i < 560; i++) {
        assert_string_equal(back->stamps[i].message, "tagged");
        assert_string_equal(back->stamps[i].tag, "tag");
    }
    read_back_close(back);
    scratch_assert_text(fix->data, TX_SLICE "0.done",
                        "filesize:143360\nstarttime:0\nendtime  :0\n");
    scratch_assert_text(fix->data, "unaging.additional.hash_dic.slice_0", "1:one\n");
    scratch_assert_text(fix->data, "unaging.additional.hash_dic.slice_0.done",
                        "filesize:6\nstarttime:0\nendtime  :0\n");
    assert_int_equal(scratch_count(fix->data), 6);
    assert_int_equal(scratch_count(fix->ext), 3);  /* account, names, stamps */
    assert_int_equal(scratch_count(fix->host), 12); /* five control files, their .done, two dirs */
}

/* Exit status of a child that recovers and dies before its n-th change; 0: it came to its end. */
static int recover_and_die(const prof_fix *fix, unsigned n)
{
    static ap__recover_report report;
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        steps.calls = 0;
        steps.die_at = n;
        status = ap__recover(fix->path, &report);
        steps.die_at = 0;
        ap__recover_report_free(&report);
        _exit(status);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void killed_at_every_step(void **state)
{
    static ap__recover_report report;
    unsigned n = 0;
    int status = 99;

    while (status == 99) {
        prof_fix fix;

        make_killed(&fix, *state);
        status = recover_and_die(&fix, ++n);
        if (status == 99 && n % 2 == 0) {
            (void)recover_and_die(&fix, n); /* and once more, somewhere else */
        }
        assert_int_equal(ap__recover(fix.path, &report), 0);
        ap__recover_report_free(&report);
        assert_recovered(&fix);
        fix_close(&fix);
        scratch_remove_tree(((scratch *)*state)->fd, PROF_NAME);
    }
    assert_int_equal(status, 0);
    assert_true(n > 20);
}

static void full_disk_at_every_write(void **state)
{
    static ap__recover_report report;
    unsigned n = 0;
    int rc = AP_RECOVER_FAILED;

    while (rc == AP_RECOVER_FAILED) {
        prof_fix fix;

        make_killed(&fix, *state);
        steps.writes = 0;
        steps.fail_at = ++n;
        rc = ap__recover(fix.path, &report);
        steps.fail_at = 0;
        assert_true(rc == 0 || strstr(report.error, "No space left") != NULL);
        ap__recover_report_free(&report);
        if (rc != 0) {
            assert_true(fix_exists(fix.ext, AP_ARENA_NAME)); /* nothing is given up */
        }
        assert_int_equal(ap__recover(fix.path, &report), 0);
        ap__recover_report_free(&report);
        assert_recovered(&fix);
        fix_close(&fix);
        scratch_remove_tree(((scratch *)*state)->fd, PROF_NAME);
    }
    assert_int_equal(rc, 0);
    assert_true(n > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(killed_at_every_step, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(full_disk_at_every_write, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
