/* SPDX-License-Identifier: Apache-2.0 */
/* One producer, its ring, and a consumer written for the test: wrapping, filling, losing. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock/clock.h"
#include "ring/arena.h"
#include "ring/ring.h"
#include "stamp/body.h"
#include "stamp/emit.h"
#include "stamp/pool.h"

typedef struct fixture {
    char dir[64];
    int fd;
    ap__arena arena;
    uint64_t key;
    uint64_t stamp;
    uint64_t pos; /* of the test's consumer */
    uint32_t next_seq;
    uint64_t pads;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    ap__clock_point start;

    setenv("ACLPROF_RING_SIZE", "64K", 1);
    ap__clock_init();
    ap__clock_read(&start);
    snprintf(f->dir, sizeof(f->dir), "/tmp/ap-ring-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(ap__arena_open(&f->arena, f->fd, &start), 0);
    f->key = ap__gate_new_key();
    ap__threads_begin(&f->arena, f->key);
    ap__gate_open(f->key);
    f->stamp = ap__stamp_create_shared();
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    uint64_t open = 0;

    assert_int_equal(ap__threads_quiesce(&open), 0);
    ap__threads_end();
    ap__stamp_destroy(NULL, f->stamp);
    ap__arena_close(&f->arena, false, false);
    close(f->fd);
    assert_int_equal(rmdir(f->dir), 0); /* the arena's file is gone */
    free(f);
    return 0;
}

static void mark(fixture *f)
{
    bool counted = false;
    ap__thread *t = ap__stamp_enter(&counted);

    assert_non_null(t);
    assert_int_equal(ap__emit_slow(t, ap__stamp_get(f->stamp), AP_REC_MARK, 0, ap__cycles()), 0);
}

static ap__ring_head *ring(fixture *f)
{
    return f->arena.slots[0];
}

/* Takes every record, checks order and text, frees the space. Returns the events seen. */
static uint64_t consume(fixture *f, const char *text)
{
    uint64_t end = atomic_load(&ring(f)->committed);
    uint64_t seen = 0;

    while (f->pos < end) {
        uint64_t offset = f->pos & (f->arena.head->ring_bytes - 1);
        const uint64_t *rec =
            (const uint64_t *)(const void *)(ap__ring_data(&f->arena, ring(f)) + offset);
        const ap__rec_head *h = (const ap__rec_head *)(const void *)rec;

        assert_true(h->words != 0);
        assert_true(offset + h->words * 8u <= f->arena.head->ring_bytes);
        if (h->kind == AP_REC_MARK) {
            assert_int_equal(h->seq, f->next_seq++);
            assert_memory_equal(rec + 2, text, strlen(text));
            seen++;
        } else if (h->kind == AP_REC_PAD) {
            f->pads++;
        } else {
            assert_int_equal(h->kind, AP_REC_THREAD);
        }
        f->pos += h->words * 8u;
    }
    assert_true(f->pos == end);
    atomic_store(&ring(f)->tail, end);
    return seen;
}

static void test_laps_of_every_record_size(void **state)
{
    fixture *f = *state;
    char text[AP_MESSAGE_MAX + 1];

    for (size_t n = 1; n <= AP_MESSAGE_MAX; n += 7) {
        memset(text, 0, sizeof(text));
        memset(text, 'a' + (int)(n % 26), n);
        ap__stamp_set_message(ap__stamp_get(f->stamp), text, n);
        for (int round = 0; round < 30; round++) {
            for (int i = 0; i < 200; i++) {
                mark(f);
            }
            assert_int_equal(consume(f, text), 200);
        }
    }
    assert_true(f->pads > 20);
    assert_true(f->pos > 10 * (uint64_t)f->arena.head->ring_bytes);
    assert_int_equal(atomic_load(&ring(f)->lost_full), 0);
}

static void test_full_ring_keeps_the_old_and_counts_the_new(void **state)
{
    fixture *f = *state;
    uint64_t emitted = 0;
    uint64_t kept = 0;

    ap__stamp_set_message(ap__stamp_get(f->stamp), "full", 4);
    for (int lap = 0; lap < 5; lap++) {
        uint64_t lost_before = lap == 0 ? 0 : atomic_load(&ring(f)->lost_full);
        uint64_t seen = 0;

        for (int i = 0; i < 5000; i++) { /* 24 bytes each: 120 000 into 65 536 */
            mark(f);
        }
        emitted += 5000;
        f->next_seq = (uint32_t)(emitted - 5000);
        seen = consume(f, "full");
        kept += seen;
        assert_in_range(seen, 2600, 2731);
        assert_int_equal(atomic_load(&ring(f)->lost_full) - lost_before, 5000 - seen);
        assert_int_equal(atomic_load(&ring(f)->emitted), emitted);
    }
    assert_int_equal(kept + atomic_load(&ring(f)->lost_full), emitted);
}

static void test_records_never_touch_what_is_not_consumed(void **state)
{
    fixture *f = *state;
    char text[AP_MESSAGE_MAX + 1] = "";
    uint64_t emitted = 0;

    memset(text, 'x', AP_MESSAGE_MAX); /* the largest copies, blocks beyond the record's end */
    ap__stamp_set_message(ap__stamp_get(f->stamp), text, AP_MESSAGE_MAX);
    for (int lap = 0; lap < 50; lap++) {
        uint64_t lost = emitted == 0 ? 0 : atomic_load(&ring(f)->lost_full);
        uint64_t seen = 0;

        for (int i = 0; i < 1000; i++) {
            mark(f);
        }
        f->next_seq = (uint32_t)emitted;
        emitted += 1000;
        seen = consume(f, text); /* checks every byte of the text */
        assert_int_equal(seen + atomic_load(&ring(f)->lost_full) - lost, 1000);
    }
}

static void test_reentrant_call_is_counted(void **state)
{
    fixture *f = *state;
    bool counted = false;
    ap__thread *t = ap__stamp_enter(&counted);

    assert_non_null(t);
    assert_null(ap__stamp_enter(&counted)); /* as from a signal handler */
    assert_true(counted);
    assert_int_equal(atomic_load(&ring(f)->lost_reentrant), 1);
    ap__stamp_leave_slow(t);
    assert_non_null(ap__stamp_enter(&counted));
    ap__stamp_leave_slow(t);
}

static void test_closed_gate_lets_nobody_in(void **state)
{
    fixture *f = *state;
    bool counted = true;
    uint64_t open = 7;

    mark(f);
    assert_int_equal(ap__threads_quiesce(&open), 0);
    assert_int_equal(open, 0);
    assert_null(ap__stamp_enter(&counted));
    assert_false(counted);
    assert_false(ap__stamp_enter_fast(ap__self, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_laps_of_every_record_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_ring_keeps_the_old_and_counts_the_new, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_records_never_touch_what_is_not_consumed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_reentrant_call_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_closed_gate_lets_nobody_in, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
