/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulated devices write for tasks, decoded again and held against the truth. */
#include "sim_run.h"

/* The task of a record: same ids, and the time lies in it. */
static truth_task *find(truth_task *tasks, size_t n, unsigned stream, unsigned task, uint64_t start,
                        uint64_t end)
{
    for (size_t i = 0; i < n; i++) {
        if ((stream == UINT32_MAX || tasks[i].stream == stream) && tasks[i].task == task &&
            (start == 0 || tasks[i].start == start) && (end == 0 || tasks[i].end == end)) {
            return &tasks[i];
        }
    }
    fail_msg("no task %u on stream %u from %llu to %llu", task, stream, (unsigned long long)start,
             (unsigned long long)end);
    return NULL;
}

static void unpack(unsigned packing, unsigned *stream, unsigned *task)
{
    unsigned s = *stream;
    unsigned t = *task;

    if (packing == 3) {
        if ((s & 0x8000) != 0) {
            *stream = t & 0x7fff;
            *task = (t & 0x8000) | (s & 0x7fff);
        }
    } else if ((s & 0x1000) != 0) {
        *stream = s & 0x7ff;
        *task = (t & 0x1fff) | (s & 0xe000);
    } else if ((s & 0x2000) != 0) {
        *stream = t & 0xfff;
        *task = (s & 0xfff) | (t & 0xf000);
    }
}

static void check_stars(sim_run *run, truth_task *tasks, size_t n, unsigned packing, bool v6)
{
    size_t size = v6 ? 32 : 64;
    unsigned number = 0;

    assert_int_equal(run->bytes[50] % size, 0);
    for (size_t i = 0; i < run->bytes[50]; i += size, number = (number + 1) & 15) {
        const unsigned char *r = run->data[50] + i;
        unsigned func = at16(r, 0) & 0x3f;
        unsigned stream = v6 ? UINT32_MAX : at16(r, 4);
        unsigned task = v6 ? at32(r, 4) : at16(r, 6);
        truth_task *t = NULL;

        assert_int_equal(at16(r, 2), 0x6bd3);
        assert_int_equal(at16(r, 0) >> 6 & 15, number);
        if (func > 1) {
            continue;
        }
        if (!v6) {
            unpack(packing, &stream, &task);
        }
        t = find(tasks, n, stream, task, func == 0 ? at64(r, 8) : 0, func == 1 ? at64(r, 8) : 0);
        assert_int_equal(t->sqe, at16(r, 0) >> 10);
        t->starts += func == 0;
        t->ends += func == 1;
    }
}

static void check_counters(sim_run *run, truth_task *tasks, size_t n, unsigned packing, bool v6)
{
    unsigned number = 0;

    assert_int_equal(run->bytes[53] % 128, 0);
    for (size_t i = 0; i < run->bytes[53]; i += 128, number = (number + 1) & 15) {
        const unsigned char *r = run->data[53] + i;
        unsigned stream = v6 ? UINT32_MAX : at16(r, 4);
        unsigned task = v6 ? at32(r, 4) : at16(r, 6);
        truth_task *t = NULL;
        uint64_t total = at64(r, v6 ? 8 : 32);

        assert_int_equal(at16(r, 2), 0x6bd3);
        assert_int_equal(at16(r, 0) >> 6 & 15, number);
        assert_int_equal(at16(r, 0) & 0x3f, v6 ? 0x2a : 0x28);
        if (!v6) {
            unpack(packing, &stream, &task);
        }
        t = find(tasks, n, stream, task, at64(r, 112), at64(r, 120));
        t->counters++;
        assert_true(t->cycles == total);
        for (unsigned e = 0; e < (v6 ? 10 : 8); e++) {
            uint64_t counter = at64(r, (v6 ? 32 : 48) + 8 * e);

            assert_true(counter > 0 && counter <= total);
        }
        if (v6) {
            assert_int_equal(r[17] & 1, 1);
        } else {
            assert_int_equal(at16(r, 20) >> 13, t->sqe == 2 ? 1 : 0);
        }
    }
}

static void every_task_once(const truth_task *tasks, size_t n, size_t wanted)
{
    assert_int_equal(n, wanted);
    for (size_t i = 0; i < n; i++) {
        bool kernel = strchr(tasks[i].seen, 'p') != NULL;

        assert_int_equal(tasks[i].starts, 1);
        assert_int_equal(tasks[i].ends, 1);
        assert_int_equal(tasks[i].counters, kernel);
        assert_true(strncmp(tasks[i].seen, "se", 2) == 0);
        assert_true(tasks[i].start < tasks[i].end);
    }
}

static void stars_run(const char *options, unsigned packing, bool v6, size_t wanted, unsigned ms)
{
    sim_run run;
    truth_task *tasks = NULL;
    size_t n = 0;

    run_open(&run, options);
    run_start(&run, 44, 0, CONFIG_TRACK(0));
    run_start(&run, 50, 0, CONFIG_ACSQ);
    run_start(&run, 53, 0, config_counters(v6 ? 10 : 8, 3, 1, 0));
    run_step(&run, ms);
    run_stop(&run);
    tasks = run_truth(&run, &n);
    check_stars(&run, tasks, n, packing, v6);
    check_counters(&run, tasks, n, packing, v6);
    every_task_once(tasks, n, wanted);
    free(tasks);
    run_free(&run);
}

static void test_stars(void **state)
{
    (void)state;
    stars_run("pattern=single,tasks=300,seed=3", 0, false, 300, 60);
    stars_run("pattern=streams,tasks=100,disorder=3,seed=4", 0, false, 800, 30);
    stars_run("pattern=single,tasks=40,chip=310B", 0, false, 40, 40);
}

static void test_packed_ids(void **state)
{
    (void)state;
    stars_run("pattern=streams,tasks=50,packing=1", 1, false, 400, 30);
    stars_run("pattern=streams,tasks=50,packing=2", 2, false, 400, 30);
    stars_run("pattern=streams,tasks=50,packing=3", 3, false, 400, 30);
}

static void test_stars_v6(void **state)
{
    (void)state;
    stars_run("pattern=single,tasks=300,chip=950", 0, true, 300, 60);
    stars_run("pattern=streams,tasks=100,chip=950", 0, true, 800, 30);
}

/* The time that readers make of the counters is the task's. */
static void test_cycles_tell_the_duration(void **state)
{
    static const unsigned blocks[] = {1, 8, 24, 25, 100};
    truth_task *tasks = NULL;
    size_t n = 0;
    sim_run run;

    (void)state;
    for (unsigned i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        char options[100];

        (void)snprintf(options, sizeof(options), "pattern=one,mhz=1500,blocks=%u,ppm=0", blocks[i]);
        run_open(&run, options);
        run_start(&run, 50, 0, CONFIG_ACSQ);
        run_start(&run, 53, 0, config_counters(8, 1, 1, 0));
        run_step(&run, 25);
        run_stop(&run);
        tasks = run_truth(&run, &n);
        assert_int_equal(n, 1);
        {
            double rounds = (double)((blocks[i] + 23) / 24);
            double us = (double)tasks[0].cycles / 1500 / blocks[i] * rounds;

            assert_true(us > (double)(tasks[0].end - tasks[0].start) / 50 - 0.1);
            assert_true(us < (double)(tasks[0].end - tasks[0].start) / 50 + 0.1);
        }
        free(tasks);
        run_free(&run);
    }
}

static void test_contexts_and_mix(void **state)
{
    unsigned starts = 0;
    unsigned ends = 0;
    unsigned halves[2] = {0, 0};
    sim_run run;

    (void)state;
    run_open(&run, "pattern=mix,tasks=10");
    run_start(&run, 50, 0, CONFIG_ACSQ);
    run_start(&run, 53, 0, config_counters(8, 3, 1, 0));
    run_step(&run, 40);
    run_stop(&run);
    for (size_t i = 0; i < run.bytes[50]; i += 64) {
        const unsigned char *r = run.data[50] + i;
        unsigned func = at16(r, 0) & 0x3f;

        if (func == 0x22 || func == 0x23) {
            assert_int_equal(r[16], 6);
            assert_int_equal(at16(r, 20) >> 13, 4);
            assert_in_range(at16(r, 18), 0, 23);
            starts += func == 0x22;
            ends += func == 0x23;
        }
    }
    assert_int_equal(starts, 240);
    assert_int_equal(ends, 240);
    for (size_t i = 0; i < run.bytes[53]; i += 128) {
        const unsigned char *r = run.data[53] + i;

        assert_int_equal(at16(r, 20) >> 13, 4);
        assert_in_range(r[16], 6, 7);
        halves[r[16] - 6]++;
    }
    assert_int_equal(halves[0], 10);
    assert_int_equal(halves[1], 10);
    run_close(&run);
}

static void test_block_counters(void **state)
{
    unsigned blocks = 0;
    uint64_t sum = 0;
    uint64_t total = 0;
    sim_run run;

    (void)state;
    run_open(&run, "pattern=one,blocks=8");
    run_start(&run, 50, 0, CONFIG_ACSQ);
    run_start(&run, 53, 0, config_counters(8, 1, 5, 0));
    run_step(&run, 25);
    run_stop(&run);
    for (size_t i = 0; i < run.bytes[53]; i += 128) {
        const unsigned char *r = run.data[53] + i;

        if ((at16(r, 0) & 0x3f) == 0x29) {
            assert_int_equal(r[20], blocks << 1); /* cube core */
            assert_int_equal(at16(r, 30), blocks);
            sum += at64(r, 32);
            blocks++;
        } else {
            total = at64(r, 32);
        }
    }
    assert_int_equal(blocks, 8);
    assert_true(total - sum < 8);
    run_close(&run);
}

static void test_hwts(void **state)
{
    static const char *const chips[] = {"910", "310P"};
    truth_task *tasks = NULL;
    size_t n = 0;
    sim_run run;

    (void)state;
    for (unsigned c = 0; c < 2; c++) {
        char options[100];
        unsigned number = 0;

        (void)snprintf(options, sizeof(options), "chip=%s,pattern=single,tasks=100", chips[c]);
        run_open(&run, options);
        run_start(&run, 44, 0, CONFIG_TRACK(0));
        run_start(&run, 45, 0, config_of(1, 0));
        run_start(&run, 43, 0, config_aicore(0, 0));
        run_step(&run, 40);
        run_stop(&run);
        tasks = run_truth(&run, &n);
        for (size_t i = 0; i < run.bytes[45]; i += 64, number = (number + 1) & 15) {
            const unsigned char *r = run.data[45] + i;
            bool end = (r[0] & 7) == 1;
            truth_task *t =
                find(tasks, n, at32(r, 16), at16(r, 6), end ? 0 : at64(r, 8), end ? at64(r, 8) : 0);

            assert_int_equal(at16(r, 2), 0x6bd3);
            assert_int_equal(r[0] >> 4, number);
            assert_int_equal(r[1], t->sqe);
            t->starts += !end;
            t->ends += end;
        }
        number = 0;
        for (size_t i = 0; i < run.bytes[43]; i += 128, number = (number + 1) & 15) {
            const unsigned char *r = run.data[43] + i;
            truth_task *t = find(tasks, n, at32(r, 96), at16(r, 6), 0, 0);

            assert_int_equal(r[0], 2 | number << 4);
            assert_true(at64(r, 16) == t->cycles);
            t->counters++;
        }
        every_task_once(tasks, n, 100);
        free(tasks);
        run_free(&run);
    }
}

static void test_mini_timeline(void **state)
{
    truth_task *tasks = NULL;
    size_t n = 0;
    sim_run run;

    (void)state;
    run_open(&run, "chip=310,pattern=single,tasks=60");
    run_start(&run, 44, 0, CONFIG_TRACK(1));
    run_step(&run, 40);
    run_stop(&run);
    tasks = run_truth(&run, &n);
    assert_int_equal(run.bytes[44], 2 * 32 * n);
    for (size_t i = 0; i < run.bytes[44]; i += 32) {
        const unsigned char *r = run.data[44] + i;
        unsigned at = at16(r, 10);
        bool end = at == 3 || at == 8;
        truth_task *t =
            find(tasks, n, at16(r, 12), at16(r, 14), end ? 0 : at64(r, 16), end ? at64(r, 16) : 0);

        assert_int_equal(r[1], 3);
        assert_int_equal(at16(r, 2), 32);
        assert_true(at == 2 || at == 3 || at == 7 || at == 8);
        t->starts += !end;
        t->ends += end;
    }
    every_task_once(tasks, n, 60);
    free(tasks);
    run_free(&run);
}

static void test_ids_wrap(void **state)
{
    truth_task *tasks = NULL;
    unsigned flips = 0;
    uint64_t flip = 0;
    size_t n = 0;
    sim_run run;

    (void)state;
    run_open(&run, "pattern=wrap,batch_kib=64");
    run_start(&run, 44, 0, CONFIG_TRACK(0));
    run_start(&run, 50, 0, CONFIG_ACSQ);
    run_step(&run, 230);
    run_stop(&run);
    tasks = run_truth(&run, &n);
    assert_int_equal(n, 65636);
    assert_int_equal(run.bytes[50], 2 * 64 * n);
    for (size_t i = 0; i < run.bytes[44]; i += 40) {
        const unsigned char *r = run.data[44] + i;

        if (r[1] == 14) {
            assert_int_equal(at16(r, 16), 3);
            assert_int_equal(at16(r, 18), 1);
            flip = at64(r, 8);
            flips++;
        }
    }
    assert_int_equal(flips, 1);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(tasks[i].task, i & 0xffff);
        assert_int_equal(tasks[i].flip, i >> 16);
        assert_true((tasks[i].start >= flip) == (i >= 65536));
    }
    free(tasks);
    run_free(&run);
}

static void test_track_kinds(void **state)
{
    unsigned seen[16] = {0};
    uint64_t last = 0;
    sim_run run;

    (void)state;
    run_open(&run, "pattern=single,tasks=60");
    run_start(&run, 44, 0, CONFIG_TRACK(0));
    run_step(&run, 40);
    run_stop(&run);
    for (size_t i = 0; i < run.bytes[44]; i += 40) {
        const unsigned char *r = run.data[44] + i;

        assert_in_range(r[1], 10, 15);
        assert_int_equal(at16(r, 2), 40);
        assert_true(at64(r, 8) >= last);
        last = at64(r, 8);
        seen[r[1]]++;
    }
    assert_int_equal(seen[11], 3 * 10); /* every sixth is a copy, of three states */
    assert_int_equal(seen[12], 60);
    assert_int_equal(seen[15], 30);
    run_close(&run);

    memset(seen, 0, sizeof(seen));
    run_open(&run, "pattern=steps,tasks=8");
    run_start(&run, 44, 0, CONFIG_TRACK(0));
    run_step(&run, 40);
    run_stop(&run);
    for (size_t i = 0; i < run.bytes[44]; i += 40) {
        const unsigned char *r = run.data[44] + i;

        if (r[1] == 10) {
            assert_int_equal(at64(r, 16), 1 + seen[10] / 2);
            assert_int_equal(at16(r, 36), seen[10] % 2);
            seen[10]++;
        }
    }
    assert_int_equal(seen[10], 4);
    run_close(&run);
}

static void test_cache_counters(void **state)
{
    sim_config tlv = {.bytes = 0};
    sim_run run;

    (void)state;
    run_open(&run, "pattern=streams,streams=1,tasks=20");
    config_u16(&tlv, 0);
    config_u16(&tlv, 4 + 2 * 24);
    for (unsigned type = 1; type <= 2; type++) {
        config_u16(&tlv, type);
        config_u16(&tlv, 20);
        config_u32(&tlv, 8);
        for (unsigned i = 0; i < 8; i++) {
            config_u16(&tlv, 0x80 + i);
        }
    }
    run_start(&run, 50, 0, CONFIG_ACSQ);
    run_start(&run, 47, 0, config_of(6, 5u, 0xfbu, 0xfcu, 0x90u, 0x91u, 0x9cu));
    run_start(&run, 134, 0, tlv);
    run_step(&run, 30);
    run_stop(&run);
    assert_int_equal(run.bytes[47], 20 * 72);
    assert_int_equal(run.bytes[134], 40 * 80);
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(at16(run.data[47] + 72 * i, 2), 3);
        assert_int_equal(at16(run.data[47] + 72 * i, 4), i);
        assert_true(at64(run.data[47] + 72 * i, 8 + 4 * 8) > 0);
        assert_true(at64(run.data[47] + 72 * i, 8 + 5 * 8) == 0);
        assert_int_equal(at16(run.data[134] + 160 * i, 14), 1);
        assert_int_equal(at16(run.data[134] + 160 * i + 80, 14), 2);
        assert_int_equal(at16(run.data[134] + 160 * i, 12), i);
    }
    run_close(&run);
}

static void test_ai_cpu(void **state)
{
    ap__hal_channels list;
    truth_task *tasks = NULL;
    size_t n = 0;
    size_t k = 0;
    sim_run run;

    (void)state;
    run_open(&run, "pattern=single,tasks=60,late=1");
    assert_int_equal(ap__sim_channels(run.sim, 0, &list), 0);
    run_start(&run, 50, 0, CONFIG_ACSQ);
    run_start(&run, 143, 10, config_of(0));
    run_step(&run, 40);
    run_stop(&run);
    tasks = run_truth(&run, &n);
    assert_int_equal(run.bytes[143], 10 * 256);
    for (size_t i = 0; i < n; i++) {
        if (tasks[i].sqe == 1) {
            const unsigned char *r = run.data[143] + 256 * k++;

            assert_int_equal(at16(r, 0), 0x5a5a);
            assert_int_equal(at16(r, 2), 6000);
            assert_int_equal(at16(r, 26), tasks[i].task);
            assert_true(at64(r, 32) == tasks[i].start && at64(r, 80) == tasks[i].end);
        }
    }
    assert_int_equal(k, 10);
    free(tasks);
    run_free(&run);
}

/* Two runs of one seed give the same bytes. */
static void test_same_seed_same_bytes(void **state)
{
    sim_run run[3];

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        run_open(&run[i], i < 2 ? "pattern=streams,tasks=50,seed=9,disorder=3"
                                : "pattern=streams,tasks=50,seed=10,disorder=3");
        run_start(&run[i], 50, 0, CONFIG_ACSQ);
        run_start(&run[i], 53, 0, config_counters(8, 3, 1, 0));
        run_start(&run[i], 8, 10, config_of(2, 10, 1));
        run_step(&run[i], 40);
        run_stop(&run[i]);
    }
    for (unsigned c = 8; c <= 53; c++) {
        assert_true(run[0].bytes[c] == run[1].bytes[c]);
        if (run[0].bytes[c] > 0) {
            assert_memory_equal(run[0].data[c], run[1].data[c], run[0].bytes[c]);
            assert_true(run[0].bytes[c] != run[2].bytes[c] ||
                        memcmp(run[0].data[c], run[2].data[c], run[0].bytes[c]) != 0);
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        run_close(&run[i]);
    }
}

static void test_switches_turn_records_off(void **state)
{
    sim_run run;

    (void)state;
    run_open(&run, "pattern=mix,tasks=10");
    run_start(&run, 50, 0, config_of(9, 0, 0, 0, 0, 0, 0, 1, 0, 0));
    run_start(&run, 53, 0, config_counters(8, 1, 1, 0));
    run_step(&run, 40);
    run_stop(&run);
    assert_int_equal(run.bytes[50], 480 * 64);
    for (size_t i = 0; i < run.bytes[50]; i += 64) {
        assert_in_range(at16(run.data[50] + i, 0) & 0x3f, 0x22, 0x23);
    }
    assert_int_equal(run.bytes[53], 10 * 128); /* the cube's half alone */
    run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stars),
        cmocka_unit_test(test_packed_ids),
        cmocka_unit_test(test_stars_v6),
        cmocka_unit_test(test_cycles_tell_the_duration),
        cmocka_unit_test(test_contexts_and_mix),
        cmocka_unit_test(test_block_counters),
        cmocka_unit_test(test_hwts),
        cmocka_unit_test(test_mini_timeline),
        cmocka_unit_test(test_ids_wrap),
        cmocka_unit_test(test_track_kinds),
        cmocka_unit_test(test_cache_counters),
        cmocka_unit_test(test_ai_cpu),
        cmocka_unit_test(test_same_seed_same_bytes),
        cmocka_unit_test(test_switches_turn_records_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
