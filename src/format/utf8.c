/* SPDX-License-Identifier: Apache-2.0 */
#include "format/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HIGH_BITS 0x8080808080808080u
#define REPLACEMENT "\xEF\xBF\xBD"

static bool ap__is_continuation(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

/* Bytes of the valid character of two or more bytes at s, 0 when there is none. Excludes overlong
 * forms, surrogates and what is beyond U+10FFFF. */
static size_t ap__multibyte(const unsigned char *s, size_t length)
{
    unsigned char lead = s[0];
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    size_t bytes;

    if (lead >= 0xC2 && lead <= 0xDF) {
        bytes = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        bytes = 3;
        low = lead == 0xE0 ? 0xA0 : 0x80;
        high = lead == 0xED ? 0x9F : 0xBF;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        bytes = 4;
        low = lead == 0xF0 ? 0x90 : 0x80;
        high = lead == 0xF4 ? 0x8F : 0xBF;
    } else {
        return 0;
    }
    if (bytes > length || s[1] < low || s[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < bytes; i++) {
        if (!ap__is_continuation(s[i])) {
            return 0;
        }
    }
    return bytes;
}

size_t ap__utf8_cut(const char *s, size_t length, size_t max)
{
    const unsigned char *u = (const unsigned char *)s;

    if (length <= max) {
        return length;
    }
    if (!ap__is_continuation(u[max])) {
        return max;
    }
    for (size_t back = 1; back <= 3 && back <= max; back++) {
        size_t start = max - back;

        if (ap__is_continuation(u[start])) {
            continue;
        }
        return ap__multibyte(u + start, length - start) > back ? start : max;
    }
    return max;
}

size_t ap__utf8_clean(char *dst, size_t cap, const char *src, size_t length)
{
    const unsigned char *u = (const unsigned char *)src;
    size_t in = 0;
    size_t out = 0;

    while (in < length && out < cap) {
        if (length - in >= 8 && cap - out >= 8) {
            uint64_t word;

            memcpy(&word, src + in, 8);
            if ((word & HIGH_BITS) == 0) {
                memcpy(dst + out, &word, 8);
                in += 8;
                out += 8;
                continue;
            }
        }
        if (u[in] < 0x80) {
            dst[out++] = src[in++];
            continue;
        }

        size_t bytes = ap__multibyte(u + in, length - in);
        const char *from = bytes != 0 ? src + in : REPLACEMENT;
        size_t put = bytes != 0 ? bytes : sizeof(REPLACEMENT) - 1;

        if (put > cap - out) {
            break;
        }
        memcpy(dst + out, from, put);
        out += put;
        in += bytes != 0 ? bytes : 1;
    }
    return out;
}

bool ap__utf8_is_clean(const char *s, size_t length)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t in = 0;

    while (in < length) {
        uint64_t word = HIGH_BITS;
        size_t bytes = 1;

        if (length - in >= sizeof(word)) {
            memcpy(&word, s + in, sizeof(word));
        }
        if ((word & HIGH_BITS) == 0) {
            in += sizeof(word);
            continue;
        }
        if (u[in] >= 0x80) {
            bytes = ap__multibyte(u + in, length - in);
        }
        if (bytes == 0) {
            return false;
        }
        in += bytes;
    }
    return true;
}
