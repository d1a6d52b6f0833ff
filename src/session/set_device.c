/* SPDX-License-Identifier: Apache-2.0 */
#include "session/set_device.h"

#include <stdatomic.h>
#include <unistd.h>

#include "session/devices.h"
#include "session/registry.h"
#include "session/state.h"

static const char ap__api[] = "set device";

static _Atomic bool ap__late_wanted;

void ap__session_want_late_devices(void)
{
    atomic_store(&ap__late_wanted, true);
}

static void ap__tell_capture(uint32_t device)
{
    ap__run *run = &ap__session.run;
    bool captured = (run->devices >> device & 1) != 0;
    bool joins = !captured && run->devices != 0 && atomic_load(&ap__late_wanted);

    if (run->capture == NULL || run->owner != getpid() || !(captured || joins)) {
        return;
    }
    if (ap__capture_ops->add_devices(run->capture, ap__api, &device, 1) == ACL_SUCCESS) {
        run->devices |= 1ull << device;
        run->late |= joins ? 1ull << device : 0;
    }
}

void ap__session_device_set(uint32_t device, bool set)
{
    if (device >= AP_MAX_DEVICES) {
        return;
    }
    ap__device_note_set(device, set);
    if (set) {
        ap__session_enter();
        ap__tell_capture(device);
        ap__session_leave();
    }
}
