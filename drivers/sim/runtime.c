/* SPDX-License-Identifier: Apache-2.0 */
/* include/sim_runtime.h on the process's simulator, which stays once it was used. */
#include "sim_runtime.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock/cycles.h"
#include "drivers/sim/internal.h"
#include "drivers/sim/random.h"
#include "drivers/sim/scenario.h"
#include "drivers/sim/source.h"

#define AP_LATENCY_NS 4000u /* from a submission to the earliest start */
#define AP_GAP_NS 500u      /* between tasks of a stream */
#define AP_EVENT_NS 200u
#define AP_POINT_NS 100u
#define AP_BYTES_PER_US 20000u
#define AP_IDLE_TASKS 256u   /* that may wait for their time when nobody listens */
#define AP_OWN_STREAMS 1024u /* first id when a pattern or scenario has the low ones */

struct simrtStream_ {
    struct simrtStream_ *next; /* of all that live, under the lock */
    uint32_t device;
    uint32_t id;
};

struct simrtEvent_ {
    pthread_mutex_t lock;
    uint64_t ns; /* host's, of its last record; 0: none */
};

static pthread_mutex_t ap__lock = PTHREAD_MUTEX_INITIALIZER;
static ap__sim *ap__simulator;
static struct simrtStream_ *ap__streams;
static pthread_mutex_t ap__hook_lock = PTHREAD_MUTEX_INITIALIZER;

enum { AP_HOOK_PROFILER, AP_HOOK_PROGRAM, AP_HOOKS };

typedef struct ap__listener {
    simrtHook hook;
    void *user;
} ap__listener;

static ap__listener ap__listeners[AP_HOOKS];
static uint64_t ap__set; /* bit i: device i, under the hooks' lock */
static __thread uint32_t ap__device;
static __thread uint32_t ap__model_inverse; /* of the thread; 0: no model */

static ap__sim *ap__get(void)
{
    char error[256];
    ap__sim *sim = NULL;
    int rc = 0;

    pthread_mutex_lock(&ap__lock);
    if (ap__simulator == NULL) {
        ap__simulator = ap__sim_acquire(&rc, error, sizeof(error));
    }
    sim = ap__simulator;
    pthread_mutex_unlock(&ap__lock);
    return sim;
}

/* The device and stream id of a handle. */
static simrtError ap__place(simrtStream stream, ap__sim_device **device, uint32_t *id)
{
    ap__sim *sim = ap__get();
    uint32_t at = stream != NULL ? stream->device : ap__device;

    if (sim == NULL) {
        return SIMRT_NO_SIMULATOR;
    }
    if (at >= ap__sim_devices(sim)) {
        return SIMRT_INVALID;
    }
    *device = &sim->device[at];
    *id = stream != NULL ? stream->id : 0;
    return SIMRT_OK;
}

simrtError simrtGetDeviceCount(uint32_t *count)
{
    ap__sim *sim = ap__get();

    if (count == NULL || sim == NULL) {
        return count == NULL ? SIMRT_INVALID : SIMRT_NO_SIMULATOR;
    }
    *count = ap__sim_devices(sim);
    return SIMRT_OK;
}

static void ap__call(const ap__listener listeners[AP_HOOKS], simrtTask *report)
{
    report->size = sizeof(*report);
    report->model = ~ap__model_inverse;
    for (int i = 0; i < AP_HOOKS; i++) {
        if (listeners[i].hook != NULL) {
            listeners[i].hook(listeners[i].user, report);
        }
    }
}

static void ap__tell_set(uint32_t device)
{
    simrtTask report = {.kind = SIMRT_SET_DEVICE, .device = device, .name = ""};
    ap__listener listeners[AP_HOOKS];
    bool news = false;

    pthread_mutex_lock(&ap__hook_lock);
    news = (ap__set >> device & 1) == 0;
    ap__set |= UINT64_C(1) << device;
    memcpy(listeners, ap__listeners, sizeof(listeners));
    pthread_mutex_unlock(&ap__hook_lock);
    if (news) {
        report.begin_ns = ap__mono_raw_ns();
        report.end_ns = report.begin_ns;
        ap__call(listeners, &report);
    }
}

simrtError simrtSetDevice(uint32_t device)
{
    ap__sim *sim = ap__get();

    if (sim == NULL || device >= ap__sim_devices(sim)) {
        return sim == NULL ? SIMRT_NO_SIMULATOR : SIMRT_INVALID;
    }
    ap__device = device;
    ap__tell_set(device);
    return SIMRT_OK;
}

simrtError simrtSetModel(uint32_t model)
{
    ap__model_inverse = ~model;
    return SIMRT_OK;
}

simrtError simrtGetDevice(uint32_t *device)
{
    if (device == NULL) {
        return SIMRT_INVALID;
    }
    *device = ap__device;
    return SIMRT_OK;
}

static uint32_t ap__stream_id(ap__sim_device *device)
{
    const ap__sim_options *options = &device->sim->options;
    bool shared = device->sim->scenario != NULL || strcmp(options->pattern, "none") != 0;
    uint32_t id = 0;

    pthread_mutex_lock(&device->lock);
    for (uint32_t i = shared ? AP_OWN_STREAMS : 1; id == 0 && i < AP_SIM_STREAMS; i++) {
        if ((device->stream_used[i / 64] >> i % 64 & 1) == 0) {
            device->stream_used[i / 64] |= UINT64_C(1) << i % 64;
            id = i;
        }
    }
    pthread_mutex_unlock(&device->lock);
    return id;
}

simrtError simrtCreateStream(simrtStream *stream)
{
    ap__sim_device *device = NULL;
    uint32_t id = 0;
    simrtError rc = stream == NULL ? SIMRT_INVALID : ap__place(NULL, &device, &id);

    if (rc != SIMRT_OK) {
        return rc;
    }
    *stream = calloc(1, sizeof(**stream));
    if (*stream == NULL) {
        return SIMRT_NO_MEMORY;
    }
    (*stream)->device = device->id;
    (*stream)->id = ap__stream_id(device);
    if ((*stream)->id == 0) {
        free(*stream);
        *stream = NULL;
        return SIMRT_NO_STREAM;
    }
    pthread_mutex_lock(&ap__lock);
    (*stream)->next = ap__streams;
    ap__streams = *stream;
    pthread_mutex_unlock(&ap__lock);
    return SIMRT_OK;
}

simrtError simrtDestroyStream(simrtStream stream)
{
    ap__sim_device *device = NULL;
    uint32_t id = 0;
    simrtError rc = stream == NULL ? SIMRT_INVALID : ap__place(stream, &device, &id);

    if (rc != SIMRT_OK) {
        return rc;
    }
    pthread_mutex_lock(&device->lock);
    device->stream_used[id / 64] &= ~(UINT64_C(1) << id % 64);
    pthread_mutex_unlock(&device->lock);
    pthread_mutex_lock(&ap__lock);
    for (struct simrtStream_ **at = &ap__streams; *at != NULL; at = &(*at)->next) {
        if (*at == stream) {
            *at = stream->next;
            break;
        }
    }
    pthread_mutex_unlock(&ap__lock);
    free(stream);
    return SIMRT_OK;
}

simrtError simrtGetStreamId(simrtStream stream, uint32_t *id)
{
    if (id == NULL) {
        return SIMRT_INVALID;
    }
    *id = stream != NULL ? stream->id : 0;
    return SIMRT_OK;
}

/* Gives what is to run its id and times, and hands it to the device.
 * It does not end before not_before. */
static simrtError ap__submit(ap__sim_device *device, const ap__sim_task *model, uint64_t length,
                             uint64_t not_before, ap__sim_task *out)
{
    ap__sim_task *task = NULL;
    simrtError rc = SIMRT_NO_MEMORY;

    pthread_mutex_lock(&device->lock);
    if (device->live == 0 && device->heap.count >= AP_IDLE_TASKS) {
        ap__sim_advance(device, ap__sim_now(device->sim));
    }
    task = ap__sim_task_new(&device->heap);
    if (task == NULL) {
        goto out;
    }
    *task = *model;
    task->start_ns = ap__sim_now(device->sim) + AP_LATENCY_NS +
                     ap__sim_random_below(&device->random, AP_LATENCY_NS);
    if (device->streams != NULL && task->start_ns < device->streams[task->stream].end_ns) {
        task->start_ns = device->streams[task->stream].end_ns + AP_GAP_NS;
    }
    if (!ap__sim_scenario_kernel(device->sim->scenario, task->name, &device->random, &length)) {
        /* up to a twentieth more */
        length += ap__sim_random_below(&device->random, (uint32_t)(length / 20 % UINT32_MAX) + 1);
    }
    task->end_ns = task->start_ns + length;
    if (task->end_ns < not_before) {
        task->end_ns = not_before;
    }
    if (ap__sim_task_id(device, task) != 0 || ap__sim_heap_push(&device->heap, task) != 0) {
        ap__sim_task_free(&device->heap, task);
        goto out;
    }
    device->streams[task->stream].end_ns = task->end_ns;
    if (device->program_end_ns < task->end_ns) {
        device->program_end_ns = task->end_ns;
    }
    *out = *task;
    rc = SIMRT_OK;
out:
    pthread_mutex_unlock(&device->lock);
    return rc;
}

static void ap__tell(const ap__sim_device *device, const ap__sim_task *task, simrtTask *report)
{
    ap__listener listeners[AP_HOOKS];

    pthread_mutex_lock(&ap__hook_lock);
    memcpy(listeners, ap__listeners, sizeof(listeners));
    pthread_mutex_unlock(&ap__hook_lock);
    if (listeners[AP_HOOK_PROFILER].hook == NULL && listeners[AP_HOOK_PROGRAM].hook == NULL) {
        return;
    }
    report->device = device->id;
    report->stream = task->stream;
    report->task = task->task;
    report->flip = task->flip;
    report->blocks = task->blocks;
    report->name = task->name;
    report->bytes = task->bytes;
    report->end_ns = ap__mono_raw_ns();
    ap__call(listeners, report);
}

simrtError simrtLaunchKernel(simrtStream stream, const simrtKernel *kernel, uint32_t *taskId)
{
    static const uint8_t kinds[] = {AP_SIM_AIC, AP_SIM_AIV, AP_SIM_MIX, AP_SIM_AICPU};
    simrtTask report = {.kind = SIMRT_TASK_KERNEL, .begin_ns = ap__mono_raw_ns()};
    ap__sim_device *device = NULL;
    ap__sim_task task = {0};
    simrtError rc = SIMRT_INVALID;

    if (kernel == NULL || kernel->size < sizeof(*kernel) || kernel->name == NULL ||
        (unsigned)kernel->core > SIMRT_AI_CPU || kernel->blocks == 0 ||
        kernel->blocks > UINT16_MAX || kernel->contexts > AP_SIM_CONTEXTS_MAX ||
        !(kernel->cost_us >= 0 && kernel->cost_us <= 1e9)) {
        return rc;
    }
    rc = ap__place(stream, &device, &task.stream);
    if (rc != SIMRT_OK) {
        return rc;
    }
    task.kind = kinds[kernel->core];
    task.blocks = kernel->blocks;
    task.contexts = (uint8_t)kernel->contexts;
    memcpy(task.name, kernel->name, strnlen(kernel->name, sizeof(task.name) - 1));
    report.core = kernel->core;
    rc = ap__submit(device, &task, (uint64_t)(kernel->cost_us * 1000), 0, &task);
    if (rc == SIMRT_OK) {
        ap__tell(device, &task, &report);
        if (taskId != NULL) {
            *taskId = task.task;
        }
    }
    return rc;
}

simrtError simrtMemcpyAsync(simrtStream stream, uint64_t bytes, simrtDirection direction,
                            uint32_t *taskId)
{
    simrtTask report = {
        .kind = SIMRT_TASK_MEMCPY, .direction = direction, .begin_ns = ap__mono_raw_ns()};
    ap__sim_device *device = NULL;
    ap__sim_task task = {.kind = AP_SIM_MEMCPY, .bytes = bytes, .name = "MemcpyAsync"};
    simrtError rc = ap__place(stream, &device, &task.stream);

    if ((unsigned)direction > SIMRT_DEVICE_TO_DEVICE || bytes > UINT64_C(1) << 44) {
        return SIMRT_INVALID;
    }
    if (rc == SIMRT_OK) {
        rc = ap__submit(device, &task, 1000 + bytes * 1000 / AP_BYTES_PER_US, 0, &task);
    }
    if (rc == SIMRT_OK) {
        ap__tell(device, &task, &report);
        if (taskId != NULL) {
            *taskId = task.task;
        }
    }
    return rc;
}

simrtError simrtCreateEvent(simrtEvent *event)
{
    if (event == NULL) {
        return SIMRT_INVALID;
    }
    *event = calloc(1, sizeof(**event));
    if (*event == NULL) {
        return SIMRT_NO_MEMORY;
    }
    if (pthread_mutex_init(&(*event)->lock, NULL) != 0) {
        free(*event);
        *event = NULL;
        return SIMRT_NO_MEMORY;
    }
    return SIMRT_OK;
}

simrtError simrtDestroyEvent(simrtEvent event)
{
    if (event == NULL) {
        return SIMRT_INVALID;
    }
    pthread_mutex_destroy(&event->lock);
    free(event);
    return SIMRT_OK;
}

static uint64_t ap__event_ns(simrtEvent event)
{
    uint64_t ns = 0;

    pthread_mutex_lock(&event->lock);
    ns = event->ns;
    pthread_mutex_unlock(&event->lock);
    return ns;
}

simrtError simrtRecordEvent(simrtEvent event, simrtStream stream)
{
    simrtTask report = {.kind = SIMRT_TASK_EVENT_RECORD, .begin_ns = ap__mono_raw_ns()};
    ap__sim_device *device = NULL;
    ap__sim_task task = {.kind = AP_SIM_EVENT_RECORD, .name = "EventRecord"};
    simrtError rc = event == NULL ? SIMRT_INVALID : ap__place(stream, &device, &task.stream);

    if (rc == SIMRT_OK) {
        rc = ap__submit(device, &task, AP_EVENT_NS, 0, &task);
    }
    if (rc == SIMRT_OK) {
        pthread_mutex_lock(&event->lock);
        event->ns = task.end_ns;
        pthread_mutex_unlock(&event->lock);
        ap__tell(device, &task, &report);
    }
    return rc;
}

simrtError simrtStreamWaitEvent(simrtStream stream, simrtEvent event)
{
    simrtTask report = {.kind = SIMRT_TASK_EVENT_WAIT, .begin_ns = ap__mono_raw_ns()};
    ap__sim_device *device = NULL;
    ap__sim_task task = {.kind = AP_SIM_EVENT_WAIT, .name = "EventWait"};
    simrtError rc = event == NULL ? SIMRT_INVALID : ap__place(stream, &device, &task.stream);

    if (rc == SIMRT_OK) {
        rc = ap__submit(device, &task, AP_EVENT_NS, ap__event_ns(event), &task);
    }
    if (rc == SIMRT_OK) {
        ap__tell(device, &task, &report);
    }
    return rc;
}

/* Any address may be asked about. */
static bool ap__is_stream(simrtStream stream)
{
    struct simrtStream_ *s = NULL;

    pthread_mutex_lock(&ap__lock);
    for (s = ap__streams; s != NULL && s != stream; s = s->next) {
    }
    pthread_mutex_unlock(&ap__lock);
    return s != NULL;
}

simrtError simrtRecordPoint(simrtStream stream, uint64_t index, uint64_t model, uint16_t tag)
{
    ap__sim_device *device = NULL;
    ap__sim_task task = {.kind = AP_SIM_STEP, .name = "Point", .index = index, .model = model,
                         .step_tag = tag};
    simrtError rc = stream != NULL && !ap__is_stream(stream)
                        ? SIMRT_INVALID
                        : ap__place(stream, &device, &task.stream);

    return rc == SIMRT_OK ? ap__submit(device, &task, AP_POINT_NS, 0, &task) : rc;
}

/* Until the time of the host's has come; virtual time is moved on. */
static void ap__wait_until(ap__sim *sim, uint64_t ns)
{
    uint64_t now = ap__sim_now(sim);

    if (sim->options.step != 0) {
        if (now < ns) {
            ap__sim_step(sim, ns - now + 1);
        }
        return;
    }
    for (; now < ns; now = ap__sim_now(sim)) {
        struct timespec left = {(time_t)((ns - now) / 1000000000), (long)((ns - now) % 1000000000)};

        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &left, NULL);
    }
}

simrtError simrtSynchronizeEvent(simrtEvent event)
{
    ap__sim *sim = ap__get();

    if (event == NULL || sim == NULL) {
        return event == NULL ? SIMRT_INVALID : SIMRT_NO_SIMULATOR;
    }
    ap__wait_until(sim, ap__event_ns(event));
    return SIMRT_OK;
}

simrtError simrtEventElapsed(simrtEvent begin, simrtEvent end, double *us)
{
    uint64_t a = begin != NULL ? ap__event_ns(begin) : 0;
    uint64_t b = end != NULL ? ap__event_ns(end) : 0;

    if (a == 0 || b == 0 || us == NULL) {
        return SIMRT_INVALID;
    }
    *us = (double)(int64_t)(b - a) / 1000;
    return SIMRT_OK;
}

simrtError simrtSynchronizeStream(simrtStream stream)
{
    ap__sim_device *device = NULL;
    uint32_t id = 0;
    uint64_t end = 0;
    simrtError rc = ap__place(stream, &device, &id);

    if (rc != SIMRT_OK) {
        return rc;
    }
    pthread_mutex_lock(&device->lock);
    end = device->streams != NULL ? device->streams[id].end_ns : 0;
    pthread_mutex_unlock(&device->lock);
    ap__wait_until(device->sim, end);
    return SIMRT_OK;
}

simrtError simrtSynchronizeDevice(void)
{
    ap__sim_device *device = NULL;
    uint32_t id = 0;
    uint64_t end = 0;
    simrtError rc = ap__place(NULL, &device, &id);

    if (rc != SIMRT_OK) {
        return rc;
    }
    pthread_mutex_lock(&device->lock);
    end = device->program_end_ns;
    pthread_mutex_unlock(&device->lock);
    ap__wait_until(device->sim, end);
    return SIMRT_OK;
}

static void ap__listen(int who, simrtHook hook, void *user)
{
    ap__listener only[AP_HOOKS] = {[AP_HOOK_PROFILER] = {hook, user}};
    uint64_t set = 0;

    pthread_mutex_lock(&ap__hook_lock);
    ap__listeners[who] = (ap__listener){hook, user};
    set = ap__set;
    pthread_mutex_unlock(&ap__hook_lock);
    for (; set != 0; set &= set - 1) {
        simrtTask report = {.kind = SIMRT_SET_DEVICE,
                            .device = (uint32_t)__builtin_ctzll(set),
                            .name = "",
                            .begin_ns = ap__mono_raw_ns()};

        report.end_ns = report.begin_ns;
        ap__call(only, &report);
    }
}

void simrtSetHook(simrtHook hook, void *user)
{
    ap__listen(AP_HOOK_PROGRAM, hook, user);
}

void simrtSetProfilerHook(simrtHook hook, void *user)
{
    ap__listen(AP_HOOK_PROFILER, hook, user);
}
