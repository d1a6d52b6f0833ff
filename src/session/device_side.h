/* SPDX-License-Identifier: Apache-2.0 */
/* The device part of the one running capture: collector and host sampling. Under the session's
 * lock. */
#ifndef AP_SESSION_DEVICE_SIDE_H_
#define AP_SESSION_DEVICE_SIDE_H_

#include "writer/capture.h"

/* Begins on the capture's devices; a device that does not run makes a warning, not an error.
 * 0, or an ACL code with the last error set and nothing begun. */
aclError ap__device_side_open(ap__capture *capture, const ap__capture_params *params);

/* Further devices, and once more those that wait for the program to set them. */
aclError ap__device_side_add(ap__capture *capture, const char *api, const uint32_t *devices,
                             uint32_t count);
void ap__device_side_remove(const uint32_t *devices, uint32_t count);

/* Stops and finishes all of it, before the host's part is closed. */
void ap__device_side_close(ap__capture *capture);

/* In a forked child. */
void ap__device_side_abandon(void);

#endif
