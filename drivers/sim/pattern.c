/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sim/pattern.h"

#include <string.h>

#include "drivers/sim/random.h"


static const ap__sim_pattern ap__patterns[] = {
    {"none", 0, 0, 1, 1, 1, 0, 0, {0}},
    {"one", 1, 1, 100, 10, 8, 0, 1, {AP_SIM_AIC}},
    {"single", 1, 1000, 100, 10, 24, 0, 6,
     {AP_SIM_AIC, AP_SIM_AIV, AP_SIM_AIC, AP_SIM_MEMCPY, AP_SIM_AICPU, AP_SIM_EVENT_RECORD}},
    {"streams", 8, 1000, 20, 1, 24, 0, 2, {AP_SIM_AIC, AP_SIM_AIV}},
    {"mix", 1, 200, 200, 20, 24, 24, 1, {AP_SIM_MIX}},
    {"wrap", 1, 65636, 2, 1, 1, 0, 1, {AP_SIM_AIC}},
    {"idle", 1, 4, 100, 500000, 8, 0, 1, {AP_SIM_AIC}},
    {"steps", 1, 80, 200, 20, 24, 0, 4,
     {AP_SIM_STEP, AP_SIM_AIC, AP_SIM_AIV, AP_SIM_STEP}},
    {"flood", 8, 0, 100, 100, 4, 0, 1, {AP_SIM_AIC}},
};

static const char *const ap__names[AP_SIM_KINDS][4] = {
    [AP_SIM_AIC] = {"MatMul", "Conv2D", "BatchMatMul", "FullyConnection"},
    [AP_SIM_AIV] = {"Add", "Softmax", "LayerNorm", "Gelu"},
    [AP_SIM_MIX] = {"FlashAttention", "MatMulAdd", "FlashAttentionGrad", "GroupedMatMul"},
    [AP_SIM_AICPU] = {"TopK", "Unique", "NonZero", "Sort"},
    [AP_SIM_MEMCPY] = {"MemcpyAsync", "MemcpyAsync", "MemcpyAsync", "MemcpyAsync"},
    [AP_SIM_EVENT_RECORD] = {"EventRecord", "EventRecord", "EventRecord", "EventRecord"},
    [AP_SIM_EVENT_WAIT] = {"EventWait", "EventWait", "EventWait", "EventWait"},
    [AP_SIM_NOTIFY_RECORD] = {"NotifyRecord", "NotifyRecord", "NotifyRecord", "NotifyRecord"},
    [AP_SIM_NOTIFY_WAIT] = {"NotifyWait", "NotifyWait", "NotifyWait", "NotifyWait"},
    [AP_SIM_STEP] = {"step", "step", "step", "step"},
};

static void ap__override(uint32_t *value, uint32_t option)
{
    *value = option != AP_SIM_UNSET ? option : *value;
}

bool ap__sim_pattern_known(const char *name)
{
    for (size_t i = 0; i < sizeof(ap__patterns) / sizeof(ap__patterns[0]); i++) {
        if (strcmp(ap__patterns[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

bool ap__sim_pattern_get(const char *name, const ap__sim_options *options, ap__sim_pattern *out)
{
    for (size_t i = 0; i < sizeof(ap__patterns) / sizeof(ap__patterns[0]); i++) {
        if (strcmp(ap__patterns[i].name, name) != 0 || ap__patterns[i].kinds == 0) {
            continue;
        }
        *out = ap__patterns[i];
        ap__override(&out->streams, options->streams);
        ap__override(&out->tasks, options->tasks);
        ap__override(&out->dur_us, options->dur_us);
        ap__override(&out->gap_us, options->gap_us);
        ap__override(&out->blocks, options->blocks);
        return true;
    }
    return false;
}

void ap__sim_pattern_task(ap__sim_device *device, const ap__sim_pattern *pattern,
                          ap__sim_slot *slot, ap__sim_task *task)
{
    const ap__sim_options *options = &device->sim->options;
    uint64_t length = pattern->dur_us * UINT64_C(1000);
    uint64_t gap = pattern->gap_us * UINT64_C(1000);
    uint32_t index = slot->index++;

    if (options->rate != AP_SIM_UNSET) {
        length = UINT64_C(1000000000) / options->rate / 2;
        gap = UINT64_C(1000000000) / options->rate - length;
    }
    task->kind = pattern->kind[index % pattern->kinds];
    task->stream = slot->stream;
    task->slot = slot;
    task->start_ns = slot->next_ns;
    slot->next_ns += length + gap;
    /* 3/4 to 5/4 of the length, within the task's own interval */
    length = length * 3 / 4 + ap__sim_random(&device->random) % (length / 2 + 1);
    if (length > slot->next_ns - task->start_ns) {
        length = slot->next_ns - task->start_ns;
    }
    task->end_ns = task->start_ns + length;
    task->blocks = pattern->blocks;
    task->contexts = (uint8_t)pattern->contexts;
    task->bytes = task->kind == AP_SIM_MEMCPY ? (length + 1) * 20 : 0; /* 20 GB/s */
    if (task->kind == AP_SIM_STEP) {
        task->end_ns = task->start_ns;
        task->index = 1 + index / pattern->kinds;
        task->model = 1;
        task->step_tag = index % pattern->kinds == 0 ? 0 : 1;
    }
    memcpy(task->name, ap__names[task->kind][index % 4],
           strlen(ap__names[task->kind][index % 4]) + 1);
}
