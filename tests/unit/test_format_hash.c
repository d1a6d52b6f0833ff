/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <string.h>

#include "format/hash.h"

static void test_known_ids(void **state)
{
    (void)state;
    assert_true(ap__hash_id("default", 7) == 6438267842827357177u);
    assert_true(ap__hash_id("mydomain", 8) == 568593824613571548u);
    assert_true(ap__hash_id("A", 1) == (65ull << 32 | 65u));
    assert_true(ap__hash_id("AB", 2) == ((65ull * 29 + 66) << 32 | (65u * 131 + 66)));
}

static void test_nothing_is_all_ones(void **state)
{
    (void)state;
    assert_true(ap__hash_id("", 0) == UINT64_MAX);
    assert_true(ap__hash_id(NULL, 0) == UINT64_MAX);
}

static void test_bytes_are_unsigned(void **state)
{
    const char text[] = "\xE4\xBD\xA0";
    uint32_t high = (0xE4u * 29 + 0xBD) * 29 + 0xA0;
    uint32_t low = (0xE4u * 131 + 0xBD) * 131 + 0xA0;

    (void)state;
    assert_true(ap__hash_id(text, 3) == ((uint64_t)high << 32 | low));
}

static void test_wraps_and_takes_nul(void **state)
{
    char text[300];
    uint32_t high = 0;
    uint32_t low = 0;

    (void)state;
    memset(text, 0xFF, sizeof(text));
    text[150] = '\0';
    for (size_t i = 0; i < sizeof(text); i++) {
        high = high * 29 + (unsigned char)text[i];
        low = low * 131 + (unsigned char)text[i];
    }
    assert_true(ap__hash_id(text, sizeof(text)) == ((uint64_t)high << 32 | low));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_ids),
        cmocka_unit_test(test_nothing_is_all_ones),
        cmocka_unit_test(test_bytes_are_unsigned),
        cmocka_unit_test(test_wraps_and_takes_nul),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
