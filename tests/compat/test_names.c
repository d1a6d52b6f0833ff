/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of stamps: hashed strings that must resolve, long names, many stamps. */
#define _GNU_SOURCE
#include "journey.h"

/* ---- ids of strings ---- */

#define IDS 50000u

static void text_of(char out[64], unsigned i)
{
    snprintf(out, 64, "string number %u, %s", i, i % 3 == 0 ? "名" : "with: colon");
}

static void make_ids(uint64_t *ids, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        char text[64];

        text_of(text, i);
        ids[i] = aclprofStr2Id(text);
        assert_true(ids[i] != UINT64_MAX);
        assert_true(aclprofStr2Id(text) == ids[i]); /* and stays */
    }
}

static void use_ids(const uint64_t *ids, unsigned from, unsigned to)
{
    void *stamp = stamp_of("uses");

    for (unsigned i = from; i < to; i += 100) {
        uint64_t value = ids[i];

        assert_ok(aclprofSetStampPayload(stamp, 5, &value));
        assert_ok(aclprofMark(stamp));
    }
    aclprofDestroyStamp(stamp);
}

static void string_ids(void **state)
{
    static uint64_t ids[IDS];
    aclprofConfig *config = tx_config();

    assert_true(aclprofStr2Id(NULL) == UINT64_MAX);
    assert_true(aclprofStr2Id("") == UINT64_MAX);
    make_ids(ids, 0, IDS / 3); /* before everything */
    assert_ok(init_at(*state));
    assert_ok(aclprofStart(config));
    make_ids(ids, IDS / 3, IDS * 2 / 3);
    use_ids(ids, 0, IDS * 2 / 3);
    assert_ok(aclprofStop(config));
    make_ids(ids, IDS * 2 / 3, IDS); /* after Stop */
    assert_ok(aclprofStart(config));
    use_ids(ids, 0, IDS);
    if (getenv("JOURNEY_LEAVE") != NULL) {
        exit(0); /* neither Stop nor Finalize */
    }
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
}

/* Every id that was used resolves, and so do all others below `count`, each to its text. */
static void check_ids(const char *prof, unsigned count)
{
    read_back *back = open_finished(prof);
    unsigned used = 0;

    for (size_t i = 0; i < back->count; i++, used += 100) {
        char text[64];

        text_of(text, used);
        assert_int_equal(back->stamps[i].payload_type, 5);
        assert_non_null(ap__reader_hash_text(back->reader, back->stamps[i].payload));
        assert_string_equal(ap__reader_hash_text(back->reader, back->stamps[i].payload), text);
    }
    assert_int_equal(back->count, (count + 99) / 100);
    for (unsigned i = 0; i < count; i++) {
        char text[64];
        const char *found = NULL;

        text_of(text, i);
        found = ap__reader_hash_text(back->reader, aclprofStr2Id(text));
        if (found == NULL || strcmp(found, text) != 0) {
            fail_msg("'%s' is '%s'", text, found != NULL ? found : "(unknown)");
        }
    }
    assert_null(ap__reader_hash_text(back->reader, 12345));
    read_back_close(back);
}

static void ids_resolve(void **state)
{
    char *finalized = below(*state, "finalized");
    char *left = below(*state, "left");
    paths found;

    role_run("string_ids", finalized);
    setenv("JOURNEY_LEAVE", "1", 1);
    role_run("string_ids", left);
    unsetenv("JOURNEY_LEAVE");
    found = prof_paths_exactly(finalized, 2);
    check_ids(found.list[0], IDS * 2 / 3);
    check_ids(found.list[1], IDS);
    paths_free(&found);
    found = prof_paths_exactly(left, 2);
    check_ids(found.list[1], IDS);
    paths_free(&found);
    free(finalized);
    free(left);
}

/* ---- names of all lengths ---- */

static const char *const characters[] = {"a", "é", "结", "🙂"};
static const unsigned lengths[] = {0,   1,   2,   31,  32,  33,  126, 127,  128,  129,  153,
                                   154, 155, 156, 157, 255, 256, 257, 1023, 4095, 4096, 65536};
#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

/* `length` bytes: a number, so that names differ, letters, and at the end whole characters;
 * `shift` letters before those let a cut fall on any of their bytes. */
static char *name_of(unsigned length, unsigned character, unsigned shift)
{
    const char *c = characters[character];
    unsigned n = (unsigned)strlen(c);
    char *name = malloc(length + 16);
    unsigned used = 0;

    assert_non_null(name);
    memset(name, 'x', length + 16);
    if (length > 4) {
        used = (unsigned)snprintf(name, 8, "%u%u-", character, shift);
        name[used] = 'x';
    }
    used += shift;
    while (used + n <= length) {
        memcpy(name + used, c, n);
        used += n;
    }
    name[length] = '\0';
    return name;
}

static void names(void **state)
{
    aclprofConfig *config = tx_config();
    void *stamp = NULL;

    assert_ok(init_at(*state));
    assert_ok(aclprofStart(config));
    stamp = aclprofCreateStamp();
    for (size_t i = 0; i < LENGTHS; i++) {
        for (unsigned c = 0; c < 4; c++) {
            for (unsigned shift = 0; shift < 4; shift++) {
                char *name = name_of(lengths[i], c, shift);

                assert_ok(aclprofSetStampTraceMessage(stamp, name, lengths[i]));
                memset(name, '?', lengths[i]); /* it was copied */
                assert_ok(aclprofMark(stamp));
                free(name);
            }
        }
    }
    assert_ok(aclprofSetStampTraceMessage(stamp, "abc\0def", 7)); /* NUL ends it */
    assert_ok(aclprofMark(stamp));
    assert_ok(aclprofSetStampTraceMessage(stamp, "abcdef", 3)); /* the length does */
    assert_ok(aclprofMark(stamp));
    assert_refused(aclprofSetStampTraceMessage(stamp, NULL, 3), ACL_ERROR_INVALID_PARAM, "msg");
    assert_ok(aclprofMark(stamp)); /* the old one stays */
    aclprofDestroyStamp(stamp);
    stamp = aclprofCreateStamp(); /* most likely the same memory: no message */
    assert_ok(aclprofMark(stamp));
    aclprofDestroyStamp(stamp);
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
}

/* What a reader without our dictionary sees: the beginning, whole characters only. */
static void check_record(const ap__raw_record *record, const char *whole, unsigned character)
{
    const ap__wire_tx *tx = (const ap__wire_tx *)record->payload.data;
    size_t length = strlen(whole);
    size_t held = strnlen(tx->message, sizeof(tx->message));
    size_t size = strlen(characters[character]);

    assert_int_equal(record->payload.size, sizeof(*tx));
    assert_true(held < sizeof(tx->message));
    assert_memory_equal(tx->message, whole, held);
    if (length < sizeof(tx->message)) {
        assert_int_equal(held, length);
    } else {
        assert_true(held > sizeof(tx->message) - 1 - size);
        assert_true((whole[held] & 0xC0) != 0x80); /* the next one begins a character */
    }
    for (size_t i = held; i < sizeof(tx->message); i++) {
        assert_int_equal(tx->message[i], 0);
    }
}

static void names_of_all_lengths(void **state)
{
    read_back *back = NULL;
    ap__records *records = NULL;
    ap__raw_record record;
    size_t at = 0;
    size_t cut = 0;

    role_run("names", *state);
    back = open_finished(*state);
    records = ap__records_open(back->reader, AP_RECORD_ADDITIONAL, "msproftx");
    assert_non_null(records);
    for (size_t i = 0; i < LENGTHS; i++) {
        for (unsigned c = 0; c < 4; c++) {
            for (unsigned shift = 0; shift < 4; shift++, at++) {
                char *name = name_of(lengths[i], c, shift);

                assert_true(at < back->count);
                assert_string_equal(back->stamps[at].message, name); /* whole */
                assert_int_equal(back->stamps[at].message_length, lengths[i]);
                assert_false(back->stamps[at].message_cut);
                assert_true(ap__records_next(records, &record));
                check_record(&record, name, c);
                cut += lengths[i] > 155;
                free(name);
            }
        }
    }
    for (unsigned i = 0; i < 3; i++, at++) {
        assert_true(at < back->count);
        assert_string_equal(back->stamps[at].message, "abc");
    }
    assert_true(at < back->count);
    assert_string_equal(back->stamps[at++].message, "");
    assert_int_equal(at, back->count);
    assert_int_equal(ap__reader_account_of(back->reader)->total.cutMessages, cut);
    ap__records_close(records);
    read_back_close(back);
}

/* ---- many live stamps ---- */

#define LIVE 10000u

static void live_stamps(void **state)
{
    static void *stamps[LIVE];
    aclprofConfig *config = tx_config();

    setenv("ACLPROF_RING_SIZE", "4M", 1); /* none of these is to be lost */
    assert_ok(init_at(*state));
    assert_ok(aclprofStart(config));
    for (unsigned i = 0; i < LIVE; i++) {
        char text[32];

        snprintf(text, sizeof(text), "live %u", i);
        stamps[i] = stamp_of(text);
        assert_non_null(stamps[i]);
    }
    for (unsigned i = LIVE; i-- > 0;) {
        assert_ok(aclprofMark(stamps[i]));
    }
    for (unsigned i = 0; i < LIVE; i++) {
        aclprofDestroyStamp(stamps[i]);
        assert_int_equal(aclprofMark(stamps[i]), ACL_ERROR_INVALID_PARAM);
    }
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
}

static void many_live_stamps(void **state)
{
    read_back *back = NULL;

    role_run("live_stamps", *state);
    back = open_finished(*state);
    assert_int_equal(back->count, LIVE);
    for (unsigned i = 0; i < LIVE; i++) {
        char text[32];

        snprintf(text, sizeof(text), "live %u", LIVE - 1 - i);
        assert_string_equal(back->stamps[i].message, text);
    }
    read_back_close(back);
}

static const role roles[] = {ROLE(string_ids), ROLE(names), ROLE(live_stamps)};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(ids_resolve),
        SCRATCH_TEST(names_of_all_lengths),
        SCRATCH_TEST(many_live_stamps),
    };

    if (argc == 3) {
        return role_main(roles, sizeof(roles) / sizeof(roles[0]), argv);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
