/* SPDX-License-Identifier: Apache-2.0 */
/* drivers/ascend: each call, its arguments, its results and codes. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <limits.h>
#include <pthread.h>

#include "ascend_fixture.h"
#include "clock/cycles.h"

/* ---- codes ---- */

static void codes(void **state)
{
    static const int table[][2] = {
        {0, AP_HAL_OK}, {-1, AP_HAL_IO}, {-2, AP_HAL_TIMEOUT}, {-3, AP_HAL_BUSY},
        {-4, AP_HAL_STOPPED}, {-5, AP_HAL_AGAIN}, {-6, AP_HAL_AGAIN}, {-7, AP_HAL_UNSUPPORTED},
        {-8, AP_HAL_BUSY}, {-9, AP_HAL_INVALID}, {-10, AP_HAL_TAKEN}, {-11, AP_HAL_TAKEN},
        {-12, AP_HAL_UNSUPPORTED}, {-13, AP_HAL_UNSUPPORTED}, {3, AP_HAL_INVALID}, {7, AP_HAL_IO},
        {16, AP_HAL_TIMEOUT}, {30, AP_HAL_BUSY}, {58, AP_HAL_IO}, {115, AP_HAL_NO_CONTEXT},
        {0xfffe, AP_HAL_UNSUPPORTED}, {0x916, AP_HAL_LOSS}, {-14, AP_HAL_IO}, {1, AP_HAL_IO},
        {INT_MAX, AP_HAL_IO}, {INT_MIN, AP_HAL_IO},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (ap__ascend_rc(table[i][0]) != table[i][1]) {
            fail_msg("%d gives %d", table[i][0], ap__ascend_rc(table[i][0]));
        }
    }
}

/* ---- facts ---- */

static void devices(void **state)
{
    uint32_t ids[80] = {0};

    (void)state;
    assert_int_equal(hal->devices(driver, ids, 80), 2);
    assert_int_equal(ids[0], 2);
    assert_int_equal(ids[1], 4);
    assert_int_equal(fake->ids_capacity, 2);
    assert_int_equal(hal->devices(driver, NULL, 0), 2);
    ids[1] = 99;
    assert_int_equal(hal->devices(driver, ids, 1), 2);
    assert_int_equal(ids[1], 99);

    fake->devices = 0;
    assert_int_equal(hal->devices(driver, ids, 80), 0);
    fake->devices = 5000; /* ids over 63 are no devices */
    assert_int_equal(hal->devices(driver, ids, 80), 31);
    assert_int_equal(fake->ids_capacity, 64);
    fake->device_ids = 0xfffe;
    assert_int_equal(hal->devices(driver, ids, 80), -AP_HAL_UNSUPPORTED);
    fake->device_count = 16;
    assert_int_equal(hal->devices(driver, ids, 80), -AP_HAL_TIMEOUT);
}

static void info_pairs(void **state)
{
    static const int pairs[][3] = {
        {AP_HAL_CHIP, 0, 1}, {AP_HAL_AIC_NUM, 4, 3}, {AP_HAL_AIC_MHZ, 4, 4},
        {AP_HAL_AIV_NUM, 7, 3}, {AP_HAL_AIV_MHZ, 7, 4}, {AP_HAL_AICPU_NUM, 1, 3},
        {AP_HAL_CTRL_CPU_NUM, 2, 3}, {AP_HAL_TS_CPU_NUM, 5, 3}, {AP_HAL_AICPU_ID, 1, 9},
        {AP_HAL_AICPU_OCCUPY, 1, 8}, {AP_HAL_AIC_ID, 4, 9}, {AP_HAL_CTRL_CPU_ID, 2, 9},
        {AP_HAL_CTRL_CPU_ENDIAN, 2, 11}, {AP_HAL_DEVICE_KHZ, 0, 25}, {AP_HAL_HOST_KHZ, 0, 24},
        {AP_HAL_ENV, 0, 0},
    };
    int64_t value = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        ap__hal_info what = (ap__hal_info)pairs[i][0];

        fake->info_value = 0x1234567890500 + (int64_t)i;
        fake->info_silent = 0;
        fake->device_info = 0;
        assert_int_equal(hal->info(driver, 3, what, &value), AP_HAL_OK);
        assert_int_equal(fake->device, 3);
        assert_int_equal(fake->module, pairs[i][1]);
        assert_int_equal(fake->info, pairs[i][2]);
        assert_int_equal(value, what == AP_HAL_CHIP ? 5 : fake->info_value);

        value = -3;
        fake->device_info = 0xfffe;
        assert_int_equal(hal->info(driver, 3, what, &value), AP_HAL_UNSUPPORTED);
        fake->device_info = 16;
        assert_int_equal(hal->info(driver, 3, what, &value), AP_HAL_TIMEOUT);
        fake->device_info = 0;
        fake->info_silent = 1;
        assert_int_equal(hal->info(driver, 3, what, &value), AP_HAL_UNSUPPORTED);
        assert_int_equal(value, -3);
    }
    fake->calls = 0;
    assert_int_equal(hal->info(driver, 64, AP_HAL_CHIP, &value), AP_HAL_INVALID);
    assert_int_equal(hal->info(driver, 0, (ap__hal_info)17, &value), AP_HAL_INVALID);
    assert_int_equal(hal->info(driver, 0, (ap__hal_info)-1, &value), AP_HAL_INVALID);
    assert_int_equal(hal->info(driver, 0, AP_HAL_CHIP, NULL), AP_HAL_INVALID);
    assert_int_equal(fake->calls, 0);
}

static void rates_of_zero_are_not_believed(void **state)
{
    int64_t value = 7;

    (void)state;
    fake->info_value = 0;
    assert_int_equal(hal->info(driver, 0, AP_HAL_DEVICE_KHZ, &value), AP_HAL_UNSUPPORTED);
    assert_int_equal(hal->info(driver, 0, AP_HAL_AIC_MHZ, &value), AP_HAL_UNSUPPORTED);
    assert_int_equal(value, 7);
    assert_int_equal(hal->info(driver, 0, AP_HAL_AIV_NUM, &value), AP_HAL_OK);
    assert_int_equal(value, 0);
    fake->info_value = 50000; /* kHz, as the driver gives it */
    assert_int_equal(hal->info(driver, 0, AP_HAL_DEVICE_KHZ, &value), AP_HAL_OK);
    assert_int_equal(value, 50000);
}

static void rates_are_asked_from_a_version_on(void **state)
{
    static const int versions[] = {0x071904, 0x071905, 0x05070c};
    static const int expected[] = {AP_HAL_UNSUPPORTED, AP_HAL_OK, AP_HAL_UNSUPPORTED};
    int64_t value = 0;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        void *context = NULL;

        fake->version = versions[i];
        assert_int_equal(hal->open(&context, full_path), AP_HAL_OK);
        fake->calls = 0;
        assert_int_equal(hal->info(context, 0, AP_HAL_DEVICE_KHZ, &value), expected[i]);
        assert_int_equal(hal->info(context, 0, AP_HAL_HOST_KHZ, &value), expected[i]);
        assert_int_equal(fake->calls, expected[i] == AP_HAL_OK ? 2 : 0);
        assert_int_equal(hal->info(context, 0, AP_HAL_CHIP, &value), AP_HAL_OK);
        hal->close(context);
    }
}

static void clock_brackets_the_device(void **state)
{
    ap__hal_clock k;
    ap__hal_clock before;

    (void)state;
    fake->info_value = 0x1122334455667;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(hal->clock(driver, 5, &k), AP_HAL_OK);
        assert_int_equal(fake->device, 5);
        assert_true(k.host_ns[0] <= fake->asked_ns[0]);
        assert_true(fake->asked_ns[0] <= fake->asked_ns[1]);
        assert_true(fake->asked_ns[1] <= k.host_ns[1]);
        assert_int_equal(k.device_ns, 0x1122334455667);
        assert_int_equal(k.device_cycles, 0x1122334455667);
#if defined(__x86_64__) || defined(__aarch64__)
        if (ap__clock_is_ns == 0) {
            assert_true(k.host_cycles[0] != 0 && k.host_cycles[0] <= k.host_cycles[1]);
            assert_true(k.host_cycles[1] < k.host_cycles[2]);
            assert_true(k.host_cycles[2] <= k.host_cycles[3]);
        }
#endif
    }
    before = k;
    fake->monotonic_raw = 0xfffe; /* of use without */
    assert_int_equal(hal->clock(driver, 5, &k), AP_HAL_OK);
    assert_int_equal(k.device_ns, 0);
    assert_int_equal(k.device_cycles, 0x1122334455667);
    k = before;
    fake->monotonic_raw = 16;
    assert_int_equal(hal->clock(driver, 5, &k), AP_HAL_TIMEOUT);
    fake->monotonic_raw = 0;
    fake->sys_count = 0xfffe;
    assert_int_equal(hal->clock(driver, 5, &k), AP_HAL_UNSUPPORTED);
    fake->sys_count = 0;
    fake->info_silent = 1;
    assert_int_equal(hal->clock(driver, 5, &k), AP_HAL_UNSUPPORTED);
    assert_int_equal(hal->clock(driver, 64, &k), AP_HAL_INVALID);
    assert_int_equal(hal->clock(driver, 5, NULL), AP_HAL_INVALID);
    assert_memory_equal(&k, &before, sizeof(k));
}

static void status(void **state)
{
    (void)state;
    for (int s = 0; s < 6; s++) {
        fake->status = s;
        assert_int_equal(hal->status(driver, 1), s == 4 ? AP_HAL_DEVICE_LOST : AP_HAL_OK);
    }
    fake->status = 4;
    fake->device_status = 0xfffe;
    assert_int_equal(hal->status(driver, 1), AP_HAL_OK);
    fake->device_status = 16;
    assert_int_equal(hal->status(driver, 1), AP_HAL_OK);
    assert_int_equal(hal->status(driver, 64), AP_HAL_OK);
}

/* ---- channels ---- */

static void channel_list(void **state)
{
    ap__hal_channels set;

    (void)state;
    memset(&set, 0xff, sizeof(set));
    fake->channel_count = 5;
    memcpy(fake->channels, (uint32_t[]){44, 50, 53, 159, 160}, 5 * sizeof(uint32_t));
    assert_int_equal(hal->channels(driver, 7, &set), AP_HAL_OK);
    assert_int_equal(fake->device, 7);
    assert_true(fake->list_was_zero);
    for (uint32_t i = 0; i < 300; i++) {
        assert_int_equal(ap__hal_has(&set, i), i == 44 || i == 50 || i == 53 || i == 159);
    }
    fake->channel_count = 200;
    for (uint32_t i = 0; i < 200; i++) {
        fake->channels[i] = i;
    }
    assert_int_equal(hal->channels(driver, 7, &set), AP_HAL_OK);
    assert_true(ap__hal_has(&set, 0) && ap__hal_has(&set, 159));
    fake->channel_count = 0;
    assert_int_equal(hal->channels(driver, 7, &set), AP_HAL_UNSUPPORTED);
    assert_false(ap__hal_has(&set, 0));
    fake->get_channels = 16;
    assert_int_equal(hal->channels(driver, 7, &set), AP_HAL_TIMEOUT);
    assert_int_equal(hal->channels(driver, 64, &set), AP_HAL_INVALID);
    assert_int_equal(hal->channels(driver, 7, NULL), AP_HAL_INVALID);
}

static void start_and_stop(void **state)
{
    unsigned char config[129];
    ap__hal_start start = {20, 0, config, 128};

    (void)state;
    memset(config, 0xa5, sizeof(config));
    assert_int_equal(hal->start(driver, 63, 159, &start), AP_HAL_OK);
    assert_int_equal(fake->device, 63);
    assert_int_equal(fake->channel, 159);
    assert_int_equal(fake->period, 20);
    assert_int_equal(fake->channel_type, 0);
    assert_int_equal(fake->real_time, 0);
    assert_int_equal(fake->user_bytes, 128);
    assert_memory_equal(fake->user_data, config, 128);
    start.flags = AP_HAL_START_PERIPHERAL;
    assert_int_equal(hal->start(driver, 0, 0, &start), AP_HAL_OK);
    assert_int_equal(fake->channel_type, 1);
    assert_int_equal(fake->real_time, 0);
    start = (ap__hal_start){0, AP_HAL_START_REAL_TIME, NULL, 0};
    assert_int_equal(hal->start(driver, 0, 0, &start), AP_HAL_OK);
    assert_int_equal(fake->channel_type, 0);
    assert_int_equal(fake->real_time, 1);
    assert_int_equal(fake->user_bytes, 0);

    fake->calls = 0;
    start = (ap__hal_start){0, 0, config, 129};
    assert_int_equal(hal->start(driver, 0, 50, &start), AP_HAL_INVALID);
    start = (ap__hal_start){0, 0, NULL, 1};
    assert_int_equal(hal->start(driver, 0, 50, &start), AP_HAL_INVALID);
    start = (ap__hal_start){0, 0, NULL, 0};
    assert_int_equal(hal->start(driver, 64, 50, &start), AP_HAL_INVALID);
    assert_int_equal(hal->start(driver, 0, 160, &start), AP_HAL_INVALID);
    assert_int_equal(hal->start(driver, 0, 50, NULL), AP_HAL_INVALID);
    assert_int_equal(hal->stop(driver, 64, 50), AP_HAL_INVALID);
    assert_int_equal(hal->stop(driver, 0, 160), AP_HAL_INVALID);
    assert_int_equal(fake->calls, 0);

    fake->start = 115;
    assert_int_equal(hal->start(driver, 0, 50, &start), AP_HAL_NO_CONTEXT);
    fake->start = -10;
    assert_int_equal(hal->start(driver, 0, 50, &start), AP_HAL_TAKEN);
    assert_int_equal(hal->stop(driver, 9, 44), AP_HAL_OK);
    assert_int_equal(fake->device, 9);
    assert_int_equal(fake->channel, 44);
    fake->stop = 0x916;
    assert_int_equal(hal->stop(driver, 9, 44), AP_HAL_LOSS);
}

static void poll_rounds_up(void **state)
{
    static const int times[][2] = {{-1, 1}, {0, 1}, {1, 1}, {1000, 1}, {1001, 2}, {4000, 4},
                                   {4001, 5}, {5001, 5}, {60000, 5}, {INT_MAX, 5}};
    ap__hal_event events[161];

    (void)state;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        assert_int_equal(hal->poll(driver, events, 6, times[i][0]), 0);
        assert_int_equal(fake->poll_seconds, times[i][1]);
        assert_int_equal(fake->poll_capacity, 6);
    }
    fake->event_channel = 53;
    fake->poll = 3;
    assert_int_equal(hal->poll(driver, events, 160, 1000), 3);
    assert_int_equal(fake->poll_capacity, 160);
    assert_int_equal(events[2].device, 2);
    assert_int_equal(events[2].channel, 53);
    fake->poll = 100; /* devices 64 and more are none */
    assert_int_equal(hal->poll(driver, events, 160, 1000), 64);
    fake->event_channel = 160;
    assert_int_equal(hal->poll(driver, events, 160, 1000), 0);

    fake->poll = -4;
    assert_int_equal(hal->poll(driver, events, 6, 1000), -AP_HAL_STOPPED);
    fake->poll = -1;
    assert_int_equal(hal->poll(driver, events, 6, 1000), -AP_HAL_IO);
    fake->poll = 0xfffe;
    assert_int_equal(hal->poll(driver, events, 6, 1000), -AP_HAL_UNSUPPORTED);
    fake->poll = 7; /* more than was asked for */
    assert_int_equal(hal->poll(driver, events, 6, 1000), -AP_HAL_IO);
    fake->calls = 0;
    assert_int_equal(hal->poll(driver, events, 0, 1000), -AP_HAL_INVALID);
    assert_int_equal(hal->poll(driver, events, 161, 1000), -AP_HAL_INVALID);
    assert_int_equal(hal->poll(driver, events, -6, 1000), -AP_HAL_INVALID);
    assert_int_equal(hal->poll(driver, NULL, 6, 1000), -AP_HAL_INVALID);
    assert_int_equal(fake->calls, 0);
}

static void read_counts_bytes(void **state)
{
    unsigned char buffer[128] = {0};

    (void)state;
    fake->read = 17;
    assert_int_equal(hal->read(driver, 3, 50, buffer, 128), 17);
    assert_int_equal(fake->device, 3);
    assert_int_equal(fake->channel, 50);
    assert_int_equal(fake->read_bytes, 128);
    assert_int_equal(buffer[16], 0x5a);
    assert_int_equal(buffer[17], 0);
    fake->read = 0;
    assert_int_equal(hal->read(driver, 3, 50, buffer, 128), 0);
    assert_int_equal(hal->read(driver, 3, 50, buffer, UINT32_MAX), 0);
    assert_int_equal(fake->read_bytes, INT_MAX);
    fake->read = -4;
    assert_int_equal(hal->read(driver, 3, 50, buffer, 128), -AP_HAL_STOPPED);
    fake->read = 0xfffe;
    assert_int_equal(hal->read(driver, 3, 50, buffer, 128), -AP_HAL_UNSUPPORTED);
    fake->read = 129;
    assert_int_equal(hal->read(driver, 3, 50, buffer, 128), -AP_HAL_IO);
    fake->calls = 0;
    assert_int_equal(hal->read(driver, 64, 50, buffer, 128), -AP_HAL_INVALID);
    assert_int_equal(hal->read(driver, 3, 160, buffer, 128), -AP_HAL_INVALID);
    assert_int_equal(hal->read(driver, 3, 50, NULL, 128), -AP_HAL_INVALID);
    assert_int_equal(fake->calls, 0);
}

static void flush_tells_bytes(void **state)
{
    uint32_t pending = 1;

    (void)state;
    fake->pending = 4190144;
    assert_int_equal(hal->flush(driver, 3, 50, &pending), AP_HAL_OK);
    assert_int_equal(pending, 4190144);
    fake->flush = 0xfffe;
    assert_int_equal(hal->flush(driver, 3, 50, &pending), AP_HAL_UNSUPPORTED);
    assert_int_equal(pending, 0);
    fake->flush = -4;
    assert_int_equal(hal->flush(driver, 3, 50, &pending), AP_HAL_STOPPED);
    assert_int_equal(hal->flush(driver, 3, 160, &pending), AP_HAL_INVALID);
    assert_int_equal(hal->flush(driver, 3, 50, NULL), AP_HAL_INVALID);
}

/* ---- fork, threads ---- */

static int all_lost(void)
{
    ap__hal_channels set;
    ap__hal_clock k;
    ap__hal_event event;
    ap__hal_start start = {0, 0, NULL, 0};
    ap__ascend_report report;
    int64_t value = 0;
    uint32_t pending = 0;
    char byte = 0;
    void *again = NULL;
    int good = 0;

    fake->calls = 0;
    good += hal->devices(driver, NULL, 0) == -AP_HAL_DEVICE_LOST;
    good += hal->info(driver, 0, AP_HAL_CHIP, &value) == AP_HAL_DEVICE_LOST;
    good += hal->clock(driver, 0, &k) == AP_HAL_DEVICE_LOST;
    good += hal->channels(driver, 0, &set) == AP_HAL_DEVICE_LOST;
    good += hal->start(driver, 0, 50, &start) == AP_HAL_DEVICE_LOST;
    good += hal->stop(driver, 0, 50) == AP_HAL_DEVICE_LOST;
    good += hal->poll(driver, &event, 1, 1000) == -AP_HAL_DEVICE_LOST;
    good += hal->read(driver, 0, 50, &byte, 1) == -AP_HAL_DEVICE_LOST;
    good += hal->flush(driver, 0, 50, &pending) == AP_HAL_DEVICE_LOST;
    good += hal->status(driver, 0) == AP_HAL_DEVICE_LOST;
    good += ap__ascend_open(&again, full_path, &report) == AP_HAL_UNSUPPORTED;
    good += again == NULL && strstr(report.text, "forked") != NULL;
    good += fake->calls == 0;
    return good;
}

static void a_forked_child_has_no_driver(void **state)
{
    int status = 0;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        _exit(all_lost());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 13);
    assert_int_equal(hal->status(driver, 0), AP_HAL_OK);
}

static void *open_and_close(void *arg)
{
    intptr_t good = 1;

    (void)arg;
    for (int i = 0; i < 20; i++) {
        void *context = NULL;

        good &= hal->open(&context, full_path) == AP_HAL_OK;
        good &= context != NULL && hal->devices(context, NULL, 0) == 2;
        hal->close(context);
    }
    return (void *)good;
}

static void threads_may_open_together(void **state)
{
    pthread_t threads[4];
    void *good = NULL;

    (void)state;
    fake->devices = 2;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, NULL), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &good), 0);
        assert_non_null(good);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes),
        cmocka_unit_test_setup_teardown(devices, open_full, close_full),
        cmocka_unit_test_setup_teardown(info_pairs, open_full, close_full),
        cmocka_unit_test_setup_teardown(rates_of_zero_are_not_believed, open_full, close_full),
        cmocka_unit_test_setup_teardown(rates_are_asked_from_a_version_on, open_full, close_full),
        cmocka_unit_test_setup_teardown(clock_brackets_the_device, open_full, close_full),
        cmocka_unit_test_setup_teardown(status, open_full, close_full),
        cmocka_unit_test_setup_teardown(channel_list, open_full, close_full),
        cmocka_unit_test_setup_teardown(start_and_stop, open_full, close_full),
        cmocka_unit_test_setup_teardown(poll_rounds_up, open_full, close_full),
        cmocka_unit_test_setup_teardown(read_counts_bytes, open_full, close_full),
        cmocka_unit_test_setup_teardown(flush_tells_bytes, open_full, close_full),
        cmocka_unit_test_setup_teardown(a_forked_child_has_no_driver, open_full, close_full),
        cmocka_unit_test_setup_teardown(threads_may_open_together, open_full, close_full),
    };

    return cmocka_run_group_tests(tests, build_all, scratch_teardown);
}
