/* SPDX-License-Identifier: Apache-2.0 */
/* Every public function against its exact type, written without the header's typedefs of
 * aclError and aclrtStream: int and void * are the ABI. Include after acl_prof.h. */
#ifndef PROTOTYPES_H_
#define PROTOTYPES_H_

/* One table a function, so that each mismatch is an error of its own. */
#define PROTO(ret, name, ...) \
    ret (*const check_##name)(__VA_ARGS__) = name; \
    const void *use_##name(void); \
    const void *use_##name(void) { return (const void *)&check_##name; }

PROTO(int, aclprofInit, const char *, size_t)
PROTO(int, aclprofFinalize, void)
PROTO(aclprofConfig *, aclprofCreateConfig, uint32_t *, uint32_t, aclprofAicoreMetrics,
      const aclprofAicoreEvents *, uint64_t)
PROTO(int, aclprofDestroyConfig, const aclprofConfig *)
PROTO(int, aclprofStart, const aclprofConfig *)
PROTO(int, aclprofStop, const aclprofConfig *)
PROTO(int, aclprofSetConfig, aclprofConfigType, const char *, size_t)
PROTO(int, aclprofModelSubscribe, uint32_t, const aclprofSubscribeConfig *)
PROTO(int, aclprofModelUnSubscribe, uint32_t)
PROTO(aclprofSubscribeConfig *, aclprofCreateSubscribeConfig, int8_t, aclprofAicoreMetrics, void *)
PROTO(int, aclprofDestroySubscribeConfig, const aclprofSubscribeConfig *)
PROTO(int, aclprofGetOpDescSize, size_t *)
PROTO(int, aclprofGetOpNum, const void *, size_t, uint32_t *)
PROTO(int, aclprofGetOpTypeLen, const void *, size_t, uint32_t, size_t *)
PROTO(int, aclprofGetOpType, const void *, size_t, uint32_t, char *, size_t)
PROTO(int, aclprofGetOpNameLen, const void *, size_t, uint32_t, size_t *)
PROTO(int, aclprofGetOpName, const void *, size_t, uint32_t, char *, size_t)
PROTO(uint64_t, aclprofGetOpStart, const void *, size_t, uint32_t)
PROTO(uint64_t, aclprofGetOpEnd, const void *, size_t, uint32_t)
PROTO(uint64_t, aclprofGetOpDuration, const void *, size_t, uint32_t)
PROTO(size_t, aclprofGetModelId, const void *, size_t, uint32_t)
PROTO(aclprofSubscribeOpFlag, aclprofGetOpFlag, const void *, size_t, uint32_t)
PROTO(const char *, aclprofGetOpAttriValue, const void *, size_t, uint32_t,
      aclprofSubscribeOpAttri)
PROTO(int, aclprofGetStepTimestamp, aclprofStepInfo *, aclprofStepTag, void *)
PROTO(aclprofStepInfo *, aclprofCreateStepInfo, void)
PROTO(void, aclprofDestroyStepInfo, aclprofStepInfo *)
PROTO(void *, aclprofCreateStamp, void)
PROTO(void, aclprofDestroyStamp, void *)
PROTO(int, aclprofPush, void *)
PROTO(int, aclprofPop, void)
PROTO(int, aclprofRangeStart, void *, uint32_t *)
PROTO(int, aclprofRangeStop, uint32_t)
PROTO(int, aclprofSetStampTraceMessage, void *, const char *, uint32_t)
#ifdef BREAK_A_PROTOTYPE /* the script proves with this that a mismatch is seen */
PROTO(int, aclprofMark, const char *)
#else
PROTO(int, aclprofMark, void *)
#endif
PROTO(int, aclprofMarkEx, const char *, size_t, void *)
PROTO(uint64_t, aclprofStr2Id, const char *)
PROTO(int, aclprofRangePushEx, aclprofEventAttributes *)
PROTO(int, aclprofRangePop, void)

#endif
