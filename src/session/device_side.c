/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "session/device_side.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "collector/collector.h"
#include "collector/host_sys.h"
#include "drivers/choose.h"
#include "session/errtext.h"

static struct {
    ap__collector *collector; /* NULL: no device is captured */
    ap__host_sys *host_sys;   /* NULL: the settings ask for nothing */
    bool no_devices;          /* the mask has nothing of theirs */
} ap__side;

static uint64_t ap__sampled_bytes(void *context)
{
    return ap__host_sys_stored(context);
}

/* Names of device-side operators, comma separated. */
static void ap__take_names(void *context, uint32_t device, const char *text, size_t bytes)
{
    const char *end = text + bytes;

    (void)device;
    while (text < end) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        size_t length = (size_t)((comma != NULL ? comma : end) - text);

        while (length != 0 && text[length - 1] == '\0') {
            length--;
        }
        if (length != 0) {
            ap__capture_add_name(context, text, length);
        }
        text = comma != NULL ? comma + 1 : end;
    }
}

static aclError ap__failed(const char *api, const char *reason)
{
    return ap__fail(ACL_ERROR_PROFILING_FAILURE, AP_EK_INNER, api,
                    "The devices cannot be captured. Reason: %s.", reason);
}

static aclError ap__open_collector(ap__capture *capture, const char *api)
{
    const ap__driver *driver = ap__driver_peek();
    ap__collector_params p = {.on_names = ap__take_names, .on_names_context = capture};
    ap__capture_place place;
    char text[64] = "";
    int rc = 0;

    if (driver == NULL || driver->ops == NULL) {
        return ap__failed(api, "this process has no driver: it was forked from one that "
                                       "had; capture devices in a process that was started anew");
    }
    ap__capture_place_of(capture, &place);
    p.prof_fd = place.prof_fd;
    p.ext_fd = place.ext_fd;
    p.meta = place.meta;
    rc = ap__collector_open(driver->ops, driver->context, &p, &ap__side.collector);
    return rc == 0 ? ACL_SUCCESS : ap__failed(api, strerror_r(rc, text, sizeof(text)));
}

static void ap__open_host_sys(ap__capture *capture, const ap__settings *settings)
{
    ap__capture_place place;
    uint32_t lacking = 0;
    char text[64] = "";
    int rc = 0;

    ap__capture_place_of(capture, &place);
    rc = ap__host_sys_open(place.data_fd, settings, place.start_ns, &ap__side.host_sys);
    if (rc != 0) {
        ap__log(AP_LOG_WARN, "the host's load is not sampled: %s",
                strerror_r(rc, text, sizeof(text)));
    }
    lacking = ap__host_sys_lacking(settings);
    if ((lacking & AP_HOST_NUMA) != 0) {
        ap__log(AP_LOG_WARN, "ACL_PROF_HOST_SYS: numa is not sampled");
    }
    if ((lacking & AP_HOST_OSRT) != 0) {
        ap__log(AP_LOG_WARN, "ACL_PROF_HOST_SYS: osrt is not sampled: this kernel has no "
                             "/proc/self/syscall");
    }
    if (ap__side.host_sys != NULL) {
        ap__capture_set_stored(capture, ap__sampled_bytes, ap__side.host_sys);
    }
}

aclError ap__device_side_open(ap__capture *capture, const ap__capture_params *params)
{
    aclError code = ACL_SUCCESS;

    ap__side.no_devices = (params->data_types & ACL_PROF_API_STATS) != 0; /* they need none */
    if (params->device_count != 0) {
        code = ap__device_side_add(capture, params->api, params->devices, params->device_count);
    }
    if (code == ACL_SUCCESS) {
        ap__open_host_sys(capture, params->settings);
    }
    return code;
}

aclError ap__device_side_add(ap__capture *capture, const char *api, const uint32_t *devices,
                             uint32_t count)
{
    aclError code = ACL_SUCCESS;
    int rc = 0;

    if (ap__side.collector == NULL && !ap__side.no_devices) { /* the first ones may come later */
        code = ap__open_collector(capture, api);
    }
    if (ap__side.collector != NULL) {
        rc = ap__collector_add_devices(ap__side.collector, devices, count);
        if (rc != 0) {
            ap__log(AP_LOG_WARN, "%s: not every channel of the devices runs: %s", api,
                    ap__hal_rc_text(rc));
        }
    }
    return code;
}

void ap__device_side_remove(const uint32_t *devices, uint32_t count)
{
    if (ap__side.collector != NULL) {
        (void)ap__collector_remove_devices(ap__side.collector, devices, count);
    }
}

void ap__device_side_close(ap__capture *capture)
{
    char text[64] = "";
    int rc = 0;

    if (ap__side.collector != NULL) {
        /* calls that never came back keep the collector alive; the driver is never closed */
        (void)ap__collector_stop(ap__side.collector);
        ap__collector_free(ap__side.collector);
        ap__side.collector = NULL;
    }
    ap__capture_set_stored(capture, NULL, NULL);
    rc = ap__host_sys_close(ap__side.host_sys);
    ap__side.host_sys = NULL;
    if (rc != 0) {
        ap__log(AP_LOG_WARN, "some samples of the host's load could not be written: %s",
                strerror_r(rc, text, sizeof(text)));
    }
}

void ap__device_side_abandon(void)
{
    ap__collector_abandon(ap__side.collector);
    ap__host_sys_abandon(ap__side.host_sys);
    ap__side.collector = NULL;
    ap__side.host_sys = NULL;
}
