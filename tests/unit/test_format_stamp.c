/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "format/encode_stamp.h"

static uint64_t number(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < bytes; i++) {
        v |= (uint64_t)p[i] << (8 * i);
    }
    return v;
}

static ap__stamp_fields sample(void)
{
    return (ap__stamp_fields){.event_type = AP_TX_RANGE,
                              .tid = 0x11121314,
                              .pid = 0x21222324,
                              .category = 0x31323334,
                              .payload_type = -2,
                              .payload = 0x4142434445464748,
                              .start_ns = 0x5152535455565758,
                              .end_ns = 0x6162636465666768,
                              .message = "acl_range",
                              .length = 9};
}

static void encode(uint8_t out[256], const ap__stamp_fields *f)
{
    ap__wire_additional rec;

    memset(&rec, 0xA5, sizeof(rec)); /* nothing of it may stay */
    ap__encode_stamp(&rec, f);
    memcpy(out, &rec, 256);
}

static void test_every_byte(void **state)
{
    ap__stamp_fields f = sample();
    uint8_t b[256];

    (void)state;
    encode(b, &f);
    assert_int_equal(number(b, 2), 0x5A5A);
    assert_int_equal(number(b + 2, 2), 20500);
    assert_int_equal(number(b + 4, 4), 0);
    assert_int_equal(number(b + 8, 4), f.tid);
    assert_int_equal(number(b + 12, 4), 232);
    assert_true(number(b + 16, 8) == f.start_ns);
    assert_int_equal(number(b + 24, 8), 0); /* info type, segment, reserved */
    assert_int_equal(number(b + 32, 2), 0x5A5A);
    assert_int_equal(number(b + 34, 2), 120);
    assert_int_equal(number(b + 36, 4), f.pid);
    assert_int_equal(number(b + 40, 4), f.tid);
    assert_int_equal(number(b + 44, 4), f.category);
    assert_int_equal(number(b + 48, 4), 2);
    assert_int_equal(number(b + 52, 4), 0xFFFFFFFE);
    assert_true(number(b + 56, 8) == f.payload);
    assert_true(number(b + 64, 8) == f.start_ns);
    assert_true(number(b + 72, 8) == f.end_ns);
    assert_int_equal(number(b + 80, 8), 0); /* mark id */
    assert_int_equal(number(b + 88, 8), 0); /* domain */
    assert_int_equal(number(b + 96, 4), 0); /* message type */
    assert_memory_equal(b + 100, "acl_range", 9);
    for (size_t i = 109; i < 256; i++) {
        assert_int_equal(b[i], 0);
    }
}

static void check_message(const char *text, size_t length, const char *want, size_t want_length)
{
    ap__stamp_fields f = sample();
    uint8_t b[256];

    f.message = text;
    f.length = length;
    encode(b, &f);
    assert_memory_equal(b + 100, want, want_length);
    for (size_t i = 100 + want_length; i < 256; i++) {
        assert_int_equal(b[i], 0);
    }
}

static void test_messages(void **state)
{
    char text[400];
    char want[400];

    (void)state;
    check_message(NULL, 0, "", 0);
    check_message("", 0, "", 0);
    check_message("abc\0\0\0\0\0", 8, "abc", 3);
    memset(text, 'A', sizeof(text));
    check_message(text, 154, text, 154);
    check_message(text, 155, text, 155);
    check_message(text, 156, text, 155);
    check_message(text, 400, text, 155);

    memcpy(text + 153, "\xE4\xBD\xA0", 3); /* bytes 153-155: does not fit */
    check_message(text, 400, text, 153);
    memset(text, 'A', sizeof(text));
    memcpy(text + 152, "\xE4\xBD\xA0", 3);
    check_message(text, 400, text, 155);

    check_message("a\xFFz", 3, "a\xEF\xBF\xBDz", 5);
    memset(text, 0x80, sizeof(text)); /* each byte becomes three */
    for (size_t i = 0; i < 153; i += 3) {
        memcpy(want + i, "\xEF\xBF\xBD", 3);
    }
    check_message(text, 155, want, 153);
    check_message(text, 400, want, 153);
}

static void test_round_trip(void **state)
{
    ap__stamp_fields f = sample();
    ap__stamp_fields back;
    ap__wire_additional rec;

    (void)state;
    ap__encode_stamp(&rec, &f);
    assert_int_equal(ap__decode_stamp(&rec, &back), 0);
    assert_int_equal(back.event_type, f.event_type);
    assert_int_equal(back.tid, f.tid);
    assert_int_equal(back.pid, f.pid);
    assert_int_equal(back.category, f.category);
    assert_int_equal(back.payload_type, f.payload_type);
    assert_true(back.payload == f.payload);
    assert_true(back.start_ns == f.start_ns);
    assert_true(back.end_ns == f.end_ns);
    assert_int_equal(back.length, 9);
    assert_memory_equal(back.message, "acl_range", 9);
}

static void test_decode_refuses(void **state)
{
    ap__stamp_fields f = sample();
    ap__stamp_fields back;
    ap__wire_additional rec;

    (void)state;
    ap__encode_stamp(&rec, &f);
    rec.magic = 0;
    assert_int_equal(ap__decode_stamp(&rec, &back), EBADMSG);
    ap__encode_stamp(&rec, &f);
    rec.level = AP_LEVEL_NODE;
    assert_int_equal(ap__decode_stamp(&rec, &back), EBADMSG);
}

static void test_decode_without_nul_drops_last_byte(void **state)
{
    ap__stamp_fields f = sample();
    ap__stamp_fields back;
    ap__wire_additional rec;

    (void)state;
    ap__encode_stamp(&rec, &f);
    memset((uint8_t *)&rec + 100, 'x', 156);
    assert_int_equal(ap__decode_stamp(&rec, &back), 0);
    assert_int_equal(back.length, 155);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_decode_refuses),
        cmocka_unit_test(test_decode_without_nul_drops_last_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
