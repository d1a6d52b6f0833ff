/* SPDX-License-Identifier: Apache-2.0 */
/* Setters of a stamp's contents. A setter that meets another one at work on the same stamp counts
 * as overwritten by it: no waiting. */
#ifndef AP_STAMP_BODY_H_
#define AP_STAMP_BODY_H_

#include "stamp/pool.h"

/* Text of `length` bytes (no NUL inside). Longer than the record holds: cut at a character
 * boundary, whole text interned. */
void ap__stamp_set_message(ap__stamp *stamp, const char *text, size_t length);
void ap__stamp_set_category(ap__stamp *stamp, uint32_t category);
void ap__stamp_set_payload(ap__stamp *stamp, int32_t type, uint64_t value);
/* flag: AP_BODY_TAG or AP_BODY_STACK; id of the interned text */
void ap__stamp_set_text_id(ap__stamp *stamp, uint32_t flag, uint64_t id);

/* Body parts by flag, for whoever reads a body; NULL-safe offsets in words. */
static inline uint32_t ap__body_words_before_message(uint32_t flags)
{
    return ((flags & AP_BODY_ATTR) != 0 ? 2u : 0u) + ((flags & AP_BODY_NAME) != 0 ? 1u : 0u) +
           ((flags & AP_BODY_TAG) != 0 ? 1u : 0u) + ((flags & AP_BODY_STACK) != 0 ? 1u : 0u);
}

#endif
