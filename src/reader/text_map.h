/* SPDX-License-Identifier: Apache-2.0 */
/* A dictionary u64 → text, filled once and then only asked. The first text of a key stays. */
#ifndef AP_READER_TEXT_MAP_H_
#define AP_READER_TEXT_MAP_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More text than this is not kept in memory: a guard against files made to exhaust it. */
#define AP_TEXT_MAP_LIMIT ((size_t)256 << 20)

typedef struct ap__text_entry {
    uint64_t key;
    size_t offset; /* in text; also the order of arrival */
    size_t length;
} ap__text_entry;

typedef struct ap__text_map {
    ap__text_entry *entries;
    size_t count;
    size_t room;
    char *text;
    size_t text_size;
    size_t text_room;
    bool full; /* the limit was met, later texts are missing */
} ap__text_map;

/* 0 or errno (ENOMEM, ENOSPC at the limit). Not after ap__text_map_seal. What is no UTF-8 is
 * replaced: whoever shows the text need not care. */
int ap__text_map_add(ap__text_map *map, uint64_t key, const char *text, size_t length);
/* Ends filling. */
void ap__text_map_seal(ap__text_map *map);
/* NUL-terminated text, or NULL; `length` may be NULL. Valid until the map is freed. */
const char *ap__text_map_find(const ap__text_map *map, uint64_t key, size_t *length);
void ap__text_map_free(ap__text_map *map);

#endif
