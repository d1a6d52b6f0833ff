/* SPDX-License-Identifier: Apache-2.0 */
/* `aclprof check`: whether a result directory is whole: each file, the dictionaries, the accounts.
 */
#ifndef AP_TOOL_CHECK_CHECK_H_
#define AP_TOOL_CHECK_CHECK_H_

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model.h"

#define AP_CHECK_FINDINGS 512u

typedef enum ap__check_grade {
    AP_CHECK_NOTE,
    AP_CHECK_UNNAMED, /* a text is missing */
    AP_CHECK_LOST,    /* records are missing, and that is accounted for */
    AP_CHECK_BAD
} ap__check_grade;

typedef struct ap__check_finding {
    ap__check_grade grade;
    char text[400];
} ap__check_finding;

typedef struct ap__check_file {
    char name[320]; /* "device_0/data/stars_soc.data.0.slice_0" */
    uint64_t bytes;
    uint64_t records;      /* whole ones, of files that have records of one size */
    uint32_t record_bytes; /* 0: other files */
    uint64_t bad;          /* records without magic */
    uint64_t torn;         /* bytes */
    bool done;             /* there is a .done file */
} ap__check_file;

typedef struct ap__check {
    ap__reader *reader;
    uint64_t records; /* of the host */
    uint64_t tasks;
    uint32_t devices;
    ap__check_finding *findings;
    uint32_t finding_count;
    uint64_t findings_dropped;
    ap__check_file *files;
    uint32_t file_count;
    bool no_memory;
} ap__check;

/* The whole; frees with ap__check_free. */
void ap__check_run(ap__check *c, ap__reader *reader);
void ap__check_free(ap__check *c);
ap__check_grade ap__check_worst(const ap__check *c);

void ap__check_found(ap__check *c, ap__check_grade grade, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* files.c, names.c, accounts.c: the parts */
void ap__check_files(ap__check *c, const ap__device_view *devices, uint32_t count);
void ap__check_names(ap__check *c, const ap__model *model);
void ap__check_accounts(ap__check *c);

#endif
