/* SPDX-License-Identifier: Apache-2.0 */
#include "stamp/body.h"

#include <string.h>

#include "format/utf8.h"
#include "ring/ring.h"
#include "stamp/intern.h"

#define AP_SEQ_ONE (1ULL << 32)

/* A body taken apart. */
typedef struct ap__parts {
    uint32_t flags;
    uint64_t attr[2];
    uint64_t name;
    uint64_t tag;
    uint64_t stack;
    uint32_t message_words;
    uint64_t message[AP_BODY_MAX_WORDS];
} ap__parts;

/* false: another setter holds the body */
static bool ap__body_open(ap__stamp *stamp, uint64_t *shape)
{
    *shape = atomic_load_explicit(&stamp->shape, memory_order_relaxed);
    if ((*shape >> 32 & 1) != 0 ||
        !atomic_compare_exchange_strong_explicit(&stamp->shape, shape, *shape + AP_SEQ_ONE,
                                                 memory_order_acquire, memory_order_relaxed)) {
        return false;
    }
    atomic_thread_fence(memory_order_release);
    return true;
}

static void ap__body_close(ap__stamp *stamp, uint64_t shape, uint32_t words, uint32_t flags)
{
    uint64_t held = shape + AP_SEQ_ONE;

    shape = (shape & 0xffffffff00000000ULL) + 2 * AP_SEQ_ONE;
    /* fails when the stamp was destroyed meanwhile and lives again: then this was too late */
    (void)atomic_compare_exchange_strong_explicit(&stamp->shape, &held,
                                                  shape | words | flags << 24,
                                                  memory_order_release, memory_order_relaxed);
}

static inline void ap__put_word(uint64_t *dst, uint64_t v)
{
    __atomic_store_n(dst, v, __ATOMIC_RELAXED);
}

/* Text to words, the last one padded with zeros. Returns the number of words. */
static inline uint32_t ap__put_text(uint64_t *dst, const char *text, uint32_t length)
{
    uint32_t words = length / 8;

    for (uint32_t i = 0; i < words; i++) {
        uint64_t v = 0;

        memcpy(&v, text + (size_t)i * 8, 8);
        ap__put_word(dst + i, v);
    }
    if (length % 8 != 0) {
        uint64_t v = 0;

        for (uint32_t i = 0; i < length % 8; i++) {
            v |= (uint64_t)(unsigned char)text[(size_t)words * 8 + i] << (8 * i);
        }
        ap__put_word(dst + words, v);
        words++;
    }
    return words;
}

static void ap__parts_read(const ap__stamp *stamp, uint64_t shape, ap__parts *p)
{
    const uint64_t *w = stamp->body;

    memset(p, 0, sizeof(*p));
    p->flags = AP_SHAPE_FLAGS(shape);
    p->message_words = AP_SHAPE_WORDS(shape) - ap__body_words_before_message(p->flags);
    if ((p->flags & AP_BODY_ATTR) != 0) {
        p->attr[0] = *w++;
        p->attr[1] = *w++;
    }
    if ((p->flags & AP_BODY_NAME) != 0) {
        p->name = *w++;
    }
    if ((p->flags & AP_BODY_TAG) != 0) {
        p->tag = *w++;
    }
    if ((p->flags & AP_BODY_STACK) != 0) {
        p->stack = *w++;
    }
    memcpy(p->message, w, (size_t)p->message_words * 8);
}

static uint32_t ap__parts_write(ap__stamp *stamp, const ap__parts *p)
{
    uint64_t *w = stamp->body;

    if ((p->flags & AP_BODY_ATTR) != 0) {
        ap__put_word(w++, p->attr[0]);
        ap__put_word(w++, p->attr[1]);
    }
    if ((p->flags & AP_BODY_NAME) != 0) {
        ap__put_word(w++, p->name);
    }
    if ((p->flags & AP_BODY_TAG) != 0) {
        ap__put_word(w++, p->tag);
    }
    if ((p->flags & AP_BODY_STACK) != 0) {
        ap__put_word(w++, p->stack);
    }
    for (uint32_t i = 0; i < p->message_words; i++) {
        ap__put_word(w++, p->message[i]);
    }
    return (uint32_t)(w - stamp->body);
}

void ap__stamp_set_message(ap__stamp *stamp, const char *text, size_t length)
{
    uint32_t add = 0;
    uint64_t name = 0;
    uint64_t shape = 0;
    uint32_t flags = 0;
    uint32_t words = 0;

    if (AP_UNLIKELY(length > AP_MESSAGE_MAX)) {
        size_t kept = ap__utf8_cut(text, length, AP_MESSAGE_MAX);

        add = AP_BODY_CUT;
        if (ap__intern(AP_INTERN_NAME, text, length, &name)) {
            add |= AP_BODY_NAME; /* the text is on disk before any record can name it */
        }
        length = kept;
    }
    if (!ap__body_open(stamp, &shape)) {
        return;
    }
    flags = AP_SHAPE_FLAGS(shape);
    if (AP_LIKELY((flags & ~(uint32_t)AP_BODY_CUT) == 0 && add == 0)) {
        words = ap__put_text(stamp->body, text, (uint32_t)length);
        flags = 0;
    } else {
        ap__parts p;

        ap__parts_read(stamp, shape, &p);
        p.flags = (p.flags & ~(uint32_t)(AP_BODY_CUT | AP_BODY_NAME)) | add;
        p.name = name;
        p.message_words = ap__put_text(p.message, text, (uint32_t)length);
        words = ap__parts_write(stamp, &p);
        flags = p.flags;
    }
    ap__body_close(stamp, shape, words, flags);
}

/* Applies one change to a body that is held, and lets it go. */
static void ap__body_change(ap__stamp *stamp, uint32_t flag, const ap__parts *change,
                            uint32_t attr_mask)
{
    uint64_t shape = 0;
    ap__parts p;

    if (!ap__body_open(stamp, &shape)) {
        return;
    }
    ap__parts_read(stamp, shape, &p);
    p.flags |= flag;
    if (flag == AP_BODY_TAG) {
        p.tag = change->tag;
    } else if (flag == AP_BODY_STACK) {
        p.stack = change->stack;
    } else if (attr_mask == 1) {
        p.attr[0] = (p.attr[0] & 0xffffffff00000000ULL) | change->attr[0];
    } else {
        p.attr[0] = (p.attr[0] & 0xffffffffULL) | change->attr[0];
        p.attr[1] = change->attr[1];
    }
    ap__body_close(stamp, shape, ap__parts_write(stamp, &p), p.flags);
}

void ap__stamp_set_category(ap__stamp *stamp, uint32_t category)
{
    ap__parts change = {.attr = {category, 0}};

    ap__body_change(stamp, AP_BODY_ATTR, &change, 1);
}

void ap__stamp_set_payload(ap__stamp *stamp, int32_t type, uint64_t value)
{
    ap__parts change = {.attr = {(uint64_t)(uint32_t)type << 32, value}};

    ap__body_change(stamp, AP_BODY_ATTR, &change, 2);
}

void ap__stamp_set_text_id(ap__stamp *stamp, uint32_t flag, uint64_t id)
{
    ap__parts change = {.tag = id, .stack = id};

    ap__body_change(stamp, flag, &change, 0);
}
