/* SPDX-License-Identifier: Apache-2.0 */
#include "subscribe/op_names.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "format/hash.h"

typedef struct ap__op {
    uint64_t hash;
    uint32_t next; /* in its bucket, number; 0: none */
    uint16_t length;
    uint16_t type_length;
    char *name;
    const char *type; /* the head of the name, or what came with it */
} ap__op;

static pthread_mutex_t ap__lock = PTHREAD_MUTEX_INITIALIZER;
static ap__op *ap__ops; /* number n is at n - 1 */
static uint32_t ap__count;
static uint32_t ap__room; /* a power of two; as many buckets */
static uint32_t *ap__buckets;

size_t ap__op_type_length(const char *name, size_t length)
{
    size_t digits = length;

    while (digits > 0 && isdigit((unsigned char)name[digits - 1]) != 0) {
        digits--;
    }
    return digits > 1 && digits < length && name[digits - 1] == '_' ? digits - 1 : length;
}

static bool ap__grow(void)
{
    uint32_t room = ap__room == 0 ? 256 : ap__room * 2;
    uint32_t *buckets = calloc(room, sizeof(*buckets));
    ap__op *ops = realloc(ap__ops, room * sizeof(*ops));

    ap__ops = ops != NULL ? ops : ap__ops;
    if (buckets == NULL || ops == NULL || room == 0) {
        free(buckets);
        return false;
    }
    free(ap__buckets);
    ap__buckets = buckets;
    ap__room = room;
    for (uint32_t i = 0; i < ap__count; i++) {
        uint32_t *bucket = &buckets[ap__ops[i].hash & (room - 1)];

        ap__ops[i].next = *bucket;
        *bucket = i + 1;
    }
    return true;
}

static bool ap__is(const ap__op *op, const ap__op *wanted)
{
    return op->hash == wanted->hash && op->length == wanted->length &&
           op->type_length == wanted->type_length &&
           memcmp(op->name, wanted->name, wanted->length) == 0 &&
           memcmp(op->type, wanted->type, wanted->type_length) == 0;
}

static uint64_t ap__find(const ap__op *wanted)
{
    uint32_t n = ap__room != 0 ? ap__buckets[wanted->hash & (ap__room - 1)] : 0;

    while (n != 0 && !ap__is(&ap__ops[n - 1], wanted)) {
        n = ap__ops[n - 1].next;
    }
    return n;
}

static uint64_t ap__add(const ap__op *model)
{
    size_t length = model->length;
    char *copy = malloc(length + model->type_length + 1u);
    uint32_t *bucket = NULL;

    if (copy == NULL || (ap__count == ap__room && !ap__grow())) {
        free(copy);
        return 0;
    }
    memcpy(copy, model->name, length);
    memcpy(copy + length, model->type, model->type_length);
    bucket = &ap__buckets[model->hash & (ap__room - 1)];
    ap__ops[ap__count] = *model;
    ap__ops[ap__count].next = *bucket;
    ap__ops[ap__count].name = copy;
    ap__ops[ap__count].type = copy + length;
    *bucket = ++ap__count;
    return ap__count;
}

uint64_t ap__op_number(const char *name, const char *type)
{
    size_t length = strnlen(name, AP_OP_NAME_BYTES - 1);
    ap__op op = {.hash = ap__hash_id(name, length),
                 .length = (uint16_t)length,
                 .name = (char *)(uintptr_t)name,
                 .type = type != NULL ? type : name};
    uint64_t number = 0;

    op.type_length = (uint16_t)(type != NULL ? strnlen(type, AP_OP_NAME_BYTES - 1)
                                             : ap__op_type_length(name, length));
    pthread_mutex_lock(&ap__lock);
    number = ap__find(&op);
    number = number != 0 ? number : ap__add(&op);
    pthread_mutex_unlock(&ap__lock);
    return number;
}

static size_t ap__copy(uint64_t number, bool type, char *out, size_t size)
{
    size_t length = 0;

    pthread_mutex_lock(&ap__lock);
    if (number != 0 && number <= ap__count) {
        const ap__op *op = &ap__ops[number - 1];

        length = type ? op->type_length : op->length;
        if (size != 0) {
            size_t n = length < size ? length : size - 1;

            memcpy(out, type ? op->type : op->name, n);
            out[n] = '\0';
        }
    }
    pthread_mutex_unlock(&ap__lock);
    return length;
}

size_t ap__op_name(uint64_t number, char *out, size_t size)
{
    return ap__copy(number, false, out, size);
}

size_t ap__op_type(uint64_t number, char *out, size_t size)
{
    return ap__copy(number, true, out, size);
}

void ap__op_names_lock(void)
{
    pthread_mutex_lock(&ap__lock);
}

void ap__op_names_unlock(void)
{
    pthread_mutex_unlock(&ap__lock);
}
