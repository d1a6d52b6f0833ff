/* SPDX-License-Identifier: Apache-2.0 */
/* A file that appears under its name when it is whole: buffered, mode 0640, temporary name, rename.
 * Large ones are written by a thread of their own while the next bytes are made. */
#ifndef AP_TOOL_OUT_FILE_H_
#define AP_TOOL_OUT_FILE_H_

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define AP_OUT_BUFFER ((size_t)128 << 10)

typedef struct ap__out {
    int dir_fd;
    int fd;
    int rc;       /* first errno */
    char *buffer; /* one of two */
    size_t used;
    uint64_t written; /* bytes that have left the buffer */
    char name[96];
    char part[112];
    /* the writing thread's; under lock */
    bool background;
    bool ending;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const char *full; /* to be written; NULL: nothing */
    size_t full_bytes;
    int thread_rc;
    char buffers[2][AP_OUT_BUFFER];
} ap__out;

/* 0 or errno. */
int ap__out_open(ap__out *o, int dir_fd, const char *name);
/* After ap__out_open: another thread writes from now on. Without threads nothing changes. */
void ap__out_background(ap__out *o);
/* Bytes that do not fit into the buffer. */
void ap__out_spill(ap__out *o, const void *data, size_t bytes);

static inline void ap__out_bytes(ap__out *o, const void *data, size_t bytes)
{
    if (bytes <= AP_OUT_BUFFER - o->used) {
        memcpy(o->buffer + o->used, data, bytes);
        o->used += bytes;
    } else {
        ap__out_spill(o, data, bytes);
    }
}

static inline void ap__out_text(ap__out *o, const char *text)
{
    ap__out_bytes(o, text, strlen(text));
}

/* How many bytes the file has so far. */
static inline uint64_t ap__out_size(const ap__out *o)
{
    return o->written + o->used;
}

void ap__out_u64(ap__out *o, uint64_t value);
/* Whole microseconds and three decimals of nanoseconds: "1767240301000123.456". */
void ap__out_us(ap__out *o, uint64_t ns);
void ap__out_printf(ap__out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Gives the file its name. 0, or the first errno with nothing left behind. */
int ap__out_finish(ap__out *o);
/* As if it had never been begun. */
void ap__out_drop(ap__out *o);

#endif
