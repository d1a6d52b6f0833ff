/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file aclprof_reporter.h
 * How libraries report to the profiler: the names of libprofapi.so that CANN's runtime, operator
 * and communication libraries bind to. Our own text; layouts and values are those of that ABI.
 *
 * Records go into the calling thread's ring: no lock, no allocation and no system call after a
 * thread's first one. What is reported while no capture takes records is refused with
 * MSPROF_NOT_RUNNING. All calls may be made by any thread at any time.
 */
#ifndef ACLPROF_REPORTER_H_
#define ACLPROF_REPORTER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define ACLPROF_LAYOUT(condition) static_assert(condition, "layout")
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define ACLPROF_LAYOUT(condition) _Static_assert(condition, "layout")
#else
#define ACLPROF_LAYOUT(condition) extern int aclprof_layout_[(condition) ? 1 : -1]
#endif

#ifndef REPORTER_API
#define REPORTER_API __attribute__((visibility("default")))
#endif

#define MSPROF_OK 0
#define MSPROF_FAILED (-1)
#define MSPROF_NOT_RUNNING 6 /**< no capture takes records */

#define MSPROF_RECORD_MAGIC 0x5A5Au
#define MSPROF_EVENT_MARK UINT64_MAX

/* ---- records ---- */

/** A call with its begin and end, in units of MsprofSysCycleTime. 40 bytes. */
typedef struct MsprofApi {
    uint16_t magicNumber; /**< MSPROF_RECORD_MAGIC */
    uint16_t level; /**< layer: 20000 acl, 15000 model, 10000 node, 5500 hccl, 5000 runtime, … */
    uint32_t type;  /**< named by MsprofRegTypeInfo */
    uint32_t threadId;
    uint32_t reserve;
    uint64_t beginTime;
    uint64_t endTime;
    uint64_t itemId;
} MsprofApi;

/** One end of something; two with equal level, type, item and request make a span. 40 bytes. */
typedef struct MsprofEvent {
    uint16_t magicNumber;
    uint16_t level;
    uint32_t type;
    uint32_t threadId;
    uint32_t requestId;
    uint64_t timeStamp;
    uint64_t eventFlag; /**< MSPROF_EVENT_MARK */
    uint64_t itemId;
} MsprofEvent;

/** 64 bytes. */
typedef struct MsprofCompactInfo {
    uint16_t magicNumber;
    uint16_t level;
    uint32_t type;
    uint32_t threadId;
    uint32_t dataLen; /**< of data that count */
    uint64_t timeStamp;
    uint8_t data[40];
} MsprofCompactInfo;

/** 256 bytes. */
typedef struct MsprofAdditionalInfo {
    uint16_t magicNumber;
    uint16_t level;
    uint32_t type;
    uint32_t threadId;
    uint32_t dataLen;
    uint64_t timeStamp;
    uint8_t data[232];
} MsprofAdditionalInfo;

ACLPROF_LAYOUT(sizeof(MsprofApi) == 40);
ACLPROF_LAYOUT(offsetof(MsprofApi, itemId) == 32);
ACLPROF_LAYOUT(sizeof(MsprofEvent) == 40);
ACLPROF_LAYOUT(offsetof(MsprofEvent, eventFlag) == 24);
ACLPROF_LAYOUT(sizeof(MsprofCompactInfo) == 64);
ACLPROF_LAYOUT(offsetof(MsprofCompactInfo, data) == 24);
ACLPROF_LAYOUT(sizeof(MsprofAdditionalInfo) == 256);
ACLPROF_LAYOUT(offsetof(MsprofAdditionalInfo, data) == 24);

/**
 * Reports a record. aging 0: the record outlives ACL_PROF_STORAGE_LIMIT.
 * @param len bytes of the record. Compact: 24 to 64; additional: 24 to 256, or up to 65536 for one
 *            of variable size, which is kept as it is
 * @retval 0 taken, or counted as lost; 6 no capture takes records
 * @retval -1 NULL, bad magic, unknown level, bad length; additional: level 20500 (the stamps')
 */
REPORTER_API int32_t MsprofReportApi(uint32_t aging, const MsprofApi *record);
REPORTER_API int32_t MsprofReportEvent(uint32_t aging, const MsprofEvent *record);
REPORTER_API int32_t MsprofReportCompactInfo(uint32_t aging, const void *record, uint32_t len);
REPORTER_API int32_t MsprofReportAdditionalInfo(uint32_t aging, const void *record, uint32_t len);
/** Whole additional records, at most MsprofGetBatchReportMaxSize bytes: all are taken or none. */
REPORTER_API int32_t MsprofReportBatchAdditionalInfo(uint32_t aging, const void *records,
                                                     uint32_t len);
/** @return 131072 for type 0, else 0. */
REPORTER_API size_t MsprofGetBatchReportMaxSize(uint32_t type);

/* Names of the same that code on the device's side uses. */
REPORTER_API int32_t AdprofReportAdditionalInfo(uint32_t aging, const void *record, uint32_t len);
REPORTER_API int32_t AdprofReportBatchAdditionalInfo(uint32_t aging, const void *records,
                                                     uint32_t len);
REPORTER_API size_t AdprofGetBatchReportMaxSize(uint32_t type);
REPORTER_API uint64_t AdprofGetHashId(const char *text, size_t length);
/** @return whether the feature's bits are all part of the running capture's mask. */
REPORTER_API int32_t AdprofCheckFeatureIsOn(uint64_t feature);

/* ---- time and names ---- */

/** CLOCK_MONOTONIC_RAW in ns: the unit of all times above. */
REPORTER_API uint64_t MsprofSysCycleTime(void);
/** @return false: times are ns, not counts of a host frequency. */
REPORTER_API bool MsprofHostFreqIsEnable(void);

/**
 * Names a type. The last name counts; takes a lock and allocates.
 * @retval -1 NULL, empty, or not fit for the name of a file (records are kept by type name)
 */
REPORTER_API int32_t MsprofRegTypeInfo(uint16_t level, uint32_t typeId, const char *typeName);
/** Tells the layout of a type as JSON with the key "version". @retval -1 NULL or no such JSON */
REPORTER_API int32_t MsprofRegDataFormat(uint16_t level, uint32_t typeId, const char *dataFormat);

/**
 * Id of a text, the same in every process and on every architecture; in every capture's dictionary.
 * @return UINT64_MAX for NULL or length 0; 0 without memory
 */
REPORTER_API uint64_t MsprofGetHashId(const char *text, size_t length);
REPORTER_API uint64_t MsprofStr2Id(const char *text, size_t length);
REPORTER_API uint64_t ProfStr2Id(const char *text, size_t length);
/** @return the text of an id, "" when unknown; never NULL, valid for ever. */
REPORTER_API char *MsprofId2Str(uint64_t id);

/* ---- control ---- */

/** Modules, the keys of MsprofRegisterCallback; any other number is one, too. */
enum { MSPROF_MODULE_RUNTIME = 7, MSPROF_MODULE_GE = 45, MSPROF_MODULE_ASCENDCL = 48 };

/** Type of a callback: the data are a MsprofCommandHandle. */
#define MSPROF_CTRL_SWITCH 1u

enum {
    MSPROF_COMMAND_INIT = 0,
    MSPROF_COMMAND_START = 1,
    MSPROF_COMMAND_STOP = 2,
    MSPROF_COMMAND_FINALIZE = 3,
    MSPROF_COMMAND_MODEL_SUBSCRIBE = 4,
    MSPROF_COMMAND_MODEL_UNSUBSCRIBE = 5
};

/** 5424 bytes. */
typedef struct MsprofCommandHandle {
    uint64_t profSwitch; /**< ACL_PROF_* bits and internal ones */
    uint64_t profSwitchHi;
    uint32_t devNums;
    uint32_t devIdList[64];
    uint32_t modelId; /**< UINT32_MAX: none */
    uint32_t type;    /**< MSPROF_COMMAND_* */
    uint32_t cacheFlag;
    struct {
        uint32_t pathLen;
        uint32_t storageLimit; /**< MB */
        uint32_t profDataLen;
        char path[1024];
        char profData[4096]; /**< parameters as JSON */
    } params;
} MsprofCommandHandle;

ACLPROF_LAYOUT(sizeof(MsprofCommandHandle) == 5424);
ACLPROF_LAYOUT(offsetof(MsprofCommandHandle, devIdList) == 20);
ACLPROF_LAYOUT(offsetof(MsprofCommandHandle, modelId) == 276);
ACLPROF_LAYOUT(offsetof(MsprofCommandHandle, type) == 280);
ACLPROF_LAYOUT(offsetof(MsprofCommandHandle, params) == 288);

typedef int32_t (*MsprofCtrlCallback)(uint32_t type, void *data, uint32_t len);

/**
 * Adds a callback to a module's; equal ones count once, none can be taken back. They are called on
 * the thread of Start, Stop and Finalize: INIT, START and SUBSCRIBE for runtime, acl, graph engine,
 * then by number; STOP, FINALIZE and UNSUBSCRIBE for graph engine, acl, runtime, then by number. A
 * capture that runs is told to a late callback on a thread of its own. A callback may report,
 * register and ask for ids; control calls in it are refused.
 * @retval -1 NULL, or no memory
 */
REPORTER_API int32_t MsprofRegisterCallback(uint32_t moduleId, MsprofCtrlCallback callback);
/** Tells every module's callbacks of a command. @retval -1 NULL or len is not 5424 */
REPORTER_API int32_t profSetProfCommand(void *command, uint32_t len);

/** data of a device state callback. 12 bytes. */
typedef struct ProfSetDevPara {
    uint32_t chipId;
    uint32_t deviceId;
    bool isOpen;
} ProfSetDevPara;
ACLPROF_LAYOUT(sizeof(ProfSetDevPara) == 12);

/** The runtime has set (or reset) a device. @retval 0; -1 device beyond 63 */
REPORTER_API int32_t MsprofNotifySetDevice(uint32_t chipId, uint32_t deviceId, bool isOpen);
/** As type 16 of MsprofRegisterProfileCallback. */
REPORTER_API int32_t profRegDeviceStateCallback(int32_t (*callback)(ProfSetDevPara *, uint32_t));

/**
 * Puts a callback in the place of a kind of report: 4 compact, 5 additional, 9 api, 10 event
 * (instead of this library's rings), 11 type names, 12 hash ids, 16 device states (beside it;
 * devices that are set are told at once), 13 host frequency. One for each, NULL takes it away. 0-3,
 * 6-8, 14, 15 are accepted and do nothing.
 * @retval -1 another type
 */
REPORTER_API int32_t MsprofRegisterProfileCallback(int32_t type, void *callback, uint32_t len);

/** What MsprofInit is given. */
enum {
    MSPROF_INIT_ENV = 0,        /**< data: JSON of PROFILER_SAMPLECONFIG */
    MSPROF_INIT_ACL_JSON = 1,   /**< data: the value of "profiler" in acl.json */
    MSPROF_INIT_GE_OPTIONS = 2, /**< data: MsprofGeOptions */
    MSPROF_INIT_FINALIZE = 3,
    MSPROF_INIT_HELPER = 4,
    MSPROF_INIT_PURE_CPU = 5,
    MSPROF_INIT_AICPU = 6,
    MSPROF_INIT_DYNAMIC = 0xFF /**< no configuration */
};

typedef struct MsprofGeOptions {
    char jobId[2048];
    char options[2048]; /**< JSON, as in acl.json */
} MsprofGeOptions;

/**
 * Begins a capture that a configuration asks for; it starts when the first device is set (at once
 * where there is no driver) and ends with MsprofFinalize or the process. aclprof* control calls
 * return 100042 meanwhile.
 * @retval 0 also when the configuration asks for nothing, or a capture is under way already
 * @retval 3 an unknown key or a bad value: nothing is captured, aclprofGetLastError tells why
 * @retval -1 unknown dataType, NULL, or GE options of another size
 */
REPORTER_API int32_t MsprofInit(uint32_t dataType, void *data, uint32_t len);
REPORTER_API int32_t MsprofFinalize(void);
/** Their configuration is of unpublished layout: refused with -1. */
REPORTER_API int32_t MsprofStart(uint32_t dataType, const void *data, uint32_t len);
REPORTER_API int32_t MsprofStop(uint32_t dataType, const void *data, uint32_t len);
/** As aclprofSetConfig. @retval 0 or an aclError */
REPORTER_API int32_t MsprofSetConfig(uint32_t configType, const char *config, size_t configLength);

/** @return directory of the running or last capture, "" before one; the next capture changes it. */
REPORTER_API char *MsprofGetPath(void);
/** @return whether the operator is in the list of ACL_PROF_OPTYPE (type 0 only). */
REPORTER_API bool MsprofCheckOpSwitch(uint32_t type, const char *op, size_t length);
/** The reporter before these calls: nothing is recorded. @retval 0 */
REPORTER_API int32_t MsprofReportData(uint32_t moduleId, uint32_t type, void *data, uint32_t len);
/** The graph engine tells on which device it has loaded a model, and when it is gone: what
 * aclprofModelSubscribe goes by. @retval 0; -1 no memory, or no such model */
REPORTER_API int32_t MsprofSetDeviceIdByGeModelIdx(uint32_t modelId, uint32_t deviceId);
REPORTER_API int32_t MsprofUnsetDeviceIdByGeModelIdx(uint32_t modelId, uint32_t deviceId);
/** @return nanoseconds that the operator of a subscription's record ran; 0 for a bad argument */
REPORTER_API uint64_t ProfGetOpExecutionTime(const void *data, uint32_t length, uint32_t index);
/** aclprofGetStepTimestamp without its object. @retval 0; -1 the runtime refuses */
REPORTER_API int32_t profSetStepInfo(uint64_t indexId, uint16_t tag, void *stream);

/* ---- below libmsprofiler.so ---- */

/*
 * What the vendor's libmsprofiler.so calls for each aclprof* function: where it binds to this library,
 * its callers' captures are ours. Codes are those of the aclprof* function of the same name. type
 * (who calls: 0 the API) does not matter.
 */

#define PROF_ACL_HOST 64u /**< the host in a list of devices, the last */

/** What its aclprofConfig begins with. 280 bytes. */
typedef struct ProfAclConfig {
    uint32_t devNums; /**< with the host, at most 65 */
    uint32_t devIdList[65];
    int32_t aicoreMetrics;
    uint64_t dataTypeConfig;
} ProfAclConfig;
ACLPROF_LAYOUT(sizeof(ProfAclConfig) == 280);
ACLPROF_LAYOUT(offsetof(ProfAclConfig, aicoreMetrics) == 264);
ACLPROF_LAYOUT(offsetof(ProfAclConfig, dataTypeConfig) == 272);

/** What its aclprofSubscribeConfig begins with. 16 bytes. */
typedef struct ProfAclSubscribeConfig {
    bool timeInfo;
    int32_t aicoreMetrics;
    int *fd; /**< of the pipe's write end, which UnSubscribe closes and sets to -1 */
} ProfAclSubscribeConfig;
ACLPROF_LAYOUT(sizeof(ProfAclSubscribeConfig) == 16);

/** config: NULL, a ProfAclConfig, or what this library's aclprofCreateConfig has returned. */
REPORTER_API int32_t ProfAclInit(uint32_t type, const char *path, uint32_t length);
REPORTER_API int32_t ProfAclStart(uint32_t type, const void *config);
REPORTER_API int32_t ProfAclStop(uint32_t type, const void *config);
REPORTER_API int32_t ProfAclWarmup(uint32_t type, const void *config);
REPORTER_API int32_t ProfAclFinalize(uint32_t type);
REPORTER_API int32_t ProfAclSetConfig(uint32_t configType, const char *config, size_t configLength);
/** @return number of devices, 0 without a driver. */
REPORTER_API int32_t ProfAclDrvGetDevNum(void);
REPORTER_API int32_t ProfAclRegisterDeviceCallback(void);
REPORTER_API int32_t ProfAclGetCompatibleFeatures(size_t *featuresSize, void **featuresData);
REPORTER_API int32_t ProfAclGetCompatibleFeaturesV2(size_t *featuresSize, void **featuresData);
/** config: a ProfAclSubscribeConfig, or of aclprofCreateSubscribeConfig. */
REPORTER_API int32_t ProfAclSubscribe(uint32_t type, uint32_t modelId, const void *config);
REPORTER_API int32_t ProfAclUnSubscribe(uint32_t type, uint32_t modelId);
/** The numbers for `type` are not published: passed on to the vendor's library where that is behind
 * this one, else 0, 200006 or NULL. */
REPORTER_API uint64_t ProfAclGetOpTime(uint32_t type, const void *opInfo, size_t opInfoLen,
                                       uint32_t index);
REPORTER_API size_t ProfAclGetId(uint32_t type, const void *opInfo, size_t opInfoLen,
                                 uint32_t index);
REPORTER_API int32_t ProfAclGetOpVal(uint32_t type, const void *opInfo, size_t opInfoLen,
                                     uint32_t index, void *data, size_t length);
REPORTER_API const char *ProfAclGetOpAttriVal(uint32_t type, const void *opInfo, size_t opInfoLen,
                                              uint32_t index, uint32_t attri);
REPORTER_API void *ProfAclCreateStamp(void);
REPORTER_API void ProfAclDestroyStamp(void *stamp);
REPORTER_API int32_t ProfAclPush(void *stamp);
REPORTER_API int32_t ProfAclPop(void);
REPORTER_API int32_t ProfAclRangeStart(void *stamp, uint32_t *rangeId);
REPORTER_API int32_t ProfAclRangeStop(uint32_t rangeId);
REPORTER_API int32_t ProfAclMark(void *stamp);
REPORTER_API int32_t ProfAclMarkEx(const char *msg, size_t msgLen, void *stream);
REPORTER_API int32_t ProfAclSetStampTraceMessage(void *stamp, const char *msg, uint32_t msgLen);
REPORTER_API int32_t ProfAclSetCategoryName(uint32_t category, const char *categoryName);
REPORTER_API int32_t ProfAclSetStampCategory(void *stamp, uint32_t category);
REPORTER_API int32_t ProfAclSetStampPayload(void *stamp, int32_t type, void *value);
REPORTER_API int32_t ProfAclRangePushEx(void *attr);
REPORTER_API int32_t ProfAclRangePop(void);

/* ---- mstx ---- */

/** A function of a table, whatever its type. */
typedef void (*AclprofMstxFunction)(void);

/** Tables: CORE 1 mark, 2 range start, 3 range end, 4 tool id; DOMAIN 1 create, 2 destroy, 3 mark, 4
 * range start, 5 range end; MEMORY 1 and 2 heap, 3 and 4 regions register and unregister, 5
 * permissions. */
enum { ACLPROF_MSTX_CORE = 1, ACLPROF_MSTX_DOMAIN = 2, ACLPROF_MSTX_MEMORY = 3 };

/** Gives a table: for each number from 1 to *size - 1 where its function is to be put, or NULL. 0 if
 * there is such a table. */
typedef int (*AclprofMstxGetTable)(int32_t module, AclprofMstxFunction ***table, uint32_t *size);
typedef int (*AclprofMstxInit)(AclprofMstxGetTable getFuncTable);

/** The library of mstx asks for its functions by this name. They record in captures with
 * ACL_PROF_MSPROFTX. @retval 0; 1 NULL, or no table CORE */
REPORTER_API int32_t InitInjectionMstx(AclprofMstxGetTable getFuncTable);

#define ACLPROF_MSTX_PROFILER 1u /**< this library; any other number: the tool that has registered */
/** A tool gives functions of its own, which are called while its module is the enabled one.
 * @retval 0; -1 NULL, or init has failed */
REPORTER_API int32_t ProfRegisterMstxFunc(AclprofMstxInit init, uint32_t module);
/** Who gets the calls from now on. @retval 0 */
REPORTER_API int32_t ProfEnableMstxFunc(uint32_t module);

#ifdef __cplusplus
}
#endif

#endif /* ACLPROF_REPORTER_H_ */
