/* SPDX-License-Identifier: Apache-2.0 */
/* Records of CANN's libraries: from many threads into their streams, under their names, each once and
 * whole; also when the process is killed. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl_prof.h"
#include "aclprof_ext.h"
#include "format/wire_host.h"
#include "reader/reader.h"
#include "reader/recover.h"
#include "reporter/report.h"
#include "scratch.h"

#ifdef AP_SANITIZED
#define EACH 300u
#else
#define EACH 3000u
#endif
#define THREADS 16u
#define LEVEL 7000u
#define TYPES 5u

static aclprofConfig *begin(const char *dir, uint64_t bits)
{
    aclprofConfig *config = NULL;

    assert_int_equal(aclprofInit(dir, strlen(dir)), ACL_SUCCESS);
    config = aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX | bits);
    assert_non_null(config);
    assert_int_equal(aclprofStart(config), ACL_SUCCESS);
    return config;
}

static void end(aclprofConfig *config)
{
    assert_int_equal(aclprofStop(config), ACL_SUCCESS);
    assert_int_equal(aclprofDestroyConfig(config), ACL_SUCCESS);
    assert_int_equal(aclprofFinalize(), ACL_SUCCESS);
}

/* Every byte follows from who made it and its number. */
static void fill(uint8_t *data, uint32_t bytes, uint32_t who, uint32_t number)
{
    memcpy(data, &who, 4);
    memcpy(data + 4, &number, 4);
    for (uint32_t i = 8; i < bytes; i++) {
        data[i] = (uint8_t)(who * 31 + number * 7 + i);
    }
}

static bool filled(const uint8_t *data, uint32_t bytes)
{
    uint8_t expected[AP_WIRE_ADDITIONAL_DATA];
    uint32_t who = 0;
    uint32_t number = 0;

    memcpy(&who, data, 4);
    memcpy(&number, data + 4, 4);
    fill(expected, bytes, who, number);
    return memcmp(expected, data, bytes) == 0;
}

static int32_t report_one(uint32_t who, uint32_t number)
{
    uint32_t kind = number % 3;
    bool aging = number % 2 == 0;

    if (kind == 0) {
        ap__wire_api r = {.magic = AP_WIRE_MAGIC,
                          .level = LEVEL,
                          .type = number % TYPES,
                          .thread_id = who,
                          .begin = number,
                          .end = (uint64_t)who << 32 | number,
                          .item_id = who * 1000003ull + number};

        return ap__report_api(aging, &r);
    }
    if (kind == 1) {
        ap__wire_compact r = {.magic = AP_WIRE_MAGIC, .level = LEVEL, .type = number % TYPES,
                              .thread_id = who, .data_length = 40, .time_stamp = number};

        fill(r.data, 40, who, number);
        return ap__report_compact(aging, &r, sizeof(r));
    }
    ap__wire_additional r = {.magic = AP_WIRE_MAGIC, .level = LEVEL, .type = number % TYPES,
                             .thread_id = who, .data_length = 100, .time_stamp = number};

    fill(r.data, 100, who, number);
    return ap__report_additional(aging, &r, 124); /* the rest is zeros */
}

static void *producer(void *arg)
{
    uint32_t who = *(uint32_t *)arg;

    for (uint32_t i = 0; i < EACH; i++) {
        if (report_one(who, i) != 0) {
            abort();
        }
        if (i % 64 == 0) {
            usleep(500); /* what is written at leisure: nothing is to be lost */
        }
    }
    return NULL;
}

/* What there is of each producer; fails on anything torn or twice. */
static void check_records(ap__reader *reader, uint32_t producers, uint32_t each)
{
    uint8_t *seen = calloc(producers, each);
    ap__records *records =
        ap__records_open(reader, AP_RECORD_API | AP_RECORD_COMPACT | AP_RECORD_ADDITIONAL, NULL);
    ap__raw_record r;
    uint32_t count = 0;

    while (ap__records_next(records, &r)) {
        uint32_t number = 0;
        char tag[16];

        if (r.level != LEVEL) {
            continue;
        }
        if (r.kind == AP_RECORD_API) {
            number = (uint32_t)r.begin_ns;
            assert_string_equal(r.tag, "data");
            assert_int_equal(r.end_ns, (uint64_t)r.tid << 32 | number);
            assert_int_equal(r.item, r.tid * 1000003ull + number);
        } else {
            uint32_t who = 0;

            memcpy(&who, r.payload.data, 4);
            memcpy(&number, r.payload.data + 4, 4);
            assert_int_equal(who, r.tid);
            assert_int_equal(r.payload.size, r.kind == AP_RECORD_COMPACT ? 40 : 100);
            assert_true(filled(r.payload.data, (uint32_t)r.payload.size));
            snprintf(tag, sizeof(tag), "type_%u", number % TYPES);
            assert_string_equal(r.tag, number % TYPES == 0 ? "invalid" : tag);
            assert_string_equal(r.type_name, number % TYPES == 0 ? "not a file/name" : tag);
        }
        assert_int_equal(r.type, number % TYPES);
        assert_int_equal(r.aging, number % 2 == 0);
        assert_true(r.tid < producers && number < each);
        assert_int_equal(seen[r.tid * each + number]++, 0);
        count++;
    }
    assert_int_equal(count, producers * each);
    ap__records_close(records);
    free(seen);
}

static void register_types(void)
{
    char name[16];

    for (uint32_t i = 1; i < TYPES; i++) {
        snprintf(name, sizeof(name), "type_%u", i);
        assert_int_equal(ap__report_type(LEVEL, i, name), 0);
    }
    assert_int_equal(ap__report_type(LEVEL, 0, "not a file/name"), 0);
}

static void test_many_threads(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    aclprofConfig *config = begin(dir, ACL_PROF_ACL_API);
    ap__reader_error error;
    ap__reader *reader = NULL;
    pthread_t threads[THREADS];
    uint32_t who[THREADS];
    aclprofStats stats = {.size = sizeof(stats)};

    register_types();
    for (uint32_t i = 0; i < THREADS; i++) {
        who[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, producer, &who[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    end(config);
    assert_int_equal(aclprofGetStats(&stats), ACL_SUCCESS);
    assert_int_equal(stats.emitted, THREADS * EACH);
    assert_int_equal(stats.written, THREADS * EACH);
    assert_int_equal(stats.lostTotal, 0);
    reader = ap__reader_open(dir, &error);
    assert_non_null(reader);
    check_records(reader, THREADS, EACH);
    ap__reader_close(reader);
}

static void test_a_ring_that_is_full(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    aclprofConfig *config = NULL;
    aclprofStats stats = {.size = sizeof(stats)};
    ap__reader_error error;
    ap__reader *reader = NULL;
    const ap__reader_account *account = NULL;

    setenv("ACLPROF_RING_SIZE", "64K", 1);
    config = begin(dir, ACL_PROF_ACL_API);
    for (uint32_t i = 0; i < 40000; i++) {
        assert_int_equal(report_one(0, i), 0);
    }
    end(config);
    unsetenv("ACLPROF_RING_SIZE");
    assert_int_equal(aclprofGetStats(&stats), ACL_SUCCESS);
    assert_int_equal(stats.emitted, 40000);
    assert_int_equal(stats.written + stats.lostRingFull, 40000);
    assert_int_equal(stats.lostTotal, stats.lostRingFull);
    reader = ap__reader_open(dir, &error);
    assert_non_null(reader);
    account = ap__reader_account_of(reader);
    assert_non_null(account);
    assert_int_equal(account->thread_count, 1);
    assert_int_equal(account->threads[0].written, stats.written);
    assert_int_equal(account->threads[0].lost_full, stats.lostRingFull);
    ap__reader_close(reader);
}

static void test_what_is_refused(void **state)
{
    uint8_t bytes[512] = {0};
    ap__wire_additional r = {.magic = AP_WIRE_MAGIC, .level = LEVEL};
    ap__wire_compact c = {.magic = AP_WIRE_MAGIC, .level = LEVEL, .data_length = 41};
    ap__wire_api a = {.magic = 1};

    (void)state;
    assert_int_equal(ap__report_api(true, NULL), -1);
    assert_int_equal(ap__report_api(true, &a), -1);
    assert_int_equal(ap__report_compact(true, NULL, 64), -1);
    assert_int_equal(ap__report_compact(true, bytes, 64), -1); /* no magic */
    assert_int_equal(ap__report_compact(true, &r, 23), -1);
    assert_int_equal(ap__report_compact(true, &r, 65), -1);
    assert_int_equal(ap__report_compact(true, &c, 64), -1); /* says that it has more */
    assert_int_equal(ap__report_additional(true, &r, 0), -1);
    assert_int_equal(ap__report_additional(true, &r, 65537), -1);
    assert_int_equal(ap__report_batch(true, &r, 255), -1);
    assert_int_equal(ap__report_batch(true, &r, 0), -1);
    assert_int_equal(ap__report_batch(true, bytes, 256), -1);
    assert_int_equal(ap__report_batch(true, bytes, AP_REPORT_BATCH_MAX + 256), -1);
    assert_int_equal(ap__report_type(1, 1, NULL), -1);
    assert_int_equal(ap__report_type(1, 1, ""), -1);
    /* without a capture: welcome, and nobody wants it */
    assert_int_equal(ap__report_additional(true, &r, sizeof(r)), 0);
    assert_false(ap__report_wanted());
}

/* Stamps alone: CANN's records are not asked for. And after the capture nothing is taken. */
static void test_only_when_asked_for(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    aclprofConfig *config = begin(dir, 0);
    aclprofStats stats = {.size = sizeof(stats)};

    assert_int_equal(report_one(0, 1), 0);
    assert_int_equal(aclprofGetStats(&stats), ACL_SUCCESS);
    assert_int_equal(stats.emitted, 0);
    end(config);
    assert_int_equal(report_one(0, 1), 0);
    assert_int_equal(aclprofGetStats(&stats), ACL_SUCCESS);
    assert_int_equal(stats.emitted, 0);
}

static void test_variable_and_batch(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    aclprofConfig *config = begin(dir, ACL_PROF_RUNTIME_API);
    ap__wire_additional batch[8];
    uint8_t *large = calloc(1, 65536);
    ap__wire_additional head = {.magic = AP_WIRE_MAGIC, .level = 5000, .type = 805};
    ap__reader_error error;
    ap__reader *reader = NULL;
    const ap__source *source = NULL;

    register_types();
    memset(batch, 0, sizeof(batch));
    for (uint32_t i = 0; i < 8; i++) {
        batch[i].magic = AP_WIRE_MAGIC;
        batch[i].level = LEVEL;
        batch[i].type = 1;
    }
    assert_int_equal(ap__report_batch(false, batch, sizeof(batch)), 0);
    for (uint32_t len = 257; len <= 65536; len = len * 3 - 100) {
        head.data_length = len - 24;
        memcpy(large, &head, 24);
        assert_int_equal(ap__report_additional(true, large, len), 0);
        usleep(20000);
    }
    end(config);
    reader = ap__reader_open(dir, &error);
    assert_non_null(reader);
    source = ap__sources_find(ap__reader_sources(reader), "unaging.additional.type_1");
    assert_non_null(source);
    assert_int_equal(source->slices[0].size, sizeof(batch));
    source = ap__sources_find(ap__reader_sources(reader), "unaging.variable.capture_op_info");
    assert_non_null(source);
    assert_int_equal(source->slices[0].size, 257 + 671 + 1913 + 5639 + 16817 + 50351);
    ap__reader_close(reader);
    free(large);
}

static void be_killed(const char *dir)
{
    aclprofConfig *config = begin(dir, ACL_PROF_ACL_API);
    void *stamp = aclprofCreateStamp();

    (void)config;
    register_types();
    for (uint32_t i = 0; i < 2000; i++) {
        assert_int_equal(report_one(0, i), 0);
        assert_int_equal(aclprofMark(stamp), ACL_SUCCESS);
        if (i % 500 == 0) {
            usleep(12000); /* some are on disk, some in a slice behind the checkpoint, some in rings */
        }
    }
    kill(getpid(), SIGKILL);
}

static void test_after_a_kill(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    ap__recover_report *report = malloc(sizeof(*report));
    ap__reader_error error;
    ap__reader *reader = NULL;
    const ap__reader_account *account = NULL;
    ap__stamp_record stamp;
    uint32_t stamps = 0;
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        be_killed(dir);
        _exit(1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    for (int pass = 0; pass < 3; pass++) { /* as it is, recovered, recovered again */
        reader = ap__reader_open(dir, &error);
        assert_non_null(reader);
        check_records(reader, 1, 2000);
        for (stamps = 0; ap__reader_next_stamp(reader, &stamp); stamps++) {
        }
        assert_int_equal(stamps, 2000);
        account = ap__reader_account_of(reader);
        if (pass > 0) {
            assert_non_null(account);
            assert_int_equal(account->total.emitted, 4000);
            assert_int_equal(account->total.written, 4000);
            assert_int_equal(account->total.lostTotal, 0);
        }
        ap__reader_close(reader);
        assert_int_equal(ap__recover(dir, report), 0);
        assert_int_equal(report->code, pass == 0 ? AP_RECOVER_DONE : AP_RECOVER_NOTHING);
        ap__recover_report_free(report);
    }
    free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_many_threads, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_a_ring_that_is_full, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_what_is_refused, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_only_when_asked_for, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_variable_and_batch, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_after_a_kill, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
