/* SPDX-License-Identifier: Apache-2.0 */
/* The directory device_<n>/ of a PROF directory and its control files. */
#ifndef AP_WRITER_DEVICE_FILES_H_
#define AP_WRITER_DEVICE_FILES_H_

#include <stdbool.h>
#include <stdint.h>

#include "ring/arena_layout.h"
#include "writer/control_files.h"

typedef struct ap__device_meta {
    uint32_t device;
    uint32_t chip;
    bool simulated;
    int64_t env;
    int64_t ctrl_cpu_num;
    int64_t ctrl_cpu_id;
    int64_t ctrl_cpu_endian_little;
    int64_t ts_cpu_num;
    int64_t aicpu_num;
    int64_t aicpu_id;
    int64_t aicpu_occupy; /* bit per core */
    int64_t aic_num;
    int64_t aic_id;
    int64_t aic_mhz;
    int64_t aiv_num;
    int64_t aiv_mhz;
    uint64_t counter_khz;
} ap__device_meta;

/* The clocks of host and device at one moment; host_count is in the domain of host records. */
typedef struct ap__device_start {
    uint64_t host_ns;
    uint64_t host_count;
    uint64_t device_ns;
    uint64_t device_cycles;
} ap__device_start;

typedef struct ap__device_dir {
    int fd;
    int data_fd;
} ap__device_dir;

#define AP_DEVICE_DIR_CLOSED {-1, -1}

/* Makes device_<n>/ with data/ and info.json.<n>, sample.json, start_info.<n>, host_start.log.<n>
 * and dev_start.log.<n>, each with its .done. It appears in prof_fd only when it is complete, being
 * built in build_fd (host/.aclprof; a directory of the vendor's that lacks one of these files makes
 * its reader export nothing, and so does any other directory in prof_fd). What is the same for
 * host and device is taken from host/info.json, which must be there.
 * 0, or errno with nothing left behind. */
int ap__device_dir_create(int prof_fd, int build_fd, const ap__host_meta *host,
                          const ap__device_meta *device, const ap__clock_point *start,
                          const ap__device_start *clocks, ap__device_dir *out);

/* The directory of a device that has left the capture and joins it again: it has no end any more.
 * 0 or errno. */
int ap__device_dir_reopen(int prof_fd, uint32_t device, ap__device_dir *out);

/* Writes end_info.<n> and its .done. 0 or errno. */
int ap__device_dir_end(const ap__device_dir *dir, uint32_t device, const ap__clock_point *end);

void ap__device_dir_close(ap__device_dir *dir);

/* host/.aclprof/device_files.<n>: the length of the records of each file in device_<n>/data, a line
 * "<name> <bytes>" each, 0 for lines of text. By it a torn end is found after a crash. */
#define AP_DEVICE_FILES_NAME "device_files"

#endif
