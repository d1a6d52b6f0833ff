/* SPDX-License-Identifier: Apache-2.0 */
/* Files of host/data and device_<n>/data that a table is made of directly, record by record or line
 * by line. */
#ifndef AP_TOOL_RAW_FILES_H_
#define AP_TOOL_RAW_FILES_H_

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model.h"

#define AP_HOST UINT32_MAX
#define AP_LINE_MAX 4096u

/* Whether a device has a file "l2_cache.data" or such. */
bool ap__has_file(const ap__model *m, uint32_t device, const char *file);
/* Calls `each` with every record of a device's file; one that returns nonzero ends it. That, or 0.
 */
int ap__each_record(const ap__model *m, uint32_t device, const char *file, uint32_t bytes,
                    int (*each)(void *context, uint32_t device, ap__blob record), void *context);
/* The same with every record of the host that has the kind, level and type. */
int ap__each_host_record(const ap__model *m, uint32_t kind, uint32_t level, uint32_t type,
                         int (*each)(void *context, const ap__raw_record *record), void *context);
/* The same with every line, without its end, of a text file: of a device (index), or AP_HOST.
 * Longer lines than AP_LINE_MAX are cut. */
int ap__each_line(const ap__model *m, uint32_t device, const char *file,
                  int (*each)(void *context, uint32_t device, char *line), void *context);

/* Processes that have a file "<pid>-Memory.data" or such, suffix "-Memory.data"; at most `max`. */
uint32_t ap__process_files(const ap__model *m, uint32_t device, const char *suffix, uint32_t *pids,
                           uint32_t max);

#endif
