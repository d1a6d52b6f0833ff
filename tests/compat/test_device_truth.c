/* SPDX-License-Identifier: Apache-2.0 */
/* What our reader and the exported tables say of a simulated run, task by task, against what the
 * simulator says that happened. */
#define _GNU_SOURCE
#include "journey.h"

#include <inttypes.h>

#include "analysis/model.h"
#include "sim_runtime.h"
#include "tool/export.h"

#define KERNELS 400u

typedef struct truth {
    uint32_t device;
    uint32_t stream;
    uint32_t task;
    uint32_t blocks;
    uint64_t start;
    uint64_t end;
    uint64_t cycles;
    char seen[8];
    char name[64];
    bool found;
} truth;

static void capture(const char *dir, uint32_t device_count, void (*work)(void))
{
    uint32_t devices[] = {0, 1};
    aclprofConfig *config = aclprofCreateConfig(
        devices, device_count, ACL_AICORE_PIPE_UTILIZATION, NULL,
        ACL_PROF_ACL_API | ACL_PROF_RUNTIME_API | ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS);

    assert_non_null(config);
    assert_ok(aclprofInit(dir, strlen(dir)));
    assert_ok(aclprofStart(config));
    work();
    assert_ok(aclprofStop(config));
    assert_ok(aclprofDestroyConfig(config));
    assert_ok(aclprofFinalize());
}

static void wait_for_pattern(void)
{
    usleep(400000); /* the pattern of 1000 tasks of 100 us, 10 us apart, and its delay */
}

static void wait_for_long_pattern(void)
{
    usleep(1000000); /* 65636 tasks of 2 us, 1 us apart */
}

static void launch_kernels(void)
{
    simrtStream streams[2];

    for (uint32_t d = 0; d < 2; d++) {
        assert_int_equal(simrtSetDevice(d), SIMRT_OK);
        assert_int_equal(simrtCreateStream(&streams[d]), SIMRT_OK);
    }
    for (uint32_t i = 0; i < KERNELS; i++) {
        char name[32];
        simrtKernel kernel = {.size = sizeof(kernel),
                              .name = name,
                              .core = i % 3 == 0 ? SIMRT_CUBE : SIMRT_VECTOR,
                              .blocks = 1 + i % 20,
                              .cost_us = 5 + i % 50};

        snprintf(name, sizeof(name), "%s_%u", i % 3 == 0 ? "MatMul" : "Add", i);
        assert_int_equal(simrtLaunchKernel(streams[i % 2], &kernel, NULL), SIMRT_OK);
    }
    for (uint32_t d = 0; d < 2; d++) {
        assert_int_equal(simrtSynchronizeStream(streams[d]), SIMRT_OK);
        assert_int_equal(simrtDestroyStream(streams[d]), SIMRT_OK);
    }
}

static void of_a_pattern(void **state)
{
    capture(*state, 1, wait_for_pattern);
}

static void of_a_long_pattern(void **state)
{
    capture(*state, 1, wait_for_long_pattern);
}

static void of_a_program(void **state)
{
    capture(*state, 2, launch_kernels);
}

static const role roles[] = {ROLE(of_a_pattern), ROLE(of_a_long_pattern), ROLE(of_a_program)};

/* ---- comparing ---- */

static truth *read_truth(const char *path, uint32_t *count)
{
    FILE *file = fopen(path, "r");
    truth *list = NULL;
    char line[512];

    *count = 0;
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        truth *t = NULL;
        unsigned flip = 0;
        unsigned sqe = 0;

        if (strncmp(line, "task ", 5) != 0) {
            continue;
        }
        t = ap__model_push((void **)&list, count, sizeof(*t));
        assert_non_null(t);
        memset(t, 0, sizeof(*t));
        assert_int_equal(sscanf(line, "task %u %u %u %u %u %u %" SCNu64 " %" SCNu64 " %7s %" SCNu64
                                      " %63s",
                                &t->device, &t->stream, &t->task, &flip, &sqe, &t->blocks,
                                &t->start, &t->end, t->seen, &t->cycles, t->name),
                         11);
    }
    fclose(file);
    return list;
}

static truth *truth_of(truth *list, uint32_t count, uint32_t device, const ap__task *task,
                       bool long_ids)
{
    static uint32_t hint; /* both are nearly in the same order */

    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = (hint + k) % count;
        truth *t = &list[i];

        /* ids of 32 bits are the device's, and name no stream */
        if (!t->found && t->device == device && t->start == task->start_cycles &&
            (long_ids ? t->task == task->task
                      : t->stream == task->stream && (uint16_t)t->task == task->task)) {
            t->found = true;
            hint = i;
            return t;
        }
    }
    return NULL;
}

/* Both ends seen, or nothing is to be shown of it. */
static bool whole(const truth *t)
{
    return strchr(t->seen, 's') != NULL && strchr(t->seen, 'e') != NULL;
}

static void check_model(const ap__model *m, truth *list, uint32_t count, bool named)
{
    uint32_t expected = 0;

    assert_true(m->simulated);
    for (uint32_t i = 0; i < m->task_count; i++) {
        const ap__task *task = &m->tasks[i];
        const ap__device_view *view = &m->devices[task->device];
        truth *t = truth_of(list, count, view->device, task, view->chip >= 15);

        if (task->part != AP_NONE) {
            continue;
        }
        if (t == NULL) {
            fail_msg("device %u stream %u task %u at %" PRIu64 " has never been", view->device,
                     task->stream, task->task, task->start_cycles);
        }
        assert_true(whole(t));
        assert_int_equal(task->end_cycles, t->end);
        assert_int_equal(task->start_ns, ap__device_wall_ns(view, t->start));
        assert_int_equal(task->end_ns, ap__device_wall_ns(view, t->end));
        if (strchr(t->seen, 'p') != NULL) {
            assert_true(task->counters != AP_NONE);
            assert_int_equal(m->counters[task->counters].cycles, t->cycles);
        }
        if (named) {
            const ap__node *node = ap__task_node(m, task);

            assert_string_equal(ap__task_name(m, task), t->name);
            assert_non_null(node);
            assert_int_equal(node->blocks & 0xFFFF, t->blocks);
            assert_string_equal(ap__reader_hash_text(m->reader, node->name), t->name);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        expected += whole(&list[i]);
        assert_true(list[i].found || !whole(&list[i])); /* nothing is missing */
    }
    assert_true(expected >= KERNELS);
}

/* op_summary, line by line, against the model that was just found true. */
static void check_op_summary(const char *dir, const ap__model *m)
{
    char path[5000];
    char line[4096];
    ap__export e;
    FILE *file = NULL;
    uint32_t rows = 0;
    uint64_t last = 0;

    assert_int_equal(ap__export_open(&e, dir, dir), 0);
    assert_int_equal(ap__csv_op_summary(&e, m), 0);
    assert_int_equal(ap__csv_task_time(&e, m), 0);
    snprintf(path, sizeof(path), "%s/%s", e.dir, e.files[0]);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    assert_non_null(strstr(line, "mac_ratio"));
    while (fgets(line, sizeof(line), file) != NULL) {
        unsigned device = 0;
        unsigned task = 0;
        unsigned stream = 0;
        char name[64];
        uint64_t us = 0;
        uint64_t ns = 0;
        bool found = false;

        assert_int_equal(sscanf(line, "%u,4294967295,%u,%u,%63[^,],%*[^,],dynamic,%*[^,],%" SCNu64
                                      ".%3" SCNu64 "\t,",
                                &device, &task, &stream, name, &us, &ns),
                         6);
        for (uint32_t i = 0; !found && i < m->task_count; i++) {
            const ap__task *t = &m->tasks[i];

            found = m->devices[t->device].device == device && t->task == task &&
                    t->stream == stream && t->start_ns == us * 1000 + ns &&
                    strcmp(ap__task_name(m, t), name) == 0;
        }
        assert_true(found);
        if (device == 0) {
            assert_true(us * 1000 + ns >= last);
            last = us * 1000 + ns;
        }
        rows++;
    }
    assert_int_equal(rows, KERNELS);
    fclose(file);
    ap__export_close(&e);
}

static void compare(const char *dir, const char *file, bool named)
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(dir, &error);
    ap__model model;
    uint32_t count = 0;
    truth *list = read_truth(file, &count);

    assert_non_null(reader);
    assert_int_equal(ap__model_load(&model, reader), 0);
    check_model(&model, list, count, named);
    if (named) {
        check_op_summary(dir, &model);
    }
    ap__model_free(&model);
    ap__reader_close(reader);
    free(list);
}

static void run_and_compare(const char *name, const char *root, const char *options, bool named)
{
    char *file = below(root, "truth");
    char *dir = below(root, "out");
    char text[1024];

    snprintf(text, sizeof(text), "%s,truth=%s", options, file);
    setenv("ACLPROF_SIM", text, 1);
    (void)role_run(name, dir);
    compare(dir, file, named);
    free(dir);
    free(file);
}

static void test_pattern(void **state)
{
    run_and_compare("of_a_pattern", *state, "pattern=single,delay_ms=20", false);
}

static void test_pattern_of_disorder(void **state)
{
    run_and_compare("of_a_pattern", *state, "pattern=streams,disorder=3,delay_ms=20,seed=7", false);
}

static void test_program(void **state)
{
    run_and_compare("of_a_program", *state, "devices=2", true);
}

/* Each generation of records, in a directory of its own; the counter's low half wraps meanwhile. */
static void on_chips(const char *root, const char *role, const char *options, bool named)
{
    static const char *const chips[] = {"910B", "910", "310P", "310B", "950"};

    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
        char *below_root = below(root, chips[i]);
        char text[256];

        assert_int_equal(mkdir(below_root, 0755), 0);
        snprintf(text, sizeof(text), "chip=%s,wrap=60,%s", chips[i], options);
        print_message("%s\n", text);
        run_and_compare(role, below_root, text, named);
        free(below_root);
    }
}

static void test_chips_pattern(void **state)
{
    on_chips(*state, "of_a_pattern", "pattern=streams,disorder=3,delay_ms=20,seed=9", false);
}

static void test_chips_program(void **state)
{
    on_chips(*state, "of_a_program", "devices=2,seed=3", true);
}

static void test_ids_wrap(void **state)
{
    on_chips(*state, "of_a_long_pattern", "pattern=wrap,delay_ms=5", false);
}

/* Ids as the hardware packs them. */
static void test_packed_ids(void **state)
{
    char *one = below(*state, "one");
    char *two = below(*state, "two");

    assert_int_equal(mkdir(one, 0755), 0);
    assert_int_equal(mkdir(two, 0755), 0);
    run_and_compare("of_a_pattern", one, "packing=1,pattern=streams,delay_ms=20", false);
    run_and_compare("of_a_program", two, "packing=2,devices=2", true);
    free(one);
    free(two);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(test_pattern),
        SCRATCH_TEST(test_pattern_of_disorder),
        SCRATCH_TEST(test_program),
        SCRATCH_TEST(test_chips_pattern),
        SCRATCH_TEST(test_chips_program),
        SCRATCH_TEST(test_ids_wrap),
        SCRATCH_TEST(test_packed_ids),
    };

    setenv("ACLPROF_DRIVER", "sim", 1);
    if (argc > 1) {
        return role_main(roles, sizeof(roles) / sizeof(roles[0]), argv);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
