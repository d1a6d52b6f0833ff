/* SPDX-License-Identifier: Apache-2.0 */
#include "session/capture_ops.h"

#include <stdio.h>

#include "session/device_side.h"
#include "session/results.h"

static aclError ap__open(const ap__capture_params *params, ap__capture **out)
{
    aclError code = ap__capture_open(params, out);

    if (code == ACL_SUCCESS) {
        code = ap__device_side_open(*out, params);
        if (code != ACL_SUCCESS) {
            ap__capture_discard(*out);
            *out = NULL;
        }
    }
    if (code == ACL_SUCCESS) {
        ap__results_tell("begin", ap__capture_dir(*out));
    }
    return code;
}

static aclError ap__close(ap__capture *capture)
{
    char dir[AP_PATH_MAX];
    aclError code = ACL_SUCCESS;

    (void)snprintf(dir, sizeof(dir), "%s", ap__capture_dir(capture));
    ap__device_side_close(capture);
    code = ap__capture_close(capture);
    ap__results_tell(code == ACL_SUCCESS ? "end" : "failed", dir);
    return code;
}

static void ap__abandon(ap__capture *capture)
{
    ap__device_side_abandon();
    ap__capture_abandon(capture);
}

static aclError ap__add(ap__capture *capture, const char *api, const uint32_t *devices,
                        uint32_t count)
{
    return ap__device_side_add(capture, api, devices, count);
}

static void ap__remove(ap__capture *capture, const uint32_t *devices, uint32_t count)
{
    (void)capture;
    ap__device_side_remove(devices, count);
}

static const ap__capture_table ap__both_sides = {
    .open = ap__open,
    .record = ap__capture_record,
    .close = ap__close,
    .abandon = ap__abandon,
    .dir = ap__capture_dir,
    .stats = ap__capture_stats,
    .add_devices = ap__add,
    .remove_devices = ap__remove,
};

const ap__capture_table *ap__capture_ops = &ap__both_sides;
