/* SPDX-License-Identifier: Apache-2.0 */
/* What on this machine would keep profiling from working, as findings with advice. Nothing is
 * changed, and nothing is left behind. */
#ifndef AP_TOOL_DOCTOR_DOCTOR_H_
#define AP_TOOL_DOCTOR_DOCTOR_H_

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AP_DOCTOR_MOST 96u

typedef enum ap__doctor_grade {
    AP_DOCTOR_OK,
    AP_DOCTOR_NOTE,    /* to know, nothing to do */
    AP_DOCTOR_WARNING, /* profiling works, with less than one might expect */
    AP_DOCTOR_PROBLEM  /* it does not, or not there */
} ap__doctor_grade;

typedef struct ap__finding {
    const char *id; /* "driver.library"; does not change between versions */
    ap__doctor_grade grade;
    char text[1024];
    char advice[512]; /* "" when there is nothing to do */
} ap__finding;

typedef struct ap__doctor {
    char root[PATH_MAX];  /* "": this machine; else a directory that stands for / */
    const char *output;   /* NULL: ASCEND_WORK_PATH, else the current directory */
    const char *acl_json; /* NULL: acl.json in the current directory, if there is one */
    uint64_t space;       /* bytes that should be free at the output */
    bool has_driver;      /* what was found so far */
    uint32_t devices;
    uint32_t count;
    ap__finding list[AP_DOCTOR_MOST];
} ap__doctor;

/* Fills list; root, output, acl_json and space are set by the caller. */
void ap__doctor_run(ap__doctor *d);
ap__doctor_grade ap__doctor_worst(const ap__doctor *d);
/* "ok", "note", "warning", "problem" */
const char *ap__doctor_grade_name(ap__doctor_grade grade);

/* The themes, in order. */
void ap__doctor_libraries(ap__doctor *d);
void ap__doctor_driver(ap__doctor *d);
void ap__doctor_devices(ap__doctor *d);
void ap__doctor_place(ap__doctor *d);
void ap__doctor_limits(ap__doctor *d);
void ap__doctor_container(ap__doctor *d);
void ap__doctor_others(ap__doctor *d);
void ap__doctor_clock(ap__doctor *d);
void ap__doctor_settings(ap__doctor *d);

/* advice NULL or "": nothing to do. */
void ap__found(ap__doctor *d, const char *id, ap__doctor_grade grade, const char *advice,
               const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The path below root; relative ones are left alone. false when it is too long. */
bool ap__doctor_path(const ap__doctor *d, const char *path, char out[PATH_MAX]);
/* Up to size - 1 bytes of a small file below root, and a NUL. Length, or -1. */
long ap__doctor_read(const ap__doctor *d, const char *path, char *buffer, size_t size);
/* A variable that is set and not empty, else NULL. */
const char *ap__doctor_env(const char *name);

/* The first file of a name in the order of the loader; `by` says why it was found. */
typedef struct ap__doctor_library_file {
    char path[PATH_MAX]; /* as a program would see it, without root */
    const char *by;
} ap__doctor_library_file;

bool ap__doctor_find(const ap__doctor *d, const char *name, ap__doctor_library_file *out);

typedef enum ap__doctor_kind {
    AP_LIBRARY_NONE,  /* no such file */
    AP_LIBRARY_OTHER, /* no library, or of another machine */
    AP_LIBRARY_OURS,
    AP_LIBRARY_FOREIGN
} ap__doctor_kind;

ap__doctor_kind ap__doctor_kind_of(const ap__doctor *d, const char *path);

#endif
