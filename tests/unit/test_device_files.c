/* SPDX-License-Identifier: Apache-2.0 */
/* device_<n>/ and its control files. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <cjson/cJSON.h>

#include "clock/clock.h"
#include "scratch.h"
#include "writer/device_files.h"
#include "writer/dirs.h"

typedef struct bed {
    unsigned fds;
    ap__prof_dir dir;
    ap__settings settings;
    ap__host_meta host;
    ap__device_meta device;
    ap__clock_point start;
    ap__device_start clocks;
    ap__device_dir out;
} bed;

static void make(bed *b, scratch *s)
{
    memset(b, 0, sizeof(*b));
    b->fds = scratch_open_fds();
    assert_int_equal(ap__prof_dir_create(s->path, 1, &b->dir), 0);
    b->host = (ap__host_meta){.data_types = ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS,
                              .metrics = ACL_AICORE_PIPE_UTILIZATION,
                              .settings = &b->settings,
                              .result_dir = s->path,
                              .chip = 5,
                              .devices = "0"};
    b->device = (ap__device_meta){.device = 3,
                                  .chip = 5,
                                  .env = 3,
                                  .ctrl_cpu_num = 2,
                                  .ctrl_cpu_id = 0x48d01,
                                  .ctrl_cpu_endian_little = 1,
                                  .ts_cpu_num = 1,
                                  .aicpu_num = 6,
                                  .aicpu_id = 2,
                                  .aicpu_occupy = 0xfc,
                                  .aic_num = 20,
                                  .aic_mhz = 1650,
                                  .aiv_num = 40,
                                  .aiv_mhz = 1651,
                                  .counter_khz = 38400};
    b->start = (ap__clock_point){.real_ns = 1735689600000123456u, .mono_raw_ns = 1000000000000u};
    b->clocks = (ap__device_start){1000000000010u, 5000000000u, 700000000000u, 9000000000u};
    b->out = (ap__device_dir)AP_DEVICE_DIR_CLOSED;
    assert_int_equal(ap__control_write_start(b->dir.host_fd, &b->host, &b->start), 0);
}

static int create(bed *b)
{
    return ap__device_dir_create(b->dir.prof_fd, b->dir.ext_fd, &b->host, &b->device, &b->start,
                                 &b->clocks, &b->out);
}

static void end(bed *b)
{
    ap__device_dir_close(&b->out);
    ap__prof_dir_remove(&b->dir);
    assert_int_equal(scratch_open_fds(), b->fds);
}

/* One line of JSON, with its .done. */
static cJSON *parse(int fd, const char *name)
{
    size_t n = 0;
    char *text = scratch_read(fd, name, &n);
    char done[64];
    char expected[64];
    cJSON *root = NULL;

    assert_non_null(text);
    assert_null(strchr(text, '\n'));
    root = cJSON_Parse(text);
    assert_non_null(root);
    free(text);
    snprintf(done, sizeof(done), "%s.done", name);
    snprintf(expected, sizeof(expected), "filesize:%zu\n", n);
    scratch_assert_text(fd, done, expected);
    return root;
}

static void assert_text(const cJSON *o, const char *key, const char *expected)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);

    if (!cJSON_IsString(item)) {
        fail_msg("%s is no text", key);
    }
    assert_string_equal(item->valuestring, expected);
}

static void assert_number(const cJSON *o, const char *key, double expected)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);

    if (!cJSON_IsNumber(item) || item->valuedouble != expected) {
        fail_msg("%s is not %g", key, expected);
    }
}

static void test_info(void **state)
{
    /* what the vendor's compiled reader wants in every directory */
    static const char *const keys[] = {
        "DeviceInfo", "netCard", "CPU",     "version",     "jobInfo",      "OS",
        "hostname",   "hwtype",  "devices", "platform",    "platform_version", "pid",
        "pid_name",   "upTime",  "memoryTotal", "cpuNums", "sysClockFreq", "cpuCores",
        "netCardNums", "rank_id", "drvVersion", "cannVersion"};
    bed b;
    cJSON *info = NULL;
    cJSON *host = NULL;
    const cJSON *d = NULL;

    make(&b, *state);
    assert_int_equal(create(&b), 0);
    info = parse(b.out.fd, "info.json.3");
    host = parse(b.dir.host_fd, "info.json");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(info, keys[i]);

        if (item == NULL) {
            fail_msg("no %s", keys[i]);
        }
        if (strcmp(keys[i], "DeviceInfo") != 0 && strcmp(keys[i], "devices") != 0) {
            assert_true(cJSON_Compare(item, cJSON_GetObjectItemCaseSensitive(host, keys[i]), 1));
        }
    }
    assert_text(info, "devices", "3");
    assert_text(info, "platform_version", "5");
    assert_text(info, "jobInfo", "NA");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(info, "DeviceInfo")), 1);
    d = cJSON_GetArrayItem(cJSON_GetObjectItem(info, "DeviceInfo"), 0);
    assert_number(d, "id", 3);
    assert_number(d, "env_type", 3);
    assert_number(d, "ctrl_cpu_core_num", 2);
    assert_number(d, "ctrl_cpu_endian_little", 1);
    assert_number(d, "ts_cpu_core_num", 1);
    assert_number(d, "ai_cpu_core_num", 6);
    assert_number(d, "ai_cpu_core_id", 2);
    assert_number(d, "ai_core_id", 0);
    assert_number(d, "aicpu_occupy_bitmap", 0xfc);
    assert_number(d, "ai_core_num", 20);
    assert_number(d, "aiv_num", 40);
    assert_text(d, "ctrl_cpu_id", "TaishanV110");
    assert_text(d, "ctrl_cpu", "0,1");
    assert_text(d, "ai_cpu", "2,3,4,5,6,7");
    assert_text(d, "hwts_frequency", "38.400000");
    assert_text(d, "aic_frequency", "1650");
    assert_text(d, "aiv_frequency", "1651");
    cJSON_Delete(host);
    cJSON_Delete(info);
    end(&b);
}

static void test_other_files(void **state)
{
    bed b;
    cJSON *sample = NULL;

    make(&b, *state);
    assert_int_equal(create(&b), 0);
    scratch_assert_text(b.out.fd, "host_start.log.3",
                        "[Device3]\nclock_monotonic_raw: 1000000000010\ncntvct: 5000000000\n"
                        "cntvct_diff: 0\n");
    scratch_assert_text(b.out.fd, "host_start.log.3.done", "filesize:79\n");
    scratch_assert_text(b.out.fd, "dev_start.log.3",
                        "clock_monotonic_raw: 700000000000\ncntvct: 9000000000\n");
    sample = parse(b.out.fd, "sample.json");
    assert_text(sample, "devices", "3");
    assert_text(sample, "ai_core_metrics", "PipeUtilizationExct");
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(sample, "hostProfiling")));
    cJSON_Delete(sample);
    sample = parse(b.out.fd, "start_info.3");
    assert_text(sample, "collectionTimeBegin", "1735689600000123");
    assert_text(sample, "collectionTimeEnd", "");
    assert_text(sample, "clockMonotonicRaw", "1000000000000");
    cJSON_Delete(sample);
    assert_int_equal(scratch_size(b.out.fd, "end_info.3"), -1);
    b.start.mono_raw_ns += 5;
    assert_int_equal(ap__device_dir_end(&b.out, 3, &b.start), 0);
    sample = parse(b.out.fd, "end_info.3");
    assert_text(sample, "collectionTimeBegin", "");
    assert_text(sample, "collectionTimeEnd", "1735689600000123");
    assert_text(sample, "clockMonotonicRaw", "1000000000005");
    cJSON_Delete(sample);
    assert_int_equal(scratch_count(b.out.fd), 13); /* six files, their .done, data */
    end(&b);
}

static void test_place_and_modes(void **state)
{
    bed b;
    mode_t before = umask(077);

    make(&b, *state);
    assert_int_equal(create(&b), 0);
    umask(before);
    assert_int_equal(scratch_mode(b.dir.prof_fd, "device_3"), 0750);
    assert_int_equal(scratch_mode(b.dir.prof_fd, "device_3/data"), 0750);
    assert_int_equal(scratch_mode(b.out.fd, "info.json.3"), 0640);
    assert_int_equal(scratch_mode(b.out.fd, "info.json.3.done"), 0640);
    assert_int_equal(scratch_count(b.dir.prof_fd), 2); /* host, device_3 */
    assert_int_equal(scratch_count(b.dir.ext_fd), 0);
    end(&b);
}

static void test_simulated_is_marked(void **state)
{
    bed b;
    cJSON *info = NULL;

    make(&b, *state);
    b.device.simulated = true;
    assert_int_equal(create(&b), 0);
    info = parse(b.out.fd, "info.json.3");
    assert_text(info, "jobInfo", "aclprof simulator");
    cJSON_Delete(info);
    end(&b);
}

static void test_failures_leave_nothing(void **state)
{
    bed b;
    ap__device_dir first;

    make(&b, *state);
    assert_int_equal(renameat(b.dir.host_fd, "info.json", b.dir.host_fd, "away"), 0);
    assert_int_equal(create(&b), ENOENT);
    assert_int_equal(b.out.fd, -1);
    assert_int_equal(scratch_count(b.dir.prof_fd), 1);
    assert_int_equal(scratch_count(b.dir.ext_fd), 0);
    assert_int_equal(close(openat(b.dir.host_fd, "info.json", O_CREAT | O_WRONLY, 0600)), 0);
    assert_int_equal(create(&b), EINVAL); /* empty */
    assert_int_equal(unlinkat(b.dir.host_fd, "info.json", 0), 0);
    assert_int_equal(renameat(b.dir.host_fd, "away", b.dir.host_fd, "info.json"), 0);
    assert_int_equal(create(&b), 0);
    first = b.out;
    assert_int_equal(create(&b), EEXIST); /* the first one stays as it is */
    assert_int_equal(scratch_count(first.fd), 11);
    assert_int_equal(scratch_count(b.dir.ext_fd), 0);
    b.out = first;
    end(&b);
}

static void test_odd_values(void **state)
{
    bed b;
    cJSON *info = NULL;
    const cJSON *d = NULL;

    make(&b, *state);
    b.device.device = 63;
    b.device.chip = 15;
    b.device.ctrl_cpu_num = 0;
    b.device.ctrl_cpu_id = 0x41d0c;
    b.device.aicpu_occupy = 0xffff; /* cores of two digits cannot be told */
    b.device.counter_khz = 1000000;
    assert_int_equal(create(&b), 0);
    info = parse(b.out.fd, "info.json.63");
    assert_text(info, "platform_version", "15");
    d = cJSON_GetArrayItem(cJSON_GetObjectItem(info, "DeviceInfo"), 0);
    assert_text(d, "ctrl_cpu", "0");
    assert_text(d, "ctrl_cpu_id", "0x41d0c");
    assert_text(d, "ai_cpu", "0,1,2,3,4,5,6,7,8,9");
    assert_text(d, "hwts_frequency", "1000.000000");
    cJSON_Delete(info);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_info, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_other_files, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_place_and_modes, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_simulated_is_marked, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_failures_leave_nothing, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_odd_values, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
