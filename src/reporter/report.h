/* SPDX-License-Identifier: Apache-2.0 */
/* Records of CANN's host libraries, checked and handed to the calling thread's ring. Times are
 * CLOCK_MONOTONIC_RAW ns (ap__report_time): that is what the files of a capture hold. */
#ifndef AP_REPORTER_REPORT_H_
#define AP_REPORTER_REPORT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/wire_host.h"

/* Whether a capture takes records now: a look to be spared work by, no promise. */
bool ap__report_wanted(void);
uint64_t ap__report_time(void);
uint32_t ap__report_thread(void); /* id of the calling thread, for a record */

/* 0: taken, counted as lost, or no capture wants it. -1: NULL, bad magic, bad length. */
int32_t ap__report_api(bool aging, const ap__wire_api *record);
/* len: bytes at `record`, its header of 24 among them, at most 64; its data_length within them. */
int32_t ap__report_compact(bool aging, const void *record, uint32_t len);
/* len ≤ 256: one record; up to 65536: kept as it is in the variable stream. */
int32_t ap__report_additional(bool aging, const void *record, uint32_t len);
/* Whole records of 256 bytes, at most AP_REPORT_BATCH_MAX in all. */
int32_t ap__report_batch(bool aging, const void *records, uint32_t len);

#define AP_REPORT_BATCH_MAX 131072u

/* Id of a text in the host's dictionary, now and in every capture of the process; 0 without
 * memory. */
uint64_t ap__report_hash(const char *text, size_t length);
/* 0 or -1 (NULL, empty, no memory). */
int32_t ap__report_type(uint16_t level, uint32_t type, const char *name);

#endif
