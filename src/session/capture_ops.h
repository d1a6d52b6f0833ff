/* SPDX-License-Identifier: Apache-2.0 */
/* A capture as the session sees it: the host's part (writer/capture.h) and the devices'
 * (session/device_side.h) as one. Tests put a table of their own here. */
#ifndef AP_SESSION_CAPTURE_OPS_H_
#define AP_SESSION_CAPTURE_OPS_H_

#include "writer/capture.h"

typedef struct ap__capture_table {
    aclError (*open)(const ap__capture_params *params, ap__capture **out);
    void (*record)(ap__capture *capture, bool on);
    aclError (*close)(ap__capture *capture);
    void (*abandon)(ap__capture *capture);
    const char *(*dir)(const ap__capture *capture);
    void (*stats)(const ap__capture *capture, aclprofStats *out);
    /* Devices join, or are asked again for what they refused. */
    aclError (*add_devices)(ap__capture *capture, const char *api, const uint32_t *devices,
                            uint32_t count);
    /* Devices leave, others go on. */
    void (*remove_devices)(ap__capture *capture, const uint32_t *devices, uint32_t count);
} ap__capture_table;

extern const ap__capture_table *ap__capture_ops;

#endif
