/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths of the records in the files of a directory whose writer is gone. */
#ifndef AP_READER_RECORD_SIZES_H_
#define AP_READER_RECORD_SIZES_H_

#include <stdbool.h>
#include <stdint.h>

#include "reader/notes.h"

#define AP_RECORD_LINES UINT32_MAX /* lines of text */

/* What the writer has noted of device `device` in host/.aclprof; NULL: nothing (older, or damaged).
 * To be freed. */
char *ap__record_sizes_read(int ext_fd, uint32_t device, ap__notes *notes);

/* Of a device's file such as "stars_soc.data.0": as noted, else what it usually is on the chip.
 * 0: not known, AP_RECORD_LINES. sizes may be NULL. */
uint32_t ap__record_size_of(const char *sizes, const char *name, uint32_t chip);

/* Whether a file of host/data is text that is written by the line: samples of the host. */
bool ap__record_is_host_text(const char *name);

#endif
