/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/meta.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/utf8.h"
#include "reader/safe_file.h"

#define AP_CONTROL_MAX ((size_t)2 << 20) /* no control file of the vendor's is larger */
#define AP_MHZ_DIGITS 12u

static void ap__copy_text(char *out, size_t size, const cJSON *item)
{
    size_t n = 0;

    if (cJSON_IsString(item) && item->valuestring != NULL) {
        n = ap__utf8_clean(out, size - 1, item->valuestring, strlen(item->valuestring));
    }
    out[n] = '\0';
}

/* Decimal text up to its end or a blank; false on anything else or overflow. */
static bool ap__parse_u64(const char *text, uint64_t *out)
{
    uint64_t v = 0;
    const char *p = text;

    for (; *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v)) {
            return false;
        }
    }
    if (p == text || (*p != '\0' && *p != ' ' && *p != '\r' && *p != '\t')) {
        return false;
    }
    *out = v;
    return true;
}

/* The writers use strings; numbers are taken too. */
static bool ap__json_u64(const cJSON *item, uint64_t *out)
{
    if (cJSON_IsString(item) && item->valuestring != NULL) {
        return ap__parse_u64(item->valuestring, out);
    }
    if (cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 9007199254740992.0) {
        *out = (uint64_t)item->valuedouble;
        return true;
    }
    return false;
}

static cJSON *ap__read_json(int host_fd, const char *name, ap__notes *notes)
{
    size_t length = 0;
    int error = 0;
    cJSON *json = NULL;
    char *text = ap__read_whole(host_fd, name, AP_CONTROL_MAX, &length, notes, &error);

    if (text == NULL) {
        if (error == ENOENT && strcmp(name, "end_info") != 0) {
            ap__note(notes, "host/%s is missing", name);
        }
        return NULL;
    }
    if (length == 0) {
        ap__note(notes, "host/%s is empty", name);
    } else {
        json = cJSON_ParseWithLength(text, length);
        if (!cJSON_IsObject(json)) {
            ap__note(notes, "host/%s is damaged or cut: not a JSON object", name);
            cJSON_Delete(json);
            json = NULL;
        }
    }
    free(text);
    return json;
}

/* "100.000000" without floating point: 100000000 / 10^6. 0 and "" mean: no counter. */
void ap__host_clock_parse_mhz(const char *text, ap__host_clock *clock, ap__notes *notes)
{
    uint64_t v = 0;
    uint64_t scale = 1;
    bool point = false;
    unsigned digits = 0;
    const char *p = text;

    for (; *p != '\0'; p++) {
        if (*p == '.' && !point) {
            point = true;
        } else if (*p >= '0' && *p <= '9') {
            if (digits == AP_MHZ_DIGITS) {
                if (point) {
                    continue; /* digits that change nothing */
                }
                break;
            }
            v = v * 10 + (uint64_t)(*p - '0');
            scale = point ? scale * 10 : scale;
            digits += v != 0 ? 1 : 0;
            if (scale > 1000000000000u) {
                break;
            }
        } else {
            break;
        }
    }
    if (*p != '\0') {
        ap__note(notes,
                 "host/info.json: CPU Frequency \"%.32s\" is no number: record times are "
                 "taken as nanoseconds",
                 text);
        return;
    }
    clock->is_ticks = v != 0;
    clock->mhz = v;
    clock->mhz_scale = scale;
}

static void ap__read_info(int host_fd, ap__meta *meta, ap__notes *notes)
{
    cJSON *json = ap__read_json(host_fd, "info.json", notes);
    const cJSON *cpu = NULL;
    char mhz[64];
    uint64_t pid = 0;
    uint64_t number = 0;

    if (json == NULL) {
        return;
    }
    meta->has_info = true;
    ap__copy_text(meta->host_name, sizeof(meta->host_name),
                  cJSON_GetObjectItemCaseSensitive(json, "hostname"));
    ap__copy_text(meta->host_uid, sizeof(meta->host_uid),
                  cJSON_GetObjectItemCaseSensitive(json, "hostUid"));
    ap__copy_text(meta->os, sizeof(meta->os), cJSON_GetObjectItemCaseSensitive(json, "OS"));
    ap__copy_text(meta->process_name, sizeof(meta->process_name),
                  cJSON_GetObjectItemCaseSensitive(json, "pid_name"));
    ap__copy_text(meta->platform_version, sizeof(meta->platform_version),
                  cJSON_GetObjectItemCaseSensitive(json, "platform_version"));
    ap__copy_text(meta->cann_version, sizeof(meta->cann_version),
                  cJSON_GetObjectItemCaseSensitive(json, "cannVersion"));
    if (ap__json_u64(cJSON_GetObjectItemCaseSensitive(json, "pid"), &pid) && pid <= UINT32_MAX) {
        meta->pid = (uint32_t)pid;
    }
    if (ap__json_u64(cJSON_GetObjectItemCaseSensitive(json, "cpuNums"), &number)) {
        meta->cpus = (uint32_t)number;
    }
    if (ap__json_u64(cJSON_GetObjectItemCaseSensitive(json, "sysClockFreq"), &number)) {
        meta->clock_ticks = (uint32_t)number;
    }
    (void)ap__json_u64(cJSON_GetObjectItemCaseSensitive(json, "memoryTotal"), &meta->memory_kb);
    cJSON_ArrayForEach(cpu, cJSON_GetObjectItemCaseSensitive(json, "netCard"))
    {
        if (ap__json_u64(cJSON_GetObjectItemCaseSensitive(cpu, "speed"), &number)) {
            meta->net_mbit += number;
        }
    }
    cpu = cJSON_GetObjectItemCaseSensitive(json, "rank_id");
    meta->rank = cJSON_IsNumber(cpu) ? cpu->valueint : -1;
    cpu = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "CPU"), 0);
    if (cpu == NULL) {
        ap__note(notes, "host/info.json has no CPU: record times are taken as nanoseconds");
    } else {
        ap__copy_text(mhz, sizeof(mhz), cJSON_GetObjectItemCaseSensitive(cpu, "Frequency"));
        ap__host_clock_parse_mhz(mhz, &meta->clock, notes);
    }
    cJSON_Delete(json);
}

static void ap__read_sample(int host_fd, ap__meta *meta, ap__notes *notes)
{
    cJSON *json = ap__read_json(host_fd, "sample.json", notes);
    uint64_t hz = 0;

    if (json != NULL) {
        meta->has_sample = true;
        ap__copy_text(meta->devices, sizeof(meta->devices),
                      cJSON_GetObjectItemCaseSensitive(json, "devices"));
        if (ap__json_u64(cJSON_GetObjectItemCaseSensitive(json, "host_disk_freq"), &hz) &&
            hz <= 1000000) {
            meta->disk_hz = (uint32_t)hz;
        }
        cJSON_Delete(json);
    }
}

static void ap__read_start(int host_fd, ap__meta *meta, ap__notes *notes)
{
    cJSON *json = ap__read_json(host_fd, "start_info", notes);
    uint64_t wall = 0;
    uint64_t mono = 0;

    if (json == NULL) {
        return;
    }
    meta->has_start = true;
    if (ap__json_u64(cJSON_GetObjectItemCaseSensitive(json, "collectionTimeBegin"), &wall) &&
        ap__json_u64(cJSON_GetObjectItemCaseSensitive(json, "clockMonotonicRaw"), &mono) &&
        wall < (uint64_t)INT64_MAX / 1000 && mono < (uint64_t)INT64_MAX) {
        meta->begin_wall_us = wall;
        meta->begin_mono_ns = mono;
        meta->clock.has_wall = true;
        meta->clock.wall_offset_ns = (int64_t)(wall * 1000) - (int64_t)mono;
    } else {
        ap__note(notes, "host/start_info tells no start time: no wall-clock times");
    }
    cJSON_Delete(json);
}

static void ap__read_end(int host_fd, ap__meta *meta, ap__notes *notes)
{
    cJSON *json = ap__read_json(host_fd, "end_info", notes);

    if (json != NULL) {
        meta->has_end = true;
        (void)ap__json_u64(cJSON_GetObjectItemCaseSensitive(json, "collectionTimeEnd"),
                           &meta->end_wall_us);
        (void)ap__json_u64(cJSON_GetObjectItemCaseSensitive(json, "clockMonotonicRaw"),
                           &meta->end_mono_ns);
        cJSON_Delete(json);
    }
}

static const char *ap__ini_value(const char *line, const char *key)
{
    size_t n = strlen(key);

    if (strncmp(line, key, n) != 0) {
        return NULL;
    }
    for (line += n; *line == ' ' || *line == '\t'; line++) {
    }
    if (*line != ':' && *line != '=') {
        return NULL;
    }
    for (line++; *line == ' ' || *line == '\t'; line++) {
    }
    return line;
}

static void ap__ini_line(const char *line, ap__host_clock *clock, unsigned *seen)
{
    const char *value = ap__ini_value(line, "clock_monotonic_raw");
    uint64_t v = 0;

    if (value != NULL && ap__parse_u64(value, &v)) {
        clock->mono_raw_ns = v;
        *seen |= 1;
        return;
    }
    value = ap__ini_value(line, "cntvct");
    if (value != NULL && ap__parse_u64(value, &v)) {
        clock->cntvct = v;
        *seen |= 2;
        return;
    }
    value = ap__ini_value(line, "cntvct_diff");
    if (value != NULL && ap__parse_u64(value + (*value == '-'), &v) && v <= (uint64_t)INT64_MAX) {
        clock->cntvct_diff = *value == '-' ? -(int64_t)v : (int64_t)v;
    }
}

unsigned ap__host_clock_parse_log(char *text, ap__host_clock *clock)
{
    unsigned seen = 0;
    char *next = NULL;

    for (char *line = text; line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        ap__ini_line(line, clock, &seen);
    }
    return seen;
}

static void ap__read_host_start(int host_fd, ap__meta *meta, ap__notes *notes)
{
    size_t length = 0;
    int error = 0;
    unsigned seen = 0;
    char *text = ap__read_whole(host_fd, "host_start.log", AP_CONTROL_MAX, &length, notes, &error);

    if (text != NULL) {
        meta->has_host_start = true;
        seen = ap__host_clock_parse_log(text, &meta->clock);
        free(text);
    }
    if (seen != 3) {
        ap__note(notes, "host/host_start.log %s%s", error == ENOENT ? "is missing" : "is damaged",
                 meta->clock.is_ticks ? ": times are shifted by an unknown amount" : "");
    }
}

void ap__meta_read(int host_fd, ap__meta *meta, ap__notes *notes)
{
    memset(meta, 0, sizeof(*meta));
    meta->rank = -1;
    meta->clock.mhz_scale = 1;
    ap__read_info(host_fd, meta, notes);
    ap__read_sample(host_fd, meta, notes);
    ap__read_start(host_fd, meta, notes);
    ap__read_host_start(host_fd, meta, notes);
    ap__read_end(host_fd, meta, notes);
}

uint64_t ap__host_clock_ns(const ap__host_clock *clock, uint64_t time)
{
    __int128 ns = 0;

    if (!clock->is_ticks) {
        return time;
    }
    /* |ticks| < 2^66, scale ≤ 10^12 < 2^40, 1000 < 2^10: fits */
    ns = (__int128)time - (__int128)clock->cntvct + clock->cntvct_diff;
    ns = ns * 1000 * (__int128)clock->mhz_scale / (__int128)clock->mhz;
    ns += (__int128)clock->mono_raw_ns;
    if (ns < 0) {
        return 0;
    }
    return ns > (__int128)UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

uint64_t ap__host_clock_wall_ns(const ap__host_clock *clock, uint64_t mono_raw_ns)
{
    if (!clock->has_wall) {
        return mono_raw_ns;
    }
    return mono_raw_ns + (uint64_t)clock->wall_offset_ns;
}
