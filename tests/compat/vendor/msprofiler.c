/* SPDX-License-Identifier: Apache-2.0 */
/* libmsprofiler.so: arguments, then the layer of libprofapi.so. Linked with -Bsymbolic, so that its
 * calls of its own functions cannot be taken over. */
#include "mock.h"

typedef struct config {
    uint32_t count, devices[64];
    int metrics;
    uint64_t types;
} config;

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
    config *c = events == NULL && count <= 64 ? calloc(1, sizeof(*c)) : NULL;

    MOCK_SAY();
    if (c != NULL) {
        c->count = count;
        c->metrics = metrics;
        c->types = types;
        if (count != 0) {
            memcpy(c->devices, devices, count * sizeof(*devices));
        }
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
    return aclprofGetSupportedFeatures(count, data);
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
