/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to use the library that public frameworks have (P10, P11), a mark that a captured graph
 * replays (R23), and more tasks than a task's number has values (R33). */
#define _GNU_SOURCE
#include "journey.h"

#include <inttypes.h>

#include "aclprof_reporter.h"
#include "analysis/model.h"
#include "reader/reader.h"
#include "sim_runtime.h"

#define DEVICE_MASK (ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_MSPROFTX)

static aclprofConfig *config_of_device(uint64_t mask)
{
    uint32_t device = 0;
    aclprofConfig *config = aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, NULL, mask);

    assert_non_null(config);
    return config;
}

static void launch(int count)
{
    simrtKernel kernel = {sizeof(kernel), "Add", SIMRT_VECTOR, 8, 20, 0};

    assert_int_equal(simrtSetDevice(0), SIMRT_OK);
    for (int i = 0; i < count; i++) {
        assert_int_equal(simrtLaunchKernel(NULL, &kernel, NULL), SIMRT_OK);
    }
    assert_int_equal(simrtSynchronizeDevice(), SIMRT_OK);
}

/* The only PROF_* directory's file; -1: there is none. */
static long long bytes_of(const char *root, const char *file)
{
    paths found = prof_paths_exactly(root, 1);
    char path[1200];
    struct stat st;
    long long bytes = -1;

    snprintf(path, sizeof(path), "%s/%s", found.list[0], file);
    bytes = stat(path, &st) == 0 ? st.st_size : -1;
    paths_free(&found);
    return bytes;
}

#define TASKS "device_0/data/stars_soc.data.0.slice_0"
#define MARKS "device_0/data/ts_track.data.0.slice_0"
#define TASK_BYTES (2 * 64)

/* ---- P10: the device is reset, the runtime's profiler finalised, and Stop comes last ---- */

static void stops_last(void **state)
{
    aclprofConfig *config = config_of_device(DEVICE_MASK);

    assert_ok(init_at(*state));
    assert_int_equal(MsprofNotifySetDevice(0, 0, true), MSPROF_OK);
    assert_ok(aclprofStart(config));
    launch(30);
    assert_int_equal(MsprofNotifySetDevice(0, 0, false), MSPROF_OK); /* aclrtResetDevice */
    assert_int_equal(MsprofFinalize(), MSPROF_OK);                   /* aclFinalize */
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
    assert_ok(aclprofDestroyConfig(config));
}

static void stop_after_reset_and_finalize(void **state)
{
    (void)role_run("stops_last", *state);
    assert_int_equal(bytes_of(*state, TASKS), 30 * TASK_BYTES);
    assert_true(bytes_of(*state, "device_0/end_info.0") > 0);
}

/* ---- P11: Start in a callback of the setting of a device ---- */

static aclprofConfig *in_callback;
static aclError callback_code = -1;
static unsigned callbacks;

static int32_t on_device(ProfSetDevPara *para, uint32_t length)
{
    assert_true(length >= sizeof(*para));
    callbacks++;
    if (callback_code == -1) {
        callback_code = aclprofStart(in_callback);
    }
    return 0;
}

static void starts_in_callback(void **state)
{
    in_callback = config_of_device(DEVICE_MASK);
    assert_ok(init_at(*state));
    assert_int_equal(profRegDeviceStateCallback(on_device), MSPROF_OK);
    assert_int_equal(callbacks, 0);
    assert_int_equal(MsprofNotifySetDevice(0, 0, true), MSPROF_OK);
    assert_int_equal(callbacks, 1);
    assert_int_equal(callback_code, ACL_SUCCESS);
    launch(25);
    assert_ok(aclprofStop(in_callback));
    assert_ok(aclprofFinalize());
    assert_ok(aclprofDestroyConfig(in_callback));
}

static void start_in_a_device_callback(void **state)
{
    (void)role_run("starts_in_callback", *state);
    assert_int_equal(bytes_of(*state, TASKS), 25 * TASK_BYTES);
}

/* ---- R23: one mark on a stream, replayed 100 times by a graph ---- */

#define REPLAYS 100

static void marks_once(void **state)
{
    aclprofConfig *config = config_of_device(DEVICE_MASK);
    int stream = 0;

    assert_ok(init_at(*state));
    assert_ok(aclprofStart(config));
    assert_ok(aclprofMarkEx("replayed", 8, &stream));
    assert_ok(aclprofMarkEx("other", 5, &stream));
    launch(1);
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
}

static uint64_t id_of_mark(const char *dir, const char *message)
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(dir, &error);
    ap__stamp_record s;
    uint64_t id = 0;

    assert_non_null(reader);
    while (ap__reader_next_stamp(reader, &s)) {
        id = strcmp(s.message, message) == 0 ? s.mark_id : id;
    }
    ap__reader_close(reader);
    return id;
}

/* What a device writes when its stream comes to the mark: 100 times the one, one of the other in
 * the midst of them; in no order, as replays on several streams leave them. */
static void put_device_marks(const char *dir, uint64_t replayed, uint64_t other)
{
    paths found = prof_paths_exactly(dir, 1);
    char path[1200];
    uint64_t counter = 0;
    FILE *file = NULL;

    snprintf(path, sizeof(path), "%s/device_0/dev_start.log.0", found.list[0]);
    file = fopen(path, "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "clock_monotonic_raw: %*u\ncntvct: %" SCNu64, &counter), 1);
    fclose(file);
    snprintf(path, sizeof(path), "%s/" MARKS, found.list[0]);
    file = fopen(path, "ae");
    assert_non_null(file);
    for (uint64_t i = 0; i <= REPLAYS; i++) {
        uint64_t k = i * 37 % (REPLAYS + 1);
        struct {
            uint16_t head;
            uint16_t size;
            uint32_t reserved;
            uint64_t time, index, model;
            uint16_t stream, task, tag, more;
        } record = {0x0A00, 40,   0, counter + 1000 + k * 500, k == 50 ? other : replayed,
                    0xFFFFFFFF, 2, 7, 11, 0};

        assert_int_equal(sizeof(record), 40);
        assert_int_equal(fwrite(&record, sizeof(record), 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
    paths_free(&found);
}

static char *csv_of(const char *dir)
{
    char command[2400];
    char *text = NULL;
    size_t size = 0;
    FILE *pipe = NULL;

    snprintf(command, sizeof(command),
             "'%s' export --type csv '%s' >/dev/null 2>&1; "
             "cat '%s'/PROF_*/mindstudio_profiler_output/msprof_tx_*.csv",
             AP_TEST_TOOL, dir, dir);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_true(getdelim(&text, &size, '\0', pipe) > 0);
    assert_int_equal(pclose(pipe), 0);
    return text;
}

/* Device's begin and end, the last two columns; false: there are none. */
static bool device_times(const char *line, double *begin, double *end)
{
    const char *last = strrchr(line, ',');
    const char *before = last;

    while (before > line && before[-1] != ',') {
        before--;
    }
    return sscanf(before, "%lf ,%lf", begin, end) == 2;
}

static void replayed_marks_are_apart(void **state)
{
    char *text = NULL;
    char *rest = NULL;
    double before = 0;
    unsigned replayed = 0;
    unsigned others = 0;

    (void)role_run("marks_once", *state);
    put_device_marks(*state, id_of_mark(*state, "replayed"), id_of_mark(*state, "other"));
    text = csv_of(*state);
    rest = text;
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        double begin = 0;
        double end = 0;

        if (strstr(line, ",replayed,") == NULL && strstr(line, ",other,") == NULL) {
            continue;
        }
        if (!device_times(line, &begin, &end)) {
            fail_msg("no times of the device: %s", line);
        }
        assert_true(end >= begin);
        if (strstr(line, ",other,") != NULL) {
            others++;
            continue;
        }
        assert_true(replayed == 0 || begin > before); /* k-th after k-th, none of them twice */
        before = begin;
        replayed++;
    }
    assert_int_equal(replayed, REPLAYS);
    assert_int_equal(others, 1);
    free(text);
}

/* ---- R33: task numbers of 16 bits come again ---- */

#define LONG_TASKS SCALED(140000u, 20000u)
#define SHORT_TASKS SCALED(70000u, 10000u)
#define CYCLE 997u /* a prime: a shift by 65536 is seen in the names */

static void launch_named(simrtStream stream, char which, unsigned i)
{
    char name[32];
    simrtKernel kernel = {
        .size = sizeof(kernel), .name = name, .core = SIMRT_CUBE, .blocks = 1, .cost_us = 1};

    snprintf(name, sizeof(name), "%c_%u", which, i % CYCLE);
    assert_int_equal(simrtLaunchKernel(stream, &kernel, NULL), SIMRT_OK);
}

static void launches_many(void **state)
{
    aclprofConfig *config = config_of_device(DEVICE_MASK);
    simrtStream streams[2];

    assert_ok(init_at(*state));
    assert_ok(aclprofStart(config));
    assert_int_equal(simrtSetDevice(0), SIMRT_OK);
    assert_int_equal(simrtCreateStream(&streams[0]), SIMRT_OK);
    assert_int_equal(simrtCreateStream(&streams[1]), SIMRT_OK);
    for (unsigned i = 0; i < LONG_TASKS; i++) {
        launch_named(streams[0], 'a', i);
        if (i % 2 == 0) {
            launch_named(streams[1], 'b', i / 2);
        }
        if (i % 1000 == 0) {
            assert_int_equal(simrtSynchronizeDevice(), SIMRT_OK);
        }
    }
    assert_int_equal(simrtSynchronizeDevice(), SIMRT_OK);
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
}

static void every_task_has_its_own_launch(void **state)
{
    ap__reader_error error;
    ap__reader *reader = NULL;
    ap__model model;
    uint32_t seen[2] = {0};

    setenv("ACLPROF_RING_SIZE", "64M", 1);
    (void)role_run("launches_many", *state);
    unsetenv("ACLPROF_RING_SIZE");
    reader = ap__reader_open(*state, &error);
    assert_non_null(reader);
    assert_int_equal(ap__reader_account_of(reader)->total.lostTotal, 0);
    assert_int_equal(ap__model_load(&model, reader), 0);
    for (uint32_t i = 0; i < model.task_count; i++) { /* by start */
        const char *name = ap__task_name(&model, &model.tasks[i]);
        uint32_t which = 0;
        char want[32];

        assert_non_null(name);
        which = name[0] == 'b';
        snprintf(want, sizeof(want), "%c_%u", which == 1 ? 'b' : 'a', seen[which]++ % CYCLE);
        assert_string_equal(name, want);
        assert_true(model.tasks[i].end_ns > model.tasks[i].start_ns);
    }
    assert_int_equal(seen[0], LONG_TASKS);
    assert_int_equal(seen[1], SHORT_TASKS);
    ap__model_free(&model);
    ap__reader_close(reader);
}

static const role roles[] = {ROLE(stops_last), ROLE(starts_in_callback), ROLE(marks_once),
                             ROLE(launches_many)};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(stop_after_reset_and_finalize),
        SCRATCH_TEST(start_in_a_device_callback),
        SCRATCH_TEST(replayed_marks_are_apart),
        SCRATCH_TEST(every_task_has_its_own_launch),
    };

    setenv("ACLPROF_DRIVER", "sim", 1);
    if (argc > 1) {
        return role_main(roles, sizeof(roles) / sizeof(roles[0]), argv);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
