/* SPDX-License-Identifier: Apache-2.0 */
/* One capture: a PROF_* directory being written. Made at Start, finished at Stop. */
#ifndef AP_WRITER_CAPTURE_H_
#define AP_WRITER_CAPTURE_H_

#include <stdbool.h>
#include <stdint.h>

#include "aclprof_ext.h"
#include "session/settings.h"
#include "writer/control_files.h"

typedef struct ap__capture ap__capture;

typedef struct ap__capture_params {
    const char *api;          /* exported call, for error text */
    const char *root;         /* absolute, validated; created here when missing */
    uint32_t start_number;    /* from 1, per process */
    uint64_t data_types;      /* ACL_PROF_* mask */
    int32_t metrics;
    const uint32_t *devices;  /* without the host */
    uint32_t device_count;
    const ap__settings *settings; /* copied */
    uint32_t chip;                /* of the devices; AP_CHIP_NONE without */
    bool simulated;               /* the devices are */
} ap__capture_params;

/* Creates directory, control files, arena and writer thread; does not record yet.
 * 0, or an ACL code with the last error set and nothing left behind but directories that
 * existed before. */
aclError ap__capture_open(const ap__capture_params *params, ap__capture **out);

/* Opens or closes the stamp gate for this capture (only when data_types has MSPROFTX). */
void ap__capture_record(ap__capture *capture, bool on);

/* Closes the gate, drains every ring, finishes all files and frees the capture.
 * Everything committed before the call is on disk when it returns.
 * 0, or ACL_ERROR_PROFILING_FAILURE with text when files could not be finished. */
aclError ap__capture_close(ap__capture *capture);

/* Takes back an open that nothing was recorded in: the directory goes, too. */
void ap__capture_discard(ap__capture *capture);

/* Around fork, between the session's lock and all others: keeps the writer from opening a file that
 * the child would inherit unseen. */
void ap__capture_prefork(void);
void ap__capture_parent(void);

/* In a forked child: forgets the parent's capture without touching its files. */
void ap__capture_abandon(ap__capture *capture);

/* Absolute path of the PROF_* directory; lives as long as the capture. */
const char *ap__capture_dir(const ap__capture *capture);

/* Fills the account; `capture` NULL: of the last finished capture. size field untouched. */
void ap__capture_stats(const ap__capture *capture, aclprofStats *out);

/* Where others write beside the capture; all of it lives as long as the capture. */
typedef struct ap__capture_place {
    int prof_fd;
    int ext_fd;  /* host/.aclprof */
    int data_fd; /* host/data */
    const ap__host_meta *meta;
    uint64_t start_ns; /* CLOCK_MONOTONIC_RAW */
} ap__capture_place;

void ap__capture_place_of(const ap__capture *capture, ap__capture_place *out);

/* Adds a name to the host's dictionary, with the id that aclprofStr2Id has for it. */
void ap__capture_add_name(ap__capture *capture, const char *text, size_t length);

/* Bytes in the host's directory that others have written, for the storage limit. */
void ap__capture_set_stored(ap__capture *capture, uint64_t (*stored)(void *), void *context);

#endif
