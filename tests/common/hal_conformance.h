/* SPDX-License-Identifier: Apache-2.0 */
/* How a driver behind ap__hal_ops must behave: the observations of the real driver's ring, poll
 * and state code, as checks that run on any driver. */
#ifndef AP_TEST_HAL_CONFORMANCE_H_
#define AP_TEST_HAL_CONFORMANCE_H_

#include <stddef.h>

#include "drivers/hal.h"

typedef struct ap__hal_conformance {
    const char *options; /* for open; the devices must be quiet and the rings as the driver's */
    uint32_t device;
    /* Makes the device report bytes: 0, or a vendor code. NULL: checks that need it are skipped. */
    int (*report)(void *user, void *context, uint32_t device, uint32_t channel, const void *data,
                  size_t bytes);
    void *user;
    int late_channel; /* channel 143 appears after some calls of channels */
    const char *only; /* NULL, or the name of one check */
} ap__hal_conformance;

typedef struct ap__hal_conformance_result {
    unsigned passed;
    unsigned failed;
    unsigned skipped;
    char text[8192]; /* a line per failure */
} ap__hal_conformance_result;

/* Opens the driver anew for each check; its poll queue must be empty then. Returns the number of failures. Takes about 10 seconds. */
unsigned ap__hal_conformance_run(const ap__hal_ops *ops, const ap__hal_conformance *how,
                                 ap__hal_conformance_result *result);

/* Bytes that start channel 44, 50 or 53 of a 910B with everything on; 0 for other channels. */
uint32_t ap__hal_conformance_config(uint32_t channel, unsigned char out[AP_HAL_MAX_CONFIG]);

#endif
