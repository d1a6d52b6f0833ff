/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-alone libascend_hal.so: the vendor's names on the process's simulator, which is made
 * from the environment's ACLPROF_SIM at the first call and stays. Only in that library. */
#include "drivers/ascend/vendor_abi.h"
#include "drivers/sim/internal.h"
#include "drivers/sim/vendor_control.h"

#define AP_EXPORT __attribute__((visibility("default")))
#define AP_HOST_SIDE 1

static pthread_mutex_t ap__lock = PTHREAD_MUTEX_INITIALIZER;
static ap__sim *ap__simulator;

static ap__sim *ap__sim_get(void)
{
    char error[256];
    ap__sim *sim = NULL;
    int rc = 0;

    pthread_mutex_lock(&ap__lock);
    if (ap__simulator == NULL) {
        ap__simulator = ap__sim_acquire(&rc, error, sizeof(error));
    }
    sim = ap__simulator;
    pthread_mutex_unlock(&ap__lock);
    return sim;
}

/* A call on the simulator; `otherwise` when it cannot be made. */
#define AP_CALL(otherwise, call)                                                                   \
    do {                                                                                           \
        ap__sim *sim = ap__sim_get();                                                              \
        return sim == NULL ? (otherwise) : (call);                                                 \
    } while (0)

AP_EXPORT int prof_drv_get_channels(unsigned device, ap__vendor_channels *list);
AP_EXPORT int prof_drv_start(unsigned device, unsigned channel, const ap__vendor_start *start);
AP_EXPORT int prof_stop(unsigned device, unsigned channel);
AP_EXPORT int prof_channel_read(unsigned device, unsigned channel, char *buffer, unsigned bytes);
AP_EXPORT int prof_channel_poll(ap__hal_event *events, int capacity, int timeout_s);
AP_EXPORT int halProfDataFlush(unsigned device, unsigned channel, unsigned *bytes);
AP_EXPORT int drvGetDevNum(uint32_t *count);
AP_EXPORT int drvGetDevIDs(uint32_t *ids, uint32_t capacity);
AP_EXPORT int halGetDeviceInfo(uint32_t device, int32_t module, int32_t info, int64_t *value);
AP_EXPORT int halGetAPIVersion(int *version);
AP_EXPORT int drvGetPlatformInfo(uint32_t *side);
AP_EXPORT int drvDeviceStatus(uint32_t device, int *status);
AP_EXPORT int drvDeviceGetPhyIdByIndex(uint32_t device, uint32_t *physical);
AP_EXPORT int drvDeviceGetIndexByPhyId(uint32_t physical, uint32_t *device);

static int ap__get_channels(ap__sim *sim, unsigned device, ap__vendor_channels *list)
{
    ap__hal_channels set;
    int rc = list == NULL ? AP_VENDOR_INVALID : ap__sim_channels(sim, device, &set);

    if (rc != 0) {
        return rc;
    }
    list->count = 0;
    for (uint32_t i = 0; i < AP_HAL_MAX_CHANNELS; i++) {
        if (ap__hal_has(&set, i)) {
            list->channel[list->count++].id = i;
        }
    }
    return 0;
}

int prof_drv_get_channels(unsigned device, ap__vendor_channels *list)
{
    AP_CALL(AP_VENDOR_NOT_SUPPORTED, ap__get_channels(sim, device, list));
}

int prof_drv_start(unsigned device, unsigned channel, const ap__vendor_start *start)
{
    ap__hal_start own = {0};

    if (start == NULL) {
        return AP_VENDOR_INVALID;
    }
    own.period_ms = start->period_ms;
    own.config = start->user_data;
    own.config_bytes = start->user_data == NULL ? 0 : start->user_data_size;
    AP_CALL(AP_VENDOR_NOT_SUPPORTED, ap__sim_start(sim, device, channel, &own));
}

int prof_stop(unsigned device, unsigned channel)
{
    AP_CALL(AP_VENDOR_NOT_SUPPORTED, ap__sim_stop(sim, device, channel));
}

int prof_channel_read(unsigned device, unsigned channel, char *buffer, unsigned bytes)
{
    AP_CALL(AP_VENDOR_ERROR, ap__sim_read(sim, device, channel, buffer, bytes));
}

int prof_channel_poll(ap__hal_event *events, int capacity, int timeout_s)
{
    AP_CALL(AP_VENDOR_ERROR, ap__sim_poll(sim, events, capacity, timeout_s));
}

int halProfDataFlush(unsigned device, unsigned channel, unsigned *bytes)
{
    AP_CALL(AP_VENDOR_NOT_SUPPORTED, ap__sim_flush(sim, device, channel, bytes));
}

int drvGetDevNum(uint32_t *count)
{
    ap__sim *sim = ap__sim_get();

    if (count == NULL || sim == NULL) {
        return count == NULL ? AP_VENDOR_INVALID : AP_VENDOR_NOT_SUPPORTED;
    }
    *count = ap__sim_devices(sim);
    return 0;
}

int drvGetDevIDs(uint32_t *ids, uint32_t capacity)
{
    ap__sim *sim = ap__sim_get();

    if (ids == NULL || sim == NULL) {
        return ids == NULL ? AP_VENDOR_INVALID : AP_VENDOR_NOT_SUPPORTED;
    }
    for (uint32_t i = 0; i < capacity && i < ap__sim_devices(sim); i++) {
        ids[i] = i;
    }
    return 0;
}

int halGetDeviceInfo(uint32_t device, int32_t module, int32_t info, int64_t *value)
{
    AP_CALL(AP_VENDOR_NOT_SUPPORTED, ap__sim_info(sim, device, module, info, value));
}

int halGetAPIVersion(int *version)
{
    ap__sim *sim = ap__sim_get();

    if (version == NULL || sim == NULL) {
        return version == NULL ? AP_VENDOR_INVALID : AP_VENDOR_NOT_SUPPORTED;
    }
    *version = ap__sim_api_version(sim);
    return 0;
}

int drvGetPlatformInfo(uint32_t *side)
{
    if (side == NULL) {
        return AP_VENDOR_INVALID;
    }
    *side = AP_HOST_SIDE;
    return 0;
}

int drvDeviceStatus(uint32_t device, int *status)
{
    ap__sim *sim = ap__sim_get();

    if (status == NULL || sim == NULL || device >= ap__sim_devices(sim)) {
        return AP_VENDOR_INVALID;
    }
    *status = ap__sim_state(sim, device);
    return 0;
}

static int ap__same_id(uint32_t id, uint32_t *out)
{
    ap__sim *sim = ap__sim_get();

    if (out == NULL || sim == NULL || id >= ap__sim_devices(sim)) {
        return AP_VENDOR_INVALID;
    }
    *out = id;
    return 0;
}

int drvDeviceGetPhyIdByIndex(uint32_t device, uint32_t *physical)
{
    return ap__same_id(device, physical);
}

int drvDeviceGetIndexByPhyId(uint32_t physical, uint32_t *device)
{
    return ap__same_id(physical, device);
}

static int ap__control_report(unsigned device, unsigned channel, const void *data, size_t bytes)
{
    AP_CALL(AP_VENDOR_NOT_SUPPORTED, ap__sim_report(sim, device, channel, data, bytes));
}

/* Nothing may be running. The next call makes a new one, from the environment as it is then. */
static void ap__control_reset(void)
{
    pthread_mutex_lock(&ap__lock);
    if (ap__simulator != NULL) {
        (void)ap__sim_release(ap__simulator);
        ap__simulator = NULL;
    }
    pthread_mutex_unlock(&ap__lock);
}

AP_EXPORT extern const ap__sim_control aclprof_simulated_hal;
const ap__sim_control aclprof_simulated_hal = {
    .size = sizeof(ap__sim_control),
    .report = ap__control_report,
    .reset = ap__control_reset,
};
