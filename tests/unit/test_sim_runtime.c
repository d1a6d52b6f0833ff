/* SPDX-License-Identifier: Apache-2.0 */
/* A program's own work on the simulated device. */
#include "sim_run.h"

#include <time.h>

#include "sim_runtime.h"

#define KERNEL(kernel_name, core_kind, us)                                                         \
    &(simrtKernel)                                                                                 \
    {                                                                                              \
        .size = sizeof(simrtKernel), .name = (kernel_name), .core = (core_kind), .blocks = 8,      \
        .cost_us = (us)                                                                            \
    }

static unsigned hook_calls;
static simrtTask hook_last;
static char hook_name[64];

static void hook(void *user, const simrtTask *task)
{
    assert_ptr_equal(user, &hook_calls);
    hook_calls++;
    hook_last = *task;
    (void)snprintf(hook_name, sizeof(hook_name), "%s", task->name);
}

static uint64_t raw_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Reads a channel of the shared simulator until it is empty, stops it. */
static size_t drain(void *context, uint32_t channel, unsigned char *out, size_t room)
{
    uint32_t pending = 0;
    size_t got = 0;
    int n = 0;

    assert_int_equal(ap__hal_sim.flush(context, 0, channel, &pending), 0);
    while ((n = ap__hal_sim.read(context, 0, channel, out + got, (uint32_t)(room - got))) > 0) {
        got += (size_t)n;
    }
    assert_int_equal(ap__hal_sim.stop(context, 0, channel), 0);
    return got;
}

static void test_launches_are_seen(void **state)
{
    static unsigned char data[1 << 20];
    sim_config c = CONFIG_ACSQ;
    ap__hal_start start = {.config = c.data, .config_bytes = c.bytes};
    simrtStream stream = NULL;
    uint32_t id = 0;
    uint32_t task = 99;
    uint32_t first = 0;
    void *context = NULL;
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t last = 0;
    size_t bytes = 0;

    (void)state;
    assert_int_equal(simrtCreateStream(&stream), SIMRT_OK);
    assert_int_equal(simrtGetStreamId(stream, &id), SIMRT_OK);
    assert_int_equal(ap__hal_sim.open(&context, ""), 0);
    assert_int_equal(simrtLaunchKernel(stream, KERNEL("before", SIMRT_CUBE, 10), &first), SIMRT_OK);
    assert_int_equal(simrtSynchronizeStream(stream), SIMRT_OK);
    assert_int_equal(ap__hal_sim.start(context, 0, 50, &start), 0);
    simrtSetHook(hook, &hook_calls);
    begin = raw_ns();
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(simrtLaunchKernel(stream, KERNEL("MatMul", i % 2, 300), &task), SIMRT_OK);
        assert_int_equal(task, first + 1 + i);
        assert_int_equal(hook_calls, i + 1);
        assert_int_equal(hook_last.task, task);
        assert_int_equal(hook_last.stream, id);
        assert_int_equal(hook_last.core, i % 2);
        assert_true(hook_last.begin_ns >= begin && hook_last.end_ns >= hook_last.begin_ns);
    }
    assert_string_equal(hook_name, "MatMul");
    assert_int_equal(simrtSynchronizeStream(stream), SIMRT_OK);
    end = raw_ns();
    simrtSetHook(NULL, NULL);
    assert_true(end - begin >= 20 * UINT64_C(300000)); /* one after the other */
    bytes = drain(context, 50, data, sizeof(data));
    assert_int_equal(bytes, 40 * 64);
    for (unsigned i = 0; i < 40; i++) {
        const unsigned char *r = data + 64 * i;

        assert_int_equal(at16(r, 0) & 0x3f, i % 2);
        assert_int_equal(at16(r, 4), id);
        assert_int_equal(at16(r, 6), first + 1 + i / 2);
        assert_int_equal(at16(r, 0) >> 10, i / 2 % 2 == 0 ? 0 : 2);
        assert_true(at64(r, 8) > last);
        assert_true(at64(r, 8) >= ap__sim_cycles_at(context, 0, begin));
        assert_true(at64(r, 8) <= ap__sim_cycles_at(context, 0, end));
        last = at64(r, 8);
    }
    assert_int_equal(simrtDestroyStream(stream), SIMRT_OK);
    ap__hal_sim.close(context);
}

static void test_events_order_streams(void **state)
{
    simrtStream streams[2];
    simrtEvent events[2];
    double us = 0;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(simrtCreateStream(&streams[i]), SIMRT_OK);
        assert_int_equal(simrtCreateEvent(&events[i]), SIMRT_OK);
    }
    assert_int_equal(simrtEventElapsed(events[0], events[1], &us), SIMRT_INVALID);
    assert_int_equal(simrtLaunchKernel(streams[0], KERNEL("a", SIMRT_CUBE, 5000), NULL), SIMRT_OK);
    assert_int_equal(simrtRecordEvent(events[0], streams[0]), SIMRT_OK);
    assert_int_equal(simrtStreamWaitEvent(streams[1], events[0]), SIMRT_OK);
    assert_int_equal(simrtLaunchKernel(streams[1], KERNEL("b", SIMRT_VECTOR, 100), NULL), SIMRT_OK);
    assert_int_equal(simrtRecordEvent(events[1], streams[1]), SIMRT_OK);
    assert_int_equal(simrtEventElapsed(events[0], events[1], &us), SIMRT_OK);
    assert_true(us >= 100 && us < 200);
    assert_int_equal(simrtSynchronizeEvent(events[1]), SIMRT_OK);
    assert_int_equal(simrtSynchronizeDevice(), SIMRT_OK);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(simrtDestroyStream(streams[i]), SIMRT_OK);
        assert_int_equal(simrtDestroyEvent(events[i]), SIMRT_OK);
    }
}

static void test_copies_and_devices(void **state)
{
    uint32_t count = 0;
    uint32_t device = 9;
    uint64_t begin = 0;

    (void)state;
    assert_int_equal(simrtGetDeviceCount(&count), SIMRT_OK);
    assert_int_equal(count, 2);
    assert_int_equal(simrtSetDevice(1), SIMRT_OK);
    simrtSetHook(hook, &hook_calls);
    begin = raw_ns();
    assert_int_equal(simrtMemcpyAsync(NULL, 40000000, SIMRT_DEVICE_TO_HOST, NULL), SIMRT_OK);
    simrtSetHook(NULL, NULL);
    assert_int_equal(hook_last.kind, SIMRT_TASK_MEMCPY);
    assert_int_equal(hook_last.device, 1);
    assert_int_equal(hook_last.stream, 0);
    assert_int_equal(hook_last.bytes, 40000000);
    assert_int_equal(simrtSynchronizeStream(NULL), SIMRT_OK);
    assert_true(raw_ns() - begin >= 2000000); /* 40 MB at 20 GB/s */
    assert_int_equal(simrtGetDevice(&device), SIMRT_OK);
    assert_int_equal(device, 1);
    assert_int_equal(simrtSetDevice(0), SIMRT_OK);
}

static void test_bad_arguments(void **state)
{
    simrtKernel kernel = *KERNEL("k", SIMRT_CUBE, 1);

    (void)state;
    assert_int_equal(simrtSetDevice(2), SIMRT_INVALID);
    assert_int_equal(simrtLaunchKernel(NULL, NULL, NULL), SIMRT_INVALID);
    kernel.size = 8;
    assert_int_equal(simrtLaunchKernel(NULL, &kernel, NULL), SIMRT_INVALID);
    kernel = *KERNEL("k", SIMRT_CUBE, -1);
    assert_int_equal(simrtLaunchKernel(NULL, &kernel, NULL), SIMRT_INVALID);
    kernel = *KERNEL(NULL, SIMRT_CUBE, 1);
    assert_int_equal(simrtLaunchKernel(NULL, &kernel, NULL), SIMRT_INVALID);
    kernel = *KERNEL("k", SIMRT_CUBE, 1);
    kernel.blocks = 0;
    assert_int_equal(simrtLaunchKernel(NULL, &kernel, NULL), SIMRT_INVALID);
    assert_int_equal(simrtCreateStream(NULL), SIMRT_INVALID);
    assert_int_equal(simrtRecordEvent(NULL, NULL), SIMRT_INVALID);
    assert_int_equal(simrtMemcpyAsync(NULL, UINT64_MAX, SIMRT_HOST_TO_DEVICE, NULL), SIMRT_INVALID);
}

/* Without a listener work costs no memory: the device forgets what is over. */
static void test_work_without_a_listener(void **state)
{
    simrtStream stream = NULL;
    uint32_t task = 0;

    (void)state;
    assert_int_equal(simrtCreateStream(&stream), SIMRT_OK);
    for (unsigned i = 0; i < 70000; i++) {
        assert_int_equal(simrtLaunchKernel(stream, KERNEL("k", SIMRT_CUBE, 0), &task), SIMRT_OK);
    }
    assert_in_range(task, 0, 65535);
    assert_int_equal(simrtSynchronizeStream(stream), SIMRT_OK);
    assert_int_equal(simrtDestroyStream(stream), SIMRT_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches_are_seen),       cmocka_unit_test(test_events_order_streams),
        cmocka_unit_test(test_copies_and_devices),      cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_work_without_a_listener),
    };

    (void)setenv("ACLPROF_SIM", "devices=2,disorder=0", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
