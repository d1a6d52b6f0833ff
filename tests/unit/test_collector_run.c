/* SPDX-License-Identifier: Apache-2.0 */
/* The collector with a driver that behaves. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <sys/wait.h>

#include "collector_fixture.h"

#define CHUNK (1024u * 1024u / 64u) /* records in the largest read */

/* `count` records and `extra` bytes of another, in one feed, or byte-wise odd pieces. */
static void run_records(scratch *s, size_t count, size_t extra, bool held, size_t piece)
{
    bed b;
    uint8_t *data = bed_records(count + 1, 64, 3);
    size_t bytes = count * 64 + extra;
    ap__channel_account a;

    bed_make(&b, s);
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    for (size_t at = 0; at < bytes; at += piece) {
        fake_feed(b.f, 0, 50, data + at, bytes - at < piece ? bytes - at : piece, held);
    }
    assert_int_equal(ap__collector_stop(b.c), 0);
    a = bed_channel(&b, 0, 50);
    assert_int_equal(a.read_bytes, bytes);
    assert_int_equal(a.stored_bytes, count * 64);
    assert_int_equal(a.records, count);
    assert_int_equal(a.tail_bytes, extra);
    assert_int_equal(a.gaps + a.missing + a.bad_magic + a.torn_bytes + a.dropped_bytes, 0);
    assert_int_equal(a.state, AP_CHANNEL_STOPPED);
    bed_assert_file(&b, 0, "stars_soc.data", data, count * 64);
    if (extra != 0) {
        assert_int_equal(scratch_size(b.dir.ext_fd, "device_0.channel_50.tail"), extra);
    } else {
        assert_int_equal(scratch_size(b.dir.ext_fd, "device_0.channel_50.tail"), -1);
    }
    free(data);
    bed_end(&b);
}

static void test_record_counts(void **state)
{
    static const size_t counts[] = {0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7};

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        run_records(*state, counts[i], 0, false, (size_t)1 << 30);
        run_records(*state, counts[i], 37, false, (size_t)1 << 30);
        run_records(*state, counts[i], 0, true, (size_t)1 << 30); /* only a flush brings them */
    }
    run_records(*state, 5000, 63, false, 1021);
    run_records(*state, 5000, 1, true, 65537);
}

static void test_more_than_a_turn(void **state)
{
    run_records(*state, 10 * CHUNK + 11, 5, false, (size_t)1 << 30);
}

/* A stop between two reads, with data coming while stop waits. */
static void *late_feeder(void *arg)
{
    bed *b = arg;
    uint8_t *data = bed_records(100, 64, 0);

    for (size_t i = 0; i < 100; i++) {
        fake_feed(b->f, 0, 50, data + i * 64, 64, i % 3 == 0);
        usleep(200);
    }
    free(data);
    return NULL;
}

static void test_stop_between_reads(void **state)
{
    bed b;
    pthread_t id;
    uint8_t *data = bed_records(100, 64, 0);
    ap__channel_account a;
    fake_channel *ch = NULL;

    bed_make(&b, *state);
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    assert_int_equal(pthread_create(&id, NULL, late_feeder, &b), 0);
    usleep(5000);
    assert_int_equal(ap__collector_stop(b.c), 0);
    pthread_join(id, NULL);
    a = bed_channel(&b, 0, 50);
    ch = fake_ch(b.f, 0, 50);
    assert_int_equal(a.stored_bytes, ch->at); /* all that the driver had when it stopped */
    assert_true(a.stored_bytes >= 64);
    bed_assert_file(&b, 0, "stars_soc.data", data, a.stored_bytes);
    free(data);
    bed_end(&b);
}

static void test_order(void **state)
{
    static const uint32_t more[] = {1, 8, 130, 131, 142, 52, 132, 3, 9};
    bed b;
    uint32_t first[3];
    unsigned seen = 0;

    bed_make(&b, *state);
    fake_offer(b.f, 0, 5, more, 9);
    b.settings.hardware_mem_hz = 50;
    b.settings.interconnection_hz = 50;
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    assert_int_equal(ap__collector_stop(b.c), 0);
    assert_int_equal(b.f->log_count, 24); /* 12 channels */
    memcpy(first, b.f->log, sizeof(first));
    assert_int_equal(first[0], 44);
    assert_int_equal(first[1], 50);
    assert_int_equal(first[2], 53);
    for (unsigned i = 12; i < 21; i++) { /* the others first, in any order */
        assert_true((b.f->log[i] & 0x80000000u) != 0);
        seen += (b.f->log[i] & 0xFFFF) != 44 && (b.f->log[i] & 0xFFFF) != 50 &&
                (b.f->log[i] & 0xFFFF) != 53;
    }
    assert_int_equal(seen, 9);
    assert_int_equal(b.f->log[21] & 0xFFFF, 53);
    assert_int_equal(b.f->log[22] & 0xFFFF, 50);
    assert_int_equal(b.f->log[23] & 0xFFFF, 44);
    /* 5 to warm up and 5 rounds before the first channel, and one sample at the end */
    assert_true(b.f->devices[0].clocks >= 16);
    bed_end(&b);
}

static void test_clock_points(void **state)
{
    bed b;
    ap__device_point points[64];
    uint32_t n = 0;
    char *text = NULL;

    bed_make(&b, *state);
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    usleep(300000); /* ticks of 50 ms */
    assert_int_equal(ap__collector_stop(b.c), 0);
    n = ap__collector_points(b.c, 0, points, 64);
    assert_true(n >= 4);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(points[i].error_ns >= 998 && points[i].error_ns <= 1001);
        assert_true(points[i].device_cycles == points[i].device_ns / 20);
        assert_true(i == 0 || points[i].host_ns > points[i - 1].host_ns);
    }
    text = scratch_read(b.dir.ext_fd, "device_clock.0", NULL);
    assert_non_null(text);
    assert_int_equal(strtoull(text, NULL, 10), points[0].host_ns);
    free(text);
    text = scratch_read(b.dir.ext_fd, "devices.json", NULL);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"simulated\":true"));
    assert_non_null(strstr(text, "\"errorNs\":"));
    free(text);
    bed_end(&b);
}

/* The tightest round's values are in the start files. */
static void test_start_files(void **state)
{
    bed b;
    ap__device_point point;
    char expected[128];
    int fd = -1;

    bed_make(&b, *state);
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    assert_int_equal(ap__collector_points(b.c, 0, &point, 1), 1);
    fd = openat(b.dir.prof_fd, "device_0", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(expected, sizeof(expected),
             "[Device0]\nclock_monotonic_raw: %llu\ncntvct: %llu\ncntvct_diff: 0\n",
             (unsigned long long)point.host_ns, (unsigned long long)point.host_ns);
    scratch_assert_text(fd, "host_start.log.0", expected);
    snprintf(expected, sizeof(expected), "clock_monotonic_raw: %llu\ncntvct: %llu\n",
             (unsigned long long)point.device_ns, (unsigned long long)point.device_cycles);
    scratch_assert_text(fd, "dev_start.log.0", expected);
    assert_int_equal(point.error_ns, 999); /* of rounds 1000..996 apart: (1996)/2 + 1 */
    assert_int_equal(scratch_size(fd, "end_info.0"), -1);
    assert_int_equal(ap__collector_stop(b.c), 0);
    assert_true(scratch_size(fd, "end_info.0") > 0);
    assert_true(scratch_size(fd, "end_info.0.done") > 0);
    close(fd);
    bed_end(&b);
}

static void test_text_and_shared_file(void **state)
{
    static const uint32_t more[] = {9, 143, 144};
    static const char text[] = "timestamp txamount rxamount\n1: 2 3\n4: 5 6\n7: 8";
    bed b;
    uint8_t records[1024];

    memset(records, 0x5A, sizeof(records));
    bed_make(&b, *state);
    fake_offer(b.f, 0, 5, more, 3);
    b.settings.interconnection_hz = 10;
    b.meta.data_types |= ACL_PROF_AICPU;
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    assert_int_equal(fake_ch(b.f, 0, 9)->start.period_ms, 100);
    fake_feed(b.f, 0, 9, text, 30, false);
    bed_wait_read(&b, 0, 9, 30);
    fake_feed(b.f, 0, 9, text + 30, sizeof(text) - 1 - 30, false);
    fake_feed(b.f, 0, 143, records, 512, false);
    fake_feed(b.f, 0, 144, records, 256, false);
    assert_int_equal(ap__collector_stop(b.c), 0);
    bed_assert_file(&b, 0, "hccs.data", (const uint8_t *)text, sizeof(text) - 1 - 4);
    bed_assert_file(&b, 0, "aicpu.data", records, 768);
    assert_int_equal(bed_channel(&b, 0, 9).tail_bytes, 4);
    assert_int_equal(bed_channel(&b, 0, 9).records, 3);
    bed_end(&b);
}

static void on_names(void *context, uint32_t device, const char *text, size_t bytes)
{
    char *out = context;

    assert_int_equal(device, 0);
    assert_true(strlen(out) + bytes < 256);
    strncat(out, text, bytes);
}

/* Names of operators follow the records, behind a mark that may come in pieces. */
static void test_operator_names(void **state)
{
    static const uint32_t more[] = {143};
    static const char text[] = "###drv_hashdata###TopK,Cast,Unique";
    uint8_t data[512 + sizeof(text)];
    size_t bytes = sizeof(data) - 1;

    memset(data, 0x5A, 512);
    memcpy(data + 512, text, sizeof(text));
    for (size_t piece = 1; piece <= bytes; piece += piece < 30 ? 7 : 130) {
        char names[256] = "";
        bed b;
        ap__channel_account a;

        bed_make(&b, *state);
        fake_offer(b.f, 0, 5, more, 1);
        fake_ch(b.f, 0, 143)->short_read = (uint32_t)piece;
        b.meta.data_types |= ACL_PROF_AICPU;
        b.params.on_names = on_names;
        b.params.on_names_context = names;
        bed_open(&b);
        assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
        fake_feed(b.f, 0, 143, data, bytes, false);
        assert_int_equal(ap__collector_stop(b.c), 0);
        assert_string_equal(names, "TopK,Cast,Unique");
        bed_assert_file(&b, 0, "aicpu.data", data, 512);
        a = bed_channel(&b, 0, 143);
        assert_int_equal(a.read_bytes, a.stored_bytes + a.names_bytes);
        assert_int_equal(a.tail_bytes, 0);
        bed_end(&b);
    }
}

static void test_gaps_are_counted(void **state)
{
    bed b;
    uint8_t *data = bed_records(64, 64, 0);
    uint8_t *kept = calloc(64, 64);
    ap__channel_account a;

    memcpy(kept, data, 10 * 64); /* 10..14 are missing */
    memcpy(kept + 10 * 64, data + 15 * 64, 49 * 64);
    bed_make(&b, *state);
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    fake_feed(b.f, 0, 50, kept, 59 * 64, false);
    assert_int_equal(ap__collector_stop(b.c), 0);
    a = bed_channel(&b, 0, 50);
    assert_int_equal(a.gaps, 1);
    assert_int_equal(a.missing, 5);
    assert_int_equal(a.records, 59);
    bed_assert_file(&b, 0, "stars_soc.data", kept, 59 * 64);
    free(kept);
    free(data);
    bed_end(&b);
}

static void test_queue_full_is_counted(void **state)
{
    bed b;
    uint8_t *data = bed_records(4096, 64, 0);
    ap__channel_account a;
    ap__collector_totals sum;

    bed_make(&b, *state);
    b.params.limits.queue_bytes = 1000 * 64; /* less than one read */
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    fake_feed(b.f, 0, 50, data, 4096 * 64, false);
    bed_wait_read(&b, 0, 50, 4096 * 64);
    fake_feed(b.f, 0, 50, data, 999 * 64, true);
    assert_int_equal(ap__collector_stop(b.c), 0);
    a = bed_channel(&b, 0, 50);
    assert_int_equal(a.dropped_records, 4096);
    assert_int_equal(a.dropped_bytes, 4096 * 64);
    assert_int_equal(a.read_bytes, a.stored_bytes + a.dropped_bytes);
    ap__collector_sum(b.c, &sum);
    assert_int_equal(sum.lost_records, 4096);
    bed_assert_file(&b, 0, "stars_soc.data", data, 999 * 64);
    free(data);
    bed_end(&b);
}

/* The device's half of 200 MB: oldest slices go, the newest stay whole. */
static void test_storage_limit(void **state)
{
    const size_t count = 100u * 1024u * 1024u / 64u;
    bed b;
    uint8_t *data = bed_records(count, 64, 0);
    ap__device_account d;
    ap__channel_account a;
    uint64_t stored = 0;
    unsigned first = 0;
    unsigned slices = 0;
    int fd = -1;

    bed_make(&b, *state);
    b.settings.storage_limit_mb = 200;
    b.params.limits.queue_bytes = (size_t)256 << 20;
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    fake_feed(b.f, 0, 50, data, count * 64, false);
    bed_wait_read(&b, 0, 50, count * 64);
    assert_int_equal(ap__collector_stop(b.c), 0);
    a = bed_channel(&b, 0, 50);
    assert_int_equal(a.stored_bytes, count * 64);
    assert_true(ap__collector_device(b.c, 0, &d));
    assert_true(d.aged_bytes >= (15u << 20) && d.aged_bytes <= (30u << 20));
    fd = bed_data_dir(&b, 0);
    for (unsigned k = 0; k < 50; k++) {
        char name[64];
        long long bytes = 0;

        snprintf(name, sizeof(name), "stars_soc.data.0.slice_%u", k);
        bytes = scratch_size(fd, name);
        if (bytes >= 0) {
            first = slices == 0 ? k : first;
            assert_int_equal(k, first + slices); /* no hole */
            slices++;
            stored += (uint64_t)bytes;
        }
    }
    close(fd);
    assert_int_equal(first + slices, 50);
    assert_true(first > 0);
    assert_true(stored <= (80u << 20) + (4u << 20));
    free(data);
    bed_end(&b);
}

static void test_several_devices(void **state)
{
    static const uint32_t channels[] = {44, 50, 53};
    static const uint32_t ids[] = {0, 1, 2, 3, 4, 5, 6, 7};
    bed b;
    uint8_t *data = bed_records(20000, 64, 0);
    uint8_t *pmu = bed_records(5000, 128, 9);

    bed_make(&b, *state);
    for (uint32_t d = 1; d < 8; d++) {
        fake_offer(b.f, d, 5, channels, 3);
    }
    bed_open(&b);
    assert_int_equal(ap__collector_add_devices(b.c, ids, 8), AP_HAL_OK);
    for (uint32_t d = 0; d < 8; d++) {
        fake_feed(b.f, d, 50, data, (20000 - d) * 64, d % 2 == 0);
        fake_feed(b.f, d, 53, pmu, (5000 - d) * 128, d % 3 == 0);
    }
    /* one leaves earlier than the others */
    assert_int_equal(ap__collector_remove_devices(b.c, ids + 3, 1), 0);
    bed_assert_file(&b, 3, "stars_soc.data", data, (20000 - 3) * 64);
    assert_int_equal(ap__collector_stop(b.c), 0);
    for (uint32_t d = 0; d < 8; d++) {
        bed_assert_file(&b, d, "stars_soc.data", data, (20000 - d) * 64);
        bed_assert_file(&b, d, "ffts_profile.data", pmu, (5000 - d) * 128);
        assert_int_equal(bed_channel(&b, d, 53).gaps, 0);
    }
    assert_int_equal(b.f->pollers_most, 1);
    free(pmu);
    free(data);
    bed_end(&b);
}

static void test_leave_and_join_again(void **state)
{
    static const uint32_t ids[] = {0, 1};
    static const uint32_t channels[] = {44, 50, 53};
    bed b;
    uint8_t *data = bed_records(80000, 64, 0);
    uint8_t *whole = NULL;
    char *text = NULL;
    uint64_t stored = 0;
    size_t first = 40000 * 64; /* more than a slice */
    size_t bytes = 0;
    char name[64];
    struct stat st;

    bed_make(&b, *state);
    fake_offer(b.f, 1, 5, channels, 3);
    bed_open(&b);
    assert_int_equal(ap__collector_add_devices(b.c, ids, 2), AP_HAL_OK);
    fake_feed(b.f, 0, 50, data, first, true);
    assert_int_equal(ap__collector_remove_devices(b.c, ids, 1), 0);
    assert_int_equal(fstatat(b.dir.prof_fd, "device_0/end_info.0", &st, 0), 0);
    assert_int_equal(ap__collector_add_devices(b.c, ids, 1), AP_HAL_OK);
    assert_int_equal(fstatat(b.dir.prof_fd, "device_0/end_info.0", &st, 0), -1);
    assert_int_equal(bed_channel(&b, 2, 50).state, AP_CHANNEL_RUNNING);
    fake_feed(b.f, 0, 50, data + first, 80000 * 64 - first, true);
    assert_int_equal(ap__collector_stop(b.c), 0);
    assert_int_equal(fstatat(b.dir.prof_fd, "device_0/end_info.0.done", &st, 0), 0);
    for (int slice = 0;; slice++) { /* in order, each with its .done */
        snprintf(name, sizeof(name), "device_0/data/stars_soc.data.0.slice_%d", slice);
        if (fstatat(b.dir.prof_fd, name, &st, 0) != 0) {
            break;
        }
        int fd = openat(b.dir.prof_fd, name, O_RDONLY | O_CLOEXEC);
        whole = realloc(whole, bytes + (size_t)st.st_size);
        assert_int_equal(read(fd, whole + bytes, (size_t)st.st_size), st.st_size);
        bytes += (size_t)st.st_size;
        close(fd);
        strcat(name, ".done");
        assert_int_equal(fstatat(b.dir.prof_fd, name, &st, 0), 0);
    }
    assert_int_equal(bytes, 80000 * 64);
    assert_memory_equal(whole, data, bytes);
    /* two periods, of which each tells its part */
    assert_int_equal(bed_channel(&b, 0, 50).stored_bytes, first);
    assert_int_equal(bed_channel(&b, 2, 50).stored_bytes, 80000 * 64 - first);
    assert_int_equal(bed_channel(&b, 0, 50).records + bed_channel(&b, 2, 50).records, 80000);
    text = scratch_read(b.dir.ext_fd, "devices.json", NULL);
    assert_non_null(text);
    for (const char *p = text; (p = strstr(p, "\"file\":\"stars_soc.data\"")) != NULL; p++) {
        stored += strtoull(strstr(p, "\"storedBytes\":") + 14, NULL, 10);
    }
    assert_int_equal(stored, 80000 * 64); /* device 1 has none */
    free(text);
    free(whole);
    free(data);
    bed_end(&b);
}

static void test_late_channel_and_device(void **state)
{
    static const uint32_t late[] = {143};
    bed b;
    uint8_t records[512];
    uint64_t until = 0;

    memset(records, 7, sizeof(records));
    bed_make(&b, *state);
    b.meta.data_types |= ACL_PROF_AICPU;
    fake_ch(b.f, 0, 50)->start_rc = AP_HAL_NO_CONTEXT;
    fake_ch(b.f, 0, 50)->start_rc_times = 2;
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    assert_int_equal(bed_channel(&b, 0, 143).state, AP_CHANNEL_IDLE);
    assert_int_equal(bed_channel(&b, 0, 50).state, AP_CHANNEL_WAITING);
    assert_int_equal(bed_channel(&b, 0, 50).start_rc, AP_HAL_NO_CONTEXT);
    pthread_mutex_lock(&b.f->lock);
    fake_offer(b.f, 0, 5, late, 1);
    pthread_mutex_unlock(&b.f->lock);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK); /* the program has set the device */
    until = fake_ms() + 5000;
    while ((bed_channel(&b, 0, 143).state != AP_CHANNEL_RUNNING ||
            bed_channel(&b, 0, 50).state != AP_CHANNEL_RUNNING) &&
           fake_ms() < until) {
        usleep(1000);
    }
    assert_int_equal(bed_channel(&b, 0, 143).state, AP_CHANNEL_RUNNING);
    assert_int_equal(bed_channel(&b, 0, 50).state, AP_CHANNEL_RUNNING);
    assert_int_equal(bed_channel(&b, 0, 50).start_rc, AP_HAL_OK);
    fake_feed(b.f, 0, 143, records, 512, false);
    assert_int_equal(ap__collector_stop(b.c), 0);
    bed_assert_file(&b, 0, "aicpu.data", records, 512);
    bed_end(&b);
}

static void test_nothing_to_do(void **state)
{
    bed b;
    ap__device_account d;

    bed_make(&b, *state);
    bed_open(&b);
    assert_false(ap__collector_device(b.c, 0, &d));
    assert_int_equal(ap__collector_stop(b.c), 0);
    assert_int_equal(scratch_size(b.dir.ext_fd, "devices.json"), -1);
    assert_int_equal(bed_add(&b, 0), AP_HAL_IO); /* after a stop */
    bed_end(&b);
}

static void test_fork_child(void **state)
{
    bed b;
    uint8_t *data = bed_records(100, 64, 0);
    pid_t child = 0;
    int status = 0;

    bed_make(&b, *state);
    bed_open(&b);
    assert_int_equal(bed_add(&b, 0), AP_HAL_OK);
    fake_feed(b.f, 0, 50, data, 50 * 64, false);
    bed_wait_read(&b, 0, 50, 50 * 64);
    usleep(20000);
    child = fork();
    if (child == 0) {
        ap__collector_abandon(b.c);
        /* of the bed are left: its five directories */
        _exit(scratch_open_fds() == b.fds + 5 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    fake_feed(b.f, 0, 50, data + 50 * 64, 50 * 64, false);
    assert_int_equal(ap__collector_stop(b.c), 0);
    bed_assert_file(&b, 0, "stars_soc.data", data, 100 * 64);
    free(data);
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_record_counts, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_more_than_a_turn, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_stop_between_reads, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_leave_and_join_again, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_order, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_clock_points, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_start_files, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_text_and_shared_file, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_operator_names, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_gaps_are_counted, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_queue_full_is_counted, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_storage_limit, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_several_devices, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_late_channel_and_device, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_nothing_to_do, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_fork_child, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
