/* SPDX-License-Identifier: Apache-2.0 */
/* The process's dictionary: texts by id, kept until the process ends, replayed into every
 * capture. Thread-safe by a lock: not for the stamp path. */
#ifndef AP_STAMP_INTERN_H_
#define AP_STAMP_INTERN_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ap__intern_use {
    AP_INTERN_HASH,     /* aclprofStr2Id: the vendor's hash dictionary */
    AP_INTERN_NAME,     /* long messages, tags, call stacks: our names dictionary */
    AP_INTERN_CATEGORY, /* names of categories; the id is the category number */
    AP_INTERN_USES
} ap__intern_use;

/* Id of a text (the vendor's double hash; the first text of two that collide wins). false when
 * memory is exhausted, or, for names, when AP_INTERN_NAMES_MAX bytes are held. */
bool ap__intern(ap__intern_use use, const char *text, size_t length, uint64_t *id);
bool ap__intern_category(uint32_t category, const char *text, size_t length);

/* The text of a hash id; NULL: unknown. Lives for ever. */
const char *ap__intern_text(uint64_t id);

/* What the owner of the files (writer/texts.c) does about a new text. Called outside the lock. */
void ap__intern_added(ap__intern_use use);

#define AP_INTERN_NAMES_MAX (64u << 20)

/* Walks the texts of one use in the order of first sight: returns false at the end. *cursor
 * starts at 0. Texts live for ever. */
bool ap__intern_next(ap__intern_use use, uint32_t *cursor, uint64_t *id, const char **text,
                     size_t *length);

void ap__intern_lock(void);
void ap__intern_unlock(void);
void ap__intern_child(void);

#endif
