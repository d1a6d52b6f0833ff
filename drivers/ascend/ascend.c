/* SPDX-License-Identifier: Apache-2.0 */
/* Huawei's libascend_hal.so behind ap__hal_ops. */
#define _GNU_SOURCE
#include "drivers/ascend/ascend.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock/cycles.h"
#include "drivers/ascend/load.h"
#include "drivers/ascend/vendor_abi.h"
#include "session/errtext.h"

#define AP_POLL_MAX_S 5

typedef struct ap__ascend {
    ap__vendor_calls calls;
    int api_version; /* 0: unknown */
} ap__ascend;

/* ---- fork: the child has the vendor's locks, but not its threads ---- */

static atomic_uint ap__used; /* libraries that have been loaded, or are about to be */
static atomic_bool ap__dead; /* this is a child of such a process */
static atomic_bool ap__fork_handled;

static void ap__child(void)
{
    if (atomic_load_explicit(&ap__used, memory_order_relaxed) != 0) {
        atomic_store_explicit(&ap__dead, true, memory_order_relaxed);
    }
}

static bool ap__is_dead(void)
{
    return atomic_load_explicit(&ap__dead, memory_order_relaxed);
}

/* False: no way to know of a fork. */
static bool ap__handle_fork(void)
{
    if (!atomic_load(&ap__fork_handled)) {
        if (pthread_atfork(NULL, NULL, ap__child) != 0) {
            return false;
        }
        atomic_store(&ap__fork_handled, true); /* twice from two threads does no harm */
    }
    return true;
}

/* ---- open, close ---- */

int ap__ascend_open(void **context, const char *path, ap__ascend_report *report)
{
    ap__ascend *a = NULL;
    const char *refused = NULL;
    int rc = AP_HAL_OK;

    *context = NULL;
    memset(report, 0, sizeof(*report));
    if (ap__is_dead()) {
        refused = "the Ascend driver cannot be used in a process forked from one that used it";
        rc = AP_HAL_UNSUPPORTED;
    } else if (!ap__handle_fork() || (a = calloc(1, sizeof(*a))) == NULL) {
        refused = "no memory to load the Ascend driver";
        rc = AP_HAL_IO;
    }
    if (rc != AP_HAL_OK) {
        (void)snprintf(report->text, sizeof(report->text), "%s", refused);
        return rc;
    }
    atomic_fetch_add(&ap__used, 1);
    rc = ap__ascend_load(path != NULL ? path : "", &a->calls, &a->api_version, report);
    if (!report->found) {
        atomic_fetch_sub(&ap__used, 1);
    }
    if (rc != AP_HAL_OK) {
        free(a);
        return rc;
    }
    *context = a;
    return AP_HAL_OK;
}

static int ap__open(void **context, const char *options)
{
    ap__ascend_report report;
    int rc = ap__ascend_open(context, options, &report);

    if (rc != AP_HAL_OK) {
        ap__log(AP_LOG_WARN, "no Ascend driver: %s", report.text);
    }
    return rc;
}

static void ap__close(void *context)
{
    free(context);
}

/* ---- facts ---- */

static int ap__devices(void *context, uint32_t *ids, uint32_t capacity)
{
    ap__ascend *a = context;
    uint32_t all[AP_HAL_MAX_DEVICES];
    uint32_t told = 0;
    uint32_t count = 0;
    int rc = ap__is_dead() ? AP_HAL_DEVICE_LOST : ap__ascend_rc(a->calls.device_count(&told));

    if (rc != AP_HAL_OK || told == 0) {
        return -rc;
    }
    told = told < AP_HAL_MAX_DEVICES ? told : AP_HAL_MAX_DEVICES;
    memset(all, 0xff, sizeof(all)); /* no device has this id */
    rc = ap__ascend_rc(a->calls.device_ids(all, told));
    if (rc != AP_HAL_OK) {
        return -rc;
    }
    for (uint32_t i = 0; i < told; i++) {
        if (all[i] < AP_HAL_MAX_DEVICES) {
            if (count < capacity) {
                ids[count] = all[i];
            }
            count++;
        }
    }
    return (int)count;
}

/* The pairs to ask for; what must be over zero to be believed; from which version of the API. */
typedef struct ap__question {
    int32_t module;
    int32_t info;
    bool positive;
    int since;
} ap__question;

static const ap__question ap__questions[] = {
    [AP_HAL_CHIP] = {AP_MODULE_SYSTEM, AP_INFO_VERSION, false, 0},
    [AP_HAL_AIC_NUM] = {AP_MODULE_AICORE, AP_INFO_CORE_NUM, false, 0},
    [AP_HAL_AIC_MHZ] = {AP_MODULE_AICORE, AP_INFO_MHZ, true, 0},
    [AP_HAL_AIV_NUM] = {AP_MODULE_VECTOR_CORE, AP_INFO_CORE_NUM, false, 0},
    [AP_HAL_AIV_MHZ] = {AP_MODULE_VECTOR_CORE, AP_INFO_MHZ, true, 0},
    [AP_HAL_AICPU_NUM] = {AP_MODULE_AICPU, AP_INFO_CORE_NUM, false, 0},
    [AP_HAL_CTRL_CPU_NUM] = {AP_MODULE_CTRL_CPU, AP_INFO_CORE_NUM, false, 0},
    [AP_HAL_TS_CPU_NUM] = {AP_MODULE_TS_CPU, AP_INFO_CORE_NUM, false, 0},
    [AP_HAL_AICPU_ID] = {AP_MODULE_AICPU, AP_INFO_ID, false, 0},
    [AP_HAL_AICPU_OCCUPY] = {AP_MODULE_AICPU, AP_INFO_OCCUPY, false, 0},
    [AP_HAL_AIC_ID] = {AP_MODULE_AICORE, AP_INFO_ID, false, 0},
    [AP_HAL_CTRL_CPU_ID] = {AP_MODULE_CTRL_CPU, AP_INFO_ID, false, 0},
    [AP_HAL_CTRL_CPU_ENDIAN] = {AP_MODULE_CTRL_CPU, AP_INFO_ENDIAN, false, 0},
    [AP_HAL_DEVICE_KHZ] = {AP_MODULE_SYSTEM, AP_INFO_DEVICE_KHZ, true, AP_API_COUNTER_KHZ},
    [AP_HAL_HOST_KHZ] = {AP_MODULE_SYSTEM, AP_INFO_HOST_KHZ, true, AP_API_COUNTER_KHZ},
    [AP_HAL_ENV] = {AP_MODULE_SYSTEM, AP_INFO_ENV, false, 0},
};
#define AP_QUESTIONS (sizeof(ap__questions) / sizeof(ap__questions[0]))

/* Success without a value is no answer. */
static int ap__ask(ap__ascend *a, uint32_t device, int32_t module, int32_t info, int64_t *value)
{
    int64_t told = INT64_MIN;
    int rc = ap__ascend_rc(a->calls.device_info(device, module, info, &told));

    if (rc != AP_HAL_OK) {
        return rc;
    }
    if (told == INT64_MIN) {
        return AP_HAL_UNSUPPORTED;
    }
    *value = told;
    return AP_HAL_OK;
}

static int ap__ask_physical(ap__ascend *a, uint32_t device, int64_t *value)
{
    uint32_t told = UINT32_MAX;
    int rc = a->calls.physical_id != NULL
                 ? ap__ascend_rc(a->calls.physical_id(device, &told))
                 : AP_HAL_UNSUPPORTED;

    if (rc == AP_HAL_OK && told == UINT32_MAX) {
        return AP_HAL_UNSUPPORTED;
    }
    *value = rc == AP_HAL_OK ? (int64_t)told : *value;
    return rc;
}

static int ap__info(void *context, uint32_t device, ap__hal_info what, int64_t *value)
{
    ap__ascend *a = context;
    const ap__question *q = NULL;
    int64_t told = 0;
    int rc = AP_HAL_OK;

    if (device >= AP_HAL_MAX_DEVICES || (unsigned)what >= AP_QUESTIONS || value == NULL) {
        return AP_HAL_INVALID;
    }
    if (ap__is_dead()) {
        return AP_HAL_DEVICE_LOST;
    }
    if (what == AP_HAL_PHYSICAL_ID) {
        return ap__ask_physical(a, device, value);
    }
    q = &ap__questions[what];
    if (a->api_version < q->since) {
        return AP_HAL_UNSUPPORTED;
    }
    rc = ap__ask(a, device, q->module, q->info, &told);
    if (rc == AP_HAL_OK && q->positive && told <= 0) {
        rc = AP_HAL_UNSUPPORTED;
    }
    if (rc == AP_HAL_OK) {
        *value = what == AP_HAL_CHIP ? told >> 8 & 0xff : told;
    }
    return rc;
}

static int ap__api_version(void *context)
{
    return ((ap__ascend *)context)->api_version;
}

/* Both readings lie between the two moments of the host. Without the device's nanoseconds the
 * reading is still of use; without its cycles it is not. */
static int ap__clock(void *context, uint32_t device, ap__hal_clock *clock)
{
    ap__ascend *a = context;
    ap__hal_clock k = {{0}, {0}, 0, 0};
    int64_t ns = 0;
    int64_t cycles = 0;
    int rc_ns = AP_HAL_OK;
    int rc = AP_HAL_OK;

    if (device >= AP_HAL_MAX_DEVICES || clock == NULL) {
        return AP_HAL_INVALID;
    }
    if (ap__is_dead()) {
        return AP_HAL_DEVICE_LOST;
    }
    k.host_cycles[0] = ap__counter();
    k.host_ns[0] = ap__mono_raw_ns();
    k.host_cycles[1] = ap__counter();
    rc_ns = ap__ask(a, device, AP_MODULE_SYSTEM, AP_INFO_MONOTONIC_RAW, &ns);
    rc = ap__ask(a, device, AP_MODULE_SYSTEM, AP_INFO_SYS_COUNT, &cycles);
    k.host_cycles[2] = ap__counter();
    k.host_ns[1] = ap__mono_raw_ns();
    k.host_cycles[3] = ap__counter();
    rc = rc != AP_HAL_OK || rc_ns == AP_HAL_UNSUPPORTED ? rc : rc_ns;
    if (rc == AP_HAL_OK) {
        k.device_ns = (uint64_t)ns;
        k.device_cycles = (uint64_t)cycles;
        *clock = k;
    }
    return rc;
}

static int ap__status(void *context, uint32_t device)
{
    ap__ascend *a = context;
    int status = -1;

    if (ap__is_dead()) {
        return AP_HAL_DEVICE_LOST;
    }
    if (device >= AP_HAL_MAX_DEVICES || a->calls.device_status == NULL ||
        a->calls.device_status(device, &status) != 0) {
        return AP_HAL_OK; /* nothing is known against it */
    }
    return status == AP_STATUS_COMMUNICATION_LOST ? AP_HAL_DEVICE_LOST : AP_HAL_OK;
}

/* ---- channels ---- */

static int ap__bad_channel(uint32_t device, uint32_t channel)
{
    if (device >= AP_HAL_MAX_DEVICES || channel >= AP_HAL_MAX_CHANNELS) {
        return AP_HAL_INVALID;
    }
    return ap__is_dead() ? AP_HAL_DEVICE_LOST : AP_HAL_OK;
}

static int ap__channels(void *context, uint32_t device, ap__hal_channels *channels)
{
    ap__ascend *a = context;
    ap__vendor_channels list;
    int rc = channels == NULL ? AP_HAL_INVALID : ap__bad_channel(device, 0);

    if (rc != AP_HAL_OK) {
        return rc;
    }
    memset(&list, 0, sizeof(list)); /* the driver leaves most of it alone */
    memset(channels, 0, sizeof(*channels));
    rc = ap__ascend_rc(a->calls.get_channels(device, &list));
    if (rc != AP_HAL_OK) {
        return rc;
    }
    for (uint32_t i = 0; i < list.count && i < AP_HAL_MAX_CHANNELS; i++) {
        uint32_t id = list.channel[i].id;

        if (id < AP_HAL_MAX_CHANNELS) {
            channels->bits[id / 64] |= UINT64_C(1) << id % 64;
        }
    }
    return list.count != 0 ? AP_HAL_OK : AP_HAL_UNSUPPORTED;
}

static int ap__start(void *context, uint32_t device, uint32_t channel, const ap__hal_start *start)
{
    ap__ascend *a = context;
    ap__vendor_start para;
    int rc = ap__bad_channel(device, channel);

    if (start == NULL || start->config_bytes > AP_HAL_MAX_CONFIG ||
        (start->config == NULL && start->config_bytes != 0)) {
        return AP_HAL_INVALID;
    }
    if (rc != AP_HAL_OK) {
        return rc;
    }
    memset(&para, 0, sizeof(para));
    para.channel_type = (start->flags & AP_HAL_START_PERIPHERAL) != 0;
    para.period_ms = start->period_ms;
    para.real_time = (start->flags & AP_HAL_START_REAL_TIME) != 0;
    para.user_data = start->config_bytes != 0 ? (void *)(uintptr_t)start->config : NULL;
    para.user_data_size = start->config_bytes;
    return ap__ascend_rc(a->calls.start(device, channel, &para));
}

static int ap__stop(void *context, uint32_t device, uint32_t channel)
{
    ap__ascend *a = context;
    int rc = ap__bad_channel(device, channel);

    return rc != AP_HAL_OK ? rc : ap__ascend_rc(a->calls.stop(device, channel));
}

/* A count beyond what was asked for is one of the positive codes. */
static int ap__count_or_rc(int n, uint32_t asked)
{
    int rc = AP_HAL_OK;

    if (n >= 0 && (uint32_t)n <= asked) {
        return n;
    }
    rc = ap__ascend_rc(n);
    return rc == AP_HAL_OK ? -AP_HAL_IO : -rc;
}

static int ap__poll(void *context, ap__hal_event *events, int capacity, int timeout_ms)
{
    ap__ascend *a = context;
    int seconds = timeout_ms > 0 ? (int)(((int64_t)timeout_ms + 999) / 1000) : 1;
    int kept = 0;
    int n = 0;

    if (events == NULL || capacity < 1 || capacity > AP_HAL_MAX_POLL) {
        return -AP_HAL_INVALID;
    }
    if (ap__is_dead()) {
        return -AP_HAL_DEVICE_LOST;
    }
    n = a->calls.poll(events, capacity, seconds < AP_POLL_MAX_S ? seconds : AP_POLL_MAX_S);
    n = ap__count_or_rc(n, (uint32_t)capacity);
    for (int i = 0; i < n; i++) {
        if (events[i].device < AP_HAL_MAX_DEVICES && events[i].channel < AP_HAL_MAX_CHANNELS) {
            events[kept++] = events[i];
        }
    }
    return n < 0 ? n : kept;
}

static int ap__read(void *context, uint32_t device, uint32_t channel, void *buffer, uint32_t bytes)
{
    ap__ascend *a = context;
    uint32_t room = bytes < INT_MAX ? bytes : INT_MAX;
    int rc = ap__bad_channel(device, channel);

    rc = buffer == NULL ? AP_HAL_INVALID : rc;
    return rc != AP_HAL_OK ? -rc
                           : ap__count_or_rc(a->calls.read(device, channel, buffer, room), room);
}

static int ap__flush(void *context, uint32_t device, uint32_t channel, uint32_t *pending)
{
    ap__ascend *a = context;
    unsigned bytes = 0;
    int rc = pending == NULL ? AP_HAL_INVALID : ap__bad_channel(device, channel);

    if (rc == AP_HAL_OK) {
        rc = a->calls.flush != NULL ? ap__ascend_rc(a->calls.flush(device, channel, &bytes))
                                    : AP_HAL_UNSUPPORTED;
        *pending = rc == AP_HAL_OK ? bytes : 0;
    }
    return rc;
}

/* ---- tables ---- */

#define AP_CALLS \
    .open = ap__open, .close = ap__close, .devices = ap__devices, .info = ap__info, \
    .api_version = ap__api_version, .clock = ap__clock, .channels = ap__channels, \
    .start = ap__start, .stop = ap__stop, .poll = ap__poll, .read = ap__read, \
    .flush = ap__flush, .status = ap__status

const ap__hal_ops ap__hal_ascend = {
    .abi = AP_HAL_ABI, .name = "ascend", .simulated = 0, AP_CALLS};

const ap__hal_ops ap__hal_ascend_simulated = {
    .abi = AP_HAL_ABI, .name = "ascend", .simulated = 1, AP_CALLS};
