/* SPDX-License-Identifier: Apache-2.0 */
/* What only the 950 has: tasks fused of several, and the first and last block of each kernel. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/bulk.h"
#include "tool/json_layers.h"
#include "tool/raw_files.h"

#define AP_LOG_BYTES 32u
#define AP_FUSION_START 0x16u /* 010110 */
#define AP_FUSION_END 0x17u
#define AP_FUSIONS_OPEN 4096u
#define AP_PMU_BYTES 128u
#define AP_BLOCK_PMU 0x29u /* 101001 */

/* ---- fusion ---- */

typedef struct ap__fusion {
    uint32_t task;
    uint32_t kinds; /* one bit each */
    uint32_t accelerator;
    uint64_t cycles;
} ap__fusion;

typedef struct ap__fusions {
    ap__timeline *t;
    ap__fusion *open; /* AP_FUSIONS_OPEN */
    uint32_t count;
} ap__fusions;

static void ap__fusion_event(ap__timeline *t, uint32_t device, const ap__fusion *f, uint64_t end)
{
    static const char *const kinds[] = {"CPU", "AICPU", "AICORE", "CCU0", "CCU1"};
    const ap__device_view *view = &t->m->devices[device];
    const char *kind = "N/A";
    uint64_t pid = 0;
    char name[40];

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        kind = (f->kinds >> i & 1) != 0 ? kinds[i] : kind;
    }
    if (!ap__is_shown(t, ap__device_wall_ns(view, f->cycles))) {
        return;
    }
    (void)snprintf(name, sizeof(name), "Fusion %s", kind);
    pid = ap__device_layer(t, device, AP_SORT_FUSION, "Fusion Task");
    ap__json_thread_named(&t->j, pid, 0, "Fusion Task", true);
    ap__json_slice(&t->j, name, pid, 0, ap__device_wall_ns(view, f->cycles),
                   ap__device_wall_ns(view, end), NULL);
    ap__arg_u64(&t->j, "Task Id", f->task);
    ap__arg_u64(&t->j, "Acc Id", f->accelerator);
    ap__arg_text(&t->j, "Task Type", "FUSION");
    ap__arg_text(&t->j, "Fusion Task Type", kind);
    ap__json_end(&t->j);
}

static int ap__take_fusion(void *context, uint32_t device, ap__blob record)
{
    ap__fusions *all = context;
    uint32_t function = ap__blob_u16(record, 0) & 0x3F;
    ap__fusion now = {ap__blob_u32(record, 4), ap__blob_u16(record, 16) & 0x1Fu,
                      ap__blob_u16(record, 18) & 0x3Fu, ap__blob_u64(record, 8)};

    if (function == AP_FUSION_START && all->count < AP_FUSIONS_OPEN) { /* else: no pairs */
        all->open[all->count++] = now;
    }
    for (uint32_t i = all->count; function == AP_FUSION_END && i-- > 0;) {
        ap__fusion *f = &all->open[i];

        if (f->task == now.task && f->kinds == now.kinds) {
            ap__fusion_event(all->t, device, f, now.cycles);
            *f = all->open[--all->count];
            break;
        }
    }
    return 0;
}

/* ---- blocks ---- */

typedef struct ap__block {
    uint64_t start;
    uint64_t end;
    uint32_t task;
    uint32_t device; /* index */
    uint16_t core;
    bool vector;
} ap__block;

typedef struct ap__blocks {
    ap__block *list;
    uint32_t count;
} ap__blocks;

static int ap__take_block(void *context, uint32_t device, ap__blob record)
{
    ap__blocks *all = context;
    ap__block *b = NULL;
    uint16_t core = ap__blob_u16(record, 20); /* kind, number */

    if ((ap__blob_u16(record, 0) & 0x3F) != AP_BLOCK_PMU) {
        return 0;
    }
    b = ap__bulk_push((void **)&all->list, &all->count, sizeof(*b));
    if (b == NULL) {
        return ENOMEM;
    }
    *b = (ap__block){.start = ap__blob_u64(record, 112),
                     .end = ap__blob_u64(record, 120),
                     .task = ap__blob_u32(record, 4),
                     .device = device,
                     .core = core >> 8,
                     .vector = (core & 0xFF) == 1};
    return 0;
}

static int ap__blocks_by_task(const void *a, const void *b)
{
    const ap__block *x = a;
    const ap__block *y = b;

    if (x->device != y->device) {
        return x->device < y->device ? -1 : 1;
    }
    if (x->task != y->task) {
        return x->task < y->task ? -1 : 1;
    }
    return x->start < y->start ? -1 : x->start > y->start;
}

static void ap__block_event(ap__timeline *t, const ap__task *task, const ap__block *b, bool latest)
{
    static const char *const threads[] = {"AIC Earliest", "AIC Latest", "AIV Earliest",
                                          "AIV Latest"};
    const ap__device_view *view = &t->m->devices[task->device];
    uint64_t pid = ap__device_layer(t, task->device, AP_SORT_BLOCKS, "Block Detail");
    uint32_t thread = (b->vector ? 2u : 0u) + latest;
    const ap__node *node = ap__task_node(t->m, task);
    const char *op = node != NULL ? ap__reader_hash_text(t->m->reader, node->name) : NULL;
    char name[300];

    (void)snprintf(name, sizeof(name), "Stream %u %s", (unsigned)task->stream,
                   op != NULL ? op : "N/A");
    ap__json_thread_named(&t->j, pid, thread + 1, threads[thread], false);
    ap__json_slice(&t->j, name, pid, thread + 1, ap__device_wall_ns(view, b->start),
                   ap__device_wall_ns(view, b->end), NULL);
    ap__arg_u64(&t->j, "Physic Stream Id", task->stream);
    ap__arg_u64(&t->j, "Task Id", task->task);
    ap__arg_u64(&t->j, "Batch Id", 0);
    ap__arg_u64(&t->j, "Subtask Id", task->part);
    ap__arg_u64(&t->j, "Core Id", b->core);
    ap__json_end(&t->j);
}

/* Of each kind of core the block that began first and the one that ended last. */
static void ap__task_blocks(ap__timeline *t, const ap__task *task, const ap__blocks *all)
{
    ap__block key = {.start = task->start_cycles, .task = task->task, .device = task->device};
    const ap__block *first[2] = {NULL, NULL};
    const ap__block *last[2] = {NULL, NULL};
    uint32_t low = 0;
    uint32_t high = all->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (ap__blocks_by_task(&all->list[middle], &key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < all->count && all->list[low].task == task->task &&
           all->list[low].device == task->device && all->list[low].start <= task->end_cycles;
         low++) {
        const ap__block *b = &all->list[low];

        first[b->vector] = first[b->vector] == NULL ? b : first[b->vector];
        last[b->vector] =
            last[b->vector] == NULL || b->end > last[b->vector]->end ? b : last[b->vector];
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (first[i] != NULL) {
            ap__block_event(t, task, first[i], false);
            ap__block_event(t, task, last[i], true);
        }
    }
}

int ap__layer_fusion_and_blocks(ap__timeline *t)
{
    const ap__model *m = t->m;
    ap__blocks blocks = {.count = 0};
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < m->device_count; i++) {
        ap__fusions fusions = {.t = t};

        if (m->devices[i].chip < 15) {
            continue;
        }
        if (ap__wants(t, AP_LAYER_FUSION_TASK)) {
            fusions.open = calloc(AP_FUSIONS_OPEN, sizeof(*fusions.open));
            rc = fusions.open == NULL ? ENOMEM
                                      : ap__each_record(m, i, "stars_soc.data", AP_LOG_BYTES,
                                                        ap__take_fusion, &fusions);
            free(fusions.open);
        }
        if (rc == 0 && m->devices[i].pmu_by_task && ap__wants(t, AP_LAYER_BLOCK_DETAIL)) {
            rc = ap__each_record(m, i, "ffts_profile.data", AP_PMU_BYTES, ap__take_block, &blocks);
        }
    }
    rc = rc != 0 ? rc
                 : ap__bulk_sort((void **)&blocks.list, blocks.count, sizeof(*blocks.list),
                                 ap__blocks_by_task);
    for (uint32_t i = 0; rc == 0 && blocks.count != 0 && i < m->task_count; i++) {
        ap__task_blocks(t, &m->tasks[i], &blocks);
    }
    ap__bulk_free(blocks.list);
    return rc;
}
