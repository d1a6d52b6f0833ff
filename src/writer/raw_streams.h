/* SPDX-License-Identifier: Apache-2.0 */
/* The streams of CANN's host records, one for each class and registered type name. Used by the
 * writer's drain, and by recovery. */
#ifndef AP_WRITER_RAW_STREAMS_H_
#define AP_WRITER_RAW_STREAMS_H_

#include <stdint.h>

#include "format/raw_record.h"
#include "ring/arena_layout.h"
#include "writer/ageing.h"
#include "writer/slice.h"

#define AP_RAW_BUFFER 65536u /* one record of the largest size, many of others */
#define AP_RAW_BATCH 2048u
#define AP_RAW_TYPES 512u /* (class, level, type) whose stream is remembered */

/* The name of a type; NULL: it has none. */
typedef const char *(*ap__raw_namer)(void *context, uint16_t level, uint32_t type);
/* One record was written, or not. */
typedef void (*ap__raw_told)(void *context, uint32_t owner, bool written);

typedef struct ap__raw_stream {
    ap__stream stream;
    uint64_t records; /* written whole */
    uint32_t fill;
    uint32_t count;
    uint32_t owners[AP_RAW_BATCH];
    uint32_t ends[AP_RAW_BATCH]; /* of each record in buffer */
    uint8_t buffer[AP_RAW_BUFFER];
} ap__raw_stream;

typedef struct ap__raw_streams {
    int data_fd;
    ap__raw_namer namer;
    void *namer_context;
    ap__raw_told told;
    void *told_context;
    ap__ageing *ageing; /* NULL: none */
    int first_errno;
    uint32_t count;
    ap__raw_stream *streams[AP_RAW_STREAMS];
    uint32_t type_count;
    struct {
        uint64_t key; /* flags << 56 | level << 32 | type */
        uint32_t stream;
    } types[AP_RAW_TYPES];
} ap__raw_streams;

void ap__raw_streams_init(ap__raw_streams *r, int data_fd);

/* Names may have changed: what is remembered is forgotten. */
void ap__raw_streams_renamed(ap__raw_streams *r);

/* The stream of this name, made when missing; NULL without memory or place. */
ap__raw_stream *ap__raw_stream_get(ap__raw_streams *r, const char *name, uint32_t record_bytes);

/* Takes one record; `bytes` must be what the class has. */
void ap__raw_streams_take(ap__raw_streams *r, uint32_t flags, const void *record, uint32_t bytes,
                          uint32_t owner);
/* Writes what was taken. */
void ap__raw_streams_flush(ap__raw_streams *r);

/* Where the streams are, for the checkpoint; returns their number. */
uint32_t ap__raw_streams_points(const ap__raw_streams *r, ap__raw_point out[AP_RAW_STREAMS]);
uint64_t ap__raw_streams_stored(const ap__raw_streams *r);

/* Flushes and ends the streams, which still must be freed. 0 or the first errno. */
int ap__raw_streams_finish(ap__raw_streams *r);
/* Closes what is open and frees; after ap__ageing_free. */
void ap__raw_streams_abandon(ap__raw_streams *r);

#endif
