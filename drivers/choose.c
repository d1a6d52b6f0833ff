/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "drivers/choose.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/ascend/ascend.h"
#include "drivers/sim/sim.h"
#include "session/errtext.h"

/* Threads that come at the same time each load the vendor's library, and one wins: a lock around
 * that would be taken before the loader's by one thread and after it by another, whose library
 * calls us from its start-up code. The simulated NPU must be opened once only and loads nothing:
 * it has the lock. */
static _Atomic(const ap__driver *) ap__chosen;
static const ap__driver *ap__inherited; /* a child's, which must not touch it */
static atomic_uint ap__choosing;
static pthread_mutex_t ap__sim_lock = PTHREAD_MUTEX_INITIALIZER;

static const ap__driver ap__forked = {
    .why = "the driver cannot be used in a process forked from one that used it"};
static const ap__driver ap__no_memory = {.why = "no memory to open a driver"};

static void ap__child(void)
{
    const ap__driver *d = atomic_load_explicit(&ap__chosen, memory_order_relaxed);

    if (d != NULL ? d->ops != NULL : atomic_load(&ap__choosing) != 0) {
        ap__inherited = d;
        atomic_store_explicit(&ap__chosen, &ap__forked, memory_order_relaxed);
    }
}

static bool ap__handle_fork(void)
{
    static atomic_bool handled;

    if (!atomic_load(&handled)) {
        if (pthread_atfork(NULL, NULL, ap__child) != 0) {
            return false;
        }
        atomic_store(&handled, true); /* twice from two threads does no harm */
    }
    return true;
}

/* Returns whether what *d->why tells is worth a warning. */
static bool ap__open_ascend(ap__driver *d, const char *path, bool automatic)
{
    ap__ascend_report report;
    int rc = ap__ascend_open(&d->context, path, &report);

    if (rc == AP_HAL_OK && automatic && report.simulated) {
        ap__hal_ascend.close(d->context);
        d->context = NULL;
        (void)snprintf(d->why, sizeof(d->why),
                       "%s is a simulated NPU, which is only used when ACLPROF_DRIVER is ascend "
                       "or the path of that file", report.path);
        return true;
    }
    if (rc != AP_HAL_OK) {
        (void)snprintf(d->why, sizeof(d->why), "%s", report.text);
        return report.found || !automatic;
    }
    d->ops = report.simulated ? &ap__hal_ascend_simulated : &ap__hal_ascend;
    (void)snprintf(d->library, sizeof(d->library), "%s", report.path);
    return false;
}

/* The process's own simulator is taken first, for the sentence that an open has no room for. */
static bool ap__open_sim(ap__driver *d)
{
    char error[256] = "";
    int rc = AP_HAL_OK;
    ap__sim *sim = ap__sim_acquire(&rc, error, sizeof(error));

    if (sim != NULL) {
        rc = ap__hal_sim.open(&d->context, "");
        (void)ap__sim_release(sim);
    }
    if (sim == NULL || rc != AP_HAL_OK) {
        d->context = NULL;
        (void)snprintf(d->why, sizeof(d->why), "the simulated NPU does not open: %s",
                       error[0] != '\0' ? error : "no reason given");
        return true;
    }
    d->ops = &ap__hal_sim;
    return false;
}

/* Everything but the simulated NPU; returns whether to warn. */
static bool ap__open_named(ap__driver *d, const char *name)
{
    char shown[AP_QUOTE_SIZE];

    if (strcmp(name, "auto") == 0) {
        return ap__open_ascend(d, "", true);
    }
    d->asked_for = true;
    if (strcmp(name, "ascend") == 0) {
        return ap__open_ascend(d, "", false);
    }
    if (strcmp(name, "none") == 0) {
        (void)snprintf(d->why, sizeof(d->why), "ACLPROF_DRIVER is none");
        return false;
    }
    if (strchr(name, '/') != NULL || strstr(name, ".so") != NULL) {
        return ap__open_ascend(d, name, false);
    }
    (void)ap__quote(shown, sizeof(shown), name, strlen(name));
    (void)snprintf(d->why, sizeof(d->why),
                   "ACLPROF_DRIVER is '%s'; it can be auto, ascend, sim, none or the path of a "
                   "libascend_hal.so", shown);
    return true;
}

static void ap__warn(const ap__driver *d)
{
    ap__log(AP_LOG_WARN, "no devices, the host alone is captured: %s", d->why);
}

/* What has been opened becomes the process's driver, unless another thread's has. */
static void ap__settle(ap__driver *d, bool warn)
{
    const ap__driver *none = NULL;

    if (atomic_compare_exchange_strong(&ap__chosen, &none, d)) {
        if (warn) {
            ap__warn(d);
        }
        return;
    }
    if (d->ops != NULL) {
        d->ops->close(d->context);
    }
    free(d);
}

static void ap__choose_sim(ap__driver *d)
{
    pthread_mutex_lock(&ap__sim_lock);
    if (atomic_load(&ap__chosen) == NULL) {
        d->asked_for = true;
        ap__settle(d, ap__open_sim(d));
    } else {
        free(d);
    }
    pthread_mutex_unlock(&ap__sim_lock);
}

static void ap__choose(void)
{
    const char *name = secure_getenv("ACLPROF_DRIVER");
    ap__driver *d = ap__handle_fork() ? calloc(1, sizeof(*d)) : NULL;
    const ap__driver *none = NULL;

    name = name != NULL && name[0] != '\0' ? name : "auto";
    if (d == NULL) {
        if (atomic_compare_exchange_strong(&ap__chosen, &none, &ap__no_memory)) {
            ap__warn(&ap__no_memory);
        }
    } else if (strcmp(name, "sim") == 0) {
        ap__choose_sim(d);
    } else {
        ap__settle(d, ap__open_named(d, name));
    }
}

const ap__driver *ap__driver_now(void)
{
    const ap__driver *d = atomic_load_explicit(&ap__chosen, memory_order_acquire);
    int saved = errno;

    if (d == NULL) {
        atomic_fetch_add(&ap__choosing, 1);
        ap__choose();
        atomic_fetch_sub(&ap__choosing, 1);
        d = atomic_load_explicit(&ap__chosen, memory_order_acquire);
        errno = saved;
    }
    return d;
}

const ap__driver *ap__driver_peek(void)
{
    return atomic_load_explicit(&ap__chosen, memory_order_acquire);
}
