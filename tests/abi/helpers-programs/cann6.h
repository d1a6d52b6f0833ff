/* SPDX-License-Identifier: Apache-2.0 */
/* Prototypes as releases up to CANN 6 and the documents of pyACL have them: handles are not const,
 * no parameters are (), and what came later is not there. */
#ifndef CANN6_H_
#define CANN6_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int aclError;
typedef void *aclrtStream;
typedef enum { ACL_AICORE_ARITHMETIC_UTILIZATION = 0, ACL_AICORE_NONE = 0xFF } aclprofAicoreMetrics;
typedef enum { ACL_STEP_START = 0, ACL_STEP_END = 1 } aclprofStepTag;
typedef enum { ACL_PROF_STORAGE_LIMIT = 1, ACL_PROF_HOST_SYS = 7 } aclprofConfigType;
typedef struct aclprofConfig aclprofConfig;
typedef struct aclprofAicoreEvents aclprofAicoreEvents;
typedef struct aclprofSubscribeConfig aclprofSubscribeConfig;
typedef struct aclprofStepInfo aclprofStepInfo;
#define ACL_PROF_MSPROFTX 0x0080ULL
#define ACL_SUCCESS 0

aclError aclprofInit(const char *profilerResultPath, size_t length);
aclError aclprofFinalize();
aclprofConfig *aclprofCreateConfig(uint32_t *deviceIdList, uint32_t deviceNums,
                                   aclprofAicoreMetrics aicoreMetrics,
                                   aclprofAicoreEvents *aicoreEvents, uint64_t dataTypeConfig);
aclError aclprofDestroyConfig(aclprofConfig *profilerConfig);
aclError aclprofStart(aclprofConfig *profilerConfig);
aclError aclprofStop(aclprofConfig *profilerConfig);
aclError aclprofSetConfig(aclprofConfigType configType, const char *config, size_t configLength);
void *aclprofCreateStamp();
void aclprofDestroyStamp(void *stamp);
aclError aclprofSetStampTraceMessage(void *stamp, const char *msg, uint32_t msgLen);
aclError aclprofMark(void *stamp);
aclError aclprofPush(void *stamp);
aclError aclprofPop();
aclError aclprofRangeStart(void *stamp, uint32_t *rangeId);
aclError aclprofRangeStop(uint32_t rangeId);
aclprofStepInfo *aclprofCreateStepInfo();
void aclprofDestroyStepInfo(aclprofStepInfo *stepInfo);
aclError aclprofGetStepTimestamp(aclprofStepInfo *stepInfo, aclprofStepTag tag, aclrtStream stream);
aclprofSubscribeConfig *aclprofCreateSubscribeConfig(int8_t timeInfoSwitch,
                                                     aclprofAicoreMetrics aicoreMetrics, void *fd);
aclError aclprofDestroySubscribeConfig(aclprofSubscribeConfig *profSubscribeConfig);
aclError aclprofModelSubscribe(uint32_t modelId, aclprofSubscribeConfig *profSubscribeConfig);
aclError aclprofModelUnSubscribe(uint32_t modelId);
aclError aclprofGetOpDescSize(size_t *opDescSize);
aclError aclprofGetOpNum(void *opInfo, size_t opInfoLen, uint32_t *opNumber);
aclError aclprofGetOpTypeLen(void *opInfo, size_t opInfoLen, uint32_t index, size_t *opTypeLen);
aclError aclprofGetOpType(void *opInfo, size_t opInfoLen, uint32_t index, char *opType,
                          size_t opTypeLen);
aclError aclprofGetOpNameLen(void *opInfo, size_t opInfoLen, uint32_t index, size_t *opNameLen);
aclError aclprofGetOpName(void *opInfo, size_t opInfoLen, uint32_t index, char *opName,
                          size_t opNameLen);
uint64_t aclprofGetOpStart(void *opInfo, size_t opInfoLen, uint32_t index);
uint64_t aclprofGetOpEnd(void *opInfo, size_t opInfoLen, uint32_t index);
uint64_t aclprofGetOpDuration(void *opInfo, size_t opInfoLen, uint32_t index);
size_t aclprofGetModelId(void *opInfo, size_t opInfoLen, uint32_t index);

#ifdef __cplusplus
}
#endif

#endif
