/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "drivers/sim/sim.h"
#include "hal_conformance.h"

static int report(void *user, void *context, uint32_t device, uint32_t channel, const void *data,
                  size_t bytes)
{
    (void)user;
    return ap__sim_report(context, device, channel, data, bytes);
}

static void test_simulator_behaves_as_the_driver(void **state)
{
    static ap__hal_conformance_result result;
    ap__hal_conformance how = {
        .options = "chip=910B,devices=2,seed=7",
        .device = 1,
        .report = report,
        .late_channel = 1,
    };

    (void)state;
    if (ap__hal_conformance_run(&ap__hal_sim, &how, &result) != 0) {
        print_message("%s", result.text);
    }
    assert_int_equal(result.failed, 0);
    assert_int_equal(result.skipped, 0);
    assert_int_equal(result.passed, 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simulator_behaves_as_the_driver),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
