/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the directory of a killed process a normal one: what was left in the rings goes to disk,
 * files are finished, the account is written, the arena goes away. Running it again does nothing;
 * after a crash in the middle of it, running it again does the rest.
 */
#ifndef AP_READER_RECOVER_H_
#define AP_READER_RECOVER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aclprof_ext.h"
#include "reader/notes.h"
#include "reader/ring_cursor.h"

#define AP_RECOVER_OPEN_MAX 256u

typedef enum ap__recover_code {
    AP_RECOVER_DONE = 0,
    AP_RECOVER_NOTHING, /* the directory was finished before */
    AP_RECOVER_RUNNING, /* its process lives, or somebody recovers it now: nothing changed */
    AP_RECOVER_FOREIGN, /* unfinished, but not this library's: nothing changed */
    AP_RECOVER_VERSION, /* rings of another version of this library: nothing changed */
    AP_RECOVER_FAILED   /* see error; what was there is still there, try again */
} ap__recover_code;

typedef struct ap__recover_report {
    ap__recover_code code;
    char error[1024]; /* of all but DONE and NOTHING */
    char path[4352];
    bool had_rings;         /* false: what was in memory is lost, nobody knows how much */
    uint64_t on_disk;       /* records that were there */
    uint64_t saved;         /* records that came from rings */
    uint64_t in_flight;     /* calls that had not returned; not part of the account */
    uint64_t damaged_rings;
    uint64_t damaged_bytes; /* of rings that could not be read */
    aclprofStats account;   /* as written to account.json */
    uint32_t devices;       /* whose directories were not finished */
    uint64_t open_count;    /* pushes never popped, as far as they are known */
    uint32_t open_kept;
    ap__open_push open[AP_RECOVER_OPEN_MAX];
    ap__notes notes;
} ap__recover_report;

/* Takes the paths that ap__reader_open takes. 0 when the directory is whole now (DONE, NOTHING),
 * else report->code. The report must be freed in every case; it is large: do not put it on a small
 * stack. */
int ap__recover(const char *prof_dir, ap__recover_report *report);

/* A few lines for a person. As snprintf: returns the length of the whole text. */
size_t ap__recover_report_text(const ap__recover_report *report, char *buffer, size_t size);
void ap__recover_report_free(ap__recover_report *report);

#endif
