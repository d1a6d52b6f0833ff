/* SPDX-License-Identifier: Apache-2.0 */
/* Making and ending a simulator, and the one that a process shares. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock/cycles.h"
#include "drivers/ascend/vendor_abi.h"
#include "drivers/sim/internal.h"
#include "drivers/sim/random.h"
#include "drivers/sim/scenario.h"
#include "drivers/sim/source.h"

#define AP_VIRTUAL_BEGIN UINT64_C(1000000000000)
#define AP_LOST_MS 10000u
#define AP_HUNG_CALL_SECONDS 2

uint64_t ap__sim_now(ap__sim *sim)
{
    return sim->options.step != 0 ? atomic_load_explicit(&sim->virtual_ns, memory_order_relaxed)
                                  : ap__mono_raw_ns();
}

void ap__sim_enter(ap__sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    sim->inside++;
    pthread_mutex_unlock(&sim->lock);
}

void ap__sim_leave(ap__sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    sim->inside--;
    pthread_cond_broadcast(&sim->wake);
    pthread_mutex_unlock(&sim->lock);
}

bool ap__sim_wait(ap__sim *sim, uint64_t ms, bool for_ever)
{
    uint64_t us = ms * 1000 / sim->options.speed;
    struct timespec end;
    bool closing = false;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t)(us / 1000000);
    end.tv_nsec += (long)(us % 1000000) * 1000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&sim->lock);
    while (!sim->closing) {
        if (for_ever) {
            pthread_cond_wait(&sim->wake, &sim->lock);
        } else if (pthread_cond_timedwait(&sim->wake, &sim->lock, &end) != 0) {
            break;
        }
    }
    closing = sim->closing;
    pthread_mutex_unlock(&sim->lock);
    return closing;
}

bool ap__sim_lost(ap__sim *sim, uint32_t device)
{
    ap__sim_fault hit;

    return ap__sim_strikes(sim, AP_FAULT_LOST, device, AP_FAULT_ANY, &hit);
}

bool ap__sim_lost_call(ap__sim *sim, uint32_t device)
{
    if (!ap__sim_lost(sim, device)) {
        return false;
    }
    ap__sim_wait(sim, AP_LOST_MS, false);
    return true;
}

static void ap__device_close(ap__sim_device *device)
{
    ap__sim_source_close(device);
    ap__sim_heap_close(&device->heap);
    free(device->streams);
    for (uint32_t i = 0; i < AP_HAL_MAX_CHANNELS; i++) {
        ap__sim_ring_close(&device->channel[i].ring);
        free(device->channel[i].held);
        pthread_mutex_destroy(&device->channel[i].lock);
    }
    pthread_mutex_destroy(&device->lock);
}

/* Steps of the clock are faults that are known beforehand. */
static void ap__clock_steps(ap__sim_device *device)
{
    ap__sim_faults *faults = &device->sim->faults;
    ap__sim_clock *clock = &device->clock;

    for (uint32_t i = 0; i < faults->count; i++) {
        const ap__sim_fault *f = &faults->fault[i];

        if (f->kind == AP_FAULT_CLOCK_STEP && clock->steps < AP_SIM_CLOCK_STEPS &&
            (f->device == AP_FAULT_ANY || f->device == device->id)) {
            clock->step[clock->steps].at_ns = device->sim->opened_ns + f->from_ns;
            clock->step[clock->steps++].cycles = f->v;
        }
    }
}

static void ap__device_open(ap__sim *sim, uint32_t id)
{
    const ap__sim_options *o = &sim->options;
    ap__sim_device *device = &sim->device[id];

    device->sim = sim;
    device->id = id;
    device->random = ap__sim_mix(((uint64_t)o->seed << 8) + id + 1);
    device->generated_ns = sim->opened_ns;
    device->memory = UINT64_C(1) << 30;
    pthread_mutex_init(&device->lock, NULL);
    for (uint32_t i = 0; i < AP_HAL_MAX_CHANNELS; i++) {
        pthread_mutex_init(&device->channel[i].lock, NULL);
    }
    ap__sim_clock_open(&device->clock, sim->opened_ns, sim->chip->khz, o->ppm + (int32_t)id % 3,
                       o->nsppm, o->wrap, device->random);
    ap__clock_steps(device);
}

static FILE *ap__truth_open(const char *name)
{
    char path[600];
    const char *pid = strstr(name, "%p");

    if (pid != NULL) {
        (void)snprintf(path, sizeof(path), "%.*s%ld%s", (int)(pid - name), name, (long)getpid(),
                       pid + 2);
        name = path;
    }
    return fopen(name, "we");
}

static int ap__wake_open(ap__sim *sim)
{
    pthread_condattr_t attr;
    int rc = -1;

    if (pthread_condattr_init(&attr) != 0) {
        return -1;
    }
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    rc = pthread_cond_init(&sim->wake, &attr);
    pthread_condattr_destroy(&attr);
    return rc == 0 ? 0 : -1;
}

static uint32_t ap__or(uint32_t value, uint32_t otherwise)
{
    return value != AP_SIM_UNSET ? value : otherwise;
}

/* What follows from the options; the devices not yet. */
static int ap__settle(ap__sim *sim, char *error, size_t size)
{
    const ap__sim_options *o = &sim->options;

    sim->chip = ap__sim_chip_find(o->chip);
    if (sim->chip == NULL) {
        (void)snprintf(error, size, "the simulator has no chip '%s'", o->chip);
        return -1;
    }
    sim->aic = ap__or(o->aic, sim->chip->aic);
    sim->aiv = ap__or(o->aiv, sim->chip->aiv);
    sim->mhz = ap__or(o->mhz, sim->chip->mhz);
    if (!ap__sim_pattern_known(o->pattern)) {
        (void)snprintf(error, size, "the simulator has no pattern '%s'", o->pattern);
        return -1;
    }
    sim->faults.random = ap__sim_mix(o->seed ^ UINT64_C(0xfa17));
    if (ap__sim_faults_parse(&sim->faults, o->fault, error, size) != 0) {
        return -1;
    }
    if (o->truth[0] != '\0') {
        sim->truth = ap__truth_open(o->truth);
        if (sim->truth == NULL) {
            (void)snprintf(error, size, "the simulator cannot write %s", o->truth);
            return -1;
        }
    }
    return 0;
}

/* The options of the environment or the text, then those of the scenario that they name. */
static int ap__read_options(ap__sim_options *options, struct ap__sim_scenario **scenario,
                            const char *text, char *error, size_t size)
{
    if (text[0] == '\0') {
        text = getenv("ACLPROF_SIM");
    }
    ap__sim_options_default(options);
    if (text != NULL && ap__sim_options_parse(options, text, error, size) != 0) {
        return -1;
    }
    if (options->scenario[0] != '\0') {
        *scenario = ap__sim_scenario_load(options->scenario, options, error, size);
        if (*scenario == NULL) {
            return -1;
        }
    }
    return 0;
}

int ap__sim_create(ap__sim **out, const char *options, char *error, size_t size)
{
    struct ap__sim_scenario *scenario = NULL;
    ap__sim_options parsed;
    ap__sim *sim = NULL;

    *out = NULL;
    if (ap__read_options(&parsed, &scenario, options, error, size) != 0) {
        return AP_HAL_INVALID;
    }
    sim = calloc(1, sizeof(*sim) + parsed.devices * sizeof(sim->device[0]));
    if (sim == NULL || ap__wake_open(sim) != 0) {
        (void)snprintf(error, size, "no memory for the simulator");
        ap__sim_scenario_free(scenario);
        free(sim);
        return AP_HAL_IO;
    }
    sim->options = parsed;
    sim->scenario = scenario;
    pthread_mutex_init(&sim->lock, NULL);
    pthread_mutex_init(&sim->truth_lock, NULL);
    pthread_mutex_init(&sim->faults.lock, NULL);
    if (ap__sim_poll_open(&sim->poll) != 0 || ap__settle(sim, error, size) != 0) {
        sim->options.devices = 0;
        ap__sim_destroy(sim);
        return AP_HAL_INVALID;
    }
    atomic_store(&sim->virtual_ns, AP_VIRTUAL_BEGIN);
    sim->opened_ns = ap__sim_now(sim);
    for (uint32_t i = 0; i < parsed.devices; i++) {
        ap__device_open(sim, i);
    }
    *out = sim;
    return AP_HAL_OK;
}

/* Lets hung calls go; false when one does not return. */
static bool ap__let_go(ap__sim *sim)
{
    struct timespec end;
    bool empty = false;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += AP_HUNG_CALL_SECONDS;
    pthread_mutex_lock(&sim->lock);
    sim->closing = true;
    pthread_cond_broadcast(&sim->wake);
    while (sim->inside > 0 && pthread_cond_timedwait(&sim->wake, &sim->lock, &end) == 0) {
    }
    empty = sim->inside == 0;
    pthread_mutex_unlock(&sim->lock);
    return empty;
}

void ap__sim_destroy(ap__sim *sim)
{
    bool empty = ap__let_go(sim);

    ap__sim_generator_end(sim);
    if (sim->truth != NULL) {
        (void)fclose(sim->truth);
        sim->truth = NULL;
    }
    if (!empty) {
        return; /* a thread is still in here: its memory stays */
    }
    for (uint32_t i = 0; i < sim->options.devices; i++) {
        ap__device_close(&sim->device[i]);
    }
    ap__sim_scenario_free(sim->scenario);
    ap__sim_poll_close(&sim->poll);
    pthread_mutex_destroy(&sim->faults.lock);
    pthread_mutex_destroy(&sim->truth_lock);
    pthread_mutex_destroy(&sim->lock);
    pthread_cond_destroy(&sim->wake);
    free(sim);
}

static pthread_mutex_t ap__shared_lock = PTHREAD_MUTEX_INITIALIZER;
static ap__sim *ap__shared;
static uint32_t ap__shared_users;

ap__sim *ap__sim_acquire(int *rc, char *error, size_t size)
{
    ap__sim *sim = NULL;

    *rc = AP_HAL_OK;
    pthread_mutex_lock(&ap__shared_lock);
    if (ap__shared == NULL) {
        *rc = ap__sim_create(&ap__shared, "", error, size);
    }
    if (ap__shared != NULL) {
        ap__shared_users++;
        sim = ap__shared;
    }
    pthread_mutex_unlock(&ap__shared_lock);
    return sim;
}

bool ap__sim_release(ap__sim *sim)
{
    bool shared = false;
    bool last = false;

    pthread_mutex_lock(&ap__shared_lock);
    shared = sim == ap__shared;
    last = shared && --ap__shared_users == 0;
    if (last) {
        ap__shared = NULL;
    }
    pthread_mutex_unlock(&ap__shared_lock);
    if (last) {
        ap__sim_destroy(sim);
    }
    return shared;
}
