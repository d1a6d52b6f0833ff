/* SPDX-License-Identifier: Apache-2.0 */
/* `aclprof export`: the files that the vendor's parser makes of a PROF_* directory. */
#ifndef AP_TOOL_EXPORT_H_
#define AP_TOOL_EXPORT_H_

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model.h"

#define AP_EXPORT_FILES 64u

typedef struct ap__export {
    const char *prof_dir;
    char base[4352]; /* the PROF_* directory, or the one that --output names */
    char dir[4480];  /* where the files go, below it */
    char stamp[16];  /* YYYYmmddHHMMSS of all files */
    int dir_fd;
    uint64_t slice_rows; /* rows of one CSV file */
    bool guard;          /* texts that a spreadsheet would take for a formula get an apostrophe */
    bool keep_empty;     /* tables without rows are files with a header */
    uint64_t layers;     /* of the timeline: bits of enum ap__json_layers (reports.h) */
    bool progress;       /* a bar on stderr */
    uint32_t steps;      /* of it, in all and done */
    uint32_t step;
    uint32_t file_count;
    char files[AP_EXPORT_FILES][96]; /* written so far */
    char database[96]; /* in base, "" none */
    char error[4736];                /* files that could not be written, each with its reason */
} ap__export;

/* For ap__db_export alone: nothing is made. 0 or -1 with error set. */
int ap__export_open_base(ap__export *e, const char *prof_dir, const char *output);
/* Before the first database: SQLite goes without locks, for programs that use it in one thread. */
void ap__db_one_thread(void);
/* Makes and opens mindstudio_profiler_output below `output` (NULL: the PROF_* directory).
 * 0 or -1 with error set. */
int ap__export_open(ap__export *e, const char *prof_dir, const char *output);
/* Deletes earlier exports of ours and the vendor's in it: files with a known name and a stamp. */
void ap__export_remove_old(ap__export *e);
void ap__export_close(ap__export *e);
void ap__export_failed(ap__export *e, const char *file, int rc);
/* The next step begins; NULL: all are done, the bar goes away. */
void ap__export_progress(ap__export *e, const char *what);
/* Steps that the bar has to count. */
#define AP_EXPORT_TABLES 36u
#define AP_EXPORT_LAYERS 10u
#define AP_EXPORT_DATABASE 9u

/* All CSV files. 0, or the first errno with the others made all the same. When there are rows for
 * none, api_statistic, msprof_tx and (with a device) op_summary come with headers only: readers wait
 * for a table. */
int ap__export_tables(ap__export *e, const ap__model *m);

/* README.txt: the kinds of files made so far. */
int ap__export_readme(ap__export *e);

/* Each returns 0 or errno (after ap__export_failed). No rows, no file. */
int ap__csv_op_summary(ap__export *e, const ap__model *m);
int ap__csv_task_time(ap__export *e, const ap__model *m);
int ap__csv_op_statistic(ap__export *e, const ap__model *m);
int ap__csv_communication_statistic(ap__export *e, const ap__model *m);
int ap__csv_api_statistic(ap__export *e, const ap__model *m);
int ap__csv_msprof_tx(ap__export *e, const ap__model *m);
int ap__csv_npu_mem(ap__export *e, const ap__model *m);
int ap__csv_npu_module_mem(ap__export *e, const ap__model *m);
int ap__csv_memory_record(ap__export *e, const ap__model *m);
int ap__csv_operator_memory(ap__export *e, const ap__model *m);
int ap__csv_static_op_mem(ap__export *e, const ap__model *m);
int ap__csv_l2_cache(ap__export *e, const ap__model *m);
int ap__csv_soc_pmu(ap__export *e, const ap__model *m);
int ap__csv_page_fault(ap__export *e, const ap__model *m);
int ap__csv_aicpu(ap__export *e, const ap__model *m);
int ap__csv_aicpu_mi(ap__export *e, const ap__model *m);
int ap__csv_dp(ap__export *e, const ap__model *m);
int ap__csv_pcie(ap__export *e, const ap__model *m);
int ap__csv_hccs(ap__export *e, const ap__model *m);
int ap__csv_ub(ap__export *e, const ap__model *m);
int ap__csv_dvpp(ap__export *e, const ap__model *m);
int ap__csv_step_trace(ap__export *e, const ap__model *m);
int ap__csv_fusion_op(ap__export *e, const ap__model *m);
int ap__csv_cpu_usage(ap__export *e, const ap__model *m);
int ap__csv_sys_mem(ap__export *e, const ap__model *m);
int ap__csv_process_cpu_usage(ap__export *e, const ap__model *m);
int ap__csv_process_mem(ap__export *e, const ap__model *m);
int ap__csv_hbm(ap__export *e, const ap__model *m);
int ap__csv_nic(ap__export *e, const ap__model *m);
int ap__csv_roce(ap__export *e, const ap__model *m);
int ap__csv_host_cpu_usage(ap__export *e, const ap__model *m);
int ap__csv_os_runtime_statistic(ap__export *e, const ap__model *m);
int ap__csv_cpu_tables(ap__export *e, const ap__model *m); /* six */
int ap__csv_host_mem_usage(ap__export *e, const ap__model *m);
int ap__csv_host_network_usage(ap__export *e, const ap__model *m);
int ap__csv_host_disk_usage(ap__export *e, const ap__model *m);
int ap__json_timeline(ap__export *e, const ap__model *m);

/* msprof_<stamp>.db in base; also without rows. ENOTSUP in a build without SQLite. */
int ap__db_export(ap__export *e, const ap__model *m);
/* msprof_<stamp>.pftrace for Perfetto; also without rows. */
int ap__pftrace(ap__export *e, const ap__model *m);

/* csv_ops.c: what the numbers of a tensor mean. */
const char *ap__data_type(uint32_t type);
const char *ap__format(uint32_t format);

#endif
