/* SPDX-License-Identifier: Apache-2.0 */
/* Every fault of the list, seen from outside. */
#include "sim_run.h"

#include <pthread.h>
#include <time.h>

static uint64_t ms_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static int start_rc(sim_run *run, uint32_t channel, sim_config c)
{
    ap__hal_start start = {.config = c.data, .config_bytes = c.bytes};

    return ap__sim_start(run->sim, 0, channel, &start);
}

static void test_start(void **state)
{
    static const int codes[] = {30, -10, -11, 115, 7};
    uint64_t begin = 0;
    sim_run run;

    (void)state;
    for (unsigned i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        char options[80];

        (void)snprintf(options, sizeof(options), "fault=start_rc:chan=50:v=%d:n=2", codes[i]);
        run_open(&run, options);
        assert_int_equal(start_rc(&run, 44, CONFIG_TRACK(0)), 0);
        assert_int_equal(start_rc(&run, 50, CONFIG_ACSQ), codes[i]);
        assert_int_equal(start_rc(&run, 50, CONFIG_ACSQ), codes[i]);
        assert_int_equal(start_rc(&run, 50, CONFIG_ACSQ), 0); /* as before: it may be tried again */
        assert_int_equal(ap__sim_stop(run.sim, 0, 50), 0);
        assert_int_equal(ap__sim_stop(run.sim, 0, 44), 0);
        run_close(&run);
    }
    run_open(&run, "fault=start_slow:ms=100");
    begin = ms_now();
    assert_int_equal(start_rc(&run, 50, CONFIG_ACSQ), 0);
    assert_true(ms_now() - begin >= 95);
    assert_int_equal(ap__sim_stop(run.sim, 0, 50), 0);
    run_close(&run);
}

static void test_read(void **state)
{
    unsigned char bytes[256];
    sim_run run;

    (void)state;
    memset(bytes, 1, sizeof(bytes));
    run_open(&run, "fault=read_error:at=1:n=1;early_stop:at=1:n=1;empty_read:at=1:n=1;"
                   "short_read:at=1:n=1:v=5");
    assert_int_equal(start_rc(&run, 50, CONFIG_ACSQ), 0);
    assert_int_equal(ap__sim_report(run.sim, 0, 50, bytes, 200), 0);
    assert_int_equal(ap__sim_read(run.sim, 0, 50, bytes, 256), -1);
    assert_int_equal(ap__sim_read(run.sim, 0, 50, bytes, 256), -4);
    assert_int_equal(ap__sim_read(run.sim, 0, 50, bytes, 256), 0);
    assert_int_equal(ap__sim_read(run.sim, 0, 50, bytes, 256), 5);
    assert_int_equal(ap__sim_read(run.sim, 0, 50, bytes, 256), 195);
    assert_int_equal(ap__sim_stop(run.sim, 0, 50), 0);
    run_close(&run);
}

static void test_poll(void **state)
{
    ap__hal_event events[4];
    unsigned char bytes[64] = {0};
    uint64_t begin = ms_now();
    sim_run run;

    (void)state;
    run_open(&run, "fault=poll_error:n=1;poll_storm:n=3;hang:chan=50;stale_poll:at=2:n=1:chan=9");
    assert_int_equal(start_rc(&run, 50, CONFIG_ACSQ), 0);
    assert_int_equal(start_rc(&run, 44, CONFIG_TRACK(0)), 0);
    assert_int_equal(ap__sim_report(run.sim, 0, 50, bytes, 64), 0);
    assert_int_equal(ap__sim_report(run.sim, 0, 44, bytes, 40), 0);
    assert_int_equal(ap__sim_poll(run.sim, events, 4, 1), -1);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(ap__sim_poll(run.sim, events, 4, 1), 0);
    }
    assert_true(ms_now() - begin < 500);
    assert_int_equal(ap__sim_poll(run.sim, events, 4, 1), 1); /* 50 is never named */
    assert_int_equal(events[0].channel, 44);
    assert_int_equal(ap__sim_report(run.sim, 0, 44, bytes, 40), 0);
    assert_int_equal(ap__sim_poll(run.sim, events, 4, 1), 2);
    assert_int_equal(events[1].channel, 9);
    assert_int_equal(ap__sim_read(run.sim, 0, 9, bytes, 64), -4);
    assert_int_equal(ap__sim_read(run.sim, 0, 50, bytes, 64), 64);
    while (ap__sim_read(run.sim, 0, 44, bytes, 64) > 0) {
    }
    assert_int_equal(ap__sim_stop(run.sim, 0, 50), 0);
    assert_int_equal(ap__sim_stop(run.sim, 0, 44), 0);
    run_close(&run);
}

static void test_flush(void **state)
{
    unsigned char bytes[64] = {0};
    uint32_t pending = 0;
    sim_run run;

    (void)state;
    run_open(&run, "fault=flush_rc:n=1;flush_len:at=1:n=1:v=1000;flush_len:at=1:n=1:v=-32");
    assert_int_equal(start_rc(&run, 50, CONFIG_ACSQ), 0);
    assert_int_equal(ap__sim_report(run.sim, 0, 50, bytes, 64), 0);
    assert_int_equal(ap__sim_flush(run.sim, 0, 50, &pending), 0xfffe);
    assert_int_equal(ap__sim_flush(run.sim, 0, 50, &pending), 0);
    assert_int_equal(pending, 1064);
    assert_int_equal(ap__sim_flush(run.sim, 0, 50, &pending), 0);
    assert_int_equal(pending, 32);
    assert_int_equal(ap__sim_read(run.sim, 0, 50, bytes, 64), 64);
    assert_int_equal(ap__sim_stop(run.sim, 0, 50), 0);
    run_close(&run);
}

static void *stop_50(void *argument)
{
    sim_run *run = argument;

    return (void *)(intptr_t)ap__sim_stop(run->sim, 0, 50);
}

static void test_stop(void **state)
{
    struct timespec moment = {0, 50000000};
    uint64_t begin = 0;
    pthread_t thread;
    void *rc = NULL;
    sim_run run;

    (void)state;
    run_open(&run, "speed=10,fault=stop_slow:ms=1200:n=1;stop_rc:at=2");
    assert_int_equal(start_rc(&run, 50, CONFIG_ACSQ), 0);
    begin = ms_now();
    assert_int_equal(ap__sim_stop(run.sim, 0, 50), 0);
    assert_true(ms_now() - begin >= 115 && ms_now() - begin < 600);
    assert_int_equal(start_rc(&run, 50, CONFIG_ACSQ), 0);
    assert_int_equal(ap__sim_stop(run.sim, 0, 50), 0x916);
    assert_int_equal(start_rc(&run, 50, CONFIG_ACSQ), 0); /* it had stopped */
    run_close(&run);

    /* for ever, that is until the simulator goes */
    run_open(&run, "fault=stop_slow:ms=-1");
    assert_int_equal(start_rc(&run, 50, CONFIG_ACSQ), 0);
    assert_int_equal(pthread_create(&thread, NULL, stop_50, &run), 0);
    (void)nanosleep(&moment, NULL);
    assert_int_equal(start_rc(&run, 50, CONFIG_ACSQ), 30);
    ap__sim_destroy(run.sim);
    assert_int_equal(pthread_join(thread, &rc), 0);
    assert_int_equal((intptr_t)rc, 0);
    (void)unlink(run.truth);
}

/* What check_records finds in channel 50. */
typedef struct found {
    unsigned records;
    unsigned gaps; /* sum of the numbers left out, modulo 16 each */
    unsigned magic;
    unsigned func;
} found;

static found look(const sim_run *run)
{
    found f = {0};
    unsigned next = 0;

    for (size_t i = 0; i + 64 <= run->bytes[50]; i += 64, f.records++) {
        unsigned head = at16(run->data[50], i);
        unsigned number = head >> 6 & 15;

        f.magic += at16(run->data[50], i + 2) != 0x6bd3;
        f.func += (head & 0x3f) > 1;
        f.gaps += (number - next) & 15;
        next = (number + 1) & 15;
    }
    return f;
}

static found spoilt(const char *fault, size_t *bytes)
{
    char options[200];
    sim_run run;
    found f;

    (void)snprintf(options, sizeof(options), "pattern=streams,streams=1,tasks=50,fault=%s", fault);
    run_open(&run, options);
    run_start(&run, 50, 0, CONFIG_ACSQ);
    run_step(&run, 40);
    run_stop(&run);
    f = look(&run);
    *bytes = run.bytes[50];
    run_close(&run);
    return f;
}

static void test_records(void **state)
{
    size_t bytes = 0;
    found f = spoilt("", &bytes);

    (void)state;
    assert_int_equal(f.records, 100);
    assert_int_equal(f.gaps + f.magic + f.func, 0);
    f = spoilt("cnt_gap:at=10:n=1", &bytes);
    assert_true(f.gaps == 1 && f.records == 100);
    f = spoilt("cnt_gap:at=10:n=2:v=15", &bytes);
    assert_int_equal(f.gaps, 30);
    f = spoilt("cnt_gap:at=10:n=1:v=16", &bytes);
    assert_int_equal(f.gaps, 0); /* cannot be seen in the number */
    f = spoilt("bad_magic:at=3:n=2", &bytes);
    assert_true(f.magic == 2 && f.gaps == 0);
    f = spoilt("bad_func:at=3:n=4", &bytes);
    assert_true(f.func == 4 && f.gaps == 0);
    f = spoilt("duplicate:at=5:n=1", &bytes);
    assert_true(f.records == 101 && f.gaps == 15);
    f = spoilt("torn:at=100:n=1:v=10", &bytes);
    assert_true(f.records == 99 && bytes == 100 * 64 - 10);
    f = spoilt("bad_magic:p=0.5", &bytes);
    assert_in_range(f.magic, 25, 75);
    f = spoilt("bad_magic:chan=53", &bytes);
    assert_int_equal(f.magic, 0);
    f = spoilt("bad_magic:from_ms=10000", &bytes);
    assert_int_equal(f.magic, 0);
    f = spoilt("bad_magic:dev=1", &bytes);
    assert_int_equal(f.magic, 0);
}

static void test_clock_step(void **state)
{
    uint64_t now = 0;
    sim_run run;

    (void)state;
    run_open(&run, "ppm=0,fault=clock_step:from_ms=10:v=5000000");
    now = ap__sim_now(run.sim);
    assert_true(ap__sim_cycles_at(run.sim, 0, now + 10000000) -
                    ap__sim_cycles_at(run.sim, 0, now + 9999980) ==
                5000001);
    run_close(&run);
}

static void test_lost_device(void **state)
{
    ap__hal_channels list;
    uint64_t begin = 0;
    int64_t value = 0;
    sim_run run;

    (void)state;
    run_open(&run, "devices=2,speed=200,pattern=streams,fault=lost:from_ms=30:dev=0");
    run_start(&run, 50, 0, CONFIG_ACSQ);
    assert_int_equal(ap__sim_state(run.sim, 0), 0);
    run_step(&run, 40);
    assert_int_equal(ap__sim_state(run.sim, 0), 4);
    assert_int_equal(ap__sim_state(run.sim, 1), 0);
    begin = ms_now();
    assert_int_equal(start_rc(&run, 44, CONFIG_TRACK(0)), 16);
    assert_true(ms_now() - begin >= 45 && ms_now() - begin < 1000); /* 10 s at speed 200 */
    assert_int_equal(ap__sim_channels(run.sim, 0, &list), 16);
    assert_int_equal(ap__sim_channels(run.sim, 1, &list), 0);
    assert_int_equal(ap__sim_info(run.sim, 0, 4, 3, &value), 16);
    run_read(&run);
    assert_int_equal(ap__sim_read(run.sim, 0, 50, &value, 8), 0);
    assert_int_equal(ap__sim_stop(run.sim, 0, 50), 16);
    assert_int_equal(ap__sim_read(run.sim, 0, 50, &value, 8), -4);
    run_close(&run);
}

static void test_lists_and_infos(void **state)
{
    ap__hal_channels list;
    int64_t value = 0;
    sim_run run;

    (void)state;
    run_open(&run, "fault=list_miss:chan=53;info_rc:chan=25");
    assert_int_equal(ap__sim_channels(run.sim, 0, &list), 0);
    assert_true(ap__hal_has(&list, 50) && !ap__hal_has(&list, 53));
    assert_int_equal(ap__sim_info(run.sim, 0, 0, 25, &value), 0xfffe);
    assert_int_equal(ap__sim_info(run.sim, 0, 4, 3, &value), 0);
    run_close(&run);
}

/* What happens when nobody reads: the three kinds of full rings. */
static void test_full_ring(void **state)
{
    static const char *const modes[] = {"driver", "drop", "block"};
    ap__sim_counts counts;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        char options[100];
        size_t seen = 0;
        sim_run run;
        found f;

        (void)snprintf(options, sizeof(options), "mode=%s,pattern=flood,rate=100000,disorder=0",
                       modes[i]);
        run_open(&run, options);
        run_start(&run, 50, 0, CONFIG_ACSQ);
        for (unsigned k = 0; k < 100; k++) {
            ap__sim_step(run.sim, 1000000);
        }
        ap__sim_count(run.sim, 0, 50, &counts);
        assert_true(counts.records * 64 > 8000000);
        run_stop(&run);
        ap__sim_count(run.sim, 0, 50, &counts);
        f = look(&run);
        seen = run.bytes[50];
        if (i == 0) { /* no mark of the loss but its size, and the numbers at the seams */
            assert_true(counts.overrun > 4000000 && counts.dropped == 0);
            assert_true(seen < 4190208);
            assert_int_equal(seen + counts.overrun, counts.bytes);
        } else if (i == 1) { /* whole records */
            assert_int_equal(seen % 64, 0);
            assert_int_equal(f.magic, 0);
            assert_true(counts.dropped > 60000 && counts.overrun == 0);
            assert_int_equal(f.records + counts.dropped, counts.records);
        } else {
            assert_int_equal(f.records, counts.records);
            assert_int_equal(f.gaps + f.magic, 0);
        }
        run_close(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_poll),
        cmocka_unit_test(test_flush),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_clock_step),
        cmocka_unit_test(test_lost_device),
        cmocka_unit_test(test_lists_and_infos),
        cmocka_unit_test(test_full_ring),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
