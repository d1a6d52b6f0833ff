/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <sys/mman.h>

#include "scratch.h"
#include "session/capability.h"
#include "session/devices.h"
#include "session/errtext.h"
#include "session/settings.h"

/* ---- machines with devices ---- */

static int32_t device_count;
static int32_t device_chips[4];

static int32_t count(void)
{
    return device_count;
}

static int32_t chip(uint32_t device)
{
    return device_chips[device];
}

static uint32_t active(uint32_t *devices, uint32_t max)
{
    (void)devices;
    (void)max;
    return 0;
}

static const ap__device_table table = {count, chip, active};
static const ap__device_table *no_driver;
static ap__settings settings;

static int setup(void **state)
{
    (void)state;
    no_driver = no_driver != NULL ? no_driver : ap__devices;
    ap__devices = no_driver;
    memset(&settings, 0, sizeof(settings));
    return 0;
}

static void machine(int32_t a, int32_t b)
{
    ap__devices = &table;
    device_count = a < 0 ? 0 : b < 0 ? 1 : 2;
    device_chips[0] = a;
    device_chips[1] = b;
}

/* ---- checks ---- */

static aclError set(int type, const char *value)
{
    return ap__settings_set(&settings, "aclprofSetConfig", type, value, strlen(value));
}

static void check_taken(int type, const char *value)
{
    aclError code = set(type, value);

    if (code != 0) {
        fail_msg("%d [%s]: %d %s", type, value, code, ap__last_error());
    }
}

/* Refused, nothing changed, and told why. */
static void check_refused(int type, const char *value, aclError expected, const char *told)
{
    ap__settings before = settings;
    aclError code = set(type, value);

    if (code != expected) {
        fail_msg("%d [%s]: %d, not %d", type, value, code, expected);
    }
    assert_memory_equal(&before, &settings, sizeof(settings));
    if (strstr(ap__last_error(), told) == NULL) {
        fail_msg("%d [%s]: the text [%s] lacks [%s]", type, value, ap__last_error(), told);
    }
}

static void test_storage_limit(void **state)
{
    static const char *const bad[] = {
        "199MB",  "200",   "200mb",        "200Mb",   "-1MB",         "",
        "MB",     "1e3MB", "200 MB",       " 200MB",  "200MB ",       "B",
        "+200MB", "0",     "4294967296MB", "0x200MB", "99999999999MB"};
    char big[301];

    (void)state;
    check_taken(ACL_PROF_STORAGE_LIMIT, "4294967295MB");
    assert_int_equal(settings.storage_limit_mb, 4294967295);
    check_taken(ACL_PROF_STORAGE_LIMIT, "0000000200MB");
    check_taken(ACL_PROF_STORAGE_LIMIT, "200MB");
    assert_int_equal(settings.storage_limit_mb, 200);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        check_refused(ACL_PROF_STORAGE_LIMIT, bad[i], ACL_ERROR_INVALID_PROFILING_CONFIG,
                      "for parameter ACL_PROF_STORAGE_LIMIT is invalid. Reason: it must be a "
                      "number of 200 to 4294967295");
        assert_memory_equal(ap__last_error(), "EK0001: Value [", 15);
        assert_non_null(strstr(ap__last_error(), bad[i]));
    }
    memset(big, '9', 300);
    big[300] = '\0';
    check_refused(ACL_PROF_STORAGE_LIMIT, big, ACL_ERROR_INVALID_PARAM, "0 to 256");
}

static void test_frequencies(void **state)
{
    static const struct {
        int type;
        const char *last;
        const char *over;
        uint32_t *field;
        uint32_t value;
    } cases[] = {
        {ACL_PROF_SYS_HARDWARE_MEM_FREQ, "100", "101", &settings.hardware_mem_hz, 100},
        {ACL_PROF_SYS_IO_FREQ, "100", "101", &settings.io_hz, 100},
        {ACL_PROF_SYS_INTERCONNECTION_FREQ, "50", "51", &settings.interconnection_hz, 50},
        {ACL_PROF_DVPP_FREQ, "100", "101", &settings.dvpp_hz, 100},
        {ACL_PROF_HOST_SYS_USAGE_FREQ, "50", "51", &settings.host_usage_hz, 50},
    };
    static const char *const bad[] = {"0",  "",    "00",  "+5",   " 5",         "5 ",          "-1",
                                      "5.", "1e1", "0x5", "0005", "4294967297", "\xEF\xBC\x95"};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check_taken(cases[i].type, "1");
        assert_int_equal(*cases[i].field, 1);
        check_taken(cases[i].type, "05");
        assert_int_equal(*cases[i].field, 5);
        check_taken(cases[i].type, cases[i].last);
        assert_int_equal(*cases[i].field, cases[i].value);
        check_refused(cases[i].type, cases[i].over, ACL_ERROR_INVALID_PROFILING_CONFIG, "1 to ");
        for (size_t j = 0; j < sizeof(bad) / sizeof(bad[0]); j++) {
            check_refused(cases[i].type, bad[j], ACL_ERROR_INVALID_PROFILING_CONFIG,
                          "frequency of 1 to ");
        }
    }
    check_refused(ACL_PROF_SYS_INTERCONNECTION_FREQ, "005", ACL_ERROR_INVALID_PROFILING_CONFIG,
                  "1 to 50 Hz");
}

static void test_words(void **state)
{
    static const char *const bad[] = {"",    ",",    "cpu,", ",cpu",    "cpu,,mem", "cpu, mem",
                                      "CPU", "cpux", "cp",   "cpu;mem", "all"};

    (void)state;
    check_taken(ACL_PROF_HOST_SYS, "numa,cpu,mem,disk,network,osrt");
    assert_int_equal(settings.host_sys, 63);
    check_taken(ACL_PROF_HOST_SYS, "mem,mem");
    assert_int_equal(settings.host_sys, AP_HOST_MEM);
    check_taken(ACL_PROF_HOST_SYS_USAGE, "mem,cpu");
    assert_int_equal(settings.host_sys_usage, AP_HOST_CPU | AP_HOST_MEM);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        check_refused(ACL_PROF_HOST_SYS, bad[i], ACL_ERROR_INVALID_PROFILING_CONFIG,
                      "cpu, mem, disk, network, osrt, numa");
        check_refused(ACL_PROF_HOST_SYS_USAGE, bad[i], ACL_ERROR_INVALID_PROFILING_CONFIG,
                      "cpu, mem");
    }
    check_refused(ACL_PROF_HOST_SYS_USAGE, "disk", ACL_ERROR_INVALID_PROFILING_CONFIG, "cpu, mem");
}

static void test_llc_mode(void **state)
{
    (void)state;
    check_taken(ACL_PROF_LLC_MODE, "write");
    assert_string_equal(settings.llc_mode, "write");
    check_taken(ACL_PROF_LLC_MODE, "read");
    assert_string_equal(settings.llc_mode, "read");
    check_refused(ACL_PROF_LLC_MODE, "", ACL_ERROR_INVALID_PROFILING_CONFIG, "read or write");
    check_refused(ACL_PROF_LLC_MODE, "Read", ACL_ERROR_INVALID_PROFILING_CONFIG, "read or write");
    check_refused(ACL_PROF_LLC_MODE, "reads", ACL_ERROR_INVALID_PROFILING_CONFIG, "read or write");
}

static void test_lists(void **state)
{
    char longest[AP_CONFIG_TEXT_MAX + 1];

    (void)state;
    machine(16, -1);
    check_taken(ACL_PROF_OPTYPE, "Conv2D,MatMul,Conv2D,Conv");
    assert_string_equal(settings.op_type, "Conv2D,MatMul,Conv");
    check_taken(ACL_PROF_OPTYPE, "A,B");
    check_taken(ACL_PROF_OPTYPE, "C"); /* replaces */
    assert_string_equal(settings.op_type, "C");
    check_refused(ACL_PROF_OPTYPE, "", ACL_ERROR_INVALID_PROFILING_CONFIG, "none of them empty");
    check_refused(ACL_PROF_OPTYPE, "A,", ACL_ERROR_INVALID_PROFILING_CONFIG, "none of them empty");
    check_refused(ACL_PROF_OPTYPE, "D,,E", ACL_ERROR_INVALID_PROFILING_CONFIG,
                  "none of them empty");
    memset(longest, 'L', AP_CONFIG_TEXT_MAX);
    longest[AP_CONFIG_TEXT_MAX] = '\0';
    check_taken(ACL_PROF_OPTYPE, longest);
    assert_string_equal(settings.op_type, longest);
    check_taken(ACL_PROF_SYS_MEM_SERVICEFLOW, longest);
    check_taken(ACL_PROF_SYS_MEM_SERVICEFLOW, "stream1,stream2");
    assert_string_equal(settings.mem_serviceflow, "stream1,stream2");
    check_refused(ACL_PROF_SYS_MEM_SERVICEFLOW, "", ACL_ERROR_INVALID_PROFILING_CONFIG,
                  "at least one");
}

static void test_nts(void **state)
{
    static const char *const good[] = {"PipeUtilization", "Custom:0", "Custom:0x1f,017,65535",
                                       "Custom:1,2,3,4,5,6,7,8,9,10", "Custom:0XFFFF"};
    static const char *const bad[] = {"",
                                      "Pipe",
                                      "PipeUtilizationX",
                                      "custom:1",
                                      "Custom:",
                                      "Custom",
                                      "Custom:1,",
                                      "Custom:,1",
                                      "Custom:65536",
                                      "Custom:0x10000",
                                      "Custom:-1",
                                      "Custom: 1",
                                      "Custom:0x",
                                      "Custom:08",
                                      "Custom:1,2,3,4,5,6,7,8,9,10,11",
                                      "Custom:99999999999999999999",
                                      "Custom:0xffffffffffffffffff"};

    (void)state;
    machine(17, -1);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        check_taken(ACL_PROF_NTS_METRICS, good[i]);
        assert_string_equal(settings.nts_metrics, good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        check_refused(ACL_PROF_NTS_METRICS, bad[i], ACL_ERROR_INVALID_PARAM, "PipeUtilization");
    }
}

static void test_arguments(void **state)
{
    static const int types[] = {0, -1, 17, 18, 1 << 30, INT32_MIN};
    char value[AP_CONFIG_TEXT_MAX + 2];

    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        check_refused(types[i], "200MB", ACL_ERROR_INVALID_PARAM, "parameter configType");
    }
    check_refused(2, "200MB", ACL_ERROR_INVALID_PROFILING_CONFIG, "EK0005: Parameter configType 2");
    assert_int_equal(ap__settings_set(&settings, "aclprofSetConfig", 1, NULL, 0),
                     ACL_ERROR_INVALID_PARAM);
    assert_non_null(strstr(ap__last_error(), "EK0006"));
    assert_int_equal(ap__settings_set(&settings, "aclprofSetConfig", 1, "200MB", 4),
                     ACL_ERROR_INVALID_PARAM);
    assert_non_null(strstr(ap__last_error(), "strlen(config)"));
    assert_int_equal(ap__settings_set(&settings, "aclprofSetConfig", 1, "200MB", 6),
                     ACL_ERROR_INVALID_PARAM);
    memset(value, '1', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    check_refused(ACL_PROF_SYS_IO_FREQ, value, ACL_ERROR_INVALID_PARAM, "0 to 256");
    check_refused(ACL_PROF_SYS_IO_FREQ, value + 1, ACL_ERROR_INVALID_PROFILING_CONFIG, "1 to 100");
    assert_int_equal(settings.storage_limit_mb, 0);
}

/* A value without NUL whose page is the last one. */
static void test_never_reads_behind_the_value(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_ptr_not_equal(map, MAP_FAILED);
    assert_int_equal(mprotect(map + page, page, PROT_NONE), 0);
    memcpy(map + page - 5, "200MB", 5);
    assert_int_equal(ap__settings_set(&settings, "x", 1, map + page - 5, 5), 0);
    assert_int_equal(settings.storage_limit_mb, 200);
    for (int type = 1; type < ACL_PROF_ARGS_MAX; type++) {
        for (size_t length = 0; length <= 5; length++) {
            (void)ap__settings_set(&settings, "x", type, map + page - length, length);
        }
    }
    munmap(map, 2 * page);
}

static void test_path(void **state)
{
    char path[600];
    scratch *t = *state;

    snprintf(path, sizeof(path), "%s/a//b/", t->path);
    check_taken(ACL_PROF_PATH, path);
    snprintf(path, sizeof(path), "%s/a/b", t->path);
    assert_string_equal(settings.path, path);
    check_refused(ACL_PROF_PATH, "/tmp/a;b", ACL_ERROR_INVALID_PROFILING_CONFIG, "character ;");
    check_refused(ACL_PROF_PATH, "/dev/null", ACL_ERROR_INVALID_PROFILING_CONFIG,
                  "not a directory");
    check_refused(ACL_PROF_PATH, "", ACL_ERROR_INVALID_PROFILING_CONFIG, "empty");
    assert_string_equal(settings.path, path);
    assert_int_equal(scratch_count(t->fd), 0);
}

static int path_setup(void **state)
{
    setup(state);
    return scratch_setup(state);
}

/* ---- what chips have ---- */

static const char *const good_values[ACL_PROF_ARGS_MAX] = {
    [1] = "200MB", [3] = "5",   [4] = "read",  [5] = "5",         [6] = "5",
    [7] = "5",     [8] = "cpu", [9] = "cpu",   [10] = "5",        [11] = "5",
    [12] = "x",    [13] = "5",  [14] = "Conv", [15] = "Custom:1",
};

static uint32_t taken_types(void)
{
    uint32_t taken = 0;

    for (int type = 1; type < ACL_PROF_PATH; type++) {
        if (good_values[type] != NULL && set(type, good_values[type]) == 0) {
            taken |= 1u << type;
        }
    }
    return taken;
}

#define ALL_BUT_CHIP_SPECIFIC (0x07FAu)

static void test_settings_of_chips(void **state)
{
    (void)state;
    assert_int_equal(taken_types(), ALL_BUT_CHIP_SPECIFIC); /* no driver */
    machine(-1, -1);                                        /* no device */
    assert_int_equal(taken_types(), ALL_BUT_CHIP_SPECIFIC);
    machine(5, -1);
    assert_int_equal(taken_types(), ALL_BUT_CHIP_SPECIFIC | 1u << 12);
    machine(15, -1);
    assert_int_equal(taken_types(), ALL_BUT_CHIP_SPECIFIC | 1u << 11 | 1u << 12);
    machine(16, -1);
    assert_int_equal(taken_types(),
                     ALL_BUT_CHIP_SPECIFIC | 1u << 11 | 1u << 12 | 1u << 13 | 1u << 14);
    machine(17, -1);
    assert_int_equal(taken_types(), ALL_BUT_CHIP_SPECIFIC | 1u << 11 | 1u << 12 | 1u << 15);
    machine(0, -1);
    assert_int_equal(taken_types(), ALL_BUT_CHIP_SPECIFIC & ~(1u << 3 | 1u << 4 | 1u << 6));
    machine(4, -1);
    assert_int_equal(taken_types(), ALL_BUT_CHIP_SPECIFIC & ~(1u << 5));
    machine(0, 5); /* one of them is enough */
    assert_int_equal(taken_types(), ALL_BUT_CHIP_SPECIFIC | 1u << 12);
    machine(31, 200); /* of an unknown chip only what all have */
    assert_int_equal(taken_types() & (1u << 11 | 1u << 12 | 1u << 13 | 1u << 14 | 1u << 15), 0);
}

static void test_refusal_names_the_products(void **state)
{
    (void)state;
    check_refused(ACL_PROF_OPTYPE, "Conv", ACL_ERROR_INVALID_PROFILING_CONFIG,
                  "EK0004: The current system or device does not support ACL_PROF_OPTYPE. Reason: "
                  "products with it are");
    check_refused(ACL_PROF_NTS_METRICS, "Custom:1", ACL_ERROR_INVALID_PARAM, "MDC V2");
    machine(4, -1);
    check_refused(ACL_PROF_SYS_IO_FREQ, "5", ACL_ERROR_INVALID_PROFILING_CONFIG, "310P");
}

static void test_memory_frequency_of_chips(void **state)
{
    (void)state;
    machine(5, 18);
    check_taken(ACL_PROF_SYS_HARDWARE_MEM_FREQ, "10000");
    assert_int_equal(settings.hardware_mem_hz, 10000);
    check_refused(ACL_PROF_SYS_HARDWARE_MEM_FREQ, "10001", ACL_ERROR_INVALID_PROFILING_CONFIG,
                  "1 to 10000 Hz");
    machine(5, -1);
    check_refused(ACL_PROF_SYS_HARDWARE_MEM_FREQ, "101", ACL_ERROR_INVALID_PROFILING_CONFIG,
                  "1 to 100 Hz");
}

static void test_mask_expansion(void **state)
{
    static const uint64_t cases[][2] = {
        {0x80, 0x80},     {0x1, 0x1},       {0x2, 0x842},
        {0x800, 0x840},   {0x2000, 0x2842}, {0x4000, 0x4842},
        {0x8000, 0xA842}, {0x40, 0x40},     {0x800000080, 0x800000080},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(ap__bits_expand(cases[i][0]), cases[i][1] | AP_AICPU_MODEL);
    }
    assert_int_equal(ap__bits_expand(0x400000000), 0x400000001);
    assert_int_equal(ap__bits_expand(UINT64_MAX), 0x400000001);
}

static void test_metrics_and_bits_of_chips(void **state)
{
    (void)state;
    for (int32_t metric = -300; metric < 300; metric++) {
        assert_int_equal(ap__metric_known(metric), (metric >= 0 && metric <= 8) || metric == 255);
    }
    assert_true(ap__metric_on_chip(ACL_AICORE_PIPE_UTILIZATION, 1));
    assert_true(ap__metric_on_chip(ACL_AICORE_NONE, 1));
    assert_false(ap__metric_on_chip(ACL_AICORE_L2_CACHE, 4));
    assert_true(ap__metric_on_chip(ACL_AICORE_L2_CACHE, 5));
    assert_true(ap__metric_on_chip(ACL_AICORE_PIPE_EXECUTE_UTILIZATION, 7));
    assert_false(ap__metric_on_chip(ACL_AICORE_PIPE_EXECUTE_UTILIZATION, 5));
    assert_true(ap__metric_on_chip(ACL_AICORE_MEMORY_ACCESS, 5));
    assert_false(ap__metric_on_chip(ACL_AICORE_MEMORY_ACCESS, 15));
    assert_false(ap__metric_on_chip(ACL_AICORE_MEMORY_ACCESS, -1));
    assert_int_equal(ap__bits_lacking(0x8002, 4), 0x8000);
    assert_int_equal(ap__bits_lacking(0x8002, 15), 0);
    assert_int_equal(ap__bits_lacking(0x400000001, 1), 0x400000000);
    assert_int_equal(ap__bits_lacking(0x400000001, 16), 0);
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_storage_limit),
        TEST(test_frequencies),
        TEST(test_words),
        TEST(test_llc_mode),
        TEST(test_lists),
        TEST(test_nts),
        TEST(test_arguments),
        TEST(test_never_reads_behind_the_value),
        cmocka_unit_test_setup_teardown(test_path, path_setup, scratch_teardown),
        TEST(test_settings_of_chips),
        TEST(test_refusal_names_the_products),
        TEST(test_memory_frequency_of_chips),
        TEST(test_mask_expansion),
        TEST(test_metrics_and_bits_of_chips),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
