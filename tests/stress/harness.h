/* SPDX-License-Identifier: Apache-2.0 */
/* For stress and crash tests: scratch directories, captures, self-checking messages. Include it
 * first, after #define _GNU_SOURCE. Nothing here asserts, so that threads and forked children may
 * use it: cmocka's assertions belong to the test's own thread and process. */
#ifndef AP_TESTS_HARNESS_H_
#define AP_TESTS_HARNESS_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "aclprof_ext.h"
#include "format/wire_host.h"
#include "read_back.h"

#ifdef AP_SANITIZED
#define SCALED(plain, sanitized) (sanitized)
#else
#define SCALED(plain, sanitized) (plain)
#endif

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif
#ifndef UNDER_TSAN
#define UNDER_TSAN 0
#endif

/* ---- scratch directory: cmocka's state is its path ---- */

static inline char *scratch_path(void)
{
    const char *base = getenv("TMPDIR");
    char *path = NULL;

    base = base != NULL && *base == '/' ? base : "/tmp";
    if (asprintf(&path, "%s/aclprof-test-XXXXXX", base) < 0 ||
        mkdtemp(path) == NULL) {
        perror("mkdtemp");
        abort();
    }
    return path;
}

static inline int scratch_unlink(const char *path, const struct stat *st, int type,
                                 struct FTW *walk)
{
    (void)st;
    (void)type;
    (void)walk;
    return remove(path);
}

/* Empties it and takes it away. */
static inline void scratch_drop(const char *path)
{
    (void)nftw(path, scratch_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

static inline int scratch_setup(void **state)
{
    static const char *const ours[] = {"ACLPROF_RING_SIZE", "ACLPROF_ARENA", "ACLPROF_STRICT",
                                       "ACLPROF_LOG", "ASCEND_WORK_PATH"};

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        unsetenv(ours[i]);
    }
    *state = scratch_path();
    return 0;
}

static inline int scratch_teardown(void **state)
{
    (void)aclprofFinalize(); /* of a test that failed half-way */
    scratch_drop(*state);
    free(*state);
    return 0;
}

#define SCRATCH_TEST(function) \
    cmocka_unit_test_setup_teardown(function, scratch_setup, scratch_teardown)

/* Result directories below `root`, in the order of their names; free with paths_free. */
typedef struct paths {
    char **list;
    size_t count;
} paths;

static inline int paths_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline paths prof_paths(const char *root)
{
    DIR *dir = opendir(root);
    struct dirent *entry = NULL;
    paths found = {NULL, 0};

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (strncmp(entry->d_name, "PROF_", 5) == 0) {
            found.list = realloc(found.list, (found.count + 1) * sizeof(*found.list));
            if (asprintf(&found.list[found.count], "%s/%s", root, entry->d_name) < 0) {
                abort();
            }
            found.count++;
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    if (found.count != 0) {
        qsort(found.list, found.count, sizeof(*found.list), paths_order);
    }
    return found;
}

static inline void paths_free(paths *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->list[i]);
    }
    free(p->list);
}

/* ---- captures ---- */

static inline aclprofConfig *tx_config(void)
{
    return aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX);
}

/* Init, config, Start. 0, or the first code that was not. */
static inline aclError capture_begin(const char *root, aclprofConfig **config)
{
    aclError code = aclprofInit(root, strlen(root));

    *config = NULL;
    if (code == ACL_SUCCESS) {
        *config = tx_config();
        code = *config == NULL ? ACL_ERROR_INVALID_PARAM : aclprofStart(*config);
    }
    if (code != ACL_SUCCESS) {
        fprintf(stderr, "capture_begin: %d: %s\n", code, aclprofGetLastError());
    }
    return code;
}

/* Stop, destroy, Finalize. */
static inline aclError capture_end(aclprofConfig *config)
{
    aclError code = aclprofStop(config);

    if (code != ACL_SUCCESS) {
        fprintf(stderr, "capture_end: %d: %s\n", code, aclprofGetLastError());
    }
    (void)aclprofDestroyConfig(config);
    (void)aclprofFinalize();
    return code;
}

static inline aclprofStats stats_now(void)
{
    aclprofStats s = {.size = sizeof(s)};

    if (aclprofGetStats(&s) != ACL_SUCCESS) {
        memset(&s, 0xff, sizeof(s));
    }
    return s;
}

/* The clock of the records. */
static inline uint64_t raw_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* A stamp with a message; NULL when it cannot be had. */
static inline void *stamp_of(const char *message)
{
    void *stamp = aclprofCreateStamp();

    if (stamp != NULL &&
        aclprofSetStampTraceMessage(stamp, message, (uint32_t)strlen(message)) != ACL_SUCCESS) {
        return NULL;
    }
    return stamp;
}

/* ---- self-checking messages ---- */

#define MESSAGE_HEAD 14u
#define MESSAGE_MAX 155u

static inline uint32_t mix(uint32_t a, uint32_t b)
{
    uint32_t h = a * 0x9e3779b1u ^ (b + 0x7f4a7c15u);

    h = (h ^ h >> 15) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

static inline char *put_hex(char *at, uint32_t value, unsigned digits)
{
    for (unsigned i = digits; i > 0; i--) {
        *at++ = "0123456789abcdef"[value >> 4 * (i - 1) & 15];
    }
    return at;
}

/* kind, thread, sequence number, then letters whose number and order follow from those. Returns
 * the length; no NUL is written. */
static inline size_t message_make(char out[MESSAGE_MAX], char kind, uint32_t thread, uint32_t seq)
{
    uint32_t h = mix(mix(thread, (uint32_t)kind), seq);
    size_t filler = h % 8 != 0 ? h % 24 : h % (MESSAGE_MAX - MESSAGE_HEAD + 1);
    char *at = out;

    *at++ = kind;
    at = put_hex(at, thread, 4);
    at = put_hex(at, seq, 8);
    *at++ = '-';
    for (size_t i = 0; i < filler; i++) {
        h = h * 1664525u + 1013904223u;
        *at++ = (char)('a' + (h >> 24) % 26);
    }
    return (size_t)(at - out);
}

/* false: not what message_make makes. */
static inline bool message_read(const char *text, size_t length, char *kind, uint32_t *thread,
                                uint32_t *seq)
{
    char again[MESSAGE_MAX];

    if (length < MESSAGE_HEAD || length > MESSAGE_MAX || text[MESSAGE_HEAD - 1] != '-') {
        return false;
    }
    *kind = text[0];
    *thread = *seq = 0;
    for (unsigned i = 1; i < MESSAGE_HEAD - 1; i++) {
        uint32_t *to = i < 5 ? thread : seq;
        char c = text[i];

        *to = *to << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return message_make(again, *kind, *thread, *seq) == length && memcmp(again, text, length) == 0;
}

/* Sets it to the message of that event. */
static inline aclError message_set(void *stamp, char kind, uint32_t thread, uint32_t seq)
{
    char text[MESSAGE_MAX];
    size_t length = message_make(text, kind, thread, seq);

    return aclprofSetStampTraceMessage(stamp, text, (uint32_t)length);
}

/* AP_TX_* that a message of this kind belongs to: m mark, p push and pop, q the same around a p,
 * r range, x range that another thread stopped. */
static inline uint32_t event_of_kind(char kind)
{
    return kind == 'm'                  ? AP_TX_MARK
           : kind == 'p' || kind == 'q' ? AP_TX_PUSH_POP
                                        : AP_TX_RANGE;
}

static inline uint64_t lost_of(const aclprofStats *s)
{
    return s->lostRingFull + s->lostNoRing + s->lostReentrant + s->lostDisk + s->lostAged +
           s->lostDamaged;
}

#endif
