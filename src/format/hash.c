/* SPDX-License-Identifier: Apache-2.0 */
#include "format/hash.h"

uint64_t ap__hash_id(const char *text, size_t length)
{
    uint32_t high = 0;
    uint32_t low = 0;

    if (length == 0) {
        return UINT64_MAX;
    }
    for (size_t i = 0; i < length; i++) {
        uint32_t byte = (unsigned char)text[i];

        high = high * 29u + byte;
        low = low * 131u + byte;
    }
    return (uint64_t)high << 32 | low;
}
