/* SPDX-License-Identifier: Apache-2.0 */
#include "subscribe/subscribe.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reporter/modules.h"
#include "session/devices.h"
#include "session/errtext.h"
#include "session/registry.h"
#include "subscribe/internal.h"
#include "subscribe/op_names.h"
#include "subscribe/op_pipe.h"
#include "subscribe/op_source.h"

/* A pipe with all the models that write to it. */
typedef struct ap__outlet {
    ap__op_pipe *pipe;
    int *fd; /* the program's */
    int number; /* its value when the subscription began, and what it was */
    struct stat file;
    uint32_t users;
} ap__outlet;

typedef struct ap__subscription {
    struct ap__subscription *next;
    uint32_t model;
    uint32_t device;
    ap__subscribe_settings settings;
    ap__outlet *outlet;
} ap__subscription;

/* Changed under the session's lock and this one, read under either. */
static pthread_mutex_t ap__lock = PTHREAD_MUTEX_INITIALIZER;
static ap__subscription *ap__first;
static ap__op_source *ap__sources[AP_MAX_DEVICES];
static _Atomic uint32_t ap__live;
static pid_t ap__owner; /* a child made past the fork handlers has none of the threads */
/* Of all of the process's subscriptions; of pipes when they have been closed. */
static struct {
    _Atomic uint64_t records;
    _Atomic uint64_t written;
    _Atomic uint64_t lost;
    _Atomic uint64_t missed;
} ap__account;
/* Around the use of a source by a launching thread: its end takes it for writing. */
static pthread_rwlock_t ap__sources_lock = PTHREAD_RWLOCK_INITIALIZER;

bool ap__subscribe_active(void)
{
    return atomic_load_explicit(&ap__live, memory_order_relaxed) != 0;
}

/* ---- records ---- */

static void ap__sink(uint32_t device, const ap__op_launch *launch, uint64_t start, uint64_t end)
{
    ap__wire_op record = {.model = launch->model,
                          .flag = AP_OP_FLAG_OP,
                          .thread = launch->thread,
                          .op = launch->op,
                          .start_ns = start,
                          .end_ns = end,
                          .execution_ns = end - start,
                          .duration_us = (end - start) / 1000,
                          .device = device};

    record.signature = ap__op_signature(&record);
    pthread_mutex_lock(&ap__lock);
    for (const ap__subscription *s = ap__first; s != NULL; s = s->next) {
        if (s->model == launch->model && s->device == device) {
            ap__op_pipe_put(s->outlet->pipe, &record);
            atomic_fetch_add_explicit(&ap__account.records, 1, memory_order_relaxed);
        }
    }
    pthread_mutex_unlock(&ap__lock);
}

/* The model of a task that nobody has named one for. */
static uint32_t ap__only_model(uint32_t device)
{
    uint32_t model = AP_NO_MODEL;
    uint32_t n = 0;

    pthread_mutex_lock(&ap__lock);
    for (const ap__subscription *s = ap__first; s != NULL; s = s->next) {
        model = s->device == device ? s->model : model;
        n += s->device == device;
    }
    pthread_mutex_unlock(&ap__lock);
    return n == 1 ? model : AP_NO_MODEL;
}

void ap__subscribe_launch(uint32_t device, uint32_t stream, uint32_t task, uint32_t model,
                          uint32_t thread, const char *name)
{
    ap__op_launch launch = {.model = model, .thread = thread};

    if (!ap__subscribe_active() || device >= AP_MAX_DEVICES) {
        return;
    }
    launch.op = name != NULL ? ap__op_number(name, NULL) : 0;
    launch.model = model != AP_NO_MODEL ? model : ap__only_model(device);
    pthread_rwlock_rdlock(&ap__sources_lock);
    if (ap__sources[device] != NULL) {
        ap__op_source_launch(ap__sources[device], (uint16_t)stream, (uint16_t)task, &launch);
    }
    pthread_rwlock_unlock(&ap__sources_lock);
}

void ap__subscribe_static(uint32_t device, uint32_t stream, uint32_t task, uint32_t thread,
                          const char *name)
{
    ap__op_launch launch = {.thread = thread};

    if (!ap__subscribe_active() || device >= AP_MAX_DEVICES) {
        return;
    }
    launch.op = name != NULL ? ap__op_number(name, NULL) : 0;
    launch.model = ap__only_model(device);
    pthread_rwlock_rdlock(&ap__sources_lock);
    if (ap__sources[device] != NULL) {
        ap__op_source_static(ap__sources[device], (uint16_t)stream, (uint16_t)task, &launch);
    }
    pthread_rwlock_unlock(&ap__sources_lock);
}

void ap__subscribe_rename(uint32_t device, uint32_t stream, uint32_t task, const char *name,
                          const char *type)
{
    uint64_t op = 0;

    if (!ap__subscribe_active() || device >= AP_MAX_DEVICES) {
        return;
    }
    op = ap__op_number(name, type);
    pthread_rwlock_rdlock(&ap__sources_lock);
    if (op != 0 && ap__sources[device] != NULL) {
        ap__op_source_rename(ap__sources[device], (uint16_t)stream, (uint16_t)task, op);
    }
    pthread_rwlock_unlock(&ap__sources_lock);
}

void ap__subscribe_stats(aclprofStats *out)
{
    out->opRecords = atomic_load_explicit(&ap__account.records, memory_order_relaxed);
    out->opWritten = atomic_load_explicit(&ap__account.written, memory_order_relaxed);
    out->opLost = atomic_load_explicit(&ap__account.lost, memory_order_relaxed);
    out->opMissed = atomic_load_explicit(&ap__account.missed, memory_order_relaxed);
    pthread_rwlock_rdlock(&ap__sources_lock);
    for (uint32_t i = 0; i < AP_MAX_DEVICES; i++) {
        if (ap__sources[i] != NULL) {
            out->opMissed += ap__op_source_missed(ap__sources[i]);
        }
    }
    pthread_rwlock_unlock(&ap__sources_lock);
}

/* ---- pipes ---- */

static ap__outlet *ap__outlet_of(const int *fd)
{
    for (ap__subscription *s = ap__first; s != NULL; s = s->next) {
        if (s->outlet->fd == fd && s->outlet->number == *fd) {
            s->outlet->users++;
            return s->outlet;
        }
    }
    return NULL;
}

static aclError ap__outlet_get(const char *api, int *fd, ap__outlet **out)
{
    ap__outlet *o = ap__outlet_of(fd);
    int rc = 0;

    if (o != NULL) {
        *out = o;
        return ACL_SUCCESS;
    }
    o = calloc(1, sizeof(*o));
    if (o == NULL) {
        return ap__fail(ACL_ERROR_PROFILING_FAILURE, AP_EK_MEMORY, api, "Memory is short.");
    }
    o->fd = fd;
    o->number = *fd;
    o->users = 1;
    rc = ap__op_pipe_open(&o->pipe, o->number);
    if (rc == 0 && fstat(o->number, &o->file) != 0) {
        (void)ap__op_pipe_close(o->pipe);
        rc = 1;
    }
    if (rc != 0) {
        int number = o->number;

        free(o);
        return ap__fail(ACL_ERROR_PROFILING_FAILURE, AP_EK_BAD_VALUE, api,
                        "Value [%d] for parameter *fd is invalid. Reason: it is no descriptor that "
                        "can be written to; pass the write end of a pipe.",
                        number);
    }
    *out = o;
    return ACL_SUCCESS;
}

/* The last user gone, the program's end is closed, unless it has become something else. */
static void ap__outlet_put(ap__outlet *o)
{
    ap__op_pipe_counts counts;
    struct stat now;

    if (--o->users != 0) {
        return;
    }
    counts = ap__op_pipe_close(o->pipe);
    atomic_fetch_add_explicit(&ap__account.written, counts.written, memory_order_relaxed);
    atomic_fetch_add_explicit(&ap__account.lost, counts.lost, memory_order_relaxed);
    ap__log(counts.lost != 0 ? AP_LOG_WARN : AP_LOG_INFO,
            "subscription: %" PRIu64 " records, %" PRIu64 " written to the pipe, %" PRIu64
            " lost (the pipe was full or had no reader)",
            counts.emitted, counts.written, counts.lost);
    if (*o->fd == o->number && fstat(o->number, &now) == 0 && now.st_dev == o->file.st_dev &&
        now.st_ino == o->file.st_ino) {
        (void)close(o->number);
    }
    *o->fd = -1;
    free(o);
}

/* ---- subscriptions ---- */

static ap__subscription **ap__find(uint32_t model)
{
    ap__subscription **at = &ap__first;

    while (*at != NULL && (*at)->model != model) {
        at = &(*at)->next;
    }
    return at;
}

static aclError ap__no_model(const char *api, uint32_t model, const char *why)
{
    char text[16];
    int n = snprintf(text, sizeof(text), "%" PRIu32, model);

    return ap__fail_value(ACL_ERROR_INVALID_MODEL_ID, api, "modelId", text, (size_t)n, "%s", why);
}

/* The rest of the device's subscriptions must be alike: they share its counters. */
static aclError ap__check_others(const char *api, uint32_t device, const ap__subscribe_settings *s)
{
    for (const ap__subscription *o = ap__first; o != NULL; o = o->next) {
        if (o->device == device &&
            (o->settings.times != s->times || o->settings.metrics != s->metrics)) {
            return ap__fail(ACL_ERROR_INVALID_PROFILING_CONFIG, AP_EK_BAD_CONFIG, api,
                            "Model %" PRIu32 " of device %" PRIu32 " is subscribed to with other "
                            "settings. Use the same for all models of a device.",
                            o->model, device);
        }
    }
    return ACL_SUCCESS;
}

static void ap__tell(uint32_t type, const ap__subscription *s)
{
    ap__module_command command = {.data_types = ACL_PROF_TASK_TIME,
                                  .devices = &s->device,
                                  .device_count = 1,
                                  .chip = ap__device_chip(s->device),
                                  .model = s->model};

    ap__modules_model(type, &command);
}

static aclError ap__source_get(const char *api, uint32_t device)
{
    const char *why = NULL;
    ap__op_source *source = NULL;

    if (device >= AP_MAX_DEVICES || (int32_t)device >= ap__device_count()) {
        return ap__fail(ACL_ERROR_PROFILING_FAILURE, AP_EK_INNER, api,
                        "The model's device %" PRIu32 " is not there (%s).", device,
                        ap__device_count() < 0 ? ap__devices_why_none()
                                               : "the driver does not report it");
    }
    if (ap__sources[device] != NULL) {
        return ACL_SUCCESS;
    }
    source = ap__op_source_start(device, ap__sink, &why);
    if (source == NULL) {
        return ap__fail(ACL_ERROR_PROFILING_FAILURE, AP_EK_INNER, api,
                        "The operators of device %" PRIu32 " cannot be recorded: %s.", device, why);
    }
    pthread_rwlock_wrlock(&ap__sources_lock);
    ap__sources[device] = source;
    pthread_rwlock_unlock(&ap__sources_lock);
    return ACL_SUCCESS;
}

static void ap__link(ap__subscription *s)
{
    pthread_mutex_lock(&ap__lock);
    s->next = ap__first;
    ap__first = s;
    ap__owner = getpid();
    pthread_mutex_unlock(&ap__lock);
    atomic_fetch_add_explicit(&ap__live, 1, memory_order_relaxed);
}

static ap__subscription *ap__unlink(uint32_t model)
{
    ap__subscription **at = NULL;
    ap__subscription *s = NULL;

    pthread_mutex_lock(&ap__lock);
    at = ap__find(model);
    s = *at;
    *at = s->next;
    pthread_mutex_unlock(&ap__lock);
    atomic_fetch_sub_explicit(&ap__live, 1, memory_order_relaxed);
    return s;
}

aclError ap__subscribe_model(const char *api, uint32_t model, const ap__subscribe_settings *settings)
{
    int32_t device = -1;
    ap__subscription *s = NULL;
    aclError code = ACL_SUCCESS;

    ap__subscribe_lock();
    device = ap__subscribe_device(model);
    ap__subscribe_unlock();
    if (device < 0) {
        return ap__no_model(api, model, "no such model is loaded; load it first, or tell of it by "
                                        "MsprofSetDeviceIdByGeModelIdx");
    }
    if (*ap__find(model) != NULL) {
        return ap__fail(ACL_ERROR_PROF_REPEAT_SUBSCRIBE, AP_EK_CALL_ORDER, api,
                        "Model %" PRIu32 " is subscribed to already. Call aclprofModelUnSubscribe "
                        "first.",
                        model);
    }
    code = ap__check_others(api, (uint32_t)device, settings);
    if (code != ACL_SUCCESS) {
        return code;
    }
    s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return ap__fail(ACL_ERROR_PROFILING_FAILURE, AP_EK_MEMORY, api, "Memory is short.");
    }
    *s = (ap__subscription){.model = model, .device = (uint32_t)device, .settings = *settings};
    code = ap__outlet_get(api, settings->fd, &s->outlet);
    if (code != ACL_SUCCESS) {
        free(s);
        return code;
    }
    code = ap__source_get(api, s->device);
    if (code != ACL_SUCCESS) {
        if (--s->outlet->users == 0) { /* the program's end stays open: nothing has begun */
            (void)ap__op_pipe_close(s->outlet->pipe);
            free(s->outlet);
        }
        free(s);
        return code;
    }
    ap__link(s);
    ap__tell(MSPROF_COMMAND_MODEL_SUBSCRIBE, s);
    return ACL_SUCCESS;
}

static void ap__count_missed(uint32_t device, uint64_t missed)
{
    atomic_fetch_add_explicit(&ap__account.missed, missed, memory_order_relaxed);
    if (missed != 0) {
        ap__log(AP_LOG_WARN,
                "subscription: %" PRIu64 " tasks of device %" PRIu32 " have no record (nobody has "
                "told their operator, or too many were on their way)",
                missed, device);
    }
}

static void ap__end(uint32_t model, bool tell)
{
    ap__subscription *s = *ap__find(model);
    uint32_t device = s->device;
    bool last = true;

    if (tell) {
        ap__tell(MSPROF_COMMAND_MODEL_UNSUBSCRIBE, s);
    }
    for (const ap__subscription *o = ap__first; o != NULL; o = o->next) {
        last = last && (o == s || o->device != device);
    }
    if (last) { /* what has run is still told, so before the subscription goes */
        ap__op_source *source = NULL;

        pthread_rwlock_wrlock(&ap__sources_lock);
        source = ap__sources[device];
        ap__sources[device] = NULL;
        pthread_rwlock_unlock(&ap__sources_lock);
        if (source != NULL) {
            ap__count_missed(device, ap__op_source_stop(source));
        }
    } else if (ap__sources[device] != NULL) {
        ap__op_source_catch_up(ap__sources[device]);
    }
    s = ap__unlink(model);
    ap__outlet_put(s->outlet);
    free(s);
}

aclError ap__subscribe_end_model(const char *api, uint32_t model)
{
    if (*ap__find(model) == NULL) {
        return ap__no_model(api, model, "it is not subscribed to");
    }
    ap__end(model, true);
    return ACL_SUCCESS;
}

void ap__subscribe_end_all(void)
{
    while (ap__first != NULL && ap__owner == getpid()) {
        ap__end(ap__first->model, false);
    }
}

/* ---- fork ---- */

void ap__subscribe_lock(void)
{
    pthread_mutex_lock(&ap__lock);
}

void ap__subscribe_unlock(void)
{
    pthread_mutex_unlock(&ap__lock);
}

/* With the lock held. Sources, pipes and what else threads of the parent have leaks. */
void ap__subscribe_child(void)
{
    for (ap__subscription *s = ap__first; s != NULL; s = s->next) {
        if (s->outlet->users != 0) {
            s->outlet->users = 0;
            ap__op_pipe_abandon(s->outlet->pipe);
        }
    }
    ap__first = NULL;
    memset(ap__sources, 0, sizeof(ap__sources));
    atomic_store_explicit(&ap__live, 0, memory_order_relaxed);
    (void)pthread_rwlock_init(&ap__sources_lock, NULL);
    pthread_mutex_unlock(&ap__lock);
}
