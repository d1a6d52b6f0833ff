/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of CANN's libraries: records, names, time. What no capture of ours takes goes on to the
 * vendor's reporter behind us, if there is one. */
#include "aclprof_reporter.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "format/wire_host.h"
#include "reporter/report.h"
#include "reporter/sinks.h"
#include "reporter/vendor.h"
#include "stamp/intern.h"
#include "stamp/type_names.h"
#include "subscribe/op_feed.h"
#include "subscribe/subscribe.h"
#include "writer/json_parse.h"

_Static_assert(sizeof(MsprofApi) == sizeof(ap__wire_api), "api");
_Static_assert(sizeof(MsprofEvent) == sizeof(ap__wire_event), "event");
_Static_assert(sizeof(MsprofCompactInfo) == sizeof(ap__wire_compact), "compact");
_Static_assert(sizeof(MsprofAdditionalInfo) == sizeof(ap__wire_additional), "additional");

/* ---- records ---- */

static bool ap__level_known(uint16_t level)
{
    static const uint16_t levels[] = {30000, 25000, 20500, 20000, 15000, 10000,
                                      6000,  5500,  5000,  4500,  4000,  3000};

    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        if (levels[i] == level) {
            return true;
        }
    }
    return false;
}

/* Magic and level of a record of at least 24 bytes. */
static bool ap__head_ok(const void *record)
{
    uint16_t head[2];

    if (record == NULL) {
        return false;
    }
    memcpy(head, record, sizeof(head));
    return head[0] == AP_WIRE_MAGIC && ap__level_known(head[1]);
}

typedef int32_t (*ap__report_fn)(uint32_t aging, const void *record, uint32_t len);
typedef int32_t (*ap__api_fn)(uint32_t aging, const void *record);

static int32_t ap__to_sink(void *sink, uint32_t aging, const void *record, uint32_t len)
{
    ap__report_fn fn = NULL;

    *(void **)&fn = sink;
    return fn(aging, record, len);
}

/* Of a record that neither a capture nor anybody behind us takes. */
static int32_t ap__unwanted(void)
{
    return ap__subscribe_active() ? MSPROF_OK : MSPROF_NOT_RUNNING;
}

static int32_t ap__pass_on(ap__vendor_call call, uint32_t aging, const void *record, uint32_t len)
{
    ap__report_fn fn = NULL;
    int32_t rc = ap__unwanted();
    ap__hop hop;

    *(void **)&fn = ap__hop_begin(&hop, call);
    if (fn != NULL) {
        rc = fn(aging, record, len);
        ap__hop_end(&hop);
    }
    return rc;
}

static int32_t ap__api(ap__vendor_call call, uint32_t sink, uint32_t aging, const void *record)
{
    ap__api_fn fn = NULL;
    int32_t rc = MSPROF_OK;
    ap__hop hop;

    if (!ap__head_ok(record)) {
        return MSPROF_FAILED;
    }
    *(void **)&fn = ap__sink(sink);
    if (fn != NULL) {
        return fn(aging, record);
    }
    if (ap__report_wanted()) {
        return ap__report_api(aging != 0, record);
    }
    *(void **)&fn = ap__hop_begin(&hop, call);
    if (fn == NULL) {
        return ap__unwanted();
    }
    rc = fn(aging, record);
    ap__hop_end(&hop);
    return rc;
}

REPORTER_API int32_t MsprofReportApi(uint32_t aging, const MsprofApi *record)
{
    return ap__api(AP_VENDOR_API, AP_SINK_API, aging, record);
}

REPORTER_API int32_t MsprofReportEvent(uint32_t aging, const MsprofEvent *record)
{
    return ap__api(AP_VENDOR_EVENT, AP_SINK_EVENT, aging, record);
}

REPORTER_API int32_t MsprofReportCompactInfo(uint32_t aging, const void *record, uint32_t len)
{
    void *sink = ap__sink(AP_SINK_COMPACT);

    if (len < offsetof(MsprofCompactInfo, data) || !ap__head_ok(record)) {
        return MSPROF_FAILED;
    }
    if (sink != NULL) {
        return ap__to_sink(sink, aging, record, len);
    }
    if (ap__subscribe_active() && !ap__hop_again(AP_VENDOR_COMPACT)) {
        ap__op_feed(aging != 0, record, len);
    }
    return ap__report_wanted() ? ap__report_compact(aging != 0, record, len)
                               : ap__pass_on(AP_VENDOR_COMPACT, aging, record, len);
}

/* The stamps' own file has records of that level, and only theirs. */
static bool ap__of_stamps(const void *record)
{
    return ((const MsprofAdditionalInfo *)record)->level == AP_LEVEL_TX;
}

REPORTER_API int32_t MsprofReportAdditionalInfo(uint32_t aging, const void *record, uint32_t len)
{
    void *sink = ap__sink(AP_SINK_ADDITIONAL);

    if (len < offsetof(MsprofAdditionalInfo, data) || !ap__head_ok(record) ||
        ap__of_stamps(record)) {
        return MSPROF_FAILED;
    }
    if (sink != NULL) {
        return ap__to_sink(sink, aging, record, len);
    }
    return ap__report_wanted() ? ap__report_additional(aging != 0, record, len)
                               : ap__pass_on(AP_VENDOR_ADDITIONAL, aging, record, len);
}

REPORTER_API int32_t MsprofReportBatchAdditionalInfo(uint32_t aging, const void *records,
                                                     uint32_t len)
{
    const uint32_t size = sizeof(MsprofAdditionalInfo);
    void *sink = ap__sink(AP_SINK_ADDITIONAL);
    const char *at = records;

    if (records == NULL || len == 0 || len % size != 0 || len > AP_REPORT_BATCH_MAX) {
        return MSPROF_FAILED;
    }
    for (uint32_t i = 0; i < len / size; i++) {
        if (!ap__head_ok(at + i * size) || ap__of_stamps(at + i * size)) {
            return MSPROF_FAILED;
        }
    }
    if (sink == NULL) {
        return ap__report_wanted() ? ap__report_batch(aging != 0, records, len)
                                   : ap__pass_on(AP_VENDOR_BATCH, aging, records, len);
    }
    for (uint32_t i = 0; i < len / size; i++) {
        (void)ap__to_sink(sink, aging, at + i * size, size);
    }
    return MSPROF_OK;
}

REPORTER_API size_t MsprofGetBatchReportMaxSize(uint32_t type)
{
    return type == 0 ? AP_REPORT_BATCH_MAX : 0;
}

REPORTER_API int32_t AdprofReportAdditionalInfo(uint32_t aging, const void *record, uint32_t len)
{
    return MsprofReportAdditionalInfo(aging, record, len);
}

REPORTER_API int32_t AdprofReportBatchAdditionalInfo(uint32_t aging, const void *records,
                                                     uint32_t len)
{
    return MsprofReportBatchAdditionalInfo(aging, records, len);
}

REPORTER_API size_t AdprofGetBatchReportMaxSize(uint32_t type)
{
    return MsprofGetBatchReportMaxSize(type);
}

REPORTER_API uint64_t AdprofGetHashId(const char *text, size_t length)
{
    return MsprofGetHashId(text, length);
}

REPORTER_API int32_t MsprofReportData(uint32_t moduleId, uint32_t type, void *data, uint32_t len)
{
    int32_t (*fn)(uint32_t, uint32_t, void *, uint32_t) = NULL;
    int32_t rc = MSPROF_OK;
    ap__hop hop;

    *(void **)&fn = ap__hop_begin(&hop, AP_VENDOR_REPORT_DATA);
    if (fn != NULL) {
        rc = fn(moduleId, type, data, len);
        ap__hop_end(&hop);
    }
    return rc;
}

/* ---- time ---- */

REPORTER_API uint64_t MsprofSysCycleTime(void)
{
    uint64_t (*fn)(void) = NULL;
    uint64_t now = 0;
    ap__hop hop;

    if (!ap__report_wanted()) { /* for the vendor's records its own unit */
        *(void **)&fn = ap__hop_begin(&hop, AP_VENDOR_CYCLES);
    }
    if (fn == NULL) {
        return ap__report_time();
    }
    now = fn();
    ap__hop_end(&hop);
    return now;
}

REPORTER_API bool MsprofHostFreqIsEnable(void)
{
    bool (*next)(void) = NULL;
    int8_t (*sink)(void) = NULL;
    bool enabled = false;
    ap__hop hop;

    *(void **)&sink = ap__sink(AP_SINK_HOST_FREQ);
    if (sink != NULL) {
        return sink() != 0;
    }
    if (!ap__report_wanted()) {
        *(void **)&next = ap__hop_begin(&hop, AP_VENDOR_HOST_FREQ);
    }
    if (next != NULL) {
        enabled = next();
        ap__hop_end(&hop);
    }
    return enabled;
}

/* ---- names ---- */

/* Records are kept in files named after their type, beside those of other kinds. */
static bool ap__fits_file_name(const char *name)
{
    static const char *const taken[] = {"msproftx", "hash_dic", "type_info_dic", "data_format_dic"};
    size_t length = strnlen(name, NAME_MAX);

    if (length == 0 || length > 128) {
        return false;
    }
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        if (strcmp(taken[i], name) == 0) {
            return false;
        }
    }
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '/' || (unsigned char)name[i] <= ' ' || name[i] == 0x7F) {
            return false;
        }
    }
    return true;
}

REPORTER_API int32_t MsprofRegTypeInfo(uint16_t level, uint32_t typeId, const char *typeName)
{
    int32_t (*next)(uint16_t, uint32_t, const char *) = NULL;
    int32_t (*sink)(uint16_t, uint32_t, const char *, size_t) = NULL;
    int saved = errno;
    int32_t rc = MSPROF_FAILED;
    ap__hop hop;

    if (typeName != NULL && ap__fits_file_name(typeName)) {
        rc = ap__report_type(level, typeId, typeName);
        *(void **)&sink = ap__sink(AP_SINK_TYPE);
        if (sink != NULL && !ap__hop_again(AP_VENDOR_TYPE)) {
            (void)sink(level, typeId, typeName, strlen(typeName));
        }
        *(void **)&next = ap__hop_begin(&hop, AP_VENDOR_TYPE);
        if (next != NULL) {
            (void)next(level, typeId, typeName);
            ap__hop_end(&hop);
        }
    }
    errno = saved;
    return rc;
}

REPORTER_API int32_t MsprofRegDataFormat(uint16_t level, uint32_t typeId, const char *dataFormat)
{
    int32_t (*next)(uint16_t, uint32_t, const char *) = NULL;
    int saved = errno;
    cJSON *root = dataFormat != NULL ? ap__json_parse(dataFormat, strlen(dataFormat)) : NULL;
    bool ok = cJSON_IsObject(root) && cJSON_HasObjectItem(root, "version") &&
              ap__format_register(level, typeId, dataFormat);
    ap__hop hop;

    cJSON_Delete(root);
    if (ok) {
        *(void **)&next = ap__hop_begin(&hop, AP_VENDOR_FORMAT);
        if (next != NULL) {
            (void)next(level, typeId, dataFormat);
            ap__hop_end(&hop);
        }
    }
    errno = saved;
    return ok ? MSPROF_OK : MSPROF_FAILED;
}

REPORTER_API uint64_t MsprofGetHashId(const char *text, size_t length)
{
    uint64_t (*fn)(const char *, size_t) = NULL;
    int saved = errno;
    uint64_t id = UINT64_MAX;
    ap__hop hop;

    if (text != NULL && length != 0) {
        id = ap__report_hash(text, length);
        *(void **)&fn = ap__sink(AP_SINK_HASH);
        if (fn != NULL && !ap__hop_again(AP_VENDOR_HASH)) {
            (void)fn(text, length);
        }
        *(void **)&fn = ap__hop_begin(&hop, AP_VENDOR_HASH);
        if (fn != NULL) {
            (void)fn(text, length); /* into its dictionary, too */
            ap__hop_end(&hop);
        }
    }
    errno = saved;
    return id;
}

REPORTER_API uint64_t MsprofStr2Id(const char *text, size_t length)
{
    return MsprofGetHashId(text, length);
}

REPORTER_API uint64_t ProfStr2Id(const char *text, size_t length)
{
    return MsprofGetHashId(text, length);
}

REPORTER_API char *MsprofId2Str(uint64_t id)
{
    static char none[1];
    const char *text = ap__intern_text(id);

    return text != NULL ? (char *)(uintptr_t)text : none;
}
