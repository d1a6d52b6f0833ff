/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulator's runtime submits, as the real runtime would report it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>

#include "drivers/choose.h"
#include "session/set_device.h"
#include "sim_runtime.h"

typedef void (*ap__set_hook_fn)(simrtHook hook, void *user);

static void ap__on_task(void *user, const simrtTask *task)
{
    int saved = errno;

    (void)user;
    if (task->kind == SIMRT_SET_DEVICE) {
        ap__session_device_set(task->device, true);
    }
    errno = saved;
}

void ap__session_link_simulator(void)
{
    static atomic_flag linked = ATOMIC_FLAG_INIT;
    const ap__driver *driver = ap__driver_peek();
    ap__set_hook_fn set_hook = NULL;

    if (driver == NULL || driver->ops == NULL || driver->ops->simulated == 0 ||
        atomic_flag_test_and_set(&linked)) {
        return;
    }
    if (driver->library[0] == '\0') {
        set_hook = simrtSetProfilerHook;
    } else { /* a stand-alone simulator has a runtime of its own */
        void *handle = dlopen(driver->library, RTLD_LAZY | RTLD_NOLOAD);

        *(void **)&set_hook = handle != NULL ? dlsym(handle, "simrtSetProfilerHook") : NULL;
    }
    if (set_hook != NULL) {
        set_hook(ap__on_task, NULL);
    }
}
