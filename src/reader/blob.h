/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes with their length. Everything that comes from a file is read through these. */
#ifndef AP_READER_BLOB_H_
#define AP_READER_BLOB_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct ap__blob {
    const uint8_t *data;
    size_t size;
} ap__blob;

/* The part of at most `size` bytes at `offset`; empty when that lies outside. */
static inline ap__blob ap__blob_part(ap__blob b, size_t offset, size_t size)
{
    ap__blob out = {NULL, 0};

    if (b.data != NULL && offset < b.size) {
        out.data = b.data + offset;
        out.size = size < b.size - offset ? size : b.size - offset;
    }
    return out;
}

/* Copies `size` bytes at `offset`; false (and zeros) when they are not all there. */
static inline bool ap__blob_copy(ap__blob b, size_t offset, void *out, size_t size)
{
    if (b.data == NULL || offset > b.size || size > b.size - offset) {
        memset(out, 0, size);
        return false;
    }
    memcpy(out, b.data + offset, size);
    return true;
}

static inline uint16_t ap__blob_u16(ap__blob b, size_t offset)
{
    uint16_t v = 0;

    (void)ap__blob_copy(b, offset, &v, sizeof(v));
    return v;
}

static inline uint32_t ap__blob_u32(ap__blob b, size_t offset)
{
    uint32_t v = 0;

    (void)ap__blob_copy(b, offset, &v, sizeof(v));
    return v;
}

static inline uint64_t ap__blob_u64(ap__blob b, size_t offset)
{
    uint64_t v = 0;

    (void)ap__blob_copy(b, offset, &v, sizeof(v));
    return v;
}

/* Bytes before the first NUL, all of them when there is none. */
static inline size_t ap__blob_text_length(ap__blob b)
{
    return b.data == NULL ? 0 : strnlen((const char *)b.data, b.size);
}

#endif
