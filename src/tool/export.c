/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tool/export.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define AP_EXPORT_DIR "mindstudio_profiler_output"
#define AP_CSV_ROWS 1000000u

void ap__export_failed(ap__export *e, const char *file, int rc)
{
    size_t used = strlen(e->error);

    (void)snprintf(e->error + used, sizeof(e->error) - used, "%s%s: %s", used != 0 ? "; " : "",
                   file, strerror(rc));
}

void ap__export_progress(ap__export *e, const char *what)
{
    static const char bar[] = "########################################";
    const uint32_t width = sizeof(bar) - 1;
    uint32_t full = e->steps != 0 ? e->step * width / e->steps : 0;

    if (!e->progress) {
        return;
    }
    if (what == NULL) {
        fprintf(stderr, "\r\033[K");
        return;
    }
    full = full < width ? full : width;
    fprintf(stderr, "\r\033[K[%.*s%*s] %3u %% %s", (int)full, bar, (int)(width - full), "",
            e->steps != 0 ? e->step * 100u / e->steps : 0u, what);
    fflush(stderr);
    e->step++;
}

static void ap__set_stamp(ap__export *e)
{
    time_t now = time(NULL);
    struct tm local;

    if (localtime_r(&now, &local) == NULL ||
        strftime(e->stamp, sizeof(e->stamp), "%Y%m%d%H%M%S", &local) == 0) {
        (void)snprintf(e->stamp, sizeof(e->stamp), "99999999999999");
    }
}

int ap__export_open_base(ap__export *e, const char *prof_dir, const char *output)
{
    memset(e, 0, sizeof(*e));
    e->prof_dir = prof_dir;
    e->slice_rows = AP_CSV_ROWS;
    e->layers = UINT64_MAX;
    e->dir_fd = -1;
    ap__set_stamp(e);
    if (snprintf(e->base, sizeof(e->base), "%s", output != NULL ? output : prof_dir) >=
        (int)sizeof(e->base)) {
        (void)snprintf(e->error, sizeof(e->error), "the output path is too long");
        return -1;
    }
    return 0;
}

int ap__export_open(ap__export *e, const char *prof_dir, const char *output)
{
    if (ap__export_open_base(e, prof_dir, output) != 0) {
        return -1;
    }
    (void)snprintf(e->dir, sizeof(e->dir), "%s/" AP_EXPORT_DIR, e->base);
    if (mkdir(e->dir, 0750) != 0 && errno != EEXIST) {
        ap__export_failed(e, e->dir, errno);
        return -1;
    }
    e->dir_fd = open(e->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (e->dir_fd < 0) {
        ap__export_failed(e, e->dir, errno);
        return -1;
    }
    return 0;
}

/* "<type>[_slice_<n>]_<14 digits>.csv|json|db|pftrace" */
static bool ap__is_export(const char *name)
{
    const char *dot = strrchr(name, '.');
    size_t digits = 0;

    if (dot == NULL || (strcmp(dot, ".csv") != 0 && strcmp(dot, ".json") != 0 &&
                        strcmp(dot, ".db") != 0 && strcmp(dot, ".pftrace") != 0)) {
        return false;
    }
    while (dot - digits > name && dot[-1 - (long)digits] >= '0' && dot[-1 - (long)digits] <= '9') {
        digits++;
    }
    return digits == 14 && dot - digits - 1 > name && dot[-1 - (long)digits] == '_';
}

static void ap__remove_from(int list_fd, const char *suffix)
{
    DIR *list = list_fd >= 0 ? fdopendir(list_fd) : NULL;
    struct dirent *entry = NULL;

    while (list != NULL && (entry = readdir(list)) != NULL) {
        const char *dot = strrchr(entry->d_name, '.');

        if (ap__is_export(entry->d_name) && (suffix == NULL || strcmp(dot, suffix) == 0)) {
            (void)unlinkat(dirfd(list), entry->d_name, 0);
        }
    }
    if (list != NULL) {
        closedir(list);
    } else if (list_fd >= 0) {
        close(list_fd);
    }
}

void ap__export_remove_old(ap__export *e)
{
    if (e->dir_fd >= 0) {
        ap__remove_from(openat(e->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), NULL);
    }
    ap__remove_from(open(e->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ".db");
}

int ap__export_tables(ap__export *e, const ap__model *m)
{
    static int (*const tables[])(ap__export *, const ap__model *) = {
        ap__csv_op_summary,
        ap__csv_task_time,
        ap__csv_op_statistic,
        ap__csv_communication_statistic,
        ap__csv_api_statistic,
        ap__csv_msprof_tx,
        ap__csv_npu_mem,
        ap__csv_npu_module_mem,
        ap__csv_memory_record,
        ap__csv_operator_memory,
        ap__csv_static_op_mem,
        ap__csv_l2_cache,
        ap__csv_soc_pmu,
        ap__csv_page_fault,
        ap__csv_aicpu,
        ap__csv_aicpu_mi,
        ap__csv_dp,
        ap__csv_pcie,
        ap__csv_hccs,
        ap__csv_ub,
        ap__csv_dvpp,
        ap__csv_step_trace,
        ap__csv_fusion_op,
        ap__csv_cpu_usage,
        ap__csv_sys_mem,
        ap__csv_process_cpu_usage,
        ap__csv_process_mem,
        ap__csv_host_mem_usage,
        ap__csv_host_network_usage,
        ap__csv_host_disk_usage,
        ap__csv_hbm,
        ap__csv_nic,
        ap__csv_roce,
        ap__csv_host_cpu_usage,
        ap__csv_os_runtime_statistic,
        ap__csv_cpu_tables,
    };
    const uint32_t count = sizeof(tables) / sizeof(tables[0]);
    _Static_assert(sizeof(tables) / sizeof(tables[0]) == AP_EXPORT_TABLES, "steps of the bar");
    uint32_t files = e->file_count;
    int first = 0;

    for (uint32_t i = 0; i < count; i++) {
        int rc = 0;

        ap__export_progress(e, "tables");
        rc = tables[i](e, m);
        first = first == 0 ? rc : first;
    }
    if (first == 0 && e->file_count == files) {
        e->keep_empty = true;
        first = ap__csv_api_statistic(e, m);
        first = first != 0 ? first : ap__csv_msprof_tx(e, m);
        first = first != 0 || m->device_count == 0 ? first : ap__csv_op_summary(e, m);
        e->keep_empty = false;
    }
    return first;
}

void ap__export_close(ap__export *e)
{
    if (e->dir_fd >= 0) {
        close(e->dir_fd);
        e->dir_fd = -1;
    }
}
