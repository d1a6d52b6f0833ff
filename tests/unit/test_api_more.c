/* SPDX-License-Identifier: Apache-2.0 */
/* Marks on streams, launches with tensors, steps, features: what they refuse and what they leave. */
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

#include "aclprof_ext.h"
#include "format/wire_host.h"
#include "reader/reader.h"
#include "reader/recover.h"
#include "scratch.h"

static int a_stream; /* its address is passed on, never looked at */
#define STREAM ((void *)&a_stream)

/* ---- a runtime in the process ---- */

typedef struct traced {
    uint64_t id;
    uint16_t tag;
    void *stream;
} traced;

static traced last_traced;
static int32_t trace_answer;

int32_t rtProfilerTraceEx(uint64_t id, uint64_t model, uint16_t tag, void *stream);
int32_t rtProfilerTraceEx(uint64_t id, uint64_t model, uint16_t tag, void *stream)
{
    assert_int_equal(model, 0xFFFFFFFF);
    last_traced = (traced){id, tag, stream};
    return trace_answer;
}

static aclprofConfig *begin(const char *dir, uint64_t bits)
{
    aclprofConfig *config = aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, bits);

    assert_non_null(config);
    assert_int_equal(aclprofInit(dir, strlen(dir)), ACL_SUCCESS);
    assert_int_equal(aclprofStart(config), ACL_SUCCESS);
    return config;
}

static void end(aclprofConfig *config)
{
    assert_int_equal(aclprofStop(config), ACL_SUCCESS);
    assert_int_equal(aclprofDestroyConfig(config), ACL_SUCCESS);
    assert_int_equal(aclprofFinalize(), ACL_SUCCESS);
}

static ap__reader *open_result(const char *dir)
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(dir, &error);

    assert_non_null(reader);
    return reader;
}

/* ---- marks ---- */

static void test_mark_ex_refuses(void **state)
{
    char text[157];
    const char *dir = ((scratch *)*state)->path;
    aclprofConfig *config = NULL;

    memset(text, 'x', sizeof(text));
    text[156] = '\0';
    assert_int_equal(aclprofMarkEx(NULL, 1, STREAM), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofMarkEx("a", 1, NULL), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofMarkEx("", 0, STREAM), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofMarkEx(text, 156, STREAM), ACL_ERROR_INVALID_PARAM);
    assert_non_null(strstr(aclprofGetLastError(), "155"));
    assert_int_equal(aclprofMarkEx("abc", 2, STREAM), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofMarkEx("abc", 4, STREAM), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofMarkEx("abc", 3, STREAM), ACL_ERROR_PROF_NOT_RUN);
    config = begin(dir, ACL_PROF_MSPROFTX);
    trace_answer = 7;
    assert_int_equal(aclprofMarkEx("abc", 3, STREAM), ACL_ERROR_GE_FAILURE);
    trace_answer = 0;
    end(config);
    assert_int_equal(aclprofMarkEx("abc", 3, STREAM), ACL_ERROR_PROF_NOT_RUN);
}

static void test_mark_ex_records(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    aclprofConfig *config = begin(dir, ACL_PROF_MSPROFTX); /* stamps alone: marks are stamps */
    char text[156];
    ap__reader *reader = NULL;
    ap__stamp_record s;
    void *stamp = aclprofCreateStamp();
    uint64_t first = 0;

    memset(text, 'y', sizeof(text));
    text[155] = '\0';
    assert_int_equal(aclprofMarkEx("first", 5, STREAM), ACL_SUCCESS);
    first = last_traced.id;
    assert_ptr_equal(last_traced.stream, STREAM);
    assert_int_equal(last_traced.tag, 11);
    assert_int_equal(aclprofMark(stamp), ACL_SUCCESS);
    assert_int_equal(aclprofMarkEx(text, 155, STREAM), ACL_SUCCESS);
    assert_int_equal(last_traced.id, first + 1);
    end(config);
    reader = open_result(dir);
    assert_true(ap__reader_next_stamp(reader, &s));
    assert_int_equal(s.event, AP_TX_MARK_EX);
    assert_int_equal(s.info_type, AP_TX_INFO_EX);
    assert_int_equal(s.mark_id, first);
    assert_int_equal(s.tid, getpid());
    assert_string_equal(s.message, "first");
    assert_string_equal(s.domain_name, "default");
    assert_true(ap__reader_next_stamp(reader, &s));
    assert_int_equal(s.event, AP_TX_MARK);
    assert_true(ap__reader_next_stamp(reader, &s));
    assert_string_equal(s.message, text);
    assert_false(ap__reader_next_stamp(reader, &s));
    assert_int_equal(ap__reader_account_of(reader)->total.written, 3);
    ap__reader_close(reader);
}

static void test_mark_ex_after_a_kill(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    ap__recover_report *report = malloc(sizeof(*report));
    ap__stamp_record s;
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        void *stamp = NULL;

        (void)begin(dir, ACL_PROF_MSPROFTX);
        stamp = aclprofCreateStamp();
        for (int i = 0; i < 500; i++) {
            (void)aclprofMark(stamp);
            (void)aclprofMarkEx("mark", 4, STREAM);
            if (i == 300) {
                usleep(30000);
            }
        }
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    for (int pass = 0; pass < 2; pass++) {
        ap__reader *reader = open_result(dir);
        int marks[2] = {0, 0};

        while (ap__reader_next_stamp(reader, &s)) {
            marks[s.event == AP_TX_MARK_EX]++;
        }
        assert_int_equal(marks[0], 500);
        assert_int_equal(marks[1], 500);
        ap__reader_close(reader);
        assert_int_equal(ap__recover(dir, report), 0);
        ap__recover_report_free(report);
    }
    free(report);
}

/* ---- steps ---- */

static void test_steps(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    aclprofStepInfo *one = aclprofCreateStepInfo();
    aclprofStepInfo *two = aclprofCreateStepInfo();
    uint64_t numbers[2];
    aclprofConfig *config = NULL;
    ap__reader *reader = NULL;
    ap__records *records = NULL;
    ap__raw_record r;
    int edges = 0;

    memcpy(&numbers[0], (char *)one + 8, 8);
    memcpy(&numbers[1], (char *)two + 8, 8);
    assert_int_equal(numbers[1], numbers[0] + 1);
    assert_int_equal(aclprofGetStepTimestamp(NULL, ACL_STEP_START, STREAM),
                     ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofGetStepTimestamp(one, ACL_STEP_START, NULL), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofGetStepTimestamp(one, (aclprofStepTag)2, STREAM),
                     ACL_ERROR_INVALID_PARAM);
    config = begin(dir, ACL_PROF_MSPROFTX | ACL_PROF_TRAINING_TRACE);
    trace_answer = 1; /* refused: may be tried again */
    assert_int_equal(aclprofGetStepTimestamp(one, ACL_STEP_START, STREAM), ACL_ERROR_GE_FAILURE);
    trace_answer = 0;
    assert_int_equal(aclprofGetStepTimestamp(one, ACL_STEP_START, STREAM), ACL_SUCCESS);
    assert_int_equal(last_traced.id, numbers[0]);
    assert_int_equal(last_traced.tag, ACL_STEP_START);
    assert_int_equal(aclprofGetStepTimestamp(one, ACL_STEP_START, STREAM),
                     ACL_ERROR_INVALID_PARAM);
    numbers[1] = 4711; /* as a framework does */
    memcpy((char *)two + 8, &numbers[1], 8);
    assert_int_equal(aclprofGetStepTimestamp(two, ACL_STEP_END, STREAM), ACL_SUCCESS);
    assert_int_equal(last_traced.id, 4711);
    end(config);
    aclprofDestroyStepInfo(one);
    aclprofDestroyStepInfo(two);
    aclprofDestroyStepInfo(NULL);
    reader = open_result(dir);
    records = ap__records_open(reader, AP_RECORD_API, NULL);
    while (ap__records_next(records, &r)) {
        assert_int_equal(r.level, AP_LEVEL_NODE);
        assert_int_equal(r.type, 11);
        assert_int_equal(r.item, edges++ == 0 ? ACL_STEP_START : ACL_STEP_END);
        assert_true(r.end_ns >= r.begin_ns);
    }
    assert_int_equal(edges, 2);
    ap__records_close(records);
    ap__reader_close(reader);
}

/* ---- launches ---- */

static aclprofTensor tensors[12];

static aclError push(uint64_t name, uint32_t count)
{
    aclprofTensorInfo info = {.opNameId = name, .tensorNum = count, .tensors = tensors};
    aclprofEventAttributes attr = {1, sizeof(attr), 0, {&info}};

    return aclprofRangePushEx(&attr); /* copies: info is gone afterwards */
}

static void fill_tensors(void)
{
    for (uint32_t i = 0; i < 12; i++) {
        tensors[i] = (aclprofTensor){i % 2, 2, i, i % 9, {0}};
        for (uint32_t k = 0; k < 8; k++) {
            tensors[i].shape[k] = k == 7 ? UINT32_MAX : i * 100 + k;
        }
    }
}

static void test_range_ex_refuses(void **state)
{
    aclprofTensorInfo info = {.tensorNum = 1};
    aclprofEventAttributes attr = {1, sizeof(attr), 0, {NULL}};

    (void)state;
    assert_int_equal(aclprofRangePushEx(NULL), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofRangePushEx(&attr), ACL_ERROR_INVALID_PARAM);
    attr.message.tensorInfo = &info;
    assert_int_equal(aclprofRangePushEx(&attr), ACL_ERROR_INVALID_PARAM); /* no tensors */
    info.tensorNum = 65537;
    assert_int_equal(aclprofRangePushEx(&attr), ACL_ERROR_INVALID_PARAM);
    info.tensorNum = 0;
    attr.version = 2;
    assert_int_equal(aclprofRangePushEx(&attr), ACL_ERROR_INVALID_PARAM);
    attr.version = 1;
    attr.size = 8;
    assert_int_equal(aclprofRangePushEx(&attr), ACL_ERROR_INVALID_PARAM);
    attr.size = sizeof(attr);
    attr.messageType = 1;
    assert_int_equal(aclprofRangePushEx(&attr), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofRangePop(), ACL_ERROR_INVALID_PARAM);
}

static void *other_thread(void *arg)
{
    (void)arg;
    assert_int_equal(aclprofRangePop(), ACL_ERROR_INVALID_PARAM); /* not this thread's */
    assert_int_equal(push(99, 1), ACL_SUCCESS);                   /* freed with the thread */
    return NULL;
}

static void test_range_ex_records(void **state)
{
    static const uint32_t counts[] = {0, 1, 5, 6, 12};
    const char *dir = ((scratch *)*state)->path;
    aclprofConfig *config = begin(dir, ACL_PROF_MSPROFTX | ACL_PROF_OP_ATTR);
    ap__reader *reader = NULL;
    ap__records *records = NULL;
    ap__raw_record r;
    pthread_t thread;
    uint32_t seen[5] = {0};

    fill_tensors();
    for (uint32_t i = 0; i < 5; i++) { /* nested */
        assert_int_equal(push(1000 + i, counts[i]), ACL_SUCCESS);
    }
    assert_int_equal(pthread_create(&thread, NULL, other_thread, NULL), 0);
    pthread_join(thread, NULL);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(aclprofRangePop(), ACL_SUCCESS);
    }
    assert_int_equal(aclprofRangePop(), ACL_ERROR_INVALID_PARAM);
    end(config);
    reader = open_result(dir);
    records = ap__records_open(reader, AP_RECORD_ADDITIONAL, "tensor_info");
    while (ap__records_next(records, &r)) {
        uint32_t which = (uint32_t)ap__blob_u64(r.payload, 0) - 1000;
        uint32_t count = ap__blob_u32(r.payload, 8);

        assert_true(which < 5);
        assert_false(r.aging);
        assert_int_equal(r.payload.size, 12 + 44 * count);
        for (uint32_t i = 0; i < count; i++) {
            const aclprofTensor *t = &tensors[seen[which] + i];
            size_t at = 12 + 44 * (size_t)i;

            assert_int_equal(ap__blob_u32(r.payload, at), t->type);
            assert_int_equal(ap__blob_u32(r.payload, at + 4), t->format);
            assert_int_equal(ap__blob_u32(r.payload, at + 8), t->dataType);
            for (uint32_t k = 0; k < 8; k++) {
                assert_int_equal(ap__blob_u32(r.payload, at + 12 + 4 * (size_t)k),
                                 k < t->shapeDim ? t->shape[k] : 0);
            }
        }
        seen[which] += count;
    }
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(seen[i], counts[i]);
    }
    ap__records_close(records);
    ap__reader_close(reader);
}

/* ---- features, older calls ---- */

static void test_features(void **state)
{
    size_t count = 0;
    void *data = NULL;
    void *again = NULL;

    (void)state;
    assert_int_equal(aclprofGetSupportedFeatures(NULL, &data), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofGetSupportedFeatures(&count, NULL), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofGetSupportedFeatures(&count, &data), ACL_SUCCESS);
    assert_int_equal(count, 2);
    assert_int_equal(aclprofGetSupportedFeatures(&count, &data), ACL_ERROR_INVALID_PARAM);
    for (size_t i = 0; i < count; i++) {
        const char *record = (const char *)data + 272 * i;

        assert_string_equal(record + 8, i == 0 ? "ATTR" : "AICORE_SHAPE");
        assert_string_equal(record + 80, "1");
        assert_string_equal(record + 96, i == 0 ? "2" : "1");
        assert_string_equal(record + 112, "all");
        assert_string_equal(record + 128, "all");
        assert_true(record[144] != '\0');
    }
    assert_int_equal(aclprofGetSupportedFeaturesV2(&count, &again), ACL_SUCCESS);
    assert_true(count >= 2);
    assert_int_equal(aclprofRegisterDeviceCallback(), ACL_SUCCESS);
    assert_int_equal(aclprofMsproftxSwitch(true), ACL_SUCCESS);
    assert_int_equal(aclprofReportStamp(NULL, 0, NULL, 0), ACL_ERROR_INVALID_PARAM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_mark_ex_refuses, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_mark_ex_records, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_mark_ex_after_a_kill, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_steps, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_range_ex_refuses),
        cmocka_unit_test_setup_teardown(test_range_ex_records, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_features),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
