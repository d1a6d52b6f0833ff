/* SPDX-License-Identifier: Apache-2.0 */
/* Models and their iterations: step_trace, fusion_op. */
#include <errno.h>
#include <stdio.h>

#include "format/wire_host.h"
#include "tool/csv.h"
#include "tool/raw_files.h"

#define AP_TYPE_FUSION 2u
#define AP_TYPE_GRAPH_ID 0u
#define AP_FUSED_MAX 8u

/* ---- step_trace ---- */

/* Keypoints of a training step are not told apart in the records that are known: N/A. */
int ap__csv_step_trace(ap__export *e, const ap__model *m)
{
    ap__csv *c = ap__csv_begin(e, "step_trace",
                               "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration "
                               "End(us),Iteration Time(us),FP to BP Time(us),Iteration "
                               "Refresh(us),Data Aug Bound(us),Model ID",
                               0);

    for (uint32_t i = 0; c != NULL && i < m->ts_mark_count; i++) {
        const ap__ts_mark *start = &m->ts_marks[i];
        const ap__ts_mark *end = ap__ts_step_end(m, start);

        if (end == NULL) {
            continue;
        }
        ap__csv_row(c);
        ap__csv_u64(c, m->devices[start->device].device);
        ap__csv_u64(c, start->index);
        ap__csv_raw(c, "N/A");
        ap__csv_raw(c, "N/A");
        ap__csv_time(c, end->ns);
        ap__csv_us(c, end->ns - start->ns);
        ap__csv_raw(c, "N/A");
        ap__csv_raw(c, "N/A");
        ap__csv_raw(c, "N/A");
        ap__csv_u64(c, start->model);
    }
    return ap__csv_finish(c, 0);
}

/* ---- fusion_op ---- */

typedef struct ap__fusion {
    ap__csv *c;
    const ap__model *m;
    uint64_t fused_ns;
    uint64_t found_ns; /* of the graph that was named last before it */
    uint64_t name;
    uint32_t graph;
    bool found;
} ap__fusion;

static int ap__take_graph(void *context, const ap__raw_record *r)
{
    ap__fusion *f = context;

    if (r->begin_ns <= f->fused_ns && (!f->found || r->begin_ns >= f->found_ns)) {
        f->found = true;
        f->found_ns = r->begin_ns;
        f->name = ap__blob_u64(r->payload, 0);
        f->graph = ap__blob_u32(r->payload, 8);
    }
    return 0;
}

static int ap__fusion_row(void *context, const ap__raw_record *r)
{
    ap__fusion *f = context;
    uint32_t count = ap__blob_u32(r->payload, 8);
    char ops[1024] = "";
    size_t at = 0;
    int rc = 0;

    f->fused_ns = r->begin_ns;
    f->found = false;
    rc = ap__each_host_record(f->m, AP_RECORD_ADDITIONAL, AP_LEVEL_MODEL, AP_TYPE_GRAPH_ID,
                              ap__take_graph, f);
    if (rc != 0 || !f->found) { /* as the vendor's parser: none without its graph */
        return rc;
    }
    for (uint32_t i = 0; i < count && i < AP_FUSED_MAX; i++) {
        const char *op =
            ap__reader_hash_text(f->m->reader, ap__blob_u64(r->payload, 52 + (size_t)i * 8));
        int n = snprintf(ops + at, sizeof(ops) - at, "%s%s", i != 0 ? ";" : "",
                         op != NULL ? op : "N/A");

        at += n > 0 && (size_t)n < sizeof(ops) - at ? (size_t)n : 0;
    }
    ap__csv_row(f->c);
    ap__csv_raw(f->c, "host");
    ap__csv_text(f->c, ap__reader_hash_text(f->m->reader, f->name));
    ap__csv_u64(f->c, f->graph);
    ap__csv_text(f->c, ap__reader_hash_text(f->m->reader, ap__blob_u64(r->payload, 0)));
    ap__csv_text(f->c, ops);
    for (size_t i = 0; i < 5; i++) {
        ap__csv_round(f->c, (double)ap__blob_u64(r->payload, 12 + i * 8) / 1024.0);
    }
    return 0;
}

int ap__csv_fusion_op(ap__export *e, const ap__model *m)
{
    ap__fusion f = {.c = ap__csv_begin(e, "fusion_op",
                                       "Device_id,Model Name,Model ID,Fusion Op,Original "
                                       "Ops,Memory Input(KB),Memory Output(KB),Memory "
                                       "Weight(KB),Memory Workspace(KB),Memory Total(KB)",
                                       0),
                    .m = m};
    int rc = f.c == NULL ? ENOMEM
                         : ap__each_host_record(m, AP_RECORD_ADDITIONAL, AP_LEVEL_NODE,
                                                AP_TYPE_FUSION, ap__fusion_row, &f);

    return ap__csv_finish(f.c, rc);
}
