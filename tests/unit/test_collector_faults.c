/* SPDX-License-Identifier: Apache-2.0 */
/* The collector with a driver, devices and a disk that misbehave: bounded, and told. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <signal.h>
#include <sys/resource.h>

#include "collector_fixture.h"

#define RECORDS 3000u

static void bed_quick(bed *b)
{
    b->params.limits = (ap__collector_limits){.start_ms = 300,
                                              .flush_ms = 100,
                                              .stop_ms = 200,
                                              .total_stop_ms = 600,
                                              .tick_ms = 20,
                                              .sweep_ms = 50};
    b->f->drain_ms = 100;
}

/* Everything fed in spite of the fault `script` has made. */
static void assert_all_comes(scratch *s, void (*script)(fake *f))
{
    bed b;
    uint8_t *data = bed_records(RECORDS, 64, 0);

    bed_make(&b, s);
    b.params.limits.tick_ms = 20;
    script(b.f);
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    fake_feed(b.f, 0, 50, data, 1000 * 64, false);
    bed_wait_read(&b, 0, 50, 1000 * 64);
    fake_feed(b.f, 0, 50, data + 1000 * 64, 1000 * 64, true);
    fake_feed(b.f, 0, 50, data + 2000 * 64, 1000 * 64, false);
    assert_int_equal(ap__collector_stop(b.c), 0);
    bed_assert_file(&b, 0, "stars_soc.data", data, RECORDS * 64);
    assert_int_equal(bed_channel(&b, 0, 50).records, RECORDS);
    assert_int_equal(bed_channel(&b, 0, 50).gaps, 0);
    free(data);
    bed_end(&b);
}

static void script_short(fake *f)
{
    fake_ch(f, 0, 50)->short_read = 17;
}

static void script_read_errors(fake *f)
{
    fake_ch(f, 0, 50)->read_errors = 3;
}

static void script_early_stopped(fake *f)
{
    fake_ch(f, 0, 50)->read_errors = 3;
    fake_ch(f, 0, 50)->read_rc = AP_HAL_STOPPED;
}

static void script_zeros(fake *f)
{
    fake_ch(f, 0, 50)->read_zeros = 4;
}

static void script_silent(fake *f)
{
    f->poll_mode = FAKE_POLL_SILENT;
}

static void script_stale(fake *f)
{
    f->poll_mode = FAKE_POLL_STALE;
}

static void script_flush_unsupported(fake *f)
{
    fake_ch(f, 0, 50)->flush_rc = AP_HAL_UNSUPPORTED;
    fake_ch(f, 0, 44)->flush_rc = AP_HAL_BUSY;
}

static void script_flush_too_much(fake *f)
{
    fake_ch(f, 0, 50)->flush_more = 1000000;
}

static void script_slow_stop(fake *f)
{
    fake_ch(f, 0, 50)->stop_ms = 300;
    fake_ch(f, 0, 53)->stop_ms = 100;
}

static void test_all_comes(void **state)
{
    assert_all_comes(*state, script_short);
    assert_all_comes(*state, script_read_errors);
    assert_all_comes(*state, script_early_stopped);
    assert_all_comes(*state, script_zeros);
    assert_all_comes(*state, script_silent);
    assert_all_comes(*state, script_stale);
    assert_all_comes(*state, script_flush_unsupported);
    assert_all_comes(*state, script_flush_too_much);
    assert_all_comes(*state, script_slow_stop);
}

/* Answers at once, over and over: data come, and the poller does not spin. */
static void poll_storm(scratch *s, int mode)
{
    bed b;
    uint8_t *data = bed_records(100, 64, 0);
    unsigned polls = 0;

    bed_make(&b, s);
    b.f->poll_mode = mode;
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    fake_feed(b.f, 0, 50, data, 50 * 64, false);
    usleep(400000);
    pthread_mutex_lock(&b.f->lock);
    polls = b.f->polls;
    b.f->poll_mode = FAKE_POLL_GOOD; /* it recovers */
    pthread_mutex_unlock(&b.f->lock);
    assert_true(polls < 200);
    bed_wait_read(&b, 0, 50, 50 * 64);
    fake_feed(b.f, 0, 50, data + 50 * 64, 50 * 64, false);
    bed_wait_read(&b, 0, 50, 100 * 64);
    assert_int_equal(ap__collector_stop(b.c), 0);
    assert_true(bed_channel(&b, 0, 50).unannounced >= 1);
    bed_assert_file(&b, 0, "stars_soc.data", data, 100 * 64);
    free(data);
    bed_end(&b);
}

static void test_poll_storms(void **state)
{
    poll_storm(*state, FAKE_POLL_STORM);
    poll_storm(*state, FAKE_POLL_ERROR);
}

/* ---- calls that never answer ---- */

static void start_hangs(scratch *s, unsigned hang)
{
    bed b;
    uint64_t begin = 0;
    ap__device_account a;

    bed_make(&b, s);
    bed_quick(&b);
    b.f->devices[0].hang = hang;
    bed_open(&b);
    begin = fake_ms();
    assert_int_equal(bed_add(&b, 0), AP_HAL_TIMEOUT);
    assert_true(fake_ms() - begin < 1000);
    begin = fake_ms();
    assert_int_equal(ap__collector_stop(b.c), 1);
    assert_true(fake_ms() - begin < 1500);
    assert_true(ap__collector_device(b.c, 0, &a));
    assert_int_equal(a.start_rc, AP_HAL_TIMEOUT);
    assert_int_equal(a.stuck, 1);
    /* half a directory would make the vendor's reader export nothing at all */
    assert_int_equal(scratch_size(b.dir.prof_fd, "device_0"), -1);
    fake_release(b.f); /* the answer comes after the end */
    usleep(20000);
    assert_int_equal(scratch_size(b.dir.prof_fd, "device_0"), -1);
    bed_end(&b);
}

static void test_start_hangs(void **state)
{
    start_hangs(*state, FAKE_HANG_STATUS);
    start_hangs(*state, FAKE_HANG_CHANNELS);
    start_hangs(*state, FAKE_HANG_CLOCK);
}

/* Channel 53 does not answer: what is fed to channel 50 comes; Stop is bounded. */
static void channel_hangs(scratch *s, unsigned hang, int expected_add, uint32_t expected_stuck)
{
    bed b;
    uint8_t *data = bed_records(RECORDS, 64, 0);
    uint64_t begin = 0;
    ap__channel_account a;
    ap__device_account d;

    bed_make(&b, s);
    bed_quick(&b);
    fake_ch(b.f, 0, 53)->hang = hang;
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), expected_add);
    fake_feed(b.f, 0, 50, data, RECORDS * 64, false);
    fake_feed(b.f, 0, 53, data, 1280, false);
    begin = fake_ms();
    assert_int_equal(ap__collector_stop(b.c), expected_stuck);
    assert_true(fake_ms() - begin < 5000);
    bed_assert_file(&b, 0, "stars_soc.data", data, RECORDS * 64);
    assert_int_equal(bed_channel(&b, 0, 50).state, AP_CHANNEL_STOPPED);
    assert_int_equal(bed_channel(&b, 0, 50).stop_rc, AP_HAL_OK);
    assert_int_equal(bed_channel(&b, 0, 44).state, AP_CHANNEL_STOPPED);
    a = bed_channel(&b, 0, 53);
    assert_true(ap__collector_device(b.c, 0, &d));
    if (hang == FAKE_HANG_STOP || hang == FAKE_HANG_START) {
        assert_int_equal(a.stop_rc, AP_HAL_TIMEOUT);
        assert_int_equal(d.stuck, 1);
    }
    fake_release(b.f);
    if (hang == FAKE_HANG_START) { /* started after all: stopped at once */
        uint64_t until = fake_ms() + 5000;

        while (ap__collector_stop(b.c) != 0 && fake_ms() < until) {
            usleep(1000);
        }
        assert_int_equal(fake_ch(b.f, 0, 53)->stops, 1);
        assert_false(fake_ch(b.f, 0, 53)->running);
    }
    free(data);
    bed_end(&b);
}

static void test_channel_hangs(void **state)
{
    channel_hangs(*state, FAKE_HANG_STOP, AP_HAL_OK, 1);
    channel_hangs(*state, FAKE_HANG_START, AP_HAL_TIMEOUT, 1);
    channel_hangs(*state, FAKE_HANG_FLUSH, AP_HAL_OK, 1);
    channel_hangs(*state, FAKE_HANG_READ, AP_HAL_OK, 1); /* its reader */
}

static void test_tick_hangs(void **state)
{
    bed b;
    uint8_t *data = bed_records(RECORDS, 64, 0);
    uint64_t begin = 0;

    bed_make(&b, *state);
    bed_quick(&b);
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    pthread_mutex_lock(&b.f->lock);
    b.f->devices[0].hang = FAKE_HANG_CLOCK;
    while (b.f->hung == 0) {
        pthread_cond_wait(&b.f->changed, &b.f->lock);
    }
    pthread_mutex_unlock(&b.f->lock);
    fake_feed(b.f, 0, 50, data, RECORDS * 64, true);
    begin = fake_ms();
    assert_int_equal(ap__collector_stop(b.c), 1);
    assert_true(fake_ms() - begin < 1500);
    bed_assert_file(&b, 0, "stars_soc.data", data, RECORDS * 64);
    free(data);
    bed_end(&b);
}

/* One device hangs, the other one is complete. */
static void test_other_device_is_spared(void **state)
{
    static const uint32_t channels[] = {44, 50, 53};
    static const uint32_t ids[] = {0, 1};
    bed b;
    uint8_t *data = bed_records(RECORDS, 64, 0);

    bed_make(&b, *state);
    bed_quick(&b);
    fake_offer(b.f, 1, 5, channels, 3);
    b.f->devices[0].hang = FAKE_HANG_CHANNELS;
    bed_open(&b);
    assert_int_equal(ap__collector_add_devices(b.c, ids, 2), AP_HAL_TIMEOUT);
    fake_feed(b.f, 1, 50, data, RECORDS * 64, true);
    assert_int_equal(ap__collector_stop(b.c), 1);
    bed_assert_file(&b, 1, "stars_soc.data", data, RECORDS * 64);
    free(data);
    bed_end(&b);
}

static void test_device_lost(void **state)
{
    bed b;
    uint8_t *data = bed_records(RECORDS, 64, 0);
    uint64_t begin = 0;
    uint64_t until = fake_ms() + 5000;
    ap__device_account a;

    bed_make(&b, *state);
    bed_quick(&b);
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    fake_feed(b.f, 0, 50, data, 640, false);
    bed_wait_read(&b, 0, 50, 640);
    pthread_mutex_lock(&b.f->lock);
    b.f->devices[0].lost = true;
    b.f->drain_ms = 0;
    pthread_mutex_unlock(&b.f->lock);
    do {
        usleep(1000);
        assert_true(ap__collector_device(b.c, 0, &a));
    } while (!a.lost && fake_ms() < until);
    assert_true(a.lost);
    assert_false(a.running);
    begin = fake_ms();
    assert_int_equal(ap__collector_stop(b.c), 0);
    assert_true(fake_ms() - begin < 1500);
    bed_assert_file(&b, 0, "stars_soc.data", data, 640); /* what came before is kept */
    free(data);
    bed_end(&b);
}

/* It goes away after the last tick, and its driver tells only that it does not answer. */
static void test_device_lost_at_stop(void **state)
{
    bed b;
    ap__device_account a;

    bed_make(&b, *state);
    bed_quick(&b);
    b.params.limits.tick_ms = 60000;
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    pthread_mutex_lock(&b.f->lock);
    b.f->devices[0].lost_quietly = true;
    fake_ch(b.f, 0, 50)->stop_rc = AP_HAL_TIMEOUT;
    pthread_mutex_unlock(&b.f->lock);
    assert_int_equal(ap__collector_stop(b.c), 0);
    assert_true(ap__collector_device(b.c, 0, &a));
    assert_true(a.lost);
    bed_end(&b);
}

static void test_refused_channels(void **state)
{
    bed b;
    uint8_t *data = bed_records(RECORDS, 64, 0);

    bed_make(&b, *state);
    bed_quick(&b);
    fake_ch(b.f, 0, 44)->start_rc = AP_HAL_TAKEN;
    fake_ch(b.f, 0, 53)->start_rc = AP_HAL_BUSY;
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    assert_int_equal(bed_channel(&b, 0, 44).start_rc, AP_HAL_TAKEN);
    assert_int_equal(bed_channel(&b, 0, 53).start_rc, AP_HAL_BUSY);
    assert_int_equal(bed_channel(&b, 0, 53).state, AP_CHANNEL_FAILED);
    fake_ch(b.f, 0, 50)->stop_rc = AP_HAL_LOSS;
    fake_feed(b.f, 0, 50, data, 640, true);
    assert_int_equal(ap__collector_stop(b.c), 0);
    assert_int_equal(bed_channel(&b, 0, 50).stop_rc, AP_HAL_LOSS);
    assert_int_equal(fake_ch(b.f, 0, 53)->stops, 0); /* it is another's */
    bed_assert_file(&b, 0, "stars_soc.data", data, 640);
    free(data);
    bed_end(&b);
}

static void test_unknown_device(void **state)
{
    bed b;
    ap__device_account a;

    bed_make(&b, *state);
    bed_quick(&b);
    bed_open(&b);
    assert_int_equal(bed_add(&b, 5), AP_HAL_INVALID);
    assert_int_equal(bed_add(&b, 64), AP_HAL_INVALID);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    assert_int_equal(ap__collector_stop(b.c), 0);
    assert_true(ap__collector_device(b.c, 0, &a));
    assert_int_equal(a.start_rc, AP_HAL_INVALID);
    assert_int_equal(scratch_size(b.dir.prof_fd, "device_5"), -1);
    bed_end(&b);
}

/* The disk takes 1 MiB per file: counted, nothing torn. */
static void test_disk_full(void **state)
{
    bed b;
    uint8_t *data = bed_records(20000, 64, 0);
    struct rlimit before;
    struct rlimit small;
    ap__channel_account a;
    ap__device_account d;

    bed_make(&b, *state);
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1000001;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    fake_feed(b.f, 0, 50, data, 20000 * 64, false);
    assert_int_equal(ap__collector_stop(b.c), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    a = bed_channel(&b, 0, 50);
    assert_int_equal(a.stored_bytes, 1000000);
    assert_int_equal(a.lost_disk_bytes, 20000 * 64 - 1000000);
    assert_true(ap__collector_device(b.c, 0, &d));
    assert_int_equal(d.disk_errno, EFBIG);
    bed_assert_file(&b, 0, "stars_soc.data", data, 1000000);
    free(data);
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_comes, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_poll_storms, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_start_hangs, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_channel_hangs, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_tick_hangs, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_other_device_is_spared, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_device_lost, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_device_lost_at_stop, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_refused_channels, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_unknown_device, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_disk_full, scratch_setup, scratch_teardown),
    };

    signal(SIGXFSZ, SIG_IGN); /* of the test's own thread */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
