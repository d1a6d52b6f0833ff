/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of a device and the order in which things happen to them. */
#ifndef AP_SIM_TASK_H_
#define AP_SIM_TASK_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AP_SIM_STREAMS 2048u
#define AP_SIM_CONTEXTS_MAX 64u

typedef enum ap__sim_kind {
    AP_SIM_AIC,
    AP_SIM_AIV,
    AP_SIM_MIX, /* cube and vector, FFTS+ contexts */
    AP_SIM_AICPU,
    AP_SIM_MEMCPY,
    AP_SIM_EVENT_RECORD,
    AP_SIM_EVENT_WAIT,
    AP_SIM_NOTIFY_RECORD,
    AP_SIM_NOTIFY_WAIT,
    AP_SIM_STEP, /* a key point of channel 44, no task */
    AP_SIM_KINDS
} ap__sim_kind;

typedef struct ap__sim_stream {
    uint64_t end_ns; /* of its last task */
    uint32_t next_task;
    uint32_t flips;
} ap__sim_stream;

typedef struct ap__sim_task {
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t flip_ns; /* 0: the id did not wrap at this task */
    uint32_t stream;
    uint32_t task;
    uint32_t flip;
    uint32_t blocks;
    uint8_t kind; /* ap__sim_kind */
    uint8_t contexts;
    uint8_t counters; /* how many of `counter` are given */
    uint8_t seen;     /* AP_SIM_SEEN_* */
    uint16_t phase;
    uint16_t step_tag; /* AP_SIM_STEP */
    uint64_t index;    /* and its numbers */
    uint64_t model;
    uint64_t bytes; /* AP_SIM_MEMCPY */
    uint64_t counter[10];
    struct ap__sim_slot *slot; /* of the source that gives the next one; NULL: none */
    struct ap__sim_task *next_free;
    char name[64];
} ap__sim_task;

#define AP_SIM_SEEN_START 1u
#define AP_SIM_SEEN_END 2u
#define AP_SIM_SEEN_PMU 4u

/* Number of things that happen: start, contexts' starts, contexts' ends, end. */
static inline uint32_t ap__sim_phases(const ap__sim_task *task)
{
    return 2 + 2u * task->contexts;
}

static inline uint64_t ap__sim_phase_ns(const ap__sim_task *task, uint32_t phase)
{
    uint64_t length = task->end_ns - task->start_ns;

    if (phase == 0) {
        return task->start_ns;
    }
    if (phase + 1 >= ap__sim_phases(task)) {
        return task->end_ns;
    }
    return task->start_ns + length * (2 * phase - 1) / (4u * task->contexts + 2);
}

/* What is still to happen, the soonest first; equal times in the order of arrival. */
typedef struct ap__sim_heap {
    struct ap__sim_entry {
        uint64_t ns;
        uint64_t order;
        ap__sim_task *task;
    } * entry;
    size_t count;
    size_t capacity;
    uint64_t order;
    ap__sim_task *free; /* tasks done with */
} ap__sim_heap;

/* Zeroed; NULL for want of memory. */
ap__sim_task *ap__sim_task_new(ap__sim_heap *heap);
void ap__sim_task_free(ap__sim_heap *heap, ap__sim_task *task);
/* At the task's present phase. 0 or -1. */
int ap__sim_heap_push(ap__sim_heap *heap, ap__sim_task *task);
/* The first if it is before ns, else NULL. */
ap__sim_task *ap__sim_heap_pop(ap__sim_heap *heap, uint64_t before_ns);
/* Frees every task of a source, or every one. */
void ap__sim_heap_clear(ap__sim_heap *heap, bool all);
void ap__sim_heap_close(ap__sim_heap *heap);

#endif
