/* SPDX-License-Identifier: Apache-2.0 */
/* A simulator in virtual time whose channels are read as they fill. */
#ifndef AP_TEST_SIM_RUN_H_
#define AP_TEST_SIM_RUN_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "drivers/sim/sim.h"

typedef struct sim_run {
    ap__sim *sim;
    uint32_t device;
    uint32_t started[AP_HAL_MAX_CHANNELS];
    unsigned starts;
    unsigned char *data[AP_HAL_MAX_CHANNELS];
    size_t bytes[AP_HAL_MAX_CHANNELS];
    size_t room[AP_HAL_MAX_CHANNELS];
    char truth[64]; /* file */
} sim_run;

typedef struct sim_config {
    unsigned char data[AP_HAL_MAX_CONFIG];
    uint32_t bytes;
} sim_config;

static inline void config_u32(sim_config *c, uint32_t v)
{
    memcpy(c->data + c->bytes, &v, 4);
    c->bytes += 4;
}

static inline void config_u16(sim_config *c, uint32_t v)
{
    uint16_t w = (uint16_t)v;

    memcpy(c->data + c->bytes, &w, 2);
    c->bytes += 2;
}

/* Numbers of 4 bytes. */
static inline sim_config config_of(unsigned n, ...)
{
    sim_config c = {.bytes = 0};
    va_list args;

    va_start(args, n);
    for (unsigned i = 0; i < n; i++) {
        config_u32(&c, va_arg(args, uint32_t));
    }
    va_end(args);
    return c;
}

#define CONFIG_ACSQ config_of(11, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0)
#define CONFIG_TRACK(timeline) config_of(9, 0, 1, 0, 0, (timeline), 0, 1, 0x86000001u, 1)

/* Channels 53 and 54. type: 1 task, 2 sample, 4 block */
static inline sim_config config_counters(unsigned slots, uint32_t mode, uint32_t type,
                                         uint32_t period)
{
    static const uint16_t events[10] = {0x8, 0xa, 0x9, 0xb, 0xc, 0xd, 0x54, 0x55, 0x501, 0x301};
    sim_config c = {.bytes = 0};

    config_u32(&c, mode);
    for (unsigned half = 0; half < 2; half++) {
        config_u32(&c, type);
        config_u32(&c, period);
        config_u32(&c, 0xffffffff);
        config_u32(&c, slots);
        for (unsigned i = 0; i < slots; i++) {
            config_u16(&c, events[i]);
        }
    }
    config_u32(&c, 0);
    for (unsigned i = 0; slots == 10 && i < 2; i++) {
        config_u32(&c, 0);
    }
    return c;
}

/* Channel 43 or 85. */
static inline sim_config config_aicore(uint32_t sample, uint32_t period)
{
    return config_of(14, sample, sample != 0 ? 26214u : 0u, period, 0xffffffffu, 8u, 0x8u, 0xau,
                     0x9u, 0xbu, 0xcu, 0xdu, 0x54u, 0x55u, 0u);
}

static inline void run_open(sim_run *run, const char *options)
{
    char text[2000];
    char error[256] = "";

    memset(run, 0, sizeof(*run));
    (void)snprintf(run->truth, sizeof(run->truth), "sim_truth.%ld", (long)getpid());
    (void)snprintf(text, sizeof(text), "step=1,truth=%s,%s", run->truth, options);
    if (ap__sim_create(&run->sim, text, error, sizeof(error)) != 0) {
        fail_msg("%s", error);
    }
}

static inline void run_start(sim_run *run, uint32_t channel, uint32_t period, sim_config config)
{
    ap__hal_start start = {
        .period_ms = period, .config = config.data, .config_bytes = config.bytes};
    int rc = ap__sim_start(run->sim, run->device, channel, &start);

    if (rc != 0) {
        fail_msg("start of %u: %d, %s", channel, rc, ap__sim_config_error(run->sim, run->device));
    }
    run->started[run->starts++] = channel;
}

static inline void run_read(sim_run *run)
{
    for (unsigned i = 0; i < run->starts; i++) {
        uint32_t c = run->started[i];
        int n = 0;

        do {
            if (run->room[c] < run->bytes[c] + (1u << 20)) {
                run->room[c] = 2 * (run->bytes[c] + (1u << 20));
                run->data[c] = realloc(run->data[c], run->room[c]);
                assert_non_null(run->data[c]);
            }
            n = ap__sim_read(run->sim, run->device, c, run->data[c] + run->bytes[c], 1u << 20);
            run->bytes[c] += n > 0 ? (size_t)n : 0;
        } while (n > 0);
    }
}

static inline void run_step(sim_run *run, unsigned ms)
{
    for (unsigned i = 0; i < ms; i++) {
        ap__sim_step(run->sim, 1000000);
        run_read(run);
    }
}

/* What the device still holds, then stops every channel. */
static inline void run_stop(sim_run *run)
{
    uint32_t pending = 0;
    uint32_t left = 0;

    do {
        left = 0;
        for (unsigned i = 0; i < run->starts; i++) {
            (void)ap__sim_flush(run->sim, run->device, run->started[i], &pending);
            left += pending;
        }
        run_read(run);
    } while (left > 0);
    for (unsigned i = 0; i < run->starts; i++) {
        (void)ap__sim_stop(run->sim, run->device, run->started[i]);
    }
    run->starts = 0;
}

static inline void run_close(sim_run *run)
{
    ap__sim_destroy(run->sim);
    for (unsigned i = 0; i < AP_HAL_MAX_CHANNELS; i++) {
        free(run->data[i]);
    }
    (void)unlink(run->truth);
}

static inline uint64_t at64(const unsigned char *record, size_t offset)
{
    uint64_t v = 0;

    memcpy(&v, record + offset, 8);
    return v;
}

static inline uint32_t at32(const unsigned char *record, size_t offset)
{
    uint32_t v = 0;

    memcpy(&v, record + offset, 4);
    return v;
}

static inline uint32_t at16(const unsigned char *record, size_t offset)
{
    return record[offset] | (uint32_t)record[offset + 1] << 8;
}

typedef struct truth_task {
    unsigned device;
    unsigned stream;
    unsigned task;
    unsigned flip;
    unsigned sqe;
    unsigned blocks;
    unsigned long long start;
    unsigned long long end;
    char seen[8];
    unsigned long long cycles;
    char name[64];
    unsigned starts; /* records found */
    unsigned ends;
    unsigned counters;
} truth_task;

/* The file is whole once the simulator is gone. */
static inline truth_task *truth_read(const char *path, size_t *count)
{
    FILE *file = fopen(path, "r");
    truth_task *tasks = NULL;
    char line[256];
    size_t room = 0;

    *count = 0;
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        truth_task t = {0};

        if (sscanf(line, "task %u %u %u %u %u %u %llu %llu %7s %llu %63s", &t.device, &t.stream,
                   &t.task, &t.flip, &t.sqe, &t.blocks, &t.start, &t.end, t.seen, &t.cycles,
                   t.name) == 11) {
            if (*count == room) {
                room = 2 * room + 64;
                tasks = realloc(tasks, room * sizeof(*tasks));
                assert_non_null(tasks);
            }
            tasks[(*count)++] = t;
        }
    }
    (void)fclose(file);
    return tasks;
}

/* Ends the simulator, whose data stay, and reads the truth. */
static inline truth_task *run_truth(sim_run *run, size_t *count)
{
    truth_task *tasks = NULL;

    ap__sim_destroy(run->sim);
    run->sim = NULL;
    tasks = truth_read(run->truth, count);
    for (unsigned i = 0; i < AP_HAL_MAX_CHANNELS; i++) {
        if (run->data[i] == NULL) {
            run->bytes[i] = 0;
        }
    }
    (void)unlink(run->truth);
    return tasks;
}

static inline void run_free(sim_run *run)
{
    for (unsigned i = 0; i < AP_HAL_MAX_CHANNELS; i++) {
        free(run->data[i]);
        run->data[i] = NULL;
    }
}

#endif
