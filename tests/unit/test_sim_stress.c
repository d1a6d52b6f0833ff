/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and stops at random while devices record and a poller reads: no hang, no torn stream. */
#include "sim_run.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "drivers/sim/random.h"

#define ITERATIONS 500u
#define DEVICES 2u
#define SECONDS 45

static atomic_bool ended;
static atomic_ulong records;
static atomic_ulong bad;
static atomic_ulong seed;

static void *watchdog(void *argument)
{
    struct timespec ms = {0, 10000000};

    (void)argument;
    for (unsigned i = 0; i < SECONDS * 100 && !atomic_load(&ended); i++) {
        (void)nanosleep(&ms, NULL);
    }
    if (!atomic_load(&ended)) {
        (void)fprintf(stderr, "hangs\n");
        abort();
    }
    return NULL;
}

typedef struct reader {
    void *context;
    atomic_bool over;
} reader;

/* Reads what poll names until it is empty. */
static void *poll_and_read(void *argument)
{
    struct timespec moment = {0, 200000};
    reader *r = argument;
    static unsigned char buffer[1 << 18];

    while (!atomic_load(&r->over)) {
        ap__hal_event events[8];
        int n = ap__hal_sim.poll(r->context, events, 8, 1000);

        if (n == -AP_HAL_STOPPED) {
            (void)nanosleep(&moment, NULL);
        }
        for (int i = 0; i < n; i++) {
            int got = 0;

            while ((got = ap__hal_sim.read(r->context, events[i].device, events[i].channel, buffer,
                                           sizeof(buffer))) > 0) {
                if (events[i].channel == 50) {
                    atomic_fetch_add(&bad, (unsigned long)(got % 64 != 0));
                    atomic_fetch_add(&records, (unsigned long)got / 64);
                }
            }
        }
    }
    return NULL;
}

static const uint32_t channels[] = {44, 50, 53, 8, 130};

static sim_config config(uint32_t channel)
{
    switch (channel) {
    case 44:
        return CONFIG_TRACK(0);
    case 50:
        return CONFIG_ACSQ;
    case 53:
        return config_counters(8, 3, 1, 0);
    case 8:
        return config_of(2, 10, 1);
    default:
        return config_of(4, 10, 0, 0, 0);
    }
}

/* Starts or stops whatever channel comes; only the codes of a race may come back. */
static void *start_and_stop(void *argument)
{
    reader *r = argument;
    uint64_t random = atomic_fetch_add(&seed, 1);

    for (unsigned i = 0; i < 150; i++) {
        uint32_t k = ap__sim_random_below(&random, 5);
        sim_config c = config(channels[k]);
        ap__hal_start start = {
            .period_ms = k > 2 ? 10 : 0, .config = c.data, .config_bytes = c.bytes};
        int rc = i % 2 == 0 ? ap__hal_sim.start(r->context, 0, channels[k], &start)
                            : ap__hal_sim.stop(r->context, 0, channels[k]);

        atomic_fetch_add(&bad, (unsigned long)(rc != AP_HAL_OK && rc != AP_HAL_BUSY));
    }
    return NULL;
}

static void test_threads_race_for_channels(void **state)
{
    reader r = {.context = NULL};
    sim_config c = CONFIG_ACSQ;
    ap__hal_start start = {.config = c.data, .config_bytes = c.bytes};
    struct timespec pause = {0, 50000000};
    pthread_t threads[3];
    pthread_t poller;

    (void)state;
    atomic_store(&bad, 0);
    assert_int_equal(ap__hal_sim.open(&r.context, "pattern=flood,rate=2000,delay_ms=0,batch_ms=2,"
                                                  "mode=block"),
                     0);
    assert_int_equal(pthread_create(&poller, NULL, poll_and_read, &r), 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, start_and_stop, &r), 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    for (unsigned k = 0; k < 5; k++) {
        (void)ap__hal_sim.stop(r.context, 0, channels[k]);
    }
    /* everything still works */
    atomic_store(&records, 0);
    assert_int_equal(ap__hal_sim.start(r.context, 0, 50, &start), 0);
    (void)nanosleep(&pause, NULL);
    assert_int_equal(ap__hal_sim.stop(r.context, 0, 50), 0);
    atomic_store(&r.over, true);
    assert_int_equal(pthread_join(poller, NULL), 0);
    ap__hal_sim.close(r.context);
    assert_true(atomic_load(&records) > 200);
    assert_int_equal(atomic_load(&bad), 0);
}

static void test_random_starts_and_stops(void **state)
{
    reader r = {.context = NULL};
    bool running[DEVICES][5] = {{false}};
    uint64_t random = 11;
    pthread_t thread;

    (void)state;
    assert_int_equal(ap__hal_sim.open(&r.context, "devices=2,pattern=flood,rate=2000,delay_ms=0,"
                                                  "batch_ms=2,mode=block,seed=5"),
                     0);
    assert_int_equal(pthread_create(&thread, NULL, poll_and_read, &r), 0);
    for (unsigned i = 0; i < ITERATIONS; i++) {
        uint32_t d = ap__sim_random_below(&random, DEVICES);
        uint32_t k = ap__sim_random_below(&random, 5);
        struct timespec pause = {0, (long)ap__sim_random_below(&random, 4000000)};
        sim_config c = config(channels[k]);
        ap__hal_start start = {
            .period_ms = k > 2 ? 10 : 0, .config = c.data, .config_bytes = c.bytes};

        if (running[d][k]) {
            assert_int_equal(ap__hal_sim.start(r.context, d, channels[k], &start), AP_HAL_BUSY);
            assert_int_equal(ap__hal_sim.stop(r.context, d, channels[k]), 0);
        } else {
            assert_int_equal(ap__hal_sim.stop(r.context, d, channels[k]), AP_HAL_BUSY);
            assert_int_equal(ap__hal_sim.start(r.context, d, channels[k], &start), 0);
        }
        running[d][k] = !running[d][k];
        (void)nanosleep(&pause, NULL);
    }
    for (uint32_t d = 0; d < DEVICES; d++) {
        for (uint32_t k = 0; k < 5; k++) {
            if (running[d][k]) {
                assert_int_equal(ap__hal_sim.stop(r.context, d, channels[k]), 0);
            }
        }
    }
    atomic_store(&r.over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    ap__hal_sim.close(r.context);
    assert_true(atomic_load(&records) > 1000);
    assert_int_equal(atomic_load(&bad), 0);
}

static pthread_t dog;

static int setup(void **state)
{
    (void)state;
    return pthread_create(&dog, NULL, watchdog, NULL);
}

static int teardown(void **state)
{
    (void)state;
    atomic_store(&ended, true);
    return pthread_join(dog, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_starts_and_stops),
        cmocka_unit_test(test_threads_race_for_channels),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
