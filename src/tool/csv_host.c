/* SPDX-License-Identifier: Apache-2.0 */
/* What the host did: api_statistic, msprof_tx. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bulk.h"
#include "analysis/stats.h"
#include "format/wire_host.h"
#include "tool/csv.h"
#include "tool/text_pool.h"

/* ---- api_statistic ---- */

/* Rows: key[0] is the level, key[1] the type, key[2] the item where calls go by it. */
typedef struct ap__named_stat {
    const char *name; /* NULL: number */
    char number[16];
    ap__stat stat;
} ap__named_stat;

static const char *ap__name_of(const ap__named_stat *n)
{
    return n->name != NULL ? n->name : n->number;
}

static int ap__by_name(const void *a, const void *b)
{
    const ap__named_stat *x = a;
    const ap__named_stat *y = b;
    int order = strcmp(ap__name_of(x), ap__name_of(y));

    return order != 0                         ? order
           : x->stat.key[0] == y->stat.key[0] ? 0
           : x->stat.key[0] < y->stat.key[0]  ? -1
                                              : 1;
}

static void ap__statistic_row(ap__csv *c, const char *name, const ap__stat *t)
{
    double average = floor((double)t->total_ns / (double)t->count + 0.5); /* as it is printed */
    double away = average - t->mean_ns;

    ap__csv_row(c);
    ap__csv_raw(c, "host");
    ap__csv_text(c, ap__level_name((uint32_t)t->key[0]));
    ap__csv_text(c, name);
    ap__csv_short(c, (double)t->total_ns / 1000.0);
    ap__csv_u64(c, t->count);
    ap__csv_short(c, average / 1000.0);
    ap__csv_short(c, (double)t->min_ns / 1000.0);
    ap__csv_short(c, (double)t->max_ns / 1000.0);
    ap__csv_short(c, (t->squares / (double)t->count + away * away) / 1e6);
}

/* By name; what has the same name and level is one. */
static int ap__name_stats(const ap__model *m, const ap__stats *s, ap__named_stat **names,
                          uint32_t *count)
{
    uint32_t kept = 0;
    int rc = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        ap__named_stat *n = ap__bulk_push((void **)names, count, sizeof(*n));
        const uint64_t *key = s->list[i].key;
        const char *name = NULL;

        if (n == NULL) {
            return ENOMEM;
        }
        name =
            ap__call_name(m,
                          &(const ap__api_call){
                              .level = (uint16_t)key[0], .type = (uint32_t)key[1], .item = key[2]},
                          n->number);
        n->name = name != n->number ? name : NULL;
        n->stat = s->list[i];
    }
    rc = ap__bulk_sort((void **)names, *count, sizeof(**names), ap__by_name);
    for (uint32_t i = 0; rc == 0 && i < *count; i++) {
        if (kept != 0 && ap__by_name(&(*names)[kept - 1], &(*names)[i]) == 0) {
            ap__stat_merge(&(*names)[kept - 1].stat, &(*names)[i].stat);
        } else {
            (*names)[kept++] = (*names)[i];
        }
    }
    *count = rc == 0 ? kept : *count;
    return rc;
}

int ap__csv_api_statistic(ap__export *e, const ap__model *m)
{
    ap__stats s = {.count = 0};
    ap__named_stat *names = NULL;
    ap__csv *c = NULL;
    uint32_t count = 0;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < m->call_count; i++) {
        const ap__api_call *call = &m->calls[i];
        uint64_t item = call->level == AP_LEVEL_HCCL ? call->item : 0;

        ap__bulk_step();
        rc = ap__stats_add(&s, (const uint64_t[]){call->level, call->type, item},
                           call->end_ns - call->start_ns);
    }
    rc = rc != 0 ? rc : ap__name_stats(m, &s, &names, &count);
    if (rc != 0) {
        ap__export_failed(e, "api_statistic", rc);
    } else {
        c = ap__csv_begin(e, "api_statistic",
                          "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),"
                          "Variance",
                          count);
        for (uint32_t i = 0; c != NULL && i < count; i++) {
            ap__statistic_row(c, ap__name_of(&names[i]), &names[i].stat);
        }
        rc = c != NULL ? ap__csv_end(c) : ENOMEM;
    }
    ap__bulk_free(names);
    ap__stats_free(&s);
    return rc;
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
    uint32_t message; /* in the pool of texts */
    uint32_t domain;
    uint64_t mark_id;
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

static int ap__read_tx(const ap__model *m, ap__text_pool *pool, ap__tx_row **rows, uint32_t *count)
{
    ap__stamp_record s;

    ap__reader_rewind(m->reader);
    while (ap__model_next_stamp(m, &s)) {
        ap__tx_row *r = ap__bulk_push((void **)rows, count, sizeof(*r));

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
            .mark_id = s.mark_id,
            .message = ap__text_pool_add(pool, s.message),
            .domain = ap__text_pool_add(pool, s.domain_name != NULL ? s.domain_name : "default"),
        };
        if (r->message == UINT32_MAX || r->domain == UINT32_MAX) {
            return ENOMEM;
        }
    }
    return 0;
}

/* `mark`: what the device has made of it, NULL: nothing. */
static void ap__tx_line(ap__csv *c, const ap__model *m, const ap__text_pool *pool,
                        const ap__tx_row *r, const ap__ts_mark *mark)
{
    static const char *const events[] = {"marker", "push/pop", "start/end", "marker_ex"};
    char text[24];

    ap__csv_row(c);
    if (mark != NULL) {
        ap__csv_u64(c, m->devices[mark->device].device);
    } else {
        ap__csv_raw(c, "host");
    }
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
    ap__csv_text(c, pool->bytes + r->message);
    ap__csv_text(c, r->extended ? pool->bytes + r->domain : NULL);
    if (mark != NULL) {
        ap__csv_time(c, mark->ns);
        ap__csv_time(c, mark->ns);
    } else {
        ap__csv_raw(c, "N/A");
        ap__csv_raw(c, "N/A");
    }
}

int ap__csv_msprof_tx(ap__export *e, const ap__model *m)
{
    ap__text_pool *pool = calloc(1, sizeof(*pool));
    ap__tx_row *rows = NULL;
    uint32_t count = 0;
    ap__csv *c = NULL;
    int rc = pool != NULL ? ap__read_tx(m, pool, &rows, &count) : ENOMEM;

    rc = rc != 0 ? rc : ap__bulk_sort((void **)&rows, count, sizeof(*rows), ap__tx_by_start);
    if (rc != 0) {
        ap__export_failed(e, "msprof_tx", rc);
        goto out;
    }
    c = ap__csv_begin(e, "msprof_tx",
                      "Device_id,pid,tid,category,event_type,payload_type,payload_value,"
                      "Start_time(us),End_time(us),message_type,message,domain,Device "
                      "Start_time(us),Device End_time(us)",
                      count);
    for (uint32_t i = 0; c != NULL && i < count; i++) {
        uint32_t marks = 0;
        const ap__ts_mark *mark =
            rows[i].extended ? ap__ts_marks_of(m, AP_TS_TX_MARK, rows[i].mark_id, &marks) : NULL;

        for (uint32_t k = 0; k < marks; k++) {
            ap__tx_line(c, m, pool, &rows[i], &mark[k]);
        }
        if (marks == 0) {
            ap__tx_line(c, m, pool, &rows[i], NULL);
        }
    }
    rc = c != NULL ? ap__csv_end(c) : ENOMEM;
out:
    ap__bulk_free(rows);
    if (pool != NULL) {
        ap__text_pool_free(pool);
    }
    free(pool);
    return rc;
}
