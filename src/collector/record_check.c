/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "collector/record_check.h"

#include <string.h>

void ap__record_check_init(ap__record_check *c, ap__record_kind kind, uint32_t record_bytes)
{
    memset(c, 0, sizeof(*c));
    c->kind = kind;
    c->record_bytes = record_bytes;
}

void ap__record_check_forget(ap__record_check *c)
{
    c->began = false;
}

static bool ap__magic_at(const uint8_t *p)
{
    return p[2] == (AP_RECORD_MAGIC & 0xFF) && p[3] == AP_RECORD_MAGIC >> 8;
}

static uint8_t ap__number_at(ap__record_kind kind, const uint8_t *p)
{
    return kind == AP_RECORD_STARS ? (uint8_t)(((uint32_t)p[0] | (uint32_t)p[1] << 8) >> 6 & 15)
                                   : (uint8_t)(p[0] >> 4);
}

static void ap__check_one(ap__record_check *c, const uint8_t *p)
{
    uint8_t number = ap__number_at(c->kind, p);
    uint8_t jump = (uint8_t)((number - c->last_number - 1) & 15);

    if (c->began && jump != 0) {
        if (jump == 15 && memcmp(c->last, p, c->record_bytes) == 0) {
            c->duplicates++;
        } else {
            c->gaps++;
            c->missing += jump;
        }
    }
    c->began = true;
    c->last_number = number;
    memcpy(c->last, p, c->record_bytes);
}

/* Where the next record begins at or behind `at`: twice the magic, a record apart, or once when the
 * data end before the second. `bytes` when there is none. */
static size_t ap__resync(const ap__record_check *c, const uint8_t *data, size_t at, size_t bytes)
{
    size_t record = c->record_bytes;

    for (size_t q = at; q + record <= bytes; q++) {
        if (ap__magic_at(data + q) &&
            (q + record + 4 > bytes || ap__magic_at(data + q + record))) {
            return q;
        }
    }
    return bytes;
}

static size_t ap__cut_checked(ap__record_check *c, uint8_t *data, size_t bytes, size_t *rest)
{
    size_t record = c->record_bytes;
    size_t from = 0;
    size_t to = 0;
    bool good_before = false;

    while (bytes - from >= record) {
        bool good = ap__magic_at(data + from);

        if (good) {
            ap__check_one(c, data + from);
        } else {
            /* the tear may be inside the record before, whose head was there */
            size_t next = ap__resync(c, data, good_before ? from - record + 1 : from + 1, bytes);

            if (next < bytes && (next + record - from) % record != 0) {
                /* the record before may have got another's end, and of the one found only the
                 * magic is certain: both go */
                size_t torn = good_before ? record : 0;

                next += record;
                to -= torn;
                c->records -= torn != 0;
                c->torn_bytes += torn + next - from;
                c->gaps++;
                c->began = false;
                from = next;
                good_before = false;
                continue;
            }
            c->bad_magic++; /* the readers skip it */
        }
        if (to != from) {
            memmove(data + to, data + from, record);
        }
        good_before = good && to == from;
        c->records++;
        to += record;
        from += record;
    }
    *rest = bytes - from;
    if (to != from) {
        memmove(data + to, data + from, *rest);
    }
    return to;
}

static size_t ap__cut_text(ap__record_check *c, const uint8_t *data, size_t bytes, bool full,
                           size_t *rest)
{
    const uint8_t *end = memrchr(data, '\n', bytes);
    size_t whole = end != NULL ? (size_t)(end - data) + 1 : full ? bytes : 0;

    for (const uint8_t *p = data; (p = memchr(p, '\n', (size_t)(data + whole - p))) != NULL; p++) {
        c->records++;
    }
    *rest = bytes - whole;
    return whole;
}

size_t ap__record_check_cut(ap__record_check *c, uint8_t *data, size_t bytes, bool full,
                            size_t *rest)
{
    size_t whole = 0;

    if (c->record_bytes == 0) {
        return bytes != 0 ? ap__cut_text(c, data, bytes, full, rest) : (*rest = 0, 0);
    }
    if (c->kind != AP_RECORD_PLAIN && c->record_bytes <= AP_CHECK_RECORD_MAX) {
        return ap__cut_checked(c, data, bytes, rest);
    }
    whole = bytes - bytes % c->record_bytes;
    c->records += whole / c->record_bytes;
    *rest = bytes - whole;
    return whole;
}
