/* SPDX-License-Identifier: Apache-2.0 */
/* The way of a record: window of disorder, the device's buffer, the host's ring, the poll queue. */
#include <stdlib.h>
#include <string.h>

#include "drivers/sim/internal.h"
#include "drivers/sim/random.h"

#define AP_HELD_MIN (64u * 1024)

void ap__sim_tell(ap__sim_device *device, uint32_t channel)
{
    ap__sim_fault hit;

    if (!ap__sim_strikes(device->sim, AP_FAULT_HANG, device->id, channel, &hit)) {
        ap__sim_poll_tell(&device->sim->poll, device->id, channel);
    }
}

void ap__sim_deliver(ap__sim_device *device, uint32_t channel)
{
    ap__sim_channel *ch = &device->channel[channel];
    size_t bytes = ch->held_bytes;
    size_t waiting = 0;

    if (bytes == 0) {
        return;
    }
    pthread_mutex_lock(&ch->lock);
    if (ch->ring.data == NULL) {
        bytes = 0;
    } else {
        if (device->sim->options.mode == AP_SIM_BLOCK && bytes > ap__sim_ring_room(&ch->ring)) {
            bytes = ap__sim_ring_room(&ch->ring);
        }
        waiting = ap__sim_ring_pending(&ch->ring) + bytes;
        (void)ap__sim_ring_put(&ch->ring, ch->held, bytes);
        ch->counts.overrun += waiting - ap__sim_ring_pending(&ch->ring);
        ch->counts.bytes += bytes;
    }
    pthread_mutex_unlock(&ch->lock);
    if (bytes == 0) {
        return;
    }
    ch->held_bytes -= bytes;
    memmove(ch->held, ch->held + bytes, ch->held_bytes);
    ch->held_since = ap__sim_now(device->sim);
    ap__sim_tell(device, channel);
}

/* Whether the device's own buffer can take the record, with mode=drop. */
static bool ap__fits(ap__sim_channel *ch, uint32_t bytes)
{
    bool fits = false;

    pthread_mutex_lock(&ch->lock);
    fits = ch->ring.data != NULL && ch->held_bytes + bytes <= ap__sim_ring_room(&ch->ring);
    pthread_mutex_unlock(&ch->lock);
    return fits;
}

static int ap__reserve(ap__sim_channel *ch, uint32_t bytes)
{
    size_t capacity = ch->held_capacity == 0 ? AP_HELD_MIN : ch->held_capacity;
    unsigned char *held = NULL;

    if (ch->held_bytes + bytes <= ch->held_capacity) {
        return 0;
    }
    while (capacity < ch->held_bytes + bytes) {
        capacity *= 2;
    }
    held = realloc(ch->held, capacity);
    if (held == NULL) {
        return -1;
    }
    ch->held = held;
    ch->held_capacity = capacity;
    return 0;
}

static void ap__hold(ap__sim_device *device, uint32_t channel, const unsigned char *record,
                     uint32_t bytes)
{
    ap__sim_channel *ch = &device->channel[channel];
    const ap__sim_options *options = &device->sim->options;

    ch->counts.records++;
    if ((options->mode == AP_SIM_DROP && !ap__fits(ch, bytes)) || ap__reserve(ch, bytes) != 0) {
        ch->counts.dropped++;
        return;
    }
    if (ch->held_bytes == 0) {
        ch->held_since = device->generated_ns;
    }
    memcpy(ch->held + ch->held_bytes, record, bytes);
    ch->held_bytes += bytes;
    if (ch->held_bytes >= options->batch_kib * 1024u) {
        ap__sim_deliver(device, channel);
    }
}

static void ap__number(unsigned char *record, ap__sim_head head, uint8_t number)
{
    if (head == AP_HEAD_STARS) {
        record[0] = (unsigned char)((record[0] & 0x3f) | (number & 3) << 6);
        record[1] = (unsigned char)((record[1] & 0xfc) | number >> 2);
    } else if (head == AP_HEAD_HWTS) {
        record[0] = (unsigned char)((record[0] & 0x0f) | number << 4);
    }
}

/* Faults of single records; *bytes may shrink. True: the record comes twice. */
static bool ap__spoil(ap__sim_device *device, uint32_t channel, unsigned char *record,
                      uint32_t *bytes, ap__sim_head head)
{
    ap__sim *sim = device->sim;
    ap__sim_fault hit;

    if (head != AP_HEAD_NONE &&
        ap__sim_strikes(sim, AP_FAULT_BAD_MAGIC, device->id, channel, &hit)) {
        record[2] = (unsigned char)hit.v;
        record[3] = (unsigned char)(hit.v >> 8);
    }
    if (head == AP_HEAD_STARS &&
        ap__sim_strikes(sim, AP_FAULT_BAD_FUNC, device->id, channel, &hit)) {
        record[0] = (unsigned char)((record[0] & 0xc0) | (hit.v & 0x3f));
    }
    if (ap__sim_strikes(sim, AP_FAULT_TORN, device->id, channel, &hit)) {
        *bytes -= hit.v > 0 && hit.v < (int64_t)*bytes ? (uint32_t)hit.v : 1;
    }
    return ap__sim_strikes(sim, AP_FAULT_DUPLICATE, device->id, channel, &hit);
}

#define AP_RECORD_FAULTS                                                                           \
    (1u << AP_FAULT_BAD_MAGIC | 1u << AP_FAULT_BAD_FUNC | 1u << AP_FAULT_TORN |                    \
     1u << AP_FAULT_DUPLICATE | 1u << AP_FAULT_CNT_GAP)

static void ap__put_now(ap__sim_device *device, uint32_t channel, unsigned char *record,
                        uint32_t bytes, ap__sim_head head)
{
    ap__sim_channel *ch = &device->channel[channel];
    bool faults = (device->sim->faults.kinds & AP_RECORD_FAULTS) != 0;
    bool twice = false;
    ap__sim_fault hit;

    if (faults && head != AP_HEAD_NONE &&
        ap__sim_strikes(device->sim, AP_FAULT_CNT_GAP, device->id, channel, &hit)) {
        ch->number = (uint8_t)((ch->number + hit.v) & 15);
    }
    ap__number(record, head, ch->number);
    if (head != AP_HEAD_NONE) {
        ch->number = (ch->number + 1) & 15;
    }
    if (faults) {
        twice = ap__spoil(device, channel, record, &bytes, head);
    }
    ap__hold(device, channel, record, bytes);
    if (twice) {
        ap__hold(device, channel, record, bytes);
    }
}

/* Takes the i-th of the window. */
static void ap__window_out(ap__sim_device *device, uint32_t channel, uint32_t i)
{
    ap__sim_channel *ch = &device->channel[channel];
    uint32_t bytes = device->sim->chip->records == AP_SIM_STARS_V6 ? 32 : 64;
    unsigned char record[64];

    memcpy(record, ch->window[i], sizeof(record));
    ch->waiting--;
    memmove(ch->window[i], ch->window[i + 1], (ch->waiting - i) * sizeof(record));
    ch->passed = i == 0 ? 0 : (uint8_t)(ch->passed + 1);
    ap__put_now(device, channel, record, bytes, AP_HEAD_STARS);
}

void ap__sim_put_window(ap__sim_device *device, uint32_t channel)
{
    while (device->channel[channel].waiting > 0) {
        ap__window_out(device, channel, 0);
    }
}

/* Records of one stream stay in order. */
static uint32_t ap__window_choose(ap__sim_device *device, const ap__sim_channel *ch)
{
    uint32_t i = 0;

    if (ch->passed < device->sim->options.disorder) {
        i = ap__sim_random_below(&device->random, ch->waiting);
    }
    for (uint32_t j = 0; j < i; j++) {
        if (memcmp(ch->window[j] + 4, ch->window[i] + 4, 2) == 0) {
            i = j;
        }
    }
    return i;
}

void ap__sim_put(ap__sim_device *device, uint32_t channel, const void *record, uint32_t bytes,
                 ap__sim_head head)
{
    ap__sim_channel *ch = &device->channel[channel];
    unsigned char copy[AP_SIM_RECORD_MAX];

    if (channel != 50 || device->sim->options.disorder == 0) {
        memcpy(copy, record, bytes);
        ap__put_now(device, channel, copy, bytes, head);
        return;
    }
    memcpy(ch->window[ch->waiting++], record, bytes);
    if (ch->waiting > device->sim->options.disorder) {
        ap__window_out(device, channel, ap__window_choose(device, ch));
    }
}
