/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices a capture has when the program sets them itself. */
#define _GNU_SOURCE
#include "journey.h"

#include "sim_runtime.h"

static void launch_on(uint32_t device)
{
    simrtKernel kernel = {sizeof(kernel), "Add", SIMRT_VECTOR, 8, 20, 0};

    assert_int_equal(simrtSetDevice(device), SIMRT_OK);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(simrtLaunchKernel(NULL, &kernel, NULL), SIMRT_OK);
    }
    assert_int_equal(simrtSynchronizeDevice(), SIMRT_OK);
}

static void end(void)
{
    assert_ok(aclprofStop(NULL));
    assert_ok(aclprofFinalize());
}

/* Bytes of the device's task records; -1: it has no directory. */
static long long tasks_of(const char *root, uint32_t device)
{
    paths found = prof_paths_exactly(root, 1);
    char path[1200];
    struct stat st;
    long long bytes = -1;

    snprintf(path, sizeof(path), "%s/device_%u/data/stars_soc.data.%u.slice_0", found.list[0],
             device, device);
    if (stat(path, &st) == 0) {
        bytes = st.st_size;
    }
    paths_free(&found);
    return bytes;
}

static void start_of_null(void **state)
{
    const char *dir = *state;

    assert_ok(aclprofInit(dir, strlen(dir)));
    assert_refused(aclprofStart(NULL), ACL_ERROR_INVALID_PARAM, "has set none");
    launch_on(1);
    assert_ok(aclprofStart(NULL)); /* all that were set: 1 */
    launch_on(1);
    launch_on(0); /* comes too late, and nobody has asked for late ones */
    end();
}

static void set_before_the_driver(void **state)
{
    const char *dir = *state;

    launch_on(1); /* before the library has looked for a driver */
    assert_ok(aclprofInit(dir, strlen(dir)));
    assert_ok(aclprofStart(NULL));
    launch_on(1);
    end();
}

static void set_again(void **state)
{
    const char *dir = *state;

    assert_ok(aclprofInit(dir, strlen(dir)));
    launch_on(0);
    assert_ok(aclprofStart(NULL));
    for (int i = 0; i < 20; i++) {
        launch_on(0);
    }
    end();
}

static const role roles[] = {ROLE(start_of_null), ROLE(set_before_the_driver), ROLE(set_again)};

static void test_start_of_null(void **state)
{
    (void)role_run("start_of_null", *state);
    assert_int_equal(tasks_of(*state, 1), 50 * 2 * 64);
    assert_int_equal(tasks_of(*state, 0), -1);
}

static void test_set_before_the_driver(void **state)
{
    (void)role_run("set_before_the_driver", *state);
    assert_int_equal(tasks_of(*state, 1), 50 * 2 * 64);
}

static void test_set_again(void **state)
{
    (void)role_run("set_again", *state);
    assert_int_equal(tasks_of(*state, 0), 20 * 50 * 2 * 64);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(test_start_of_null),
        SCRATCH_TEST(test_set_before_the_driver),
        SCRATCH_TEST(test_set_again),
    };

    setenv("ACLPROF_DRIVER", "sim", 1);
    setenv("ACLPROF_SIM", "devices=2", 1);
    if (argc > 1) {
        return role_main(roles, sizeof(roles) / sizeof(roles[0]), argv);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
