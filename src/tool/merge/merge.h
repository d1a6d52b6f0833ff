/* SPDX-License-Identifier: Apache-2.0 */
/* `aclprof merge`: result directories of several ranks or processes as one trace and one database,
 * their clocks aligned. Sets are read one after the other: memory is that of one export. */
#ifndef AP_TOOL_MERGE_MERGE_H_
#define AP_TOOL_MERGE_MERGE_H_

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/model.h"

#define AP_MERGE_MOST 4096u

typedef enum ap__merge_by {
    AP_MERGE_REFERENCE, /* the first set, whose times stay */
    AP_MERGE_SAME_HOST, /* its host's CLOCK_MONOTONIC_RAW is that of another set */
    AP_MERGE_WALL,      /* wall clocks of hosts, which nobody has compared */
    AP_MERGE_STAMPS     /* by stamps that all ranks have at the same time */
} ap__merge_by;

typedef struct ap__merge_device {
    uint32_t device; /* as in the set */
    uint32_t global; /* as in the merged files */
    uint32_t snapshots;
    uint64_t error_ns; /* of its clock against its host's; 0 with no snapshots: not known */
} ap__merge_device;

typedef struct ap__merge_set {
    char *path;
    int64_t rank; /* -1: not told */
    uint32_t pid;
    uint32_t global_pid; /* no two sets have the same */
    char host[128];
    char process[128];
    char label[192];   /* "rank 3", "rank 3 · node1", "set 2" */
    int state;         /* ap__reader_state */
    int64_t offset_ns; /* wall clock minus CLOCK_MONOTONIC_RAW */
    bool has_clock;
    uint64_t boot_ns; /* about when its machine was started */
    uint32_t group;   /* index of the first set of its machine */
    ap__merge_by by;
    int64_t shift_ns;
    uint64_t error_ns; /* of the alignment with the reference; UINT64_MAX: not known */
    uint64_t *syncs;   /* ends of the stamps to align by, wall clock */
    uint32_t sync_count;
    bool failed; /* left out, error says why */
    char error[1100];
    ap__merge_device devices[AP_MODEL_DEVICES];
    uint32_t device_count;
    char trace[PATH_MAX]; /* its parts, in the scratch directory */
    char database[PATH_MAX];
} ap__merge_set;

typedef struct ap__merge {
    ap__merge_set *sets;
    uint32_t count;
    const char *sync; /* name of the stamps to align by; NULL: none */
    char output[PATH_MAX];
    char scratch[PATH_MAX]; /* below output, gone at the end */
    int output_fd;
    char stamp[16]; /* of the files' names */
    char error[1200];
} ap__merge;

/* sets.c: PROF_* directories at the path or up to two levels below it. 0 or -1 with error set. */
int ap__merge_add(ap__merge *m, const char *path);
/* Reads who the sets are; sorts by rank; numbers devices and processes. */
void ap__merge_survey(ap__merge *m);
void ap__merge_free(ap__merge *m);

/* align.c: shift and error of each set. */
void ap__merge_align(ap__merge *m);
/* "same host, ±120 ns" */
void ap__merge_by_text(const ap__merge_set *s, char *text, size_t size);

/* parts.c: makes output and scratch; 0 or -1 with error set. */
int ap__merge_open(ap__merge *m, const char *output);
/* Exports one set into the scratch directory; a failure marks the set. */
void ap__merge_part(ap__merge *m, uint32_t set, bool trace, bool database);
void ap__merge_close(ap__merge *m);

/* trace.c: a set's trace with numbers that no other has, appended to out_fd. `alone`: it is a
 * file of its own. 0 or errno; EBADMSG: it is no trace of ours. */
int ap__merge_rewrite(const ap__merge *m, uint32_t set, bool alone, int out_fd);

/* archive.c: all in one file below output. 0 or errno. */
int ap__merge_trace(const ap__merge *m, const char *name);
int ap__merge_archive(const ap__merge *m, const char *name);
/* db_merge.c; ENOTSUP in a build without SQLite. */
int ap__merge_database(const ap__merge *m, const char *name);

#endif
