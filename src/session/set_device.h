/* SPDX-License-Identifier: Apache-2.0 */
/* The program sets and resets devices. */
#ifndef AP_SESSION_SET_DEVICE_H_
#define AP_SESSION_SET_DEVICE_H_

#include <stdbool.h>
#include <stdint.h>

/* The program has set a device: one that is captured is asked again for channels that it refused
 * for want of a context; with `late` devices wanted, one that is not captured joins the capture of
 * others. May wait as long as a Start does; any thread but the collector's. */
void ap__session_device_set(uint32_t device, bool set);

/* Devices that are set later belong to the capture, too (aclprofRegisterDeviceCallback). */
void ap__session_want_late_devices(void);

/* Learns from the simulator's runtime, if that is the driver's, of devices and tasks. After the
 * driver was loaded, without our locks; once. */
void ap__session_link_simulator(void);

#endif
