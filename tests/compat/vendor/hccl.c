/* SPDX-License-Identifier: Apache-2.0 */
/* libhccl.so: opens its profiler by name and wants all seven functions. */
#include "mock.h"

int HcclAllReduce(void)
{
    static const char *const names[] = {"MsprofRegisterCallback",     "MsprofRegTypeInfo",
                                        "MsprofReportApi",            "MsprofReportCompactInfo",
                                        "MsprofReportAdditionalInfo", "MsprofGetHashId",
                                        "MsprofSysCycleTime"};
    void *handle = dlopen("libprofapi.so", RTLD_NOW);
    int32_t (*report)(uint32_t, const void *, uint32_t) = NULL;
    mock_additional record = {MOCK_MAGIC, 5500, 0x10001, 1, 8, 1, {0}};
    void *found = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (handle == NULL || dlsym(handle, names[i]) == NULL) {
            return 1;
        }
    }
    found = dlsym(handle, "MsprofReportAdditionalInfo");
    memcpy(&report, &found, sizeof(report));
    return report(1, &record, sizeof(record));
}
