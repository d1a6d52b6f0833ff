/* SPDX-License-Identifier: Apache-2.0 */
/* What `aclprof report` computes: levels of detail, flames, statistics, texts that stay texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "scratch.h"
#include "tool/report.h"

#define MANY 20000u

static uint64_t random_of(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

static void assert_near(double value, double wanted, double most)
{
    if (!(fabs(value - wanted) <= most)) {
        fail_msg("%.9g is not %.9g", value, wanted);
    }
}

/* ---- levels of detail ---- */

static ap__lod_item item(uint64_t start, uint64_t end, uint32_t name)
{
    return (ap__lod_item){start, end, end - start, name, 1, 0, AP_NONE};
}

static void test_nested_events_get_lanes_by_depth(void **state)
{
    ap__lod_item items[] = {item(0, 100, 1), item(0, 40, 2), item(10, 20, 3), item(40, 100, 4),
                            item(100, 120, 5)};
    const uint32_t lanes[] = {0, 1, 2, 1, 0};

    (void)state;
    assert_int_equal(ap__lod_lanes(items, 5), 3);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(items[i].lane, lanes[i]);
    }
    assert_int_equal(ap__lod_lanes(items, 0), 0);
}

static void test_more_overlap_than_lanes_lies_in_the_last(void **state)
{
    ap__lod_item items[AP_REPORT_LANES + 10];

    (void)state;
    for (uint32_t i = 0; i < AP_REPORT_LANES + 10; i++) {
        items[i] = item(i, 1000, i);
    }
    assert_int_equal(ap__lod_lanes(items, AP_REPORT_LANES + 10), AP_REPORT_LANES);
    assert_int_equal(items[AP_REPORT_LANES + 9].lane, AP_REPORT_LANES - 1);
}

static void test_short_events_of_a_bucket_become_one_block(void **state)
{
    ap__lod_item items[] = {item(0, 10, 7),    item(20, 60, 8),   item(70, 75, 7),
                            item(110, 115, 7), item(120, 500, 9), item(130, 140, 7)};

    (void)state;
    items[5].start = 510; /* behind the long one, in its own bucket */
    items[5].end = 520;
    assert_int_equal(ap__lod_merge(items, 6, 100), 4);
    assert_int_equal(items[0].start, 0);
    assert_int_equal(items[0].end, 75);
    assert_int_equal(items[0].busy, 55);
    assert_int_equal(items[0].count, 3);
    assert_int_equal(items[0].name, 8); /* which took most */
    assert_int_equal(items[1].count, 1);
    assert_int_equal(items[2].name, 9);
    assert_int_equal(items[2].end - items[2].start, 380);
    assert_int_equal(items[3].start, 510);
}

/* Counts and covered time stay, whatever is merged; blocks stay in order and apart. */
static void test_merging_loses_nothing(void **state)
{
    ap__lod_item *items = malloc(MANY * sizeof(*items));
    uint64_t seed = 1;
    uint64_t at = 0;
    uint64_t busy = 0;
    uint32_t n = MANY;

    (void)state;
    assert_non_null(items);
    for (uint32_t i = 0; i < MANY; i++) {
        uint64_t length = random_of(&seed) % 100 == 0 ? 50000 : random_of(&seed) % 900;

        at += random_of(&seed) % 500;
        items[i] = item(at, at + length, (uint32_t)(random_of(&seed) % 9));
        items[i].lane = i >= MANY / 2;
        busy += length;
        at = i + 1 == MANY / 2 ? 0 : at + length;
    }
    for (uint64_t width = 1024; width < 1ull << 30; width *= 4) {
        uint32_t left = ap__lod_merge(items, n, width);
        uint64_t covered = 0;
        uint64_t count = 0;

        assert_true(left <= n);
        n = left;
        for (uint32_t i = 0; i < n; i++) {
            covered += items[i].busy;
            count += items[i].count;
            assert_true(items[i].end >= items[i].start);
            assert_true(items[i].busy <= items[i].end - items[i].start);
            if (i != 0 && items[i].lane == items[i - 1].lane) {
                assert_true(items[i].start >= items[i - 1].end);
            } else if (i != 0) {
                assert_true(items[i].lane > items[i - 1].lane);
            }
        }
        assert_int_equal(covered, busy);
        assert_int_equal(count, MANY);
    }
    assert_true(n <= 4);
    free(items);
}

/* ---- flames ---- */

static const ap__flame_node *node_of(ap__flame *f, uint32_t parent, uint32_t name)
{
    return &f->nodes[ap__flame_node_of(f, parent, name)];
}

static void test_a_flame_adds_up_by_chains_of_names(void **state)
{
    /* 1 [ 2 [3] 2 ] 1, a mark, and one that ends behind what it began in */
    const ap__event events[] = {{0, 0, 100, 1, AP_NONE},   {0, 10, 50, 2, AP_NONE},
                                {0, 20, 30, 3, AP_NONE},   {0, 25, 25, 9, AP_NONE},
                                {0, 60, 80, 2, AP_NONE},   {0, 100, 200, 1, AP_NONE},
                                {0, 190, 250, 4, AP_NONE}, {0, 300, 310, 2, AP_NONE}};
    ap__flame f = {0};
    const ap__flame_node *one = NULL;
    uint32_t top = 0;

    (void)state;
    assert_int_equal(ap__flame_add(&f, events, 8), 0);
    assert_int_equal(f.count, 5);
    top = ap__flame_node_of(&f, AP_NONE, 1);
    one = &f.nodes[top];
    assert_int_equal(one->count, 2);
    assert_int_equal(one->total, 200);
    assert_int_equal(one->self, 200 - 40 - 20 - 10);
    assert_int_equal(node_of(&f, top, 2)->count, 2);
    assert_int_equal(node_of(&f, top, 2)->total, 60);
    assert_int_equal(node_of(&f, top, 2)->self, 50);
    assert_int_equal(node_of(&f, top, 4)->total, 10); /* inside */
    assert_int_equal(node_of(&f, AP_NONE, 2)->total, 10);
    ap__flame_free(&f);
}

static void test_a_flame_holds_many_names(void **state)
{
    ap__flame f = {0};

    (void)state;
    for (uint32_t i = 0; i < 5000; i++) {
        const ap__event e = {0, i * 10ull, i * 10ull + 5, i, AP_NONE};

        assert_int_equal(ap__flame_add(&f, &e, 1), 0);
        assert_int_equal(ap__flame_add(&f, &e, 1), 0);
    }
    assert_int_equal(f.count, 5000);
    assert_int_equal(node_of(&f, AP_NONE, 4321)->total, 10);
    assert_int_equal(f.count, 5000);
    ap__flame_free(&f);
}

/* ---- statistics ---- */

static int by_ns(const void *a, const void *b)
{
    const ap__duration *x = a;
    const ap__duration *y = b;

    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static void samples(ap__duration *out, const uint32_t *ns, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        out[i] = (ap__duration){ns[i], 0, 0};
    }
    qsort(out, count, sizeof(*out), by_ns);
}

/* Student's sleep data, tenths of hours plus two hours; R's t.test and wilcox.test say the rest. */
static void test_tests_agree_with_r(void **state)
{
    static const uint32_t first[] = {27, 4, 18, 8, 19, 54, 57, 28, 20, 40};
    static const uint32_t second[] = {39, 28, 31, 21, 19, 64, 75, 36, 66, 54};
    ap__duration a[10];
    ap__duration b[10];
    ap__moments ma;
    ap__moments mb;
    ap__welch w;

    (void)state;
    samples(a, first, 10);
    samples(b, second, 10);
    ma = ap__stats_moments(a, 10);
    mb = ap__stats_moments(b, 10);
    assert_near(ma.mean, 27.5, 1e-9);
    assert_near(ma.variance, 320.0555556, 1e-6);
    w = ap__stats_welch(&ma, &mb);
    assert_near(w.difference, 15.8, 1e-9);
    assert_near(w.p, 0.07939414, 1e-7);
    assert_near(w.low, -2.054832, 1e-5);
    assert_near(w.high, 33.654832, 1e-5);
    assert_near(ap__stats_rank(a, 10, b, 10), 0.06932758, 1e-7);
    assert_near(ap__stats_rank(b, 10, a, 10), 0.06932758, 1e-7);
}

static void test_few_or_equal_samples_prove_nothing_wrong(void **state)
{
    static const uint32_t same[] = {5, 5, 5, 5, 5, 5, 5, 5};
    ap__duration a[8];
    ap__moments none = ap__stats_moments(NULL, 0);
    ap__moments one;
    ap__moments all;
    ap__welch w;

    (void)state;
    samples(a, same, 8);
    one = ap__stats_moments(a, 1);
    all = ap__stats_moments(a, 8);
    w = ap__stats_welch(&one, &all);
    assert_true(isnan(w.p) && isnan(w.low));
    w = ap__stats_welch(&none, &all);
    assert_true(isnan(w.p));
    w = ap__stats_welch(&all, &all);
    assert_near(w.p, 1, 0);
    assert_near(w.high - w.low, 0, 0);
    assert_near(ap__stats_rank(a, 8, a, 8), 1, 0);
    assert_true(isnan(ap__stats_rank(a, 7, a, 8)));
}

static void test_many_tests_are_adjusted_together(void **state)
{
    double even[] = {0.01, 0.02, 0.03, 0.04, 0.05};
    double some[] = {0.01, NAN, 0.04, 0.03, 0.005};

    (void)state;
    assert_true(ap__stats_adjust(even, 5));
    for (uint32_t i = 0; i < 5; i++) {
        assert_near(even[i], 0.05, 1e-12);
    }
    assert_true(ap__stats_adjust(some, 5));
    assert_near(some[0], 0.02, 1e-12);
    assert_true(isnan(some[1]));
    assert_near(some[2], 0.04, 1e-12);
    assert_near(some[3], 0.04, 1e-12);
    assert_near(some[4], 0.02, 1e-12);
    assert_true(ap__stats_adjust(NULL, 0));
}

/* A hundred comparisons of runs without any difference: few are taken for one. */
static void test_chance_is_not_taken_for_a_difference(void **state)
{
    double p[100];
    uint64_t seed = 3;
    uint32_t low = 0;
    uint32_t wrong = 0;

    (void)state;
    for (uint32_t k = 0; k < 100; k++) {
        ap__duration a[40];
        ap__duration b[60];
        ap__moments ma;
        ap__moments mb;

        for (uint32_t i = 0; i < 60; i++) {
            b[i].ns = 1000 + random_of(&seed) % 100 + random_of(&seed) % 100;
            if (i < 40) {
                a[i].ns = 1000 + random_of(&seed) % 100 + random_of(&seed) % 100;
            }
        }
        ma = ap__stats_moments(a, 40);
        mb = ap__stats_moments(b, 60);
        p[k] = ap__stats_welch(&ma, &mb).p;
        low += p[k] < 0.05;
    }
    assert_true(low >= 1 && low <= 12); /* about five */
    assert_true(ap__stats_adjust(p, 100));
    for (uint32_t k = 0; k < 100; k++) {
        wrong += p[k] < 0.05;
    }
    assert_int_equal(wrong, 0);
}

/* ---- texts ---- */

static void test_no_text_ends_the_script(void **state)
{
    scratch *s = *state;
    ap__out *o = malloc(sizeof(*o));
    char text[256] = {0};
    FILE *file = NULL;

    assert_non_null(o);
    assert_int_equal(ap__out_open(o, s->fd, "out"), 0);
    ap__report_string(o, "</script><!-- & \"\\\n\x01 \xE4\xB8\xAD");
    assert_int_equal(ap__out_finish(o), 0);
    free(o);
    file = fdopen(openat(s->fd, "out", O_RDONLY | O_CLOEXEC), "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof(text), file));
    fclose(file);
    assert_string_equal(text, "\"\\u003c/script\\u003e\\u003c!-- \\u0026 \\\"\\\\\\u000a\\u0001 "
                              "\xE4\xB8\xAD\"");
}

static void test_a_name_has_one_number(void **state)
{
    ap__names names = {0};

    (void)state;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 3000; i++) {
            char text[16];

            (void)snprintf(text, sizeof(text), "name %u", i);
            assert_int_equal(ap__names_add(&names, text), i);
        }
    }
    assert_int_equal(names.count, 3000);
    assert_string_equal(names.texts[77], "name 77");
    ap__names_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nested_events_get_lanes_by_depth),
        cmocka_unit_test(test_more_overlap_than_lanes_lies_in_the_last),
        cmocka_unit_test(test_short_events_of_a_bucket_become_one_block),
        cmocka_unit_test(test_merging_loses_nothing),
        cmocka_unit_test(test_a_flame_adds_up_by_chains_of_names),
        cmocka_unit_test(test_a_flame_holds_many_names),
        cmocka_unit_test(test_tests_agree_with_r),
        cmocka_unit_test(test_few_or_equal_samples_prove_nothing_wrong),
        cmocka_unit_test(test_many_tests_are_adjusted_together),
        cmocka_unit_test(test_chance_is_not_taken_for_a_difference),
        cmocka_unit_test_setup_teardown(test_no_text_ends_the_script, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(test_a_name_has_one_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
