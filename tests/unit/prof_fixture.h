/* SPDX-License-Identifier: Apache-2.0 */
/* Builds result directories by hand, byte by byte: what a run, a crash or an enemy may leave.
 * Include after cmocka.h and scratch.h. */
#ifndef AP_TESTS_UNIT_PROF_FIXTURE_H_
#define AP_TESTS_UNIT_PROF_FIXTURE_H_

#include <stdarg.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "format/encode_stamp.h"
#include "format/ext_wire.h"
#include "ring/arena_layout.h"

#define PROF_NAME "PROF_000001_20250101000000000_00004242ABCDEFGH"
#define TX_NAME "aging.additional.msproftx"
#define TX_SLICE TX_NAME ".slice_"
#define FIX_MONO 1000000000000ull
#define FIX_WALL_US 1735689600000000ull

typedef struct prof_fix {
    char path[768];
    int fd;
    int host;
    int data;
    int ext;
} prof_fix;

/* ---- files ---- */

static inline void fix_put(int dirfd, const char *name, const void *bytes, size_t size)
{
    int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

static inline void fix_text(int dirfd, const char *name, const char *text)
{
    fix_put(dirfd, name, text, strlen(text));
}

static inline void fix_append(int dirfd, const char *name, const void *bytes, size_t size)
{
    int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

/* A file of `size` bytes without blocks. */
static inline void fix_sparse(int dirfd, const char *name, uint64_t size)
{
    int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0640);

    assert_true(fd >= 0);
    if (ftruncate(fd, (off_t)size) != 0) {
        assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
    }
    close(fd);
}

static inline bool fix_exists(int dirfd, const char *name)
{
    struct stat st;

    return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static inline int fix_mkdir(int parent, const char *name)
{
    int fd = -1;

    assert_int_equal(mkdirat(parent, name, 0750), 0);
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

/* A process number that no process has. */
static inline uint32_t fix_dead_pid(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        _exit(0);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return (uint32_t)pid;
}

static inline void fix_info(const prof_fix *fix, const char *mhz, uint32_t pid)
{
    char text[512];

    snprintf(text, sizeof(text),
             "{\"DeviceInfo\":[],\"CPU\":[{\"Id\":0,\"Name\":\"x\",\"Frequency\":\"%s\"}],"
             "\"version\":\"1.0\",\"OS\":\"Linux-6\",\"hostname\":\"box\",\"devices\":\"\","
             "\"platform_version\":\"5\",\"pid\":\"%u\",\"pid_name\":\"demo\",\"rank_id\":-1}",
             mhz, pid);
    fix_text(fix->host, "info.json", text);
}

static inline void fix_host_start(const prof_fix *fix, uint64_t mono, uint64_t counter,
                                  int64_t diff)
{
    char text[256];

    snprintf(text, sizeof(text),
             "[Host]\nclock_monotonic_raw: %llu\ncntvct: %llu\ncntvct_diff: %lld\n",
             (unsigned long long)mono, (unsigned long long)counter, (long long)diff);
    fix_text(fix->host, "host_start.log", text);
}

static inline void fix_end(const prof_fix *fix)
{
    fix_text(fix->host, "end_info",
             "{\"collectionDateBegin\":\"\",\"collectionDateEnd\":\"2025-01-01 00:00:02.000000\","
             "\"collectionTimeBegin\":\"\",\"collectionTimeEnd\":\"1735689602000000\","
             "\"clockMonotonicRaw\":\"1002000000000\"}");
}

/* host/, data/, .aclprof/ (if ours), all control files but end_info. */
static inline void fix_make(prof_fix *fix, const scratch *s, bool ours)
{
    snprintf(fix->path, sizeof(fix->path), "%s/%s", s->path, PROF_NAME);
    fix->fd = fix_mkdir(s->fd, PROF_NAME);
    fix->host = fix_mkdir(fix->fd, "host");
    fix->data = fix_mkdir(fix->host, "data");
    fix->ext = ours ? fix_mkdir(fix->host, AP_EXT_DIR) : -1;
    fix_info(fix, "", fix_dead_pid());
    fix_text(fix->host, "sample.json", "{\"devices\":\"64\"}");
    fix_text(fix->host, "start_info",
             "{\"collectionDateBegin\":\"2025-01-01 00:00:00.000000\",\"collectionDateEnd\":\"\","
             "\"collectionTimeBegin\":\"1735689600000000\",\"collectionTimeEnd\":\"\","
             "\"clockMonotonicRaw\":\"1000000000000\"}");
    fix_host_start(fix, FIX_MONO, FIX_MONO, 0);
    fix_text(fix->data, "unaging.additional.type_info_dic.slice_0",
             "20500_0:msproftx\n5000_802:task_track\n5000_1003:KernelLaunch\n");
}

static inline void fix_close(prof_fix *fix)
{
    close(fix->ext);
    close(fix->data);
    close(fix->host);
    close(fix->fd);
}

/* ---- records ---- */

static inline ap__wire_additional fix_stamp(uint32_t event, uint32_t tid, uint64_t start,
                                            uint64_t end, const char *message)
{
    ap__wire_additional record;
    ap__stamp_fields f = {.event_type = event, .tid = tid, .pid = 4242, .start_ns = start,
                          .end_ns = end, .message = message, .length = strlen(message)};

    ap__encode_stamp(&record, &f);
    return record;
}

/* Appends marks "<prefix><first>" … to a slice, 1 µs apart. */
static inline void fix_marks(const prof_fix *fix, const char *slice, const char *prefix,
                             unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++) {
        char message[64];
        ap__wire_additional record;

        snprintf(message, sizeof(message), "%s%u", prefix, i);
        record = fix_stamp(AP_TX_MARK, 7, FIX_MONO + i * 1000ull, FIX_MONO + i * 1000ull, message);
        fix_append(fix->data, slice, &record, sizeof(record));
    }
}

static inline void fix_name(const prof_fix *fix, uint32_t kind, uint64_t id, const char *text)
{
    ap__ext_name entry = {.id = id, .kind = kind, .length = (uint32_t)strlen(text)};
    static const char zeros[8];

    fix_append(fix->ext, AP_EXT_NAMES_NAME, &entry, sizeof(entry));
    fix_append(fix->ext, AP_EXT_NAMES_NAME, text, strlen(text));
    fix_append(fix->ext, AP_EXT_NAMES_NAME, zeros, (8 - strlen(text) % 8) % 8);
}

static inline void fix_ext(const prof_fix *fix, uint32_t slice, uint32_t index, uint32_t kind,
                           uint64_t id)
{
    ap__ext_stamp entry = {.slice = slice, .index = index, .kind = kind, .id = id};

    fix_append(fix->ext, AP_EXT_STAMP_NAME, &entry, sizeof(entry));
}

/* ---- the arena ---- */

#define FIX_STACK 4096u
#define FIX_CYCLES 5000000000ull /* at FIX_MONO; two cycles a nanosecond */

typedef struct arena_image {
    uint8_t *bytes;
    size_t size;
    uint32_t ring_bytes;
} arena_image;

static inline ap__arena_head *image_head(const arena_image *image)
{
    return (ap__arena_head *)(void *)image->bytes;
}

static inline ap__ring_head *image_ring(const arena_image *image, uint32_t slot)
{
    return (ap__ring_head *)(void *)(image->bytes + AP_ARENA_HEAD_BYTES +
                                     (size_t)slot * image_head(image)->slot_stride);
}

static inline uint8_t *image_data(const arena_image *image, uint32_t slot)
{
    return (uint8_t *)image_ring(image, slot) + AP_RING_HEAD_BYTES + FIX_STACK;
}

static inline ap__clock_point fix_point(uint64_t after_ns)
{
    return (ap__clock_point){.cycles = FIX_CYCLES + 2 * after_ns,
                             .mono_raw_ns = FIX_MONO + after_ns,
                             .mono_ns = FIX_MONO + after_ns,
                             .real_ns = FIX_WALL_US * 1000 + after_ns,
                             .error_ns = 10};
}

static inline void image_make(arena_image *image, uint32_t slots, uint32_t ring_bytes)
{
    uint32_t stride = AP_RING_HEAD_BYTES + FIX_STACK + ring_bytes + AP_RING_GUARD_BYTES;
    ap__arena_head *head = NULL;

    image->size = AP_ARENA_HEAD_BYTES + (size_t)slots * stride;
    image->bytes = aligned_alloc(64, (image->size + 63) / 64 * 64);
    assert_non_null(image->bytes);
    memset(image->bytes, 0, image->size);
    image->ring_bytes = ring_bytes;
    head = image_head(image);
    head->magic = AP_ARENA_MAGIC;
    head->version = AP_ARENA_VERSION;
    head->slot_stride = stride;
    head->ring_bytes = ring_bytes;
    head->stack_bytes = FIX_STACK;
    head->pid = fix_dead_pid();
    head->slot_count = slots;
    head->start = fix_point(0);
    head->ready = fix_point(1000000);
    for (uint32_t i = 0; i < slots; i++) {
        image_ring(image, i)->in_use = 1;
        image_ring(image, i)->slot = i;
    }
}

/* A hole of whole records in the ring: pads up to its end when `words` do not fit. */
static inline uint64_t *image_reserve(const arena_image *image, uint32_t slot, uint32_t words)
{
    ap__ring_head *ring = image_ring(image, slot);
    uint32_t at = (uint32_t)(ring->committed & (image->ring_bytes - 1));

    if (at + words * 8 > image->ring_bytes) {
        ap__rec_head pad = {.words = (uint16_t)((image->ring_bytes - at) / 8),
                            .kind = AP_REC_PAD};

        memcpy(image_data(image, slot) + at, &pad, sizeof(pad));
        ring->committed += image->ring_bytes - at;
        at = 0;
    }
    return (uint64_t *)(void *)(image_data(image, slot) + at);
}

static inline void image_owner(const arena_image *image, uint32_t slot, uint32_t tid)
{
    ap__ring_head *ring = image_ring(image, slot);
    ap__rec_thread rec = {.head = {.words = sizeof(rec) / 8, .kind = AP_REC_THREAD},
                          .tid = tid,
                          .emitted_base = ring->emitted,
                          .lost_full_base = ring->lost_full,
                          .lost_reentrant_base = ring->lost_reentrant};

    memcpy(image_reserve(image, slot, sizeof(rec) / 8), &rec, sizeof(rec));
    ring->committed += sizeof(rec);
    ring->tid = tid;
}

/* flags: AP_BODY_*; extra: words of the parts before the message, in order. */
static inline void image_event_full(const arena_image *image, uint32_t slot, uint32_t kind,
                                    uint64_t start_ns, uint64_t end_ns, uint32_t flags,
                                    const uint64_t *extra, uint32_t extra_words,
                                    const char *message)
{
    ap__ring_head *ring = image_ring(image, slot);
    uint32_t before = kind == AP_REC_MARK ? 2 : 3;
    uint32_t message_words = (uint32_t)(strlen(message) + 7) / 8;
    uint32_t words = before + extra_words + message_words;
    ap__rec_head head = {.words = (uint16_t)words, .kind = (uint8_t)kind, .flags = (uint8_t)flags,
                         .seq = (uint32_t)ring->emitted};
    uint64_t *rec = image_reserve(image, slot, words);

    memset(rec, 0, words * 8);
    memcpy(rec, &head, sizeof(head));
    rec[1] = FIX_CYCLES + 2 * (kind == AP_REC_MARK ? end_ns : start_ns);
    if (before == 3) {
        rec[2] = FIX_CYCLES + 2 * end_ns;
    }
    if (extra_words != 0) {
        memcpy(rec + before, extra, extra_words * 8);
    }
    memcpy(rec + before + extra_words, message, strlen(message));
    ring->emitted++;
    ring->committed += words * 8;
}

static inline void image_event(const arena_image *image, uint32_t slot, uint32_t kind,
                               uint64_t start_ns, uint64_t end_ns, const char *message)
{
    image_event_full(image, slot, kind, start_ns, end_ns, 0, NULL, 0, message);
}

/* Marks "<prefix><first>" … */
static inline void image_marks(const arena_image *image, uint32_t slot, const char *prefix,
                               unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++) {
        char message[64];

        snprintf(message, sizeof(message), "%s%u", prefix, i);
        image_event(image, slot, AP_REC_MARK, i * 1000ull, i * 1000ull, message);
    }
}

/* Everything committed so far counts as on disk: `records` in all, the last slice holding `bytes`.
 * As the writer does it: into the other copy, then the switch. */
static inline void image_checkpoint(const arena_image *image, uint64_t records, uint32_t slice,
                                    uint32_t bytes, uint64_t ext_bytes)
{
    ap__arena_head *head = image_head(image);
    uint32_t next = head->active ^ 1;
    ap__checkpoint *c = &head->checkpoint[next];

    c->batch++;
    c->tx_records = records;
    c->tx_slice = slice;
    c->tx_slice_bytes = bytes;
    c->ext_bytes = ext_bytes;
    c->clock = fix_point(2000000);
    for (uint32_t i = 0; i < head->slot_count; i++) {
        ap__ring_head *ring = image_ring(image, i);

        ring->drained[next] = ring->committed;
        ring->drained_tid[next] = ring->tid;
        ring->tail = ring->committed;
    }
    head->active = next;
}

static inline void image_write(const arena_image *image, const prof_fix *fix)
{
    fix_put(fix->ext, AP_ARENA_NAME, image->bytes, image->size);
}

static inline void image_free(arena_image *image)
{
    free(image->bytes);
    image->bytes = NULL;
}

#endif
