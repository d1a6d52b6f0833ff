/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sim/source.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/sim/pattern.h"
#include "drivers/sim/scenario.h"

#define AP_FIRST_STREAM 3u

struct ap__sim_source {
    bool runs;
    bool has_pattern;
    ap__sim_pattern pattern;
    ap__sim_slot *slot;    /* pattern.streams */
    ap__sim_slot scripted; /* stands for the scenario in its tasks */
    uint64_t begin_ns;
    size_t at; /* line of the scenario */
};

int ap__sim_task_id(ap__sim_device *device, ap__sim_task *task)
{
    ap__sim_stream *stream = NULL;

    if (device->streams == NULL) {
        device->streams = calloc(AP_SIM_STREAMS, sizeof(*device->streams));
        if (device->streams == NULL) {
            return -1;
        }
    }
    stream = &device->streams[task->stream % AP_SIM_STREAMS];
    if (device->sim->chip->records == AP_SIM_STARS_V6) {
        task->task = device->next_task++; /* 32 bits, of the whole device */
        return 0;
    }
    task->task = stream->next_task;
    if (task->task > UINT16_MAX) {
        task->task = 0;
        stream->flips++;
        /* between the last task of the old round and the first of the new one */
        task->flip_ns = task->start_ns;
        if (stream->end_ns < task->start_ns) {
            task->flip_ns = stream->end_ns + (task->start_ns - stream->end_ns) / 2;
        }
    }
    stream->next_task = task->task + 1;
    task->flip = stream->flips;
    return 0;
}

static struct ap__sim_source *ap__make(ap__sim_device *device)
{
    const ap__sim_options *options = &device->sim->options;
    struct ap__sim_source *source = calloc(1, sizeof(*source));

    if (source == NULL) {
        return NULL;
    }
    source->has_pattern = ap__sim_pattern_get(options->pattern, options, &source->pattern);
    if (source->has_pattern) {
        source->slot = calloc(source->pattern.streams, sizeof(*source->slot));
        source->has_pattern = source->slot != NULL;
    }
    return source;
}

void ap__sim_source_begin(ap__sim_device *device, uint64_t now)
{
    struct ap__sim_source *source = device->source;

    if (source == NULL) {
        source = ap__make(device);
        device->source = source;
    }
    if (source == NULL || source->runs) {
        return;
    }
    source->runs = true;
    source->at = 0;
    source->begin_ns = now + device->sim->options.delay_ms * UINT64_C(1000000);
    for (uint32_t i = 0; source->has_pattern && i < source->pattern.streams; i++) {
        ap__sim_task *task = ap__sim_task_new(&device->heap);
        ap__sim_slot *slot = &source->slot[i];

        slot->stream = (AP_FIRST_STREAM + i) % AP_SIM_STREAMS;
        slot->index = 0;
        slot->left = source->pattern.tasks != 0 ? source->pattern.tasks : UINT64_MAX;
        /* streams do not start together */
        slot->next_ns = source->begin_ns + i * UINT64_C(1000);
        if (task != NULL) {
            task->slot = slot;
            ap__sim_source_next(device, task);
        }
    }
}

void ap__sim_source_end(ap__sim_device *device)
{
    if (device->source != NULL && device->source->runs) {
        device->source->runs = false;
        ap__sim_heap_clear(&device->heap, false);
    }
}

void ap__sim_source_close(ap__sim_device *device)
{
    if (device->source != NULL) {
        free(device->source->slot);
        free(device->source);
        device->source = NULL;
    }
}

static void ap__push(ap__sim_device *device, ap__sim_task *task)
{
    if (ap__sim_heap_push(&device->heap, task) != 0) {
        ap__sim_task_free(&device->heap, task);
    }
}

void ap__sim_source_next(ap__sim_device *device, ap__sim_task *task)
{
    struct ap__sim_source *source = device->source;
    ap__sim_slot *slot = task->slot;

    if (slot == &source->scripted || slot->left == 0) {
        ap__sim_task_free(&device->heap, task);
        return;
    }
    slot->left--;
    memset(task, 0, sizeof(*task));
    ap__sim_pattern_task(device, &source->pattern, slot, task);
    if (task->kind != AP_SIM_STEP && ap__sim_task_id(device, task) == 0) {
        device->streams[task->stream].end_ns = task->end_ns;
    }
    ap__push(device, task);
}

void ap__sim_source_fill(ap__sim_device *device, uint64_t until)
{
    struct ap__sim_source *source = device->source;
    const ap__sim_scenario *scenario = device->sim->scenario;

    if (source == NULL || !source->runs || scenario == NULL) {
        return;
    }
    for (; source->at < scenario->count; source->at++) {
        const ap__sim_line *line = &scenario->line[source->at];
        ap__sim_task *task = NULL;

        if (source->begin_ns + line->at_ns >= until) {
            break;
        }
        if (line->device != UINT32_MAX && line->device != device->id) {
            continue;
        }
        task = ap__sim_task_new(&device->heap);
        if (task == NULL) {
            break;
        }
        *task = line->task;
        task->slot = &source->scripted;
        task->start_ns = source->begin_ns + line->at_ns;
        task->end_ns = task->start_ns + line->length_ns;
        if (line->next_id && task->kind != AP_SIM_STEP && ap__sim_task_id(device, task) == 0) {
            device->streams[task->stream].end_ns = task->end_ns;
        }
        ap__push(device, task);
    }
}
