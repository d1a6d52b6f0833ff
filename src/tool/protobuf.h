/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf messages in a buffer of a fixed size: fields that do not fit are left out whole. */
#ifndef AP_TOOL_PROTOBUF_H_
#define AP_TOOL_PROTOBUF_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define AP_PB_BYTES 16384u
#define AP_PB_TEXT 4096u /* of one text */

typedef struct ap__pb {
    size_t used;
    uint8_t bytes[AP_PB_BYTES];
} ap__pb;

static inline void ap__pb_varint(ap__pb *p, uint64_t value)
{
    while (value >= 0x80) {
        p->bytes[p->used++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    p->bytes[p->used++] = (uint8_t)value;
}

static inline void ap__pb_u64(ap__pb *p, uint32_t field, uint64_t value)
{
    if (p->used + 16 <= AP_PB_BYTES) {
        ap__pb_varint(p, (uint64_t)field << 3);
        ap__pb_varint(p, value);
    }
}

static inline void ap__pb_fixed64(ap__pb *p, uint32_t field, uint64_t value)
{
    if (p->used + 16 <= AP_PB_BYTES) {
        ap__pb_varint(p, (uint64_t)field << 3 | 1);
        for (uint32_t i = 0; i < 8; i++) {
            p->bytes[p->used++] = (uint8_t)(value >> 8 * i);
        }
    }
}

/* Cut to AP_PB_TEXT bytes, between characters. */
static inline void ap__pb_text(ap__pb *p, uint32_t field, const char *text)
{
    size_t length = strlen(text);

    if (length > AP_PB_TEXT) {
        length = AP_PB_TEXT;
        while (length > 0 && ((uint8_t)text[length] & 0xC0) == 0x80) {
            length--;
        }
    }
    if (p->used + length + 16 <= AP_PB_BYTES) {
        ap__pb_varint(p, (uint64_t)field << 3 | 2);
        ap__pb_varint(p, length);
        memcpy(p->bytes + p->used, text, length);
        p->used += length;
    }
}

/* A message inside: its length is written at the end, in four bytes. */
static inline size_t ap__pb_open(ap__pb *p, uint32_t field)
{
    if (p->used + 16 > AP_PB_BYTES) {
        return 0;
    }
    ap__pb_varint(p, (uint64_t)field << 3 | 2);
    p->used += 4;
    return p->used;
}

static inline void ap__pb_close(ap__pb *p, size_t begin)
{
    size_t length = p->used - begin;

    for (uint32_t i = 0; begin != 0 && i < 4; i++, length >>= 7) {
        p->bytes[begin - 4 + i] = (uint8_t)((length & 0x7F) | (i < 3 ? 0x80 : 0));
    }
}

#endif
