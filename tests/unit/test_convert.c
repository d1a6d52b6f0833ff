/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks: snapshots, lines, and the writer's chain of lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "clock/clock.h"
#include "writer/convert.h"

static ap__clock_point point(uint64_t cycles, uint64_t ns)
{
    return (ap__clock_point){.cycles = cycles, .mono_raw_ns = ns};
}

static void test_line_is_exact_at_its_ends(void **state)
{
    ap__clock_line line;
    ap__clock_point a = point(1000000, 5000);
    ap__clock_point b = point(1000000 + 3000000000ULL, 5000 + 1000000000ULL); /* 3 GHz */

    (void)state;
    ap__clock_line_make(&line, &a, &b, 0);
    assert_true(ap__clock_line_ns(&line, a.cycles) == a.mono_raw_ns);
    assert_in_range(ap__clock_line_ns(&line, b.cycles), b.mono_raw_ns - 1, b.mono_raw_ns);
    assert_in_range(ap__clock_line_ns(&line, a.cycles + 3000), 5999, 6000);
    assert_in_range(ap__clock_line_ns(&line, a.cycles - 3000), 3999, 4000); /* before it */
}

static void test_line_over_a_year(void **state)
{
    ap__clock_line line;
    uint64_t ns = 365ULL * 86400 * 1000000000;
    ap__clock_point a = point(77, 99);
    ap__clock_point b = point(77 + ns / 40, 99 + ns); /* 25 MHz */

    (void)state;
    ap__clock_line_make(&line, &a, &b, 0);
    assert_in_range(ap__clock_line_ns(&line, b.cycles), b.mono_raw_ns - 50, b.mono_raw_ns + 50);
}

static void test_line_of_nanoseconds_is_the_identity(void **state)
{
    ap__clock_line line;
    ap__clock_point a = point(123456789, 123456789);
    ap__clock_point b = point(123456999, 123456999);

    (void)state;
    ap__clock_line_make(&line, &a, &a, 1);
    assert_true(ap__clock_line_ns(&line, 5) == 5);
    ap__clock_line_make(&line, &a, &b, 1);
    assert_true(ap__clock_line_ns(&line, UINT64_C(1) << 62) == UINT64_C(1) << 62);
    ap__clock_line_make(&line, &a, &a, 0); /* no length: flat, not a division by zero */
    assert_true(ap__clock_line_ns(&line, 999999999) == a.mono_raw_ns);
}

static void test_snapshot_lies_between_readings_around_it(void **state)
{
    (void)state;
    ap__clock_init();
    for (int i = 0; i < 1000; i++) {
        uint64_t before = ap__mono_raw_ns();
        ap__clock_point p;

        ap__clock_read(&p);
        assert_in_range(p.mono_raw_ns, before, ap__mono_raw_ns());
        assert_true(p.error_ns < 1000000);
        assert_true(p.real_ns > 1600000000ULL * 1000000000ULL);
    }
}

/* Converted times against the clock itself, their order, and that they never change. */
static void test_times_are_near_in_order_and_final(void **state)
{
    static ap__convert c;
    static uint64_t cycles[50][64];
    static uint64_t given[50][64];
    ap__clock_point start;
    ap__clock_point ready;
    uint64_t last = 0;

    (void)state;
    ap__clock_init();
    ap__clock_read(&start);
    nanosleep(&(struct timespec){0, 500000}, NULL);
    ap__clock_read(&ready);
    ap__convert_init(&c, &start, &ready, ap__clock_is_ns);
    for (int batch = 0; batch < 50; batch++) {
        uint64_t before[64];
        uint64_t after[64];

        for (int i = 0; i < 64; i++) {
            before[i] = ap__mono_raw_ns();
            cycles[batch][i] = ap__cycles();
            after[i] = ap__mono_raw_ns();
        }
        nanosleep(&(struct timespec){0, 300000}, NULL);
        ap__convert_advance(&c);
        for (int i = 0; i < 64; i++) {
            uint64_t ns = ap__convert_ns(&c, cycles[batch][i]);

            assert_true(ns >= last);
            last = ns;
            given[batch][i] = ns;
            /* generous: a snapshot may be bracketed badly on a busy machine */
            assert_in_range(ns, before[i] - 50000, after[i] + 50000);
        }
    }
    for (int batch = 0; batch < 50; batch++) { /* a range that ends now and began then */
        for (int i = 0; i < 64; i++) {
            assert_true(ap__convert_ns(&c, cycles[batch][i]) == given[batch][i]);
        }
    }
}

/* A 1 GHz counter that runs 50 ppm off what the first millisecond said, read with an error of up
 * to 40 ns, with turns every 5 ms and a long sleep in between. */
static void test_it_follows_the_clock(void **state)
{
    static ap__convert c;
    ap__clock_point start = point(1000, 1000);
    ap__clock_point ready = point(1000 + 1000000, 1000 + 1000050);
    uint64_t true_ns = 1000;
    uint64_t step = 5000000;
    uint64_t seed = 1;

    (void)state;
    ap__convert_init(&c, &start, &ready, 0);
    for (int turn = 1; turn < 20000; turn++) {
        ap__clock_point now;
        uint64_t mid = 0;
        int64_t off = 0;

        true_ns += turn == 10000 ? 3600ULL * 1000000000 : step;
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        now = point(true_ns, true_ns + seed % 81 - 40);
        now.error_ns = 40;
        ap__convert_note(&c, &now);
        mid = true_ns - step / 2;
        off = (int64_t)(ap__convert_ns(&c, mid) - mid);
        assert_true(turn < 3 || (off < 200 && off > -200));
        assert_true(ap__convert_ns(&c, true_ns) > ap__convert_ns(&c, true_ns - 100));
    }
    assert_true(c.knot_count < AP_CONVERT_KNOTS);
    assert_in_range(c.point_count, 50, 3800);
}

static void test_history_thins_out(void **state)
{
    static ap__convert c;
    ap__clock_point start = point(1000, 1000);
    ap__clock_point ready = point(1001000, 1001000);
    const uint64_t second = 1000000000;

    (void)state;
    ap__convert_init(&c, &start, &ready, 0);
    for (uint64_t s = 1; s < 20000; s++) { /* the clock wobbles by 300 ns every second */
        ap__clock_point now = point(1000 + s * second, 1000 + s * second + s % 2 * 300);

        ap__convert_note(&c, &now);
    }
    assert_in_range(c.knot_count, 2000, AP_CONVERT_KNOTS);
    assert_in_range(c.point_count, 1000, AP_CONVERT_POINTS);
    for (uint64_t s = 1; s < 19998; s += 7) {
        uint64_t at = 1000 + s * second + 123456789;

        assert_in_range(ap__convert_ns(&c, at), at - 1000, at + 1000);
        assert_true(ap__convert_ns(&c, at + 50) >= ap__convert_ns(&c, at));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_is_exact_at_its_ends),
        cmocka_unit_test(test_line_over_a_year),
        cmocka_unit_test(test_line_of_nanoseconds_is_the_identity),
        cmocka_unit_test(test_snapshot_lies_between_readings_around_it),
        cmocka_unit_test(test_times_are_near_in_order_and_final),
        cmocka_unit_test(test_it_follows_the_clock),
        cmocka_unit_test(test_history_thins_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
