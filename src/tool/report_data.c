/* SPDX-License-Identifier: Apache-2.0 */
/* What the page is given: facts, tables, account of losses; see report.h for the other parts. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report.h"

#define AP_TABLE_ROWS 2000u
#define AP_MAX_NOTES 50u

/* ---- JSON ---- */

void ap__report_string(ap__out *o, const char *text)
{
    ap__out_bytes(o, "\"", 1);
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        /* <, > and & escaped: no text can end the script element or open a comment in it */
        if (*p < 0x20 || *p == 0x7F || *p == '<' || *p == '>' || *p == '&') {
            ap__out_printf(o, "\\u%04x", *p);
        } else {
            ap__out_bytes(o, *p == '"' || *p == '\\' ? "\\" : "", *p == '"' || *p == '\\');
            ap__out_bytes(o, p, 1);
        }
    }
    ap__out_bytes(o, "\"", 1);
}

void ap__report_fact(ap__out *o, const char *key, const char *text)
{
    ap__out_printf(o, "\"%s\":", key);
    ap__report_string(o, text != NULL ? text : "");
    ap__out_text(o, ",");
}

/* ---- tables ---- */

typedef struct ap__row {
    uint32_t table;
    uint32_t from; /* in the run's durations */
    uint32_t count;
    uint64_t total;
} ap__row;

static int ap__by_total(const void *a, const void *b)
{
    const ap__row *x = a;
    const ap__row *y = b;

    if (x->table != y->table) {
        return x->table < y->table ? -1 : 1;
    }
    if (x->total != y->total) {
        return x->total > y->total ? -1 : 1;
    }
    return x->from < y->from ? -1 : x->from > y->from;
}

static void ap__table_row(ap__out *o, const ap__run *run, const ap__row *r, bool first)
{
    const ap__duration *d = run->durations + r->from;
    uint32_t last = r->count - 1;

    ap__out_printf(o,
                   "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                   ",%" PRIu64 "]",
                   first ? "" : ",", d->name, r->count, r->total, d[0].ns, d[last / 2].ns,
                   d[(uint32_t)(last * 99ull / 100)].ns, d[last].ns);
}

static int ap__tables(ap__out *o, const ap__run *run)
{
    static const char *const names[] = {AP_REPORT_TABLE_NAMES};
    ap__row *rows = NULL;
    uint32_t count = 0;
    uint32_t at = 0;

    for (uint32_t i = 0; i < run->duration_count; i++) {
        const ap__duration *d = &run->durations[i];
        ap__row *r = NULL;

        if (i == 0 || d->table != d[-1].table || d->name != d[-1].name) {
            r = ap__model_push((void **)&rows, &count, sizeof(*r));
            if (r == NULL) {
                free(rows);
                return ENOMEM;
            }
            *r = (ap__row){d->table, i, 0, 0};
        }
        rows[count - 1].count++;
        rows[count - 1].total += d->ns;
    }
    if (count != 0) {
        qsort(rows, count, sizeof(*rows), ap__by_total);
    }
    ap__out_text(o, "\"tables\":{");
    for (uint32_t table = 0; table < AP_REPORT_TABLES; table++) {
        uint32_t from = at;
        uint64_t all = 0;

        ap__out_printf(o, "%s\"%s\":{\"rows\":[", table != 0 ? "," : "", names[table]);
        for (; at < count && rows[at].table == table; at++) {
            all += rows[at].total;
            if (at - from < AP_TABLE_ROWS) {
                ap__table_row(o, run, &rows[at], at == from);
            }
        }
        ap__out_printf(o, "],\"names\":%" PRIu32 ",\"total\":%" PRIu64 "}", at - from, all);
    }
    ap__out_text(o, "},");
    free(rows);
    return 0;
}

/* ---- a run ---- */

static void ap__account_out(ap__out *o, const ap__reader *reader)
{
    const ap__reader_account *a = ap__reader_account_of(reader);

    if (a == NULL) {
        ap__out_text(o, "\"account\":null,");
        return;
    }
    ap__out_printf(o,
                   "\"account\":{\"emitted\":%" PRIu64 ",\"written\":%" PRIu64 ",\"lost\":%" PRIu64
                   ",\"causes\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                   ",%" PRIu64 "],\"cut\":%" PRIu64 ",\"open\":%" PRIu64 ",\"bytes\":%" PRIu64
                   ",\"callNs\":%" PRIu64 ",\"writerNs\":%" PRIu64 ",\"threads\":%" PRIu64 "},",
                   a->total.emitted, a->total.written, a->total.lostTotal, a->total.lostRingFull,
                   a->total.lostNoRing, a->total.lostReentrant, a->total.lostDisk,
                   a->total.lostAged, a->total.lostDamaged, a->total.cutMessages,
                   a->total.openAtStop, a->total.bytesWritten, a->total.callNs,
                   a->total.writerCpuNs, a->total.threads);
}

static void ap__facts(ap__out *o, const ap__run *run)
{
    static const char *const states[] = {"finished", "recovered", "unfinished", "running"};
    const ap__meta *meta = ap__reader_meta(run->reader);
    const char *path = ap__reader_path(run->reader);
    const char *slash = strrchr(path, '/');

    ap__report_fact(o, "path", slash != NULL && slash[1] != '\0' ? slash + 1 : path);
    ap__report_fact(o, "process", meta->process_name);
    ap__report_fact(o, "host", meta->host_name);
    ap__report_fact(o, "os", meta->os);
    ap__report_fact(o, "cann", meta->cann_version);
    ap__report_fact(o, "state", states[ap__reader_state_of(run->reader)]);
    ap__out_printf(o,
                   "\"pid\":%" PRIu32 ",\"simulated\":%s,\"base\":%" PRIu64 ",\"span\":%" PRIu64
                   ",\"begin\":%" PRIu64 ",\"end\":%" PRIu64 ",\"wall\":%s,\"events\":%" PRIu32
                   ",\"marks\":%" PRIu64 ",",
                   meta->pid, run->model.simulated ? "true" : "false", run->base_ns,
                   run->end_ns - run->base_ns, meta->begin_wall_us, meta->end_wall_us,
                   meta->clock.has_wall ? "true" : "false", run->event_count, run->marks);
}

static int ap__one_run(ap__out *o, const ap__run *run)
{
    int rc = 0;

    ap__out_text(o, "{");
    ap__facts(o, run);
    ap__account_out(o, run->reader);
    rc = ap__report_devices(o, run);
    rc = rc != 0 ? rc : ap__tables(o, run);
    rc = rc != 0 ? rc : ap__report_flames(o, run);
    rc = rc != 0 ? rc : ap__report_counters(o, run);
    rc = rc != 0 ? rc : ap__report_tracks(o, run);
    ap__out_text(o, "\"notes\":[");
    for (uint32_t i = 0; i < AP_MAX_NOTES && ap__reader_note(run->reader, i) != NULL; i++) {
        ap__out_text(o, i != 0 ? "," : "");
        ap__report_string(o, ap__reader_note(run->reader, i));
    }
    ap__out_text(o, "]}");
    return rc;
}

int ap__report_data(ap__out *o, const ap__run *runs, uint32_t run_count, const ap__names *names)
{
    int rc = 0;

    ap__out_text(o, "{\"runs\":[");
    for (uint32_t i = 0; rc == 0 && i < run_count; i++) {
        ap__out_text(o, i != 0 ? ",\n" : "");
        rc = ap__one_run(o, &runs[i]);
    }
    ap__out_text(o, "],\n");
    if (rc == 0 && run_count == 2) {
        rc = ap__report_compare(o, &runs[0], &runs[1]);
        ap__out_text(o, ",\n");
    }
    ap__out_text(o, "\"names\":[");
    for (uint32_t i = 0; i < names->count; i++) {
        ap__out_text(o, i != 0 ? "," : "");
        ap__report_string(o, names->texts[i]);
    }
    ap__out_text(o, "]}");
    return rc;
}
