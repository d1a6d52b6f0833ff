/* SPDX-License-Identifier: Apache-2.0 */
/* What memory and network of a device carried: hbm, nic, roce; and the machine's processors and its
 * operating system: host_cpu_usage, os_runtime_statistic. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bulk.h"
#include "tool/csv.h"
#include "tool/samples.h"
#include "tool/text_pool.h"

#define AP_MIB 1048576.0
#define AP_SPARE 1.25

/* ---- hbm ---- */

#define AP_MEMORIES 64u

typedef struct ap__memory {
    uint32_t id;
    uint64_t samples[2]; /* read, written; the first of each has no rate yet */
    double sum[2];
} ap__memory;

typedef struct ap__memories {
    ap__memory list[AP_MEMORIES];
    uint32_t count;
} ap__memories;

static int ap__take_hbm(void *context, const ap__sample *s)
{
    ap__memories *all = context;
    uint32_t i = 0;

    while (i < all->count && all->list[i].id != s->id) {
        i++;
    }
    if (i == AP_MEMORIES) {
        return 0;
    }
    if (i == all->count) {
        all->list[all->count++] = (ap__memory){.id = s->id};
    }
    all->list[i].sum[s->kind] += s->values[0] / AP_MIB;
    all->list[i].samples[s->kind]++;
    return 0;
}

static double ap__mean(double sum, uint64_t samples)
{
    return samples > 1 ? sum / (double)(samples - 1) : 0;
}

static void ap__hbm_rows(ap__csv *c, uint32_t device, const ap__memories *all)
{
    double mean[2] = {0, 0};

    for (uint32_t i = 0; i < all->count; i++) {
        for (int k = 0; k < 2; k++) {
            mean[k] += ap__mean(all->list[i].sum[k], all->list[i].samples[k]) / all->count;
        }
    }
    for (uint32_t i = 0; all->count != 0 && i <= all->count; i++) {
        const ap__memory *one = i != 0 ? &all->list[i - 1] : NULL;

        ap__csv_row(c);
        ap__csv_u64(c, device);
        if (one == NULL) {
            ap__csv_raw(c, "Average");
        } else {
            ap__csv_u64(c, one->id);
        }
        for (int k = 0; k < 2; k++) {
            ap__csv_round(c, one != NULL ? ap__mean(one->sum[k], one->samples[k]) : mean[k]);
        }
    }
}

int ap__csv_hbm(ap__export *e, const ap__model *m)
{
    ap__csv *c = ap__csv_begin(e, "hbm", "Device_id,Metric,Read(MB/s),Write(MB/s)", 0);
    int rc = c != NULL ? 0 : ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < m->device_count; i++) {
        ap__memories all = {.count = 0};

        rc = ap__samples_hbm(m, i, ap__take_hbm, &all);
        if (rc == 0) {
            ap__hbm_rows(c, m->devices[i].device, &all);
        }
    }
    return ap__csv_finish(c, rc);
}

/* ---- nic, roce ---- */

#define AP_PORTS 64u

typedef struct ap__port {
    uint32_t id;
    uint64_t samples;
    double sums[3]; /* bandwidth; bytes/s received, sent */
    double packets[2];
    ap__sample last; /* packets, errors and drops are counted on */
} ap__port;

typedef struct ap__ports {
    ap__port list[AP_PORTS];
    uint32_t count;
} ap__ports;

static int ap__take_port(void *context, const ap__sample *s)
{
    ap__ports *all = context;
    ap__port *p = all->list;

    while (p < all->list + all->count && p->id != s->id) {
        p++;
    }
    if (p == all->list + AP_PORTS) {
        return 0;
    }
    if (p == all->list + all->count) {
        *p = (ap__port){.id = s->id};
        all->count++;
    }
    p->sums[0] += s->values[0];
    p->sums[1] += s->values[2];
    p->sums[2] += s->values[8];
    p->packets[0] += s->values[1];
    p->packets[1] += s->values[7];
    p->last = *s;
    p->samples++;
    return 0;
}

static double ap__percent(double part, double whole)
{
    return whole > 0 ? 100.0 * part / whole : 0;
}

static void ap__port_row(ap__csv *c, uint32_t device, const ap__port *p)
{
    ap__csv_row(c);
    ap__csv_u64(c, device);
    ap__csv_time(c, p->last.ns);
    ap__csv_round(c, p->sums[0] / (double)p->samples);
    for (int i = 0; i < 2; i++) {
        const double *v = &p->last.values[1 + i * 6];

        ap__csv_round(c, ap__percent(p->sums[1 + i], p->sums[0] * AP_MIB));
        ap__csv_round(c, p->packets[i] / (double)p->samples);
        ap__csv_round(c, ap__percent(v[4], v[2]));
        ap__csv_round(c, ap__percent(v[5], v[2]));
    }
    ap__csv_u64(c, p->id);
}

/* One row a port: means of the rates, and what the counters have come to, at the last sample. */
static int ap__port_table(ap__export *e, const ap__model *m, const char *type,
                          int (*each)(const ap__model *, uint32_t, ap__sample_take, void *))
{
    ap__csv *c = ap__csv_begin(e, type,
                               "Device_id,Timestamp(us),Bandwidth(MB/s),Rx Bandwidth efficiency(%),"
                               "rxPacket/s,rxError rate(%),rxDropped rate(%),Tx Bandwidth "
                               "efficiency(%),txPacket/s,txError rate(%),txDropped rate(%),funcId",
                               0);
    ap__ports *all = calloc(1, sizeof(*all));
    int rc = c != NULL && all != NULL ? 0 : ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < m->device_count; i++) {
        all->count = 0;
        rc = each(m, i, ap__take_port, all);
        for (uint32_t k = 0; rc == 0 && k < all->count; k++) {
            ap__port_row(c, m->devices[i].device, &all->list[k]);
        }
    }
    free(all);
    return ap__csv_finish(c, rc);
}

int ap__csv_nic(ap__export *e, const ap__model *m)
{
    return ap__port_table(e, m, "nic", ap__samples_nic);
}

int ap__csv_roce(ap__export *e, const ap__model *m)
{
    return ap__port_table(e, m, "roce", ap__samples_roce);
}

/* ---- host_cpu_usage ---- */

#define AP_CORES 1024u

typedef struct ap__use {
    bool cores[AP_CORES];
    uint64_t ns;
    double now; /* percent of a core, of all that run at `ns` */
    double peak;
} ap__use;

static int ap__take_cpu(void *context, const ap__sample *s)
{
    ap__use *u = context;

    if (s->id >= AP_CORES) { /* the mean of all */
        return 0;
    }
    u->cores[s->id] |= s->values[0] > 0;
    u->now = s->ns == u->ns ? u->now + s->values[0] : s->values[0];
    u->ns = s->ns;
    u->peak = u->now > u->peak ? u->now : u->peak;
    return 0;
}

int ap__csv_host_cpu_usage(ap__export *e, const ap__model *m)
{
    ap__csv *c = ap__csv_begin(e, "host_cpu_usage",
                               "Device_id,Total Cpu Numbers,Occupied Cpu Numbers,Recommend Cpu "
                               "Numbers",
                               0);
    ap__use *u = calloc(1, sizeof(*u));
    uint32_t cores = 0;
    int rc = u != NULL ? ap__samples_host_cpu(m, ap__take_cpu, u) : ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < AP_CORES; i++) {
        cores += u->cores[i];
    }
    if (c != NULL && rc == 0 && u->ns != 0) {
        double wanted = ceil(u->peak / 100.0 * AP_SPARE);

        ap__csv_row(c);
        ap__csv_raw(c, "host");
        ap__csv_u64(c, ap__reader_meta(m->reader)->cpus);
        ap__csv_u64(c, cores);
        ap__csv_u64(c, wanted > 1 ? (uint64_t)wanted : 1);
    }
    free(u);
    return ap__csv_finish(c, rc);
}

/* ---- os_runtime_statistic ---- */

/* One call, or all of a thread's with one name. */
typedef struct ap__os_call {
    uint32_t pid;
    uint32_t tid;
    uint32_t name; /* in the pool */
    uint64_t ns;
    uint64_t count;
    uint64_t most;
    uint64_t least;
    const char *text; /* once the pool grows no more */
} ap__os_call;

typedef struct ap__os_calls {
    ap__text_pool *pool;
    ap__os_call *list;
    uint32_t count;
} ap__os_calls;

static int ap__take_os_call(void *context, const ap__sample *s)
{
    ap__os_calls *all = context;
    ap__os_call *call = ap__bulk_push((void **)&all->list, &all->count, sizeof(*call));
    uint64_t ns = s->end_ns - s->ns;

    if (call == NULL) {
        return ENOMEM;
    }
    *call = (ap__os_call){.pid = s->kind,
                          .tid = s->id,
                          .name = ap__text_pool_add(all->pool, s->name),
                          .ns = ns,
                          .count = 1,
                          .most = ns,
                          .least = ns};
    return call->name != UINT32_MAX ? 0 : ENOMEM;
}

static int ap__by_thread_and_name(const void *a, const void *b)
{
    const ap__os_call *x = a;
    const ap__os_call *y = b;

    return x->tid != y->tid ? (x->tid < y->tid ? -1 : 1) : strcmp(x->text, y->text);
}

static int ap__by_time(const void *a, const void *b)
{
    const ap__os_call *x = a;
    const ap__os_call *y = b;

    return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : ap__by_thread_and_name(a, b);
}

static int ap__group_os_calls(ap__os_calls *all, uint64_t *whole)
{
    uint32_t kept = 0;
    int rc = 0;

    for (uint32_t i = 0; i < all->count; i++) {
        all->list[i].text = all->pool->bytes + all->list[i].name;
        *whole += all->list[i].ns;
    }
    rc = ap__bulk_sort((void **)&all->list, all->count, sizeof(*all->list),
                       ap__by_thread_and_name);
    for (uint32_t i = 0; rc == 0 && i < all->count; i++) {
        ap__os_call *last = kept != 0 ? &all->list[kept - 1] : NULL;
        const ap__os_call *call = &all->list[i];

        if (last != NULL && ap__by_thread_and_name(last, call) == 0) {
            last->ns += call->ns;
            last->count++;
            last->most = call->most > last->most ? call->most : last->most;
            last->least = call->least < last->least ? call->least : last->least;
        } else {
            all->list[kept++] = *call;
        }
    }
    all->count = rc == 0 ? kept : all->count;
    return rc != 0 ? rc
                   : ap__bulk_sort((void **)&all->list, kept, sizeof(*all->list), ap__by_time);
}

int ap__csv_os_runtime_statistic(ap__export *e, const ap__model *m)
{
    ap__csv *c = ap__csv_begin(e, "os_runtime_statistic",
                               "Device_id,Process ID,Thread ID,Name,Time(%),Time(us),Count,Avg(us),"
                               "Max(us),Min(us)",
                               0);
    ap__os_calls all = {.pool = calloc(1, sizeof(*all.pool))};
    uint64_t whole = 0;
    int rc = all.pool != NULL ? ap__samples_os_calls(m, ap__take_os_call, &all) : ENOMEM;

    rc = rc != 0 ? rc : ap__group_os_calls(&all, &whole);
    for (uint32_t i = 0; c != NULL && rc == 0 && i < all.count; i++) {
        const ap__os_call *call = &all.list[i];

        ap__csv_row(c);
        ap__csv_raw(c, "host");
        ap__csv_u64(c, call->pid);
        ap__csv_u64(c, call->tid);
        ap__csv_text(c, call->text);
        ap__csv_round(c, whole != 0 ? (double)call->ns / (double)whole : 0); /* the vendor's % */
        ap__csv_round(c, (double)call->ns / 1000.0);
        ap__csv_u64(c, call->count);
        ap__csv_round(c, (double)call->ns / 1000.0 / (double)call->count);
        ap__csv_round(c, (double)call->most / 1000.0);
        ap__csv_round(c, (double)call->least / 1000.0);
    }
    ap__bulk_free(all.list);
    if (all.pool != NULL) {
        ap__text_pool_free(all.pool);
    }
    free(all.pool);
    return ap__csv_finish(c, rc);
}
