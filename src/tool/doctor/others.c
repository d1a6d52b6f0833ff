/* SPDX-License-Identifier: Apache-2.0 */
/* Other profilers, the clock, and this library's own settings. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "tool/doctor/doctor.h"

#define AP_ACL_JSON_MOST ((size_t)1 << 20)

/* ---- other profilers ---- */

typedef struct ap__rival {
    const char *variable;
    const char *value; /* NULL: any */
    ap__doctor_grade grade;
    const char *what;
} ap__rival;

static const ap__rival ap__rivals[] = {
    {"PROFILING_MODE", "dynamic", AP_DOCTOR_PROBLEM, "aclprofInit answers 200006"},
    {"PROFILING_MODE", "delay_or_duration", AP_DOCTOR_WARNING,
     "msprof's delayed mode is asked for; this library has no such mode"},
    {"PROFILER_SAMPLECONFIG", NULL, AP_DOCTOR_WARNING,
     "the program runs under msprof: its settings start a capture, and aclprofInit answers 100042"},
    {"DYNAMIC_PROFILING_KEY_PID", NULL, AP_DOCTOR_WARNING,
     "msprof --dynamic waits for this program"},
    {"KINETO_USE_DAEMON", "1", AP_DOCTOR_WARNING,
     "a dynolog daemon may start the framework's profiler, which wants the same device channels"},
    {"MSMONITOR_USE_DAEMON", "1", AP_DOCTOR_WARNING,
     "a msMonitor daemon may start the vendor's profiler, which wants the same device channels"},
};

static void ap__variables(ap__doctor *d)
{
    const char *preload = ap__doctor_env("LD_PRELOAD");
    char advice[96];

    for (size_t i = 0; i < sizeof(ap__rivals) / sizeof(ap__rivals[0]); i++) {
        const ap__rival *r = &ap__rivals[i];
        const char *value = ap__doctor_env(r->variable);

        if (value != NULL && (r->value == NULL || strcmp(value, r->value) == 0)) {
            (void)snprintf(advice, sizeof(advice), "unset %s", r->variable);
            ap__found(d, "others.environment", r->grade, advice, "%s is set: %s", r->variable,
                      r->what);
        }
    }
    if (preload != NULL && strstr(preload, "libmspti.so") != NULL) {
        ap__found(d, "others.preload", AP_DOCTOR_WARNING, "take libmspti.so out of LD_PRELOAD",
                  "LD_PRELOAD has msPTI, which takes the device channels for itself");
    }
}

static void ap__processes(ap__doctor *d)
{
    static const char *const rivals[] = {"msprof", "msprofbin", "msmonitor", "dynolog"};
    char below[PATH_MAX];
    DIR *list = ap__doctor_path(d, "/proc", below) ? opendir(below) : NULL;
    struct dirent *entry = NULL;
    char path[64];
    char name[32];

    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (!isdigit((unsigned char)entry->d_name[0])) {
            continue;
        }
        (void)snprintf(path, sizeof(path), "/proc/%.20s/comm", entry->d_name);
        if (ap__doctor_read(d, path, name, sizeof(name)) <= 0) {
            continue;
        }
        name[strcspn(name, "\n")] = '\0';
        for (size_t i = 0; i < sizeof(rivals) / sizeof(rivals[0]); i++) {
            if (strcmp(name, rivals[i]) == 0) {
                ap__found(d, "others.process", AP_DOCTOR_WARNING,
                          "stop it: a device's channels belong to one process at a time",
                          "another profiler runs: %s, process %.20s", name, entry->d_name);
            }
        }
    }
    if (list != NULL) {
        closedir(list);
    }
}

static void ap__acl_json(ap__doctor *d)
{
    const char *path = d->acl_json != NULL ? d->acl_json : "acl.json";
    char *text = malloc(AP_ACL_JSON_MOST + 2);
    long n = text != NULL ? ap__doctor_read(d, path, text, AP_ACL_JSON_MOST + 2) : -1;
    cJSON *json = n >= 0 && n <= (long)AP_ACL_JSON_MOST ? cJSON_Parse(text) : NULL;
    const cJSON *on = NULL;

    if (n < 0) {
        if (d->acl_json != NULL) {
            ap__found(d, "others.acl-json", AP_DOCTOR_PROBLEM, "correct --acl-json",
                      "%s cannot be read", path);
        }
    } else if (!cJSON_IsObject(json)) {
        ap__found(d, "others.acl-json", AP_DOCTOR_WARNING, "correct the file",
                  "%s is no JSON object of at most 1 MiB: aclInit with it fails", path);
    } else {
        on = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, "profiler"),
                                              "switch");
        if (cJSON_IsString(on) && strcmp(on->valuestring, "on") == 0) {
            ap__found(d, "others.acl-json", AP_DOCTOR_WARNING,
                      "set its profiler's switch to off to use the API or `aclprof run`",
                      "%s starts a capture in aclInit; aclprofInit then answers 100042", path);
        }
    }
    cJSON_Delete(json);
    free(text);
}

void ap__doctor_others(ap__doctor *d)
{
    uint32_t before = d->count;

    ap__variables(d);
    ap__processes(d);
    ap__acl_json(d);
    if (d->count == before) {
        ap__found(d, "others", AP_DOCTOR_OK, NULL, "no other profiler is seen");
    }
}

/* ---- the clock ---- */

#if defined(__x86_64__)
/* As in clock/clock.c; of another machine the kernel's list of features tells. */
static bool ap__invariant(const ap__doctor *d)
{
    unsigned a = 0, b = 0, c = 0, e = 0;
    char text[16384];

    if (d->root[0] == '\0') {
        return __get_cpuid(0x80000007u, &a, &b, &c, &e) != 0 && (e & (1u << 8)) != 0;
    }
    return ap__doctor_read(d, "/proc/cpuinfo", text, sizeof(text)) > 0 &&
           strstr(text, " constant_tsc") != NULL && strstr(text, " nonstop_tsc") != NULL;
}
#endif

static void ap__counter(ap__doctor *d)
{
    char source[64];

    (void)ap__doctor_read(d, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                          source, sizeof(source));
    source[strcspn(source, "\n")] = '\0';
#if defined(__x86_64__)
    if (!ap__invariant(d)) {
        ap__found(d, "clock.counter", AP_DOCTOR_WARNING,
                  "on a virtual machine: let its host pass the invariant TSC on",
                  "the CPU's counter does not keep its rate: each event asks the kernel for the "
                  "time");
        return;
    }
    if (strcmp(source, "hpet") == 0 || strcmp(source, "acpi_pm") == 0 ||
        strcmp(source, "refined-jiffies") == 0) {
        ap__found(d, "clock.source", AP_DOCTOR_WARNING,
                  "find out why the kernel distrusts the TSC (dmesg); tsc=reliable if it is wrong",
                  "the kernel's clock source is %s: each event asks the kernel, which is slow",
                  source);
        return;
    }
#endif
    ap__found(d, "clock", AP_DOCTOR_OK, NULL, "times are read from the CPU's counter%s%s",
              source[0] != '\0' ? "; the kernel's clock source is " : "", source);
}

void ap__doctor_clock(ap__doctor *d)
{
    const char *wanted = ap__doctor_env("ACLPROF_CLOCK");

    if (wanted != NULL && strcmp(wanted, "raw") == 0) {
        ap__found(d, "clock.raw", AP_DOCTOR_NOTE, "unset ACLPROF_CLOCK for cheaper calls",
                  "ACLPROF_CLOCK is raw: each event asks the kernel for the time");
        return;
    }
    ap__counter(d);
}

/* ---- our settings ---- */

static bool ap__is_size(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    return digits != 0 && (text[digits] == '\0' ||
                           (strchr("KkMmGg", text[digits]) != NULL && text[digits + 1] == '\0'));
}

static void ap__one_of(ap__doctor *d, const char *variable, const char *const *values)
{
    const char *value = ap__doctor_env(variable);
    char advice[128] = "it can be ";
    size_t used = strlen(advice);

    if (value == NULL) {
        return;
    }
    for (size_t i = 0; values[i] != NULL; i++) {
        int n =
            snprintf(advice + used, sizeof(advice) - used, "%s%s", i != 0 ? ", " : "", values[i]);

        used += n > 0 && (size_t)n < sizeof(advice) - used ? (size_t)n : 0;
        if (strcmp(value, values[i]) == 0) {
            return;
        }
    }
    ap__found(d, "settings", AP_DOCTOR_WARNING, advice, "%s is '%.64s', which is ignored", variable,
              value);
}

void ap__doctor_settings(ap__doctor *d)
{
    static const char *const logs[] = {"error", "warn", "info", "debug", NULL};
    static const char *const arenas[] = {"file", "shm", "anonymous", NULL};
    static const char *const clocks[] = {"raw", "auto", NULL};
    const char *ring = ap__doctor_env("ACLPROF_RING_SIZE");

    ap__one_of(d, "ACLPROF_LOG", logs);
    ap__one_of(d, "ACLPROF_ARENA", arenas);
    ap__one_of(d, "ACLPROF_CLOCK", clocks);
    if (ring != NULL && !ap__is_size(ring)) {
        ap__found(d, "settings", AP_DOCTOR_WARNING, "a number of bytes with K, M or G, such as 8M",
                  "ACLPROF_RING_SIZE is '%.64s', which is ignored", ring);
    }
    if (ap__doctor_env("ACLPROF_ARENA") != NULL &&
        strcmp(getenv("ACLPROF_ARENA"), "anonymous") == 0) {
        ap__found(d, "settings.arena", AP_DOCTOR_NOTE, "unset ACLPROF_ARENA",
                  "ACLPROF_ARENA is anonymous: what the rings hold is lost in a kill");
    }
}
