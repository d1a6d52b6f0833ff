/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reader/device_view.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/ext_wire.h"
#include "format/utf8.h"
#include "reader/finish_files.h"
#include "reader/reader_internal.h"
#include "reader/record_sizes.h"
#include "reader/safe_file.h"
#include "writer/control_files.h"
#include "writer/device_files.h"

#define AP_CONTROL_MAX ((size_t)2 << 20)

static char *ap__text(ap__device_view *v, ap__notes *notes, const char *stem, bool suffix)
{
    char name[64];
    size_t length = 0;
    int error = 0;
    char *text = NULL;

    (void)snprintf(name, sizeof(name), suffix ? "%s.%" PRIu32 : "%s", stem, v->device);
    text = ap__read_whole(v->fd, name, AP_CONTROL_MAX, &length, notes, &error);
    if (text == NULL && strcmp(stem, "end_info") != 0) {
        ap__note(notes, "device_%" PRIu32 "/%s cannot be read", v->device, name);
    }
    return text;
}

static cJSON *ap__json(ap__device_view *v, ap__notes *notes, const char *stem, bool suffix)
{
    char *text = ap__text(v, notes, stem, suffix);
    cJSON *json = text != NULL ? cJSON_Parse(text) : NULL;

    if (text != NULL && !cJSON_IsObject(json)) {
        ap__note(notes, "device_%" PRIu32 "/%s is damaged", v->device, stem);
        cJSON_Delete(json);
        json = NULL;
    }
    free(text);
    return json;
}

static uint64_t ap__number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    if (cJSON_IsString(item)) {
        return strtoull(item->valuestring, NULL, 10);
    }
    return cJSON_IsNumber(item) && item->valuedouble > 0 ? (uint64_t)item->valuedouble : 0;
}

static const char *ap__string(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    return cJSON_IsString(item) ? item->valuestring : "";
}

/* "0xfb,0xfc" */
static void ap__read_l2_events(ap__device_view *v, const char *list)
{
    while (v->l2_event_count < sizeof(v->l2_events) / sizeof(v->l2_events[0])) {
        char *end = NULL;
        unsigned long event = strtoul(list, &end, 16);

        if (end == list || event > UINT16_MAX) {
            return;
        }
        v->l2_events[v->l2_event_count++] = (uint32_t)event;
        list = *end == ',' ? end + 1 : end;
    }
}

static void ap__read_info(ap__device_view *v, ap__notes *notes)
{
    cJSON *json = ap__json(v, notes, "info.json", true);
    const cJSON *info = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "DeviceInfo"), 0);

    v->chip = (uint32_t)ap__number(json, "platform_version");
    v->simulated = strcmp(ap__string(json, "jobInfo"), AP_SIMULATED_JOB) == 0;
    v->aic_mhz = (uint32_t)ap__number(info, "aic_frequency");
    v->aiv_mhz = (uint32_t)ap__number(info, "aiv_frequency");
    v->aic_num = (uint32_t)ap__number(info, "ai_core_num");
    v->aiv_num = (uint32_t)ap__number(info, "aiv_num");
    (void)snprintf(v->ctrl_cpu, sizeof(v->ctrl_cpu), "%s", ap__string(info, "ctrl_cpu"));
    (void)snprintf(v->ai_cpu, sizeof(v->ai_cpu), "%s", ap__string(info, "ai_cpu"));
    ap__host_clock_parse_mhz(ap__string(info, "hwts_frequency"), &v->clock, notes);
    cJSON_Delete(json);
    json = ap__json(v, notes, "sample.json", false);
    (void)snprintf(v->metrics, sizeof(v->metrics), "%s", ap__string(json, "ai_core_metrics"));
    (void)ap__utf8_clean(v->qos_events, sizeof(v->qos_events) - 1, ap__string(json, "qosEvents"),
                         strlen(ap__string(json, "qosEvents")));
    ap__read_l2_events(v, ap__string(json, "l2CacheTaskProfilingEvents"));
    v->pmu_by_task = strcmp(ap__string(json, "ai_core_profiling_mode"), "task-based") == 0;
    cJSON_Delete(json);
}

/* The host's side of the pair is in host_start.log, the device's in dev_start.log. */
static void ap__read_clocks(ap__device_view *v, const ap__host_clock *host, ap__notes *notes)
{
    ap__host_clock host_side = {.cntvct = 0};
    ap__host_clock device_side = {.cntvct = 0};
    char *text = ap__text(v, notes, "host_start.log", true);
    cJSON *json = NULL;
    uint64_t wall = 0;
    uint64_t mono = 0;

    if (text != NULL && (ap__host_clock_parse_log(text, &host_side) & 1) != 0) {
        v->clock.mono_raw_ns = host_side.mono_raw_ns;
    } else {
        v->clock.mono_raw_ns = host->mono_raw_ns;
    }
    free(text);
    text = ap__text(v, notes, "dev_start.log", true);
    if (text != NULL && (ap__host_clock_parse_log(text, &device_side) & 2) != 0) {
        v->clock.cntvct = device_side.cntvct;
        v->mono_raw_ns = device_side.mono_raw_ns;
    }
    free(text);
    json = ap__json(v, notes, "start_info", true);
    wall = ap__number(json, "collectionTimeBegin");
    mono = ap__number(json, "clockMonotonicRaw");
    if (wall != 0 && wall < (uint64_t)INT64_MAX / 1000 && mono < (uint64_t)INT64_MAX) {
        v->clock.has_wall = true;
        v->clock.wall_offset_ns = (int64_t)(wall * 1000) - (int64_t)mono;
    }
    cJSON_Delete(json);
    text = ap__text(v, notes, "end_info", true);
    v->finished = text != NULL;
    free(text);
}

static bool ap__view_open(ap__reader *reader, ap__device_view *v, uint32_t device)
{
    char name[32];

    memset(v, 0, sizeof(*v));
    v->device = device;
    v->data_fd = -1;
    v->clock.mhz_scale = 1;
    (void)snprintf(name, sizeof(name), "device_%" PRIu32, device);
    v->fd = ap__open_dir(reader->prof_fd, name);
    if (v->fd < 0) {
        ap__note(&reader->notes, "%s cannot be opened", name);
        return false;
    }
    ap__read_info(v, &reader->notes);
    ap__read_clocks(v, &reader->meta.clock, &reader->notes);
    v->data_fd = ap__open_dir(v->fd, "data");
    if (v->data_fd >= 0) {
        (void)ap__sources_list(v->data_fd, &v->sources, &reader->notes);
    }
    return true;
}

static void ap__view_align(ap__reader *reader, ap__device_view *v)
{
    if (!reader->aligned) {
        return;
    }
    v->clock.has_wall = reader->meta.clock.has_wall;
    v->clock.wall_offset_ns = reader->meta.clock.wall_offset_ns;
    if (ap__device_clock_read(&v->precise, reader->ext_fd, v->device, &reader->notes) != 0) {
        ap__note(&reader->notes, "no memory for the clock of device_%" PRIu32, v->device);
    }
}

/* "device_7": 7; -1: of another shape. */
static int ap__device_number(const char *name)
{
    char *end = NULL;
    long n = 0;

    if (strncmp(name, "device_", 7) != 0 || name[7] < '0' || name[7] > '9') {
        return -1;
    }
    n = strtol(name + 7, &end, 10);
    return *end == '\0' && n < 1024 ? (int)n : -1;
}

static int ap__by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

uint32_t ap__device_views_open(ap__reader *reader, ap__device_view *views, uint32_t max)
{
    int numbers[256];
    uint32_t found = 0;
    uint32_t count = 0;
    int fd = openat(reader->prof_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry = NULL;

    while (list != NULL && (entry = readdir(list)) != NULL && found < 256) {
        int number = ap__device_number(entry->d_name);

        if (number >= 0) {
            numbers[found++] = number;
        }
    }
    if (list != NULL) {
        closedir(list);
    } else if (fd >= 0) {
        close(fd);
    }
    qsort(numbers, found, sizeof(numbers[0]), ap__by_number);
    for (uint32_t i = 0; i < found && count < max; i++) {
        if (ap__view_open(reader, &views[count], (uint32_t)numbers[i])) {
            ap__view_align(reader, &views[count]);
            count++;
        }
    }
    return count;
}

void ap__device_views_close(ap__device_view *views, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (views[i].data_fd >= 0) {
            close(views[i].data_fd);
        }
        close(views[i].fd);
        ap__sources_free(&views[i].sources);
        ap__device_clock_free(&views[i].precise);
    }
}

uint64_t ap__device_wall_ns(const ap__device_view *view, uint64_t cycles)
{
    return ap__host_clock_wall_ns(&view->clock,
                                  view->precise.count >= 2
                                      ? ap__device_clock_ns(&view->precise, cycles)
                                      : ap__host_clock_ns(&view->clock, cycles));
}

uint64_t ap__device_mono_wall_ns(const ap__device_view *view, uint64_t mono_ns)
{
    return ap__host_clock_wall_ns(&view->clock,
                                  view->clock.mono_raw_ns + mono_ns - view->mono_raw_ns);
}

bool ap__device_records(const ap__device_view *view, ap__reader *reader, const char *file,
                        uint32_t record_bytes, uint16_t magic, uint32_t magic_at,
                        ap__slice_cursor *cursor)
{
    char name[64];
    const ap__source *source = NULL;

    (void)snprintf(name, sizeof(name), "%s.%" PRIu32, file, view->device);
    source = view->data_fd >= 0 ? ap__sources_find(&view->sources, name) : NULL;
    if (source == NULL) {
        return false;
    }
    ap__slice_cursor_begin_as(cursor, view->data_fd, source, record_bytes, magic, magic_at,
                              &reader->notes);
    return true;
}

int ap__device_view_finish(ap__device_view *view, int ext_fd, const ap__clock_point *end,
                           ap__notes *notes)
{
    ap__device_dir dir = {view->fd, view->data_fd};
    char *sizes = ap__record_sizes_read(ext_fd, view->device, notes);
    char reserve[48];
    int rc = 0;

    (void)snprintf(reserve, sizeof(reserve), AP_EXT_DEVICE_RESERVE_NAME ".%" PRIu32, view->device);
    (void)unlinkat(ext_fd, reserve, 0);
    for (uint32_t i = 0; i < view->sources.count; i++) {
        view->sources.list[i].record_size =
            ap__record_size_of(sizes, view->sources.list[i].name, view->chip);
    }
    free(sizes);
    if (view->data_fd >= 0) {
        rc = ap__finish_sources(view->data_fd, &view->sources, NULL, notes);
    }
    if (rc == 0 && !view->finished) {
        char name[40];

        (void)snprintf(name, sizeof(name), "end_info.%" PRIu32, view->device);
        (void)unlinkat(view->fd, name, 0); /* torn, else it would be readable */
        (void)snprintf(name, sizeof(name), "end_info.%" PRIu32 ".done", view->device);
        (void)unlinkat(view->fd, name, 0);
        rc = ap__device_dir_end(&dir, view->device, end);
    }
    return rc;
}
