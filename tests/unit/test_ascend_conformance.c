/* SPDX-License-Identifier: Apache-2.0 */
/* drivers/ascend end to end on the simulated NPU's libascend_hal.so. Its path is the macro
 * AP_TEST_SIM_HAL or the environment's ACLPROF_TEST_SIM_HAL. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/ascend/ascend.h"
#include "drivers/ascend/vendor_abi.h"
#include "drivers/choose.h"
#include "drivers/sim/vendor_control.h"
#include "hal_conformance.h"

static const char *library;
static const ap__sim_control *control;

static int find_library(void **state)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

    (void)state;
    control = handle != NULL ? dlsym(handle, AP_SIMULATED_MARK) : NULL;
    if (control == NULL) {
        print_error("%s: %s\n", library, dlerror());
        return -1;
    }
    return control->size == sizeof(*control) ? 0 : -1;
}

/* A driver opened anew finds a simulator that is new, too, as `sim` says. */
static const char *sim = "";

static int open_fresh(void **context, const char *options)
{
    setenv("ACLPROF_SIM", sim, 1);
    control->reset();
    return ap__hal_ascend.open(context, options);
}

static int report(void *user, void *context, uint32_t device, uint32_t channel, const void *data,
                  size_t bytes)
{
    (void)user;
    (void)context;
    return control->report(device, channel, data, bytes);
}

static void behaves_as_the_driver(void **state)
{
    static ap__hal_conformance_result result;
    ap__hal_conformance how = {
        .options = library,
        .device = 1,
        .report = report,
        .late_channel = 1,
    };
    ap__hal_ops ops = ap__hal_ascend;

    (void)state;
    sim = "chip=910B,devices=2,seed=7";
    ops.open = open_fresh;
    if (ap__hal_conformance_run(&ops, &how, &result) != 0) {
        print_message("%s", result.text);
    }
    assert_int_equal(result.failed, 0);
    assert_int_equal(result.skipped, 0);
    assert_int_equal(result.passed, 30);
}

/* ---- codes that only come of faults ---- */

static void *driver;

static void open_with(const char *options)
{
    sim = options;
    assert_int_equal(open_fresh(&driver, library), AP_HAL_OK);
}

static int start(uint32_t channel)
{
    unsigned char config[AP_HAL_MAX_CONFIG];
    ap__hal_start s = {0};

    s.config_bytes = ap__hal_conformance_config(channel, config);
    s.config = config;
    return ap__hal_ascend.start(driver, 0, channel, &s);
}

static int stop(uint32_t channel)
{
    return ap__hal_ascend.stop(driver, 0, channel);
}

static void starts_that_are_refused(void **state)
{
    static const struct {
        const char *options;
        int rc;
    } table[] = {
        {"fault=start_rc:v=115:n=2", AP_HAL_NO_CONTEXT}, {"fault=start_rc:v=-10:n=2", AP_HAL_TAKEN},
        {"fault=start_rc:v=-11:n=2", AP_HAL_TAKEN},      {"fault=start_rc:v=30:n=2", AP_HAL_BUSY},
        {"fault=start_rc:v=16:n=2", AP_HAL_TIMEOUT},     {"fault=start_rc:v=7:n=2", AP_HAL_IO},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        open_with(table[i].options);
        assert_int_equal(start(50), table[i].rc);
        assert_int_equal(start(50), table[i].rc);
        assert_int_equal(start(50), AP_HAL_OK);
        assert_int_equal(stop(50), AP_HAL_OK);
        ap__hal_ascend.close(driver);
    }
}

static void calls_that_fail(void **state)
{
    ap__hal_event event;
    ap__hal_clock k;
    unsigned char byte[8];
    uint32_t pending = 7;
    int64_t khz = -1;

    (void)state;
    open_with("fault=flush_rc:n=1;stop_rc:n=1;read_error:n=1;early_stop:n=1;poll_error:n=1;"
              "info_rc:chan=25:n=1;info_rc:chan=13:v=16:n=1");
    assert_int_equal(start(50), AP_HAL_OK);
    assert_int_equal(ap__hal_ascend.flush(driver, 0, 50, &pending), AP_HAL_UNSUPPORTED);
    assert_int_equal(pending, 0);
    assert_int_equal(ap__hal_ascend.flush(driver, 0, 50, &pending), AP_HAL_OK);
    assert_int_equal(control->report(0, 50, byte, sizeof(byte)), 0);
    assert_int_equal(ap__hal_ascend.read(driver, 0, 50, byte, 8), -AP_HAL_IO);
    assert_int_equal(ap__hal_ascend.read(driver, 0, 50, byte, 8), -AP_HAL_STOPPED);
    assert_int_equal(ap__hal_ascend.read(driver, 0, 50, byte, 8), 8);
    assert_int_equal(ap__hal_ascend.poll(driver, &event, 1, 1000), -AP_HAL_IO);
    assert_int_equal(ap__hal_ascend.poll(driver, &event, 1, 1000), 1);
    assert_int_equal(ap__hal_ascend.info(driver, 0, AP_HAL_DEVICE_KHZ, &khz), AP_HAL_UNSUPPORTED);
    assert_int_equal(khz, -1);
    assert_int_equal(ap__hal_ascend.info(driver, 0, AP_HAL_DEVICE_KHZ, &khz), AP_HAL_OK);
    assert_int_equal(khz, 50000);
    assert_int_equal(ap__hal_ascend.clock(driver, 0, &k), AP_HAL_TIMEOUT);
    assert_int_equal(ap__hal_ascend.clock(driver, 0, &k), AP_HAL_OK);
    assert_int_equal(stop(50), AP_HAL_LOSS);
    assert_int_equal(ap__hal_ascend.read(driver, 0, 50, byte, 8), -AP_HAL_STOPPED);
    ap__hal_ascend.close(driver);
}

static void a_lost_device(void **state)
{
    (void)state;
    open_with("devices=2,speed=1000,fault=lost:dev=0");
    assert_int_equal(ap__hal_ascend.status(driver, 0), AP_HAL_DEVICE_LOST);
    assert_int_equal(ap__hal_ascend.status(driver, 1), AP_HAL_OK);
    assert_int_equal(start(50), AP_HAL_TIMEOUT);
    ap__hal_ascend.close(driver);
}

static void a_simulator_with_bad_options_is_no_driver(void **state)
{
    ap__ascend_report told;

    (void)state;
    setenv("ACLPROF_SIM", "chip=no_such", 1);
    control->reset();
    assert_int_equal(ap__ascend_open(&driver, library, &told), AP_HAL_UNSUPPORTED);
    assert_non_null(strstr(told.text, "drvGetDevNum gives 65534"));
}

static void is_known_as_simulated(void **state)
{
    ap__ascend_report told;
    void *context = NULL;
    const ap__driver *d = NULL;

    (void)state;
    sim = "devices=3";
    setenv("ACLPROF_SIM", sim, 1);
    control->reset();
    assert_int_equal(ap__ascend_open(&context, library, &told), AP_HAL_OK);
    assert_true(told.simulated);
    ap__hal_ascend.close(context);

    setenv("ACLPROF_DRIVER", library, 1);
    d = ap__driver_now();
    assert_ptr_equal(d->ops, &ap__hal_ascend_simulated);
    assert_int_equal(d->ops->simulated, 1);
    assert_int_equal(d->ops->devices(d->context, NULL, 0), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behaves_as_the_driver),
        cmocka_unit_test(starts_that_are_refused),
        cmocka_unit_test(calls_that_fail),
        cmocka_unit_test(a_lost_device),
        cmocka_unit_test(a_simulator_with_bad_options_is_no_driver),
        cmocka_unit_test(is_known_as_simulated),
    };

    library = getenv("ACLPROF_TEST_SIM_HAL");
#ifdef AP_TEST_SIM_HAL
    library = AP_TEST_SIM_HAL;
#endif
    if (library == NULL) {
        print_message("neither AP_TEST_SIM_HAL nor ACLPROF_TEST_SIM_HAL tells the library\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, find_library, NULL);
}
