/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reporter/vendor.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "reporter/report.h"
#include "subscribe/op_feed.h"

typedef int32_t (*ap__register_fn)(int32_t type, void *callback, uint32_t len);
typedef int32_t (*ap__command_fn)(void *command, uint32_t len);

static _Atomic(ap__register_fn) ap__register_at; /* NULL: there is none */
static _Atomic(ap__command_fn) ap__command_at;
static void (*_Atomic ap__set_device)(uint32_t device, bool set);
static bool ap__attached; /* under the session's lock, as ap__told_init */
static bool ap__told_init; /* its modules were told, and not yet of the end of it */
/* a tool in its place may send the command on to us */
static __thread bool ap__telling __attribute__((tls_model("initial-exec")));

/* Asking the loader in vain would be at odds with forks of other threads, which must not find its
 * locks taken: so it is asked only when there is something to be had. */
static bool ap__is_mapped(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4352];
    bool found = false;

    while (maps != NULL && !found && fgets(line, sizeof(line), maps) != NULL) {
        found = strstr(line, "/libprofapi.so") != NULL;
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
    return found;
}

void ap__vendor_find(void (*set_device)(uint32_t device, bool set))
{
    int saved = errno;
    void *handle = ap__is_mapped() ? dlopen("libprofapi.so", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    ap__register_fn fn = NULL;
    ap__command_fn command = NULL;

    if (handle != NULL) {
        *(void **)&fn = dlsym(handle, "MsprofRegisterProfileCallback");
        *(void **)&command = dlsym(handle, "profSetProfCommand");
    }
    if (fn == MsprofRegisterProfileCallback) {
        fn = NULL; /* this library under that name */
    }
    if (fn == NULL && handle != NULL) {
        (void)dlclose(handle); /* else it stays: its functions may be called any time */
    }
    atomic_store(&ap__set_device, set_device);
    atomic_store(&ap__command_at, fn != NULL ? command : NULL);
    atomic_store(&ap__register_at, fn);
    errno = saved;
}

static int32_t ap__on_api(uint32_t aging, const MsprofApi *record)
{
    return ap__report_api(aging != 0, (const ap__wire_api *)(const void *)record);
}

static int32_t ap__on_event(uint32_t aging, const MsprofEvent *record)
{
    return ap__report_api(aging != 0, (const ap__wire_api *)(const void *)record);
}

static int32_t ap__on_compact(uint32_t aging, const void *record, uint32_t len)
{
    if (record != NULL && len >= sizeof(ap__wire_compact) - AP_WIRE_COMPACT_DATA) {
        ap__op_feed(aging != 0, record, len);
    }
    return ap__report_compact(aging != 0, record, len);
}

static int32_t ap__on_additional(uint32_t aging, const void *record, uint32_t len)
{
    return ap__report_additional(aging != 0, record, len);
}

static int32_t ap__on_type(uint16_t level, uint32_t type, const char *name, size_t length)
{
    (void)length;
    return ap__report_type(level, type, name);
}

static uint64_t ap__on_hash(const char *text, size_t length)
{
    return text != NULL && length != 0 ? ap__report_hash(text, length) : UINT64_MAX;
}

static int8_t ap__on_host_freq(void)
{
    return 0; /* ns: what our files hold */
}

static int32_t ap__on_set_device(ProfSetDevPara *device, uint32_t len)
{
    if (device == NULL || len < sizeof(*device)) {
        return MSPROF_FAILED;
    }
    atomic_load (&ap__set_device)(device->deviceId, device->isOpen);
    return MSPROF_OK;
}

static const struct {
    int32_t type;
    void (*callback)(void);
} ap__ours[] = {{4, (void (*)(void))ap__on_compact},    {5, (void (*)(void))ap__on_additional},
                {9, (void (*)(void))ap__on_api},        {10, (void (*)(void))ap__on_event},
                {11, (void (*)(void))ap__on_type},      {12, (void (*)(void))ap__on_hash},
                {13, (void (*)(void))ap__on_host_freq}, {16, (void (*)(void))ap__on_set_device}};

static void ap__lead(bool here)
{
    ap__register_fn fn = atomic_load(&ap__register_at);

    for (size_t i = 0; i < sizeof(ap__ours) / sizeof(ap__ours[0]); i++) {
        (void)fn(ap__ours[i].type, here ? *(void *const *)&ap__ours[i].callback : NULL,
                 sizeof(void *));
    }
}

void ap__vendor_attach(void)
{
    if (!ap__attached && atomic_load(&ap__register_at) != NULL) {
        ap__lead(true);
        ap__attached = true;
    }
}

void ap__vendor_detach(void)
{
    if (ap__attached) {
        ap__attached = false;
        ap__lead(false);
    }
}

bool ap__vendor_tell(const MsprofCommandHandle *handle)
{
    ap__command_fn fn = atomic_load(&ap__command_at);
    MsprofCommandHandle own = *handle;
    bool end = handle->type == MSPROF_COMMAND_FINALIZE;
    bool told = false;

    /* the last capture has ended before the session does */
    if (fn == NULL || ap__telling || !(ap__attached || (end && ap__told_init))) {
        return false;
    }
    ap__telling = true;
    told = fn(&own, sizeof(own)) == MSPROF_OK;
    ap__telling = false;
    if (told) {
        ap__told_init = !end;
    }
    return told;
}
