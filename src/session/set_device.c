/* SPDX-License-Identifier: Apache-2.0 */
#include "session/set_device.h"

#include <stdatomic.h>
#include <unistd.h>

#include "session/autostart.h"
#include "session/command.h"
#include "session/control_socket.h"
#include "session/devices.h"
#include "session/module_link.h"
#include "session/outside.h"
#include "session/registry.h"
#include "session/state.h"

static const char ap__api[] = "set device";

static _Atomic bool ap__late_wanted;

void ap__session_want_late_devices(void)
{
    atomic_store(&ap__late_wanted, true);
}

/* Set, and not told the capture yet. */
static _Atomic uint64_t ap__pending;

static void ap__tell_capture(uint32_t device)
{
    ap__run *run = &ap__session.run;
    bool captured = (run->devices >> device & 1) != 0;
    bool outside = ap__session.command == AP_COMMAND_OUTSIDE;
    bool wanted = atomic_load(&ap__late_wanted) || ap__session.command == AP_COMMAND_RUNS;
    bool joins = !captured && (outside ? ap__outside_wants(device) : run->devices != 0 && wanted);

    if (ap__session.command == AP_COMMAND_WAITS) {
        ap__command_begin(device);
        return;
    }
    if (ap__autostart_armed()) {
        ap__autostart_device(device);
        return;
    }
    if (run->capture == NULL || run->owner != getpid() || !(captured || joins)) {
        return;
    }
    if (ap__capture_ops->add_devices(run->capture, ap__api, &device, 1) == ACL_SUCCESS) {
        run->devices |= 1ull << device;
        run->late |= joins ? 1ull << device : 0;
        if (joins && !run->warm) {
            ap__session_tell_start(run, 1ull << device);
        }
    }
}

void ap__session_tell_set_devices(void)
{
    uint64_t set = atomic_exchange(&ap__pending, 0);

    for (; set != 0; set &= set - 1) {
        ap__tell_capture((uint32_t)__builtin_ctzll(set));
    }
}

bool ap__session_set_devices_pending(void)
{
    return atomic_load(&ap__pending) != 0;
}

void ap__session_device_set(uint32_t device, bool set)
{
    if (device >= AP_MAX_DEVICES) {
        return;
    }
    ap__device_note_set(device, set);
    if (set) {
        (void)ap__control_used();
        if (ap__autostart_armed()) {
            ap__devices_load(); /* both before the lock */
            ap__session_find_vendor(NULL);
        }
        atomic_fetch_or(&ap__pending, 1ull << device);
        ap__session_pass_by();
    }
}
