/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/text_ids.h"

#include <errno.h>
#include <string.h>

#include "analysis/bulk.h"

struct ap__text_slot {
    uint64_t hash[2]; /* the second 0: free */
    uint32_t id;
};

static void ap__hash(const char *text, uint64_t out[2])
{
    uint64_t a = 0xCBF29CE484222325ull;
    uint64_t b = 0x9E3779B97F4A7C15ull;

    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        a = (a ^ *p) * 0x100000001B3ull;
        b = (b + *p + 1) * 0xD6E8FEB86659FD93ull;
        b ^= b >> 29;
    }
    out[0] = a ^ a >> 31;
    out[1] = b | 1; /* never free */
}

static ap__text_slot *ap__place(ap__text_slot *list, uint32_t room, const uint64_t hash[2])
{
    uint32_t at = (uint32_t)hash[0] & (room - 1);

    while (list[at].hash[1] != 0 && memcmp(list[at].hash, hash, sizeof(list[at].hash)) != 0) {
        at = (at + 1) & (room - 1);
    }
    return &list[at];
}

static int ap__grow(ap__text_ids *ids)
{
    uint32_t room = ids->room == 0 ? 1024 : ids->room * 2;
    ap__text_slot *list = room != 0 ? ap__bulk_make(room, sizeof(*list)) : NULL;

    if (list == NULL) {
        return ENOMEM;
    }
    for (uint32_t i = 0; i < ids->room; i++) {
        if (ids->slots[i].hash[1] != 0) {
            *ap__place(list, room, ids->slots[i].hash) = ids->slots[i];
        }
    }
    ap__bulk_free(ids->slots);
    ids->slots = list;
    ids->room = room;
    return 0;
}

int ap__text_id(ap__text_ids *ids, const char *text, uint32_t *id, bool *fresh)
{
    ap__text_slot *s = NULL;
    uint64_t hash[2];

    if (ids->count >= ids->room / 2 && ap__grow(ids) != 0) {
        return ENOMEM;
    }
    ap__hash(text, hash);
    s = ap__place(ids->slots, ids->room, hash);
    *fresh = s->hash[1] == 0;
    if (*fresh) {
        memcpy(s->hash, hash, sizeof(s->hash));
        s->id = ids->count++;
    }
    *id = s->id;
    return 0;
}

void ap__text_ids_free(ap__text_ids *ids)
{
    ap__bulk_free(ids->slots);
    memset(ids, 0, sizeof(*ids));
}
