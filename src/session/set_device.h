/* SPDX-License-Identifier: Apache-2.0 */
/* The program sets and resets devices. */
#ifndef AP_SESSION_SET_DEVICE_H_
#define AP_SESSION_SET_DEVICE_H_

#include <stdbool.h>
#include <stdint.h>

/* The program has set a device: one that is captured is asked again for channels that it refused
 * for want of a context; with `late` devices wanted, one that is not captured joins the capture of
 * others. Never waits for the session's lock, which is held while the runtime is told of a Start:
 * who has it does the work when giving it back. Else it may take as long as a Start does. Any
 * thread but the collector's. */
void ap__session_device_set(uint32_t device, bool set);
/* The work, under the session's lock, and whether there is some. */
void ap__session_tell_set_devices(void);
bool ap__session_set_devices_pending(void);

/* Devices that are set later belong to the capture, too (aclprofRegisterDeviceCallback). */
void ap__session_want_late_devices(void);

/* Learns from the simulator's runtime, if that is the driver's, of devices and tasks. After the
 * driver was loaded, without our locks; once. */
void ap__session_link_simulator(void);

#endif
