/* SPDX-License-Identifier: Apache-2.0 */
/* ACL_PROF_HOST_SYS and ACL_PROF_HOST_SYS_USAGE: samples /proc into host/data as text. No device or
 * driver is needed. */
#ifndef AP_COLLECTOR_HOST_SYS_H_
#define AP_COLLECTOR_HOST_SYS_H_

#include <stdint.h>

#include "session/settings.h"

typedef struct ap__host_sys ap__host_sys;

/* What of host_sys is not sampled here: numa, and osrt where the kernel does not tell.
 * ap__host_sys_bits. */
uint32_t ap__host_sys_lacking(const ap__settings *settings);

/* Begins sampling into data_fd (host/data; borrowed until the close). start_ns: when the capture
 * began, CLOCK_MONOTONIC_RAW. *out stays NULL when the settings ask for nothing. 0 or errno. */
int ap__host_sys_open(int data_fd, const ap__settings *settings, uint64_t start_ns,
                      ap__host_sys **out);

/* Takes a last sample, finishes the files, frees. 0 or the first errno of a write. NULL allowed. */
int ap__host_sys_close(ap__host_sys *h);

/* In a forked child. */
void ap__host_sys_abandon(ap__host_sys *h);

/* Bytes in its files, any time: for the storage limit. */
uint64_t ap__host_sys_stored(ap__host_sys *h);

#endif
