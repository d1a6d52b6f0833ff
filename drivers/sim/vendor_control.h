/* SPDX-License-Identifier: Apache-2.0 */
/* What the stand-alone simulator offers to tests: its object AP_SIMULATED_MARK is one of these. */
#ifndef AP_SIM_VENDOR_CONTROL_H_
#define AP_SIM_VENDOR_CONTROL_H_

#include <stddef.h>

typedef struct ap__sim_control {
    size_t size;
    /* Bytes into a started channel's ring, as the device reports them. */
    int (*report)(unsigned device, unsigned channel, const void *data, size_t bytes);
    void (*reset)(void);
} ap__sim_control;

#endif
