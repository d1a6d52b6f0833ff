/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that the collector gives to a driver is what the simulated driver, written from the
 * same facts by itself, accepts in its strict mode. */
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

#include "collector/channels.h"
#include "drivers/sim/config.h"

static const uint64_t all_bits =
    ACL_PROF_TASK_TIME_L2 | ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L0 | ACL_PROF_AICORE_METRICS |
    ACL_PROF_AICPU | ACL_PROF_L2CACHE | ACL_PROF_TRAINING_TRACE | AP_BIT_TSFW | AP_BIT_CPU |
    AP_BIT_INSTR;

static void accept(const char *chip_name, const ap__channel_request *request)
{
    const ap__sim_chip *chip = ap__sim_chip_find(chip_name);
    ap__channel_plan *plan = calloc(AP_HAL_MAX_CHANNELS, sizeof(*plan));
    ap__hal_channels offered;
    ap__channel_request r = *request;
    size_t count = 0;

    assert_non_null(chip);
    r.chip = chip->id;
    ap__sim_chip_channels(chip, &offered);
    count = ap__channel_plan_make(&r, &offered, plan);
    assert_true(count >= 1);
    for (size_t i = 0; i < count; i++) {
        ap__sim_config config;
        char error[256] = "";

        if (ap__sim_config_read(&config, chip, plan[i].channel, plan[i].period_ms, plan[i].config,
                                plan[i].config_bytes, true, error, sizeof(error)) != 0) {
            fail_msg("%s: %s", chip_name, error);
        }
    }
    free(plan);
}

static void test_every_chip(void **state)
{
    static const char *const chips[] = {"310", "910", "310P", "910B", "910_93", "310B", "950"};
    const uint64_t bits[] = {
        all_bits, ACL_PROF_MSPROFTX, ACL_PROF_TASK_TIME_L0, AP_BIT_AIC_SAMPLE,
        AP_BIT_AIC_SAMPLE | AP_BIT_AIV_SAMPLE, AP_BIT_AIV_METRICS,
        AP_BIT_HARDWARE_MEM | AP_BIT_IO | AP_BIT_INTERCONNECTION | AP_BIT_DVPP};

    (void)state;
    for (size_t c = 0; c < sizeof(chips) / sizeof(chips[0]); c++) {
        for (size_t b = 0; b < sizeof(bits) / sizeof(bits[0]); b++) {
            for (int32_t metric = 0; metric <= ACL_AICORE_MEMORY_ACCESS; metric++) {
                ap__settings s;
                ap__channel_request r = {.api_version = metric % 2 != 0 ? 0x07241a : 0x072418,
                                         .data_types = bits[b],
                                         .metrics = metric,
                                         .settings = &s,
                                         .host_counter = metric % 2 != 0};

                memset(&s, 0, sizeof(s));
                accept(chips[c], &r);
                s.hardware_mem_hz = 1 + (uint32_t)metric * 12;
                s.io_hz = 100;
                s.interconnection_hz = 50;
                s.dvpp_hz = 33;
                s.cpu_hz = 50;
                s.low_power_hz = 100;
                (void)snprintf(s.llc_mode, sizeof(s.llc_mode), "write");
                (void)snprintf(s.mem_serviceflow, sizeof(s.mem_serviceflow), "1,2,3");
                accept(chips[c], &r);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_chip),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
