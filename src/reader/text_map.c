/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/text_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/utf8.h"

static int ap__grow(void **array, size_t *room, size_t need, size_t item)
{
    size_t want = *room != 0 ? *room : 64;
    void *bigger = NULL;

    if (need <= *room) {
        return 0;
    }
    while (want < need) {
        if (want > SIZE_MAX / 2 / item) {
            return ENOMEM;
        }
        want *= 2;
    }
    bigger = realloc(*array, want * item);
    if (bigger == NULL) {
        return ENOMEM;
    }
    *array = bigger;
    *room = want;
    return 0;
}

int ap__text_map_add(ap__text_map *map, uint64_t key, const char *text, size_t length)
{
    bool clean = true;
    size_t most = 0;
    ap__text_entry *entry = NULL;
    void *entries = map->entries;
    void *bytes = map->text;
    int rc = 0;

    length = strnlen(text, length); /* a damaged one may have a NUL inside */
    clean = ap__utf8_is_clean(text, length);
    most = clean ? length : length * AP_UTF8_GROWTH;
    if (length >= AP_TEXT_MAP_LIMIT || most >= AP_TEXT_MAP_LIMIT - map->text_size) {
        map->full = true;
        return ENOSPC;
    }
    rc = ap__grow(&entries, &map->room, map->count + 1, sizeof(*map->entries));
    map->entries = entries;
    if (rc == 0) {
        rc = ap__grow(&bytes, &map->text_room, map->text_size + most + 1, 1);
        map->text = bytes;
    }
    if (rc != 0) {
        return rc;
    }
    entry = &map->entries[map->count++];
    entry->key = key;
    entry->offset = map->text_size;
    entry->length = length;
    if (clean) {
        memcpy(map->text + map->text_size, text, length);
    } else {
        entry->length = ap__utf8_clean(map->text + map->text_size, most, text, length);
    }
    map->text[map->text_size + entry->length] = '\0';
    map->text_size += entry->length + 1;
    return 0;
}

static int ap__compare_entries(const void *a, const void *b)
{
    const ap__text_entry *x = a;
    const ap__text_entry *y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

void ap__text_map_seal(ap__text_map *map)
{
    size_t kept = 0;

    if (map->count == 0) {
        return;
    }
    qsort(map->entries, map->count, sizeof(*map->entries), ap__compare_entries);
    for (size_t i = 0; i < map->count; i++) {
        if (kept == 0 || map->entries[i].key != map->entries[kept - 1].key) {
            map->entries[kept++] = map->entries[i];
        }
    }
    map->count = kept;
}

const char *ap__text_map_find(const ap__text_map *map, uint64_t key, size_t *length)
{
    size_t low = 0;
    size_t high = map->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (map->entries[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == map->count || map->entries[low].key != key) {
        return NULL;
    }
    if (length != NULL) {
        *length = map->entries[low].length;
    }
    return map->text + map->entries[low].offset;
}

void ap__text_map_free(ap__text_map *map)
{
    free(map->entries);
    free(map->text);
    memset(map, 0, sizeof(*map));
}
