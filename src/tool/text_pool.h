/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of many rows in one bulk array; what has come lately is not stored again. */
#ifndef AP_TOOL_TEXT_POOL_H_
#define AP_TOOL_TEXT_POOL_H_

#include <stdint.h>

#define AP_POOL_RECENT 4096u

typedef struct ap__text_pool {
    char *bytes;
    uint32_t used;
    uint32_t recent[AP_POOL_RECENT]; /* offset + 1, by hash */
} ap__text_pool;

/* Offset of the text in bytes, NUL-terminated there; UINT32_MAX without memory. */
uint32_t ap__text_pool_add(ap__text_pool *pool, const char *text);
void ap__text_pool_free(ap__text_pool *pool);

#endif
