/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "session/autostart.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/own_thread.h"
#include "ring/thread.h"
#include "session/devices.h"
#include "session/errtext.h"
#include "session/module_link.h"
#include "session/registry.h"
#include "session/session.h"
#include "session/state.h"
#include "writer/loop.h"

#define AP_TEXT_MAX 256u

_Atomic bool ap__autostart_waits;

/* Written when the library is loaded, read-only since. */
static ap__autostart ap__auto;
static struct timespec ap__loaded;

/* ---- the variable ---- */

static bool ap__number(const char *text, int base, uint64_t max, uint64_t *out)
{
    char *end = NULL;
    unsigned long long n = 0;

    errno = 0;
    n = strtoull(text, &end, base);
    *out = n;
    return text[0] >= '0' && text[0] <= (base == 16 ? 'f' : '9') && *end == '\0' && errno == 0 &&
           n <= max;
}

static bool ap__word(const char *word, ap__autostart *out)
{
    uint64_t number = 0;
    bool ok = true;

    if (strcmp(word, "stamps") == 0) {
        out->want.stamps = true;
    } else if (strncmp(word, "devices=", 8) == 0) {
        ok = ap__number(word + 8, 16, UINT64_MAX, &out->want.devices);
    } else if (strncmp(word, "delay=", 6) == 0) {
        ok = ap__number(word + 6, 10, UINT32_MAX, &out->delay_ms);
    } else if (strncmp(word, "duration=", 9) == 0) {
        ok = ap__number(word + 9, 10, UINT32_MAX, &out->duration_ms);
    } else if (strncmp(word, "only=", 5) == 0) {
        ok = ap__number(word + 5, 10, INT32_MAX, &number);
        out->only = (int64_t)number;
    } else {
        ok = false;
    }
    return ok;
}

bool ap__autostart_parse(const char *text, ap__autostart *out, char *reason, size_t size)
{
    char copy[AP_TEXT_MAX];
    char *rest = copy;
    size_t length = strlen(text);

    *out = (ap__autostart){0};
    if (length >= sizeof(copy)) {
        (void)snprintf(reason, size, "it is longer than %zu bytes", sizeof(copy) - 1);
        return false;
    }
    memcpy(copy, text, length + 1);
    for (char *word = strsep(&rest, ","); word != NULL; word = strsep(&rest, ",")) {
        if (!ap__word(word, out)) {
            (void)snprintf(reason, size, "'%s' is no part of it", word);
            return false;
        }
    }
    if (!out->want.stamps && out->want.devices == 0) {
        (void)snprintf(reason, size, "it asks for neither stamps nor devices");
        return false;
    }
    return true;
}

/* The built-in simulator tells of devices that are set only when it has been chosen. */
static bool ap__simulated(void)
{
    const char *driver = ap__session_env("ACLPROF_DRIVER");

    return driver != NULL && strcmp(driver, "sim") == 0;
}

__attribute__((constructor)) static void ap__autostart_load(void)
{
    const char *text = ap__session_env("ACLPROF_AUTOSTART");
    int saved = errno;
    char reason[AP_TEXT_MAX + 32];

    if (text == NULL) {
        const char *control = ap__session_env("ACLPROF_CONTROL");

        if (control != NULL && strcmp(control, "1") == 0 && ap__simulated()) {
            ap__devices_load(); /* so that devices which are set are a use of the profiler */
        }
        errno = saved;
        return;
    }
    if (!ap__autostart_parse(text, &ap__auto, reason, sizeof(reason))) {
        ap__log(AP_LOG_ERROR, "ACLPROF_AUTOSTART is not understood: %s", reason);
    } else if (ap__auto.only == 0 || ap__auto.only == getpid()) {
        (void)clock_gettime(CLOCK_MONOTONIC, &ap__loaded);
        if (ap__auto.want.devices != 0 && ap__simulated()) {
            ap__devices_load();
        }
        atomic_store(&ap__autostart_waits, true);
    }
    errno = saved;
}

/* ---- its times ---- */

static void ap__sleep_to(struct timespec *t, uint64_t ms)
{
    t->tv_sec += (time_t)(ms / 1000);
    t->tv_nsec += (long)(ms % 1000) * 1000000;
    if (t->tv_nsec >= 1000000000) {
        t->tv_sec++;
        t->tv_nsec -= 1000000000;
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, t, NULL) == EINTR) {
    }
}

static void *ap__keep_time(void *arg)
{
    uint32_t number = (uint32_t)(uintptr_t)arg; /* others may begin when this one has ended */
    struct timespec t = ap__loaded;

    ap__thread_helps = true;
    ap__sleep_to(&t, ap__auto.delay_ms);
    ap__outside_record(number);
    if (ap__auto.duration_ms != 0) {
        (void)clock_gettime(CLOCK_MONOTONIC, &t);
        ap__sleep_to(&t, ap__auto.duration_ms);
        (void)ap__outside_end(number, NULL);
    }
    atomic_fetch_sub(&ap__helper_threads, 1);
    return NULL;
}

static bool ap__is_early(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - ap__loaded.tv_sec) * 1000 + (now.tv_nsec - ap__loaded.tv_nsec) / 1000000 <
           (int64_t)ap__auto.delay_ms;
}

static bool ap__start_timer(void)
{
    bool started = false;

    atomic_fetch_add(&ap__helper_threads, 1);
    started = ap__own_thread(NULL, "aclprof-timer", ap__keep_time,
                             (void *)(uintptr_t)ap__outside_number()) == 0;
    if (!started) {
        atomic_fetch_sub(&ap__helper_threads, 1);
    }
    return started;
}

/* ---- beginning ---- */

/* Once a process, under the session's lock. A program that profiles itself is left alone. */
static aclError ap__begin_locked(void)
{
    bool warm = ap__is_early();
    aclError code = ACL_SUCCESS;

    if (ap__auto.only != 0 && ap__auto.only != getpid()) { /* forked before the fork handlers */
        atomic_store(&ap__autostart_waits, false);
        return ACL_ERROR_PROF_NOT_RUN;
    }
    if (!ap__autostart_armed()) { /* another thread was faster */
        return ap__session.command == AP_COMMAND_OUTSIDE ? ACL_SUCCESS : ACL_ERROR_PROF_NOT_RUN;
    }
    code = ap__outside_begin_locked(&ap__auto.want, warm);
    if (code == ACL_SUCCESS && (warm || ap__auto.duration_ms != 0) && !ap__start_timer()) {
        ap__log(AP_LOG_WARN, "no thread for delay and duration: all of the program is recorded");
        if (warm) {
            ap__session_go();
        }
    }
    atomic_store(&ap__autostart_waits, false);
    return code;
}

bool ap__autostart_begin(void)
{
    int saved = errno;
    aclError code = ap__session_refuse_inside();

    if (code == ACL_SUCCESS && ap__auto.want.stamps) {
        if (ap__auto.want.devices != 0) {
            ap__devices_load();
            ap__session_find_vendor(NULL);
        }
        ap__session_enter();
        code = ap__begin_locked();
        ap__session_leave();
    }
    errno = saved;
    return code == ACL_SUCCESS && ap__auto.want.stamps;
}

void ap__autostart_device(uint32_t device)
{
    if (device < AP_MAX_DEVICES && (ap__auto.want.devices >> device & 1) != 0) {
        (void)ap__begin_locked();
    }
}

void ap__autostart_child(void)
{
    if (ap__loaded.tv_sec != 0 || ap__loaded.tv_nsec != 0) {
        atomic_store(&ap__autostart_waits, ap__auto.only == 0);
    }
}
