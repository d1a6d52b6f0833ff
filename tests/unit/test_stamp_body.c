/* SPDX-License-Identifier: Apache-2.0 */
/* Stamps and their bodies: handles, layout of what goes into a ring, cutting, sequence lock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "format/hash.h"
#include "stamp/body.h"
#include "stamp/emit.h"
#include "stamp/intern.h"
#include "stamp/pool.h"

static ap__stamp *made(uint64_t *handle)
{
    ap__stamp *s = NULL;

    *handle = ap__stamp_create_shared();
    assert_true(*handle != 0);
    s = ap__stamp_get(*handle);
    assert_non_null(s);
    return s;
}

static void test_handles_are_told_apart(void **state)
{
    uint64_t a = 0;
    uint64_t b = 0;
    ap__stamp *s = made(&a);
    static const uint64_t foreign[] = {0, 1, 16, UINT64_MAX, AP_STAMP_TAG, 0x00007fffffffe0f0ULL};

    (void)state;
    assert_int_equal(sizeof(uint64_t), sizeof(void *));
    assert_true((int64_t)a > 0); /* programs test handles as signed numbers, too */
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        assert_null(ap__stamp_get(foreign[i]));
    }
    for (unsigned bit = 0; bit < 64; bit++) { /* one wrong bit anywhere */
        assert_true(ap__stamp_get(a ^ (1ULL << bit)) == NULL);
    }
    assert_true(ap__stamp_destroy(NULL, a));
    assert_null(ap__stamp_get(a));
    assert_false(ap__stamp_destroy(NULL, a));
    assert_ptr_equal(made(&b), s); /* the slot comes again, the handle does not */
    assert_true(b != a);
    assert_null(ap__stamp_get(a));
    assert_true(ap__stamp_destroy(NULL, b));
}

static void test_generations_end_without_repeating(void **state)
{
    uint64_t h = 0;
    ap__stamp *s = made(&h);
    uint64_t last = 0;

    (void)state;
    assert_true(ap__stamp_destroy(NULL, h));
    /* as if nearly all lives were spent */
    s->last = (s->last & ~(AP_STAMP_GEN_MAX << 32)) | (AP_STAMP_GEN_MAX - 1) << 32;
    assert_ptr_equal(made(&last), s);
    assert_true((last >> 32 & AP_STAMP_GEN_MAX) == AP_STAMP_GEN_MAX);
    assert_true((last & 0xf00000000000000fULL) == AP_STAMP_TAG);
    assert_true(ap__stamp_destroy(NULL, last));
    assert_ptr_not_equal(made(&h), s); /* retired */
    assert_true(ap__stamp_destroy(NULL, h));
}

static uint32_t body_of(const ap__stamp *s, uint64_t *body)
{
    memset(body, 0xee, sizeof(uint64_t) * (AP_BODY_MAX_WORDS + 4));
    return ap__stamp_read(s, body);
}

static void test_message_lies_in_whole_words(void **state)
{
    uint64_t h = 0;
    ap__stamp *s = made(&h);
    uint64_t body[AP_BODY_MAX_WORDS + 4];
    char text[AP_MESSAGE_MAX + 1];

    (void)state;
    assert_int_equal(body_of(s, body), 0);
    for (uint32_t n = 0; n <= AP_MESSAGE_MAX; n++) {
        uint32_t shape = 0;

        memset(text, 'a' + (int)(n % 26), n);
        ap__stamp_set_message(s, text, n);
        shape = body_of(s, body);
        assert_int_equal(AP_SHAPE_WORDS(shape), (n + 7) / 8);
        assert_int_equal(AP_SHAPE_FLAGS(shape), 0);
        assert_int_equal(strnlen((char *)body, (size_t)AP_SHAPE_WORDS(shape) * 8), n);
        assert_memory_equal(body, text, n);
    }
    assert_true(ap__stamp_destroy(NULL, h));
}

static void test_long_message_is_cut_at_a_character_and_kept_whole(void **state)
{
    uint64_t h = 0;
    ap__stamp *s = made(&h);
    uint64_t body[AP_BODY_MAX_WORDS + 4];
    char text[400];
    uint32_t shape = 0;
    uint64_t id = 0;
    const char *kept = NULL;
    size_t length = 0;
    uint32_t cursor = 0;
    int found = 0;

    (void)state;
    for (size_t i = 0; i + 3 <= sizeof(text); i += 3) {
        memcpy(text + i, "\xe4\xb8\xad", 3);
    }
    ap__stamp_set_message(s, text, 399);
    shape = body_of(s, body);
    assert_int_equal(AP_SHAPE_FLAGS(shape), AP_BODY_NAME | AP_BODY_CUT);
    assert_true(body[0] == ap__hash_id(text, 399));
    assert_int_equal(strnlen((char *)(body + 1), ((size_t)AP_SHAPE_WORDS(shape) - 1) * 8), 153);
    while (ap__intern_next(AP_INTERN_NAME, &cursor, &id, &kept, &length)) {
        found += id == body[0] && length == 399 && memcmp(kept, text, 399) == 0;
    }
    assert_int_equal(found, 1);
    ap__stamp_set_message(s, "short", 5);
    shape = body_of(s, body);
    assert_int_equal(AP_SHAPE_FLAGS(shape), 0);
    assert_int_equal(AP_SHAPE_WORDS(shape), 1);
    assert_true(ap__stamp_destroy(NULL, h));
}

static void test_parts_keep_their_order_and_each_other(void **state)
{
    uint64_t h = 0;
    ap__stamp *s = made(&h);
    uint64_t body[AP_BODY_MAX_WORDS + 4];
    uint32_t shape = 0;

    (void)state;
    ap__stamp_set_message(s, "message", 7);
    ap__stamp_set_text_id(s, AP_BODY_STACK, 33);
    ap__stamp_set_payload(s, -5, 0x1122334455667788ULL);
    ap__stamp_set_text_id(s, AP_BODY_TAG, 22);
    ap__stamp_set_category(s, 7);
    shape = body_of(s, body);
    assert_int_equal(AP_SHAPE_FLAGS(shape), AP_BODY_ATTR | AP_BODY_TAG | AP_BODY_STACK);
    assert_int_equal(AP_SHAPE_WORDS(shape), 5);
    assert_int_equal((uint32_t)body[0], 7);
    assert_int_equal((int32_t)(body[0] >> 32), -5);
    assert_true(body[1] == 0x1122334455667788ULL);
    assert_true(body[2] == 22);
    assert_true(body[3] == 33);
    assert_string_equal((char *)(body + 4), "message");
    ap__stamp_set_message(s, "another message", 15);
    shape = body_of(s, body);
    assert_int_equal(AP_SHAPE_WORDS(shape), 6);
    assert_int_equal((uint32_t)body[0], 7);
    assert_string_equal((char *)(body + 4), "another message");
    assert_true(ap__stamp_destroy(NULL, h));
    assert_ptr_equal(made(&h), s);
    assert_int_equal(body_of(s, body), 0); /* a new life is empty */
    assert_true(ap__stamp_destroy(NULL, h));
}

static void test_reader_gives_up_text_not_itself(void **state)
{
    uint64_t h = 0;
    ap__stamp *s = made(&h);
    uint64_t body[AP_BODY_MAX_WORDS + 4];
    uint64_t shape = 0;

    (void)state;
    ap__stamp_set_message(s, "text", 4);
    shape = atomic_load(&s->shape);
    atomic_store(&s->shape, shape + (1ULL << 32)); /* a setter that never comes back */
    assert_int_equal(ap__stamp_read(s, body), 0);
    ap__stamp_set_message(s, "other", 5); /* counts as overwritten */
    assert_true(atomic_load(&s->shape) == shape + (1ULL << 32));
    atomic_store(&s->shape, shape + (2ULL << 32));
    assert_int_equal(AP_SHAPE_WORDS(ap__stamp_read(s, body)), 1);
    assert_memory_equal(body, "text\0\0\0", 8);
    assert_int_equal(ap__stamp_read_slow(s, body, 0), 0); /* no room: no text */
    assert_true(ap__stamp_destroy(NULL, h));
}

static void test_dictionary(void **state)
{
    uint64_t a = 0;
    uint64_t b = 0;
    uint64_t id = 0;
    uint32_t cursor = 0;
    const char *text = NULL;
    size_t length = 0;
    uint32_t seen = 0;

    (void)state;
    assert_true(ap__intern(AP_INTERN_HASH, "first", 5, &a));
    assert_true(ap__intern(AP_INTERN_HASH, "second", 6, &b));
    assert_true(ap__intern(AP_INTERN_HASH, "first", 5, &id));
    assert_true(id == a && a != b);
    assert_true(ap__intern(AP_INTERN_NAME, "first", 5, &id)); /* one text, two uses */
    assert_true(id == a);
    while (ap__intern_next(AP_INTERN_HASH, &cursor, &id, &text, &length)) {
        seen++;
        assert_true(id == (seen == 1 ? a : b));
    }
    assert_int_equal(seen, 2);
    for (int i = 0; i < 20000; i++) {
        char name[32];

        snprintf(name, sizeof(name), "name %d", i);
        assert_true(ap__intern(AP_INTERN_HASH, name, strlen(name), &id));
    }
    assert_true(ap__intern(AP_INTERN_HASH, "second", 6, &id) && id == b);
    for (seen = 0; ap__intern_next(AP_INTERN_HASH, &cursor, &id, &text, &length); seen++) {
        assert_true(id == ap__hash_id(text, length));
    }
    assert_int_equal(seen, 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handles_are_told_apart),
        cmocka_unit_test(test_generations_end_without_repeating),
        cmocka_unit_test(test_message_lies_in_whole_words),
        cmocka_unit_test(test_long_message_is_cut_at_a_character_and_kept_whole),
        cmocka_unit_test(test_parts_keep_their_order_and_each_other),
        cmocka_unit_test(test_reader_gives_up_text_not_itself),
        cmocka_unit_test(test_dictionary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
