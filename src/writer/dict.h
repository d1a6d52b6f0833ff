/* SPDX-License-Identifier: Apache-2.0 */
/* The text dictionaries hash_dic, type_info_dic and data_format_dic. */
#ifndef AP_WRITER_DICT_H_
#define AP_WRITER_DICT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/ext_file.h"
#include "writer/slice.h"

#define AP_DICT_HASH_NAME "unaging.additional.hash_dic"
#define AP_DICT_TYPE_NAME "unaging.additional.type_info_dic"
#define AP_DICT_FORMAT_NAME "unaging.additional.data_format_dic"

typedef struct ap__dict {
    ap__stream stream;
    char *pending; /* whole lines not yet on disk */
    size_t pending_bytes;
    size_t pending_room;
    uint64_t *seen; /* open-addressed set of keys; 0 is an empty place */
    size_t seen_count;
    size_t seen_room; /* power of two */
    bool seen_zero;   /* key 0 */
} ap__dict;

void ap__dict_init(ap__dict *d, int data_fd, const char *name);

/* Adds "<id>:<text>". An id that was added before is left out: the first text counts. Line breaks
 * and NULs become blanks, invalid UTF-8 U+FFFD. Buffered. 0 or ENOMEM. One thread at a time. */
int ap__dict_add_hash(ap__dict *d, uint64_t id, const char *text, size_t length);

/* Adds "<level>_<type>:<name>"; otherwise as above. */
int ap__dict_add_type(ap__dict *d, uint32_t level, uint32_t type, const char *name);

/* The types that the profiler itself registers, msproftx first. 0 or ENOMEM. */
int ap__dict_add_default_types(ap__dict *d);

/* Name of one of those; NULL: it is none. */
const char *ap__dict_default_type(uint32_t level, uint32_t type);

/* Writes what is pending; after an error the rest stays pending. 0 or errno. */
int ap__dict_flush(ap__dict *d);

/* Flushes, ends the stream and frees, whatever happens. 0 or the first errno. */
int ap__dict_finish(ap__dict *d);

/* Frees and closes without writing. */
void ap__dict_abandon(ap__dict *d);

#endif
