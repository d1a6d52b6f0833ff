/* SPDX-License-Identifier: Apache-2.0 */
/* Exports of odd captures: one record, numbers at the end of their range, texts that are no text,
 * formulas, 100 000 names. What comes out is read again by parsers that are not ours. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <cjson/cJSON.h>
#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/wire_host.h"
#include "scratch.h"
#include "prof_fixture.h"
#include "tool/export.h"

#define TX_COLUMNS 14u
#define TX_PAYLOAD 6u
#define TX_END 8u
#define TX_MESSAGE 10u
#define NAMES 100000u

static prof_fix fixture;

static void begin(void **state)
{
    fix_make(&fixture, *state, false);
}

/* A stamp with any bytes as its message. */
static void add_stamp(uint32_t index, const char *message, size_t length, uint64_t payload,
                      uint64_t end)
{
    ap__wire_additional record =
        fix_stamp(AP_TX_RANGE, 7, FIX_MONO + index * 1000ull, end, "placeholder");
    ap__wire_tx tx;
    char *data = (char *)&record + sizeof(record) - AP_TX_DATA_BYTES;

    memcpy(&tx, data, sizeof(tx));
    assert_string_equal(tx.message, "placeholder");
    memset(tx.message, 0, sizeof(tx.message));
    memcpy(tx.message, message, length);
    tx.payload = payload;
    memcpy(data, &tx, sizeof(tx));
    fix_append(fixture.data, TX_SLICE "0", &record, sizeof(record));
}

typedef struct made {
    char dir[1400];
    ap__export e;
} made;

static made *export_all(void **state, bool guard)
{
    const char *root = ((scratch *)*state)->path;
    made *m = calloc(1, sizeof(*m));
    ap__reader_error error;
    ap__reader *reader = NULL;
    ap__model model;

    assert_non_null(m);
    fix_end(&fixture);
    snprintf(m->dir, sizeof(m->dir), "%s/out%d", root, guard);
    assert_int_equal(mkdir(m->dir, 0700), 0);
    reader = ap__reader_open(fixture.path, &error);
    assert_non_null(reader);
    assert_int_equal(ap__model_load(&model, reader), 0);
    assert_int_equal(ap__export_open(&m->e, fixture.path, m->dir), 0);
    m->e.guard = guard;
    assert_int_equal(ap__export_tables(&m->e, &model), 0);
    assert_int_equal(ap__json_timeline(&m->e, &model), 0);
    assert_int_equal(ap__db_export(&m->e, &model), 0);
    assert_int_equal(ap__pftrace(&m->e, &model), 0);
    assert_string_equal(m->e.error, "");
    ap__export_close(&m->e);
    ap__model_free(&model);
    ap__reader_close(reader);
    return m;
}

/* ---- reading again ---- */

static char *read_file(const made *m, const char *start, const char *end)
{
    char path[1600];
    char *text = NULL;
    size_t size = 0;
    FILE *file = NULL;

    snprintf(path, sizeof(path), "%s/mindstudio_profiler_output/%s%s%s", m->dir, start,
             m->e.stamp, end);
    file = fopen(path, "r");
    if (file == NULL) {
        fail_msg("%s is missing", path);
    }
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    assert_true(feof(file)); /* no NUL in it */
    fclose(file);
    return text;
}

/* RFC 4180: the next field into `out`; what ends it: ',', '\n' or 0. */
static int next_field(char **at, char *out, size_t size)
{
    size_t used = 0;
    char *p = *at;
    bool quoted = *p == '"';
    int end = 0;

    for (p += quoted; *p != '\0'; p++) {
        if (quoted && p[0] == '"' && p[1] == '"') {
            p++;
        } else if (quoted && p[0] == '"') {
            quoted = false;
            continue;
        } else if (!quoted && (*p == ',' || *p == '\n')) {
            break;
        }
        assert_true(used + 1 < size);
        out[used++] = *p;
    }
    assert_false(quoted);
    out[used] = '\0';
    end = *p;
    *at = *p != '\0' ? p + 1 : p;
    return end;
}

/* The row's fields; false: there is no more. */
static bool next_row(char **at, char fields[TX_COLUMNS][400])
{
    int end = ',';

    if (**at == '\0') {
        return false;
    }
    for (uint32_t i = 0; i < TX_COLUMNS; i++) {
        assert_int_equal(end, ',');
        end = next_field(at, fields[i], 400);
    }
    assert_int_equal(end, '\n');
    return true;
}

static const cJSON *nth_slice(const cJSON *events, uint32_t index)
{
    const cJSON *e = NULL;

    cJSON_ArrayForEach(e, events)
    {
        if (strcmp(cJSON_GetObjectItem(e, "ph")->valuestring, "X") == 0 && index-- == 0) {
            return e;
        }
    }
    return NULL;
}

static sqlite3 *open_database(const made *m)
{
    char path[1600];
    sqlite3 *db = NULL;

    snprintf(path, sizeof(path), "%s/%s", m->dir, m->e.database);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    return db;
}

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    int64_t value = 0;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    value = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return value;
}

/* ---- cases ---- */

static void test_one(void **state)
{
    char fields[TX_COLUMNS][400];
    made *m = NULL;
    char *text = NULL;
    char *at = NULL;
    cJSON *events = NULL;

    begin(state);
    add_stamp(5, "alone", 5, 1, FIX_MONO + 7250);
    m = export_all(state, false);
    text = at = read_file(m, "msprof_tx_", ".csv");
    assert_true(next_row(&at, fields)); /* the header */
    assert_string_equal(fields[TX_MESSAGE], "message");
    assert_true(next_row(&at, fields));
    assert_string_equal(fields[TX_MESSAGE], "alone");
    assert_string_equal(fields[7], "1735689600000005.000\t");
    assert_string_equal(fields[TX_END], "1735689600000007.250\t");
    assert_false(next_row(&at, fields));
    free(text);
    text = read_file(m, "msprof_", ".json");
    events = cJSON_Parse(text);
    assert_non_null(nth_slice(events, 0));
    assert_null(nth_slice(events, 1));
    assert_true(cJSON_GetObjectItem(nth_slice(events, 0), "dur")->valuedouble == 2.25);
    cJSON_Delete(events);
    free(text);
    free(m);
    fix_close(&fixture);
}

static void test_numbers(void **state)
{
    static const struct {
        uint64_t payload;
        uint64_t end;
        const char *text;
    } cases[] = {{1ull << 63, FIX_MONO + 3000, "9223372036854775808"},
                 {UINT64_MAX, 1ull << 63, "18446744073709551615"},
                 {(1ull << 63) - 1, UINT64_MAX, "9223372036854775807"},
                 {0, 0, "0"}}; /* an end before the start */
    char fields[TX_COLUMNS][400];
    made *m = NULL;
    char *text = NULL;
    char *at = NULL;
    cJSON *events = NULL;
    sqlite3 *db = NULL;

    begin(state);
    for (uint32_t i = 0; i < 4; i++) {
        add_stamp(i, "n", 1, cases[i].payload, cases[i].end);
    }
    m = export_all(state, false);
    text = at = read_file(m, "msprof_tx_", ".csv");
    assert_true(next_row(&at, fields));
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(next_row(&at, fields));
        assert_string_equal(fields[TX_PAYLOAD], cases[i].text);
    }
    free(text);
    text = read_file(m, "msprof_", ".json");
    for (uint32_t i = 0; i < 4; i++) { /* a JSON parser's double would not tell */
        char wanted[64];

        snprintf(wanted, sizeof(wanted), "\"Payload_value\":%s,", cases[i].text);
        assert_non_null(strstr(text, wanted));
    }
    events = cJSON_Parse(text);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(cJSON_GetObjectItem(nth_slice(events, i), "dur")->valuedouble >= 0);
    }
    cJSON_Delete(events);
    free(text);
    db = open_database(m);
    assert_int_equal(number(db, "SELECT count(*) FROM MSTX_EVENTS"), 4);
    sqlite3_close(db);
    free(m);
    fix_close(&fixture);
}

typedef struct odd {
    const char *bytes;
    const char *shown;
    bool formula;
} odd;

static const odd odds[] = {
    {"a \"quoted\" text, with a comma", "a \"quoted\" text, with a comma", false},
    {"two\nlines", "two\nlines", false},
    {"back\rto\tthe\x01start\x1f", "back\rto\tthe\x01start\x1f", false},
    {"back\\slash \\u0041 \\\"", "back\\slash \\u0041 \\\"", false},
    {"bad \xff\xfe bytes \xc3", "bad \xEF\xBF\xBD\xEF\xBF\xBD bytes \xEF\xBF\xBD", false},
    {"\xed\xa0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", false}, /* a surrogate */
    {"\xe7\xae\x97\xe5\xad\x90 \xf0\x9f\x98\x80", "\xe7\xae\x97\xe5\xad\x90 \xf0\x9f\x98\x80", false},
    {"=cmd|' /C calc'!A0", "=cmd|' /C calc'!A0", true},
    {"+1", "+1", true},
    {"-2+3", "-2+3", true},
    {"@SUM(A1)", "@SUM(A1)", true},
    {"\t=1", "\t=1", true},
    {"'", "'", false},
    {"\"", "\"", false},
    {",", ",", false},
    {"</script><b>", "</script><b>", false},
    {"%s%n%p", "%s%n%p", false},
};

#define ODDS (sizeof(odds) / sizeof(odds[0]))

static void check_texts(const made *m, bool guard)
{
    char fields[TX_COLUMNS][400];
    char *text = read_file(m, "msprof_tx_", ".csv");
    char *at = text;

    assert_true(next_row(&at, fields));
    for (size_t i = 0; i < ODDS; i++) {
        assert_true(next_row(&at, fields));
        if (guard && odds[i].formula) {
            assert_int_equal(fields[TX_MESSAGE][0], '\'');
            assert_string_equal(fields[TX_MESSAGE] + 1, odds[i].shown);
        } else {
            assert_string_equal(fields[TX_MESSAGE], odds[i].shown);
        }
    }
    assert_false(next_row(&at, fields));
    free(text);
}

static void test_texts(void **state)
{
    static const ap__wire_api call = {.magic = AP_WIRE_MAGIC,
                                      .level = AP_LEVEL_HCCL,
                                      .thread_id = 9,
                                      .begin = FIX_MONO,
                                      .end = FIX_MONO + 5,
                                      .item_id = 77};
    made *m = NULL;
    char *text = NULL;
    cJSON *events = NULL;
    sqlite3 *db = NULL;

    begin(state);
    for (uint32_t i = 0; i < ODDS; i++) {
        add_stamp(i, odds[i].bytes, strlen(odds[i].bytes), i, FIX_MONO + i * 1000ull + 500);
    }
    fix_put(fixture.data, "aging.api_event.data.slice_0", &call, sizeof(call));
    fix_text(fixture.data, "unaging.additional.hash_dic.slice_0", "77:a \"name\" \xff\xe7\n");
    m = export_all(state, false);
    check_texts(m, false);
    text = read_file(m, "msprof_", ".json");
    assert_null(strchr(text, '\n')); /* one compact array */
    events = cJSON_Parse(text);
    assert_true(cJSON_IsArray(events));
    for (uint32_t i = 0; i < ODDS; i++) {
        assert_non_null(nth_slice(events, i));
        assert_string_equal(cJSON_GetObjectItem(nth_slice(events, i), "name")->valuestring,
                            odds[i].shown);
    }
    assert_string_equal(cJSON_GetObjectItem(nth_slice(events, ODDS), "name")->valuestring,
                        "Communication@a \"name\" \xEF\xBF\xBD\xEF\xBF\xBD");
    cJSON_Delete(events);
    free(text);
    db = open_database(m);
    for (uint32_t i = 0; i < ODDS; i++) {
        sqlite3_stmt *s = NULL;

        assert_int_equal(sqlite3_prepare_v2(db,
                                            "SELECT count(*) FROM MSTX_EVENTS e JOIN STRING_IDS s "
                                            "ON s.id = e.message WHERE s.value = ?",
                                            -1, &s, NULL),
                         SQLITE_OK);
        assert_int_equal(sqlite3_bind_text(s, 1, odds[i].shown, -1, SQLITE_STATIC), SQLITE_OK);
        assert_int_equal(sqlite3_step(s), SQLITE_ROW);
        assert_int_equal(sqlite3_column_int(s, 0), 1);
        sqlite3_finalize(s);
    }
    sqlite3_close(db);
    free(m);
    m = export_all(state, true);
    check_texts(m, true);
    free(m);
    fix_close(&fixture);
}

/* Stamps, and calls of the communication level, which go by the text of their item. */
static void test_many_names(void **state)
{
    ap__wire_additional *stamps = calloc(NAMES, sizeof(*stamps));
    ap__wire_api *calls = calloc(NAMES, sizeof(*calls));
    char *names = calloc(NAMES, 40);
    size_t used = 0;
    made *m = NULL;
    char *text = NULL;
    size_t lines = 0;
    sqlite3 *db = NULL;

    assert_non_null(stamps);
    assert_non_null(calls);
    assert_non_null(names);
    begin(state);
    for (uint32_t i = 0; i < NAMES; i++) {
        char message[32];

        snprintf(message, sizeof(message), "name %u", i);
        stamps[i] = fix_stamp(AP_TX_MARK, 7, FIX_MONO + i, FIX_MONO + i, message);
        calls[i] = (ap__wire_api){.magic = AP_WIRE_MAGIC,
                                  .level = AP_LEVEL_HCCL,
                                  .type = 1,
                                  .thread_id = 9,
                                  .begin = FIX_MONO + i * 10ull,
                                  .end = FIX_MONO + i * 10ull + 5,
                                  .item_id = 1000000ull + i};
        used += (size_t)snprintf(names + used, 40, "%u:call %u\n", 1000000u + i, i);
    }
    fix_put(fixture.data, TX_SLICE "0", stamps, NAMES * sizeof(*stamps));
    fix_put(fixture.data, "aging.api_event.data.slice_0", calls, NAMES * sizeof(*calls));
    fix_put(fixture.data, "unaging.additional.hash_dic.slice_0", names, used);
    m = export_all(state, false);
    text = read_file(m, "api_statistic_", ".csv");
    for (char *p = text; (p = strchr(p, '\n')) != NULL; p++) {
        lines++;
    }
    assert_int_equal(lines, NAMES + 1);
    free(text);
    db = open_database(m);
    assert_int_equal(number(db, "SELECT count(DISTINCT message) FROM MSTX_EVENTS"), NAMES);
    assert_int_equal(number(db, "SELECT count(DISTINCT name) FROM CANN_API"), NAMES);
    assert_int_equal(number(db, "SELECT count(*) FROM STRING_IDS WHERE value GLOB 'call *'"),
                     NAMES);
    sqlite3_close(db);
    free(m);
    free(stamps);
    free(calls);
    free(names);
    fix_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_numbers, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_texts, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_many_names, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
