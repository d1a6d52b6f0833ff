/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sim/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define AP_SAMPLE_THRESHOLD 26214u

typedef struct ap__bytes {
    const uint8_t *data;
    uint32_t bytes;
    uint32_t at;
    bool bad;
    bool strict;
    uint32_t channel;
    char *error;
    size_t size;
} ap__bytes;

__attribute__((format(printf, 2, 3))) static void ap__refuse(ap__bytes *in, const char *format, ...)
{
    va_list args;
    int n = 0;

    if (in->bad) {
        return;
    }
    in->bad = true;
    n = snprintf(in->error, in->size, "channel %u: ", in->channel);
    if (n > 0 && (size_t)n < in->size) {
        va_start(args, format);
        (void)vsnprintf(in->error + n, in->size - (size_t)n, format, args);
        va_end(args);
    }
}

static uint32_t ap__take(ap__bytes *in, unsigned width)
{
    uint32_t v = 0;

    if (in->at + width > in->bytes) {
        ap__refuse(in, "the configuration ends at byte %u", in->bytes);
        return 0;
    }
    for (unsigned i = 0; i < width; i++) {
        v |= (uint32_t)in->data[in->at++] << 8 * i;
    }
    return v;
}

static uint32_t ap__u32(ap__bytes *in)
{
    return ap__take(in, 4);
}

/* 0 off, 1 enable, 2 disable */
static bool ap__switch(ap__bytes *in)
{
    uint32_t at = in->at;
    uint32_t v = ap__u32(in);

    if (v > 2) {
        ap__refuse(in, "the switch at byte %u is %u", at, v);
    }
    return v == 1;
}

static void ap__expect(ap__bytes *in, const char *what, uint32_t is, uint32_t wanted)
{
    if (in->strict && is != wanted) {
        ap__refuse(in, "%s is 0x%x, not 0x%x", what, is, wanted);
    }
}

static void ap__period(ap__bytes *in, ap__sim_config *out)
{
    uint32_t v = ap__u32(in);

    ap__expect(in, "the period in the configuration", v, out->period_ms);
    out->period_ms = v;
}

/* Sizes that the table of formats has for the channel. */
static void ap__sizes(ap__bytes *in, uint32_t first, uint32_t second)
{
    if (in->strict && in->bytes != first && in->bytes != second) {
        ap__refuse(in, "%u bytes of configuration, not %u", in->bytes, first);
    }
}

static void ap__bandwidth(ap__bytes *in, ap__sim_config *out)
{
    uint32_t n = 0;

    ap__period(in, out);
    ap__expect(in, "the master", ap__u32(in), UINT32_MAX);
    n = ap__u32(in);
    for (uint32_t i = 0; i < n && !in->bad; i++) {
        uint32_t event = ap__u32(in);

        if (event > 1) {
            ap__refuse(in, "event %u", event);
        } else {
            out->bandwidth[event] = true;
        }
    }
    ap__sizes(in, 12 + 4 * n, 12 + 4 * n);
}

static void ap__events(ap__bytes *in, ap__sim_config *out, bool ts_cpu)
{
    uint32_t n = 0;

    if (ts_cpu) {
        ap__period(in, out);
    }
    n = ap__u32(in);
    if (n > 8) {
        ap__refuse(in, "%u events", n);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        out->event[i] = ap__u32(in);
    }
    out->event_count = n;
    if (ts_cpu) {
        ap__sizes(in, 8 + 4 * n, 8 + 4 * n);
    } else {
        ap__sizes(in, 4 + 4 * n, 36);
    }
}

static void ap__aicore(ap__bytes *in, ap__sim_config *out, bool vector)
{
    ap__sim_pmu_half *half = &out->half[vector];
    uint32_t sample = ap__u32(in);
    uint32_t threshold = ap__u32(in);

    if (sample > 1) {
        ap__refuse(in, "type %u", sample);
    }
    ap__expect(in, "the threshold", threshold, sample != 0 ? AP_SAMPLE_THRESHOLD : 0);
    half->type = sample != 0 ? AP_SIM_TYPE_SAMPLE : AP_SIM_TYPE_TASK;
    half->period_ms = ap__u32(in);
    half->core_mask = ap__u32(in);
    half->count = ap__u32(in);
    if (half->count > 8) {
        ap__refuse(in, "%u events", half->count);
        half->count = 0;
    }
    for (unsigned i = 0; i < 8; i++) {
        half->event[i] = (uint16_t)ap__u32(in);
    }
    out->aic = !vector;
    out->aiv = vector;
    ap__sizes(in, 56, 52);
}

static void ap__tsfw(ap__bytes *in, ap__sim_config *out)
{
    ap__period(in, out);
    out->task_track = ap__switch(in);
    (void)ap__switch(in); /* cpu usage */
    (void)ap__switch(in); /* AI core status */
    out->timeline = ap__switch(in);
    (void)ap__switch(in); /* vector core status */
    out->key_point = ap__switch(in);
    out->copies = ap__u32(in);
    if (in->strict && (out->copies & ~0x87000001u) != 0) {
        ap__refuse(in, "memory copies 0x%x", out->copies);
    }
    out->block_number = ap__switch(in);
    ap__sizes(in, 36, 36);
}

static void ap__soc_log(ap__bytes *in, ap__sim_config *out)
{
    out->acsq_task = ap__switch(in);
    for (unsigned i = 0; i < 5; i++) {
        (void)ap__switch(in);
    }
    out->ffts_context = ap__switch(in);
    out->ffts_block = ap__switch(in);
    (void)ap__switch(in); /* SDMA */
    ap__sizes(in, 44, 36);
}

static void ap__qos(ap__bytes *in, ap__sim_config *out)
{
    out->qos_period = ap__u32(in);
    out->qos_count = ap__take(in, 2);
    (void)ap__take(in, 2);
    if (out->qos_count > 20) {
        ap__refuse(in, "%u streams of memory traffic", out->qos_count);
        out->qos_count = 0;
    }
    for (unsigned i = 0; i < 20; i++) {
        (void)ap__take(in, 1);
    }
}

static void ap__soc_profile(ap__bytes *in, const ap__sim_chip *chip, ap__sim_config *out)
{
    bool qos = chip->records == AP_SIM_STARS_V6;

    for (unsigned i = 0; i < AP_SOC_KINDS; i++) {
        bool on = ap__switch(in);
        uint32_t period = ap__u32(in);

        if (on && period == 0) {
            ap__refuse(in, "kind %u is on with a period of 0", i);
        }
        out->soc_period[i] = on ? period : 0;
    }
    ap__sizes(in, qos ? 84 : 56, qos ? 84 : 56);
    if (qos && in->at < in->bytes) {
        ap__qos(in, out);
    }
}

static void ap__half(ap__bytes *in, ap__sim_pmu_half *half, uint32_t slots, bool sampled)
{
    half->type = ap__u32(in);
    half->period_ms = ap__u32(in);
    half->core_mask = ap__u32(in);
    half->count = ap__u32(in);
    if (half->type > 15 || ((half->type & AP_SIM_TYPE_SAMPLE) != 0) != sampled) {
        ap__refuse(in, "type 0x%x", half->type);
    }
    if (half->count > slots) {
        ap__refuse(in, "%u events, at most %u", half->count, slots);
        half->count = 0;
    }
    if (sampled && half->period_ms == 0) {
        ap__refuse(in, "samples with a period of 0");
    }
    for (uint32_t i = 0; i < slots; i++) {
        half->event[i] = (uint16_t)ap__take(in, 2);
        if (in->strict && i >= half->count && half->event[i] != 0) {
            ap__refuse(in, "event %u is 0x%x beyond the count", i, half->event[i]);
        }
    }
}

static void ap__counters(ap__bytes *in, const ap__sim_chip *chip, ap__sim_config *out, bool sampled)
{
    uint32_t bytes = chip->events == 10 ? 88 : 72;
    uint32_t mode = ap__u32(in);

    if (mode < 1 || mode > 3) {
        ap__refuse(in, "mode %u", mode);
    }
    out->aic = (mode & 1) != 0;
    out->aiv = (mode & 2) != 0;
    ap__half(in, &out->half[0], chip->events, sampled);
    ap__half(in, &out->half[1], chip->events, sampled);
    ap__sizes(in, bytes, bytes);
}

static void ap__memory(ap__bytes *in, uint32_t channel, ap__sim_config *out)
{
    uint32_t cycles = 0;

    ap__period(in, out);
    cycles = ap__u32(in);
    out->memory_event = ap__u32(in);
    (void)ap__u32(in);
    if (cycles > (channel == 142)) {
        ap__refuse(in, "the time stamps' kind is %u", cycles);
    }
    out->in_cycles = cycles == 1;
    ap__expect(in, "the event", out->memory_event, channel == 131);
    ap__sizes(in, 16, 16);
}

/* One part: u16 type, u16 bytes that follow. */
static void ap__soc_pmu_part(ap__bytes *in, ap__sim_config *out)
{
    uint32_t type = ap__take(in, 2);
    uint32_t length = ap__take(in, 2);
    uint32_t end = in->at + length;
    uint32_t n = ap__u32(in);

    out->ha |= type == 1;
    out->smmu |= type == 2;
    out->noc |= type == 3;
    if (type < 1 || type > 4) {
        ap__refuse(in, "a part of type %u", type);
    } else if (end > in->bytes) {
        ap__refuse(in, "the part of type %u ends at byte %u", type, end);
    } else if ((type == 4 && length != 4 + 8 * n) || (type == 3 && length != 12) ||
               (type < 3 && length != 20)) {
        ap__refuse(in, "the part of type %u has %u bytes", type, length);
    } else if ((type < 3 && n > 8) || (type == 3 && n > 4)) {
        ap__refuse(in, "%u events in the part of type %u", n, type);
    }
    in->at = end;
}

static void ap__soc_pmu(ap__bytes *in, ap__sim_config *out)
{
    uint32_t type = ap__take(in, 2);
    uint32_t total = ap__take(in, 2);

    ap__expect(in, "the head's type", type, 0);
    if (total != in->bytes && total + 4 != in->bytes) { /* with the head or without */
        ap__refuse(in, "the head says %u of %u bytes", total, in->bytes);
    }
    while (!in->bad && in->at < in->bytes) {
        ap__soc_pmu_part(in, out);
    }
}

static void ap__instr(ap__bytes *in, const ap__sim_chip *chip)
{
    (void)ap__u32(in);
    if (ap__u32(in) > 1) {
        ap__refuse(in, "the mode is neither 0 nor 1");
    }
    if (chip->records == AP_SIM_STARS_V6) {
        (void)ap__u32(in);
        (void)ap__u32(in);
        ap__sizes(in, 16, 17);
    } else {
        ap__sizes(in, 8, 8);
    }
}

static void ap__read(ap__bytes *in, const ap__sim_chip *chip, ap__sim_config *out)
{
    uint32_t channel = in->channel;

    switch (channel) {
    case 1:
    case 7:
        ap__bandwidth(in, out);
        return;
    case 8:
        ap__period(in, out);
        out->llc_write = ap__u32(in) == 2;
        ap__sizes(in, 8, 8);
        return;
    case 10:
    case 47:
        ap__events(in, out, channel == 10);
        return;
    case 43:
    case 85:
        ap__aicore(in, out, channel == 85);
        return;
    case 44:
    case 49:
        ap__tsfw(in, out);
        return;
    case 45:
    case 46:
    case 48:
        (void)ap__switch(in);
        ap__sizes(in, 4, 4);
        return;
    case 50:
        ap__soc_log(in, out);
        return;
    case 52:
        ap__soc_profile(in, chip, out);
        return;
    case 53:
    case 54:
        ap__counters(in, chip, out, channel == 54);
        return;
    case 130:
    case 131:
    case 142:
        ap__memory(in, channel, out);
        return;
    case 132:
        ap__period(in, out);
        ap__expect(in, "the version", ap__u32(in), 1);
        ap__sizes(in, 8, 8);
        return;
    case 133:
        ap__qos(in, out);
        ap__sizes(in, 28, 28);
        return;
    case 134:
        ap__soc_pmu(in, out);
        return;
    default:
        break;
    }
    if ((channel >= 11 && channel <= 42) || (channel >= 55 && channel <= 98)) {
        ap__instr(in, chip);
    } else {
        ap__sizes(in, 0, 0);
    }
}

int ap__sim_config_read(ap__sim_config *out, const ap__sim_chip *chip, uint32_t channel,
                        uint32_t period_ms, const void *data, uint32_t bytes, bool strict,
                        char *error, size_t size)
{
    ap__bytes in = {.data = data,
                    .bytes = bytes,
                    .strict = strict,
                    .channel = channel,
                    .error = error,
                    .size = size};

    memset(out, 0, sizeof(*out));
    out->period_ms = period_ms;
    ap__read(&in, chip, out);
    return in.bad ? -1 : 0;
}
