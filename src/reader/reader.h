/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a PROF_* directory: this library's, the vendor's, or one whose process was killed.
 * Nothing in the directory is changed. What is missing or damaged makes a note; whatever is whole
 * is read.
 */
#ifndef AP_READER_READER_H_
#define AP_READER_READER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aclprof_ext.h"
#include "reader/blob.h"
#include "reader/meta.h"
#include "reader/sources.h"
#include "ring/arena_layout.h"
#include "writer/account.h"

typedef struct ap__reader ap__reader;

typedef enum ap__reader_code {
    AP_READER_OK = 0,
    AP_READER_NOT_FOUND, /* no such directory, or no directory */
    AP_READER_NO_HOST,   /* a directory without host/ */
    AP_READER_AMBIGUOUS, /* several PROF_* below the path */
    AP_READER_DAMAGED,   /* nothing in it can be read */
    AP_READER_ERROR      /* memory, permissions, I/O */
} ap__reader_code;

typedef struct ap__reader_error {
    ap__reader_code code;
    char text[1024];
} ap__reader_error;

typedef enum ap__reader_state {
    AP_READER_FINISHED,
    AP_READER_RECOVERED,  /* was unfinished, ap__recover has finished it */
    AP_READER_UNFINISHED, /* its process was killed; events left in its rings are shown too */
    AP_READER_RUNNING     /* still written: what was on disk at this moment is shown */
} ap__reader_state;

/* Opens a PROF_* directory, or one with exactly one PROF_* below it. NULL with *error filled. */
ap__reader *ap__reader_open(const char *prof_dir, ap__reader_error *error);
void ap__reader_close(ap__reader *reader);

/* Path of the PROF_* directory that was opened. */
const char *ap__reader_path(const ap__reader *reader);
ap__reader_state ap__reader_state_of(const ap__reader *reader);
const ap__meta *ap__reader_meta(const ap__reader *reader);
/* Files of host/data. */
const ap__sources *ap__reader_sources(const ap__reader *reader);

/* Notes so far; iteration adds to them. NULL beyond the last. */
const char *ap__reader_note(const ap__reader *reader, uint32_t index);

/* Names; NULL when unknown. Valid until close. */
const char *ap__reader_hash_text(const ap__reader *reader, uint64_t id);
const char *ap__reader_type_name(const ap__reader *reader, uint32_t level, uint32_t type);
const char *ap__reader_category_name(const ap__reader *reader, uint32_t category);

/* Wall clock, ns since 1970, of CLOCK_MONOTONIC_RAW ns. */
uint64_t ap__reader_wall_ns(const ap__reader *reader, uint64_t mono_raw_ns);

/* Before anything else is read: wall clock times are exact to the nanosecond of the snapshots, not
 * to the microsecond of start_info, and later by shift_ns; device times follow the snapshots of
 * their clocks. The vendor's tables have other times then. */
void ap__reader_align(ap__reader *reader, int64_t shift_ns);
/* Wall clock minus CLOCK_MONOTONIC_RAW at the start, and a bound of its error. false: not known. */
bool ap__reader_wall_offset(const ap__reader *reader, int64_t *offset_ns, uint64_t *error_ns);

/* ---- stamps ---- */

/* Texts are NUL-terminated and valid until the next call for the same reader; NULL: none. */
typedef struct ap__stamp_record {
    uint32_t event;     /* AP_TX_MARK, AP_TX_PUSH_POP, AP_TX_RANGE, AP_TX_MARK_EX */
    uint32_t info_type; /* AP_TX_INFO_STAMP, AP_TX_INFO_EX */
    uint32_t pid;
    uint32_t tid;
    uint32_t category;
    const char *category_name;
    int32_t payload_type;
    uint64_t payload;
    uint64_t start_ns; /* CLOCK_MONOTONIC_RAW */
    uint64_t end_ns;
    uint64_t mark_id;
    uint64_t domain;
    const char *domain_name;
    int32_t message_type;
    const char *message; /* whole, never NULL */
    size_t message_length;
    bool message_cut; /* the whole text is not known */
    const char *tag;
    const char *call_stack;
    uint32_t segments; /* records that the message was joined from, mostly 1 */
    uint32_t slice;    /* where the (first) record lies, or would lie */
    uint32_t index;
    bool from_ring; /* not on disk yet: found in the arena of a killed process */
} ap__stamp_record;

/* The next stamp event; false at the end. Order: by slice, then rings one by one; within a thread
 * as they happened. */
bool ap__reader_next_stamp(ap__reader *reader, ap__stamp_record *out);
/* Begins anew. */
void ap__reader_rewind(ap__reader *reader);

/* ---- all records with a fixed layout ---- */

enum ap__record_kinds { AP_RECORD_API = 1, AP_RECORD_COMPACT = 2, AP_RECORD_ADDITIONAL = 4 };

typedef struct ap__raw_record {
    uint32_t kind; /* one of ap__record_kinds */
    bool aging;
    const char *tag; /* "task_track", "msproftx", "data" for api and event records, … */
    uint16_t level;
    uint32_t type;
    const char *type_name; /* NULL when unknown */
    uint32_t tid;
    uint64_t begin_ns; /* CLOCK_MONOTONIC_RAW; the only time of an event, compact or additional */
    uint64_t end_ns;   /* equal to begin_ns but for an api record */
    bool is_event;     /* AP_RECORD_API: one end of a pair, see request */
    uint32_t request;  /* of an event */
    uint64_t item;     /* of an api or event */
    ap__blob payload;  /* as long as the header tells, at most what the record holds */
    ap__blob record;   /* all of it, as on disk */
    uint32_t slice;
    uint32_t index;
    bool from_ring;
    uint64_t name_id; /* of a stamp in our own directories, 0: none */
    uint64_t tag_id;
    uint64_t stack_id;
    bool cut; /* only known of records from a ring */
} ap__raw_record;

typedef struct ap__records ap__records;

typedef struct ap__record_counts {
    uint64_t records;
    uint64_t from_rings;
    uint64_t bad_records; /* without magic, skipped */
    uint64_t torn_bytes;  /* that make no whole record */
    uint64_t damaged_rings;
} ap__record_counts;

/* An iterator over the records of some kinds; tag NULL: all. Several may run side by side. NULL
 * without memory. Close it before the reader. */
ap__records *ap__records_open(ap__reader *reader, uint32_t kinds, const char *tag);
/* false at the end. The record is valid until the next call. */
bool ap__records_next(ap__records *records, ap__raw_record *out);
void ap__records_counts(const ap__records *records, ap__record_counts *out);
void ap__records_close(ap__records *records);

/* ---- account ---- */

typedef struct ap__reader_account {
    char state[16];
    char arena[16];
    uint64_t data_types;
    bool clock_is_ns;
    int disk_errno;
    aclprofStats total;
    ap__thread_account *threads;
    uint32_t thread_count;
    ap__clock_point *points;
    uint32_t point_count;
} ap__reader_account;

/* host/.aclprof/account.json; NULL when there is none (the vendor's, or unfinished). */
const ap__reader_account *ap__reader_account_of(const ap__reader *reader);

#endif
