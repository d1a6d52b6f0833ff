/* SPDX-License-Identifier: Apache-2.0 */
/* Start, stop, read, flush and poll, with the states and codes of the real driver. */
#include <string.h>
#include <time.h>

#include "drivers/ascend/vendor_abi.h"
#include "drivers/sim/internal.h"
#include "drivers/sim/random.h"
#include "drivers/sim/source.h"
#include "drivers/sim/truth.h"

#define AP_DRAIN_ROUNDS 1000 /* of a millisecond */
#define AP_OFTEN_LATE 143u
#define AP_INNER_ERROR 7

static ap__sim_channel *ap__channel(ap__sim *sim, uint32_t device, uint32_t channel)
{
    if (device >= sim->options.devices || channel >= AP_HAL_MAX_CHANNELS) {
        return NULL;
    }
    return &sim->device[device].channel[channel];
}

static bool ap__offered(ap__sim *sim, uint32_t device, uint32_t channel)
{
    ap__sim_device *dev = &sim->device[device];
    ap__hal_channels list;
    uint32_t calls = 0;

    ap__sim_chip_channels(sim->chip, &list);
    if (channel == AP_OFTEN_LATE) {
        pthread_mutex_lock(&dev->lock);
        calls = dev->list_calls;
        pthread_mutex_unlock(&dev->lock);
        return sim->options.late != 0 && calls >= sim->options.late;
    }
    return ap__hal_has(&list, channel) != 0;
}

static int ap__list(ap__sim *sim, uint32_t device, ap__hal_channels *out)
{
    ap__sim_device *dev = &sim->device[device];
    ap__sim_fault hit;
    uint32_t calls = 0;

    if (ap__sim_lost_call(sim, device)) {
        return AP_VENDOR_WAIT_TIMEOUT;
    }
    pthread_mutex_lock(&dev->lock);
    calls = ++dev->list_calls;
    pthread_mutex_unlock(&dev->lock);
    ap__sim_chip_channels(sim->chip, out);
    if (sim->options.late != 0 && calls >= sim->options.late) {
        ap__sim_channel_set(out, AP_OFTEN_LATE, 1);
    }
    for (uint32_t i = 0; i < AP_HAL_MAX_CHANNELS; i++) {
        if (ap__hal_has(out, i) && ap__sim_strikes(sim, AP_FAULT_LIST_MISS, device, i, &hit)) {
            ap__sim_channel_set(out, i, 0);
        }
    }
    return 0;
}

int ap__sim_channels(ap__sim *sim, uint32_t device, ap__hal_channels *out)
{
    int rc = AP_VENDOR_INVALID;

    if (out == NULL || device >= sim->options.devices) {
        return rc;
    }
    ap__sim_enter(sim);
    rc = ap__list(sim, device, out);
    ap__sim_leave(sim);
    return rc;
}

/* From one state to another; false when it is in a third. */
static bool ap__change(ap__sim_channel *ch, uint32_t from, uint32_t to)
{
    bool right = false;

    pthread_mutex_lock(&ch->lock);
    right = ch->state == from;
    if (right) {
        ch->state = to;
    }
    pthread_mutex_unlock(&ch->lock);
    return right;
}

/* What the device says to a start. */
static int ap__device_start(ap__sim *sim, uint32_t device, uint32_t channel,
                            const ap__hal_start *start, ap__sim_config *config)
{
    ap__sim_device *dev = &sim->device[device];
    char error[sizeof(dev->config_error)];
    ap__sim_fault hit;

    if (ap__sim_lost_call(sim, device)) {
        return AP_VENDOR_WAIT_TIMEOUT;
    }
    if (ap__sim_strikes(sim, AP_FAULT_START_SLOW, device, channel, &hit) &&
        ap__sim_wait(sim, hit.ms, hit.for_ever)) {
        return AP_VENDOR_WAIT_TIMEOUT;
    }
    if (ap__sim_strikes(sim, AP_FAULT_START_RC, device, channel, &hit)) {
        return (int)hit.v;
    }
    if (ap__sim_config_read(config, sim->chip, channel, start->period_ms, start->config,
                            start->config_bytes, sim->options.strict != 0, error,
                            sizeof(error)) != 0) {
        pthread_mutex_lock(&dev->lock);
        memcpy(dev->config_error, error, sizeof(error));
        pthread_mutex_unlock(&dev->lock);
        return AP_VENDOR_INVALID;
    }
    return 0;
}

static bool ap__carries_tasks(uint32_t channel)
{
    return channel == 44 || channel == 45 || channel == 50;
}

/* From here on the device records into the channel, and it can be read and stopped. */
static void ap__go_live(ap__sim_device *dev, uint32_t channel, const ap__sim_config *config)
{
    ap__sim_channel *ch = &dev->channel[channel];
    uint64_t now = 0;

    pthread_mutex_lock(&dev->lock);
    now = ap__sim_now(dev->sim);
    ap__sim_advance(dev, now);
    ch->config = *config;
    ch->number = 0;
    ch->waiting = 0;
    ch->held_bytes = 0;
    ch->next_ns = now;
    ch->live_ns = now;
    ch->last_busy_ns = dev->busy_ns;
    ch->live = true;
    dev->live++;
    pthread_mutex_lock(&ch->lock);
    ch->state = AP_SIM_RUNNING;
    ap__sim_poll_started(&dev->sim->poll);
    pthread_mutex_unlock(&ch->lock);
    if (ap__carries_tasks(channel)) {
        ap__sim_source_begin(dev, now);
    }
    pthread_mutex_unlock(&dev->lock);
}

static int ap__start(ap__sim *sim, uint32_t device, uint32_t channel, const ap__hal_start *start)
{
    ap__sim_device *dev = &sim->device[device];
    ap__sim_channel *ch = &dev->channel[channel];
    ap__sim_config config;
    int rc = 0;

    if (!ap__offered(sim, device, channel)) {
        return AP_VENDOR_NOT_SUPPORTED;
    }
    if (!ap__change(ch, AP_SIM_STOPPED, AP_SIM_STARTING)) {
        return AP_VENDOR_STATUS;
    }
    rc = ap__device_start(sim, device, channel, start, &config);
    if (rc == 0 && ap__sim_generator_wake(sim) != 0) {
        rc = AP_INNER_ERROR;
    }
    pthread_mutex_lock(&ch->lock);
    if (rc == 0 &&
        ap__sim_ring_open(&ch->ring, channel == AP_OFTEN_LATE ? AP_SIM_RING_BYTES_AICPU
                                                              : AP_SIM_RING_BYTES) != 0) {
        rc = AP_INNER_ERROR;
    }
    if (rc != 0) {
        ch->state = AP_SIM_STOPPED;
    }
    pthread_mutex_unlock(&ch->lock);
    if (rc == 0) {
        ap__go_live(dev, channel, &config);
        (void)ap__sim_generator_wake(sim); /* it may have found nothing to do meanwhile */
    }
    return rc;
}

int ap__sim_start(ap__sim *sim, uint32_t device, uint32_t channel, const ap__hal_start *start)
{
    int rc = AP_VENDOR_INVALID;

    if (ap__channel(sim, device, channel) == NULL || start == NULL ||
        start->config_bytes > AP_HAL_MAX_CONFIG ||
        (start->config == NULL && start->config_bytes > 0)) {
        return rc;
    }
    ap__sim_enter(sim);
    rc = ap__start(sim, device, channel, start);
    ap__sim_leave(sim);
    return rc;
}

/* The device stops recording and hands over the rest. */
static void ap__end_live(ap__sim_device *dev, uint32_t channel)
{
    ap__sim_channel *ch = &dev->channel[channel];
    bool tasks = false;

    pthread_mutex_lock(&dev->lock);
    if (ch->live) {
        if (!ap__sim_lost(dev->sim, dev->id)) {
            ap__sim_advance(dev, ap__sim_now(dev->sim));
            ap__sim_put_window(dev, channel);
            ap__sim_deliver(dev, channel);
        }
        ch->live = false;
        dev->live--;
    }
    for (uint32_t i = 44; i <= 50; i++) {
        tasks = tasks || (dev->channel[i].live && ap__carries_tasks(i));
    }
    if (!tasks) {
        ap__sim_source_end(dev);
    }
    pthread_mutex_unlock(&dev->lock);
    ap__sim_truth_write(dev->sim);
}

/* Bytes that are still to be read. What the device could not hand over follows as room appears. */
static bool ap__drained(ap__sim_device *dev, uint32_t channel)
{
    ap__sim_channel *ch = &dev->channel[channel];
    bool empty = false;

    pthread_mutex_lock(&dev->lock);
    ap__sim_deliver(dev, channel);
    empty = ch->held_bytes == 0;
    pthread_mutex_unlock(&dev->lock);
    pthread_mutex_lock(&ch->lock);
    empty = empty && ap__sim_ring_pending(&ch->ring) == 0;
    pthread_mutex_unlock(&ch->lock);
    return empty;
}

static int ap__stop(ap__sim *sim, uint32_t device, uint32_t channel)
{
    static const struct timespec ms = {0, 1000000};
    ap__sim_device *dev = &sim->device[device];
    ap__sim_channel *ch = &dev->channel[channel];
    ap__sim_fault hit;
    int rc = 0;

    if (!ap__change(ch, AP_SIM_RUNNING, AP_SIM_STOPPING)) {
        return AP_VENDOR_STATUS;
    }
    if (ap__sim_lost_call(sim, device)) {
        rc = AP_VENDOR_WAIT_TIMEOUT;
    }
    if (ap__sim_strikes(sim, AP_FAULT_STOP_SLOW, device, channel, &hit)) {
        ap__sim_wait(sim, hit.ms, hit.for_ever);
    }
    ap__end_live(dev, channel);
    ap__sim_tell(dev, channel);
    for (int i = 0; i < AP_DRAIN_ROUNDS && !ap__drained(dev, channel); i++) {
        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL);
    }
    pthread_mutex_lock(&dev->lock);
    ch->held_bytes = 0;
    pthread_mutex_unlock(&dev->lock);
    pthread_mutex_lock(&ch->lock);
    ap__sim_ring_close(&ch->ring);
    ch->state = AP_SIM_STOPPED;
    ap__sim_poll_stopped(&sim->poll, device, channel);
    pthread_mutex_unlock(&ch->lock);
    if (rc == 0 && ap__sim_strikes(sim, AP_FAULT_STOP_RC, device, channel, &hit)) {
        rc = (int)hit.v;
    }
    return rc;
}

int ap__sim_stop(ap__sim *sim, uint32_t device, uint32_t channel)
{
    int rc = AP_VENDOR_INVALID;

    if (ap__channel(sim, device, channel) == NULL) {
        return rc;
    }
    ap__sim_enter(sim);
    rc = ap__stop(sim, device, channel);
    ap__sim_leave(sim);
    return rc;
}

int ap__sim_read(ap__sim *sim, uint32_t device, uint32_t channel, void *buffer, uint32_t bytes)
{
    ap__sim_channel *ch = ap__channel(sim, device, channel);
    ap__sim_fault hit;
    int n = AP_VENDOR_STOPPED_ALREADY;

    if (ch == NULL || buffer == NULL) {
        return AP_VENDOR_ERROR;
    }
    if (ap__sim_strikes(sim, AP_FAULT_READ_ERROR, device, channel, &hit)) {
        return (int)hit.v;
    }
    if (ap__sim_strikes(sim, AP_FAULT_EARLY_STOP, device, channel, &hit)) {
        return AP_VENDOR_STOPPED_ALREADY;
    }
    if (ap__sim_strikes(sim, AP_FAULT_EMPTY_READ, device, channel, &hit)) {
        return 0;
    }
    if (bytes > 1 && ap__sim_strikes(sim, AP_FAULT_SHORT_READ, device, channel, &hit)) {
        bytes = hit.v > 0 ? (uint32_t)hit.v
                          : 1 + (uint32_t)(ap__sim_mix(hit.seen) % (bytes < 4096 ? bytes : 4096));
    }
    if (bytes > INT32_MAX) {
        bytes = INT32_MAX;
    }
    pthread_mutex_lock(&ch->lock);
    if (ch->state == AP_SIM_RUNNING || ch->state == AP_SIM_STOPPING) {
        n = (int)ap__sim_ring_take(&ch->ring, buffer, bytes);
    }
    pthread_mutex_unlock(&ch->lock);
    return n;
}

int ap__sim_poll(ap__sim *sim, ap__hal_event *events, int capacity, int seconds)
{
    ap__sim_fault hit;
    int n = 0;

    if (events == NULL || capacity < 1 || capacity > AP_HAL_MAX_POLL) {
        return AP_VENDOR_ERROR;
    }
    if (ap__sim_strikes(sim, AP_FAULT_POLL_ERROR, AP_FAULT_ANY, AP_FAULT_ANY, &hit)) {
        return (int)hit.v;
    }
    if (ap__sim_strikes(sim, AP_FAULT_POLL_STORM, AP_FAULT_ANY, AP_FAULT_ANY, &hit)) {
        return 0;
    }
    ap__sim_enter(sim);
    n = ap__sim_poll_wait(&sim->poll, events, capacity, seconds < 1 || seconds > 5 ? 5 : seconds);
    ap__sim_leave(sim);
    if (n >= 0 && n < capacity &&
        ap__sim_strikes(sim, AP_FAULT_STALE_POLL, AP_FAULT_ANY, AP_FAULT_ANY, &hit)) {
        events[n].device = hit.device == AP_FAULT_ANY ? 0 : hit.device;
        events[n++].channel = hit.channel == AP_FAULT_ANY ? 51 : hit.channel;
    }
    return n;
}

static int ap__flush(ap__sim *sim, uint32_t device, uint32_t channel, uint32_t *pending)
{
    ap__sim_device *dev = &sim->device[device];
    ap__sim_channel *ch = &dev->channel[channel];
    ap__sim_fault hit;
    int rc = 0;

    pthread_mutex_lock(&ch->lock);
    rc = ch->state == AP_SIM_RUNNING   ? 0
         : ch->state == AP_SIM_STOPPED ? AP_VENDOR_STOPPED_ALREADY
                                       : AP_VENDOR_STATUS;
    pthread_mutex_unlock(&ch->lock);
    if (rc != 0) {
        return rc;
    }
    if (ap__sim_lost_call(sim, device)) {
        return AP_VENDOR_WAIT_TIMEOUT;
    }
    if (ap__sim_strikes(sim, AP_FAULT_FLUSH_RC, device, channel, &hit)) {
        return (int)hit.v;
    }
    pthread_mutex_lock(&dev->lock);
    ap__sim_advance(dev, ap__sim_now(sim));
    ap__sim_put_window(dev, channel);
    ap__sim_deliver(dev, channel);
    pthread_mutex_unlock(&dev->lock);
    pthread_mutex_lock(&ch->lock);
    *pending = ch->ring.data == NULL ? 0 : ap__sim_ring_pending(&ch->ring);
    pthread_mutex_unlock(&ch->lock);
    if (ap__sim_strikes(sim, AP_FAULT_FLUSH_LEN, device, channel, &hit)) {
        *pending = hit.v < 0 && (uint64_t)-hit.v > *pending ? 0 : *pending + (uint32_t)hit.v;
    }
    return 0;
}

int ap__sim_flush(ap__sim *sim, uint32_t device, uint32_t channel, uint32_t *pending)
{
    int rc = AP_VENDOR_INVALID;

    if (ap__channel(sim, device, channel) == NULL || pending == NULL) {
        return rc;
    }
    *pending = 0;
    ap__sim_enter(sim);
    rc = ap__flush(sim, device, channel, pending);
    ap__sim_leave(sim);
    return rc;
}

int ap__sim_report(ap__sim *sim, uint32_t device, uint32_t channel, const void *data, size_t bytes)
{
    ap__sim_channel *ch = ap__channel(sim, device, channel);
    int rc = AP_VENDOR_STOPPED_ALREADY;

    if (ch == NULL) {
        return AP_VENDOR_INVALID;
    }
    pthread_mutex_lock(&ch->lock);
    if (ch->ring.data != NULL) {
        rc = ap__sim_ring_put(&ch->ring, data, bytes);
        ap__sim_tell(&sim->device[device], channel);
    }
    pthread_mutex_unlock(&ch->lock);
    return rc;
}

void ap__sim_count(ap__sim *sim, uint32_t device, uint32_t channel, ap__sim_counts *out)
{
    ap__sim_device *dev = &sim->device[device];

    pthread_mutex_lock(&dev->lock);
    *out = dev->channel[channel].counts;
    out->tasks = dev->tasks;
    pthread_mutex_unlock(&dev->lock);
}

const char *ap__sim_config_error(ap__sim *sim, uint32_t device)
{
    return device < sim->options.devices ? sim->device[device].config_error : "";
}
