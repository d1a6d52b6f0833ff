/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator as a driver of this library. */
#include "clock/cycles.h"
#include "drivers/ascend/ascend.h"
#include "drivers/ascend/vendor_abi.h"
#include "drivers/sim/internal.h"

static int ap__count_or_rc(int n)
{
    return n >= 0 ? n : -ap__ascend_rc(n);
}

int ap__sim_open(void **context, const char *options, char *error, size_t size)
{
    ap__sim *sim = NULL;
    int rc = AP_HAL_OK;

    if (options == NULL || options[0] == '\0') {
        sim = ap__sim_acquire(&rc, error, size);
    } else {
        rc = ap__sim_create(&sim, options, error, size);
    }
    *context = sim;
    return rc;
}

static int ap__open(void **context, const char *options)
{
    char error[256];

    return ap__sim_open(context, options, error, sizeof(error));
}

static void ap__close(void *context)
{
    ap__sim *sim = context;

    if (!ap__sim_release(sim)) {
        ap__sim_destroy(sim);
    }
}

static int ap__devices(void *context, uint32_t *ids, uint32_t capacity)
{
    uint32_t n = ap__sim_devices(context);

    for (uint32_t i = 0; i < n && i < capacity; i++) {
        ids[i] = i;
    }
    return (int)n;
}

static const struct {
    int32_t module;
    int32_t info;
} ap__infos[] = {
    [AP_HAL_CHIP] = {AP_MODULE_SYSTEM, AP_INFO_VERSION},
    [AP_HAL_AIC_NUM] = {AP_MODULE_AICORE, AP_INFO_CORE_NUM},
    [AP_HAL_AIC_MHZ] = {AP_MODULE_AICORE, AP_INFO_MHZ},
    [AP_HAL_AIV_NUM] = {AP_MODULE_VECTOR_CORE, AP_INFO_CORE_NUM},
    [AP_HAL_AIV_MHZ] = {AP_MODULE_VECTOR_CORE, AP_INFO_MHZ},
    [AP_HAL_AICPU_NUM] = {AP_MODULE_AICPU, AP_INFO_CORE_NUM},
    [AP_HAL_CTRL_CPU_NUM] = {AP_MODULE_CTRL_CPU, AP_INFO_CORE_NUM},
    [AP_HAL_TS_CPU_NUM] = {AP_MODULE_TS_CPU, AP_INFO_CORE_NUM},
    [AP_HAL_AICPU_ID] = {AP_MODULE_AICPU, AP_INFO_ID},
    [AP_HAL_AICPU_OCCUPY] = {AP_MODULE_AICPU, AP_INFO_OCCUPY},
    [AP_HAL_AIC_ID] = {AP_MODULE_AICORE, AP_INFO_ID},
    [AP_HAL_CTRL_CPU_ID] = {AP_MODULE_CTRL_CPU, AP_INFO_ID},
    [AP_HAL_CTRL_CPU_ENDIAN] = {AP_MODULE_CTRL_CPU, AP_INFO_ENDIAN},
    [AP_HAL_DEVICE_KHZ] = {AP_MODULE_SYSTEM, AP_INFO_DEVICE_KHZ},
    [AP_HAL_HOST_KHZ] = {AP_MODULE_SYSTEM, AP_INFO_HOST_KHZ},
    [AP_HAL_ENV] = {AP_MODULE_SYSTEM, AP_INFO_ENV},
};

static int ap__info(void *context, uint32_t device, ap__hal_info what, int64_t *value)
{
    int rc = 0;

    if (what == AP_HAL_PHYSICAL_ID) {
        *value = device;
        return device < ap__sim_devices(context) ? AP_HAL_OK : AP_HAL_INVALID;
    }
    if ((size_t)what >= sizeof(ap__infos) / sizeof(ap__infos[0])) {
        return AP_HAL_INVALID;
    }
    rc = ap__sim_info(context, device, ap__infos[what].module, ap__infos[what].info, value);
    if (rc == 0 && what == AP_HAL_CHIP) {
        *value = *value >> 8 & 0xff;
    }
    return ap__ascend_rc(rc);
}

static int ap__api_version(void *context)
{
    return ap__sim_api_version(context);
}

static uint64_t ap__host_cycles(ap__sim *sim)
{
    return sim->options.step != 0 ? ap__sim_now(sim) : ap__counter();
}

static int ap__clock(void *context, uint32_t device, ap__hal_clock *clock)
{
    int64_t ns = 0;
    int64_t cycles = 0;
    int rc = 0;

    clock->host_cycles[0] = ap__host_cycles(context);
    clock->host_ns[0] = ap__sim_now(context);
    clock->host_cycles[1] = ap__host_cycles(context);
    rc = ap__sim_info(context, device, AP_MODULE_SYSTEM, AP_INFO_MONOTONIC_RAW, &ns);
    if (rc == 0) {
        rc = ap__sim_info(context, device, AP_MODULE_SYSTEM, AP_INFO_SYS_COUNT, &cycles);
    }
    clock->host_cycles[2] = ap__host_cycles(context);
    clock->host_ns[1] = ap__sim_now(context);
    clock->host_cycles[3] = ap__host_cycles(context);
    clock->device_ns = (uint64_t)ns;
    clock->device_cycles = (uint64_t)cycles;
    return ap__ascend_rc(rc);
}

static int ap__channels(void *context, uint32_t device, ap__hal_channels *channels)
{
    return ap__ascend_rc(ap__sim_channels(context, device, channels));
}

static int ap__start(void *context, uint32_t device, uint32_t channel, const ap__hal_start *start)
{
    return ap__ascend_rc(ap__sim_start(context, device, channel, start));
}

static int ap__stop(void *context, uint32_t device, uint32_t channel)
{
    return ap__ascend_rc(ap__sim_stop(context, device, channel));
}

/* Whole seconds, as in the real driver. */
static int ap__poll(void *context, ap__hal_event *events, int capacity, int timeout_ms)
{
    int seconds = timeout_ms <= 1000 ? 1 : timeout_ms > 4000 ? 5 : (timeout_ms + 999) / 1000;

    if (events == NULL || capacity < 1 || capacity > AP_HAL_MAX_POLL) {
        return -AP_HAL_INVALID;
    }
    return ap__count_or_rc(ap__sim_poll(context, events, capacity, seconds));
}

static int ap__read(void *context, uint32_t device, uint32_t channel, void *buffer, uint32_t bytes)
{
    if (buffer == NULL || device >= ap__sim_devices(context) || channel >= AP_HAL_MAX_CHANNELS) {
        return -AP_HAL_INVALID;
    }
    return ap__count_or_rc(ap__sim_read(context, device, channel, buffer, bytes));
}

static int ap__flush(void *context, uint32_t device, uint32_t channel, uint32_t *pending)
{
    return ap__ascend_rc(ap__sim_flush(context, device, channel, pending));
}

static int ap__status(void *context, uint32_t device)
{
    return ap__sim_state(context, device) == 0 ? AP_HAL_OK : AP_HAL_DEVICE_LOST;
}

const ap__hal_ops ap__hal_sim = {
    .abi = AP_HAL_ABI,
    .name = "sim",
    .simulated = 1,
    .open = ap__open,
    .close = ap__close,
    .devices = ap__devices,
    .info = ap__info,
    .api_version = ap__api_version,
    .clock = ap__clock,
    .channels = ap__channels,
    .start = ap__start,
    .stop = ap__stop,
    .poll = ap__poll,
    .read = ap__read,
    .flush = ap__flush,
    .status = ap__status,
};
