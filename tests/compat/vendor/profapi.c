/* SPDX-License-Identifier: Apache-2.0 */
/* libprofapi.so: what reports come to, and the layer that libmsprofiler.so calls. */
#include "mock.h"

static void *sinks[17]; /* MsprofRegisterProfileCallback */
static mock_module modules[8];
static uint32_t module_count;

int32_t MsprofInit(uint32_t type, void *data, uint32_t len)
{
    (void)type, (void)data, (void)len;
    MOCK_SAY();
    return 0;
}

int32_t MsprofFinalize(void)
{
    MOCK_SAY();
    return 0;
}

int32_t MsprofRegisterCallback(uint32_t module, mock_module callback)
{
    (void)module;
    MOCK_SAY();
    if (callback == NULL || module_count == 8) {
        return -1;
    }
    modules[module_count++] = callback;
    return 0;
}

int32_t MsprofRegisterProfileCallback(int32_t type, void *callback, uint32_t len)
{
    (void)len;
    if (type < 0 || type > 16) {
        return -1;
    }
    sinks[type] = callback;
    return 0;
}

int32_t profSetProfCommand(void *command, uint32_t len)
{
    MOCK_SAY();
    for (uint32_t i = 0; i < module_count; i++) {
        (void)modules[i](1, command, len);
    }
    return 0;
}

int32_t MsprofReportApi(uint32_t aging, const mock_api *record)
{
    int32_t (*sink)(uint32_t, const mock_api *) = NULL;

    memcpy(&sink, &sinks[9], sizeof(sink));
    if (sink != NULL) {
        return sink(aging, record);
    }
    MOCK_SAY();
    return 0;
}

int32_t MsprofReportEvent(uint32_t aging, const mock_api *record)
{
    (void)aging, (void)record;
    MOCK_SAY();
    return 0;
}

int32_t MsprofReportCompactInfo(uint32_t aging, const void *record, uint32_t len)
{
    int32_t (*sink)(uint32_t, const void *, uint32_t) = NULL;

    memcpy(&sink, &sinks[4], sizeof(sink));
    if (sink != NULL) {
        return sink(aging, record, len);
    }
    MOCK_SAY();
    return 0;
}

int32_t MsprofReportAdditionalInfo(uint32_t aging, const void *record, uint32_t len)
{
    int32_t (*sink)(uint32_t, const void *, uint32_t) = NULL;

    memcpy(&sink, &sinks[5], sizeof(sink));
    if (sink != NULL) {
        return sink(aging, record, len);
    }
    MOCK_SAY();
    return 0;
}

int32_t MsprofReportBatchAdditionalInfo(uint32_t aging, const void *records, uint32_t len)
{
    (void)aging, (void)records, (void)len;
    MOCK_SAY();
    return 0;
}

size_t MsprofGetBatchReportMaxSize(uint32_t type)
{
    return type == 0 ? 131072 : 0;
}

int32_t MsprofRegTypeInfo(uint16_t level, uint32_t type, const char *name)
{
    int32_t (*sink)(uint16_t, uint32_t, const char *, size_t) = NULL;

    MOCK_SAY();
    memcpy(&sink, &sinks[11], sizeof(sink));
    return sink != NULL ? sink(level, type, name, strlen(name)) : 0;
}

int32_t MsprofRegDataFormat(uint16_t level, uint32_t type, const char *format)
{
    (void)level, (void)type, (void)format;
    MOCK_SAY();
    return 0;
}

uint64_t MsprofGetHashId(const char *text, size_t length)
{
    uint64_t (*sink)(const char *, size_t) = NULL;

    memcpy(&sink, &sinks[12], sizeof(sink));
    return sink != NULL ? sink(text, length) : 17;
}

uint64_t MsprofStr2Id(const char *text, size_t length)
{
    return MsprofGetHashId(text, length);
}

uint64_t ProfStr2Id(const char *text, size_t length)
{
    MOCK_SAY();
    return MsprofGetHashId(text, length);
}

uint64_t MsprofSysCycleTime(void)
{
    return 12345;
}

int32_t MsprofNotifySetDevice(uint32_t chip, uint32_t device, bool open)
{
    (void)chip, (void)device, (void)open;
    MOCK_SAY();
    return 0;
}

int32_t MsprofSetDeviceIdByGeModelIdx(uint32_t model, uint32_t device)
{
    (void)model, (void)device;
    MOCK_SAY();
    return 0;
}

int32_t profSetStepInfo(uint64_t index, uint16_t tag, void *stream)
{
    (void)index, (void)tag, (void)stream;
    MOCK_SAY();
    return 0;
}

int32_t ProfAclInit(uint32_t type, const char *path, uint32_t length)
{
    (void)type, (void)path, (void)length;
    MOCK_SAY();
    return 0;
}

int32_t ProfAclWarmup(uint32_t type, const void *config)
{
    (void)type, (void)config;
    MOCK_SAY();
    return 0;
}

int32_t ProfAclStart(uint32_t type, const void *config)
{
    (void)type, (void)config;
    MOCK_SAY();
    return 0;
}

int32_t ProfAclStop(uint32_t type, const void *config)
{
    (void)type, (void)config;
    MOCK_SAY();
    return 0;
}

int32_t ProfAclFinalize(uint32_t type)
{
    (void)type;
    MOCK_SAY();
    return 0;
}

int32_t ProfAclSetConfig(uint32_t type, const char *value, size_t length)
{
    (void)type, (void)value, (void)length;
    MOCK_SAY();
    return 0;
}

int32_t ProfAclRegisterDeviceCallback(void)
{
    MOCK_SAY();
    return 0;
}

int32_t ProfAclGetCompatibleFeatures(size_t *count, void **data)
{
    MOCK_SAY();
    *count = 0;
    *data = NULL;
    return 0;
}

void *ProfAclCreateStamp(void)
{
    static int stamp;

    return &stamp;
}

void ProfAclDestroyStamp(void *stamp)
{
    (void)stamp;
}

int32_t ProfAclSetStampTraceMessage(void *stamp, const char *text, uint32_t length)
{
    (void)stamp, (void)text, (void)length;
    return 0;
}

int32_t ProfAclMark(void *stamp)
{
    (void)stamp;
    return 0;
}

int32_t ProfAclMarkEx(const char *text, size_t length, void *stream)
{
    (void)text, (void)length, (void)stream;
    MOCK_SAY();
    return 0;
}

int32_t ProfAclRangeStart(void *stamp, uint32_t *id)
{
    (void)stamp;
    *id = 1;
    return 0;
}

int32_t ProfAclRangeStop(uint32_t id)
{
    (void)id;
    return 0;
}

int32_t ProfAclDrvGetDevNum(void)
{
    return 1;
}

int32_t ProfAclGetCompatibleFeaturesV2(size_t *count, void **data)
{
    return ProfAclGetCompatibleFeatures(count, data);
}

int32_t ProfAclSubscribe(uint32_t type, uint32_t model, const void *config)
{
    (void)type, (void)model, (void)config;
    MOCK_SAY();
    return 0;
}

int32_t ProfAclUnSubscribe(uint32_t type, uint32_t model)
{
    (void)type, (void)model;
    MOCK_SAY();
    return 0;
}

uint64_t ProfAclGetOpTime(uint32_t type, const void *info, size_t length, uint32_t index)
{
    (void)info;
    return ((uint64_t)type << 48) + ((uint64_t)length << 8) + index;
}

size_t ProfAclGetId(uint32_t type, const void *info, size_t length, uint32_t index)
{
    (void)info;
    return type * 1000u + length + index;
}

int32_t ProfAclGetOpVal(uint32_t type, const void *info, size_t length, uint32_t index, void *data,
                        size_t size)
{
    (void)info;
    memset(data, 'v', size);
    return -(int32_t)(type + length + index);
}

const char *ProfAclGetOpAttriVal(uint32_t type, const void *info, size_t length, uint32_t index,
                                 uint32_t attribute)
{
    (void)type, (void)info, (void)length, (void)index;
    return attribute == 7 ? "seven" : NULL;
}

int32_t ProfAclPush(void *stamp)
{
    (void)stamp;
    return 0;
}

int32_t ProfAclPop(void)
{
    return 0;
}

int32_t ProfAclSetCategoryName(uint32_t category, const char *name)
{
    (void)category, (void)name;
    return 0;
}

int32_t ProfAclSetStampCategory(void *stamp, uint32_t category)
{
    (void)stamp, (void)category;
    return 0;
}

int32_t ProfAclSetStampPayload(void *stamp, int32_t type, void *value)
{
    (void)stamp, (void)type, (void)value;
    return 0;
}

int32_t ProfAclRangePushEx(void *attributes)
{
    (void)attributes;
    return 0;
}

int32_t ProfAclRangePop(void)
{
    return 0;
}
