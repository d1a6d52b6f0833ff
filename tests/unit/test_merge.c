/* SPDX-License-Identifier: Apache-2.0 */
/* Several result directories as one: clocks, numbers, archive, database. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <sqlite3.h>
#include <stdbool.h>

#include "reader/device_clock.h"
#include "scratch.h"
#include "tool/merge/merge.h"
#include "tool/verbs.h"

#define PROF "PROF_000001_20250101000000000_00004242CPNEIILO"
#define SECOND ((uint64_t)1000000000u)

/* ---- a device's clock ---- */

static uint64_t random_next(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

/* 50 MHz, 20 millionths too fast, 5 ms apart, each snapshot wrong by up to 40 µs and saying so. */
static ap__clock_pair *snapshots(uint32_t count, uint64_t step_at, uint64_t *x)
{
    ap__clock_pair *p = calloc(count, sizeof(*p));

    assert_non_null(p);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t ns = 1000 * SECOND + i * SECOND;
        uint64_t wrong = random_next(x) % 40000;

        p[i].device_cycles = 7000000000u + i * 50001000ull + (i >= step_at ? 50000 : 0);
        p[i].host_ns = ns + wrong - 20000;
        p[i].error_ns = wrong > 20000 ? wrong - 20000 + 100 : 20000 - wrong + 100;
    }
    return p;
}

static void an_even_drift_is_a_line(void **state)
{
    ap__device_clock clock;
    uint64_t x = 88172645463325252ull;

    (void)state;
    assert_int_equal(ap__device_clock_fit(&clock, snapshots(61, 1000, &x), 61), 0);
    assert_int_equal(clock.count, 2);
    assert_int_equal(clock.snapshots, 61);
    assert_true(clock.error_ns < 10000);
    for (uint64_t i = 0; i <= 60; i++) {
        uint64_t ns = ap__device_clock_ns(&clock, 7000000000u + i * 50001000ull);
        uint64_t true_ns = 1000 * SECOND + i * SECOND;
        uint64_t off = ns > true_ns ? ns - true_ns : true_ns - ns;

        assert_true(off <= clock.error_ns && off < 10000);
    }
    ap__device_clock_free(&clock);
}

static void a_step_is_followed(void **state)
{
    ap__device_clock clock;
    uint64_t x = 88172645463325252ull;
    uint64_t ns = 0;

    (void)state;
    assert_int_equal(ap__device_clock_fit(&clock, snapshots(61, 30, &x), 61), 0);
    assert_int_equal(clock.count, 61);
    ns = ap__device_clock_ns(&clock, 7000000000u + 40 * 50001000ull + 50000);
    assert_true(ns > 1040 * SECOND - 40000 && ns < 1040 * SECOND + 40000);
    ns = ap__device_clock_ns(&clock, 7000000000u + 20 * 50001000ull);
    assert_true(ns > 1020 * SECOND - 40000 && ns < 1020 * SECOND + 40000);
    ap__device_clock_free(&clock);
}

static void what_makes_no_line_is_none(void **state)
{
    ap__device_clock clock;
    ap__clock_pair *p = calloc(3, sizeof(*p));

    (void)state;
    assert_int_equal(ap__device_clock_fit(&clock, NULL, 0), 0);
    assert_int_equal(clock.count, 0);
    p[0] = (ap__clock_pair){5, 10, 1};
    p[1] = (ap__clock_pair){5, 20, 1};         /* no cycles later */
    p[2] = (ap__clock_pair){UINT64_MAX, 5, 1}; /* earlier */
    assert_int_equal(ap__device_clock_fit(&clock, p, 3), 0);
    assert_int_equal(clock.count, 0);
    ap__device_clock_free(&clock);
}

static void snapshots_come_from_the_file(void **state)
{
    const scratch *s = *state;
    static const char text[] =
        "{\"version\":1,\"devices\":[{\"device\":3,\"clock\":[]},{\"device\":7,\"clock\":["
        "{\"hostNs\":18000000000000000001,\"hostCycles\":1,\"deviceNs\":1,\"deviceCycles\":100,"
        "\"errorNs\":5},{\"hostNs\":18000000000000001001,\"deviceCycles\":150,\"errorNs\":6}]}]}";
    ap__notes notes = {0};
    ap__device_clock clock;
    FILE *file = fdopen(openat(s->fd, "devices.json", O_WRONLY | O_CREAT, 0600), "w");

    fputs(text, file);
    fclose(file);
    assert_int_equal(ap__device_clock_read(&clock, s->fd, 7, &notes), 0);
    assert_int_equal(clock.count, 2);
    assert_true(ap__device_clock_ns(&clock, 100) == 18000000000000000001u);
    assert_true(ap__device_clock_ns(&clock, 125) == 18000000000000000501u);
    ap__device_clock_free(&clock);
    assert_int_equal(ap__device_clock_read(&clock, s->fd, 3, &notes), 0);
    assert_int_equal(clock.count, 0);
    assert_int_equal(truncate(".", 0), -1);
    assert_int_equal(ftruncate(openat(s->fd, "devices.json", O_WRONLY), 100), 0);
    assert_int_equal(ap__device_clock_read(&clock, s->fd, 7, &notes), 0);
    assert_int_equal(clock.count, 0);
    assert_int_equal(notes.count, 1);
    ap__notes_free(&notes);
}

/* ---- putting sets in line ---- */

static void machines_and_processes_are_put_in_line(void **state)
{
    uint64_t first[] = {1000 * SECOND, 1010 * SECOND, 1020 * SECOND};
    uint64_t other[] = {1003 * SECOND + 50, 1013 * SECOND + 40, 1023 * SECOND + 70};
    ap__merge_set sets[] = {
        {.host = "a", .offset_ns = 500 * SECOND, .has_clock = true, .error_ns = 10},
        {.host = "a", .offset_ns = 500 * SECOND + 5000000, .has_clock = true, .error_ns = 20},
        {.host = "b", .offset_ns = 100 * SECOND, .has_clock = true, .error_ns = 30},
        {.host = "b", .offset_ns = 100 * SECOND + 7, .has_clock = true, .error_ns = 40},
        {.host = "c", .offset_ns = 300 * SECOND, .has_clock = true, .error_ns = 50},
        {.host = "d", .failed = true},
        {.host = "a", .offset_ns = 900 * SECOND, .has_clock = true, .error_ns = 60}, /* rebooted */
    };
    ap__merge m = {.sets = sets, .count = sizeof(sets) / sizeof(sets[0]), .sync = "barrier"};
    char text[96];

    (void)state;
    for (uint32_t i = 0; i < m.count; i++) {
        sets[i].boot_ns = (uint64_t)sets[i].offset_ns;
    }
    sets[1].syncs = first; /* its wall clock is 5 ms ahead of the reference's */
    sets[1].sync_count = 3;
    sets[3].syncs = other;
    sets[3].sync_count = 3;
    ap__merge_align(&m);
    assert_int_equal(sets[0].by, AP_MERGE_REFERENCE);
    assert_int_equal(sets[0].shift_ns, 0);
    assert_int_equal(sets[1].by, AP_MERGE_SAME_HOST);
    assert_int_equal(sets[1].shift_ns, -5000000);
    assert_int_equal(sets[1].error_ns, 30);
    assert_int_equal(sets[2].by, AP_MERGE_STAMPS);
    assert_int_equal(sets[3].by, AP_MERGE_STAMPS);
    /* the stamps meet: the median of them is 3 s and 50 ns late */
    assert_int_equal(other[0] + (uint64_t)sets[3].shift_ns, first[0] + (uint64_t)sets[1].shift_ns);
    /* and the two of machine b have one clock */
    assert_int_equal(sets[2].offset_ns + sets[2].shift_ns, sets[3].offset_ns + sets[3].shift_ns);
    assert_int_equal(sets[2].error_ns, 20);
    assert_int_equal(sets[3].error_ns, 60);
    assert_int_equal(sets[4].by, AP_MERGE_WALL);
    assert_true(sets[4].error_ns == UINT64_MAX && sets[4].shift_ns == 0);
    assert_int_equal(sets[6].by, AP_MERGE_WALL);
    ap__merge_by_text(&sets[4], text, sizeof(text));
    assert_string_equal(text, "wall clock of another host, error not known");
    ap__merge_by_text(&sets[1], text, sizeof(text));
    assert_string_equal(text, "same host, within 30 ns");
}

/* ---- directories ---- */

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void shell(const char *format, ...)
{
    char command[4096];
    va_list args;

    va_start(args, format);
    assert_true(vsnprintf(command, sizeof(command), format, args) < (int)sizeof(command));
    va_end(args);
    assert_int_equal(system(command), 0);
}

/* Two ranks on one host and one on another, all of process 4242 with device 0, and one that is
 * unreadable. */
static void make_job(const scratch *s)
{
    static const char *const names[] = {"one", "two", "three"};

    shell("tar -xJf '%s/../data/golden.tar.xz' -C '%s' device_910b", AP_TEST_SOURCE_DIR, s->path);
    for (int i = 0; i < 3; i++) {
        shell("mkdir -p '%s/job/%s' && cp -r '%s/device_910b/" PROF "' '%s/job/%s/'", s->path,
              names[i], s->path, s->path, names[i]);
        shell("sed -i 's/\"rank_id\": *-1/\"rank_id\":%d/; s/\"hostname\": "
              "*\"synth\"/\"hostname\":\"%s\"/'"
              " '%s/job/%s/" PROF "/host/info.json'",
              i == 0 ? 3 : i, i == 2 ? "far" : "near", s->path, names[i]);
    }
}

static int merge(const scratch *s, const char *type, const char *more)
{
    char in[600];
    char out[600];
    char *argv[] = {"merge", "--type", (char *)type, "--output", out, in, (char *)more, NULL};

    snprintf(in, sizeof(in), "%s/job", s->path);
    snprintf(out, sizeof(out), "%s/out", s->path);
    return ap__verb_merge(more != NULL ? 7 : 6, argv);
}

static char *only_file(const scratch *s, const char *suffix, size_t *size)
{
    int fd = openat(s->fd, "out", O_RDONLY | O_DIRECTORY);
    DIR *list = fdopendir(fd);
    struct dirent *entry = NULL;
    char *bytes = NULL;

    assert_non_null(list);
    while ((entry = readdir(list)) != NULL) {
        const char *dot = strrchr(entry->d_name, '.');

        if (strncmp(entry->d_name, "merged_", 7) == 0 && dot != NULL && strcmp(dot, suffix) == 0) {
            assert_null(bytes);
            bytes = scratch_read(fd, entry->d_name, size);
        } else {
            assert_true(strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                        strncmp(entry->d_name, "merged_", 7) == 0); /* nothing else is left */
        }
    }
    closedir(list);
    assert_non_null(bytes);
    return bytes;
}

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *q = NULL;
    int64_t value = -1;

    if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) != SQLITE_OK) {
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    }
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    value = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return value;
}

static void attach_single(sqlite3 *db, const scratch *s)
{
    char path[700];
    char *argv[] = {"export", "--type", "db", "--output", (char *)s->path, path, NULL};

    snprintf(path, sizeof(path), "%s/device_910b/" PROF, s->path);
    assert_int_equal(ap__verb_export(6, argv), 0);
    shell("mv '%s'/msprof_*.db '%s/single.db'", s->path, s->path);
    snprintf(path, sizeof(path), "ATTACH '%s/single.db' AS one", s->path);
    assert_int_equal(sqlite3_exec(db, path, NULL, NULL, NULL), SQLITE_OK);
}

static void one_database_of_all(void **state)
{
    static const char *const tables[] = {
        "TASK",        "COMPUTE_TASK_INFO", "CANN_API",    "MSTX_EVENTS",      "TASK_PMU_INFO",
        "MEMCPY_INFO", "NPU_OP_MEM",        "AICORE_FREQ", "OVERLAP_ANALYSIS", "NPU_MODULE_MEM"};
    const scratch *s = *state;
    sqlite3 *db = NULL;
    char path[700];

    make_job(s);
    assert_int_equal(merge(s, "db", NULL), 0);
    free(only_file(s, ".db", NULL));
    shell("mv '%s'/out/merged_*.db '%s/all.db'", s->path, s->path);
    snprintf(path, sizeof(path), "%s/all.db", s->path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    attach_single(db, s);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        char sql[256];
        int64_t single = 0;

        snprintf(sql, sizeof(sql), "SELECT count(*) FROM one.%s", tables[i]);
        single = number(db, sql);
        assert_true(single > 0);
        snprintf(sql, sizeof(sql), "SELECT count(*) FROM main.%s", tables[i]);
        assert_int_equal(number(db, sql), 3 * single);
    }
    assert_int_equal(number(db, "SELECT count(DISTINCT value) = count(*) FROM main.STRING_IDS"), 1);
    assert_int_equal(number(db, "SELECT count(*) FROM main.META_DATA"), 4);
    assert_int_equal(number(db, "SELECT count(*) FROM main.ENUM_MODULE"),
                     number(db, "SELECT count(*) FROM one.ENUM_MODULE"));
    assert_int_equal(number(db, "SELECT count(*) FROM main.SESSION_TIME_INFO"), 1);
    assert_int_equal(number(db, "SELECT count(*) FROM main.HOST_INFO"), 2);
    assert_int_equal(number(db, "SELECT group_concat(rankId * 10 + deviceId, '') = '102132' FROM "
                                "(SELECT * FROM main.RANK_DEVICE_MAP ORDER BY rankId)"),
                     1);
    /* what belongs together still does, and with nothing of another set */
    assert_int_equal(
        number(db, "SELECT count(*) FROM main.TASK t JOIN main.COMPUTE_TASK_INFO c USING "
                   "(globalTaskId) JOIN main.STRING_IDS n ON n.id = c.name"),
        3 * number(db, "SELECT count(*) FROM one.TASK t JOIN one.COMPUTE_TASK_INFO c USING "
                       "(globalTaskId) JOIN one.STRING_IDS n ON n.id = c.name"));
    assert_int_equal(number(db, "SELECT count(*) FROM main.TASK t JOIN main.CANN_API c USING "
                                "(connectionId)"),
                     3 * number(db, "SELECT count(*) FROM one.TASK t JOIN one.CANN_API c USING "
                                    "(connectionId)"));
    assert_int_equal(number(db, "SELECT count(*) FROM main.TASK t JOIN main.CANN_API c USING "
                                "(connectionId) WHERE t.globalPid <> c.globalTid >> 32"),
                     0);
    assert_int_equal(number(db,
                            "SELECT count(*) FROM (SELECT n.value, count(*) FROM main.CANN_API "
                            "c JOIN main.STRING_IDS n ON n.id = c.name GROUP BY 1 EXCEPT SELECT "
                            "n.value, 3 * count(*) FROM one.CANN_API c JOIN one.STRING_IDS n ON "
                            "n.id = c.name GROUP BY 1)"),
                     0);
    assert_int_equal(number(db, "SELECT count(*) FROM main.MERGED_SETS WHERE leftOut IS NULL AND "
                                "hostName = CASE rankId WHEN 2 THEN 'far' ELSE 'near' END"),
                     3);
    assert_int_equal(number(db, "SELECT count(*) FROM main.MERGED_SETS WHERE errorNs IS NULL"), 1);
    assert_int_equal(number(db, "SELECT count(DISTINCT globalPid) FROM main.MERGED_SETS"), 3);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static bool holds(const char *bytes, size_t size, const char *text)
{
    return memmem(bytes, size, text, strlen(text)) != NULL;
}

/* Packets at the top of a trace; tells of each sequence. */
static uint32_t packets(const uint8_t *at, size_t size, uint32_t sequences[8])
{
    const uint8_t *end = at + size;
    uint32_t count = 0;

    while (at < end) {
        size_t length = 0;

        assert_int_equal(*at++, 0x0A);
        for (uint32_t shift = 0;; shift += 7) {
            assert_true(at < end && shift < 28);
            length |= (size_t)(*at & 0x7F) << shift;
            if ((*at++ & 0x80) == 0) {
                break;
            }
        }
        assert_true(length <= (size_t)(end - at));
        assert_true(length > 2 && at[0] == 0x50 && at[1] < 8); /* its sequence comes first */
        sequences[at[1]]++;
        at += length;
        count++;
    }
    return count;
}

static void one_trace_of_all(void **state)
{
    const scratch *s = *state;
    uint32_t sequences[8] = {0};
    size_t size = 0;
    char *bytes = NULL;

    make_job(s);
    assert_int_equal(merge(s, "trace", NULL), 0);
    bytes = only_file(s, ".pftrace", &size);
    assert_true(packets((uint8_t *)bytes, size, sequences) > 100);
    /* the same packets three times, but the snapshot of clocks, which one machine has once */
    assert_int_equal(sequences[2], sequences[1] - 1);
    assert_int_equal(sequences[3], sequences[1] - 1);
    assert_true(holds(bytes, size, "rank 3 \xc2\xb7 near: demo"));
    assert_true(holds(bytes, size, "rank 2 \xc2\xb7 far: NPU 0"));
    free(bytes);
}

static void an_archive_with_a_manifest(void **state)
{
    static const char *const members[] = {"perfetto_manifest.json", "rank_00001_0.pftrace",
                                          "rank_00002_1.pftrace", "rank_00003_2.pftrace"};
    const scratch *s = *state;
    size_t size = 0;
    size_t at = 0;
    char *bytes = NULL;

    make_job(s);
    shell("mkdir -p '%s/job/bad/PROF_x/host'; touch '%s/job/bad/PROF_x/host/data'", s->path,
          s->path);
    assert_int_equal(merge(s, "archive", NULL), 3); /* one is left out */
    bytes = only_file(s, ".tar", &size);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        uint32_t sequences[8] = {0};
        size_t length = strtoul(bytes + at + 124, NULL, 8);

        assert_string_equal(bytes + at, members[i]);
        assert_true(at + 512 + length <= size);
        if (i == 0) {
            assert_memory_equal(bytes + 512, "{\"perfetto_manifest\":{\"version\":1", 33);
            assert_true(holds(bytes, length + 512,
                              "{\"path\":\"rank_00002_1.pftrace\","
                              "\"machine\":{\"name\":\"far\"}}"));
            assert_true(holds(bytes, length + 512, "(same host, within 2000 ns)"));
        } else {
            assert_true(packets((uint8_t *)bytes + at + 512, length, sequences) > 100);
            assert_true(sequences[i] != 0);
        }
        at += 512 + (length + 511) / 512 * 512;
    }
    assert_true(size >= at + 1024);
    free(bytes);
    shell("tar -tf '%s'/out/merged_*.tar >'%s/list' && [ $(wc -l <'%s/list') -ge 4 ]", s->path,
          s->path, s->path);
}

static void what_cannot_be_merged_is_told(void **state)
{
    const scratch *s = *state;
    char *no_path[] = {"merge", "--output", (char *)s->path, "/no/such/path", NULL};
    char *nothing[] = {"merge", "--output", (char *)s->path, (char *)s->path, NULL};
    char *no_output[] = {"merge", (char *)s->path, NULL};
    char *bad_type[] = {"merge", "--type", "zip", "--output", "x", "y", NULL};
    char *help[] = {"merge", "--help", NULL};

    assert_int_equal(ap__verb_merge(4, no_path), 1);
    assert_int_equal(ap__verb_merge(4, nothing), 1);
    assert_int_equal(ap__verb_merge(2, no_output), 2);
    assert_int_equal(ap__verb_merge(6, bad_type), 2);
    assert_int_equal(ap__verb_merge(2, help), 0);
    assert_int_equal(scratch_count(s->fd), 0);

    /* one of two cannot be read: left out, the other is there */
    make_job(s);
    shell("cd '%s/job' && rm -rf three two/" PROF "/host/* && mkfifo two/" PROF
          "/host/info.json && "
          ": >two/" PROF "/host/data",
          s->path);
    assert_int_equal(merge(s, "archive", NULL), 3);
    free(only_file(s, ".tar", NULL));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_even_drift_is_a_line),
        cmocka_unit_test(a_step_is_followed),
        cmocka_unit_test(what_makes_no_line_is_none),
        TEST(snapshots_come_from_the_file),
        cmocka_unit_test(machines_and_processes_are_put_in_line),
        TEST(one_database_of_all),
        TEST(one_trace_of_all),
        TEST(an_archive_with_a_manifest),
        TEST(what_cannot_be_merged_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
