/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for texts, from 0 in the order of first use. The texts are not kept: 128 bits of hash
 * tell them apart, so that any number of them needs little memory. */
#ifndef AP_TOOL_TEXT_IDS_H_
#define AP_TOOL_TEXT_IDS_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct ap__text_slot ap__text_slot;

typedef struct ap__text_ids { /* zeroed: empty */
    ap__text_slot *slots;     /* hashed */
    uint32_t room;
    uint32_t count;
} ap__text_ids;

/* 0 or ENOMEM. */
int ap__text_id(ap__text_ids *ids, const char *text, uint32_t *id, bool *fresh);
void ap__text_ids_free(ap__text_ids *ids);

#endif
