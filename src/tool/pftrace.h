/* SPDX-License-Identifier: Apache-2.0 */
/* A Perfetto trace that is being written: packets, tracks, interned texts. */
#ifndef AP_TOOL_PFTRACE_H_
#define AP_TOOL_PFTRACE_H_

#include "analysis/model.h"
#include "tool/out_file.h"
#include "tool/protobuf.h"
#include "tool/text_ids.h"

/* Kinds of tracks of a process. */
enum { AP_TRACK_THREAD, AP_TRACK_RANGES, AP_TRACK_STREAM };

/* What is drawn on a slice's track. */
enum { AP_SLICE_STAMP, AP_SLICE_CALL, AP_SLICE_TASK };

typedef struct ap__slice {
    uint64_t start_ns;
    uint64_t end_ns;
    uint32_t process; /* 0 the host's, else 1 + index of a device */
    uint32_t track;   /* AP_TRACK_* */
    uint32_t id;      /* thread or stream */
    uint32_t kind;    /* AP_SLICE_* */
    uint32_t ref;     /* index in the model, or of a stamp */
} ap__slice;

typedef struct ap__stamp_info {
    uint64_t payload;
    uint32_t name; /* iid */
    uint32_t category;
    uint32_t event;
} ap__stamp_info;

typedef struct ap__flow_pair {
    uint32_t call;
    uint32_t track;
} ap__flow_pair;

typedef struct ap__pf {
    const ap__model *m;
    ap__out *out;
    ap__pb *packet;
    int rc; /* first errno */
    ap__text_ids names;
    ap__slice *slices;
    uint32_t slice_count;
    ap__stamp_info *stamps;
    uint32_t stamp_count;
    uint32_t *links;      /* call of each track */
    ap__flow_pair *flows; /* of tracks with a task, by call */
    uint32_t flow_count;
} ap__pf;

/* pftrace_packets.c: a packet with the sequence's fields, then its end. */
void ap__pf_begin(ap__pf *p);
void ap__pf_end(ap__pf *p);
/* Begins the sequence: clocks and what is interned at once. */
void ap__pf_head(ap__pf *p);
/* Number of an event's name. */
uint32_t ap__pf_name(ap__pf *p, const char *text);
/* Tracks; ids never meet. */
uint64_t ap__pf_process_uuid(uint32_t process);
uint64_t ap__pf_track_uuid(const ap__slice *s, uint32_t lane);
void ap__pf_processes(ap__pf *p);
void ap__pf_track(ap__pf *p, const ap__slice *s, uint32_t lane);
void ap__pf_counters(ap__pf *p);
/* pftrace_events.c */
void ap__pf_slice_begin(ap__pf *p, const ap__slice *s, uint32_t lane);
void ap__pf_slice_end(ap__pf *p, uint64_t uuid, uint64_t ns);

#endif
