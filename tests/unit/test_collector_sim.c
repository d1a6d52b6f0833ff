/* SPDX-License-Identifier: Apache-2.0 */
/* The collector on simulated devices: nothing is lost, and every fault is bounded and told. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include "collector_fixture.h"
#include "drivers/sim/sim.h"

static void *sim_open(bed *b, const char *options)
{
    void *context = NULL;

    assert_int_equal(ap__hal_sim.open(&context, options), AP_HAL_OK);
    assert_int_equal(ap__collector_open(&ap__hal_sim, context, &b->params, &b->c), 0);
    return context;
}

/* What came from the channels is what the devices gave. */
static void assert_complete(bed *b, ap__sim *sim, uint32_t device_index, uint32_t device)
{
    ap__channel_account a;

    for (uint32_t k = 0; ap__collector_channel(b->c, device_index, k, &a); k++) {
        ap__sim_counts counts;

        if (a.start_rc != AP_HAL_OK || a.state != AP_CHANNEL_STOPPED) {
            continue;
        }
        ap__sim_count(sim, device, a.channel, &counts);
        assert_int_equal(a.stored_bytes, counts.bytes);
        assert_int_equal(a.read_bytes, a.stored_bytes);
        assert_int_equal(a.gaps + a.missing + a.bad_magic + a.duplicates + a.tail_bytes, 0);
        if (a.record_bytes > 1) {
            assert_int_equal(a.records, counts.records);
        }
    }
}

static void test_every_chip(void **state)
{
    static const char *const chips[] = {"910B", "310P", "910", "310B", "950", "310"};

    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
        bed b;
        char options[256];
        ap__sim *sim = NULL;
        ap__collector_totals sum;
        uint32_t ids[2] = {0, 1};

        bed_make(&b, *state);
        b.settings.hardware_mem_hz = 50;
        b.settings.interconnection_hz = 20;
        b.settings.io_hz = 50;
        b.settings.dvpp_hz = 50;
        b.meta.data_types |= ACL_PROF_L2CACHE;
        snprintf(options, sizeof(options),
                 "chip=%s,devices=2,strict=1,mode=block,pattern=streams,tasks=200", chips[i]);
        sim = sim_open(&b, options);
        assert_int_equal(ap__collector_add_devices(b.c, ids, 2), AP_HAL_OK);
        usleep(250000);
        assert_int_equal(ap__collector_stop(b.c), 0);
        ap__collector_sum(b.c, &sum);
        assert_true(sum.records > 200);
        assert_complete(&b, sim, 0, 0);
        assert_complete(&b, sim, 1, 1);
        ap__collector_free(b.c);
        b.c = NULL;
        ap__hal_sim.close(sim);
        bed_end(&b);
    }
}

typedef struct fault_row {
    const char *fault;
    bool told; /* by the account of channel 50 */
} fault_row;

static void test_faults(void **state)
{
    static const fault_row rows[] = {
        {"short_read", false},
        {"empty_read:p=0.3", false},
        {"read_error:p=0.3", false},
        {"poll_error:p=0.5", false},
        {"poll_storm:p=0.9", false},
        {"stale_poll", false},
        {"hang:chan=50", false},
        {"start_rc:v=30:chan=53", false},
        {"start_rc:v=-10:chan=44", false},
        {"start_rc:v=115:n=2", false},
        {"flush_rc", false},
        {"flush_len:v=100000", false},
        {"flush_len:v=-64", false},
        {"stop_slow:ms=300", false},
        {"stop_rc:v=2326", true},
        {"torn:chan=50:v=7:n=3", true},
        {"cnt_gap:chan=50:v=3:n=2:at=5", true},
        {"bad_magic:chan=50:n=2:at=9", true},
        {"duplicate:chan=50:n=2:at=9", true},
        {"stop_slow:ms=-1:chan=53", false},
        {"lost:from_ms=100", false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bed b;
        char options[256];
        ap__sim *sim = NULL;
        uint64_t began = 0;
        ap__channel_account a;
        bool told = false;

        bed_make(&b, *state);
        b.params.limits = (ap__collector_limits){
            .start_ms = 3000, .stop_ms = 700, .total_stop_ms = 2500, .tick_ms = 50};
        snprintf(options, sizeof(options), "mode=block,speed=50,pattern=streams,tasks=300,fault=%s",
                 rows[i].fault);
        sim = sim_open(&b, options);
        (void)bed_add(&b, 0);
        usleep(200000);
        began = fake_ms();
        (void)ap__collector_stop(b.c);
        assert_true(fake_ms() - began < 6000);
        for (uint32_t k = 0; ap__collector_channel(b.c, 0, k, &a); k++) {
            assert_int_equal(a.read_bytes, a.stored_bytes + a.torn_bytes + a.tail_bytes);
            if (a.channel == 50) {
                told = a.gaps + a.bad_magic + a.duplicates + a.torn_bytes != 0 ||
                       a.stop_rc == AP_HAL_LOSS;
            }
        }
        if (told != rows[i].told) {
            fail_msg("%s: %s", rows[i].fault, told ? "told without cause" : "not told");
        }
        for (began = fake_ms(); ap__collector_stop(b.c) != 0 && fake_ms() - began < 1500;) {
            usleep(1000); /* calls that are late must not find it closed */
        }
        ap__hal_sim.close(sim); /* lets go what hangs for ever */
        b.f->released = true;
        bed_end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_chip, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_faults, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
