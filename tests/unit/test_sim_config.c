/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a channel's start, right and wrong; the simulator's own options. */
#include "sim_run.h"

#include "drivers/sim/chip.h"
#include "drivers/sim/config.h"
#include "drivers/sim/options.h"

static int read_config(ap__sim_config *out, const char *chip, uint32_t channel, uint32_t period,
                       sim_config c, bool strict)
{
    char error[160];

    return ap__sim_config_read(out, ap__sim_chip_find(chip), channel, period, c.data, c.bytes,
                               strict, error, sizeof(error));
}

static int accepts(const char *chip, uint32_t channel, uint32_t period, sim_config c)
{
    ap__sim_config out;

    return read_config(&out, chip, channel, period, c, true) == 0;
}

static sim_config cut(sim_config c, uint32_t bytes)
{
    c.bytes = bytes;
    return c;
}

static void test_right_ones(void **state)
{
    ap__sim_config out;

    (void)state;
    assert_int_equal(read_config(&out, "910B", 50, 0, CONFIG_ACSQ, true), 0);
    assert_true(out.acsq_task && out.ffts_context && !out.ffts_block);
    assert_true(accepts("910B", 50, 0, cut(CONFIG_ACSQ, 36)));
    assert_int_equal(read_config(&out, "910B", 44, 0, CONFIG_TRACK(0), true), 0);
    assert_true(out.task_track && out.key_point && out.block_number && !out.timeline);
    assert_int_equal(out.copies, 0x86000001u);
    assert_int_equal(read_config(&out, "910B", 53, 0, config_counters(8, 3, 5, 0), true), 0);
    assert_true(out.aic && out.aiv);
    assert_int_equal(out.half[1].type, 5);
    assert_int_equal(out.half[1].count, 8);
    assert_int_equal(out.half[1].event[7], 0x55);
    assert_int_equal(read_config(&out, "950", 53, 0, config_counters(10, 2, 1, 0), true), 0);
    assert_true(!out.aic && out.aiv);
    assert_int_equal(out.half[0].event[9], 0x301);
    assert_true(accepts("910B", 54, 0, config_counters(8, 1, 2, 10)));
    assert_true(accepts("910", 43, 0, config_aicore(0, 0)));
    assert_true(accepts("910", 43, 10, config_aicore(1, 10)));
    assert_true(accepts("910", 43, 0, cut(config_aicore(0, 0), 52)));
    assert_int_equal(read_config(&out, "910B", 1, 20, config_of(5, 20, 0xffffffffu, 2, 0, 1), true),
                     0);
    assert_true(out.bandwidth[0] && out.bandwidth[1]);
    assert_true(accepts("910B", 8, 20, config_of(2, 20, 2)));
    assert_true(accepts("910B", 131, 20, config_of(4, 20, 0, 1, 0)));
    assert_true(accepts("910B", 142, 20, config_of(4, 20, 1, 0, 0)));
    assert_true(accepts("910B", 132, 100, config_of(2, 100, 1)));
    assert_int_equal(read_config(&out, "910B", 52, 0,
                                 config_of(14, 1, 20, 1, 20, 0, 0, 2, 5, 1, 10, 0, 0, 0, 0), true),
                     0);
    assert_int_equal(out.soc_period[0], 20);
    assert_int_equal(out.soc_period[3], 0);
    assert_int_equal(out.soc_period[4], 10);
    assert_true(accepts("910B", 3, 20, config_of(0)));
    assert_true(accepts("910B", 11, 0, config_of(2, 16, 0)));
    assert_true(accepts("950", 11, 0, config_of(4, 16, 0, 0, 0)));
}

static void test_wrong_ones(void **state)
{
    (void)state;
    assert_false(accepts("910B", 50, 0, cut(CONFIG_ACSQ, 40)));
    assert_false(accepts("910B", 50, 0, config_of(11, 3, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0)));
    assert_false(accepts("910B", 50, 0, config_of(0)));
    assert_false(accepts("910B", 44, 20, CONFIG_TRACK(0))); /* the period inside is 0 */
    assert_false(accepts("910B", 44, 0, cut(CONFIG_TRACK(0), 32)));
    assert_false(accepts("910B", 53, 0, config_counters(10, 3, 1, 0)));
    assert_false(accepts("950", 53, 0, config_counters(8, 3, 1, 0)));
    assert_false(accepts("910B", 53, 0, config_counters(8, 0, 1, 0)));
    assert_false(accepts("910B", 53, 0, config_counters(8, 3, 2, 10)));
    assert_false(accepts("910B", 54, 0, config_counters(8, 3, 2, 0)));
    assert_false(accepts("910", 43, 0, config_of(14, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0)));
    assert_false(accepts("910B", 1, 20, config_of(4, 20, 0xffffffffu, 1, 2)));
    assert_false(accepts("910B", 1, 20, config_of(4, 20, 0, 1, 0)));
    assert_false(accepts("910B", 132, 100, config_of(2, 100, 2)));
    assert_false(accepts("910B", 130, 20, config_of(4, 20, 0, 1, 0)));
    assert_false(accepts("910B", 131, 20, config_of(4, 20, 1, 1, 0)));
    assert_false(accepts("910B", 47, 0, config_of(10, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0)));
    assert_false(accepts("910B", 3, 20, config_of(1, 0)));
    assert_false(accepts("910B", 134, 0, config_of(1, 0x00080000)));
}

static void test_not_strict(void **state)
{
    ap__sim_config out;

    (void)state;
    assert_int_equal(read_config(&out, "910B", 50, 0, cut(CONFIG_ACSQ, 40), false), 0);
    assert_int_equal(read_config(&out, "910B", 3, 0, config_of(3, 1, 2, 3), false), 0);
    assert_int_equal(read_config(&out, "910B", 50, 0, cut(CONFIG_ACSQ, 20), false), -1);
}

static void test_a_refused_start_says_why(void **state)
{
    sim_config c = cut(CONFIG_ACSQ, 40);
    ap__hal_start start = {.config = c.data, .config_bytes = c.bytes};
    sim_run run;

    (void)state;
    run_open(&run, "");
    assert_int_equal(ap__sim_start(run.sim, 0, 50, &start), 3);
    assert_string_equal(ap__sim_config_error(run.sim, 0),
                        "channel 50: 40 bytes of configuration, not 44");
    run_start(&run, 50, 0, CONFIG_ACSQ);
    run_stop(&run);
    run_close(&run);
}

static int parses(const char *text)
{
    ap__sim_options options;
    char error[200] = "";

    ap__sim_options_default(&options);
    if (ap__sim_options_parse(&options, text, error, sizeof(error)) == 0) {
        return 1;
    }
    assert_true(error[0] != '\0');
    return 0;
}

static void test_options(void **state)
{
    ap__sim_options options;
    char error[200] = "";

    (void)state;
    ap__sim_options_default(&options);
    assert_int_equal(ap__sim_options_parse(&options,
                                           "chip=950,devices=8,mode=block,latency_us=5-7,ppm=-20,"
                                           "api=0x072418,fault=hang:chan=50,,fault=torn",
                                           error, sizeof(error)),
                     0);
    assert_string_equal(options.chip, "950");
    assert_int_equal(options.devices, 8);
    assert_int_equal(options.mode, AP_SIM_BLOCK);
    assert_int_equal(options.latency_us[1], 7);
    assert_int_equal(options.ppm, -20);
    assert_int_equal(options.api, 0x072418);
    assert_string_equal(options.fault, "hang:chan=50;torn");
    assert_false(parses("chips=950"));
    assert_false(parses("devices=0"));
    assert_false(parses("devices=65"));
    assert_false(parses("devices=2x"));
    assert_false(parses("devices"));
    assert_false(parses("mode=loose"));
    assert_false(parses("latency_us=9-3"));
    assert_false(parses("disorder=4"));
    assert_false(parses("chip=0123456789012345"));
}

static void test_open_refuses(void **state)
{
    static const char *const bad[] = {"chip=911",          "pattern=waltz",
                                      "fault=sneeze",      "fault=hang:x=1",
                                      "scenario=/nowhere", "truth=/nowhere/at/all"};

    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char error[256] = "";
        void *context = NULL;

        assert_int_equal(ap__sim_open(&context, bad[i], error, sizeof(error)), AP_HAL_INVALID);
        assert_null(context);
        assert_true(error[0] != '\0');
    }
}

static void test_chips(void **state)
{
    static const struct {
        const char *name;
        int64_t id;
        int64_t khz;
        int with;
        int without;
    } chips[] = {{"910B", 5, 50000, 53, 43},    {"310P", 4, 38400, 45, 50},
                 {"910", 1, 100000, 45, 53},    {"310B", 7, 48000, 54, 1},
                 {"950", 15, 1000000, 146, 43}, {"310", 0, 19200, 43, 8},
                 {"5", 5, 50000, 134, 51}};

    (void)state;
    for (unsigned i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
        char options[40];
        void *context = NULL;
        ap__hal_channels list;
        int64_t value = -1;

        (void)snprintf(options, sizeof(options), "chip=%s,aic=7,mhz=1234", chips[i].name);
        assert_int_equal(ap__hal_sim.open(&context, options), 0);
        assert_int_equal(ap__hal_sim.info(context, 0, AP_HAL_CHIP, &value), 0);
        assert_int_equal(value, chips[i].id);
        assert_int_equal(ap__hal_sim.info(context, 0, AP_HAL_DEVICE_KHZ, &value), 0);
        assert_int_equal(value, chips[i].khz);
        assert_int_equal(ap__hal_sim.info(context, 0, AP_HAL_AIC_NUM, &value), 0);
        assert_int_equal(value, 7);
        assert_int_equal(ap__hal_sim.info(context, 0, AP_HAL_AIV_MHZ, &value), 0);
        assert_int_equal(value, 1234);
        assert_int_equal(ap__hal_sim.channels(context, 0, &list), 0);
        assert_true(ap__hal_has(&list, (uint32_t)chips[i].with));
        assert_false(ap__hal_has(&list, (uint32_t)chips[i].without));
        ap__hal_sim.close(context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_ones), cmocka_unit_test(test_wrong_ones),
        cmocka_unit_test(test_not_strict), cmocka_unit_test(test_a_refused_start_says_why),
        cmocka_unit_test(test_options),    cmocka_unit_test(test_open_refuses),
        cmocka_unit_test(test_chips),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
