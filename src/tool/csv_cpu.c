/* SPDX-License-Identifier: Apache-2.0 */
/* What the device's own processors did, sampled: {ai,ctrl,ts}_cpu_pmu_events and
 * {ai,ctrl,ts}_cpu_top_function. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bulk.h"
#include "analysis/stats.h"
#include "tool/csv.h"
#include "tool/raw_files.h"

#define AP_EVENTS 64u
#define AP_CYCLES 0x11u
#define AP_TS_BYTES 304u
#define AP_TS_MAGIC 0xABABABABu
#define AP_TS_COUNTERS 7u

typedef struct ap__event_sum {
    uint64_t event;
    uint64_t count;
} ap__event_sum;

typedef struct ap__function {
    uint64_t pc; /* of the task scheduler's: its only name */
    uint64_t cycles;
    char name[128];
    char module[128];
} ap__function;

typedef struct ap__cpu {
    const char *cores; /* "2,3,4": whose samples count */
    ap__event_sum events[AP_EVENTS];
    uint32_t event_count;
    ap__stats sums; /* of functions */
    ap__function *functions;
    uint32_t function_count;
    uint64_t cycles; /* of all functions */
    /* the sample that is being read */
    bool wanted;
    bool named; /* its top function has been seen */
    uint64_t event;
    uint64_t count;
} ap__cpu;

static void ap__add_event(ap__cpu *c, uint64_t event, uint64_t count)
{
    uint32_t i = 0;

    while (i < c->event_count && c->events[i].event != event) {
        i++;
    }
    if (i == c->event_count && i < AP_EVENTS) {
        c->events[c->event_count++] = (ap__event_sum){event, 0};
    }
    if (i < AP_EVENTS) {
        c->events[i].count += count;
    }
}

static uint64_t ap__hash(const char *text)
{
    uint64_t hash = 14695981039346656037ull;

    for (const char *p = text; *p != '\0'; p++) {
        hash = (hash ^ (unsigned char)*p) * 1099511628211ull;
    }
    return hash;
}

static int ap__add_function(ap__cpu *c, const ap__function *f)
{
    const uint64_t key[3] = {f->pc, ap__hash(f->name), ap__hash(f->module)};
    int rc = ap__stats_add(&c->sums, key, f->cycles);

    c->cycles += f->cycles;
    if (rc == 0 && c->sums.count != c->function_count) { /* a new one: its names, at the same place */
        ap__function *n =
            ap__bulk_push((void **)&c->functions, &c->function_count, sizeof(*c->functions));

        if (n == NULL) {
            return ENOMEM;
        }
        *n = *f;
    }
    return rc;
}

/* ---- the control and the AI CPU: text of perf ---- */

static bool ap__is_core(const char *list, unsigned core)
{
    char *end = NULL;

    for (const char *p = list; *p >= '0' && *p <= '9'; p = *end == ',' ? end + 1 : end) {
        if (strtoul(p, &end, 10) == core) {
            return true;
        }
    }
    return false;
}

/* "demo  100/100   [000]  10.000000:       1000 r11:" */
static bool ap__is_sample(ap__cpu *c, const char *line)
{
    const char *core = strstr(line, " [");
    const char *rest = core != NULL ? strchr(core, ']') : NULL;
    unsigned number = 0;

    if (rest == NULL || sscanf(core, " [%u]", &number) != 1 ||
        sscanf(rest + 1, " %*[0-9.]: %" SCNu64 " r%" SCNx64, &c->count, &c->event) != 2) {
        return false;
    }
    c->wanted = ap__is_core(c->cores, number);
    c->named = false;
    return true;
}

/* "	 ffff000000 func_0+0x10 (/lib/libx.so)" */
static int ap__top_frame(ap__cpu *c, const char *line)
{
    ap__function f = {.cycles = c->count};
    const char *open = strrchr(line, '(');
    char *offset = NULL;

    c->named = true;
    if (sscanf(line, " %*x %127[^ \n]", f.name) != 1) {
        return 0;
    }
    offset = strrchr(f.name, '+');
    if (offset != NULL) {
        *offset = '\0';
    }
    if (open != NULL) {
        (void)snprintf(f.module, sizeof(f.module), "%.*s", (int)strcspn(open + 1, ")"), open + 1);
    }
    return ap__add_function(c, &f);
}

static int ap__perf_line(void *context, uint32_t device, char *line)
{
    ap__cpu *c = context;

    (void)device;
    if (ap__is_sample(c, line)) {
        if (c->wanted) {
            ap__add_event(c, c->event, c->count);
        }
        return 0;
    }
    if (c->wanted && !c->named && (line[0] == '\t' || line[0] == ' ')) {
        c->named = true;
        return c->event == AP_CYCLES ? ap__top_frame(c, line) : 0;
    }
    return 0;
}

/* ---- the task scheduler ---- */

static int ap__ts_record(void *context, uint32_t device, ap__blob record)
{
    ap__cpu *c = context;
    ap__function f = {.pc = ap__blob_u64(record, 176)};
    bool cycles = false;

    (void)device;
    if (ap__blob_u32(record, 0) != AP_TS_MAGIC) {
        return 0;
    }
    for (uint32_t i = 0; i < AP_TS_COUNTERS; i++) {
        uint64_t event = ap__blob_u64(record, 192 + i * 16u);
        uint64_t count = ap__blob_u64(record, 200 + i * 16u);

        if (event != 0) {
            ap__add_event(c, event, count);
        }
        if (event == AP_CYCLES) {
            f.cycles = count;
            cycles = true;
        }
    }
    (void)snprintf(f.name, sizeof(f.name), "0x%" PRIx64, f.pc);
    return cycles ? ap__add_function(c, &f) : 0;
}

/* ---- tables ---- */

enum { AP_AI, AP_CTRL, AP_TS };

/* Arm's common events. */
static const char *ap__event_name(uint64_t event)
{
    static const char *const names[] = {
        [0x00] = "Sw_incr",           [0x01] = "L1i_cache_refill", [0x02] = "L1i_tlb_refill",
        [0x03] = "L1d_cache_refill",  [0x04] = "L1d_cache",        [0x05] = "L1d_tlb_refill",
        [0x08] = "Inst_retired",      [0x09] = "Exc_taken",        [0x0A] = "Exc_return",
        [0x0B] = "Cid_write_retired", [0x10] = "Br_mis_pred",      [0x11] = "Cpu_cycles",
        [0x12] = "Br_pred",           [0x13] = "Mem_access",       [0x14] = "L1i_cache",
        [0x15] = "L1d_cache_wb",      [0x16] = "L2d_cache",        [0x17] = "L2d_cache_refill",
        [0x18] = "L2d_cache_wb",      [0x19] = "Bus_access",       [0x1A] = "Memory_error",
        [0x1B] = "Inst_spec",         [0x1C] = "Ttbr_write_retired", [0x1D] = "Bus_cycles"};

    return event < sizeof(names) / sizeof(names[0]) && names[event] != NULL ? names[event] : "N/A";
}

static int ap__by_event(const void *a, const void *b)
{
    const ap__event_sum *x = a;
    const ap__event_sum *y = b;

    return x->event < y->event ? -1 : x->event > y->event;
}

static int ap__by_cycles(const void *a, const void *b)
{
    const ap__function *x = a;
    const ap__function *y = b;

    return x->cycles != y->cycles ? (x->cycles > y->cycles ? -1 : 1) : strcmp(x->name, y->name);
}

static void ap__event_rows(ap__csv *csv, uint32_t device, const ap__cpu *c)
{
    for (uint32_t i = 0; i < c->event_count; i++) {
        char text[24];

        (void)snprintf(text, sizeof(text), "0x%" PRIx64, c->events[i].event);
        ap__csv_row(csv);
        ap__csv_u64(csv, device);
        ap__csv_raw(csv, text);
        ap__csv_raw(csv, ap__event_name(c->events[i].event));
        ap__csv_u64(csv, c->events[i].count);
    }
}

static void ap__function_rows(ap__csv *csv, uint32_t device, const ap__cpu *c, bool module)
{
    for (uint32_t i = 0; i < c->function_count; i++) {
        const ap__function *f = &c->functions[i];

        ap__csv_row(csv);
        ap__csv_u64(csv, device);
        ap__csv_text(csv, f->name);
        if (module) {
            ap__csv_text(csv, f->module[0] != '\0' ? f->module : NULL);
        }
        ap__csv_u64(csv, f->cycles);
        ap__csv_round(csv, 100.0 * (double)f->cycles / (double)(c->cycles != 0 ? c->cycles : 1));
    }
}

static int ap__read(const ap__model *m, uint32_t device, int which, ap__cpu *c)
{
    const ap__device_view *view = &m->devices[device];
    int rc = 0;

    c->cores = which == AP_AI ? view->ai_cpu : view->ctrl_cpu;
    rc = which == AP_TS ? ap__each_record(m, device, "tscpu.data", AP_TS_BYTES, ap__ts_record, c)
                        : ap__each_line(m, device, "ai_ctrl_cpu.data", ap__perf_line, c);
    if (which == AP_TS) {
        qsort(c->events, c->event_count, sizeof(c->events[0]), ap__by_event);
    }
    for (uint32_t i = 0; rc == 0 && i < c->function_count; i++) {
        c->functions[i].cycles = c->sums.list[i].total_ns;
    }
    return rc != 0 ? rc
                   : ap__bulk_sort((void **)&c->functions, c->function_count,
                                   sizeof(*c->functions), ap__by_cycles);
}

static int ap__table(ap__export *e, const ap__model *m, const char *type, int which, bool functions)
{
    const char *header = !functions      ? "Device_id,Event,Name,Count"
                         : which == AP_TS ? "Device_id,Function,Cycles,Cycles(%)"
                                          : "Device_id,Function,Module,Cycles,Cycles(%)";
    ap__csv *csv = ap__csv_begin(e, type, header, 0);
    int rc = csv != NULL ? 0 : ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < m->device_count; i++) {
        ap__cpu c = {.event_count = 0};

        rc = ap__read(m, i, which, &c);
        if (rc == 0 && functions) {
            ap__function_rows(csv, m->devices[i].device, &c, which != AP_TS);
        } else if (rc == 0) {
            ap__event_rows(csv, m->devices[i].device, &c);
        }
        ap__bulk_free(c.functions);
        ap__stats_free(&c.sums);
    }
    return ap__csv_finish(csv, rc);
}

int ap__csv_cpu_tables(ap__export *e, const ap__model *m)
{
    static const char *const names[3] = {"ai", "ctrl", "ts"};
    int first = 0;

    for (int which = AP_AI; which <= AP_TS; which++) {
        for (int functions = 0; functions < 2; functions++) {
            char type[40];
            int rc = 0;

            (void)snprintf(type, sizeof(type), "%s_cpu_%s", names[which],
                           functions ? "top_function" : "pmu_events");
            rc = ap__table(e, m, type, which, functions != 0);
            first = first != 0 ? first : rc;
        }
    }
    return first;
}
