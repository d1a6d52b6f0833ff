/* SPDX-License-Identifier: Apache-2.0 */
/* `aclprof summary`: operators, calls and stamps by what they took; devices; losses and cost. */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/bulk.h"
#include "analysis/model.h"
#include "format/wire_host.h"
#include "tool/text_pool.h"
#include "tool/verbs.h"

typedef struct ap__view {
    uint32_t limit;      /* rows of a table; 0: all */
    const char *pattern; /* of names; NULL: any */
    int sort;            /* column: 't'otal, 'c'ount, 'a'verage, 'm'aximum, 'n'ame */
    int format;          /* 't'able, 'c'sv, 'j'son */
    bool first_row;
    bool colour;
    const char *domain; /* of stamps; NULL: any */
    int64_t tid;        /* of calls and stamps; -1: any */
    int64_t device;     /* of tasks; -1: any */
    uint64_t from_ns;   /* the window, since the capture began */
    uint64_t to_ns;
    uint64_t least_ns; /* durations */
    uint64_t most_ns;
    uint64_t begin_ns; /* wall clock at the capture's begin */
    ap__text_pool *pool;
} ap__view;

typedef struct ap__sample {
    uint32_t name;  /* in the pool; as long as they are added */
    uint32_t order; /* of the name among all */
    uint64_t ns;
} ap__sample;

typedef struct ap__group {
    const char *name;
    uint64_t count;
    uint64_t total;
    uint64_t least;
    uint64_t median;
    uint64_t p90;
    uint64_t p99;
    uint64_t most;
} ap__group;

/* ---- groups of samples ---- */

static int ap__by_name_and_ns(const void *a, const void *b)
{
    const ap__sample *x = a;
    const ap__sample *y = b;

    if (x->order != y->order) {
        return x->order < y->order ? -1 : 1;
    }
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* The least of `count` that `percent` of them do not exceed. */
static uint64_t ap__percentile(const ap__sample *samples, uint64_t count, uint64_t percent)
{
    return samples[(count * percent + 99) / 100 - 1].ns;
}

/* The samples of one name, by duration. */
static ap__group ap__group_of(const ap__sample *samples, uint32_t count, const char *name)
{
    ap__group g = {.name = name,
                   .count = count,
                   .least = samples[0].ns,
                   .median = ap__percentile(samples, count, 50),
                   .p90 = ap__percentile(samples, count, 90),
                   .p99 = ap__percentile(samples, count, 99),
                   .most = samples[count - 1].ns};

    for (uint32_t i = 0; i < count; i++) {
        g.total += samples[i].ns;
    }
    return g;
}

static int ap__group_all(ap__sample *samples, uint32_t count, const ap__text_pool *pool,
                         ap__group **groups, uint32_t *n)
{
    uint32_t first = 0;

    for (uint32_t i = 1; count != 0 && i <= count; i++) {
        ap__group *g = NULL;

        if (i < count && samples[i].order == samples[first].order) {
            continue;
        }
        g = ap__bulk_push((void **)groups, n, sizeof(*g));
        if (g == NULL) {
            return ENOMEM;
        }
        *g = ap__group_of(&samples[first], i - first, pool->bytes + samples[first].name);
        first = i;
    }
    return 0;
}

static int ap__sort_key;

static int ap__group_order(const void *a, const void *b)
{
    const ap__group *x = a;
    const ap__group *y = b;
    double left = 0;
    double right = 0;

    switch (ap__sort_key) {
    case 'c':
        left = (double)x->count;
        right = (double)y->count;
        break;
    case 'a':
        left = (double)x->total / (double)x->count;
        right = (double)y->total / (double)y->count;
        break;
    case 'm':
        left = (double)x->most;
        right = (double)y->most;
        break;
    case 'n':
        break;
    default:
        left = (double)x->total;
        right = (double)y->total;
    }
    return left != right ? (left > right ? -1 : 1) : strcmp(x->name, y->name);
}

/* ---- samples ---- */

typedef struct ap__samples {
    ap__sample *list;
    uint32_t count;
    uint32_t *slots; /* of a hash: a sample with the name + 1 */
    uint32_t slot_count;
    uint32_t names;
} ap__samples;

static void ap__samples_free(ap__samples *s)
{
    ap__bulk_free(s->list);
    ap__bulk_free(s->slots);
    memset(s, 0, sizeof(*s));
}

static uint32_t *ap__slot(const ap__samples *s, const ap__text_pool *pool, const char *name)
{
    uint32_t hash = 2166136261u;
    uint32_t at = 0;

    for (const char *p = name; *p != '\0'; p++) {
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    }
    for (at = (hash ^ hash >> 15) & (s->slot_count - 1); s->slots[at] != 0;
         at = (at + 1) & (s->slot_count - 1)) {
        if (strcmp(pool->bytes + s->list[s->slots[at] - 1].name, name) == 0) {
            break;
        }
    }
    return &s->slots[at];
}

static int ap__more_slots(ap__samples *s, const ap__text_pool *pool)
{
    uint32_t *old = s->slots;
    uint32_t old_count = s->slot_count;

    s->slot_count = old_count == 0 ? 1024 : old_count * 2;
    s->slots = ap__bulk_make(s->slot_count, sizeof(*s->slots));
    if (s->slots == NULL) {
        s->slots = old;
        s->slot_count = old_count;
        return ENOMEM;
    }
    for (uint32_t i = 0; i < old_count; i++) {
        if (old[i] != 0) {
            *ap__slot(s, pool, pool->bytes + s->list[old[i] - 1].name) = old[i];
        }
    }
    ap__bulk_free(old);
    return 0;
}

static int ap__samples_add(ap__samples *s, ap__text_pool *pool, const char *name, uint64_t ns)
{
    ap__sample *x = NULL;
    uint32_t *slot = NULL;

    if (s->names >= s->slot_count / 2 && ap__more_slots(s, pool) != 0) {
        return ENOMEM;
    }
    slot = ap__slot(s, pool, name);
    x = ap__bulk_push((void **)&s->list, &s->count, sizeof(*x));
    if (x == NULL) {
        return ENOMEM;
    }
    if (*slot != 0) {
        *x = s->list[*slot - 1];
    } else {
        *x = (ap__sample){.name = ap__text_pool_add(pool, name), .order = s->names++};
        *slot = s->count;
    }
    x->ns = ns;
    return x->name != UINT32_MAX ? 0 : ENOMEM;
}

/* ---- tables ---- */

static void ap__json_string(const char *text)
{
    putchar('"');
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\') {
            printf("\\%c", *p);
        } else if (*p < 0x20) {
            printf("\\u%04x", *p);
        } else {
            putchar(*p);
        }
    }
    putchar('"');
}

static void ap__csv_string(const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (const char *p = text; *p != '\0'; p++) {
        fputs(*p == '"' ? "\"\"" : (char[]){*p, '\0'}, stdout);
    }
    putchar('"');
}

/* What a terminal would act on is shown as a question mark. */
static void ap__plain(const char *text, int width)
{
    int used = 0;

    for (const unsigned char *p = (const unsigned char *)text; *p != '\0' && used < width; p++) {
        putchar(*p < 0x20 || *p == 0x7F ? '?' : *p);
        used += (*p & 0xC0) != 0x80;
    }
    for (; used < width; used++) {
        putchar(' ');
    }
}

static void ap__row(ap__view *v, const char *table, const ap__group *g, uint64_t all)
{
    double average = (double)g->total / (double)g->count / 1000.0;

    if (v->format == 'c') {
        printf("%s,", table);
        ap__csv_string(g->name);
        printf(",%" PRIu64 ",%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f\n", g->count,
               (double)g->total / 1000.0, average, (double)g->least / 1000.0,
               (double)g->median / 1000.0, (double)g->p90 / 1000.0, (double)g->p99 / 1000.0,
               (double)g->most / 1000.0);
    } else if (v->format == 'j') {
        printf("%s{\"table\":\"%s\",\"name\":", v->first_row ? "" : ",\n", table);
        ap__json_string(g->name);
        printf(",\"count\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"min_ns\":%" PRIu64
               ",\"median_ns\":%" PRIu64 ",\"p90_ns\":%" PRIu64 ",\"p99_ns\":%" PRIu64
               ",\"max_ns\":%" PRIu64 "}",
               g->count, g->total, g->least, g->median, g->p90, g->p99, g->most);
        v->first_row = false;
    } else {
        printf("  ");
        ap__plain(g->name, 36);
        printf(" %9" PRIu64 " %12.3f %11.3f %10.3f %10.3f %10.3f %11.3f %11.3f %5.1f %%\n",
               g->count, (double)g->total / 1e6, average, (double)g->least / 1000.0,
               (double)g->median / 1000.0, (double)g->p90 / 1000.0, (double)g->p99 / 1000.0,
               (double)g->most / 1000.0, all != 0 ? 100.0 * (double)g->total / (double)all : 0.0);
    }
}

static void ap__title(const ap__view *v, const char *title)
{
    printf("\n%s%-38s %9s %12s %11s %10s %10s %10s %11s %11s  share%s\n",
           v->colour ? "\033[1m" : "", title, "count", "total ms", "avg µs ", "min µs ",
           "median µs ", "p90 µs ", "p99 µs ", "max µs ", v->colour ? "\033[0m" : "");
}

static int ap__table(ap__view *v, const char *title, const char *table, ap__samples *s)
{
    ap__group *groups = NULL;
    uint64_t all = 0;
    uint32_t n = 0;
    int rc = ap__bulk_sort((void **)&s->list, s->count, sizeof(*s->list), ap__by_name_and_ns);

    ap__sort_key = v->sort;
    rc = rc != 0 ? rc : ap__group_all(s->list, s->count, v->pool, &groups, &n);
    rc = rc != 0 ? rc : ap__bulk_sort((void **)&groups, n, sizeof(*groups), ap__group_order);
    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        all += groups[i].total;
    }
    if (rc == 0 && n != 0 && v->format == 't') {
        ap__title(v, title);
    }
    for (uint32_t i = 0; rc == 0 && i < n && (v->limit == 0 || i < v->limit); i++) {
        ap__row(v, table, &groups[i], all);
    }
    if (rc == 0 && v->format == 't' && v->limit != 0 && n > v->limit) {
        printf("  … %" PRIu32 " more (--limit 0 shows all)\n", n - v->limit);
    }
    ap__bulk_free(groups);
    ap__samples_free(s);
    return rc;
}

/* start_ns: wall clock. */
static bool ap__wanted(const ap__view *v, const char *name, uint64_t start_ns, uint64_t ns)
{
    uint64_t at = start_ns > v->begin_ns ? start_ns - v->begin_ns : 0;

    return (v->pattern == NULL || fnmatch(v->pattern, name, 0) == 0) && ns >= v->least_ns &&
           ns <= v->most_ns && at >= v->from_ns && at <= v->to_ns;
}

static int ap__add(const ap__view *v, ap__samples *list, const char *name, uint64_t start_ns,
                   uint64_t ns)
{
    return ap__wanted(v, name, start_ns, ns) ? ap__samples_add(list, v->pool, name, ns) : 0;
}

static int ap__operators(ap__view *v, const ap__model *m)
{
    ap__samples list = {.count = 0};
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < m->task_count; i++) {
        const ap__task *t = &m->tasks[i];
        const char *name = ap__task_name(m, t);

        if (v->device < 0 || v->device == m->devices[t->device].device) {
            rc = ap__add(v, &list, name != NULL ? name : ap__task_type(m, t), t->start_ns,
                         t->end_ns - t->start_ns);
        }
    }
    return rc != 0 ? rc : ap__table(v, "DEVICE TASKS", "tasks", &list);
}

static int ap__calls(ap__view *v, const ap__model *m)
{
    ap__samples list = {.count = 0};
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < m->call_count; i++) {
        const ap__api_call *call = &m->calls[i];
        char number[16];
        char name[300];

        if (v->tid >= 0 && v->tid != call->tid) {
            continue;
        }
        (void)snprintf(name, sizeof(name), "%s: %s", ap__level_name(call->level),
                       ap__call_name(m, call, number));
        rc = ap__add(v, &list, name, call->start_ns, call->end_ns - call->start_ns);
    }
    return rc != 0 ? rc : ap__table(v, "API CALLS", "calls", &list);
}

static int ap__stamps(ap__view *v, ap__reader *reader)
{
    ap__samples list = {.count = 0};
    uint64_t marks = 0;
    ap__stamp_record s;
    int rc = 0;

    ap__reader_rewind(reader);
    while (rc == 0 && ap__reader_next_stamp(reader, &s)) {
        const char *domain = s.domain_name != NULL ? s.domain_name : "default";

        if ((v->tid >= 0 && v->tid != s.tid) ||
            (v->domain != NULL && strcmp(v->domain, domain) != 0)) {
            continue;
        }
        if (s.event == AP_TX_PUSH_POP || s.event == AP_TX_RANGE) {
            rc = ap__add(v, &list, s.message, ap__reader_wall_ns(reader, s.start_ns),
                         s.end_ns - s.start_ns);
        } else {
            marks += ap__wanted(v, s.message, ap__reader_wall_ns(reader, s.start_ns), 0);
        }
    }
    rc = rc != 0 ? rc : ap__table(v, "RANGES", "ranges", &list);
    if (rc == 0 && marks != 0 && v->format == 't') {
        printf("\n%" PRIu64 " marks\n", marks);
    }
    return rc;
}

/* ---- devices, losses ---- */

static void ap__device_line(ap__view *v, const ap__model *m, uint32_t device)
{
    uint64_t first = 0;
    uint64_t last = 0;
    uint64_t busy = 0;
    uint64_t longest = 0;
    uint64_t tasks = 0;

    for (uint32_t i = 0; i < m->task_count; i++) {
        const ap__task *t = &m->tasks[i];

        ap__bulk_step();
        if (t->device != device) {
            continue;
        }
        if (tasks++ == 0) {
            first = last = t->start_ns;
        }
        if (t->start_ns > last && t->start_ns - last > longest) {
            longest = t->start_ns - last;
        }
        if (t->end_ns > last) { /* tasks are by start: the union grows at its end only */
            busy += t->end_ns - (t->start_ns > last ? t->start_ns : last);
            last = t->end_ns;
        }
    }
    if (v->format == 'j') {
        printf("%s{\"table\":\"devices\",\"device\":%" PRIu32 ",\"simulated\":%s,\"tasks\":%" PRIu64
               ",\"span_ns\":%" PRIu64 ",\"busy_ns\":%" PRIu64 ",\"longest_gap_ns\":%" PRIu64 "}",
               v->first_row ? "" : ",\n", m->devices[device].device,
               m->devices[device].simulated ? "true" : "false", tasks, last - first, busy, longest);
        v->first_row = false;
        return;
    }
    printf("device %" PRIu32 "%s: %" PRIu64 " tasks", m->devices[device].device,
           m->devices[device].simulated ? " (simulated)" : "", tasks);
    if (last > first) {
        printf(" in %.3f ms, %.1f %% busy, longest gap %.3f ms", (double)(last - first) / 1e6,
               100.0 * (double)busy / (double)(last - first), (double)longest / 1e6);
    }
    printf("\n");
}

static void ap__losses(const ap__view *v, const ap__reader *reader)
{
    const ap__reader_account *a = ap__reader_account_of(reader);

    if (a == NULL) {
        return;
    }
    if (v->format == 'j') {
        printf("%s{\"table\":\"account\",\"emitted\":%" PRIu64 ",\"written\":%" PRIu64
               ",\"lost\":%" PRIu64 ",\"call_ns\":%" PRIu64 ",\"writer_cpu_ns\":%" PRIu64 "}",
               v->first_row ? "" : ",\n", a->total.emitted, a->total.written, a->total.lostTotal,
               a->total.callNs, a->total.writerCpuNs);
        return;
    }
    printf("\nrecords: %" PRIu64 " emitted = %" PRIu64 " written + %" PRIu64
           " lost (ring full %" PRIu64 ", no ring %" PRIu64 ", in signal handler %" PRIu64
           ", disk %" PRIu64 ", storage limit %" PRIu64 ", damaged %" PRIu64 ")\n"
           "cost: calls about %.3f ms, writer %.3f ms of CPU\n",
           a->total.emitted, a->total.written, a->total.lostTotal, a->total.lostRingFull,
           a->total.lostNoRing, a->total.lostReentrant, a->total.lostDisk, a->total.lostAged,
           a->total.lostDamaged, (double)a->total.callNs / 1e6, (double)a->total.writerCpuNs / 1e6);
}

static int ap__show(ap__view *v, ap__reader *reader)
{
    static const char *const states[] = {"", " (recovered)", " (unfinished)", " (still running)"};
    ap__model model;
    int rc = ap__model_load(&model, reader);

    if (rc != 0) {
        return rc;
    }
    v->begin_ns = ap__reader_meta(reader)->begin_wall_us * 1000;
    v->pool = calloc(1, sizeof(*v->pool));
    rc = v->pool != NULL ? 0 : ENOMEM;
    if (rc != 0) {
        goto out;
    }
    if (v->format == 't') {
        const ap__meta *meta = ap__reader_meta(reader);

        printf("%s%s\nprocess %" PRIu32 " %s on %s\n", ap__reader_path(reader),
               states[ap__reader_state_of(reader)], meta->pid, meta->process_name, meta->host_name);
    } else if (v->format == 'c') {
        printf("table,name,count,total(us),avg(us),min(us),median(us),p90(us),p99(us),max(us)\n");
    } else {
        printf("[");
    }
    for (uint32_t i = 0; v->format != 'c' && i < model.device_count; i++) {
        if (v->device < 0 || v->device == model.devices[i].device) {
            ap__device_line(v, &model, i);
        }
    }
    rc = ap__operators(v, &model);
    rc = rc != 0 ? rc : ap__calls(v, &model);
    rc = rc != 0 ? rc : ap__stamps(v, reader);
    if (v->format != 'c') {
        ap__losses(v, reader);
    }
    if (v->format == 'j') {
        printf("]\n");
    }
    ap__text_pool_free(v->pool);
out:
    free(v->pool);
    ap__model_free(&model);
    return rc;
}

static void ap__usage(FILE *out)
{
    fprintf(out, "Usage: aclprof summary [options] PROF_DIR\n\n"
                 "  --limit N        rows of each table (default 15, 0: all)\n"
                 "  --sort KEY       total (default), count, average, max or name\n"
                 "  --name PATTERN   only names like this (shell pattern)\n"
                 "  --thread TID     only calls and stamps of this thread\n"
                 "  --domain NAME    only stamps of this domain\n"
                 "  --device N       only tasks of this device\n"
                 "  --from MS        only what begins so long after the capture's begin, or later\n"
                 "  --to MS          … or earlier\n"
                 "  --min US         only what takes so long, or longer\n"
                 "  --max US         … or shorter\n"
                 "  --format F       table (default), csv or json\n"
                 "  -h, --help       print this\n");
}

/* A number that is not negative, in units of `scale`; false with a message. */
static bool ap__limit(const char *option, const char *text, double scale, uint64_t *out)
{
    char *end = NULL;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value >= 0 && value * scale < 9e18)) {
        fprintf(stderr, "aclprof summary: %s is '%s'; it must be a number\n", option, text);
        return false;
    }
    *out = (uint64_t)(value * scale);
    return true;
}

static bool ap__filter(ap__view *v, int option)
{
    uint64_t id = 0;
    bool good = true;

    switch (option) {
    case 'T':
    case 'D':
        good = ap__limit(option == 'T' ? "--thread" : "--device", optarg, 1, &id);
        *(option == 'T' ? &v->tid : &v->device) = (int64_t)id;
        break;
    case 'd':
        v->domain = optarg;
        break;
    case 'F':
        good = ap__limit("--from", optarg, 1e6, &v->from_ns);
        break;
    case 'U':
        good = ap__limit("--to", optarg, 1e6, &v->to_ns);
        break;
    case 'm':
        good = ap__limit("--min", optarg, 1e3, &v->least_ns);
        break;
    default:
        good = ap__limit("--max", optarg, 1e3, &v->most_ns);
    }
    return good;
}

static bool ap__parse(int argc, char **argv, ap__view *v, int *code)
{
    static const struct option names[] = {{"limit", required_argument, NULL, 'l'},
                                          {"sort", required_argument, NULL, 's'},
                                          {"name", required_argument, NULL, 'n'},
                                          {"format", required_argument, NULL, 'f'},
                                          {"thread", required_argument, NULL, 'T'},
                                          {"device", required_argument, NULL, 'D'},
                                          {"domain", required_argument, NULL, 'd'},
                                          {"from", required_argument, NULL, 'F'},
                                          {"to", required_argument, NULL, 'U'},
                                          {"min", required_argument, NULL, 'm'},
                                          {"max", required_argument, NULL, 'M'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    static const char *const sorts[] = {"total", "count", "average", "max", "name"};
    static const char *const formats[] = {"table", "csv", "json"};
    char *end = NULL;
    int option = 0;
    int found = 0;

    *code = 2;
    optind = 0;
    while ((option = getopt_long(argc, argv, "h", names, NULL)) != -1) {
        switch (option) {
        case 'l':
            v->limit = (uint32_t)strtoul(optarg, &end, 10);
            if (end == optarg || *end != '\0') {
                fprintf(stderr, "aclprof summary: --limit is '%s'; it must be a number\n", optarg);
                return false;
            }
            break;
        case 's':
            found = 0;
            for (int i = 0; i < 5; i++) {
                found = strcmp(optarg, sorts[i]) == 0 ? sorts[i][0] : found;
            }
            if (found == 0) {
                fprintf(stderr,
                        "aclprof summary: --sort is '%s'; it can be total, count, average, "
                        "max or name\n",
                        optarg);
                return false;
            }
            v->sort = found;
            break;
        case 'n':
            v->pattern = optarg;
            break;
        case 'T':
        case 'D':
        case 'd':
        case 'F':
        case 'U':
        case 'm':
        case 'M':
            if (!ap__filter(v, option)) {
                return false;
            }
            break;
        case 'f':
            found = 0;
            for (int i = 0; i < 3; i++) {
                found = strcmp(optarg, formats[i]) == 0 ? formats[i][0] : found;
            }
            if (found == 0) {
                fprintf(stderr, "aclprof summary: --format is '%s'; it can be table, csv or json\n",
                        optarg);
                return false;
            }
            v->format = found;
            break;
        case 'h':
            ap__usage(stdout);
            *code = 0;
            return false;
        default:
            ap__usage(stderr);
            return false;
        }
    }
    if (optind != argc - 1) {
        ap__usage(stderr);
        return false;
    }
    return true;
}

int ap__verb_summary(int argc, char **argv)
{
    ap__view v = {.limit = 15,
                  .sort = 't',
                  .format = 't',
                  .first_row = true,
                  .tid = -1,
                  .device = -1,
                  .to_ns = UINT64_MAX,
                  .most_ns = UINT64_MAX,
                  .colour = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL};
    ap__reader *reader = NULL;
    int code = 0;

    if (!ap__parse(argc, argv, &v, &code)) {
        return code;
    }
    reader = ap__verb_open("summary", argv[optind]);
    if (reader == NULL) {
        return 1;
    }
    code = ap__show(&v, reader);
    if (code != 0) {
        fprintf(stderr, "aclprof summary: no memory\n");
    }
    for (uint32_t i = 0; ap__reader_note(reader, i) != NULL; i++) {
        fprintf(stderr, "aclprof summary: %s\n", ap__reader_note(reader, i));
    }
    ap__reader_close(reader);
    return code != 0 || fflush(stdout) != 0;
}
