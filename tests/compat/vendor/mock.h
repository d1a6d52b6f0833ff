/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries in the place of the vendor's, of the same names, needs and binding. Where one of their
 * functions is reached, it says so on stderr: "vendor NAME". */
#ifndef AP_TESTS_COMPAT_VENDOR_MOCK_H_
#define AP_TESTS_COMPAT_VENDOR_MOCK_H_

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOCK_SAY() (void)fprintf(stderr, "vendor %s\n", __func__)

typedef int32_t (*mock_module)(uint32_t type, void *data, uint32_t len);

typedef struct mock_api {
    uint16_t magic, level;
    uint32_t type, thread, reserved;
    uint64_t begin, end, item;
} mock_api;

typedef struct mock_compact {
    uint16_t magic, level;
    uint32_t type, thread, length;
    uint64_t time;
    uint8_t data[40];
} mock_compact;

typedef struct mock_additional {
    uint16_t magic, level;
    uint32_t type, thread, length;
    uint64_t time;
    uint8_t data[232];
} mock_additional;

#define MOCK_MAGIC 0x5A5A

/* libprofapi.so */
int32_t MsprofInit(uint32_t type, void *data, uint32_t len);
int32_t MsprofFinalize(void);
int32_t MsprofRegisterCallback(uint32_t module, mock_module callback);
int32_t MsprofReportApi(uint32_t aging, const mock_api *record);
int32_t MsprofReportEvent(uint32_t aging, const mock_api *record);
int32_t MsprofReportCompactInfo(uint32_t aging, const void *record, uint32_t len);
int32_t MsprofReportAdditionalInfo(uint32_t aging, const void *record, uint32_t len);
int32_t MsprofReportBatchAdditionalInfo(uint32_t aging, const void *records, uint32_t len);
size_t MsprofGetBatchReportMaxSize(uint32_t type);
int32_t MsprofRegTypeInfo(uint16_t level, uint32_t type, const char *name);
int32_t MsprofRegDataFormat(uint16_t level, uint32_t type, const char *format);
uint64_t MsprofGetHashId(const char *text, size_t length);
uint64_t MsprofStr2Id(const char *text, size_t length);
uint64_t MsprofSysCycleTime(void);
int32_t MsprofNotifySetDevice(uint32_t chip, uint32_t device, bool open);
int32_t MsprofSetDeviceIdByGeModelIdx(uint32_t model, uint32_t device);
int32_t MsprofRegisterProfileCallback(int32_t type, void *callback, uint32_t len);
int32_t profSetProfCommand(void *command, uint32_t len);
int32_t profSetStepInfo(uint64_t index, uint16_t tag, void *stream);
uint64_t ProfStr2Id(const char *text, size_t length);
int32_t ProfAclInit(uint32_t type, const char *path, uint32_t length);
int32_t ProfAclWarmup(uint32_t type, const void *config);
int32_t ProfAclStart(uint32_t type, const void *config);
int32_t ProfAclStop(uint32_t type, const void *config);
int32_t ProfAclFinalize(uint32_t type);
int32_t ProfAclSetConfig(uint32_t type, const char *value, size_t length);
int32_t ProfAclRegisterDeviceCallback(void);
int32_t ProfAclDrvGetDevNum(void);
int32_t ProfAclGetCompatibleFeatures(size_t *count, void **data);
int32_t ProfAclGetCompatibleFeaturesV2(size_t *count, void **data);
int32_t ProfAclSubscribe(uint32_t type, uint32_t model, const void *config);
int32_t ProfAclUnSubscribe(uint32_t type, uint32_t model);
uint64_t ProfAclGetOpTime(uint32_t type, const void *info, size_t length, uint32_t index);
size_t ProfAclGetId(uint32_t type, const void *info, size_t length, uint32_t index);
int32_t ProfAclGetOpVal(uint32_t type, const void *info, size_t length, uint32_t index, void *data,
                        size_t size);
const char *ProfAclGetOpAttriVal(uint32_t type, const void *info, size_t length, uint32_t index,
                                 uint32_t attribute);
int32_t ProfAclPush(void *stamp);
int32_t ProfAclPop(void);
int32_t ProfAclSetCategoryName(uint32_t category, const char *name);
int32_t ProfAclSetStampCategory(void *stamp, uint32_t category);
int32_t ProfAclSetStampPayload(void *stamp, int32_t type, void *value);
int32_t ProfAclRangePushEx(void *attributes);
int32_t ProfAclRangePop(void);
void *ProfAclCreateStamp(void);
void ProfAclDestroyStamp(void *stamp);
int32_t ProfAclSetStampTraceMessage(void *stamp, const char *text, uint32_t length);
int32_t ProfAclMark(void *stamp);
int32_t ProfAclMarkEx(const char *text, size_t length, void *stream);
int32_t ProfAclRangeStart(void *stamp, uint32_t *id);
int32_t ProfAclRangeStop(uint32_t id);

/* libruntime.so */
int32_t rtSetDevice(int32_t device);
int32_t rtDeviceReset(int32_t device);
int32_t rtKernelLaunch(void); /* one call and one task in the records */
int32_t rtProfilerTraceEx(uint64_t id, uint64_t model, uint16_t tag, void *stream);
uint32_t rtProfilingTold(void); /* 1 << command for each that came */

/* libascendcl.so */
int aclInit(const char *config);
int aclFinalize(void);
int aclrtSetDevice(int32_t device);
int aclrtResetDevice(int32_t device);
int aclopExecuteV2(void);

/* libhccl.so, which looks for its profiler itself */
int HcclAllReduce(void); /* 0: reported */

#endif
