/* SPDX-License-Identifier: Apache-2.0 */
#include "device_work.h"

#include <stdlib.h>
#include <string.h>

#define MULTIPLIES_PER_US 30000.0 /* a small part of a core: the network is small, too */
#define LAUNCH_US 2.0
#define IMAGES_PER_BLOCK 8

bool device_work_there(void)
{
    const char *driver = getenv("ACLPROF_DRIVER");
    uint32_t count = 0;

    return driver != NULL && strcmp(driver, "sim") == 0 &&
           simrtGetDeviceCount(&count) == SIMRT_OK && count != 0;
}

simrtStream device_work_begin(void)
{
    simrtStream stream = NULL;

    if (!device_work_there() || simrtSetDevice(0) != SIMRT_OK ||
        simrtCreateStream(&stream) != SIMRT_OK) {
        return NULL;
    }
    return stream;
}

void device_work_end(simrtStream stream)
{
    if (stream != NULL) {
        (void)simrtDestroyStream(stream);
    }
}

void device_work_load(simrtStream stream, int images)
{
    if (stream != NULL) {
        (void)simrtMemcpyAsync(stream, (uint64_t)images * DIGITS_PIXELS * sizeof(float),
                               SIMRT_HOST_TO_DEVICE, NULL);
    }
}

void device_work_layer(simrtStream stream, const digits_layer *layer, int images)
{
    simrtKernel kernel = {
        .size = sizeof(kernel),
        .name = layer->name,
        .core = layer->matrix ? SIMRT_CUBE : SIMRT_VECTOR,
        .blocks = (uint32_t)(images + IMAGES_PER_BLOCK - 1) / IMAGES_PER_BLOCK,
        .cost_us = LAUNCH_US + (double)layer->multiplies * images / MULTIPLIES_PER_US,
    };

    if (stream != NULL) {
        (void)simrtLaunchKernel(stream, &kernel, NULL);
    }
}

void device_work_fetch(simrtStream stream, int images)
{
    if (stream != NULL) {
        (void)simrtMemcpyAsync(stream, (uint64_t)images * DIGITS_CLASSES * sizeof(float),
                               SIMRT_DEVICE_TO_HOST, NULL);
        (void)simrtSynchronizeStream(stream);
    }
}
