/* SPDX-License-Identifier: Apache-2.0 */
/* README.txt of an export: the kinds of files that are there, and what each has. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/export.h"
#include "tool/out_file.h"

static const struct {
    const char *type;
    const char *what;
} ap__kinds[] = {
    {"msprof", "everything by time, for chrome://tracing, MindStudio Insight or Perfetto"},
    {"msprof_tx", "stamps of the program, and those that devices have passed"},
    {"step_trace", "iterations of models"},
    {"ai_cpu_pmu_events", "events counted on the AI CPUs"},
    {"ai_cpu_top_function", "where the AI CPUs spent their cycles"},
    {"aicpu", "operators on the AI CPUs"},
    {"aicpu_mi", "waiting of AI CPU operators for data"},
    {"api_statistic", "calls of the host by level and name"},
    {"communication_statistic", "communication operators by type"},
    {"cpu_usage", "processors of the host and of devices"},
    {"ctrl_cpu_pmu_events", "events counted on the control CPUs"},
    {"ctrl_cpu_top_function", "where the control CPUs spent their cycles"},
    {"dp", "data preparation"},
    {"dvpp", "video and image engines"},
    {"fusion_op", "operators and what they were fused of"},
    {"hbm", "bandwidth of device memory"},
    {"hccs", "bandwidth between devices"},
    {"host_cpu_usage", "cores that the program took"},
    {"host_disk_usage", "disk bandwidth that the program took"},
    {"host_mem_usage", "memory that the program took"},
    {"host_network_usage", "network bandwidth that the program took"},
    {"l2_cache", "L2 hits of each task"},
    {"memory_record", "memory of the framework over time"},
    {"nic", "the device's network interface"},
    {"npu_mem", "device memory over time"},
    {"npu_module_mem", "device memory by module over time"},
    {"op_statistic", "operators by type"},
    {"op_summary", "every operator with its time, shapes and counters"},
    {"operator_memory", "memory of each operator"},
    {"os_runtime_statistic", "calls of the operating system"},
    {"page_fault", "page faults of each task"},
    {"pcie", "bandwidth between host and device"},
    {"process_cpu_usage", "processor time by process"},
    {"process_mem", "memory by process"},
    {"roce", "the device's RDMA interface"},
    {"soc_pmu", "address translation of each task"},
    {"static_op_mem", "memory of operators of static graphs"},
    {"sys_mem", "memory of the host and of devices"},
    {"task_time", "every task of the devices"},
    {"ts_cpu_pmu_events", "events counted on the task scheduler"},
    {"ts_cpu_top_function", "where the task scheduler spent its cycles"},
    {"ub", "bandwidth of UB ports"},
};

/* Whether "<type>[_slice_<n>]_<14 digits><end>" has been made. */
static bool ap__is_made(const ap__export *e, const char *type, const char *end)
{
    size_t length = strlen(type);

    for (uint32_t i = 0; i < e->file_count; i++) {
        const char *name = e->files[i];
        const char *rest = name + length;

        if (strncmp(name, type, length) == 0 && rest[0] == '_' &&
            ((rest[1] >= '0' && rest[1] <= '9') || strncmp(rest, "_slice_", 7) == 0) &&
            strcmp(name + strlen(name) - strlen(end), end) == 0) {
            return true;
        }
    }
    return false;
}

static void ap__list(const ap__export *e, ap__out *o, const char *title, const char *end)
{
    uint32_t number = 0;

    ap__out_printf(o, "%s\n", title);
    for (size_t i = 0; i < sizeof(ap__kinds) / sizeof(ap__kinds[0]); i++) {
        if (ap__is_made(e, ap__kinds[i].type, end)) {
            ap__out_printf(o, "%u.%s%s:%s\n", ++number, ap__kinds[i].type, end, ap__kinds[i].what);
        }
    }
    ap__out_text(o, "\n");
}

int ap__export_readme(ap__export *e)
{
    static const char name[] = "README.txt";
    ap__out *o = malloc(sizeof(*o));
    int rc = o != NULL ? ap__out_open(o, e->dir_fd, name) : ENOMEM;

    if (rc == 0) {
        ap__list(e, o, "Timeline files:", ".json");
        ap__list(e, o, "Summary files:", ".csv");
        rc = ap__out_finish(o);
    }
    free(o);
    if (rc != 0) {
        ap__export_failed(e, name, rc);
    } else if (e->file_count < AP_EXPORT_FILES) {
        (void)snprintf(e->files[e->file_count++], sizeof(e->files[0]), "%s", name);
    }
    return rc;
}
