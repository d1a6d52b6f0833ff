/* SPDX-License-Identifier: Apache-2.0 */
/* What the host did: api_statistic, msprof_tx. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/wire_host.h"
#include "tool/csv.h"

/* ---- api_statistic ---- */

typedef struct ap__call_ref {
    const char *name;
    uint32_t level;
    uint64_t ns;
} ap__call_ref;

static int ap__refs_by_name(const void *a, const void *b)
{
    const ap__call_ref *x = a;
    const ap__call_ref *y = b;
    int order = strcmp(x->name, y->name);

    return order != 0 ? order : x->level < y->level ? -1 : x->level > y->level;
}

static void ap__statistic_row(ap__csv *c, const ap__call_ref *refs, uint32_t count)
{
    uint64_t total = 0;
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    double average = 0;
    double squares = 0;

    for (uint32_t i = 0; i < count; i++) {
        total += refs[i].ns;
        least = refs[i].ns < least ? refs[i].ns : least;
        most = refs[i].ns > most ? refs[i].ns : most;
    }
    average = floor((double)total / (double)count + 0.5) / 1000.0; /* as it is printed */
    for (uint32_t i = 0; i < count; i++) {
        double away = (double)refs[i].ns / 1000.0 - average;

        squares += away * away;
    }
    ap__csv_row(c);
    ap__csv_raw(c, "host");
    ap__csv_text(c, ap__level_name(refs->level));
    ap__csv_text(c, refs->name);
    ap__csv_short(c, (double)total / 1000.0);
    ap__csv_u64(c, count);
    ap__csv_short(c, average);
    ap__csv_short(c, (double)least / 1000.0);
    ap__csv_short(c, (double)most / 1000.0);
    ap__csv_short(c, squares / (double)count);
}

int ap__csv_api_statistic(ap__export *e, const ap__model *m)
{
    ap__call_ref *refs = calloc((size_t)m->call_count + 1, sizeof(*refs));
    char(*numbers)[16] = calloc((size_t)m->call_count + 1, sizeof(*numbers));
    ap__csv *c = NULL;
    uint32_t first = 0;

    if (refs == NULL || numbers == NULL) {
        ap__export_failed(e, "api_statistic", ENOMEM);
        free(refs);
        free(numbers);
        return ENOMEM;
    }
    for (uint32_t i = 0; i < m->call_count; i++) {
        const ap__api_call *call = &m->calls[i];

        refs[i] = (ap__call_ref){ap__call_name(m, call, numbers[i]), call->level,
                                 call->end_ns - call->start_ns};
    }
    qsort(refs, m->call_count, sizeof(*refs), ap__refs_by_name);
    c = ap__csv_begin(e, "api_statistic",
                      "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance",
                      m->call_count);
    if (c != NULL) {
        c->sliced = false; /* a row for each name */
    }
    for (uint32_t i = 1; c != NULL && i <= m->call_count; i++) {
        if (i == m->call_count || ap__refs_by_name(&refs[i], &refs[first]) != 0) {
            ap__statistic_row(c, &refs[first], i - first);
            first = i;
        }
    }
    free(refs);
    free(numbers);
    return c != NULL ? ap__csv_end(c) : ENOMEM;
}

/* ---- msprof_tx ---- */

typedef struct ap__tx_row {
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t payload;
    uint64_t order; /* of arrival */
    uint32_t pid;
    uint32_t tid;
    uint32_t category;
    int32_t payload_type;
    int32_t message_type;
    uint32_t event;
    bool extended;
    char *message;
    char *domain;
} ap__tx_row;

static int ap__tx_by_start(const void *a, const void *b)
{
    const ap__tx_row *x = a;
    const ap__tx_row *y = b;

    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    return x->order < y->order ? -1 : 1;
}

static int ap__read_tx(const ap__model *m, ap__tx_row **rows, uint32_t *count)
{
    ap__stamp_record s;

    ap__reader_rewind(m->reader);
    while (ap__reader_next_stamp(m->reader, &s)) {
        ap__tx_row *r = ap__model_push((void **)rows, count, sizeof(*r));

        if (r == NULL) {
            return ENOMEM;
        }
        *r = (ap__tx_row){
            .start_ns = ap__reader_wall_ns(m->reader, s.start_ns),
            .end_ns = ap__reader_wall_ns(m->reader, s.end_ns),
            .payload = s.payload,
            .order = *count,
            .pid = s.pid,
            .tid = s.tid,
            .category = s.category,
            .payload_type = s.payload_type,
            .message_type = s.message_type,
            .event = s.event,
            .extended = s.info_type == AP_TX_INFO_EX,
            .message = strdup(s.message),
            .domain = s.domain_name != NULL ? strdup(s.domain_name) : NULL,
        };
        if (r->message == NULL) {
            return ENOMEM;
        }
    }
    return 0;
}

static void ap__tx_line(ap__csv *c, const ap__tx_row *r)
{
    static const char *const events[] = {"marker", "push/pop", "start/end", "marker_ex"};
    char text[24];

    ap__csv_row(c);
    ap__csv_raw(c, "host");
    ap__csv_u64(c, r->pid);
    ap__csv_u64(c, r->tid);
    if (r->extended) {
        ap__csv_raw(c, "N/A");
    } else {
        ap__csv_u64(c, r->category);
    }
    ap__csv_raw(c, r->event < 4 ? events[r->event] : "N/A");
    if (r->extended) {
        ap__csv_raw(c, "N/A");
        ap__csv_raw(c, "N/A");
    } else {
        (void)snprintf(text, sizeof(text), "%" PRId32, r->payload_type);
        ap__csv_raw(c, text);
        ap__csv_u64(c, r->payload);
    }
    ap__csv_time(c, r->start_ns);
    ap__csv_time(c, r->end_ns);
    (void)snprintf(text, sizeof(text), "%" PRId32, r->message_type);
    ap__csv_raw(c, r->extended ? "N/A" : text);
    ap__csv_text(c, r->message);
    ap__csv_text(c, r->extended ? (r->domain != NULL ? r->domain : "default") : NULL);
    ap__csv_raw(c, "N/A");
    ap__csv_raw(c, "N/A");
}

int ap__csv_msprof_tx(ap__export *e, const ap__model *m)
{
    ap__tx_row *rows = NULL;
    uint32_t count = 0;
    int rc = ap__read_tx(m, &rows, &count);
    ap__csv *c = NULL;

    if (rc == 0) {
        if (count != 0) {
            qsort(rows, count, sizeof(*rows), ap__tx_by_start);
        }
        c = ap__csv_begin(e, "msprof_tx",
                          "Device_id,pid,tid,category,event_type,payload_type,payload_value,"
                          "Start_time(us),End_time(us),message_type,message,domain,Device "
                          "Start_time(us),Device End_time(us)",
                          count);
    } else {
        ap__export_failed(e, "msprof_tx", rc);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (c != NULL) {
            ap__tx_line(c, &rows[i]);
        }
        free(rows[i].message);
        free(rows[i].domain);
    }
    free(rows);
    return c != NULL ? ap__csv_end(c) : ENOMEM;
}
