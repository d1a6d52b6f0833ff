/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sim/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AP_TEXT, AP_U32, AP_I32, AP_RANGE, AP_MODE, AP_FAULTS };

typedef struct ap__key {
    const char *name;
    uint8_t kind;
    size_t offset;
    size_t size; /* of a text */
    uint32_t min;
    uint32_t max;
} ap__key;

#define AP_NUMBER(key, min, max) {#key, AP_U32, offsetof(ap__sim_options, key), 0, min, max}
#define AP_STRING(key)                                                                             \
    {#key, AP_TEXT, offsetof(ap__sim_options, key), sizeof(((ap__sim_options *)0)->key), 0, 0}
#define AP_OTHER(key, kind) {#key, kind, offsetof(ap__sim_options, key), 0, 0, 0}

static const ap__key ap__keys[] = {
    AP_STRING(chip),
    AP_NUMBER(devices, 1, 64),
    AP_NUMBER(aic, 1, 64),
    AP_NUMBER(aiv, 0, 64),
    AP_NUMBER(mhz, 1, 100000),
    AP_NUMBER(api, 0, 0x7fffffff),
    AP_NUMBER(seed, 0, UINT32_MAX),
    AP_OTHER(mode, AP_MODE),
    AP_NUMBER(speed, 1, 100000),
    AP_NUMBER(step, 0, 1),
    AP_OTHER(ppm, AP_I32),
    AP_OTHER(nsppm, AP_I32),
    AP_OTHER(latency_us, AP_RANGE),
    AP_NUMBER(wrap, 0, 1000000),
    AP_NUMBER(batch_kib, 0, 4095),
    AP_NUMBER(batch_ms, 0, 100000),
    AP_NUMBER(tick_ms, 1, 1000),
    AP_NUMBER(strict, 0, 1),
    AP_NUMBER(late, 0, UINT32_MAX - 1),
    AP_NUMBER(disorder, 0, 3),
    AP_NUMBER(packing, 0, 3),
    AP_NUMBER(throttle_ms, 0, 1000000),
    AP_STRING(pattern),
    AP_NUMBER(delay_ms, 0, 1000000),
    AP_NUMBER(streams, 1, 2047),
    AP_NUMBER(tasks, 0, UINT32_MAX - 1),
    AP_NUMBER(rate, 1, 10000000),
    AP_NUMBER(dur_us, 1, 100000000),
    AP_NUMBER(gap_us, 0, 100000000),
    AP_NUMBER(blocks, 1, 65535),
    AP_STRING(scenario),
    AP_STRING(truth),
    AP_OTHER(fault, AP_FAULTS),
};

void ap__sim_options_default(ap__sim_options *options)
{
    memset(options, 0, sizeof(*options));
    strcpy(options->chip, "910B");
    strcpy(options->pattern, "none");
    options->devices = 1;
    options->aic = AP_SIM_UNSET;
    options->aiv = AP_SIM_UNSET;
    options->mhz = AP_SIM_UNSET;
    options->api = 0x07241a;
    options->seed = 1;
    options->speed = 1;
    options->ppm = 5;
    options->nsppm = 2;
    options->latency_us[0] = 20;
    options->latency_us[1] = 200;
    options->batch_kib = 64;
    options->batch_ms = 20;
    options->tick_ms = 2;
    options->strict = 1;
    options->late = 3;
    options->disorder = 1;
    options->delay_ms = 20;
    options->streams = AP_SIM_UNSET;
    options->tasks = AP_SIM_UNSET;
    options->rate = AP_SIM_UNSET;
    options->dur_us = AP_SIM_UNSET;
    options->gap_us = AP_SIM_UNSET;
    options->blocks = AP_SIM_UNSET;
}

static int ap__number(const char *text, char **end, long long *out)
{
    errno = 0;
    *out = strtoll(text, end, 0);
    return *end == text || errno != 0 ? -1 : 0;
}

static int ap__set_range(uint32_t out[2], const char *value)
{
    long long low = 0;
    long long high = 0;
    char *end = NULL;

    if (ap__number(value, &end, &low) != 0) {
        return -1;
    }
    high = low;
    if (*end == '-' && ap__number(end + 1, &end, &high) != 0) {
        return -1;
    }
    if (*end != '\0' || low < 0 || high < low || high > 10000000) {
        return -1;
    }
    out[0] = (uint32_t)low;
    out[1] = (uint32_t)high;
    return 0;
}

static int ap__set_mode(uint32_t *out, const char *value)
{
    static const char *const names[] = {"driver", "drop", "block"};

    for (uint32_t i = 0; i < 3; i++) {
        if (strcmp(value, names[i]) == 0) {
            *out = i;
            return 0;
        }
    }
    return -1;
}

static int ap__set_text(char *out, size_t size, const char *value)
{
    size_t n = strlen(value);

    if (n >= size) {
        return -1;
    }
    memcpy(out, value, n + 1);
    return 0;
}

/* Faults add up. */
static int ap__add_faults(ap__sim_options *options, const char *value)
{
    size_t used = strlen(options->fault);

    if (used + 1 + strlen(value) >= sizeof(options->fault)) {
        return -1;
    }
    if (used > 0) {
        options->fault[used++] = ';';
    }
    strcpy(options->fault + used, value);
    return 0;
}

static int ap__set(ap__sim_options *options, const ap__key *key, const char *value)
{
    void *place = (char *)options + key->offset;
    long long number = 0;
    char *end = NULL;

    switch (key->kind) {
    case AP_TEXT:
        return ap__set_text(place, key->size, value);
    case AP_RANGE:
        return ap__set_range(place, value);
    case AP_MODE:
        return ap__set_mode(place, value);
    case AP_FAULTS:
        return ap__add_faults(options, value);
    default:
        break;
    }
    if (ap__number(value, &end, &number) != 0 || *end != '\0') {
        return -1;
    }
    if (key->kind == AP_I32) {
        int32_t v = (int32_t)number;

        if (number < -100000 || number > 100000) {
            return -1;
        }
        memcpy(place, &v, sizeof(v));
        return 0;
    }
    if (number < (long long)key->min || number > (long long)key->max) {
        return -1;
    }
    memcpy(place, &(uint32_t){(uint32_t)number}, sizeof(uint32_t));
    return 0;
}

static const ap__key *ap__find(const char *name)
{
    for (size_t i = 0; i < sizeof(ap__keys) / sizeof(ap__keys[0]); i++) {
        if (strcmp(ap__keys[i].name, name) == 0) {
            return &ap__keys[i];
        }
    }
    return NULL;
}

/* "key=value" in a buffer that may be changed. */
static int ap__set_pair(ap__sim_options *options, char *pair, char *error, size_t size)
{
    char *value = strchr(pair, '=');
    const ap__key *key = NULL;

    if (value != NULL) {
        *value++ = '\0';
        key = ap__find(pair);
    }
    if (key == NULL) {
        (void)snprintf(error, size, "the simulator has no option '%.40s'", pair);
        return -1;
    }
    if (ap__set(options, key, value) != 0) {
        (void)snprintf(error, size, "the simulator's option '%s' cannot be '%.80s'", key->name,
                       value);
        return -1;
    }
    return 0;
}

int ap__sim_options_parse(ap__sim_options *options, const char *text, char *error, size_t size)
{
    char pair[1100];

    while (*text != '\0') {
        size_t n = strcspn(text, ",");

        if (n >= sizeof(pair)) {
            (void)snprintf(error, size, "an option of the simulator is too long");
            return -1;
        }
        memcpy(pair, text, n);
        pair[n] = '\0';
        if (n > 0 && ap__set_pair(options, pair, error, size) != 0) {
            return -1;
        }
        text += n + (text[n] == ',');
    }
    return 0;
}
