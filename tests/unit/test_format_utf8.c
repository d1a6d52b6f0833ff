/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/utf8.h"

/* An independent decoder by code point. Bytes of the character at s, 0 when invalid. */
static size_t one(const unsigned char *s, size_t n)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = s[0] < 0x80         ? 1
                 : s[0] >> 5 == 0x06 ? 2
                 : s[0] >> 4 == 0x0E ? 3
                 : s[0] >> 3 == 0x1E ? 4
                                     : 0;
    uint32_t c = 0;

    if (len == 1) {
        return 1;
    }
    if (len == 0 || len > n) {
        return 0;
    }
    c = s[0] & (0x7Fu >> len);
    for (size_t i = 1; i < len; i++) {
        if (s[i] >> 6 != 2) {
            return 0;
        }
        c = c << 6 | (s[i] & 0x3Fu);
    }
    return c < least[len] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF) ? 0 : len;
}

static bool valid(const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t len = one((const unsigned char *)s + i, n - i);

        if (len == 0) {
            return false;
        }
        i += len;
    }
    return true;
}

static size_t reference_clean(char *dst, size_t cap, const char *src, size_t n)
{
    size_t out = 0;

    for (size_t i = 0; i < n;) {
        size_t len = one((const unsigned char *)src + i, n - i);
        const char *from = len != 0 ? src + i : "\xEF\xBF\xBD";
        size_t put = len != 0 ? len : 3;

        if (out + put > cap) {
            break;
        }
        memcpy(dst + out, from, put);
        out += put;
        i += len != 0 ? len : 1;
    }
    return out;
}

static size_t reference_cut(const char *s, size_t n, size_t max)
{
    size_t i = 0;

    while (i < n) {
        size_t len = one((const unsigned char *)s + i, n - i);

        len = len != 0 ? len : 1;
        if (i + len > max) {
            break;
        }
        i += len;
    }
    return i;
}

static void check_clean(const char *src, size_t n, const char *want, size_t want_n)
{
    char got[64];

    assert_int_equal(ap__utf8_clean(got, sizeof(got), src, n), want_n);
    assert_memory_equal(got, want, want_n);
}

#define CLEAN(src, want) check_clean(src, sizeof(src) - 1, want, sizeof(want) - 1)
#define R "\xEF\xBF\xBD"

static void test_clean_by_hand(void **state)
{
    (void)state;
    CLEAN("", "");
    CLEAN("plain ascii of some length", "plain ascii of some length");
    CLEAN("12345678\xE4\xBD\xA0" "90", "12345678\xE4\xBD\xA0" "90");
    CLEAN("\x80" "abc", R "abc");
    CLEAN("a\xC0\x80" "b", "a" R R "b");          /* overlong NUL */
    CLEAN("\xE0\x9F\xBF", R R R);                 /* overlong */
    CLEAN("\xED\xA0\x80", R R R);                 /* surrogate */
    CLEAN("\xF4\x90\x80\x80", R R R R);           /* beyond U+10FFFF */
    CLEAN("\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF"); /* the last one */
    CLEAN("\xF5\xFF\xFE", R R R);
    CLEAN("\xE4\xBD", R R);                       /* torn at the end */
    CLEAN("\xE4\xBDx", R R "x");
    CLEAN("a\0b", "a\0b");
}

static void test_clean_never_cuts_a_character(void **state)
{
    const char text[] = "1234567\xF0\x9F\x98\x80z";
    char got[16];

    (void)state;
    for (size_t cap = 0; cap <= 12; cap++) {
        size_t want = cap < 7 ? cap : cap < 11 ? 7 : cap;

        memset(got, 'X', sizeof(got));
        assert_int_equal(ap__utf8_clean(got, cap, text, sizeof(text) - 1), want);
        assert_memory_equal(got, text, want);
        assert_int_equal(got[want], 'X'); /* nothing written behind */
    }
}

static void test_cut_by_hand(void **state)
{
    const char *text = "ab\xE4\xBD\xA0\xE5\xA5\xBD";

    (void)state;
    assert_int_equal(ap__utf8_cut(text, 8, 8), 8);
    assert_int_equal(ap__utf8_cut(text, 8, 100), 8);
    assert_int_equal(ap__utf8_cut(text, 8, 7), 5);
    assert_int_equal(ap__utf8_cut(text, 8, 6), 5);
    assert_int_equal(ap__utf8_cut(text, 8, 5), 5);
    assert_int_equal(ap__utf8_cut(text, 8, 4), 2);
    assert_int_equal(ap__utf8_cut(text, 8, 2), 2);
    assert_int_equal(ap__utf8_cut(text, 8, 0), 0);
    assert_int_equal(ap__utf8_cut("", 0, 0), 0);
    /* continuation bytes without a beginning belong to no character */
    assert_int_equal(ap__utf8_cut("\x80\x80\x80\x80\x80\x80", 6, 5), 5);
    assert_int_equal(ap__utf8_cut("\xC3\xA9\xA9\xA9", 4, 3), 3);
}

static void test_random_against_reference(void **state)
{
    static const unsigned char pool[] = {0x00, 'a', 'z', 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
                                         0xC0, 0xC2, 0xDF, 0xE0, 0xE4, 0xED, 0xEF, 0xF0, 0xF4,
                                         0xF5, 0xFF};
    uint32_t seed = 12345;

    (void)state;
    for (int round = 0; round < 200000; round++) {
        char src[40];
        char got[128];
        char want[128];
        size_t n = 0;
        size_t cap = 0;
        size_t max = 0;
        size_t len = 0;

        seed = seed * 1664525u + 1013904223u;
        n = seed >> 16 & 31;
        cap = seed >> 21 & 63;
        max = seed >> 8 & 31;
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            src[i] = (char)((seed >> 29) < 3 ? 'm' : pool[(seed >> 8) % sizeof(pool)]);
        }
        len = ap__utf8_clean(got, cap, src, n);
        assert_int_equal(len, reference_clean(want, cap, src, n));
        assert_memory_equal(got, want, len);
        assert_true(valid(got, len));
        assert_int_equal(ap__utf8_is_clean(src, n), valid(src, n));
        assert_int_equal(ap__utf8_cut(src, n, max), reference_cut(src, n, max));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean_by_hand),
        cmocka_unit_test(test_clean_never_cuts_a_character),
        cmocka_unit_test(test_cut_by_hand),
        cmocka_unit_test(test_random_against_reference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
