/* SPDX-License-Identifier: Apache-2.0 */
#include "sim_run.h"

#include "clock/cycles.h"
#include "drivers/sim/clock.h"
#include "drivers/sim/ring.h"

static void test_rate_and_error(void **state)
{
    ap__sim_clock clock;
    uint64_t second = UINT64_C(1000000000);

    (void)state;
    ap__sim_clock_open(&clock, 5 * second, 50000, 5, -3, 0, 42);
    assert_true(clock.cycles0 > UINT64_C(1) << 40 && clock.cycles0 < UINT64_C(1) << 53);
    assert_true(ap__sim_clock_cycles(&clock, 5 * second) == clock.cycles0);
    assert_true(ap__sim_clock_cycles(&clock, 6 * second) == clock.cycles0 + 50000250);
    assert_true(ap__sim_clock_cycles(&clock, 4 * second) == clock.cycles0 - 50000250);
    assert_true(ap__sim_clock_ns(&clock, 1005 * second) == clock.ns0 + 1000 * second - 3000000);
    /* a year of 1 GHz */
    ap__sim_clock_open(&clock, 0, 1000000, 100, 0, 0, 42);
    assert_true(ap__sim_clock_cycles(&clock, 31536000 * second) - clock.cycles0 ==
                UINT64_C(31536000) * 1000100000);
}

static void test_wrap_and_step(void **state)
{
    ap__sim_clock clock;

    (void)state;
    ap__sim_clock_open(&clock, 1000, 50000, 0, 0, 20, 42);
    assert_true((uint32_t)ap__sim_clock_cycles(&clock, 1000 + 20000000) == 0);
    assert_true((uint32_t)ap__sim_clock_cycles(&clock, 1000 + 19999980) == UINT32_MAX);
    clock.steps = 1;
    clock.step[0].at_ns = 5000;
    clock.step[0].cycles = -700;
    assert_true(ap__sim_clock_cycles(&clock, 5000) + 700 - 1 ==
                ap__sim_clock_cycles(&clock, 4999) + (5000 - 1000) / 20 - (4999 - 1000) / 20 - 1);
}

/* The midpoint of a reading is wrong, the bracket is not. */
static void test_readings_lie_in_their_bracket(void **state)
{
    static const char *const options[] = {"step=1,ppm=0,nsppm=0", "ppm=0,nsppm=0,latency_us=20-60"};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        void *context = NULL;
        unsigned early = 0;

        assert_int_equal(ap__hal_sim.open(&context, options[i]), 0);
        for (unsigned k = 0; k < 40; k++) {
            ap__hal_clock c;
            uint64_t first = 0;
            uint64_t last = 0;

            assert_int_equal(ap__hal_sim.clock(context, 0, &c), 0);
            first = ap__sim_cycles_at(context, 0, c.host_ns[0]);
            last = ap__sim_cycles_at(context, 0, c.host_ns[1]);
            assert_true(c.device_cycles >= first && c.device_cycles <= last);
            assert_true(c.host_ns[1] - c.host_ns[0] >= 40000);
            early += c.host_cycles[0] <= c.host_cycles[1] && c.host_cycles[2] <= c.host_cycles[3];
        }
        assert_int_equal(early, 40);
        ap__hal_sim.close(context);
    }
}

static void test_devices_have_their_own_clocks(void **state)
{
    void *context = NULL;
    uint64_t a = 0;
    uint64_t b = 0;

    (void)state;
    assert_int_equal(ap__hal_sim.open(&context, "devices=2,step=1"), 0);
    a = ap__sim_cycles_at(context, 0, ap__sim_now(context));
    b = ap__sim_cycles_at(context, 1, ap__sim_now(context));
    assert_true(a != b);
    ap__hal_sim.close(context);
}

static void test_ring_keeps_order_over_its_end(void **state)
{
    ap__sim_ring ring;
    unsigned char in[257];
    unsigned char out[300];
    unsigned next_in = 0;
    unsigned next_out = 0;

    (void)state;
    assert_int_equal(ap__sim_ring_open(&ring, 1000), 0);
    for (unsigned round = 0; round < 2000; round++) {
        unsigned n = 1 + round * 37 % 257;
        unsigned got = 0;

        if (ap__sim_ring_room(&ring) >= n) {
            for (unsigned i = 0; i < n; i++) {
                in[i] = (unsigned char)next_in++;
            }
            assert_int_equal(ap__sim_ring_put(&ring, in, n), 0);
        }
        got = ap__sim_ring_take(&ring, out, 1 + round * 53 % 299);
        for (unsigned i = 0; i < got; i++) {
            assert_int_equal(out[i], (unsigned char)next_out++);
        }
    }
    assert_int_equal(ap__sim_ring_pending(&ring), next_in - next_out);
    assert_true(next_in > 100000);
    ap__sim_ring_close(&ring);
}

/* The ring of channel 143 is twice as large. */
static void test_ring_of_143(void **state)
{
    ap__hal_channels list;
    uint32_t pending = 0;
    void *much = calloc(1, AP_SIM_RING_BYTES_AICPU);
    sim_run run;

    (void)state;
    assert_non_null(much);
    run_open(&run, "late=1");
    assert_int_equal(ap__sim_channels(run.sim, 0, &list), 0);
    run_start(&run, 143, 10, config_of(0));
    assert_int_equal(ap__sim_report(run.sim, 0, 143, much, 8384511), 0);
    assert_int_equal(ap__sim_flush(run.sim, 0, 143, &pending), 0);
    assert_int_equal(pending, 8384511);
    assert_int_equal(ap__sim_report(run.sim, 0, 143, much, 1), 0);
    assert_int_equal(ap__sim_flush(run.sim, 0, 143, &pending), 0);
    assert_int_equal(pending, 0);
    run_stop(&run);
    run_close(&run);
    free(much);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_and_error),
        cmocka_unit_test(test_wrap_and_step),
        cmocka_unit_test(test_readings_lie_in_their_bracket),
        cmocka_unit_test(test_devices_have_their_own_clocks),
        cmocka_unit_test(test_ring_keeps_order_over_its_end),
        cmocka_unit_test(test_ring_of_143),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
