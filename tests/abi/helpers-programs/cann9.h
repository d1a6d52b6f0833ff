/* SPDX-License-Identifier: Apache-2.0 */
/* Prototypes as CANN 7 to 9 have them: handles of configs are const, and there is more. */
#ifndef CANN9_H_
#define CANN9_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int aclError;
typedef void *aclrtStream;
typedef enum {
    ACL_AICORE_ARITHMETIC_UTILIZATION = 0,
    ACL_AICORE_PIPE_EXECUTE_UTILIZATION = 7,
    ACL_AICORE_NONE = 0xFF
} aclprofAicoreMetrics;
typedef enum { ACL_STEP_START = 0, ACL_STEP_END = 1 } aclprofStepTag;
typedef enum {
    ACL_PROF_ARGS_MIN = 0,
    ACL_PROF_STORAGE_LIMIT = 1,
    ACL_PROF_HOST_SYS = 7,
    ACL_PROF_ARGS_MAX = 17
} aclprofConfigType;
typedef enum { ACL_SUBSCRIBE_ATTRI_NONE = -1, ACL_SUBSCRIBE_ATTRI_THREADID = 0 } aclprofSubscribeOpAttri;
typedef enum { ACL_SUBSCRIBE_OP = 0, ACL_SUBSCRIBE_NONE = 0xFF } aclprofSubscribeOpFlag;
typedef struct aclprofConfig aclprofConfig;
typedef struct aclprofAicoreEvents aclprofAicoreEvents;
typedef struct aclprofSubscribeConfig aclprofSubscribeConfig;
typedef struct aclprofStepInfo aclprofStepInfo;
typedef struct {
    uint16_t version;
    uint16_t size;
    uint32_t messageType;
    union {
        void *tensorInfo;
    } message;
} aclprofEventAttributes;
#define ACL_PROF_MSPROFTX 0x0080ULL
#define ACL_SUCCESS 0
#define HAVE_LATER_CALLS 1

aclError aclprofInit(const char *profilerResultPath, size_t length);
aclError aclprofFinalize();
aclprofConfig *aclprofCreateConfig(uint32_t *deviceIdList, uint32_t deviceNums,
                                   aclprofAicoreMetrics aicoreMetrics,
                                   const aclprofAicoreEvents *aicoreEvents,
                                   uint64_t dataTypeConfig);
aclError aclprofDestroyConfig(const aclprofConfig *profilerConfig);
aclError aclprofStart(const aclprofConfig *profilerConfig);
aclError aclprofStop(const aclprofConfig *profilerConfig);
aclError aclprofSetConfig(aclprofConfigType configType, const char *config, size_t configLength);
void *aclprofCreateStamp();
void aclprofDestroyStamp(void *stamp);
aclError aclprofSetStampTraceMessage(void *stamp, const char *msg, uint32_t msgLen);
aclError aclprofMark(void *stamp);
aclError aclprofMarkEx(const char *msg, size_t msgLen, aclrtStream stream);
aclError aclprofPush(void *stamp);
aclError aclprofPop();
aclError aclprofRangeStart(void *stamp, uint32_t *rangeId);
aclError aclprofRangeStop(uint32_t rangeId);
uint64_t aclprofStr2Id(const char *message);
aclError aclprofRangePushEx(aclprofEventAttributes *attr);
aclError aclprofRangePop();
aclprofStepInfo *aclprofCreateStepInfo();
void aclprofDestroyStepInfo(aclprofStepInfo *stepInfo);
aclError aclprofGetStepTimestamp(aclprofStepInfo *stepInfo, aclprofStepTag tag, aclrtStream stream);
aclprofSubscribeConfig *aclprofCreateSubscribeConfig(int8_t timeInfoSwitch,
                                                     aclprofAicoreMetrics aicoreMetrics, void *fd);
aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig *profSubscribeConfig);
aclError aclprofModelSubscribe(uint32_t modelId, const aclprofSubscribeConfig *profSubscribeConfig);
aclError aclprofModelUnSubscribe(uint32_t modelId);
aclError aclprofGetOpDescSize(size_t *opDescSize);
aclError aclprofGetOpNum(const void *opInfo, size_t opInfoLen, uint32_t *opNumber);
aclError aclprofGetOpTypeLen(const void *opInfo, size_t opInfoLen, uint32_t index,
                             size_t *opTypeLen);
aclError aclprofGetOpType(const void *opInfo, size_t opInfoLen, uint32_t index, char *opType,
                          size_t opTypeLen);
aclError aclprofGetOpNameLen(const void *opInfo, size_t opInfoLen, uint32_t index,
                             size_t *opNameLen);
aclError aclprofGetOpName(const void *opInfo, size_t opInfoLen, uint32_t index, char *opName,
                          size_t opNameLen);
uint64_t aclprofGetOpStart(const void *opInfo, size_t opInfoLen, uint32_t index);
uint64_t aclprofGetOpEnd(const void *opInfo, size_t opInfoLen, uint32_t index);
uint64_t aclprofGetOpDuration(const void *opInfo, size_t opInfoLen, uint32_t index);
size_t aclprofGetModelId(const void *opInfo, size_t opInfoLen, uint32_t index);
aclprofSubscribeOpFlag aclprofGetOpFlag(const void *opInfo, size_t opInfoLen, uint32_t index);
const char *aclprofGetOpAttriValue(const void *opInfo, size_t opInfoLen, uint32_t index,
                                   aclprofSubscribeOpAttri attri);

#ifdef __cplusplus
}
#endif

#endif
