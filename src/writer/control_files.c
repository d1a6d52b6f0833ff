/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "writer/control_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "writer/file_io.h"
#include "writer/host_info.h"
#include "writer/json_build.h"
#include "writer/sample_json.h"

#define AP_HOST_ID "64"
#define AP_DRV_VERSION 467473 /* 0x072211: the reader degrades below it */

static int ap__put_with_done(int host_fd, const char *name, const char *text)
{
    size_t length = strlen(text);
    int err = ap__file_put(host_fd, name, text, length);

    return err != 0 ? err : ap__file_done(host_fd, name, length, false, NULL);
}

/* Takes text that may be NULL for want of memory. */
static int ap__put_json(int host_fd, const char *name, char *text)
{
    int err = text != NULL ? ap__put_with_done(host_fd, name, text) : ENOMEM;

    cJSON_free(text);
    return err;
}

static void ap__info_cpu(bool *ok, cJSON *root, const ap__host_info *host, uint64_t hz)
{
    cJSON *cpu = ap__json_item(ok, ap__json_array(ok, root, "CPU"));
    char text[48] = ""; /* no frequency: the records hold nanoseconds */

    if (hz != 0) {
        (void)snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, hz / 1000000u, hz % 1000000u);
    }
    ap__json_i64(ok, cpu, "Id", 0);
    ap__json_text(ok, cpu, "Name", host->cpu_name);
    ap__json_text(ok, cpu, "Frequency", text);
    (void)snprintf(text, sizeof(text), "%" PRIu32, host->cpu_count);
    ap__json_text(ok, cpu, "Logical_CPU_Count", text);
    ap__json_text(ok, cpu, "Type", host->cpu_type);
}

static char *ap__info_json(const ap__host_meta *meta)
{
    cJSON *root = cJSON_CreateObject();
    cJSON *cards = NULL;
    ap__host_info host;
    char number[24];
    bool ok = root != NULL;

    ap__host_info_read(&host);
    (void)ap__json_array(&ok, root, "DeviceInfo");
    cards = ap__json_array(&ok, root, "netCard");
    for (uint32_t i = 0; i < host.net_card_count; i++) {
        cJSON *card = ap__json_item(&ok, cards);

        ap__json_text(&ok, card, "netCardName", host.net_cards[i].name);
        ap__json_u64(&ok, card, "speed", host.net_cards[i].speed);
    }
    ap__info_cpu(&ok, root, &host, meta->host_mhz_x1000000);
    ap__json_text(&ok, root, "version", "1.0");
    ap__json_text(&ok, root, "jobInfo", meta->simulated ? AP_SIMULATED_JOB : "NA");
    ap__json_text(&ok, root, "OS", host.os);
    ap__json_text(&ok, root, "hostname", host.host_name);
    ap__json_text(&ok, root, "hwtype", host.hardware);
    ap__json_text(&ok, root, "devices", meta->devices);
    ap__json_text(&ok, root, "platform", "");
    (void)snprintf(number, sizeof(number), "%" PRIu32, meta->chip);
    ap__json_text(&ok, root, "platform_version", number);
    (void)snprintf(number, sizeof(number), "%" PRIu32, host.pid);
    ap__json_text(&ok, root, "pid", number);
    ap__json_text(&ok, root, "pid_name", host.pid_name);
    ap__json_text(&ok, root, "upTime", host.up_time);
    ap__json_u64(&ok, root, "memoryTotal", host.memory_kb);
    ap__json_u64(&ok, root, "cpuNums", host.cpu_count);
    ap__json_u64(&ok, root, "sysClockFreq", host.clock_ticks);
    ap__json_u64(&ok, root, "cpuCores", 1); /* entries of CPU */
    ap__json_u64(&ok, root, "netCardNums", host.net_card_count);
    ap__json_i64(&ok, root, "rank_id", host.rank);
    ap__json_u64(&ok, root, "drvVersion", AP_DRV_VERSION);
    ap__json_text(&ok, root, "cannVersion", host.cann_version);
    return ap__json_print(ok, root);
}

typedef struct ap__time_texts {
    char date[64];
    char wall_us[24];
    char mono_ns[24];
} ap__time_texts;

static int ap__time_texts_make(ap__time_texts *out, const ap__clock_point *point)
{
    time_t seconds = (time_t)(point->real_ns / 1000000000u);
    struct tm local;

    if (localtime_r(&seconds, &local) == NULL) {
        return EOVERFLOW;
    }
    (void)snprintf(out->date, sizeof(out->date), "%04d-%02d-%02d %02d:%02d:%02d.%06u",
                   local.tm_year + 1900, local.tm_mon + 1, local.tm_mday, local.tm_hour,
                   local.tm_min, local.tm_sec, (unsigned)(point->real_ns % 1000000000u / 1000u));
    (void)snprintf(out->wall_us, sizeof(out->wall_us), "%" PRIu64, point->real_ns / 1000u);
    (void)snprintf(out->mono_ns, sizeof(out->mono_ns), "%" PRIu64, point->mono_raw_ns);
    return 0;
}

/* All values are strings: the compiled reader wants them so. */
static char *ap__times_json(const ap__time_texts *t, bool begin)
{
    cJSON *root = cJSON_CreateObject();
    bool ok = root != NULL;

    ap__json_text(&ok, root, "collectionDateBegin", begin ? t->date : "");
    ap__json_text(&ok, root, "collectionDateEnd", begin ? "" : t->date);
    ap__json_text(&ok, root, "collectionTimeBegin", begin ? t->wall_us : "");
    ap__json_text(&ok, root, "collectionTimeEnd", begin ? "" : t->wall_us);
    ap__json_text(&ok, root, "clockMonotonicRaw", t->mono_ns);
    return ap__json_print(ok, root);
}

static int ap__put_times(int host_fd, const char *name, const ap__clock_point *point, bool begin)
{
    ap__time_texts texts;
    int err = ap__time_texts_make(&texts, point);

    return err != 0 ? err : ap__put_json(host_fd, name, ap__times_json(&texts, begin));
}

static int ap__put_host_start(int host_fd, const ap__clock_point *start, bool counter)
{
    char text[160];

    (void)snprintf(text, sizeof(text),
                   "[Host]\nclock_monotonic_raw: %" PRIu64 "\ncntvct: %" PRIu64
                   "\ncntvct_diff: 0\n",
                   start->mono_raw_ns, counter ? start->cycles : start->mono_raw_ns);
    return ap__put_with_done(host_fd, "host_start.log", text);
}

int ap__control_write_start(int host_fd, const ap__host_meta *meta, const ap__clock_point *start)
{
    int err = ap__put_json(host_fd, "info.json", ap__info_json(meta));

    if (err == 0) {
        err = ap__put_json(host_fd, "sample.json", ap__sample_json(meta, AP_HOST_ID));
    }
    if (err == 0) {
        err = ap__put_times(host_fd, "start_info", start, true);
    }
    if (err == 0) {
        err = ap__put_host_start(host_fd, start, meta->host_mhz_x1000000 != 0);
    }
    return err;
}

int ap__control_write_end(int host_fd, const ap__clock_point *end)
{
    return ap__put_times(host_fd, "end_info", end, false);
}
