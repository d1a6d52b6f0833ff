/* SPDX-License-Identifier: Apache-2.0 */
/* mstx in windows: the first marks of each from many threads at once, windows that want no marks,
 * and a mark that a device meets many times. */
#define _GNU_SOURCE
#include "harness.h"

#include <pthread.h>
#include <sched.h>

#include "aclprof_reporter.h"
#include "analysis/model.h"
#include "sim_runtime.h"

#define THREADS SCALED(64u, 16u)
#define MARKS 10u
#define ROUNDS SCALED(120u, 8u)
#define REPLAYS 100u

static struct {
    void (*mark)(const char *, void *);
    uint64_t (*start)(const char *, void *);
    void (*end)(uint64_t);
} mstx;

static int get_table(int32_t module, AclprofMstxFunction ***table, uint32_t *size)
{
    static AclprofMstxFunction *core[] = {NULL, (AclprofMstxFunction *)(void *)&mstx.mark,
                                          (AclprofMstxFunction *)(void *)&mstx.start,
                                          (AclprofMstxFunction *)(void *)&mstx.end};

    *table = core;
    *size = 4;
    return module == ACLPROF_MSTX_CORE ? 0 : 1;
}

/* ---- the first marks ---- */

static _Atomic uint32_t window; /* that is open */
static _Atomic uint32_t done;   /* threads, in it */

static void *marker(void *arg)
{
    char text[MESSAGE_MAX + 1];
    uint32_t who = *(uint32_t *)arg;

    for (uint32_t round = 1; round <= ROUNDS; round++) {
        while (atomic_load(&window) < round) {
            sched_yield();
        }
        for (uint32_t i = 0; i < MARKS; i++) {
            text[message_make(text, i % 2 == 0 ? 'm' : 'r', who, round * MARKS + i)] = '\0';
            if (i % 2 == 0) {
                mstx.mark(text, NULL);
            } else {
                uint64_t id = mstx.start(text, NULL);

                if (id == 0) {
                    abort();
                }
                mstx.end(id);
            }
        }
        atomic_fetch_add(&done, 1);
    }
    return NULL;
}

/* Each thread's marks of the round, once. */
static void check_round(const char *dir, uint32_t round)
{
    read_back *back = read_back_open(dir);
    uint8_t *seen = calloc(THREADS, MARKS);

    assert_non_null(back);
    assert_non_null(seen);
    assert_true(read_back_account_balances(back));
    assert_int_equal(back->count, THREADS * MARKS);
    for (size_t i = 0; i < back->count; i++) {
        const ap__stamp_record *s = &back->stamps[i];
        char kind = 0;
        uint32_t who = 0;
        uint32_t seq = 0;

        assert_true(message_read(s->message, s->message_length, &kind, &who, &seq));
        assert_int_equal(s->event, event_of_kind(kind));
        assert_true(who < THREADS && seq / MARKS == round);
        assert_int_equal(seen[who * MARKS + seq % MARKS]++, 0);
    }
    free(seen);
    read_back_close(back);
}

static void test_first_marks(void **state)
{
    pthread_t threads[64];
    uint32_t who[64];

    setenv("ACLPROF_RING_SIZE", "131072", 1);
    atomic_store(&window, 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        who[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, marker, &who[i]), 0);
    }
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        aclprofConfig *config = NULL;
        char *dir = NULL;

        assert_true(asprintf(&dir, "%s/%u", (char *)*state, round) > 0);
        atomic_store(&done, 0);
        assert_int_equal(capture_begin(dir, &config), ACL_SUCCESS);
        atomic_store(&window, round); /* they all mark at once */
        while (atomic_load(&done) < THREADS) {
            sched_yield();
        }
        assert_int_equal(capture_end(config), ACL_SUCCESS);
        check_round(dir, round);
        scratch_drop(dir);
        free(dir);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* ---- windows with and without ---- */

static void test_masks(void **state)
{
    uint32_t device = 0;
    uint64_t id = 0;

    assert_int_equal(simrtSetDevice(0), SIMRT_OK);
    for (uint32_t i = 0; i < 6; i++) {
        uint64_t bits = ACL_PROF_TASK_TIME | (i % 2 != 0 ? ACL_PROF_MSPROFTX : 0);
        aclprofConfig *config =
            aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, NULL, bits);
        char *dir = NULL;
        read_back *back = NULL;
        void *stamp = NULL;

        assert_non_null(config);
        assert_true(asprintf(&dir, "%s/%u", (char *)*state, i) > 0);
        mstx.mark("outside", NULL);
        assert_int_equal(aclprofInit(dir, strlen(dir)), ACL_SUCCESS);
        mstx.mark("outside", NULL);
        assert_int_equal(aclprofStart(config), ACL_SUCCESS);
        mstx.end(id); /* of the window before */
        mstx.mark("inside", NULL);
        id = mstx.start("left open", NULL);
        stamp = aclprofCreateStamp();
        if (i % 2 != 0) {
            assert_true(id != 0);
            assert_int_equal(aclprofMark(stamp), ACL_SUCCESS);
        } else {
            assert_int_equal(id, 0);
            assert_null(stamp);
            assert_int_equal(aclprofMark(stamp), ACL_ERROR_PROF_NOT_RUN);
        }
        assert_int_equal(capture_end(config), ACL_SUCCESS);
        mstx.mark("outside", NULL);
        back = read_back_open(dir);
        assert_non_null(back);
        assert_int_equal(back->count, i % 2 != 0 ? 2 : 0);
        assert_int_equal(read_back_count(back, "inside"), i % 2);
        read_back_close(back);
        free(dir);
    }
}

/* ---- a mark that was recorded once and runs many times ---- */

static void test_replayed(void **state)
{
    simrtKernel kernel = {.size = sizeof(kernel), .name = "Add", .blocks = 1, .cost_us = 30};
    uint32_t device = 0;
    aclprofConfig *config = NULL;
    simrtStream stream = NULL;
    read_back *back = NULL;
    ap__model *model = calloc(1, sizeof(*model));
    const ap__ts_mark *marks = NULL;
    uint64_t mark = 0;
    uint32_t count = 0;

    assert_non_null(model);
    assert_int_equal(simrtSetDevice(0), SIMRT_OK);
    assert_int_equal(simrtCreateStream(&stream), SIMRT_OK);
    config = aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, NULL,
                                 ACL_PROF_MSPROFTX | ACL_PROF_TASK_TIME);
    assert_non_null(config);
    assert_int_equal(aclprofInit(*state, strlen(*state)), ACL_SUCCESS);
    assert_int_equal(aclprofStart(config), ACL_SUCCESS);
    assert_int_equal(aclprofMarkEx("replayed", 8, stream), ACL_SUCCESS);
    mstx.mark("next", NULL); /* whose id is the one behind */
    assert_int_equal(aclprofStop(config), ACL_SUCCESS);
    back = read_back_open(*state);
    assert_non_null(back);
    mark = read_back_find(back, "next", 0)->mark_id + 2; /* of the mark below */
    read_back_close(back);
    scratch_drop(*state);

    assert_int_equal(aclprofStart(config), ACL_SUCCESS);
    assert_int_equal(aclprofMarkEx("before", 6, stream), ACL_SUCCESS);
    assert_int_equal(aclprofMarkEx("replayed", 8, stream), ACL_SUCCESS);
    for (uint32_t i = 1; i < REPLAYS; i++) {
        assert_int_equal(simrtLaunchKernel(stream, &kernel, NULL), SIMRT_OK);
        assert_int_equal(simrtRecordPoint(stream, mark, UINT32_MAX, 11), SIMRT_OK);
    }
    assert_int_equal(simrtSynchronizeStream(stream), SIMRT_OK);
    assert_int_equal(capture_end(config), ACL_SUCCESS);
    assert_int_equal(simrtDestroyStream(stream), SIMRT_OK);

    back = read_back_open(*state);
    assert_non_null(back);
    assert_int_equal(read_back_find(back, "replayed", 0)->mark_id, mark);
    assert_int_equal(ap__model_load(model, back->reader), 0);
    marks = ap__ts_marks_of(model, 11, mark, &count);
    assert_int_equal(count, REPLAYS);
    for (uint32_t i = 1; i < count; i++) { /* each in its turn */
        assert_true(marks[i].ns >= marks[i - 1].ns + 30000);
    }
    ap__model_free(model);
    free(model);
    read_back_close(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(test_first_marks),
        SCRATCH_TEST(test_masks),
        SCRATCH_TEST(test_replayed),
    };

    setenv("ACLPROF_DRIVER", "sim", 1);
    if (InitInjectionMstx(get_table) != 0) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
