/* SPDX-License-Identifier: Apache-2.0 */
/* Devices as the process's driver reports them. */
#define _GNU_SOURCE
#include "session/devices.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/own_thread.h"
#include "clock/cycles.h"
#include "drivers/choose.h"
#include "session/errtext.h"
#include "session/registry.h"
#include "session/set_device.h"

#define AP_PATIENCE_MS 700u
#define AP_IMPATIENCE_MS 50u
#define AP_CHIP_UNASKED 0 /* in the table below: a chip number is stored with 1 added */

static _Atomic int32_t ap__chips[AP_MAX_DEVICES];
static _Atomic uint64_t ap__set_devices;

/* ---- asking, without being held up by a driver that hangs ---- */

typedef struct ap__question {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    const ap__driver *driver;
    int32_t device; /* its chip; -1: how many devices there are */
    int64_t answer; /* negative: none */
    bool done;
    bool left; /* nobody waits any more: the asker frees it */
} ap__question;

static _Atomic uint32_t ap__hanging; /* questions that have not been answered in time */

static void ap__question_free(ap__question *q)
{
    pthread_cond_destroy(&q->answered);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

static int64_t ap__ask_now(const ap__driver *driver, int32_t device)
{
    int64_t value = -1;

    if (device < 0) {
        return driver->ops->devices(driver->context, NULL, 0);
    }
    if (driver->ops->info(driver->context, (uint32_t)device, AP_HAL_CHIP, &value) != AP_HAL_OK) {
        return -1;
    }
    return value;
}

static void *ap__asker_main(void *argument)
{
    ap__question *q = argument;
    int64_t answer = ap__ask_now(q->driver, q->device);
    bool left = false;

    pthread_mutex_lock(&q->lock);
    q->answer = answer;
    q->done = true;
    left = q->left;
    pthread_cond_signal(&q->answered);
    pthread_mutex_unlock(&q->lock);
    if (left) {
        atomic_fetch_sub(&ap__hanging, 1);
        ap__question_free(q);
    }
    return NULL;
}

static ap__question *ap__question_new(const ap__driver *driver, int32_t device)
{
    ap__question *q = calloc(1, sizeof(*q));
    pthread_condattr_t attr;

    if (q != NULL) {
        q->driver = driver;
        q->device = device;
        q->answer = -1;
        pthread_condattr_init(&attr);
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        pthread_cond_init(&q->answered, &attr);
        pthread_condattr_destroy(&attr);
        pthread_mutex_init(&q->lock, NULL);
    }
    return q;
}

/* Negative: no answer. One that hangs is waited for once: while it does, others are not waited for
 * long. */
static int64_t ap__ask(const ap__driver *driver, int32_t device)
{
    uint32_t patience = atomic_load(&ap__hanging) == 0 ? AP_PATIENCE_MS : AP_IMPATIENCE_MS;
    uint64_t until = ap__now_ms() + patience;
    struct timespec ts = {(time_t)(until / 1000u), (long)(until % 1000u) * 1000000L};
    ap__question *q = ap__question_new(driver, device);
    int64_t answer = -1;
    bool done = false;

    if (q == NULL) {
        return -1;
    }
    if (ap__own_thread(NULL, "aclprof-ask", ap__asker_main, q) != 0) {
        ap__question_free(q);
        return ap__ask_now(driver, device);
    }
    pthread_mutex_lock(&q->lock);
    while (!q->done && ap__now_ms() < until) {
        (void)pthread_cond_timedwait(&q->answered, &q->lock, &ts);
    }
    done = q->done;
    answer = q->answer;
    q->left = !done;
    if (!done) {
        atomic_fetch_add(&ap__hanging, 1);
    }
    pthread_mutex_unlock(&q->lock);
    if (done) {
        ap__question_free(q);
    } else {
        ap__log(AP_LOG_WARN, "the driver does not answer; the profiler goes on without");
    }
    return answer;
}

/* ---- the table ---- */

static int32_t ap__driver_count(void)
{
    const ap__driver *driver = ap__driver_now();
    int64_t count = driver->ops != NULL ? ap__ask(driver, -1) : -1;

    return count >= 0 && count <= INT32_MAX ? (int32_t)count : -1;
}

static int32_t ap__driver_chip(uint32_t device)
{
    const ap__driver *driver = ap__driver_now();
    int64_t chip = -1;
    int32_t known = 0;

    if (driver->ops == NULL || device >= AP_MAX_DEVICES) {
        return -1;
    }
    known = atomic_load_explicit(&ap__chips[device], memory_order_relaxed);
    if (known != AP_CHIP_UNASKED) {
        return known - 1;
    }
    chip = ap__ask(driver, (int32_t)device);
    if (chip < 0 || chip > INT16_MAX) {
        return -1; /* asked again next time */
    }
    atomic_store_explicit(&ap__chips[device], (int32_t)chip + 1, memory_order_relaxed);
    return (int32_t)chip;
}

static uint32_t ap__set_list(uint32_t *devices, uint32_t max)
{
    uint64_t set = atomic_load_explicit(&ap__set_devices, memory_order_relaxed);
    uint32_t count = 0;

    for (; set != 0 && count < max; set &= set - 1) {
        devices[count++] = (uint32_t)__builtin_ctzll(set);
    }
    return count;
}

static const ap__device_table ap__driver_devices = {
    .count = ap__driver_count,
    .chip = ap__driver_chip,
    .active = ap__set_list,
};

const ap__device_table *ap__devices = &ap__driver_devices;

void ap__devices_load(void)
{
    if (ap__devices == &ap__driver_devices) {
        (void)ap__driver_now();
        ap__session_link_simulator();
    }
}

const char *ap__devices_why_none(void)
{
    const ap__driver *driver = ap__driver_peek();

    return driver != NULL ? driver->why : "";
}

int32_t ap__device_count(void)
{
    return ap__devices->count();
}

int32_t ap__device_chip(uint32_t device)
{
    return ap__devices->chip(device);
}

uint32_t ap__device_active(uint32_t *devices, uint32_t max)
{
    return ap__devices->active(devices, max);
}

void ap__device_note_set(uint32_t device, bool set)
{
    if (device >= AP_MAX_DEVICES) {
        return;
    }
    if (set) {
        atomic_fetch_or(&ap__set_devices, 1ull << device);
    } else {
        atomic_fetch_and(&ap__set_devices, ~(1ull << device));
    }
}
