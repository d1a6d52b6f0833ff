/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting and checking of records. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "collector/record_check.h"

/* `count` records of a kind from running number `first`; bodies differ. */
static uint8_t *records(ap__record_kind kind, size_t count, size_t record, unsigned first)
{
    uint8_t *data = calloc(count + 1, record);

    assert_non_null(data);
    for (size_t i = 0; i < count; i++) {
        uint8_t *p = data + i * record;
        unsigned number = (first + (unsigned)i) & 15;

        if (kind == AP_RECORD_STARS) {
            p[0] = (uint8_t)(number << 6);
            p[1] = (uint8_t)(number >> 2);
        } else {
            p[0] = (uint8_t)(number << 4 | 2);
        }
        p[2] = 0xD3;
        p[3] = 0x6B;
        for (size_t k = 4; k < record; k++) {
            p[k] = (uint8_t)(i + k);
        }
    }
    return data;
}

static void test_numbers(void **state)
{
    static const struct {
        ap__record_kind kind;
        size_t record;
    } kinds[] = {{AP_RECORD_STARS, 64}, {AP_RECORD_STARS, 128}, {AP_RECORD_STARS, 32},
                 {AP_RECORD_HWTS, 64},  {AP_RECORD_HWTS, 128}};

    (void)state;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        for (unsigned jump = 0; jump <= 17; jump++) {
            size_t record = kinds[k].record;
            uint8_t *data = records(kinds[k].kind, 100, record, 5);
            ap__record_check c;
            size_t rest = 99;

            ap__record_check_init(&c, kinds[k].kind, (uint32_t)record);
            memmove(data + 40 * record, data + (40 + jump) * record, (60 - jump) * record);
            assert_int_equal(
                ap__record_check_cut(&c, data, (100 - jump) * record, false, &rest),
                (100 - jump) * record);
            assert_int_equal(rest, 0);
            assert_int_equal(c.records, 100 - jump);
            assert_int_equal(c.gaps, jump % 16 != 0); /* 16 lost records cannot be seen */
            assert_int_equal(c.missing, jump % 16);
            assert_int_equal(c.duplicates + c.bad_magic + c.torn_bytes, 0);
            free(data);
        }
    }
}

static void test_duplicate(void **state)
{
    uint8_t *data = records(AP_RECORD_STARS, 20, 64, 0);
    ap__record_check c;
    size_t rest = 0;

    (void)state;
    ap__record_check_init(&c, AP_RECORD_STARS, 64);
    memmove(data + 6 * 64, data + 5 * 64, 14 * 64);
    assert_int_equal(ap__record_check_cut(&c, data, 20 * 64, false, &rest), 20 * 64);
    assert_int_equal(c.duplicates, 1);
    assert_int_equal(c.gaps, 0);
    free(data);
}

static void test_bad_magic_is_kept(void **state)
{
    uint8_t *data = records(AP_RECORD_STARS, 20, 64, 0);
    uint8_t copy[20 * 64];
    ap__record_check c;
    size_t rest = 0;

    (void)state;
    ap__record_check_init(&c, AP_RECORD_STARS, 64);
    data[7 * 64 + 2] = 0;
    memcpy(copy, data, sizeof(copy));
    assert_int_equal(ap__record_check_cut(&c, data, 20 * 64, false, &rest), 20 * 64);
    assert_memory_equal(copy, data, sizeof(copy));
    assert_int_equal(c.bad_magic, 1);
    assert_int_equal(c.torn_bytes, 0);
    assert_int_equal(c.records, 20);
    free(data);
}

/* Bytes vanish at any place of a record: those behind it stay aligned, one before and one behind
 * those hit may go as well, and nothing that remains is a mixture. */
static void test_torn_anywhere(void **state)
{
    (void)state;
    for (size_t at = 0; at < 64; at++) {
        for (size_t gone = 1; gone < 64; gone += 5) {
            uint8_t *data = records(AP_RECORD_STARS, 50, 64, 0);
            uint8_t *whole = records(AP_RECORD_STARS, 50, 64, 0);
            size_t bytes = 50 * 64 - gone;
            ap__record_check c;
            size_t rest = 0;
            size_t n = 0;

            memmove(data + 20 * 64 + at, data + 20 * 64 + at + gone, 30 * 64 - at - gone);
            ap__record_check_init(&c, AP_RECORD_STARS, 64);
            n = ap__record_check_cut(&c, data, bytes, false, &rest);
            assert_int_equal(n % 64, 0);
            assert_int_equal(n + rest + c.torn_bytes, bytes);
            assert_int_equal(rest, 0);
            assert_int_equal(c.records, n / 64);
            assert_true(n / 64 >= 46);
            assert_true(c.gaps >= 1);
            assert_memory_equal(data, whole, 19 * 64);
            for (size_t i = 19; i < n / 64; i++) {
                size_t k = 19;

                while (k < 50 && memcmp(data + i * 64, whole + k * 64, 64) != 0) {
                    k++;
                }
                if (k == 50) {
                    fail_msg("at %zu, %zu gone: record %zu of %zu is a mixture", at, gone, i,
                             n / 64);
                }
            }
            assert_memory_equal(data + n - 26 * 64, whole + 24 * 64, 26 * 64);
            free(whole);
            free(data);
        }
    }
}

/* Pieces of every size give the same as one piece. */
static void test_pieces(void **state)
{
    uint8_t *whole = records(AP_RECORD_STARS, 40, 64, 11);
    uint8_t out[40 * 64];

    (void)state;
    for (size_t piece = 1; piece <= 40 * 64; piece += piece < 130 ? 1 : 97) {
        uint8_t buffer[64 + 40 * 64];
        ap__record_check c;
        size_t tail = 0;
        size_t used = 0;

        ap__record_check_init(&c, AP_RECORD_STARS, 64);
        for (size_t at = 0; at < 40 * 64; at += piece) {
            size_t n = 40 * 64 - at < piece ? 40 * 64 - at : piece;
            size_t cut = 0;

            memcpy(buffer + tail, whole + at, n);
            cut = ap__record_check_cut(&c, buffer, tail + n, false, &tail);
            memcpy(out + used, buffer, cut);
            used += cut;
            memmove(buffer, buffer + cut, tail);
        }
        assert_int_equal(used, sizeof(out));
        assert_int_equal(tail, 0);
        assert_memory_equal(out, whole, sizeof(out));
        assert_int_equal(c.gaps + c.bad_magic + c.torn_bytes, 0);
    }
    free(whole);
}

static void test_plain_and_text(void **state)
{
    uint8_t data[100] = "one\ntwo\nthr";
    ap__record_check c;
    size_t rest = 0;

    (void)state;
    ap__record_check_init(&c, AP_RECORD_PLAIN, 0);
    assert_int_equal(ap__record_check_cut(&c, data, 11, false, &rest), 8);
    assert_int_equal(rest, 3);
    assert_int_equal(c.records, 2);
    assert_int_equal(ap__record_check_cut(&c, data + 8, 3, false, &rest), 0);
    assert_int_equal(rest, 3);
    assert_int_equal(ap__record_check_cut(&c, data + 8, 3, true, &rest), 3);
    assert_int_equal(ap__record_check_cut(&c, data, 0, true, &rest), 0);
    assert_int_equal(rest, 0);
    ap__record_check_init(&c, AP_RECORD_PLAIN, 24);
    assert_int_equal(ap__record_check_cut(&c, data, 100, false, &rest), 96);
    assert_int_equal(rest, 4);
    assert_int_equal(c.records, 4);
    ap__record_check_init(&c, AP_RECORD_PLAIN, 1); /* size not known */
    assert_int_equal(ap__record_check_cut(&c, data, 99, false, &rest), 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),           cmocka_unit_test(test_duplicate),
        cmocka_unit_test(test_bad_magic_is_kept), cmocka_unit_test(test_torn_anywhere),
        cmocka_unit_test(test_pieces),            cmocka_unit_test(test_plain_and_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
