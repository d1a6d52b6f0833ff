/* SPDX-License-Identifier: Apache-2.0 */
#include "sim_run.h"

#include "drivers/sim/options.h"
#include "drivers/sim/scenario.h"

static const char *const file = "sim_scenario.txt";

static void write_file(const char *text)
{
    FILE *f = fopen(file, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void test_tasks_as_written(void **state)
{
    truth_task *tasks = NULL;
    size_t n = 0;
    sim_run run;

    (void)state;
    write_file("# two kernels and a copy\n"
               "option ppm=0,mhz=1000\n"
               "option devices=2\n"
               "0     3 10 aic    100   24 name=MatMul pmu=1,2,3,4,5,6,7,8\n"
               "150.5 3 11 memcpy 20    0  bytes=4096   # copy\n"
               "\n"
               "100   4 -  aiv    50.25 8  name=Add\n"
               "300   4 -  aiv    10    8  name=Sub dev=1\n");
    run_open(&run, "scenario=sim_scenario.txt");
    assert_int_equal(ap__sim_devices(run.sim), 2);
    run_start(&run, 50, 0, CONFIG_ACSQ);
    run_start(&run, 53, 0, config_counters(8, 3, 1, 0));
    run_step(&run, 25);
    run_stop(&run);
    tasks = run_truth(&run, &n);
    assert_int_equal(n, 3);
    assert_string_equal(tasks[0].name, "MatMul");
    assert_int_equal(tasks[0].task, 10);
    assert_int_equal(tasks[0].end - tasks[0].start, 5000);
    assert_string_equal(tasks[1].name, "Add");
    assert_int_equal(tasks[1].task, 0);
    assert_in_range(tasks[1].end - tasks[1].start, 2512, 2513);
    assert_int_equal(tasks[1].start - tasks[0].start, 5000);
    assert_int_equal(tasks[2].sqe, 11);
    assert_int_equal(tasks[2].start - tasks[0].start, 7525);
    assert_int_equal(run.bytes[50], 6 * 64);
    assert_int_equal(run.bytes[53], 2 * 128);
    assert_int_equal(at64(run.data[53], 32), 100 * 1000 * 24);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(at64(run.data[53], 48 + 8 * i), i + 1);
    }
    free(tasks);
    run_free(&run);
}

static void test_loops(void **state)
{
    ap__sim_scenario *scenario = NULL;
    ap__sim_options options;
    char error[200];

    (void)state;
    write_file("loop 3 1000\n"
               "0 1 - aic 10 1\n"
               "loop 2 100\n"
               "20 1 - aiv 10 1\n"
               "end\n"
               "end\n"
               "clock 500 12345 dev=0\n"
               "fault hang:chan=44\n"
               "5 2 0 step 0 0 index=4 model=9 tag=2\n");
    ap__sim_options_default(&options);
    scenario = ap__sim_scenario_load(file, &options, error, sizeof(error));
    assert_non_null(scenario);
    assert_int_equal(scenario->count, 10);
    assert_int_equal(scenario->line[9].at_ns, 2120000);
    assert_int_equal(scenario->line[1].task.kind, AP_SIM_STEP);
    assert_int_equal(scenario->line[1].task.model, 9);
    assert_string_equal(options.fault, "clock_step:from_ms=500:v=12345:dev=0;hang:chan=44");
    ap__sim_scenario_free(scenario);
}

static void test_wrong_files(void **state)
{
    static const char *const bad[] = {"0 1 - aic 10\n",
                                      "0 1 - walk 10 1\n",
                                      "-1 1 - aic 10 1\n",
                                      "0 2048 - aic 10 1\n",
                                      "0 1 x aic 10 1\n",
                                      "0 1 - aic 10 1 name\n",
                                      "0 1 - aic 10 1 ctx=65\n",
                                      "0 1 - aic 10 1 pmu=1,,2\n",
                                      "loop 2 10\n0 1 - aic 10 1\n",
                                      "end\n",
                                      "loop 0 10\nend\n",
                                      "option colour=red\n",
                                      "fault sneeze\n",
                                      "kernel a\n",
                                      "kernel a 1 9\n",
                                      "clock 5\n",
                                      "0 1 - aic 10 1 pmu=1,2,3,4,5,6,7,8,9,10,11\n"};

    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char error[256] = "";
        void *context = NULL;

        write_file(bad[i]);
        if (ap__sim_open(&context, "scenario=sim_scenario.txt", error, sizeof(error)) !=
            AP_HAL_INVALID) {
            fail_msg("accepted: %s", bad[i]);
        }
        assert_true(error[0] != '\0');
    }
}

static void test_kernel_durations(void **state)
{
    ap__sim_scenario *scenario = NULL;
    ap__sim_options options;
    char error[200];
    uint64_t random = 1;
    uint64_t ns = 0;
    unsigned above = 0;

    (void)state;
    write_file("kernel MatMul 100\nkernel Add 10 0.5\n");
    ap__sim_options_default(&options);
    scenario = ap__sim_scenario_load(file, &options, error, sizeof(error));
    assert_non_null(scenario);
    assert_false(ap__sim_scenario_kernel(scenario, "Mat", &random, &ns));
    assert_true(ap__sim_scenario_kernel(scenario, "MatMul", &random, &ns));
    assert_int_equal(ns, 100000);
    for (unsigned i = 0; i < 1000; i++) {
        assert_true(ap__sim_scenario_kernel(scenario, "Add", &random, &ns));
        assert_in_range(ns, 500, 200000);
        above += ns > 10000;
    }
    assert_in_range(above, 440, 560); /* the median is as written */
    ap__sim_scenario_free(scenario);
}

/* A new capture gets the scenario again. */
static void test_again_with_each_capture(void **state)
{
    sim_run run;

    (void)state;
    write_file("loop 100 50\n0 1 - aic 10 1\nend\n");
    run_open(&run, "scenario=sim_scenario.txt");
    for (unsigned i = 1; i <= 3; i++) {
        run_start(&run, 50, 0, CONFIG_ACSQ);
        run_step(&run, 30);
        run_stop(&run);
        assert_int_equal(run.bytes[50], i * 200 * 64);
    }
    run_close(&run);
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(file);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tasks_as_written),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_wrong_files),
        cmocka_unit_test(test_kernel_durations),
        cmocka_unit_test(test_again_with_each_capture),
    };

    return cmocka_run_group_tests(tests, NULL, teardown);
}
