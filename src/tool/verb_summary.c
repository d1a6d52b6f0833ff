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

#include "analysis/model.h"
#include "format/wire_host.h"
#include "tool/verbs.h"

typedef struct ap__view {
    uint32_t limit;      /* rows of a table; 0: all */
    const char *pattern; /* of names; NULL: any */
    int sort;            /* column: 't'otal, 'c'ount, 'a'verage, 'm'aximum, 'n'ame */
    int format;          /* 't'able, 'c'sv, 'j'son */
    bool first_row;
} ap__view;

typedef struct ap__sample {
    char *name;
    uint64_t ns;
} ap__sample;

typedef struct ap__group {
    const char *name;
    uint64_t count;
    uint64_t total;
    uint64_t least;
    uint64_t median;
    uint64_t p99;
    uint64_t most;
} ap__group;

/* ---- groups of samples ---- */

static int ap__by_name_and_ns(const void *a, const void *b)
{
    const ap__sample *x = a;
    const ap__sample *y = b;
    int order = strcmp(x->name, y->name);

    return order != 0 ? order : x->ns < y->ns ? -1 : x->ns > y->ns;
}

static uint32_t ap__group_all(ap__sample *samples, uint32_t count, ap__group *groups)
{
    uint32_t n = 0;
    uint32_t first = 0;

    if (count != 0) {
        qsort(samples, count, sizeof(*samples), ap__by_name_and_ns);
    }
    for (uint32_t i = 1; i <= count; i++) {
        uint64_t total = 0;
        uint32_t k = i - first;

        if (i < count && strcmp(samples[i].name, samples[first].name) == 0) {
            continue;
        }
        for (uint32_t j = first; j < i; j++) {
            total += samples[j].ns;
        }
        groups[n++] = (ap__group){.name = samples[first].name,
                                  .count = k,
                                  .total = total,
                                  .least = samples[first].ns,
                                  .median = samples[first + (k - 1) / 2].ns,
                                  .p99 = samples[first + (uint32_t)((k - 1) * 99ull / 100)].ns,
                                  .most = samples[i - 1].ns};
        first = i;
    }
    return n;
}

static int ap__group_order(const void *a, const void *b, void *context)
{
    const ap__group *x = a;
    const ap__group *y = b;
    double left = 0;
    double right = 0;

    switch (*(int *)context) {
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
        printf(",%" PRIu64 ",%.3f,%.3f,%.3f,%.3f,%.3f,%.3f\n", g->count, (double)g->total / 1000.0,
               average, (double)g->least / 1000.0, (double)g->median / 1000.0,
               (double)g->p99 / 1000.0, (double)g->most / 1000.0);
    } else if (v->format == 'j') {
        printf("%s{\"table\":\"%s\",\"name\":", v->first_row ? "" : ",\n", table);
        ap__json_string(g->name);
        printf(",\"count\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"min_ns\":%" PRIu64
               ",\"median_ns\":%" PRIu64 ",\"p99_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64 "}",
               g->count, g->total, g->least, g->median, g->p99, g->most);
        v->first_row = false;
    } else {
        printf("  ");
        ap__plain(g->name, 36);
        printf(" %9" PRIu64 " %12.3f %11.3f %10.3f %10.3f %11.3f %11.3f %5.1f %%\n", g->count,
               (double)g->total / 1e6, average, (double)g->least / 1000.0,
               (double)g->median / 1000.0, (double)g->p99 / 1000.0, (double)g->most / 1000.0,
               all != 0 ? 100.0 * (double)g->total / (double)all : 0.0);
    }
}

static int ap__table(ap__view *v, const char *title, const char *table, ap__sample *samples,
                     uint32_t count)
{
    ap__group *groups = calloc((size_t)count + 1, sizeof(*groups));
    uint64_t all = 0;
    uint32_t n = 0;

    if (groups == NULL) {
        return ENOMEM;
    }
    n = ap__group_all(samples, count, groups);
    for (uint32_t i = 0; i < n; i++) {
        all += groups[i].total;
    }
    if (n != 0) {
        qsort_r(groups, n, sizeof(*groups), ap__group_order, &v->sort);
    }
    if (n != 0 && v->format == 't') {
        printf("\n%-38s %9s %12s %11s %10s %10s %11s %11s  share\n", title, "count", "total ms",
               "avg µs ", "min µs ", "median µs ", "p99 µs ", "max µs ");
    }
    for (uint32_t i = 0; i < n && (v->limit == 0 || i < v->limit); i++) {
        ap__row(v, table, &groups[i], all);
    }
    if (v->format == 't' && v->limit != 0 && n > v->limit) {
        printf("  … %" PRIu32 " more (--limit 0 shows all)\n", n - v->limit);
    }
    free(groups);
    for (uint32_t i = 0; i < count; i++) {
        free(samples[i].name);
    }
    free(samples);
    return 0;
}

static int ap__add(const ap__view *v, ap__sample **list, uint32_t *count, const char *name,
                   uint64_t ns)
{
    ap__sample *s = NULL;

    if (v->pattern != NULL && fnmatch(v->pattern, name, 0) != 0) {
        return 0;
    }
    s = ap__model_push((void **)list, count, sizeof(*s));
    if (s == NULL) {
        return ENOMEM;
    }
    s->name = strdup(name);
    s->ns = ns;
    if (s->name == NULL) {
        (*count)--;
        return ENOMEM;
    }
    return 0;
}

static int ap__operators(ap__view *v, const ap__model *m)
{
    ap__sample *list = NULL;
    uint32_t count = 0;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < m->task_count; i++) {
        const ap__task *t = &m->tasks[i];
        const char *name = ap__task_name(m, t);

        rc = ap__add(v, &list, &count, name != NULL ? name : ap__task_type(m, t),
                     t->end_ns - t->start_ns);
    }
    return rc != 0 ? rc : ap__table(v, "DEVICE TASKS", "tasks", list, count);
}

static int ap__calls(ap__view *v, const ap__model *m)
{
    ap__sample *list = NULL;
    uint32_t count = 0;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < m->call_count; i++) {
        char number[16];
        char name[300];

        (void)snprintf(name, sizeof(name), "%s: %s", ap__level_name(m->calls[i].level),
                       ap__call_name(m, &m->calls[i], number));
        rc = ap__add(v, &list, &count, name, m->calls[i].end_ns - m->calls[i].start_ns);
    }
    return rc != 0 ? rc : ap__table(v, "API CALLS", "calls", list, count);
}

static int ap__stamps(ap__view *v, ap__reader *reader)
{
    ap__sample *list = NULL;
    uint32_t count = 0;
    uint64_t marks = 0;
    ap__stamp_record s;
    int rc = 0;

    ap__reader_rewind(reader);
    while (rc == 0 && ap__reader_next_stamp(reader, &s)) {
        if (s.event == AP_TX_PUSH_POP || s.event == AP_TX_RANGE) {
            rc = ap__add(v, &list, &count, s.message, s.end_ns - s.start_ns);
        } else {
            marks++;
        }
    }
    rc = rc != 0 ? rc : ap__table(v, "RANGES", "ranges", list, count);
    if (rc == 0 && marks != 0 && v->format == 't') {
        printf("\n%" PRIu64 " marks\n", marks);
    }
    return rc;
}

/* ---- devices, losses ---- */

static void ap__device_line(const ap__model *m, uint32_t device)
{
    uint64_t first = 0;
    uint64_t last = 0;
    uint64_t busy = 0;
    uint64_t longest = 0;
    uint64_t tasks = 0;

    for (uint32_t i = 0; i < m->task_count; i++) {
        const ap__task *t = &m->tasks[i];

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
    printf("device %" PRIu32 "%s: %" PRIu64 " tasks", m->devices[device].device,
           m->devices[device].simulated ? " (simulated)" : "", tasks);
    if (last > first) {
        printf(" in %.3f ms, %.1f %% busy, longest gap %.3f ms", (double)(last - first) / 1e6,
               100.0 * (double)busy / (double)(last - first), (double)longest / 1e6);
    }
    printf("\n");
}

static void ap__losses(const ap__reader *reader)
{
    const ap__reader_account *a = ap__reader_account_of(reader);

    if (a == NULL) {
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
    if (v->format == 't') {
        const ap__meta *meta = ap__reader_meta(reader);

        printf("%s%s\nprocess %" PRIu32 " %s on %s\n", ap__reader_path(reader),
               states[ap__reader_state_of(reader)], meta->pid, meta->process_name, meta->host_name);
        for (uint32_t i = 0; i < model.device_count; i++) {
            ap__device_line(&model, i);
        }
    } else if (v->format == 'c') {
        printf("table,name,count,total(us),avg(us),min(us),median(us),p99(us),max(us)\n");
    } else {
        printf("[");
    }
    rc = ap__operators(v, &model);
    rc = rc != 0 ? rc : ap__calls(v, &model);
    rc = rc != 0 ? rc : ap__stamps(v, reader);
    if (v->format == 'j') {
        printf("]\n");
    } else if (v->format == 't') {
        ap__losses(reader);
    }
    ap__model_free(&model);
    return rc;
}

static void ap__usage(FILE *out)
{
    fprintf(out, "Usage: aclprof summary [options] PROF_DIR\n\n"
                 "  --limit N        rows of each table (default 15, 0: all)\n"
                 "  --sort KEY       total (default), count, average, max or name\n"
                 "  --name PATTERN   only names like this (shell pattern)\n"
                 "  --format F       table (default), csv or json\n"
                 "  -h, --help       print this\n");
}

static bool ap__parse(int argc, char **argv, ap__view *v, int *code)
{
    static const struct option names[] = {
        {"limit", required_argument, NULL, 'l'}, {"sort", required_argument, NULL, 's'},
        {"name", required_argument, NULL, 'n'},  {"format", required_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0}};
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
    ap__view v = {.limit = 15, .sort = 't', .format = 't', .first_row = true};
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
