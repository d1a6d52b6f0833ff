/* SPDX-License-Identifier: Apache-2.0 */
/* libruntime.so: registers with the profiler when it is loaded, reports while it is told to. */
#include "mock.h"

static uint32_t told;

static int32_t on_command(uint32_t type, void *data, uint32_t len)
{
    uint32_t command = 99;

    if (type == 1 && len == 5424) { /* the exact size, as there */
        memcpy(&command, (char *)data + 280, sizeof(command));
    }
    told |= command < 32 ? 1u << command : 0x80000000u;
    return 0;
}

__attribute__((constructor)) static void load(void)
{
    (void)MsprofRegisterCallback(7, on_command);
    (void)MsprofRegTypeInfo(5000, 802, "task_track");
}

uint32_t rtProfilingTold(void)
{
    return told;
}

int32_t rtSetDevice(int32_t device)
{
    return MsprofNotifySetDevice(0, (uint32_t)device, true);
}

int32_t rtDeviceReset(int32_t device)
{
    return MsprofNotifySetDevice(0, (uint32_t)device, false);
}

int32_t rtProfilerTraceEx(uint64_t id, uint64_t model, uint16_t tag, void *stream)
{
    (void)model;
    (void)fprintf(stderr, "trace %llu tag %u%s\n", (unsigned long long)id, tag,
                  stream == NULL ? " without a stream" : "");
    return 0;
}

int32_t rtKernelLaunch(void)
{
    uint64_t now = MsprofSysCycleTime();
    mock_api call = {MOCK_MAGIC, 5000, 1000, 1, 0, now, now + 10, 0};
    mock_compact task = {MOCK_MAGIC, 5000, 802, 1, 40, now, {0}};

    (void)MsprofReportApi(1, &call);
    return MsprofReportCompactInfo(1, &task, sizeof(task));
}
