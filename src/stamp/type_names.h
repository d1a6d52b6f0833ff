/* SPDX-License-Identifier: Apache-2.0 */
/* Names that CANN's libraries register for the types of their records; they live as long as the
 * process and go into every capture's type dictionary. Thread-safe by a lock: not for hot paths. */
#ifndef AP_STAMP_TYPE_NAMES_H_
#define AP_STAMP_TYPE_NAMES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The last name of a type counts. false without memory. */
bool ap__type_register(uint16_t level, uint32_t type, const char *name);

/* NULL when the type has none. Valid for ever. */
const char *ap__type_name(uint16_t level, uint32_t type);

/* Changes with every registration. */
uint32_t ap__type_generation(void);

/* Walks registrations in their order: false at the end. *cursor starts at 0. */
bool ap__type_next(uint32_t *cursor, uint16_t *level, uint32_t *type, const char **name);

/* Descriptions of types' layouts, as JSON: kept and walked as names are. */
bool ap__format_register(uint16_t level, uint32_t type, const char *json);
bool ap__format_next(uint32_t *cursor, uint16_t *level, uint32_t *type, const char **json);

/* What the owner of the files (writer/texts.c) does about a new text. Called outside the lock. */
void ap__type_added(void);

void ap__types_lock(void);
void ap__types_unlock(void);
void ap__types_child(void);

#endif
