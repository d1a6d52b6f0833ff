/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sim/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/ascend/vendor_abi.h"
#include "drivers/sim/random.h"

static const struct {
    const char *name;
    int64_t v; /* when the text has none */
} ap__kinds[AP_FAULT_KINDS] = {
    [AP_FAULT_SHORT_READ] = {"short_read", 0},
    [AP_FAULT_EMPTY_READ] = {"empty_read", 0},
    [AP_FAULT_READ_ERROR] = {"read_error", AP_VENDOR_ERROR},
    [AP_FAULT_EARLY_STOP] = {"early_stop", 0},
    [AP_FAULT_POLL_ERROR] = {"poll_error", AP_VENDOR_ERROR},
    [AP_FAULT_POLL_STORM] = {"poll_storm", 0},
    [AP_FAULT_STALE_POLL] = {"stale_poll", 0},
    [AP_FAULT_HANG] = {"hang", 0},
    [AP_FAULT_START_RC] = {"start_rc", AP_VENDOR_STATUS},
    [AP_FAULT_START_SLOW] = {"start_slow", 0},
    [AP_FAULT_FLUSH_RC] = {"flush_rc", AP_VENDOR_NOT_SUPPORTED},
    [AP_FAULT_FLUSH_LEN] = {"flush_len", 64},
    [AP_FAULT_STOP_SLOW] = {"stop_slow", 0},
    [AP_FAULT_STOP_RC] = {"stop_rc", AP_VENDOR_DATA_LOST},
    [AP_FAULT_LIST_MISS] = {"list_miss", 0},
    [AP_FAULT_INFO_RC] = {"info_rc", AP_VENDOR_NOT_SUPPORTED},
    [AP_FAULT_TORN] = {"torn", 8},
    [AP_FAULT_CNT_GAP] = {"cnt_gap", 1},
    [AP_FAULT_BAD_MAGIC] = {"bad_magic", 0x1234},
    [AP_FAULT_BAD_FUNC] = {"bad_func", 0x3f},
    [AP_FAULT_DUPLICATE] = {"duplicate", 0},
    [AP_FAULT_CLOCK_STEP] = {"clock_step", 0},
    [AP_FAULT_LOST] = {"lost", 0},
};

static int ap__set(ap__sim_fault *fault, const char *key, const char *value)
{
    char *end = NULL;
    double number = strtod(value, &end); /* hexadecimal too */

    if (end == value || *end != '\0') {
        return -1;
    }
    if (strcmp(key, "dev") == 0) {
        fault->device = (uint32_t)number;
    } else if (strcmp(key, "chan") == 0) {
        fault->channel = (uint32_t)number;
    } else if (strcmp(key, "p") == 0) {
        fault->p = number;
    } else if (strcmp(key, "at") == 0) {
        fault->at = (uint64_t)number;
    } else if (strcmp(key, "n") == 0) {
        fault->n = (uint64_t)number;
    } else if (strcmp(key, "from_ms") == 0) {
        fault->from_ns = (uint64_t)(number * 1e6);
    } else if (strcmp(key, "for_ms") == 0) {
        fault->until_ns = (uint64_t)(number * 1e6); /* relative until the text is read */
    } else if (strcmp(key, "v") == 0) {
        fault->v = (int64_t)number;
    } else if (strcmp(key, "ms") == 0) {
        fault->for_ever = number < 0;
        fault->ms = number < 0 ? 0 : (uint64_t)number;
    } else {
        return -1;
    }
    return 0;
}

static int ap__parse_one(ap__sim_fault *fault, char *text)
{
    char *rest = NULL;
    char *word = strtok_r(text, ":", &rest);

    memset(fault, 0, sizeof(*fault));
    fault->device = AP_FAULT_ANY;
    fault->channel = AP_FAULT_ANY;
    fault->p = 1;
    fault->at = 1;
    fault->n = UINT64_MAX;
    fault->kind = AP_FAULT_KINDS;
    for (uint8_t i = 0; word != NULL && i < AP_FAULT_KINDS; i++) {
        if (strcmp(word, ap__kinds[i].name) == 0) {
            fault->kind = i;
            fault->v = ap__kinds[i].v;
        }
    }
    if (fault->kind == AP_FAULT_KINDS) {
        return -1;
    }
    while ((word = strtok_r(NULL, ":", &rest)) != NULL) {
        char *value = strchr(word, '=');

        if (value == NULL) {
            return -1;
        }
        *value++ = '\0';
        if (ap__set(fault, word, value) != 0) {
            return -1;
        }
    }
    fault->until_ns = fault->until_ns == 0 ? UINT64_MAX : fault->from_ns + fault->until_ns;
    return 0;
}

int ap__sim_faults_parse(ap__sim_faults *faults, const char *text, char *error, size_t size)
{
    char one[256];

    while (*text != '\0') {
        size_t n = strcspn(text, ";");

        if (n >= sizeof(one) || faults->count == AP_SIM_FAULTS_MAX) {
            (void)snprintf(error, size, "the simulator takes fewer and shorter faults");
            return -1;
        }
        memcpy(one, text, n);
        one[n] = '\0';
        if (n > 0) {
            ap__sim_fault *fault = &faults->fault[faults->count];

            if (ap__parse_one(fault, one) != 0) {
                (void)snprintf(error, size, "the simulator has no fault '%.*s'", (int)n, text);
                return -1;
            }
            faults->kinds |= 1u << fault->kind;
            faults->count++;
        }
        text += n + (text[n] == ';');
    }
    return 0;
}

bool ap__sim_fault_happens(ap__sim_faults *faults, ap__sim_fault_kind kind, uint32_t device,
                           uint32_t channel, uint64_t age_ns, ap__sim_fault *hit)
{
    bool found = false;

    pthread_mutex_lock(&faults->lock);
    for (uint32_t i = 0; i < faults->count && !found; i++) {
        ap__sim_fault *f = &faults->fault[i];

        if (f->kind != kind || (f->device != AP_FAULT_ANY && f->device != device) ||
            (f->channel != AP_FAULT_ANY && channel != AP_FAULT_ANY && f->channel != channel) ||
            age_ns < f->from_ns || age_ns >= f->until_ns) {
            continue;
        }
        f->seen++;
        if (f->seen < f->at || f->fired >= f->n ||
            (f->p < 1 && ap__sim_random_unit(&faults->random) >= f->p)) {
            continue;
        }
        f->fired++;
        *hit = *f;
        found = true;
    }
    pthread_mutex_unlock(&faults->lock);
    return found;
}
