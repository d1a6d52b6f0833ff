/* SPDX-License-Identifier: Apache-2.0 */
/* ACL_PROF_STORAGE_LIMIT holds for the whole result directory at every moment, and what it costs is
 * counted. */
#define _GNU_SOURCE
#include "journey.h"

#include <pthread.h>

#define LIMIT_MB 200u
#define LIMIT (LIMIT_MB << 20)
#define RECORDS (320u << 20 >> 8) /* 320 MiB of them */
#define SLICE_RECORDS 8192u

/* ---- what a tree that changes takes of the disk ---- */

static uint64_t tree_bytes(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry = NULL;
    uint64_t sum = 0;

    while (list != NULL && (entry = readdir(list)) != NULL) {
        struct stat st;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        sum += S_ISDIR(st.st_mode) ? tree_bytes(fd, entry->d_name) : (uint64_t)st.st_blocks * 512;
    }
    if (list != NULL) {
        closedir(list);
    }
    return sum;
}

typedef struct sampler {
    const char *dir;
    _Atomic bool end;
    uint64_t most;
    uint64_t samples;
} sampler;

static void *sample(void *arg)
{
    sampler *s = arg;

    while (!atomic_load(&s->end)) {
        uint64_t now = tree_bytes(AT_FDCWD, s->dir);

        s->most = now > s->most ? now : s->most;
        s->samples++;
        usleep(3000);
    }
    return NULL;
}

/* ---- a program that writes too much ---- */

typedef struct writer {
    uint32_t index;
    uint32_t records;
    pthread_barrier_t *all;
} writer;

/* Numbered marks, no faster than they are written. */
static void *write_much(void *arg)
{
    writer *w = arg;
    void *stamp = aclprofCreateStamp();

    for (uint32_t i = 0; i < w->records; i++) {
        if (message_set(stamp, 'm', w->index, i) != ACL_SUCCESS ||
            aclprofMark(stamp) != ACL_SUCCESS) {
            return w; /* joined by whom this tells */
        }
        while (i % 2048 == 2047 && stats_now().pending > 4096) {
            usleep(500);
        }
    }
    pthread_barrier_wait(w->all); /* all rings are in use at once */
    aclprofDestroyStamp(stamp);
    return NULL;
}

static void write_by(uint32_t threads, const char *dir, aclprofStats *running)
{
    pthread_t ids[64];
    writer writers[64];
    pthread_barrier_t all;
    pthread_t sampling;
    sampler s = {.dir = dir};
    aclprofConfig *config = tx_config();

    assert_ok(set_text(ACL_PROF_STORAGE_LIMIT, "200MB"));
    assert_ok(init_at(dir));
    assert_ok(aclprofStart(config));
    assert_int_equal(pthread_create(&sampling, NULL, sample, &s), 0);
    pthread_barrier_init(&all, NULL, threads);
    for (uint32_t i = 0; i < threads; i++) {
        writers[i] = (writer){i, RECORDS / threads, &all};
        assert_int_equal(pthread_create(&ids[i], NULL, write_much, &writers[i]), 0);
    }
    for (uint32_t i = 0; i < threads; i++) {
        void *failed = NULL;

        assert_int_equal(pthread_join(ids[i], &failed), 0);
        assert_null(failed);
    }
    pthread_barrier_destroy(&all);
    *running = stats_now();
    assert_ok(aclprofStop(config));
    atomic_store(&s.end, true);
    assert_int_equal(pthread_join(sampling, NULL), 0);
    assert_ok(aclprofFinalize());
    assert_true(s.samples > 50);
    if (s.most > LIMIT) {
        fail_msg("%u threads: %llu bytes at one time, the limit is %u", threads,
                 (unsigned long long)s.most, LIMIT);
    }
    assert_true(s.most > LIMIT / 10 * 8); /* and it is made use of */
    assert_true(tree_bytes(AT_FDCWD, dir) <= LIMIT);
}

static void check_account(const aclprofStats *s)
{
    assert_int_equal(s->emitted, RECORDS);
    assert_int_equal(s->pending, 0);
    assert_int_equal(s->emitted, s->written + s->lostTotal);
    assert_int_equal(s->lostTotal, s->lostAged + s->lostRingFull);
    assert_true(s->slicesRemoved >= (RECORDS - s->lostRingFull - (LIMIT >> 8)) / SLICE_RECORDS);
    assert_int_equal(s->lostAged, s->slicesRemoved * SLICE_RECORDS);
    assert_true(s->lostRingFull < RECORDS / 100);
}

/* The oldest have gone: what is there begins with the first slice that was not removed, has the
 * last event of some thread, and is in order for each. */
static void check_rest(const char *dir, const aclprofStats *s, uint32_t threads)
{
    read_back *back = open_finished(dir);
    paths found = prof_paths_exactly(dir, 1);
    uint32_t next[64] = {0};
    uint32_t whole = 0; /* threads of which the last event is there */
    char name[96];
    char *path = NULL;

    assert_int_equal(back->count, s->written);
    assert_int_equal(back->stamps[0].slice, s->slicesRemoved);
    for (size_t i = 0; i < back->count; i++) {
        const ap__stamp_record *r = &back->stamps[i];
        uint32_t thread = 0;
        uint32_t seq = 0;
        char kind = 0;

        if (!message_read(r->message, r->message_length, &kind, &thread, &seq) ||
            thread >= threads || seq < next[thread]) {
            fail_msg("record %zu: '%s'", i, r->message);
        }
        next[thread] = seq + 1;
    }
    for (uint32_t i = 0; i < threads; i++) {
        whole += next[i] == RECORDS / threads;
    }
    assert_true(whole > 0);
    for (uint32_t i = 0; i < 2; i++) { /* with its .done */
        snprintf(name, sizeof(name), "host/data/aging.additional.msproftx.slice_%u%s",
                 (unsigned)s->slicesRemoved - 1, i == 0 ? "" : ".done");
        path = below(found.list[0], name);
        assert_false(there_is(path));
        free(path);
    }
    paths_free(&found);
    read_back_close(back);
}

static void limit_is_kept_by(uint32_t threads, const char *dir)
{
    aclprofStats running;
    aclprofStats s;

    write_by(threads, dir, &running);
    s = stats_now();
    assert_true(running.slicesRemoved > 0);
    check_account(&s);
    check_rest(dir, &s, threads);
}

static void one_thread(void **state)
{
    limit_is_kept_by(1, *state);
}

static void forty_threads(void **state)
{
    limit_is_kept_by(40, *state);
}

#define NAME_EVERY 128u

/* Long texts, of which the dictionaries are never removed, count as well. */
static void long_names(void **state)
{
    aclprofConfig *config = tx_config();
    char text[4000];
    void *stamp = NULL;
    uint64_t most = 0;
    aclprofStats s;

    memset(text, 't', sizeof(text));
    assert_ok(set_text(ACL_PROF_STORAGE_LIMIT, "200MB"));
    assert_ok(init_at(*state));
    assert_ok(aclprofStart(config));
    stamp = aclprofCreateStamp();
    for (uint32_t i = 0; i < RECORDS; i++) {
        if (i % NAME_EVERY == 0) {
            (void)put_hex(text, i, 8);
        }
        assert_int_equal(aclprofSetStampTraceMessage(stamp, text, sizeof(text)), ACL_SUCCESS);
        assert_int_equal(aclprofMark(stamp), ACL_SUCCESS);
        while (i % 2048 == 2047 && stats_now().pending > 4096) {
            usleep(500);
        }
        if (i % 16384 == 0) {
            uint64_t now = tree_bytes(AT_FDCWD, *state);

            most = now > most ? now : most;
        }
    }
    aclprofDestroyStamp(stamp);
    assert_ok(aclprofStop(config));
    s = stats_now();
    assert_ok(aclprofFinalize());
    if (most > LIMIT || tree_bytes(AT_FDCWD, *state) > LIMIT) {
        fail_msg("%llu bytes at one time, %llu at the end, the limit is %u",
                 (unsigned long long)most,
                 (unsigned long long)tree_bytes(AT_FDCWD, *state), LIMIT);
    }
    check_account(&s);
    {
        read_back *back = open_finished(*state);
        char last[9] = "";

        assert_int_equal(back->count, s.written);
        (void)put_hex(last, (RECORDS - 1) / NAME_EVERY * NAME_EVERY, 8);
        assert_memory_equal(back->stamps[back->count - 1].message, last, 8);
        for (size_t i = 0; i < back->count; i++) {
            assert_int_equal(back->stamps[i].message_length, sizeof(text));
        }
        read_back_close(back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(one_thread),
        SCRATCH_TEST(forty_threads),
        SCRATCH_TEST(long_names),
    };

#ifdef AP_SANITIZED
    print_message("a matter of amounts: not with sanitizers\n");
    return 77;
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
