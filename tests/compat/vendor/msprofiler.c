/* SPDX-License-Identifier: Apache-2.0 */
/* libmsprofiler.so: arguments, then the layer of libprofapi.so. Linked with -Bsymbolic, so that its
 * calls of its own functions cannot be taken over. */
#include "mock.h"

#define HOST 64u

typedef struct config { /* 280 bytes */
    uint32_t count, devices[65];
    int metrics;
    uint64_t types;
} config;

typedef struct subscription {
    bool times;
    int metrics;
    void *fd;
} subscription;

typedef struct step {
    bool started, ended;
    uint64_t index;
} step;

int aclprofInit(const char *path, size_t length);
int aclprofFinalize(void);
void *aclprofCreateConfig(uint32_t *devices, uint32_t count, int metrics, const void *events,
                          uint64_t types);
int aclprofDestroyConfig(const void *c);
int aclprofStart(const void *c);
int aclprofStop(const void *c);
int aclprofWarmup(const void *c);
int aclprofSetConfig(int type, const char *value, size_t length);
int aclprofGetSupportedFeatures(size_t *count, void **data);
int aclprofGetSupportedFeaturesV2(size_t *count, void **data);
int aclprofRegisterDeviceCallback(void);
step *aclprofCreateStepInfo(void);
void aclprofDestroyStepInfo(step *s);
int aclprofGetStepTimestamp(step *s, int tag, void *stream);
void *aclprofCreateStamp(void);
void aclprofDestroyStamp(void *stamp);
int aclprofSetStampTraceMessage(void *stamp, const char *text, uint32_t length);
int aclprofMark(void *stamp);
int aclprofMarkEx(const char *text, size_t length, void *stream);
int aclprofRangeStart(void *stamp, uint32_t *id);
int aclprofRangeStop(uint32_t id);
int aclprofPush(void *stamp);
int aclprofPop(void);
int aclprofSetCategoryName(uint32_t category, const char *name);
int aclprofSetStampCategory(void *stamp, uint32_t category);
int aclprofSetStampPayload(void *stamp, int32_t type, void *value);
int aclprofRangePushEx(void *attributes);
int aclprofRangePop(void);
void *aclprofCreateSubscribeConfig(int8_t times, int metrics, void *fd);
int aclprofDestroySubscribeConfig(const void *c);
int aclprofModelSubscribe(uint32_t model, const void *c);
int aclprofModelUnSubscribe(uint32_t model);
uint64_t aclprofGetOpStart(const void *info, size_t length, uint32_t index);
size_t aclprofGetModelId(const void *info, size_t length, uint32_t index);
int aclprofGetOpNum(const void *info, size_t length, uint32_t *count);
const char *aclprofGetOpAttriValue(const void *info, size_t length, uint32_t index, int attribute);
uint64_t aclprofStr2Id(const char *text);

int aclprofInit(const char *path, size_t length)
{
    MOCK_SAY();
    return path == NULL || length != strlen(path) ? 100000
                                                  : ProfAclInit(0, path, (uint32_t)length);
}

int aclprofFinalize(void)
{
    MOCK_SAY();
    return ProfAclFinalize(0);
}

void *aclprofCreateConfig(uint32_t *devices, uint32_t count, int metrics, const void *events,
                          uint64_t types)
{
    int32_t have = ProfAclDrvGetDevNum();
    config *c = events == NULL && have >= 0 && count <= (uint32_t)have && count <= 64
                    ? calloc(1, sizeof(*c))
                    : NULL;

    MOCK_SAY();
    if (c != NULL) {
        c->metrics = metrics;
        c->types = types | 0x4000000000000000u | ((types & 2) != 0 ? 0x840 : 0);
        if (count != 0) {
            memcpy(c->devices, devices, count * sizeof(*devices));
        }
        c->devices[count] = HOST;
        c->count = count + 1;
    }
    return c;
}

int aclprofDestroyConfig(const void *c)
{
    MOCK_SAY();
    free((void *)(uintptr_t)c);
    return c != NULL ? 0 : 100000;
}

int aclprofStart(const void *c)
{
    MOCK_SAY();
    return ProfAclStart(0, c);
}

int aclprofStop(const void *c)
{
    MOCK_SAY();
    return ProfAclStop(0, c);
}

int aclprofWarmup(const void *c)
{
    MOCK_SAY();
    return ProfAclWarmup(0, c);
}

int aclprofSetConfig(int type, const char *value, size_t length)
{
    MOCK_SAY();
    return ProfAclSetConfig((uint32_t)type, value, length);
}

int aclprofGetSupportedFeatures(size_t *count, void **data)
{
    MOCK_SAY();
    return ProfAclGetCompatibleFeatures(count, data);
}

int aclprofGetSupportedFeaturesV2(size_t *count, void **data)
{
    MOCK_SAY();
    return ProfAclGetCompatibleFeaturesV2(count, data);
}

int aclprofRegisterDeviceCallback(void)
{
    MOCK_SAY();
    return ProfAclRegisterDeviceCallback();
}

step *aclprofCreateStepInfo(void)
{
    MOCK_SAY();
    return calloc(1, sizeof(step));
}

void aclprofDestroyStepInfo(step *s)
{
    free(s);
}

int aclprofGetStepTimestamp(step *s, int tag, void *stream)
{
    MOCK_SAY();
    s->started = s->started || tag == 0;
    s->ended = s->ended || tag != 0;
    return profSetStepInfo(s->index, (uint16_t)tag, stream);
}

void *aclprofCreateStamp(void)
{
    MOCK_SAY();
    return ProfAclCreateStamp();
}

void aclprofDestroyStamp(void *stamp)
{
    ProfAclDestroyStamp(stamp);
}

int aclprofSetStampTraceMessage(void *stamp, const char *text, uint32_t length)
{
    return ProfAclSetStampTraceMessage(stamp, text, length);
}

int aclprofMark(void *stamp)
{
    return ProfAclMark(stamp);
}

int aclprofMarkEx(const char *text, size_t length, void *stream)
{
    MOCK_SAY();
    return ProfAclMarkEx(text, length, stream);
}

int aclprofRangeStart(void *stamp, uint32_t *id)
{
    return ProfAclRangeStart(stamp, id);
}

int aclprofRangeStop(uint32_t id)
{
    return ProfAclRangeStop(id);
}

uint64_t aclprofStr2Id(const char *text)
{
    return ProfStr2Id(text, strlen(text));
}

int aclprofPush(void *stamp)
{
    return ProfAclPush(stamp);
}

int aclprofPop(void)
{
    return ProfAclPop();
}

int aclprofSetCategoryName(uint32_t category, const char *name)
{
    return ProfAclSetCategoryName(category, name);
}

int aclprofSetStampCategory(void *stamp, uint32_t category)
{
    return ProfAclSetStampCategory(stamp, category);
}

int aclprofSetStampPayload(void *stamp, int32_t type, void *value)
{
    return ProfAclSetStampPayload(stamp, type, value);
}

int aclprofRangePushEx(void *attributes)
{
    return ProfAclRangePushEx(attributes);
}

int aclprofRangePop(void)
{
    return ProfAclRangePop();
}

void *aclprofCreateSubscribeConfig(int8_t times, int metrics, void *fd)
{
    subscription *c = fd != NULL ? calloc(1, sizeof(*c)) : NULL;

    if (c != NULL) {
        *c = (subscription){times != 0, metrics, fd};
    }
    return c;
}

int aclprofDestroySubscribeConfig(const void *c)
{
    free((void *)(uintptr_t)c);
    return c != NULL ? 0 : 100000;
}

int aclprofModelSubscribe(uint32_t model, const void *c)
{
    MOCK_SAY();
    return ProfAclSubscribe(0, model, c);
}

int aclprofModelUnSubscribe(uint32_t model)
{
    MOCK_SAY();
    return ProfAclUnSubscribe(0, model);
}

/* The numbers below are of this file's making. */
uint64_t aclprofGetOpStart(const void *info, size_t length, uint32_t index)
{
    return ProfAclGetOpTime(1, info, length, index);
}

size_t aclprofGetModelId(const void *info, size_t length, uint32_t index)
{
    return ProfAclGetId(0, info, length, index);
}

int aclprofGetOpNum(const void *info, size_t length, uint32_t *count)
{
    return ProfAclGetOpVal(0, info, length, 0, count, sizeof(*count));
}

const char *aclprofGetOpAttriValue(const void *info, size_t length, uint32_t index, int attribute)
{
    return ProfAclGetOpAttriVal(0, info, length, index, (uint32_t)attribute);
}
