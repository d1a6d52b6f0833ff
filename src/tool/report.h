/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `aclprof report`: one HTML file. A run becomes events on tracks (report_gather.c), tracks become
 * levels of detail (report_lod.c, report_tracks.c), nested events become flames (report_flame.c),
 * durations by name become tables and differences (report_stats.c, report_compare.c), and all of it
 * compact JSON for the page (report_data.c, page/).
 */
#ifndef AP_TOOL_REPORT_H_
#define AP_TOOL_REPORT_H_

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model.h"
#include "tool/out_file.h"

#define AP_REPORT_TABLES 4u
#define AP_REPORT_TABLE_NAMES "tasks", "comm", "calls", "ranges"
#define AP_REPORT_ITEMS 3000000u /* of all tracks' finest levels, about; more are merged */
#define AP_REPORT_LANES 64u      /* of a track; what overlaps more lies in the last */

/* ---- names: each text once, numbered from 0; shared by the runs of a report ---- */

typedef struct ap__names {
    char **texts;
    uint32_t count;
    uint32_t *slots; /* number + 1; 0: free */
    uint32_t slot_count;
} ap__names;

/* AP_NONE without memory. */
uint32_t ap__names_add(ap__names *names, const char *text);
void ap__names_free(ap__names *names);

/* ---- runs ---- */

typedef enum ap__track_kind {                  /* in the order of a thread's tracks */
                              AP_TRACK_RANGES, /* pushes and marks */
                              AP_TRACK_SPANS,  /* started and stopped by number */
                              AP_TRACK_CALLS,
                              AP_TRACK_COMM, /* of a device: communication operators */
                              AP_TRACK_TASKS
} ap__track_kind;

typedef struct ap__event {
    uint64_t track; /* ap__track_key */
    uint64_t start_ns;
    uint64_t end_ns;
    uint32_t name;
    uint32_t launch; /* of a task: index in the model\'s tracks; AP_NONE: not told */
} ap__event;

typedef struct ap__duration {
    uint64_t ns;
    uint32_t name;
    uint32_t table; /* one of AP_REPORT_TABLE_NAMES */
} ap__duration;

/* Events of one name inside the same chain of names. */
typedef struct ap__flame_node {
    uint32_t parent; /* a node before this one; AP_NONE: none */
    uint32_t name;
    uint64_t count;
    uint64_t total; /* ns */
    uint64_t self;  /* of it not in children */
} ap__flame_node;

typedef struct ap__flame {
    ap__flame_node *nodes;
    uint32_t count;
    uint32_t *slots; /* by parent and name: number + 1; 0: free */
    uint32_t slot_count;
} ap__flame;

typedef struct ap__run {
    ap__reader *reader;
    ap__model model;
    uint64_t base_ns; /* wall clock of the first event */
    uint64_t end_ns;
    ap__event *events; /* by track, start, and the longer first */
    uint32_t event_count;
    ap__duration *durations; /* by table, name, and ns; marks have none */
    uint32_t duration_count;
    uint64_t marks;
    ap__flame host;   /* pushes and calls of all threads */
    ap__flame device; /* tasks by type and name */
} ap__run;

/* device 0 and id a thread, or a device and id a stream. */
uint64_t ap__track_key(ap__track_kind kind, uint32_t device, uint32_t id);
ap__track_kind ap__track_kind_of(uint64_t key);
uint32_t ap__track_device_of(uint64_t key); /* number of the device; of threads 0 */
uint32_t ap__track_id_of(uint64_t key);

/* 0 or ENOMEM. The reader must outlive the run. */
int ap__run_load(ap__run *run, ap__reader *reader, ap__names *names);
void ap__run_free(ap__run *run);

/* ---- flames ---- */

/* Node of the name below the parent, made if need be; AP_NONE without memory. */
uint32_t ap__flame_node_of(ap__flame *flame, uint32_t parent, uint32_t name);
/* Adds a thread's events, which are by start, the longer first: what begins in another lies in it,
 * and ends with it at the latest. 0 or ENOMEM. */
int ap__flame_add(ap__flame *flame, const ap__event *events, uint32_t count);
/* run->host from run->events. 0 or ENOMEM. */
int ap__flame_of_run(ap__run *run);
void ap__flame_free(ap__flame *flame);

/* ---- levels of detail ---- */

/* An event, or a block of several that were shorter than a bucket. */
typedef struct ap__lod_item {
    uint64_t start; /* since the run's base */
    uint64_t end;
    uint64_t busy; /* ns of it that are covered */
    uint32_t name; /* of a block: the one that it has most of, mostly (a vote in one pass) */
    uint32_t count;
    uint32_t lane;
    uint32_t launch; /* as the event's */
} ap__lod_item;

/* Gives each item the first free lane; items are by start, the longer first. Number of lanes. */
uint32_t ap__lod_lanes(ap__lod_item *items, uint32_t count);
/* Merges what is shorter than `width` and begins in the same bucket of it, in place; items are by
 * lane and start, and stay so. Number of items left. */
uint32_t ap__lod_merge(ap__lod_item *items, uint32_t count, uint64_t width);

/* ---- statistics ---- */

typedef struct ap__moments {
    uint64_t count;
    double mean;
    double variance; /* of the sample; 0 below two */
} ap__moments;

typedef struct ap__welch {
    double difference; /* of the means, b - a */
    double low;        /* 95 % confidence interval */
    double high;
    double p; /* two-sided; NAN: too few samples */
} ap__welch;

ap__moments ap__stats_moments(const ap__duration *samples, uint32_t count);
ap__welch ap__stats_welch(const ap__moments *a, const ap__moments *b);
/* Mann-Whitney's U, two-sided, by the normal approximation with ties; NAN below 8 samples. Both
 * are sorted by ns. */
double ap__stats_rank(const ap__duration *a, uint32_t a_count, const ap__duration *b,
                      uint32_t b_count);
/* Benjamini and Hochberg: p of a family of tests into q, in place; NAN stays. false without
 * memory. */
bool ap__stats_adjust(double *p, uint32_t count);

/* ---- the page: JSON in which no text can end a script element; 0 or ENOMEM ---- */

int ap__report_data(ap__out *o, const ap__run *runs, uint32_t run_count, const ap__names *names);
/* Members of a run, each with a comma behind it. */
int ap__report_tracks(ap__out *o, const ap__run *run);
int ap__report_devices(ap__out *o, const ap__run *run);
int ap__report_flames(ap__out *o, const ap__run *run);
int ap__report_counters(ap__out *o, const ap__run *run);
/* "compare": per-name differences of two runs. */
int ap__report_compare(ap__out *o, const ap__run *a, const ap__run *b);

void ap__report_string(ap__out *o, const char *text);
void ap__report_fact(ap__out *o, const char *key, const char *text); /* "key":"text", */

#endif
