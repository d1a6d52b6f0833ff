/* SPDX-License-Identifier: Apache-2.0 */
/* Follows a directory that is being written, by reading files and rings: nothing is locked, mapped
 * or changed, and no call is made that the program could notice. */
#ifndef AP_TOOL_WATCH_H_
#define AP_TOOL_WATCH_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/wire_host.h"
#include "reader/arena_view.h"
#include "reader/meta.h"
#include "reader/notes.h"
#include "reader/reader.h"

#define AP_WATCH_NAMES 4096u /* distinct ones; what comes beyond is counted together */
#define AP_WATCH_DEVICES 64u
#define AP_WATCH_FLOWS 4096u /* tasks of a device that are under way at once */

/* A place in a stream of slices. */
typedef struct ap__watch_tail {
    bool begun;
    uint32_t slice;
    uint64_t offset;
} ap__watch_tail;

typedef struct ap__watch_name {
    char text[AP_TX_MESSAGE_BYTES]; /* "" : unused */
    uint64_t count;
    uint64_t fresh; /* since the last turn */
    uint64_t total_ns;
    uint64_t most_ns;
} ap__watch_name;

/* Busy is when at least one task is under way. */
typedef struct ap__watch_device {
    ap__watch_tail tail;
    bool seen;
    bool simulated;
    bool known; /* its chip's records are understood */
    uint64_t tasks;
    uint64_t fresh;
    uint64_t busy_ns; /* since the last turn */
    uint64_t span_ns; /* what this turn's records cover */
    uint32_t active;
    uint64_t last_ns;
} ap__watch_device;

typedef struct ap__watch {
    ap__reader *reader;
    int host_fd;
    int ext_fd;  /* -1: none */
    int data_fd; /* -1: none yet */
    ap__arena_view arena;
    ap__meta meta;
    ap__notes notes;
    ap__watch_tail stamps;
    ap__watch_name *names; /* AP_WATCH_NAMES, a table with open addressing */
    uint32_t name_count;
    ap__watch_name others;
    ap__watch_device devices[AP_WATCH_DEVICES];

    uint64_t emitted; /* by calls */
    uint64_t lost_rings;
    uint64_t lost_disk;
    uint64_t lost_age;
    uint32_t threads;   /* rings in use */
    uint32_t fill_most; /* of a ring, in percent */
    bool rings_known;   /* false: they are in memory of the process alone */
    bool over;          /* the capture has ended, or its process has */
} ap__watch;

/* false: a sentence in text. The directory must be one that is being written. */
bool ap__watch_open(ap__watch *w, const char *path, char *text, size_t size);
void ap__watch_close(ap__watch *w);

/* Takes in what is new. */
void ap__watch_turn(ap__watch *w);

/* The names, by what they had in the last turn, then in all; at most `most`. */
uint32_t ap__watch_top(ap__watch *w, const ap__watch_name **top, uint32_t most);

/* ---- parts (watch_tail.c, watch_device.c) ---- */

typedef void (*ap__watch_take)(void *context, const uint8_t *record);

/* Gives every whole record of "<name>.slice_<k>" that is new. `limit`: as far as the last slice may
 * be read, NULL: as far as there is something. Begins at most 16 MiB before the end. */
void ap__watch_tail_read(int data_fd, const char *name, ap__watch_tail *tail, uint32_t record_bytes,
                         const ap__watch_tail *limit, ap__notes *notes, ap__watch_take take,
                         void *context);

void ap__watch_devices(ap__watch *w);

#endif
