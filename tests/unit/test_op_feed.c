/* SPDX-License-Identifier: Apache-2.0 */
/* Subscriptions whose tasks a runtime reports, and the account of those that nobody tells. The
 * simulator runs the tasks, and is kept from telling of them itself. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aclprof_ext.h"
#include "aclprof_reporter.h"
#include "format/wire_host.h"
#include "format/wire_report.h"
#include "sim_runtime.h"
#include "subscribe/op_match.h"
#include "subscribe/op_names.h"

#define MODEL 31u

typedef struct subscription {
    aclprofSubscribeConfig *config;
    int read_end;
    int end;
    uint32_t count;
    char data[65536];
    size_t bytes;
} subscription;

static subscription *begin(void)
{
    subscription *s = calloc(1, sizeof(*s));
    int fds[2];

    assert_non_null(s);
    assert_int_equal(pipe(fds), 0);
    s->read_end = fds[0];
    s->end = fds[1];
    s->config = aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, &s->end);
    assert_non_null(s->config);
    assert_int_equal(simrtSetDevice(0), SIMRT_OK);
    assert_int_equal(MsprofSetDeviceIdByGeModelIdx(MODEL, 0), 0);
    assert_int_equal(aclprofModelSubscribe(MODEL, s->config), 0);
    simrtSetProfilerHook(NULL, NULL);
    return s;
}

/* Reads what came. */
static void end(subscription *s)
{
    ssize_t n = 0;

    assert_int_equal(simrtSynchronizeDevice(), SIMRT_OK);
    assert_int_equal(aclprofModelUnSubscribe(MODEL), 0);
    while ((n = read(s->read_end, s->data + s->bytes, sizeof(s->data) - s->bytes)) > 0) {
        s->bytes += (size_t)n;
    }
    close(s->read_end);
    if (s->bytes != 0) {
        assert_int_equal(aclprofGetOpNum(s->data, s->bytes, &s->count), 0);
    }
    assert_int_equal(aclprofDestroySubscribeConfig(s->config), 0);
}

static uint32_t run(const char *name)
{
    simrtKernel kernel = {.size = sizeof(kernel), .name = name, .blocks = 1, .cost_us = 20};
    uint32_t task = 0;

    assert_int_equal(simrtLaunchKernel(NULL, &kernel, &task), SIMRT_OK);
    return task;
}

static MsprofCompactInfo record_of(uint16_t level, uint32_t type, const void *data, uint32_t bytes)
{
    MsprofCompactInfo r = {.magicNumber = MSPROF_RECORD_MAGIC,
                           .level = level,
                           .type = type,
                           .threadId = 77,
                           .dataLen = bytes,
                           .timeStamp = MsprofSysCycleTime()};

    memcpy(r.data, data, bytes);
    return r;
}

static void track(uint32_t task, const char *kernel, uint32_t aging)
{
    ap__wire_task_track t = {.task = (uint16_t)task,
                             .device = 0x1000, /* above the number: a kind */
                             .kernel_name = kernel != NULL
                                                ? MsprofGetHashId(kernel, strlen(kernel))
                                                : 0};
    MsprofCompactInfo r = record_of(5000, 802, &t, sizeof(t));

    assert_int_equal(MsprofReportCompactInfo(aging, &r, sizeof(r)), MSPROF_OK);
}

static void node(const char *name, const char *type)
{
    ap__wire_node_basic n = {.op_name = MsprofGetHashId(name, strlen(name)),
                             .op_type = MsprofGetHashId(type, strlen(type))};
    MsprofCompactInfo r = record_of(10000, 0, &n, sizeof(n));

    assert_int_equal(MsprofReportCompactInfo(1, &r, sizeof(r)), MSPROF_OK);
}

static void expect(const subscription *s, uint32_t i, const char *name, const char *type)
{
    char text[AP_OP_NAME_BYTES];

    assert_int_equal(aclprofGetOpName(s->data, s->bytes, i, text, sizeof(text)), 0);
    assert_string_equal(text, name);
    assert_int_equal(aclprofGetOpType(s->data, s->bytes, i, text, sizeof(text)), 0);
    assert_string_equal(text, type);
    assert_int_equal(aclprofGetModelId(s->data, s->bytes, i), MODEL);
    assert_true(aclprofGetOpEnd(s->data, s->bytes, i) >
                aclprofGetOpStart(s->data, s->bytes, i) + 15000);
}

static aclprofStats stats_now(void)
{
    aclprofStats stats = {.size = sizeof(stats)};

    assert_int_equal(aclprofGetStats(&stats), 0);
    return stats;
}

/* ---- tests ---- */

static void reported_tasks_have_records(void **state)
{
    aclprofStats before = stats_now();
    aclprofStats after;
    subscription *s = begin();
    ap__wire_task_track_v2 long_track = {0};
    MsprofCompactInfo r;
    MsprofApi call = {.magicNumber = MSPROF_RECORD_MAGIC, .level = 5000};

    (void)state;
    track(run("x"), "te_matmul_12", 1);
    track(run("x"), "te_add", 1);
    node("Add_7", "Add"); /* the last one's */
    node("Nobody", "Nobody");
    long_track.task = run("x");
    long_track.kernel_name = MsprofGetHashId("Conv_3", 6);
    r = record_of(5000, 808, &long_track, sizeof(long_track));
    assert_int_equal(MsprofReportCompactInfo(1, &r, sizeof(r)), MSPROF_OK);
    track(run("x"), NULL, 1); /* no operator */
    node("Not its", "node");
    {
        ap__wire_task_track t = {.task = (uint16_t)run("x"), .kernel_name = 123456789};

        r = record_of(5000, 802, &t, sizeof(t)); /* a name that is not known */
        assert_int_equal(MsprofReportCompactInfo(1, &r, 24 + sizeof(t)), MSPROF_OK);
        t.device = 63;
        r = record_of(5000, 802, &t, sizeof(t));
        assert_int_equal(MsprofReportCompactInfo(1, &r, sizeof(r)), MSPROF_OK);
        r.dataLen = 8; /* too short to be one */
        assert_int_equal(MsprofReportCompactInfo(1, &r, 32), MSPROF_OK);
    }
    assert_int_equal(MsprofReportApi(1, &call), MSPROF_OK); /* not refused, and not kept */
    end(s);
    assert_int_equal(MsprofReportCompactInfo(1, &r, sizeof(r)), MSPROF_NOT_RUNNING);
    assert_int_equal(s->count, 4);
    expect(s, 0, "te_matmul_12", "te_matmul");
    expect(s, 1, "Add_7", "Add");
    expect(s, 2, "Conv_3", "Conv");
    expect(s, 3, "123456789", "123456789");
    after = stats_now();
    assert_int_equal(after.opRecords - before.opRecords, 4);
    assert_int_equal(after.opWritten - before.opWritten, 4);
    assert_int_equal(after.opLost, before.opLost);
    assert_int_equal(after.opMissed, before.opMissed);
    free(s);
}

static void untold_tasks_are_counted(void **state)
{
    aclprofStats before = stats_now();
    aclprofStats after;
    subscription *s = begin();

    (void)state;
    for (int i = 0; i < 20; i++) {
        uint32_t task = run("x");

        if (i % 4 == 0) {
            track(task, "Told", 1);
        }
    }
    end(s);
    assert_int_equal(s->count, 5);
    after = stats_now();
    assert_int_equal(after.opRecords - before.opRecords, 5);
    assert_int_equal(after.opMissed - before.opMissed, 15);
    free(s);

    s = begin(); /* forgotten after a second, while it goes on */
    (void)run("x");
    for (int i = 0; i < 100 && stats_now().opMissed == after.opMissed; i++) {
        usleep(50000);
    }
    assert_int_equal(stats_now().opMissed, after.opMissed + 1);
    end(s);
    assert_int_equal(stats_now().opMissed, after.opMissed + 1);
    free(s);
}

/* Ids that the device has packed into both fields. */
static void packed_ids(void **state)
{
    (void)state;
    for (int packing = 1; packing <= 2; packing++) {
        int status = 0;
        pid_t child = fork();

        if (child == 0) {
            char options[32];
            subscription *s = NULL;

            snprintf(options, sizeof(options), "packing=%d", packing);
            setenv("ACLPROF_SIM", options, 1);
            s = begin();
            for (int i = 0; i < 10; i++) {
                track(run("x"), "Packed", 1);
            }
            end(s);
            _exit(s->count == 10 ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

/* ---- the matching itself ---- */

static void models_that_are_loaded_once(void **state)
{
    ap__op_match *m = ap__op_match_new();
    ap__op_launch launch = {.op = 5, .model = MODEL, .thread = 1};
    ap__op_run r;

    (void)state;
    assert_non_null(m);
    for (uint16_t i = 0; i < 3000; i++) {
        launch.op = 1000u + i;
        assert_true(ap__op_match_static(m, i % 7, i, &launch));
    }
    launch.op = 9; /* another model has got the ids */
    assert_true(ap__op_match_static(m, 3, 3, &launch));
    for (uint64_t round = 0; round < 3; round++) {
        for (uint16_t i = 0; i < 3000; i++) {
            ap__op_match_start(m, i % 7, i, 10 * i, round);
            assert_true(ap__op_match_end(m, i % 7, i, 10 * i + 5, round, &r));
            assert_int_equal(r.launch.op, i == 3 ? 9 : 1000u + i);
            assert_int_equal(r.end_cycles - r.start_cycles, 5);
        }
    }
    launch.op = 77; /* told for this one time */
    assert_false(ap__op_match_launch(m, 3, 3, &launch, 0, &r));
    ap__op_match_start(m, 3, 3, 1, 0);
    assert_true(ap__op_match_end(m, 3, 3, 2, 0, &r));
    assert_int_equal(r.launch.op, 77);
    assert_int_equal(ap__op_match_missed(m, true), 0);
    ap__op_match_free(m);
}

static void renamed_and_too_many(void **state)
{
    ap__op_match *m = ap__op_match_new();
    ap__op_launch launch = {.op = 5, .model = MODEL, .thread = 1};
    ap__op_run r;

    (void)state;
    assert_non_null(m);
    ap__op_match_rename(m, 1, 1, 6); /* there is none */
    assert_false(ap__op_match_launch(m, 1, 1, &launch, 0, &r));
    assert_false(ap__op_match_launch(m, 1, 1, &launch, 0, &r));
    ap__op_match_rename(m, 1, 1, 6); /* the second */
    for (uint64_t i = 0; i < 2; i++) {
        ap__op_match_start(m, 1, 1, 1, 0);
        assert_true(ap__op_match_end(m, 1, 1, 2, 0, &r));
        assert_int_equal(r.launch.op, 5 + i);
    }
    for (uint32_t i = 0; i < 65536; i++) {
        assert_false(ap__op_match_launch(m, 2, (uint16_t)i, &launch, 0, &r));
    }
    assert_false(ap__op_match_launch(m, 1, 1, &launch, 0, &r)); /* no room */
    ap__op_match_start(m, 1, 1, 1, 0);
    assert_false(ap__op_match_end(m, 1, 1, 2, 0, &r));
    assert_int_equal(ap__op_match_missed(m, false), 1);
    assert_int_equal(ap__op_match_missed(m, true), 65537);
    ap__op_match_start(m, 2, 100, 1, 0);
    assert_true(ap__op_match_end(m, 2, 100, 2, 0, &r));
    ap__op_match_start(m, 1, 1, 1, 0); /* nobody tells */
    assert_false(ap__op_match_end(m, 1, 1, 2, 5, &r));
    ap__op_match_age(m, 1004);
    assert_int_equal(ap__op_match_missed(m, false), 1);
    ap__op_match_age(m, 1005);
    assert_int_equal(ap__op_match_missed(m, false), 2);
    ap__op_match_free(m);
}

static void names_with_types(void **state)
{
    char text[16];
    uint64_t a = ap__op_number("Add_1", NULL);
    uint64_t b = ap__op_number("Add_1", "AddV2");

    (void)state;
    assert_true(a != 0 && b != 0 && a != b);
    assert_int_equal(ap__op_number("Add_1", "Add"), a);
    assert_int_equal(ap__op_number("Add_1", "AddV2"), b);
    assert_int_equal(ap__op_type(a, text, sizeof(text)), 3);
    assert_string_equal(text, "Add");
    assert_int_equal(ap__op_type(b, text, sizeof(text)), 5);
    assert_string_equal(text, "AddV2");
    assert_int_equal(ap__op_name(b, text, sizeof(text)), 5);
    assert_string_equal(text, "Add_1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_ids), /* before the simulator is there */
        cmocka_unit_test(reported_tasks_have_records),
        cmocka_unit_test(untold_tasks_are_counted),
        cmocka_unit_test(models_that_are_loaded_once),
        cmocka_unit_test(renamed_and_too_many),
        cmocka_unit_test(names_with_types),
    };

    setenv("ACLPROF_DRIVER", "sim", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
