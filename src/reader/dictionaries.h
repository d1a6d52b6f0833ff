/* SPDX-License-Identifier: Apache-2.0 */
/* Names behind the numbers in records: the vendor's text dictionaries and our names.dic. */
#ifndef AP_READER_DICTIONARIES_H_
#define AP_READER_DICTIONARIES_H_

#include "reader/sources.h"
#include "reader/text_map.h"

typedef struct ap__dictionaries {
    ap__text_map hashes;     /* id → text */
    ap__text_map types;      /* ap__type_key → name */
    ap__text_map names;      /* our ids of whole messages, tags, call stacks → text */
    ap__text_map categories; /* category number → name */
} ap__dictionaries;

static inline uint64_t ap__type_key(uint32_t level, uint32_t type)
{
    return (uint64_t)level << 32 | type;
}

/* ext_fd -1: no .aclprof. 0 or ENOMEM; what is damaged makes a note, the rest is kept. */
int ap__dictionaries_load(ap__dictionaries *d, int data_fd, const ap__sources *sources, int ext_fd,
                          ap__notes *notes);
void ap__dictionaries_free(ap__dictionaries *d);

/* Walks names.dic of `size` bytes. Returns the length of its whole, valid entries, or -errno.
 * `d` may be NULL. */
int64_t ap__names_walk(int fd, uint64_t size, ap__dictionaries *d);

#endif
