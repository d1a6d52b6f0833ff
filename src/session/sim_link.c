/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulator's runtime submits, reported as the real runtime and its callers would: the
 * call and, within it, the operator's launch and the runtime's call; the task's track; the node. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "drivers/choose.h"
#include "format/wire_report.h"
#include "reporter/report.h"
#include "session/runtime_calls.h"
#include "session/set_device.h"
#include "sim_runtime.h"
#include "subscribe/op_match.h"
#include "subscribe/op_names.h"
#include "subscribe/subscribe.h"

#define AP_API_ACL_LAUNCH 0x030050u
#define AP_API_ACL_MEMCPY 0x030033u
#define AP_API_ACL_RECORD 0x030051u
#define AP_API_ACL_WAIT 0x030052u
#define AP_API_RT_LAUNCH 1003u
#define AP_API_RT_MEMCPY 1010u
#define AP_API_RT_RECORD 1011u
#define AP_API_RT_WAIT 1012u

typedef void (*ap__set_hook_fn)(simrtHook hook, void *user);
typedef simrtError (*ap__point_fn)(simrtStream stream, uint64_t index, uint64_t model,
                                   uint16_t tag);

/* ---- names ---- */

static void ap__register_types(void)
{
    static const struct {
        uint16_t level;
        uint32_t type;
        const char *name;
    } types[] = {
        {AP_LEVEL_ACL, AP_API_ACL_LAUNCH, "aclrtLaunchKernel"},
        {AP_LEVEL_ACL, AP_API_ACL_MEMCPY, "aclrtMemcpyAsync"},
        {AP_LEVEL_ACL, AP_API_ACL_RECORD, "aclrtRecordEvent"},
        {AP_LEVEL_ACL, AP_API_ACL_WAIT, "aclrtStreamWaitEvent"},
        {AP_LEVEL_RUNTIME, AP_API_RT_LAUNCH, "KernelLaunch"},
        {AP_LEVEL_RUNTIME, AP_API_RT_MEMCPY, "MemCopyAsync"},
        {AP_LEVEL_RUNTIME, AP_API_RT_RECORD, "EventRecord"},
        {AP_LEVEL_RUNTIME, AP_API_RT_WAIT, "StreamWaitEvent"},
        {AP_LEVEL_RUNTIME, AP_TASK_AICORE, "KERNEL_AICORE"},
        {AP_LEVEL_RUNTIME, AP_TASK_AICPU, "KERNEL_AICPU"},
        {AP_LEVEL_RUNTIME, AP_TASK_EVENT_RECORD, "EVENT_RECORD"},
        {AP_LEVEL_RUNTIME, AP_TASK_EVENT_WAIT, "EVENT_WAIT"},
        {AP_LEVEL_RUNTIME, AP_TASK_MEMCPY, "MEMCPY_ASYNC"},
        {AP_LEVEL_RUNTIME, AP_TASK_AIVEC, "KERNEL_AIVEC"},
        {AP_LEVEL_RUNTIME, AP_TASK_MIX_AIC, "KERNEL_MIX_AIC"},
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        (void)ap__report_type(types[i].level, types[i].type, types[i].name);
    }
}

/* ---- records ---- */

/* Nested in the order of the levels, as far as the call was long enough. */
static void ap__report_call(const simrtTask *task, uint32_t depth, uint16_t level, uint32_t type,
                            uint64_t item)
{
    uint64_t inset = task->end_ns - task->begin_ns >= 16 ? depth * 2 : 0;
    ap__wire_api record = {
        .magic = AP_WIRE_MAGIC,
        .level = level,
        .type = type,
        .thread_id = ap__report_thread(),
        .begin = task->begin_ns + inset,
        .end = task->end_ns - inset,
        .item_id = item,
    };

    (void)ap__report_api(true, &record);
}

static void ap__report_data(const simrtTask *task, uint16_t level, uint32_t type, const void *data,
                            uint32_t bytes)
{
    ap__wire_compact record = {
        .magic = AP_WIRE_MAGIC,
        .level = level,
        .type = type,
        .thread_id = ap__report_thread(),
        .data_length = bytes,
        .time_stamp = task->begin_ns + (task->end_ns - task->begin_ns) / 2,
    };

    memcpy(record.data, data, bytes);
    (void)ap__report_compact(true, &record, sizeof(record));
}

static void ap__report_track(const simrtTask *task, uint64_t type, uint64_t name)
{
    bool long_ids = task->task > UINT16_MAX;
    ap__wire_task_track track = {
        .device = (uint16_t)task->device,
        .stream = (uint16_t)task->stream,
        .task = (uint16_t)task->task,
        .batch = (uint16_t)(long_ids ? task->task >> 16 : task->flip),
        .task_type = type,
        .kernel_name = name,
    };

    ap__report_data(task, AP_LEVEL_RUNTIME, AP_TYPE_TASK_TRACK, &track, sizeof(track));
}

static void ap__report_kernel(const simrtTask *task)
{
    static const uint32_t tracks[] = {AP_TASK_AICORE, AP_TASK_AIVEC, AP_TASK_MIX_AIC,
                                      AP_TASK_AICPU};
    static const uint32_t nodes[] = {AP_NODE_AI_CORE, AP_NODE_AI_VECTOR, AP_NODE_MIX_AIC,
                                     AP_NODE_AI_CPU};
    uint64_t name = ap__report_hash(task->name, strlen(task->name));
    ap__wire_node_basic node = {
        .op_name = name,
        .task_type = nodes[task->core],
        .op_type = ap__report_hash(task->name, ap__op_type_length(task->name, strlen(task->name))),
        .blocks = task->blocks,
    };

    ap__report_call(task, 2, AP_LEVEL_RUNTIME, AP_API_RT_LAUNCH, 0);
    ap__report_call(task, 1, AP_LEVEL_NODE, AP_TYPE_LAUNCH, name);
    ap__report_call(task, 0, AP_LEVEL_ACL, AP_API_ACL_LAUNCH, 0);
    ap__report_track(task, tracks[task->core], name);
    ap__report_data(task, AP_LEVEL_NODE, AP_TYPE_NODE_BASIC, &node, sizeof(node));
}

static void ap__report_memcpy(const simrtTask *task)
{
    ap__wire_memcpy_info info = {.bytes = task->bytes,
                                 .direction = (uint16_t)(task->direction + 1)};

    ap__report_call(task, 1, AP_LEVEL_RUNTIME, AP_API_RT_MEMCPY, 0);
    ap__report_call(task, 0, AP_LEVEL_ACL, AP_API_ACL_MEMCPY, 0);
    ap__report_data(task, AP_LEVEL_RUNTIME, AP_TYPE_MEMCPY_INFO, &info, sizeof(info));
    ap__report_track(task, AP_TASK_MEMCPY, 0);
}

static void ap__report_event(const simrtTask *task, uint32_t rt, uint32_t acl, uint32_t type)
{
    ap__report_call(task, 1, AP_LEVEL_RUNTIME, rt, 0);
    ap__report_call(task, 0, AP_LEVEL_ACL, acl, 0);
    ap__report_track(task, type, 0);
}

static void ap__on_task(void *user, const simrtTask *task)
{
    int saved = errno;

    (void)user;
    if (task->kind == SIMRT_SET_DEVICE) {
        ap__session_device_set(task->device, true);
        errno = saved;
        return;
    }
    if (ap__subscribe_active()) {
        bool model = task->size >= offsetof(simrtTask, model) + sizeof(task->model);

        ap__subscribe_launch(task->device, task->stream, task->task,
                             model ? task->model : AP_NO_MODEL, ap__report_thread(),
                             task->kind == SIMRT_TASK_KERNEL ? task->name : NULL);
    }
    if (!ap__report_wanted()) {
        errno = saved;
        return;
    }
    if (task->kind == SIMRT_TASK_KERNEL) {
        ap__report_kernel(task);
    } else if (task->kind == SIMRT_TASK_MEMCPY) {
        ap__report_memcpy(task);
    } else if (task->kind == SIMRT_TASK_EVENT_RECORD) {
        ap__report_event(task, AP_API_RT_RECORD, AP_API_ACL_RECORD, AP_TASK_EVENT_RECORD);
    } else {
        ap__report_event(task, AP_API_RT_WAIT, AP_API_ACL_WAIT, AP_TASK_EVENT_WAIT);
    }
    errno = saved;
}

static _Atomic(ap__point_fn) ap__record_point;

static int ap__on_point(void *stream, uint64_t id, uint64_t model, uint16_t tag)
{
    return (int)atomic_load(&ap__record_point)(stream, id, model, tag);
}

void ap__session_link_simulator(void)
{
    static atomic_flag linked = ATOMIC_FLAG_INIT;
    const ap__driver *driver = ap__driver_peek();
    ap__set_hook_fn set_hook = NULL;
    ap__point_fn point = NULL;

    if (driver == NULL || driver->ops == NULL || driver->ops->simulated == 0 ||
        atomic_flag_test_and_set(&linked)) {
        return;
    }
    ap__register_types();
    if (driver->library[0] == '\0') {
        set_hook = simrtSetProfilerHook;
        point = simrtRecordPoint;
    } else { /* a stand-alone simulator has a runtime of its own */
        void *handle = dlopen(driver->library, RTLD_LAZY | RTLD_NOLOAD);

        *(void **)&set_hook = handle != NULL ? dlsym(handle, "simrtSetProfilerHook") : NULL;
        *(void **)&point = handle != NULL ? dlsym(handle, "simrtRecordPoint") : NULL;
    }
    if (point != NULL) {
        atomic_store(&ap__record_point, point);
        ap__runtime_use_simulator(ap__on_point);
    }
    if (set_hook != NULL) {
        set_hook(ap__on_task, NULL);
    }
}
