/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that go to files, and their sorting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "analysis/bulk.h"

typedef struct item {
    uint64_t key;
    uint32_t number; /* of arrival: makes the order total */
    uint32_t check;
} item;

static int by_key(const void *a, const void *b)
{
    const item *x = a;
    const item *y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->number < y->number ? -1 : x->number > y->number;
}

static uint64_t random_of(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

static item *filled(uint32_t count, uint64_t keys)
{
    item *list = NULL;
    uint32_t have = 0;
    uint64_t state = 7;

    while (have < count) {
        uint32_t number = have;
        item *i = ap__bulk_push((void **)&list, &have, sizeof(*i));

        assert_non_null(i);
        i->key = random_of(&state) % keys;
        i->number = number;
        i->check = number ^ (uint32_t)i->key;
    }
    return list;
}

static void check_sorted(const item *list, uint32_t count)
{
    unsigned char *seen = calloc(count, 1);

    assert_non_null(seen);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(list[i].check, list[i].number ^ (uint32_t)list[i].key);
        assert_in_range(list[i].number, 0, count - 1);
        assert_int_equal(seen[list[i].number], 0);
        seen[list[i].number] = 1;
        assert_true(i == 0 || by_key(&list[i - 1], &list[i]) < 0);
    }
    free(seen);
}

static void sort_and_check(uint32_t count, uint64_t keys, size_t memory, int in_files)
{
    item *list = NULL;

    ap__bulk_set_memory(memory);
    list = filled(count, keys);
    assert_int_equal(ap__bulk_in_files() != 0, in_files);
    assert_int_equal(ap__bulk_sort((void **)&list, count, sizeof(*list), by_key), 0);
    check_sorted(list, count);
    assert_int_equal(ap__bulk_sort((void **)&list, count, sizeof(*list), by_key), 0);
    check_sorted(list, count);
    ap__bulk_free(list);
    assert_int_equal(ap__bulk_in_files(), 0);
    ap__bulk_set_memory(0);
}

static void few_elements_are_sorted(void **state)
{
    (void)state;
    for (uint32_t n = 1; n < 70; n++) {
        sort_and_check(n, 5, 0, 0);
    }
}

static void many_elements_are_sorted_by_runs(void **state)
{
    (void)state;
    sort_and_check(2500000, 1u << 30, 0, 0); /* three runs */
    sort_and_check(2500000, 3, 0, 0);        /* nearly all equal */
}

static void beyond_the_budget_lies_in_files(void **state)
{
    (void)state;
    sort_and_check(1200000, 1u << 20, 1, 1);
    sort_and_check(1200000, 1u << 20, 4u << 20, 1); /* begins in memory */
}

static void an_array_can_be_pushed_to_after_sorting(void **state)
{
    const uint32_t first = 1100000;
    uint32_t count = first;
    item *list = NULL;

    (void)state;
    ap__bulk_set_memory(1);
    list = filled(first, 1u << 30);
    assert_int_equal(ap__bulk_sort((void **)&list, count, sizeof(*list), by_key), 0);
    while (count < first * 2) {
        item *i = ap__bulk_push((void **)&list, &count, sizeof(*i));

        assert_non_null(i);
        *i = (item){UINT64_MAX, count - 1, (count - 1) ^ UINT32_MAX};
    }
    check_sorted(list, count);
    ap__bulk_free(list);
    ap__bulk_set_memory(0);
}

static void a_made_array_is_zero(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 3000000; n = n * 5 + 1) {
        uint32_t *list = ap__bulk_make(n, sizeof(*list));

        assert_non_null(list);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(list[i], 0);
        }
        ap__bulk_free(list);
    }
    assert_null(ap__bulk_make(UINT32_MAX, 1));
    ap__bulk_free(NULL);
}

static void a_bad_tmpdir_is_passed_over(void **state)
{
    item *list = NULL;
    uint32_t count = 0;
    void *last = &last;

    (void)state;
    ap__bulk_set_memory(1);
    assert_int_equal(setenv("TMPDIR", "/proc", 1), 0);
    for (uint32_t i = 0; i < 100000 && last != NULL; i++) {
        last = ap__bulk_push((void **)&list, &count, sizeof(*list));
    }
    assert_non_null(last);
    assert_int_equal(unsetenv("TMPDIR"), 0);
    ap__bulk_free(list);
    ap__bulk_set_memory(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_elements_are_sorted),
        cmocka_unit_test(many_elements_are_sorted_by_runs),
        cmocka_unit_test(beyond_the_budget_lies_in_files),
        cmocka_unit_test(an_array_can_be_pushed_to_after_sorting),
        cmocka_unit_test(a_made_array_is_zero),
        cmocka_unit_test(a_bad_tmpdir_is_passed_over),
    };

    return cmocka_run_group_tests_name("bulk", tests, NULL, NULL);
}
