/* SPDX-License-Identifier: Apache-2.0 */
/* The systems of host and devices as sampled from /proc: cpu_usage, sys_mem, process_cpu_usage,
 * process_mem. Devices come first, then the host. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/csv.h"
#include "tool/raw_files.h"

#define AP_PROCESSES 1024u
#define AP_STATES 7u /* user nice system idle iowait irq softirq */

static void ap__where(ap__csv *c, const ap__model *m, uint32_t device)
{
    if (device == AP_HOST) {
        ap__csv_raw(c, "host");
    } else {
        ap__csv_u64(c, m->devices[device].device);
    }
}

/* Calls `make` for each device and the host. */
static int ap__each_system(ap__csv *c, const ap__model *m,
                           int (*make)(ap__csv *, const ap__model *, uint32_t))
{
    int rc = c != NULL ? 0 : ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < m->device_count; i++) {
        rc = make(c, m, i);
    }
    rc = rc == 0 ? make(c, m, AP_HOST) : rc;
    return ap__csv_finish(c, rc);
}

/* ---- cpu_usage ---- */

typedef struct ap__cores {
    const char *list; /* "2,3,4"; NULL: all */
    uint64_t states[AP_STATES];
} ap__cores;

static bool ap__listed(const char *list, unsigned core)
{
    char *end = NULL;

    for (const char *p = list; *p >= '0' && *p <= '9'; p = *end == ',' ? end + 1 : end) {
        if (strtoul(p, &end, 10) == core) {
            return true;
        }
    }
    return false;
}

static bool ap__states_of(const char *line, int *core, uint64_t states[AP_STATES])
{
    char *end = NULL;

    if (strncmp(line, "cpu", 3) != 0) {
        return false;
    }
    *core = line[3] == ' ' ? -1 : (int)strtoul(line + 3, &end, 10);
    line = line[3] == ' ' ? line + 3 : end;
    for (size_t i = 0; i < AP_STATES; i++) {
        states[i] = strtoull(line, &end, 10);
        if (end == line) {
            return false;
        }
        line = end;
    }
    return true;
}

static int ap__take_cpu(void *context, uint32_t device, char *line)
{
    ap__cores *cores = context;
    uint64_t states[AP_STATES];
    int core = 0;

    (void)device;
    if (ap__states_of(line, &core, states) &&
        (cores->list == NULL || (core >= 0 && ap__listed(cores->list, (unsigned)core)))) {
        for (size_t i = 0; i < AP_STATES; i++) {
            cores->states[i] += states[i];
        }
    }
    return 0;
}

static int ap__cpu_row(ap__csv *c, const ap__model *m, uint32_t device, const char *name,
                       const char *list)
{
    static const size_t shown[] = {0, 2, 4, 5, 6, 3};
    ap__cores cores = {.list = list};
    uint64_t all = 0;
    int rc =
        ap__each_line(m, device, device == AP_HOST ? "host_sys_cpu.data" : "SystemCpuUsage.data",
                      ap__take_cpu, &cores);

    for (size_t i = 0; i < AP_STATES; i++) {
        all += cores.states[i];
    }
    if (rc != 0 || all == 0) {
        return rc;
    }
    ap__csv_row(c);
    ap__where(c, m, device);
    ap__csv_raw(c, name);
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        ap__csv_round(c, 100.0 * (double)cores.states[shown[i]] / (double)all);
    }
    return 0;
}

static int ap__cpu_rows(ap__csv *c, const ap__model *m, uint32_t device)
{
    int rc = 0;

    if (device == AP_HOST) {
        return ap__cpu_row(c, m, device, "host", NULL);
    }
    rc = ap__cpu_row(c, m, device, "aicpu", m->devices[device].ai_cpu);
    return rc != 0 ? rc : ap__cpu_row(c, m, device, "ctrlcpu", m->devices[device].ctrl_cpu);
}

int ap__csv_cpu_usage(ap__export *e, const ap__model *m)
{
    return ap__each_system(
        ap__csv_begin(e, "cpu_usage",
                      "Device_id,Cpu Type,User(%),Sys(%),IoWait(%),Irq(%),Soft(%),Idle(%)", 0),
        m, ap__cpu_rows);
}

/* ---- sys_mem ---- */

static const char *const ap__memory_keys[] = {"MemTotal",     "MemFree",         "Buffers",
                                              "Cached",       "Shmem",           "CommitLimit",
                                              "Committed_AS", "HugePages_Total", "HugePages_Free"};

#define AP_MEMORY_KEYS (sizeof(ap__memory_keys) / sizeof(ap__memory_keys[0]))

typedef struct ap__means {
    uint64_t sum[AP_MEMORY_KEYS];
    uint64_t count[AP_MEMORY_KEYS];
} ap__means;

static int ap__take_memory(void *context, uint32_t device, char *line)
{
    ap__means *means = context;
    char *colon = strchr(line, ':');

    (void)device;
    for (size_t i = 0; colon != NULL && i < AP_MEMORY_KEYS; i++) {
        if (strncmp(line, ap__memory_keys[i], (size_t)(colon - line)) == 0 &&
            ap__memory_keys[i][colon - line] == '\0') {
            means->sum[i] += strtoull(colon + 1, NULL, 10);
            means->count[i]++;
        }
    }
    return 0;
}

static int ap__memory_row(ap__csv *c, const ap__model *m, uint32_t device)
{
    ap__means means = {.sum = {0}};
    int rc = ap__each_line(m, device, device == AP_HOST ? "host_sys_mem.data" : "Memory.data",
                           ap__take_memory, &means);

    if (rc != 0 || means.count[0] == 0) {
        return rc;
    }
    ap__csv_row(c);
    ap__where(c, m, device);
    for (size_t i = 0; i < AP_MEMORY_KEYS; i++) {
        ap__csv_u64(c, means.count[i] != 0 ? means.sum[i] / means.count[i] : 0);
    }
    return 0;
}

int ap__csv_sys_mem(ap__export *e, const ap__model *m)
{
    return ap__each_system(
        ap__csv_begin(e, "sys_mem",
                      "Device_id,Memory Total(kB),Memory Free(kB),Buffers(kB),Cached(kB),Share "
                      "Memory(kB),Commit Limit(kB),Committed AS(kB),Huge Pages Total(pages),Huge "
                      "Pages Free(pages)",
                      0),
        m, ap__memory_row);
}

/* ---- process_cpu_usage, process_mem ---- */

typedef struct ap__process {
    uint32_t pid;
    char name[64];
    uint64_t busy; /* of the line before the system's */
    double use;    /* sum of percentages */
    uint64_t samples;
    uint64_t pages[3];
} ap__process;

static void ap__take_name(ap__process *p, const char *line)
{
    if (strncmp(line, "ProcessName:", 12) == 0) {
        (void)snprintf(p->name, sizeof(p->name), "%s", line + 12);
    }
}

static int ap__take_process_cpu(void *context, uint32_t device, char *line)
{
    ap__process *p = context;
    const char *rest = strrchr(line, ')'); /* a program's name may have anything in it */
    uint64_t states[AP_STATES];
    uint64_t times[2] = {0, 0};
    uint64_t all = 0;
    int core = 0;

    (void)device;
    ap__take_name(p, line);
    if (rest != NULL &&
        sscanf(rest + 1, " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %" SCNu64,
               &times[0], &times[1]) == 2) {
        p->busy = times[0] + times[1];
    } else if (ap__states_of(line, &core, states)) {
        for (size_t i = 0; i < AP_STATES; i++) {
            all += states[i];
        }
        p->use += all != 0 ? 100.0 * (double)p->busy / (double)all : 0;
        p->samples++;
    }
    return 0;
}

static int ap__by_use(const void *a, const void *b)
{
    const ap__process *x = a;
    const ap__process *y = b;

    return x->use != y->use ? (x->use > y->use ? -1 : 1) : x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int ap__process_rows(ap__csv *c, const ap__model *m, uint32_t device, bool memory,
                            int (*take)(void *, uint32_t, char *))
{
    const char *suffix = memory ? "-Memory.data" : "-CpuUsage.data";
    uint32_t *pids = calloc(AP_PROCESSES, sizeof(*pids));
    ap__process *list = calloc(AP_PROCESSES, sizeof(*list));
    uint32_t count = 0;
    int rc = pids != NULL && list != NULL ? 0 : ENOMEM;

    count = rc == 0 ? ap__process_files(m, device, suffix, pids, AP_PROCESSES) : 0;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        char file[64];

        (void)snprintf(file, sizeof(file), "%" PRIu32 "%s", pids[i], suffix);
        list[i].pid = pids[i];
        rc = ap__each_line(m, device, file, take, &list[i]);
        list[i].use = list[i].samples != 0 ? list[i].use / (double)list[i].samples : 0;
    }
    if (rc == 0 && count != 0) {
        qsort(list, count, sizeof(*list), ap__by_use);
    }
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        if (list[i].samples == 0) {
            continue;
        }
        ap__csv_row(c);
        ap__where(c, m, device);
        ap__csv_u64(c, list[i].pid);
        ap__csv_text(c, list[i].name[0] != '\0' ? list[i].name : NULL);
        if (!memory) {
            ap__csv_round(c, list[i].use);
        }
        for (size_t k = 0; memory && k < 3; k++) {
            ap__csv_u64(c, list[i].pages[k] / list[i].samples);
        }
    }
    free(pids);
    free(list);
    return rc;
}

static int ap__process_cpu_rows(ap__csv *c, const ap__model *m, uint32_t device)
{
    return ap__process_rows(c, m, device, false, ap__take_process_cpu);
}

int ap__csv_process_cpu_usage(ap__export *e, const ap__model *m)
{
    return ap__each_system(ap__csv_begin(e, "process_cpu_usage", "Device_id,PID,Name,CPU(%)", 0), m,
                           ap__process_cpu_rows);
}

static int ap__take_process_memory(void *context, uint32_t device, char *line)
{
    ap__process *p = context;
    uint64_t pages[3];

    (void)device;
    ap__take_name(p, line);
    if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &pages[0], &pages[1], &pages[2]) == 3) {
        for (size_t i = 0; i < 3; i++) {
            p->pages[i] += pages[i];
        }
        p->samples++;
    }
    return 0;
}

static int ap__process_memory_rows(ap__csv *c, const ap__model *m, uint32_t device)
{
    return ap__process_rows(c, m, device, true, ap__take_process_memory);
}

int ap__csv_process_mem(ap__export *e, const ap__model *m)
{
    return ap__each_system(
        ap__csv_begin(e, "process_mem",
                      "Device_id,PID,Name,Size(pages),Resident(pages),Shared(pages)", 0),
        m, ap__process_memory_rows);
}
