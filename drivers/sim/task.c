/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sim/task.h"

#include <stdlib.h>
#include <string.h>

ap__sim_task *ap__sim_task_new(ap__sim_heap *heap)
{
    ap__sim_task *task = heap->free;

    if (task == NULL) {
        return calloc(1, sizeof(*task));
    }
    heap->free = task->next_free;
    memset(task, 0, sizeof(*task));
    return task;
}

void ap__sim_task_free(ap__sim_heap *heap, ap__sim_task *task)
{
    task->next_free = heap->free;
    heap->free = task;
}

static bool ap__before(const struct ap__sim_entry *a, const struct ap__sim_entry *b)
{
    return a->ns != b->ns ? a->ns < b->ns : a->order < b->order;
}

static void ap__up(ap__sim_heap *heap, size_t i)
{
    struct ap__sim_entry moved = heap->entry[i];

    while (i > 0 && ap__before(&moved, &heap->entry[(i - 1) / 2])) {
        heap->entry[i] = heap->entry[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap->entry[i] = moved;
}

static void ap__down(ap__sim_heap *heap, size_t i)
{
    struct ap__sim_entry moved = heap->entry[i];

    for (;;) {
        size_t child = 2 * i + 1;

        if (child + 1 < heap->count && ap__before(&heap->entry[child + 1], &heap->entry[child])) {
            child++;
        }
        if (child >= heap->count || !ap__before(&heap->entry[child], &moved)) {
            break;
        }
        heap->entry[i] = heap->entry[child];
        i = child;
    }
    heap->entry[i] = moved;
}

int ap__sim_heap_push(ap__sim_heap *heap, ap__sim_task *task)
{
    if (heap->count == heap->capacity) {
        size_t capacity = heap->capacity == 0 ? 64 : 2 * heap->capacity;
        void *entry = realloc(heap->entry, capacity * sizeof(heap->entry[0]));

        if (entry == NULL) {
            return -1;
        }
        heap->entry = entry;
        heap->capacity = capacity;
    }
    heap->entry[heap->count].ns = task->phase == 0 && task->flip_ns != 0
                                      ? task->flip_ns
                                      : ap__sim_phase_ns(task, task->phase);
    heap->entry[heap->count].order = heap->order++;
    heap->entry[heap->count].task = task;
    ap__up(heap, heap->count++);
    return 0;
}

ap__sim_task *ap__sim_heap_pop(ap__sim_heap *heap, uint64_t before_ns)
{
    ap__sim_task *task = NULL;

    if (heap->count == 0 || heap->entry[0].ns >= before_ns) {
        return NULL;
    }
    task = heap->entry[0].task;
    heap->entry[0] = heap->entry[--heap->count];
    if (heap->count > 0) {
        ap__down(heap, 0);
    }
    return task;
}

void ap__sim_heap_clear(ap__sim_heap *heap, bool all)
{
    size_t kept = 0;

    for (size_t i = 0; i < heap->count; i++) {
        if (all || heap->entry[i].task->slot != NULL) {
            ap__sim_task_free(heap, heap->entry[i].task);
        } else {
            heap->entry[kept++] = heap->entry[i];
        }
    }
    heap->count = kept;
    for (size_t i = kept / 2; i-- > 0;) {
        ap__down(heap, i);
    }
}

void ap__sim_heap_close(ap__sim_heap *heap)
{
    ap__sim_heap_clear(heap, true);
    while (heap->free != NULL) {
        ap__sim_task *task = heap->free;

        heap->free = task->next_free;
        free(task);
    }
    free(heap->entry);
    memset(heap, 0, sizeof(*heap));
}
