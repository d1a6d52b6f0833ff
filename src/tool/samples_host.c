/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/raw_files.h"
#include "tool/samples.h"

#define AP_THREADS 4096u
#define AP_CORES 1024u
#define AP_PAGE_KB 4.0 /* as the vendor's parser takes it */

static double ap__six(double value)
{
    return floor(value * 1e6 + 0.5) / 1e6;
}

/* ---- processors ---- */

typedef struct ap__busy_thread {
    uint32_t tid;
    uint32_t core;
    uint64_t ticks; /* so far */
    uint64_t last_ticks;
    uint64_t seen; /* number of the sample */
    uint64_t last_seen;
} ap__busy_thread;

typedef struct ap__cpu_walk {
    const ap__model *m;
    ap__sample_take take;
    void *context;
    uint64_t ns;
    uint64_t last_ns;
    uint64_t sample; /* 1 … */
    uint32_t count;
    ap__busy_thread threads[AP_THREADS];
    double use[AP_CORES];
    bool used[AP_CORES];
} ap__cpu_walk;

/* What ran since the sample before, at that one's time. */
static int ap__end_cpu_sample(ap__cpu_walk *w)
{
    const ap__meta *meta = ap__reader_meta(w->m->reader);
    double seconds = w->ns > w->last_ns ? (double)(w->ns - w->last_ns) / 1e9 : 0;
    double hz = meta->clock_ticks != 0 ? meta->clock_ticks : 100;
    ap__sample s = {.ns = ap__reader_wall_ns(w->m->reader, w->last_ns), .device = AP_HOST};
    double all = 0;
    int rc = 0;

    if (w->sample < 2 || seconds <= 0) {
        return 0;
    }
    memset(w->use, 0, sizeof(w->use));
    memset(w->used, 0, sizeof(w->used));
    for (uint32_t i = 0; i < w->count; i++) {
        const ap__busy_thread *t = &w->threads[i];

        if (t->seen == w->sample && t->last_seen == w->sample - 1 && t->ticks >= t->last_ticks &&
            t->core < AP_CORES) {
            w->use[t->core] += 100.0 * (double)(t->ticks - t->last_ticks) / hz / seconds;
            w->used[t->core] = true;
        }
    }
    for (uint32_t i = 0; rc == 0 && i < AP_CORES; i++) {
        if (w->used[i]) {
            all += w->use[i];
            s.id = i;
            s.values[0] = ap__six(w->use[i]);
            rc = w->take(w->context, &s);
        }
    }
    s.id = UINT32_MAX;
    s.values[0] = ap__six(all / (meta->cpus != 0 ? meta->cpus : 1));
    return rc != 0 ? rc : w->take(w->context, &s);
}

static void ap__take_thread(ap__cpu_walk *w, const char *line)
{
    const char *rest = strrchr(line, ')'); /* a name may have anything in it */
    uint32_t tid = (uint32_t)strtoul(line, NULL, 10);
    uint64_t user = 0;
    uint64_t system = 0;
    uint32_t core = 0;
    ap__busy_thread *t = w->threads;

    if (rest == NULL ||
        sscanf(rest + 1,
               " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %" SCNu64
               " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
               " %*s %*s %*s %" SCNu32,
               &user, &system, &core) != 3) {
        return;
    }
    while (t < w->threads + w->count && t->tid != tid) {
        t++;
    }
    if (t == w->threads + AP_THREADS) {
        return;
    }
    if (t == w->threads + w->count) {
        w->count++;
        *t = (ap__busy_thread){.tid = tid};
    }
    t->last_ticks = t->ticks;
    t->last_seen = t->seen;
    t->ticks = user + system;
    t->seen = w->sample;
    t->core = core;
}

static int ap__cpu_line(void *context, uint32_t device, char *line)
{
    ap__cpu_walk *w = context;
    uint64_t ns = 0;
    int rc = 0;

    (void)device;
    if (sscanf(line, "time %" SCNu64, &ns) == 1) {
        rc = ap__end_cpu_sample(w);
        w->last_ns = w->ns;
        w->ns = ns;
        w->sample++;
    } else if (w->sample != 0) {
        ap__take_thread(w, line);
    }
    return rc;
}

int ap__samples_host_cpu(const ap__model *m, ap__sample_take take, void *context)
{
    ap__cpu_walk *w = calloc(1, sizeof(*w));
    int rc = w != NULL ? 0 : ENOMEM;

    if (rc == 0) {
        w->m = m;
        w->take = take;
        w->context = context;
        rc = ap__each_line(m, AP_HOST, "host_cpu.data", ap__cpu_line, w);
        rc = rc != 0 ? rc : ap__end_cpu_sample(w);
    }
    free(w);
    return rc;
}

/* ---- memory, network, disk ---- */

typedef struct ap__walk {
    const ap__model *m;
    ap__sample_take take;
    void *context;
    uint64_t samples;
    uint64_t ns;
    uint64_t bytes;
    uint64_t last_ns;
    uint64_t last_bytes;
} ap__walk;

static int ap__memory_line(void *context, uint32_t device, char *line)
{
    ap__walk *w = context;
    ap__sample s = {.ns = ap__reader_wall_ns(w->m->reader, w->ns), .device = AP_HOST};
    double total = (double)ap__reader_meta(w->m->reader)->memory_kb;
    uint64_t ns = 0;
    uint64_t pages = 0;

    (void)device;
    if (sscanf(line, "%" SCNu64 " %*u %" SCNu64, &ns, &pages) != 2 || total == 0) {
        return 0;
    }
    w->ns = ns;
    s.values[0] = ap__six(100.0 * (double)pages * AP_PAGE_KB / total);
    return w->samples++ != 0 ? w->take(w->context, &s) : 0; /* at the time of the one before */
}

int ap__samples_host_memory(const ap__model *m, ap__sample_take take, void *context)
{
    ap__walk w = {.m = m, .take = take, .context = context};

    return ap__each_line(m, AP_HOST, "host_mem.data", ap__memory_line, &w);
}

static int ap__end_network_sample(ap__walk *w)
{
    double most = (double)ap__reader_meta(w->m->reader)->net_mbit * 1e6 / 8.0;
    ap__sample s = {.ns = ap__reader_wall_ns(w->m->reader, w->last_ns), .device = AP_HOST};
    int rc = 0;

    if (w->samples > 1 && w->ns > w->last_ns && w->bytes >= w->last_bytes) {
        s.values[1] = (double)(w->bytes - w->last_bytes) * 1e9 / (double)(w->ns - w->last_ns);
        s.values[0] = most > 0 ? ap__six(100.0 * s.values[1] / most) : 0;
        rc = w->take(w->context, &s);
    }
    w->last_ns = w->ns;
    w->last_bytes = w->bytes;
    w->bytes = 0;
    return rc;
}

static int ap__network_line(void *context, uint32_t device, char *line)
{
    ap__walk *w = context;
    const char *colon = strchr(line, ':');
    uint64_t ns = 0;
    uint64_t in = 0;
    uint64_t out = 0;
    int rc = 0;

    (void)device;
    if (sscanf(line, "time %" SCNu64, &ns) == 1) {
        rc = ap__end_network_sample(w);
        w->ns = ns;
        w->samples++;
    } else if (colon != NULL &&
               sscanf(colon + 1, "%" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &in, &out) ==
                   2) {
        w->bytes += in + out;
    }
    return rc;
}

int ap__samples_host_network(const ap__model *m, ap__sample_take take, void *context)
{
    ap__walk w = {.m = m, .take = take, .context = context};
    int rc = ap__each_line(m, AP_HOST, "host_network.data", ap__network_line, &w);

    return rc != 0 ? rc : ap__end_network_sample(&w);
}

/* The lines have no time that tells more than seconds: they come at the rate that was asked for. */
static int ap__disk_line(void *context, uint32_t device, char *line)
{
    ap__walk *w = context;
    uint32_t hz = ap__reader_meta(w->m->reader)->disk_hz;
    ap__sample s = {.device = AP_HOST};
    double rates[3] = {0, 0, 0};

    (void)device;
    if (sscanf(line, "start_time %" SCNu64, &w->ns) == 1) {
        return 0;
    }
    if (sscanf(line, "%*u:%*u:%*u %*u %*s %*s %lf K/s %lf K/s %*f %% %lf %%", &rates[1], &rates[2],
               &rates[0]) != 3) {
        return 0;
    }
    s.ns = ap__reader_wall_ns(w->m->reader,
                              w->ns + w->samples++ * (1000000000u / (hz != 0 ? hz : 50u)));
    for (int i = 0; i < 3; i++) {
        s.values[i] = isfinite(rates[i]) ? rates[i] : 0;
    }
    return w->take(w->context, &s);
}

int ap__samples_host_disk(const ap__model *m, ap__sample_take take, void *context)
{
    ap__walk w = {.m = m, .take = take, .context = context};

    return ap__each_line(m, AP_HOST, "host_disk.data", ap__disk_line, &w);
}

/* ---- the operating system's calls ---- */

/* Times of these two files are the tracer's own: its first line is taken for the start. */
static int ap__give_call(ap__walk *w, double ns, double lasted_ns, ap__sample *s)
{
    const ap__meta *meta = ap__reader_meta(w->m->reader);

    if (!(ns >= 0 && ns < 9e18 && lasted_ns >= 0 && lasted_ns < 9e18)) {
        return 0;
    }
    if (w->samples++ == 0) {
        w->ns = (uint64_t)ns;
    }
    if ((uint64_t)ns < w->ns) {
        return 0;
    }
    s->device = AP_HOST;
    s->ns = meta->begin_wall_us * 1000 + ((uint64_t)ns - w->ns);
    s->end_ns = s->ns + (uint64_t)(lasted_ns + 0.5);
    return w->take(w->context, s);
}

/* "1000.000 ( 0.250 ms): demo/4243 ioctl(fd: 3) = 0" */
static int ap__syscall_line(void *context, uint32_t device, char *line)
{
    ap__walk *w = context;
    ap__sample s = {.kind = ap__reader_meta(w->m->reader)->pid};
    char *call = strstr(line, "ms): ");
    char *name = NULL;
    char *end = NULL;
    double at = 0;
    double lasted = 0;

    (void)device;
    if (call == NULL || sscanf(line, "%lf ( %lf", &at, &lasted) != 2 ||
        (call = strchr(call + 5, '/')) == NULL) {
        return 0;
    }
    s.id = (uint32_t)strtoul(call + 1, &name, 10);
    name += strspn(name, " ");
    end = strchr(name, '(');
    if (end == NULL || end == name) {
        return 0;
    }
    *end = '\0';
    s.name = name;
    return ap__give_call(w, floor(at * 1e6 + 0.5), lasted * 1e6, &s);
}

/* "[pid 4243] 2000.000000 demo->pthread_mutex_lock(0x1, 2) = 0 <0.000250>" */
static int ap__pthread_line(void *context, uint32_t device, char *line)
{
    ap__walk *w = context;
    ap__sample s = {.kind = ap__reader_meta(w->m->reader)->pid};
    char *name = strstr(line, "->");
    char *lasted = strrchr(line, '<');
    char *end = NULL;
    double at = 0;

    (void)device;
    if (name == NULL || lasted == NULL || sscanf(line, "[pid %" SCNu32 "] %lf", &s.id, &at) != 2) {
        return 0;
    }
    name += 2;
    end = strchr(name, '(');
    if (end == NULL || end == name) {
        return 0;
    }
    *end = '\0';
    s.name = name;
    return ap__give_call(w, floor(at * 1e9 + 0.5), strtod(lasted + 1, NULL) * 1e9, &s);
}

int ap__samples_os_calls(const ap__model *m, ap__sample_take take, void *context)
{
    ap__walk w = {.m = m, .take = take, .context = context};
    int rc = ap__each_line(m, AP_HOST, "host_pthreadcall.data", ap__pthread_line, &w);

    w.samples = 0;
    return rc != 0 ? rc : ap__each_line(m, AP_HOST, "host_syscall.data", ap__syscall_line, &w);
}
