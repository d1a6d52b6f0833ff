/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/text_pool.h"

#include <stddef.h>
#include <string.h>

#include "analysis/bulk.h"

uint32_t ap__text_pool_add(ap__text_pool *pool, const char *text)
{
    uint32_t hash = 2166136261u;
    uint32_t *recent = NULL;
    uint32_t at = pool->used;

    for (const char *p = text; *p != '\0'; p++) {
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    }
    recent = &pool->recent[(hash ^ hash >> 16) % AP_POOL_RECENT];
    if (*recent != 0 && strcmp(pool->bytes + *recent - 1, text) == 0) {
        return *recent - 1;
    }
    for (const char *p = text;; p++) {
        char *byte = ap__bulk_push((void **)&pool->bytes, &pool->used, 1);

        if (byte == NULL) {
            return UINT32_MAX;
        }
        *byte = *p;
        if (*p == '\0') {
            break;
        }
    }
    *recent = at + 1;
    return at;
}

void ap__text_pool_free(ap__text_pool *pool)
{
    ap__bulk_free(pool->bytes);
    pool->bytes = NULL;
    pool->used = 0;
}
