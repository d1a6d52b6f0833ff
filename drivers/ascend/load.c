/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "drivers/ascend/load.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AP_LIBRARY "libascend_hal.so"

#if defined(__aarch64__)
#define AP_ARCH_DIR "aarch64-linux"
#else
#define AP_ARCH_DIR "x86_64-linux"
#endif

static const char *const ap__usual_places[] = {
    AP_LIBRARY, "/usr/local/Ascend/driver/lib64/driver/" AP_LIBRARY, NULL};
const char *const *ap__ascend_places = ap__usual_places;

/* Of the toolkit's directories devlib and lib64/device/lib64 hold stubs to link with. Such a file
 * is not even loaded: it would answer to the name when the program itself wants the driver. */
static const char *const ap__toolkit_variables[] = {"ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"};
static const char *const ap__stub_directories[] = {"/devlib/", "/lib64/device/"};

typedef struct ap__symbol {
    const char *name;
    size_t slot; /* offset in ap__vendor_calls */
    bool required;
} ap__symbol;

#define AP_SYMBOL(name, member, required) {name, offsetof(ap__vendor_calls, member), required}
static const ap__symbol ap__symbols[] = {
    AP_SYMBOL("prof_drv_get_channels", get_channels, true),
    AP_SYMBOL("prof_drv_start", start, true),
    AP_SYMBOL("prof_stop", stop, true),
    AP_SYMBOL("prof_channel_read", read, true),
    AP_SYMBOL("prof_channel_poll", poll, true),
    AP_SYMBOL("drvGetDevNum", device_count, true),
    AP_SYMBOL("drvGetDevIDs", device_ids, true),
    AP_SYMBOL("halGetDeviceInfo", device_info, true),
    AP_SYMBOL("halGetAPIVersion", api_version, true),
    AP_SYMBOL("halProfDataFlush", flush, false),
    AP_SYMBOL("drvDeviceStatus", device_status, false),
    AP_SYMBOL("drvDeviceGetPhyIdByIndex", physical_id, false),
};
#define AP_SYMBOL_COUNT (sizeof(ap__symbols) / sizeof(ap__symbols[0]))
#define AP_REQUIRED_COUNT 9u

/* One search and what it fills in. */
typedef struct ap__search {
    ap__vendor_calls *calls;
    int *api_version;
    ap__ascend_report *report;
    int rc; /* of the first library that was found bad, or success */
} ap__search;

/* The first thing that was found decides what is told. */
__attribute__((format(printf, 3, 4))) static void ap__found_bad(ap__search *s, int rc,
                                                                 const char *format, ...)
{
    va_list args;

    if (!s->report->found) {
        s->report->found = true;
        s->rc = rc;
        va_start(args, format);
        (void)vsnprintf(s->report->text, sizeof(s->report->text), format, args);
        va_end(args);
    }
}

/* What the loader has written is in order by its own lock, which TSan does not know of. */
__attribute__((no_sanitize_thread)) static void ap__library_path(void *library, const char *name,
                                                                 char *out, size_t size)
{
    struct link_map *map = NULL;
    const char *path = name;
    size_t n = 0;

    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != NULL && map->l_name != NULL &&
        map->l_name[0] != '\0') {
        path = map->l_name;
    }
    for (; n < size - 1 && path[n] != '\0'; n++) {
        out[n] = path[n];
    }
    out[n] = '\0';
}

/* Fills *calls; the number of required symbols that are absent, their names in `missing`. */
static unsigned ap__resolve(void *library, ap__vendor_calls *calls, char *missing, size_t size)
{
    unsigned absent = 0;
    size_t used = 0;

    memset(calls, 0, sizeof(*calls));
    missing[0] = '\0';
    for (size_t i = 0; i < AP_SYMBOL_COUNT; i++) {
        void *address = dlsym(library, ap__symbols[i].name);

        memcpy((char *)calls + ap__symbols[i].slot, &address, sizeof(address));
        if (address == NULL && ap__symbols[i].required) {
            int n = snprintf(missing + used, size - used, "%s%s", absent != 0 ? ", " : "",
                             ap__symbols[i].name);

            used += n > 0 && (size_t)n < size - used ? (size_t)n : 0;
            absent++;
        }
    }
    return absent;
}

/* Cheap calls tell a driver from a stub, whose functions return 0 and leave results alone. */
static bool ap__probe(ap__search *s, const char *path)
{
    int version = INT_MIN;
    uint32_t devices = UINT32_MAX;
    int version_code = s->calls->api_version(&version);
    int count_code = s->calls->device_count(&devices);

    if ((version_code == 0 && version == INT_MIN) || (count_code == 0 && devices == UINT32_MAX)) {
        ap__found_bad(s, AP_HAL_UNSUPPORTED,
                      "%s is a stub: its functions report success and do nothing", path);
        return false;
    }
    if (count_code != 0) {
        int rc = ap__ascend_rc(count_code);

        ap__found_bad(s, rc, "%s cannot count the devices: drvGetDevNum gives %d%s", path,
                      count_code, rc == AP_HAL_UNSUPPORTED ? " (not supported)" : "");
        return false;
    }
    *s->api_version = version_code == 0 && version > 0 ? version : 0;
    return true;
}

static bool ap__examine(ap__search *s, void *library, const char *name)
{
    char missing[512];
    char path[sizeof(s->report->path)];
    unsigned absent = ap__resolve(library, s->calls, missing, sizeof(missing));

    ap__library_path(library, name, path, sizeof(path));
    if (absent != 0) {
        ap__found_bad(s, AP_HAL_UNSUPPORTED, "%s lacks %u of the %u functions that are needed: %s",
                      path, absent, AP_REQUIRED_COUNT, missing);
        return false;
    }
    if (!ap__probe(s, path)) {
        return false;
    }
    s->rc = AP_HAL_OK;
    s->report->found = true;
    s->report->simulated = dlsym(library, AP_SIMULATED_MARK) != NULL;
    s->report->text[0] = '\0';
    memcpy(s->report->path, path, sizeof(path));
    return true;
}

static bool ap__try(ap__search *s, const char *name)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_NODELETE | RTLD_LOCAL);
    const char *why = library == NULL ? dlerror() : NULL;
    size_t length = strlen(name);
    bool usable = false;

    if (library != NULL) {
        usable = ap__examine(s, library, name);
        (void)dlerror(); /* of symbols that are not there: no answer to what the program asks */
    } else if (why == NULL || strchr(name, '/') != NULL || strncmp(why, name, length) != 0 ||
               why[length] != ':') {
        /* The loader begins with what it lacks: the name as given when it did not find that; the
         * file, or another library, when this one is there and does not load. */
        ap__found_bad(s, AP_HAL_UNSUPPORTED, "%s does not load: %s", name,
                      why != NULL ? why : "no reason given");
    }
    return usable;
}

/* A file of the list, which need not be there. */
static bool ap__try_file(ap__search *s, const char *name)
{
    char *real = realpath(name, NULL);
    bool stub = false;

    for (size_t i = 0; real != NULL && i < 2; i++) {
        stub = stub || strstr(real, ap__stub_directories[i]) != NULL;
    }
    free(real);
    return real != NULL && !stub && ap__try(s, name);
}

static bool ap__try_toolkit(ap__search *s, const char *variable)
{
    const char *home = secure_getenv(variable);
    char path[PATH_MAX];
    int n = 0;

    if (home == NULL || home[0] != '/') {
        return false;
    }
    n = snprintf(path, sizeof(path), "%s/" AP_ARCH_DIR "/lib64/" AP_LIBRARY, home);
    return n > 0 && (size_t)n < sizeof(path) && ap__try_file(s, path);
}

static bool ap__search_list(ap__search *s)
{
    bool usable = false;

    for (size_t i = 0; !usable && ap__ascend_places[i] != NULL; i++) {
        const char *name = ap__ascend_places[i];

        usable = strchr(name, '/') != NULL ? ap__try_file(s, name) : ap__try(s, name);
    }
    for (size_t i = 0; !usable && i < 2; i++) {
        usable = ap__try_toolkit(s, ap__toolkit_variables[i]);
    }
    return usable;
}

int ap__ascend_load(const char *path, ap__vendor_calls *calls, int *api_version,
                    ap__ascend_report *report)
{
    ap__search s = {calls, api_version, report, AP_HAL_UNSUPPORTED};

    memset(report, 0, sizeof(*report));
    if (path[0] != '\0') {
        if (!ap__try(&s, path) && !report->found) {
            (void)snprintf(report->text, sizeof(report->text), "there is no %s", path);
        }
    } else if (!ap__search_list(&s) && !report->found) {
        (void)snprintf(report->text, sizeof(report->text),
                       "there is no " AP_LIBRARY " on the library path, in the driver's usual "
                       "directory or under ASCEND_HOME_PATH");
    }
    return s.rc;
}
