/* SPDX-License-Identifier: Apache-2.0 */
/* The control files of host/, without which the vendor's reader exports nothing. */
#ifndef AP_WRITER_CONTROL_FILES_H_
#define AP_WRITER_CONTROL_FILES_H_

#include <stdbool.h>
#include <stdint.h>

#include "ring/arena_layout.h"
#include "session/settings.h"

typedef struct ap__host_meta {
    uint64_t data_types; /* ACL_PROF_* mask */
    int32_t metrics;
    const ap__settings *settings;
    const char *result_dir;
    uint64_t host_mhz_x1000000; /* rate of the records' clock in Hz; 0: they hold ns */
    uint32_t chip;              /* AP_CHIP_NONE without a device */
    const char *devices;        /* comma list, "" without */
    bool simulated;             /* device data are invented, and marked as such */
} ap__host_meta;

/* jobInfo of a directory whose device data are simulated; else it is "NA". */
#define AP_SIMULATED_JOB "aclprof simulator"

#define AP_CHIP_NONE 5u /* what the reader is told when there is no device */

/* Writes info.json, sample.json, start_info and host_start.log, each with its .done.
 * 0 or errno (EEXIST: one was there); files already written stay. */
int ap__control_write_start(int host_fd, const ap__host_meta *meta, const ap__clock_point *start);

/* Writes end_info and its .done. 0 or errno. */
int ap__control_write_end(int host_fd, const ap__clock_point *end);

#endif
