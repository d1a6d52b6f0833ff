/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reporter/modules.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl_prof.h"
#include "base/own_thread.h"
#include "reporter/vendor.h"

/* bits that callbacks get beyond the capture's */
#define AP_SWITCH_MODEL_LOAD 0x8000000000000000ull
#define AP_SWITCH_OP_DETAIL 0x80000000ull
#define AP_SWITCH_RUNTIME_TRACE 0x4000000ull
#define AP_SWITCH_HI_AICPU_CHANNEL 0x1000000000000ull

#define AP_MODULE_HSS 61u

typedef struct ap__module {
    uint32_t module;
    MsprofCtrlCallback callback;
} ap__module;

/* The list and what runs. Never held while a callback runs. */
static pthread_mutex_t ap__lock = PTHREAD_MUTEX_INITIALIZER;
static ap__module *ap__list;
static uint32_t ap__count;
static bool ap__inited;                 /* INIT has been told */
static MsprofCommandHandle ap__started; /* devNums 0: nothing runs */
static _Atomic bool ap__shape; /* shapes of operators are wanted */

/* One command at a time: a late callback must not hear of the start after the stop. */
static pthread_mutex_t ap__telling = PTHREAD_MUTEX_INITIALIZER;
static __thread bool ap__is_telling __attribute__((tls_model("initial-exec")));

bool ap__modules_inside(void)
{
    return ap__is_telling;
}

/* ---- order ---- */

static uint32_t ap__rank(uint32_t module, bool ending)
{
    static const uint32_t first[] = {MSPROF_MODULE_RUNTIME, MSPROF_MODULE_ASCENDCL,
                                     MSPROF_MODULE_GE};

    for (uint32_t i = 0; i < 3; i++) {
        if (module == first[i]) {
            return ending ? 2 - i : i;
        }
    }
    return 3;
}

static int ap__compare(const ap__module *a, const ap__module *b, bool ending)
{
    uint32_t x = ap__rank(a->module, ending);
    uint32_t y = ap__rank(b->module, ending);

    if (x != y) {
        return x < y ? -1 : 1;
    }
    return a->module < b->module ? -1 : a->module > b->module;
}

/* A copy in the order of telling; callbacks of one module as they came. NULL: none. */
static ap__module *ap__snapshot(bool ending, uint32_t *count)
{
    ap__module *copy = NULL;

    pthread_mutex_lock(&ap__lock);
    *count = ap__count;
    copy = ap__count != 0 ? malloc(ap__count * sizeof(*copy)) : NULL;
    if (copy == NULL) {
        *count = 0;
    } else {
        memcpy(copy, ap__list, ap__count * sizeof(*copy));
    }
    pthread_mutex_unlock(&ap__lock);
    for (uint32_t i = 1; i < *count; i++) {
        ap__module held = copy[i];
        uint32_t at = i;

        for (; at > 0 && ap__compare(&copy[at - 1], &held, ending) > 0; at--) {
            copy[at] = copy[at - 1];
        }
        copy[at] = held;
    }
    return copy;
}

/* ---- telling ---- */

static void ap__call(const ap__module *m, const MsprofCommandHandle *handle)
{
    MsprofCommandHandle own = *handle; /* some write into it */

    if (ap__shape && (own.profSwitch & ACL_PROF_TASK_TIME_L0) != 0 &&
        (m->module == MSPROF_MODULE_GE || m->module == AP_MODULE_HSS)) {
        own.profSwitch |= ACL_PROF_TASK_TIME; /* shapes come with the operators' information */
    }
    (void)m->callback(MSPROF_CTRL_SWITCH, &own, sizeof(own));
}

static bool ap__ends(uint32_t type)
{
    return type == MSPROF_COMMAND_STOP || type == MSPROF_COMMAND_FINALIZE ||
           type == MSPROF_COMMAND_MODEL_UNSUBSCRIBE;
}

void ap__modules_tell(const MsprofCommandHandle *handle)
{
    uint32_t count = 0;
    ap__module *list = ap__snapshot(ap__ends(handle->type), &count);
    bool outer = ap__is_telling;
    int saved = errno;
    bool told = false;

    if (!outer) { /* a callback that sends a command: its thread has the lock */
        pthread_mutex_lock(&ap__telling);
        ap__is_telling = true;
    }
    told = ap__vendor_tell(handle); /* which knows those that came past us, too */
    for (uint32_t i = 0; i < count && !(told && ap__vendor_next(AP_VENDOR_REGISTER) != NULL); i++) {
        ap__call(&list[i], handle);
    }
    if (!outer) {
        ap__is_telling = false;
        pthread_mutex_unlock(&ap__telling);
    }
    free(list);
    errno = saved;
}

/* ---- commands ---- */

static uint64_t ap__switch(uint64_t data_types)
{
    uint64_t bits = data_types & ~(uint64_t)ACL_PROF_AICORE_SHAPE;

    bits |= AP_SWITCH_MODEL_LOAD | AP_SWITCH_OP_DETAIL;
    if ((bits & (ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L0)) != 0) {
        bits |= AP_SWITCH_RUNTIME_TRACE;
    }
    return bits;
}

static void ap__fill(MsprofCommandHandle *h, uint32_t type, const ap__module_command *c)
{
    size_t length = c->parameters != NULL ? strlen(c->parameters) : 0;

    memset(h, 0, sizeof(*h));
    h->profSwitch = ap__switch(c->data_types);
    if ((c->data_types & (ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L0)) != 0 &&
        (c->chip == 5 || c->chip == 15 || c->chip == 16)) {
        h->profSwitchHi = AP_SWITCH_HI_AICPU_CHANNEL;
    }
    h->devNums = c->device_count;
    memcpy(h->devIdList, c->devices, c->device_count * sizeof(h->devIdList[0]));
    h->modelId = c->model;
    h->type = type;
    h->cacheFlag = type == MSPROF_COMMAND_MODEL_SUBSCRIBE;
    if (length < sizeof(h->params.profData)) {
        memcpy(h->params.profData, length != 0 ? c->parameters : "", length);
        h->params.profDataLen = (uint32_t)length;
    }
}

/* What a late callback is told: all devices that run. */
static void ap__note_devices(const MsprofCommandHandle *h, bool run)
{
    MsprofCommandHandle *s = &ap__started;

    if (run && s->devNums == 0) {
        *s = *h;
        return;
    }
    for (uint32_t i = 0; i < h->devNums; i++) {
        uint32_t at = 0;

        while (at < s->devNums && s->devIdList[at] != h->devIdList[i]) {
            at++;
        }
        if (run && at == s->devNums && at < 64) {
            s->devIdList[s->devNums++] = h->devIdList[i];
        } else if (!run && at < s->devNums) {
            s->devIdList[at] = s->devIdList[--s->devNums];
        }
    }
}

void ap__modules_start(const ap__module_command *command)
{
    MsprofCommandHandle handle;

    if (command->device_count == 0) {
        return;
    }
    ap__fill(&handle, MSPROF_COMMAND_START, command);
    pthread_mutex_lock(&ap__lock);
    ap__inited = true;
    ap__shape = (command->data_types & ACL_PROF_AICORE_SHAPE) != 0;
    ap__note_devices(&handle, true);
    pthread_mutex_unlock(&ap__lock);
    handle.type = MSPROF_COMMAND_INIT;
    ap__modules_tell(&handle);
    handle.type = MSPROF_COMMAND_START;
    ap__modules_tell(&handle);
}

void ap__modules_stop(const ap__module_command *command)
{
    MsprofCommandHandle handle;

    if (command->device_count == 0) {
        return;
    }
    ap__fill(&handle, MSPROF_COMMAND_STOP, command);
    pthread_mutex_lock(&ap__lock);
    ap__note_devices(&handle, false);
    pthread_mutex_unlock(&ap__lock);
    ap__modules_tell(&handle);
}

void ap__modules_finalize(void)
{
    static const uint32_t none[1];
    ap__module_command command = {.devices = none, .chip = -1, .model = UINT32_MAX};
    MsprofCommandHandle handle;
    bool inited = false;

    pthread_mutex_lock(&ap__lock);
    inited = ap__inited;
    ap__inited = false;
    pthread_mutex_unlock(&ap__lock);
    if (inited) {
        ap__fill(&handle, MSPROF_COMMAND_FINALIZE, &command);
        ap__modules_tell(&handle);
    }
}

void ap__modules_model(uint32_t type, const ap__module_command *command)
{
    MsprofCommandHandle handle;

    ap__fill(&handle, type, command);
    ap__modules_tell(&handle);
}

void ap__modules_child(void)
{
    ap__inited = false;
    ap__started.devNums = 0;
    if (!ap__is_telling) { /* another thread of the parent may have had it */
        (void)pthread_mutex_init(&ap__telling, NULL);
    }
    pthread_mutex_unlock(&ap__lock);
}

/* ---- registration ---- */

/* Tells a late callback of what runs, unless that has ended meanwhile. */
static void *ap__tell_late(void *argument)
{
    ap__module *m = argument;
    MsprofCommandHandle handle;

    pthread_mutex_lock(&ap__telling);
    ap__is_telling = true;
    pthread_mutex_lock(&ap__lock);
    handle = ap__started;
    pthread_mutex_unlock(&ap__lock);
    if (handle.devNums != 0) {
        handle.type = MSPROF_COMMAND_INIT;
        ap__call(m, &handle);
        handle.type = MSPROF_COMMAND_START;
        ap__call(m, &handle);
    }
    ap__is_telling = false;
    pthread_mutex_unlock(&ap__telling);
    free(m);
    return NULL;
}

static bool ap__start_late(const ap__module *m)
{
    ap__module *own = malloc(sizeof(*own));
    bool ok = false;

    if (own == NULL) {
        return false;
    }
    *own = *m;
    ok = ap__own_thread(NULL, "aclprof-modules", ap__tell_late, own) == 0;
    if (!ok) {
        free(own);
    }
    return ok;
}

/* A callback cannot be taken back: its library must stay. Not where a lock of ours is held: the
 * loader's comes first. */
static void ap__pin(MsprofCtrlCallback callback)
{
    Dl_info info;

    if (dladdr(*(void **)&callback, &info) != 0 && info.dli_fname != NULL) {
        (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
}

bool ap__modules_register(uint32_t module, MsprofCtrlCallback callback)
{
    ap__module added = {module, callback};
    bool there = false;
    bool late = false;
    bool ok = true;

    ap__pin(callback);
    pthread_mutex_lock(&ap__lock);
    for (uint32_t i = 0; i < ap__count; i++) {
        there = there || (ap__list[i].module == module && ap__list[i].callback == callback);
    }
    if (!there) {
        ap__module *bigger = realloc(ap__list, (ap__count + 1) * sizeof(*bigger));

        ok = bigger != NULL;
        if (ok) {
            ap__list = bigger;
            ap__list[ap__count++] = added;
            late = ap__started.devNums != 0;
        }
    }
    pthread_mutex_unlock(&ap__lock);
    return ok && (!late || ap__start_late(&added));
}

void ap__modules_lock(void)
{
    pthread_mutex_lock(&ap__lock);
}

void ap__modules_unlock(void)
{
    pthread_mutex_unlock(&ap__lock);
}
