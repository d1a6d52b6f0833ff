/* SPDX-License-Identifier: Apache-2.0 */
/* A PROF directory, a fake driver and a collector. Include after cmocka.h. */
#ifndef AP_TESTS_UNIT_COLLECTOR_FIXTURE_H_
#define AP_TESTS_UNIT_COLLECTOR_FIXTURE_H_

#include "clock/clock.h"
#include "collector/collector.h"
#include "collector_fake.h"
#include "scratch.h"
#include "writer/control_files.h"
#include "writer/dirs.h"

#define TASK_BITS                                                                                  \
    (ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L0 | ACL_PROF_TRAINING_TRACE | ACL_PROF_AICORE_METRICS)

typedef struct bed {
    scratch *s;
    unsigned fds;
    ap__prof_dir dir;
    ap__settings settings;
    ap__host_meta meta;
    ap__collector_params params;
    fake *f;
    ap__collector *c;
} bed;

static inline void bed_make(bed *b, scratch *s)
{
    static const uint32_t channels[] = {44, 50, 53};
    ap__clock_point start;

    memset(b, 0, sizeof(*b));
    b->s = s;
    b->fds = scratch_open_fds();
    assert_int_equal(ap__prof_dir_create(s->path, 1, &b->dir), 0);
    ap__clock_init();
    ap__clock_read(&start);
    b->meta = (ap__host_meta){.data_types = TASK_BITS,
                              .metrics = ACL_AICORE_PIPE_UTILIZATION,
                              .settings = &b->settings,
                              .result_dir = s->path,
                              .chip = 5,
                              .devices = "0"};
    assert_int_equal(ap__control_write_start(b->dir.host_fd, &b->meta, &start), 0);
    b->f = fake_new();
    fake_offer(b->f, 0, 5, channels, 3);
    b->params = (ap__collector_params){.prof_fd = b->dir.prof_fd,
                                       .ext_fd = b->dir.ext_fd,
                                       .meta = &b->meta,
                                       .limits = {.start_ms = 2000, .tick_ms = 50}};
}

static inline void bed_open(bed *b)
{
    assert_int_equal(ap__collector_open(&fake_ops, b->f, &b->params, &b->c), 0);
}

static inline int bed_add(bed *b, uint32_t device)
{
    return ap__collector_add_devices(b->c, &device, 1);
}

/* Lets hung calls go and waits for their threads. */
static inline void bed_end(bed *b)
{
    uint64_t until = fake_ms() + 10000;

    fake_release(b->f);
    if (b->c != NULL) {
        (void)ap__collector_stop(b->c);
        while (ap__collector_stop(b->c) != 0 && fake_ms() < until) {
            usleep(1000);
        }
        assert_int_equal(ap__collector_stop(b->c), 0);
        ap__collector_free(b->c);
    }
    ap__prof_dir_remove(&b->dir);
    while (scratch_open_fds() != b->fds && fake_ms() < until) { /* the last threads' own end */
        usleep(500);
    }
    fake_free(b->f);
    assert_int_equal(scratch_open_fds(), b->fds);
}

static inline ap__channel_account bed_channel(bed *b, uint32_t device_index, uint32_t channel)
{
    ap__channel_account a;

    for (uint32_t i = 0; ap__collector_channel(b->c, device_index, i, &a); i++) {
        if (a.channel == channel) {
            return a;
        }
    }
    fail_msg("no channel %u", channel);
    return a;
}

/* Waits until the collector has read so many bytes of a channel. */
static inline void bed_wait_read(bed *b, uint32_t device_index, uint32_t channel, uint64_t bytes)
{
    uint64_t until = fake_ms() + 10000;

    while (bed_channel(b, device_index, channel).read_bytes < bytes) {
        if (fake_ms() > until) {
            fail_msg("channel %u: %llu of %llu bytes read", channel,
                     (unsigned long long)bed_channel(b, device_index, channel).read_bytes,
                     (unsigned long long)bytes);
        }
        usleep(500);
    }
}

static inline int bed_data_dir(bed *b, uint32_t device)
{
    char name[64];

    snprintf(name, sizeof(name), "device_%u/data", device);
    return openat(b->dir.prof_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The slices of a stream hold exactly these bytes, each with its .done. */
static inline void bed_assert_file(bed *b, uint32_t device, const char *stream, const uint8_t *data,
                                   size_t bytes)
{
    int fd = bed_data_dir(b, device);
    size_t seen = 0;

    assert_true(fd >= 0);
    for (unsigned k = 0;; k++) {
        char name[128];
        char expected[96];
        size_t n = 0;
        char *text = NULL;

        snprintf(name, sizeof(name), "%s.%u.slice_%u", stream, device, k);
        text = scratch_read(fd, name, &n);
        if (text == NULL) {
            break;
        }
        assert_true(n != 0 && seen + n <= bytes);
        assert_memory_equal(text, data + seen, n);
        seen += n;
        free(text);
        snprintf(name, sizeof(name), "%s.%u.slice_%u.done", stream, device, k);
        snprintf(expected, sizeof(expected), "filesize:%zu\nstarttime:0\nendtime  :0\n", n);
        scratch_assert_text(fd, name, expected);
    }
    close(fd);
    assert_int_equal(seen, bytes);
}

/* Records of channel 50 or 53 with their running number; the content differs in each. */
static inline uint8_t *bed_records(size_t count, size_t record, unsigned first_number)
{
    uint8_t *data = calloc(count + 1, record);

    assert_non_null(data);
    for (size_t i = 0; i < count; i++) {
        uint8_t *p = data + i * record;
        unsigned head = (unsigned)(i & 1) | ((first_number + (unsigned)i) & 15u) << 6;
        uint64_t value = i * 2654435761u;

        p[0] = (uint8_t)head;
        p[1] = (uint8_t)(head >> 8);
        p[2] = 0xD3;
        p[3] = 0x6B;
        memcpy(p + 8, &value, sizeof(value));
    }
    return data;
}

#endif
