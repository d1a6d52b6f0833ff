/* SPDX-License-Identifier: Apache-2.0 */
/* Random devices, faults, data and moments of stop, with a watchdog. ACLPROF_TEST_ROUNDS,
 * ACLPROF_TEST_SEED and ACLPROF_TEST_FIRST choose how many and which. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <signal.h>

#include "collector_fixture.h"

#define ROUND_MS 8000u /* nothing may take so long */

static uint64_t random_state;

static uint32_t rnd(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % below);
}

static _Atomic uint64_t round_began;
static _Atomic bool watching;

static void *watchdog(void *arg)
{
    (void)arg;
    while (atomic_load(&watching)) {
        uint64_t began = atomic_load(&round_began);
        uint64_t now = fake_ms();

        if (began != 0 && now > began && now - began > ROUND_MS) {
            static const char text[] = "a round hangs\n";

            (void)!write(2, text, sizeof(text) - 1);
            abort();
        }
        usleep(50000);
    }
    return NULL;
}

typedef struct feeder {
    fake *f;
    uint32_t devices;
    uint64_t seed;
    size_t fed[FAKE_DEVICES][2];
    uint8_t *data[2]; /* of channels 50 and 53 */
    size_t most[2];
} feeder;

static void *feed(void *arg)
{
    feeder *e = arg;

    for (unsigned i = 0; i < 60; i++) {
        e->seed = e->seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t r = (uint32_t)(e->seed >> 33);
        uint32_t d = r % e->devices;
        unsigned k = r / 16 % 2;
        size_t bytes = r / 32 % 70000;

        if (e->fed[d][k] + bytes <= e->most[k]) {
            fake_feed(e->f, d, k == 0 ? 50 : 53, e->data[k] + e->fed[d][k], bytes, r % 7 == 0);
            e->fed[d][k] += bytes;
        }
        usleep(r % 300);
    }
    return NULL;
}

/* true: some call may never answer */
static bool script_channel(fake_channel *ch)
{
    static const int starts[] = {AP_HAL_BUSY,        AP_HAL_TAKEN,   AP_HAL_NO_CONTEXT,
                                 AP_HAL_UNSUPPORTED, AP_HAL_TIMEOUT, AP_HAL_IO};
    static const unsigned hangs[] = {FAKE_HANG_START, FAKE_HANG_STOP, FAKE_HANG_READ,
                                     FAKE_HANG_FLUSH};

    switch (rnd(14)) {
    case 0:
        ch->short_read = 1 + rnd(200);
        return false;
    case 1:
        ch->read_errors = rnd(10);
        return false;
    case 2:
        ch->read_zeros = rnd(10);
        return false;
    case 3:
        ch->start_rc = starts[rnd(6)];
        ch->start_rc_times = rnd(3);
        return false;
    case 4:
        ch->stop_ms = rnd(100);
        return false;
    case 5:
        ch->stop_rc = AP_HAL_LOSS;
        return false;
    case 6:
        ch->flush_rc = AP_HAL_UNSUPPORTED;
        return false;
    case 7:
        ch->flush_more = rnd(100000);
        return false;
    case 8:
        ch->hang = hangs[rnd(4)];
        return true;
    default:
        return false;
    }
}

static bool script(fake *f, uint32_t devices)
{
    static const uint32_t channels[] = {44, 50, 53, 132, 3, 9};
    static const unsigned hangs[] = {FAKE_HANG_STATUS, FAKE_HANG_CHANNELS, FAKE_HANG_CLOCK};
    bool hang = false;

    for (uint32_t d = 0; d < devices; d++) {
        fake_offer(f, d, 5, channels, 3 + rnd(4));
        for (unsigned k = 0; k < 6; k++) {
            hang = script_channel(fake_ch(f, d, channels[k])) || hang;
        }
        if (rnd(12) == 0) {
            f->devices[d].hang = hangs[rnd(3)];
            hang = true;
        }
    }
    f->poll_mode = rnd(3) == 0 ? (int)rnd(5) : FAKE_POLL_GOOD;
    return hang;
}

static void check(bed *b, const feeder *e)
{
    ap__channel_account a;
    ap__device_account d;

    for (uint32_t i = 0; ap__collector_device(b->c, i, &d); i++) {
        for (uint32_t k = 0; ap__collector_channel(b->c, i, k, &a); k++) {
            fake_channel *ch = fake_ch(b->f, d.device, a.channel);

            assert_int_equal(a.read_bytes, a.stored_bytes + a.dropped_bytes + a.lost_disk_bytes +
                                               a.torn_bytes + a.tail_bytes);
            assert_int_equal(a.gaps + a.torn_bytes + a.bad_magic + a.lost_disk_bytes, 0);
            if (ch->hang == 0 && a.state == AP_CHANNEL_STOPPED && !d.lost && d.stuck == 0) {
                assert_int_equal(a.read_bytes, ch->at);
            }
            if ((a.channel == 50 || a.channel == 53) && a.dropped_bytes == 0) {
                bed_assert_file(b, d.device,
                                a.channel == 50 ? "stars_soc.data" : "ffts_profile.data",
                                e->data[a.channel == 53], a.stored_bytes);
            }
        }
    }
}

static void one_round(scratch *s, unsigned round)
{
    bed b;
    feeder e;
    pthread_t id;
    uint32_t devices = 1 + rnd(4);
    uint32_t ids[4] = {0, 1, 2, 3};
    uint32_t stuck = 0;
    bool hang = false; /* some call may take longer than Stop waits */
    uint64_t began = 0;
    char name[64];
    scratch sub = *s;

    snprintf(name, sizeof(name), "%u", round);
    assert_int_equal(mkdirat(s->fd, name, 0700), 0);
    snprintf(sub.path + strlen(sub.path), sizeof(sub.path) - strlen(sub.path), "/%u", round);
    bed_make(&b, &sub);
    b.params.limits = (ap__collector_limits){.start_ms = 100 + rnd(200),
                                             .flush_ms = 20 + rnd(80),
                                             .stop_ms = 150 + rnd(100),
                                             .total_stop_ms = 700,
                                             .tick_ms = 5 + rnd(30),
                                             .sweep_ms = 10 + rnd(60),
                                             .queue_bytes = rnd(4) == 0 ? 20000 : 0};
    b.settings.interconnection_hz = 50;
    b.f->devices[0].there = true;
    b.f->drain_ms = 100;
    hang = script(b.f, devices);
    if (!hang) { /* nothing need be left behind, however busy the machine is */
        b.params.limits.total_stop_ms = 4000;
    }
    memset(&e, 0, sizeof(e));
    e.f = b.f;
    e.devices = devices;
    e.seed = random_state;
    e.most[0] = 20000 * 64;
    e.most[1] = 8000 * 128;
    e.data[0] = bed_records(20000, 64, 0);
    e.data[1] = bed_records(8000, 128, 7);
    bed_open(&b);
    if (rnd(8) != 0) {
        (void)ap__collector_add_devices(b.c, ids, 1 + rnd(devices));
    }
    assert_int_equal(pthread_create(&id, NULL, feed, &e), 0);
    usleep(rnd(12000));
    if (rnd(3) == 0) {
        (void)ap__collector_add_devices(b.c, ids, devices);
    }
    if (rnd(6) == 0) {
        pthread_mutex_lock(&b.f->lock);
        b.f->devices[rnd(devices)].lost = true;
        hang = true;
        pthread_mutex_unlock(&b.f->lock);
    }
    if (rnd(4) == 0) {
        (void)ap__collector_remove_devices(b.c, ids, 1 + rnd(devices));
    }
    usleep(rnd(8000));
    began = fake_ms();
    stuck = ap__collector_stop(b.c);
    assert_true(fake_ms() - began < 5500);
    assert_true(stuck == 0 || hang);
    pthread_join(id, NULL);
    check(&b, &e);
    bed_end(&b);
    free(e.data[0]);
    free(e.data[1]);
}

static unsigned number_of(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);

    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static void test_rounds(void **state)
{
    unsigned rounds = number_of("ACLPROF_TEST_ROUNDS", 25);
    unsigned seed = number_of("ACLPROF_TEST_SEED", 1);
    unsigned first = number_of("ACLPROF_TEST_FIRST", 0);
    pthread_t id;

    atomic_store(&watching, true);
    assert_int_equal(pthread_create(&id, NULL, watchdog, NULL), 0);
    for (unsigned i = first; i < first + rounds; i++) {
        random_state = (uint64_t)seed << 32 | i;
        (void)rnd(2);
        (void)rnd(2);
        atomic_store(&round_began, fake_ms());
        print_message("round %u of seed %u\n", i, seed);
        one_round(*state, i);
    }
    atomic_store(&watching, false);
    pthread_join(id, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rounds, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
