/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/task_index.h"

#include <errno.h>

#include "analysis/bulk.h"

static uint64_t ap__key(uint32_t device, uint32_t stream, uint32_t task)
{
    return (uint64_t)device << 32 | (uint64_t)(stream & 0xFFFF) << 16 | (task & 0xFFFF);
}

static int ap__by_key(const void *a, const void *b)
{
    const ap__task_ref *x = a;
    const ap__task_ref *y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->task < y->task ? -1 : x->task > y->task;
}

int ap__task_index_make(ap__task_index *index, const ap__model *model)
{
    *index = (ap__task_index){.model = model};
    for (uint32_t i = 0; i < model->task_count; i++) {
        const ap__task *t = &model->tasks[i];
        ap__task_ref *r = NULL;

        ap__bulk_step();
        if (ap__task_node(model, t) == NULL) {
            continue;
        }
        r = ap__bulk_push((void **)&index->list, &index->count, sizeof(*r));
        if (r == NULL) {
            return ENOMEM;
        }
        *r = (ap__task_ref){ap__key(t->device, t->stream, t->task), i, 0};
    }
    return ap__bulk_sort((void **)&index->list, index->count, sizeof(*index->list), ap__by_key);
}

const char *ap__task_index_name(ap__task_index *index, uint32_t device, uint32_t stream,
                                uint32_t task)
{
    uint64_t key = ap__key(device, stream, task);
    uint32_t low = 0;
    uint32_t high = index->count;
    ap__task_ref *first = NULL;
    uint32_t at = 0;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (index->list[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == index->count || index->list[low].key != key) {
        return NULL;
    }
    first = &index->list[low];
    at = low + first->taken;
    if (at + 1 < index->count && index->list[at + 1].key == key) {
        first->taken++;
    }
    return ap__reader_hash_text(
        index->model->reader,
        ap__task_node(index->model, &index->model->tasks[index->list[at].task])->name);
}

void ap__task_index_free(ap__task_index *index)
{
    ap__bulk_free(index->list);
    index->list = NULL;
    index->count = 0;
}
