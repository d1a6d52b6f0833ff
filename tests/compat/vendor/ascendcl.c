/* SPDX-License-Identifier: Apache-2.0 */
/* libascendcl.so: needs libmsprofiler.so without calling it, so that the latter's functions are found
 * through a handle of it. */
#include "mock.h"

static int32_t on_command(uint32_t type, void *data, uint32_t len)
{
    (void)type, (void)data, (void)len;
    return 0;
}

int aclInit(const char *config)
{
    (void)config;
    (void)MsprofRegisterCallback(48, on_command);
    return MsprofInit(0xFF, NULL, 0) == 0 ? 0 : 100000;
}

int aclFinalize(void)
{
    return MsprofFinalize();
}

int aclrtSetDevice(int32_t device)
{
    return rtSetDevice(device);
}

int aclrtResetDevice(int32_t device)
{
    return rtDeviceReset(device);
}

int aclopExecuteV2(void)
{
    return rtKernelLaunch();
}
