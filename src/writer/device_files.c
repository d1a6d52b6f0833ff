/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "writer/device_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "writer/dirs.h"
#include "writer/file_io.h"
#include "writer/json_build.h"
#include "writer/json_parse.h"
#include "writer/sample_json.h"

#define AP_INFO_MAX (1024u * 1024u)

/* ---- small files ---- */

static int ap__put(int fd, const char *name, const char *text)
{
    size_t length = strlen(text);
    int err = ap__file_put(fd, name, text, length);

    return err != 0 ? err : ap__file_done(fd, name, length, false, NULL);
}

/* Takes text that may be NULL for want of memory. */
static int ap__put_json(int fd, const char *name, char *text)
{
    int err = text != NULL ? ap__put(fd, name, text) : ENOMEM;

    cJSON_free(text);
    return err;
}

static int ap__put_times(int fd, const char *name, const ap__clock_point *point, bool begin)
{
    time_t seconds = (time_t)(point->real_ns / 1000000000u);
    cJSON *root = NULL;
    struct tm local;
    char date[64];
    char wall[24];
    char mono[24];
    bool ok = true;

    if (localtime_r(&seconds, &local) == NULL) {
        return EOVERFLOW;
    }
    (void)snprintf(date, sizeof(date), "%04d-%02d-%02d %02d:%02d:%02d.%06u", local.tm_year + 1900,
                   local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                   (unsigned)(point->real_ns % 1000000000u / 1000u));
    (void)snprintf(wall, sizeof(wall), "%" PRIu64, point->real_ns / 1000u);
    (void)snprintf(mono, sizeof(mono), "%" PRIu64, point->mono_raw_ns);
    root = cJSON_CreateObject();
    ok = root != NULL;
    ap__json_text(&ok, root, "collectionDateBegin", begin ? date : "");
    ap__json_text(&ok, root, "collectionDateEnd", begin ? "" : date);
    ap__json_text(&ok, root, "collectionTimeBegin", begin ? wall : "");
    ap__json_text(&ok, root, "collectionTimeEnd", begin ? "" : wall);
    ap__json_text(&ok, root, "clockMonotonicRaw", mono);
    return ap__put_json(fd, name, ap__json_print(ok, root));
}

/* ---- info.json ---- */

/* Parsed host/info.json, or NULL with *err. */
static cJSON *ap__host_info_json(int prof_fd, int *err)
{
    int fd = openat(prof_fd, "host/info.json", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    cJSON *root = NULL;
    char *text = NULL;
    size_t used = 0;
    ssize_t n = 0;

    *err = 0;
    if (fd < 0) {
        *err = errno;
        return NULL;
    }
    if (fstat(fd, &st) != 0 || st.st_size <= 0 || st.st_size > (off_t)AP_INFO_MAX) {
        *err = EINVAL;
        goto out;
    }
    text = malloc((size_t)st.st_size + 1);
    if (text == NULL) {
        *err = ENOMEM;
        goto out;
    }
    while (used < (size_t)st.st_size &&
           ((n = read(fd, text + used, (size_t)st.st_size - used)) > 0 ||
            (n < 0 && errno == EINTR))) {
        used += n > 0 ? (size_t)n : 0;
    }
    root = ap__json_parse(text, used);
    *err = root == NULL ? EINVAL : 0;
out:
    free(text);
    (void)close(fd);
    return root;
}

/* Replaces the key's value, or adds it. */
static void ap__replace(bool *ok, cJSON *root, const char *key, cJSON *value)
{
    bool there = cJSON_GetObjectItemCaseSensitive(root, key) != NULL;

    if (value == NULL ||
        !(there ? cJSON_ReplaceItemInObjectCaseSensitive(root, key, value)
                : cJSON_AddItemToObject(root, key, value))) {
        cJSON_Delete(value);
        *ok = false;
    }
}

/* "2,3,4": the reader takes cores of one digit only. */
static void ap__core_list(char out[24], uint64_t bits)
{
    size_t used = 0;

    out[0] = '\0';
    for (unsigned i = 0; i < 10; i++) {
        if ((bits >> i & 1) != 0) {
            used += (size_t)snprintf(out + used, 24 - used, used != 0 ? ",%u" : "%u", i);
        }
    }
}

/* The main id register's part as a name. */
static void ap__cpu_name(char *out, size_t size, int64_t id)
{
    switch (id) {
    case 0x41d03:
        (void)snprintf(out, size, "ARMv8_Cortex_A53");
        break;
    case 0x41d05:
        (void)snprintf(out, size, "ARMv8_Cortex_A55");
        break;
    case 0x48d01:
        (void)snprintf(out, size, "TaishanV110");
        break;
    case 0:
        out[0] = '\0';
        break;
    default:
        (void)snprintf(out, size, "0x%" PRIx64, (uint64_t)id);
    }
}

static cJSON *ap__device_info(bool *ok, const ap__device_meta *d)
{
    cJSON *list = cJSON_CreateArray();
    cJSON *o = ap__json_item(ok, list);
    uint64_t ctrl = d->ctrl_cpu_num > 0 ? ((uint64_t)1 << (d->ctrl_cpu_num & 15)) - 1 : 1;
    char text[48];

    ap__json_i64(ok, o, "id", d->device);
    ap__json_i64(ok, o, "env_type", d->env);
    ap__json_i64(ok, o, "ctrl_cpu_core_num", d->ctrl_cpu_num);
    ap__json_i64(ok, o, "ctrl_cpu_endian_little", d->ctrl_cpu_endian_little);
    ap__json_i64(ok, o, "ts_cpu_core_num", d->ts_cpu_num);
    ap__json_i64(ok, o, "ai_cpu_core_num", d->aicpu_num);
    ap__json_i64(ok, o, "ai_core_num", d->aic_num);
    ap__json_i64(ok, o, "ai_cpu_core_id", d->aicpu_id);
    ap__json_i64(ok, o, "ai_core_id", d->aic_id);
    ap__json_i64(ok, o, "aicpu_occupy_bitmap", d->aicpu_occupy);
    ap__json_i64(ok, o, "aiv_num", d->aiv_num);
    ap__cpu_name(text, sizeof(text), d->ctrl_cpu_id);
    ap__json_text(ok, o, "ctrl_cpu_id", text);
    ap__core_list(text, ctrl);
    ap__json_text(ok, o, "ctrl_cpu", text);
    ap__core_list(text, (uint64_t)d->aicpu_occupy);
    ap__json_text(ok, o, "ai_cpu", text);
    (void)snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64 "000", d->counter_khz / 1000u,
                   d->counter_khz % 1000u);
    ap__json_text(ok, o, "hwts_frequency", text);
    (void)snprintf(text, sizeof(text), "%" PRId64, d->aic_mhz);
    ap__json_text(ok, o, "aic_frequency", text);
    (void)snprintf(text, sizeof(text), "%" PRId64, d->aiv_mhz);
    ap__json_text(ok, o, "aiv_frequency", text);
    return list;
}

static int ap__put_info(int prof_fd, int fd, const ap__device_meta *d)
{
    int err = 0;
    cJSON *root = ap__host_info_json(prof_fd, &err);
    bool ok = true;
    char name[32];
    char text[24];

    if (root == NULL) {
        return err;
    }
    ap__replace(&ok, root, "DeviceInfo", ap__device_info(&ok, d));
    (void)snprintf(text, sizeof(text), "%" PRIu32, d->device);
    ap__replace(&ok, root, "devices", cJSON_CreateString(text));
    (void)snprintf(text, sizeof(text), "%" PRIu32, d->chip);
    ap__replace(&ok, root, "platform_version", cJSON_CreateString(text));
    if (d->simulated) {
        ap__replace(&ok, root, "jobInfo", cJSON_CreateString(AP_SIMULATED_JOB));
    }
    (void)snprintf(name, sizeof(name), "info.json.%" PRIu32, d->device);
    return ap__put_json(fd, name, ap__json_print(ok, root));
}

/* ---- the directory ---- */

static int ap__make_dir(int parent, const char *name, int *fd)
{
    *fd = -1;
    if (mkdirat(parent, name, AP_DIR_MODE) != 0) {
        return errno;
    }
    (void)!fchmodat(parent, name, AP_DIR_MODE, 0); /* undoes the umask */
    *fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return *fd >= 0 ? 0 : errno;
}

static int ap__put_all(int prof_fd, int fd, const ap__host_meta *host,
                       const ap__device_meta *device, const ap__clock_point *start,
                       const ap__device_start *clocks)
{
    ap__host_meta meta = *host;
    char id[16];
    char name[48];
    char text[192];
    int err = ap__put_info(prof_fd, fd, device);

    meta.chip = device->chip;
    (void)snprintf(id, sizeof(id), "%" PRIu32, device->device);
    meta.devices = id;
    err = err != 0 ? err : ap__put_json(fd, "sample.json", ap__sample_json(&meta, id));
    (void)snprintf(name, sizeof(name), "start_info.%s", id);
    err = err != 0 ? err : ap__put_times(fd, name, start, true);
    (void)snprintf(name, sizeof(name), "host_start.log.%s", id);
    (void)snprintf(text, sizeof(text),
                   "[Device%s]\nclock_monotonic_raw: %" PRIu64 "\ncntvct: %" PRIu64
                   "\ncntvct_diff: 0\n",
                   id, clocks->host_ns, clocks->host_count);
    err = err != 0 ? err : ap__put(fd, name, text);
    (void)snprintf(name, sizeof(name), "dev_start.log.%s", id);
    (void)snprintf(text, sizeof(text), "clock_monotonic_raw: %" PRIu64 "\ncntvct: %" PRIu64 "\n",
                   clocks->device_ns, clocks->device_cycles);
    return err != 0 ? err : ap__put(fd, name, text);
}

/* Of a directory that has been built only in part: nothing but files of ours and an empty data/. */
static void ap__unmake(int parent, const char *name, int fd, uint32_t device)
{
    static const char *const stems[] = {"info.json", "start_info", "host_start.log",
                                        "dev_start.log"};
    char file[64];

    if (fd >= 0) {
        for (size_t i = 0; i < sizeof(stems) / sizeof(stems[0]); i++) {
            (void)snprintf(file, sizeof(file), "%s.%" PRIu32, stems[i], device);
            (void)unlinkat(fd, file, 0);
            (void)snprintf(file, sizeof(file), "%s.%" PRIu32 ".done", stems[i], device);
            (void)unlinkat(fd, file, 0);
        }
        (void)unlinkat(fd, "sample.json", 0);
        (void)unlinkat(fd, "sample.json.done", 0);
        (void)unlinkat(fd, "data", AT_REMOVEDIR);
    }
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

int ap__device_dir_create(int prof_fd, int build_fd, const ap__host_meta *host,
                          const ap__device_meta *device, const ap__clock_point *start,
                          const ap__device_start *clocks, ap__device_dir *out)
{
    char name[32];
    struct stat st;
    int err = 0;

    *out = (ap__device_dir)AP_DEVICE_DIR_CLOSED;
    (void)snprintf(name, sizeof(name), "device_%" PRIu32, device->device);
    if (fstatat(prof_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        return EEXIST;
    }
    err = ap__make_dir(build_fd, name, &out->fd);
    if (err == EEXIST) {
        return err;
    }
    err = err != 0 ? err : ap__make_dir(out->fd, "data", &out->data_fd);
    err = err != 0 ? err : ap__put_all(prof_fd, out->fd, host, device, start, clocks);
    if (err == 0 && renameat(build_fd, name, prof_fd, name) != 0) {
        err = errno;
    }
    if (err != 0) {
        ap__unmake(build_fd, name, out->fd, device->device);
        ap__device_dir_close(out);
    }
    return err;
}

int ap__device_dir_reopen(int prof_fd, uint32_t device, ap__device_dir *out)
{
    static const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
    char name[40];
    int err = 0;

    *out = (ap__device_dir)AP_DEVICE_DIR_CLOSED;
    (void)snprintf(name, sizeof(name), "device_%" PRIu32, device);
    out->fd = openat(prof_fd, name, flags);
    out->data_fd = out->fd >= 0 ? openat(out->fd, "data", flags) : -1;
    if (out->data_fd < 0) {
        err = errno;
        ap__device_dir_close(out);
        return err;
    }
    (void)snprintf(name, sizeof(name), "end_info.%" PRIu32, device);
    (void)unlinkat(out->fd, name, 0);
    (void)snprintf(name, sizeof(name), "end_info.%" PRIu32 ".done", device);
    (void)unlinkat(out->fd, name, 0);
    return 0;
}

int ap__device_dir_end(const ap__device_dir *dir, uint32_t device, const ap__clock_point *end)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "end_info.%" PRIu32, device);
    return ap__put_times(dir->fd, name, end, false);
}

void ap__device_dir_close(ap__device_dir *dir)
{
    if (dir->fd >= 0) {
        (void)close(dir->fd);
    }
    if (dir->data_fd >= 0) {
        (void)close(dir->data_fd);
    }
    *dir = (ap__device_dir)AP_DEVICE_DIR_CLOSED;
}
