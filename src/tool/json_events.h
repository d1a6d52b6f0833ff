/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome trace events in the vendor's form: keys in its order, no blanks, `ts` and flow ids texts,
 * `dur` a number. A layer (one process of the timeline) names itself and its threads with its first
 * events.
 */
#ifndef AP_TOOL_JSON_EVENTS_H_
#define AP_TOOL_JSON_EVENTS_H_

#include <stdbool.h>
#include <stdint.h>

#include "tool/out_file.h"

typedef struct ap__json {
    ap__out *o;
    uint32_t process; /* of the program that was profiled */
    bool first;       /* no event yet */
    bool first_arg;
    int rc;           /* ENOMEM */
    uint64_t last;    /* key that was asked for last */
    uint64_t *seen;   /* open addressing; key + 1 */
    uint32_t seen_count;
    uint32_t seen_room;
} ap__json;

#define AP_HOST_LAYER 31u /* the device of layers that belong to none */

/* The number that stands for a process: Insight finds the device in its low five bits. */
uint64_t ap__json_pid(const ap__json *j, uint32_t sort, uint32_t device);
/* Names a layer, once. Label NULL: the CPU's. */
void ap__json_layer(ap__json *j, uint64_t pid, const char *name, const char *label, uint32_t sort);
/* Names a thread, once: "Stream 3". */
void ap__json_thread(ap__json *j, uint64_t pid, const char *word, uint32_t tid);
/* … with any name; the order is optional. */
void ap__json_thread_named(ap__json *j, uint64_t pid, uint32_t tid, const char *name, bool order);

/* A slice: begin, arguments, end. `category` NULL: none. */
void ap__json_slice(ap__json *j, const char *name, uint64_t pid, uint32_t tid, uint64_t start_ns,
                    uint64_t end_ns, const char *category);
/* A counter's value: begin, arguments (its series), end. */
void ap__json_counter(ap__json *j, const char *name, uint64_t pid, uint32_t tid, uint64_t ns);
void ap__arg_u64(ap__json *j, const char *key, uint64_t value);
void ap__arg_i64(ap__json *j, const char *key, int64_t value);
void ap__arg_text(ap__json *j, const char *key, const char *text); /* NULL: N/A */
void ap__arg_number_text(ap__json *j, const char *key, uint64_t value); /* "7" */
void ap__arg_time(ap__json *j, const char *key, uint64_t ns);      /* a text */
void ap__arg_us(ap__json *j, const char *key, uint64_t ns);        /* a number of µs */
void ap__arg_double(ap__json *j, const char *key, double value);   /* shortest, not whole */
void ap__json_end(ap__json *j);
/* phase 's' or 'f' of the arrow "<word><id>". */
void ap__json_flow(ap__json *j, const char *word, const char *category, uint64_t id, char phase,
                   uint64_t pid, uint32_t tid, uint64_t ns);
void ap__json_free(ap__json *j);

#endif
