/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of writer/capture.h as the session makes them; tests put their own here. */
#ifndef AP_SESSION_CAPTURE_OPS_H_
#define AP_SESSION_CAPTURE_OPS_H_

#include "writer/capture.h"

typedef struct ap__capture_table {
    aclError (*open)(const ap__capture_params *params, ap__capture **out);
    void (*record)(ap__capture *capture, bool on);
    aclError (*close)(ap__capture *capture);
    void (*abandon)(ap__capture *capture);
    void (*stats)(const ap__capture *capture, aclprofStats *out);
    aclError (*add_devices)(ap__capture *capture, const char *api, const uint32_t *devices,
                            uint32_t count);
} ap__capture_table;

extern const ap__capture_table *ap__capture_ops;

#endif
