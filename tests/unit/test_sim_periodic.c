/* SPDX-License-Identifier: Apache-2.0 */
/* Channels that record by time: record sizes, times, and the load behind them. */
#include "sim_run.h"

static void test_sizes_and_counts(void **state)
{
    static const struct {
        const char *chip;
        uint32_t channel;
        size_t record;
        size_t per_sample;
        uint32_t config[5];
        unsigned words;
    } rows[] = {
        {"910B", 1, 24, 16, {10, 0xffffffffu, 2, 0, 1}, 5},
        {"910", 7, 20, 2, {10, 0xffffffffu, 2, 0, 1}, 5},
        {"910B", 8, 24, 16, {10, 1}, 2},
        {"910B", 3, 96, 1, {0}, 0},
        {"910B", 130, 32, 1, {10, 0, 0, 0}, 4},
        {"910B", 131, 32, 1, {10, 0, 1, 0}, 4},
        {"910B", 142, 24, 3, {10, 0, 0, 0}, 4},
        {"950", 146, 128, 2, {0}, 0},
        {"910B", 10, 304, 1, {10, 2, 0x11, 8}, 4},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        sim_config c = {.bytes = 4 * rows[i].words};
        char options[40];
        sim_run run;

        memcpy(c.data, rows[i].config, c.bytes);
        (void)snprintf(options, sizeof(options), "chip=%s", rows[i].chip);
        run_open(&run, options);
        run_start(&run, rows[i].channel, 10, c);
        run_step(&run, 101); /* ten samples, the eleventh is due at 110 ms */
        run_stop(&run);
        assert_int_equal(run.bytes[rows[i].channel], 10 * rows[i].record * rows[i].per_sample);
        run_close(&run);
    }
}

static void test_bandwidth_follows_load(void **state)
{
    uint64_t sum[2] = {0, 0};
    sim_run run;

    (void)state;
    for (unsigned busy = 0; busy < 2; busy++) {
        run_open(&run, busy ? "pattern=flood,rate=100,blocks=24,tasks=0" : "");
        run_start(&run, 50, 0, CONFIG_ACSQ);
        run_start(&run, 1, 10, config_of(5, 10, 0xffffffffu, 2, 0, 1));
        run_step(&run, 200);
        run_stop(&run);
        for (size_t i = 0; i < run.bytes[1]; i += 24) {
            assert_int_equal(at64(run.data[1], i) % 10000, 0);
            assert_in_range(at32(run.data[1], i + 16), 0, 1);
            assert_in_range(at32(run.data[1], i + 20), 0, 7);
            sum[busy] += at64(run.data[1], i + 8);
        }
        run_close(&run);
    }
    assert_true(sum[1] > 5 * sum[0]);
}

static void test_text_channels(void **state)
{
    static const struct {
        uint32_t channel;
        const char *head;
        unsigned columns;
    } rows[] = {
        {4, "timestamp bandwidth rxPacket/s ", 15},
        {129, "timestamp bandwidth rxPacket/s ", 15},
        {9, "timestamp txamount rxamount\n", 3},
        {135, "", 12},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned lines = 0;
        char *text = NULL;
        char *rest = NULL;
        sim_run run;

        run_open(&run, "");
        run_start(&run, rows[i].channel, 20, config_of(0));
        run_step(&run, 61);
        run_stop(&run);
        text = calloc(1, run.bytes[rows[i].channel] + 1);
        assert_non_null(text);
        memcpy(text, run.data[rows[i].channel], run.bytes[rows[i].channel]);
        assert_true(strncmp(text, rows[i].head, strlen(rows[i].head)) == 0);
        for (char *line = strtok_r(text, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest)) {
            unsigned columns = 1;

            for (const char *c = line; *c != '\0'; c++) {
                columns += *c == ' ';
            }
            assert_int_equal(columns, rows[i].columns);
            lines++;
        }
        assert_int_equal(lines, rows[i].head[0] != '\0' ? 4 : 3);
        free(text);
        run_close(&run);
    }
}

static void test_frequency_changes(void **state)
{
    uint64_t opened = 0;
    unsigned changes = 0;
    sim_run run;

    (void)state;
    run_open(&run, "throttle_ms=250,mhz=1600");
    opened = ap__sim_now(run.sim);
    run_start(&run, 132, 100, config_of(2, 100, 1));
    run_step(&run, 901);
    run_stop(&run);
    for (size_t i = 0; i < run.bytes[132]; i += 888) {
        assert_int_equal(at32(run.data[132], i), 1);
        assert_in_range(at32(run.data[132], i + 4), 0, 2);
        if (at32(run.data[132], i + 4) == 0) {
            uint64_t at = opened + changes * UINT64_C(250000000);

            assert_int_equal(at32(run.data[132], i + 16), changes % 2 == 0 ? 1600 : 1200);
            assert_true(at64(run.data[132], i + 8) == ap__sim_cycles_at(run.sim, 0, at));
            changes++;
        }
    }
    assert_int_equal(changes, 4);
    run_close(&run);
}

static void test_soc_profile(void **state)
{
    unsigned seen[64] = {0};
    unsigned number = 0;
    sim_run run;

    (void)state;
    run_open(&run, "");
    run_start(&run, 52, 0, config_of(14, 1, 20, 1, 20, 1, 10, 1, 50, 1, 10, 0, 0, 0, 0));
    run_step(&run, 101);
    run_stop(&run);
    for (size_t i = 0; i < run.bytes[52]; i += 64, number = (number + 1) & 15) {
        assert_int_equal(at16(run.data[52], i + 2), 0x6bd3);
        assert_int_equal(at16(run.data[52], i) >> 6 & 15, number);
        seen[at16(run.data[52], i) & 0x3f]++;
    }
    assert_int_equal(seen[0x1a], 5);
    assert_int_equal(seen[0x1c], 5);
    assert_int_equal(seen[0x19], 10);
    assert_int_equal(seen[0x1b], 2 * 2);
    assert_int_equal(seen[0x1d], 10);
    run_close(&run);
}

static void test_core_samples(void **state)
{
    sim_run run;

    (void)state;
    run_open(&run, "aic=3,aiv=6,pattern=flood,rate=100,blocks=3");
    run_start(&run, 50, 0, CONFIG_ACSQ);
    run_start(&run, 54, 0, config_counters(8, 3, 2, 10));
    run_step(&run, 101);
    run_stop(&run);
    assert_int_equal(run.bytes[54], 10 * 9 * 96);
    for (size_t i = 0; i < run.bytes[54]; i += 96) {
        assert_int_not_equal(run.data[54][i], 0);
        assert_int_equal(run.data[54][i + 88], 8);
        assert_int_equal(run.data[54][i + 89], i / 96 % 9);
        assert_true(at64(run.data[54], i + 8) <= at64(run.data[54], i + 72));
    }
    run_close(&run);

    run_open(&run, "chip=950,aic=2,aiv=2");
    run_start(&run, 54, 0, config_counters(10, 1, 2, 10));
    run_step(&run, 101);
    run_stop(&run);
    assert_int_equal(run.bytes[54], 10 * 2 * 112);
    run_close(&run);

    run_open(&run, "chip=910,aic=4");
    run_start(&run, 43, 10, config_aicore(1, 10));
    run_step(&run, 101);
    run_stop(&run);
    assert_int_equal(run.bytes[43], 10 * 4 * 96);
    run_close(&run);
}

static void test_service_flows(void **state)
{
    sim_config c = {.bytes = 0};
    sim_run run;

    (void)state;
    config_u32(&c, 20);
    config_u16(&c, 2);
    config_u16(&c, 0);
    c.bytes += 20;
    run_open(&run, "");
    run_start(&run, 133, 20, c);
    run_step(&run, 61);
    run_stop(&run);
    assert_int_equal(run.bytes[133], 3 * 64);
    assert_true(at32(run.data[133], 24) > 0 && at32(run.data[133], 28) > 0);
    assert_int_equal(at32(run.data[133], 32), 0);
    run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_and_counts), cmocka_unit_test(test_bandwidth_follows_load),
        cmocka_unit_test(test_text_channels),    cmocka_unit_test(test_frequency_changes),
        cmocka_unit_test(test_soc_profile),      cmocka_unit_test(test_core_samples),
        cmocka_unit_test(test_service_flows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
