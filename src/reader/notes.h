/* SPDX-License-Identifier: Apache-2.0 */
/* What was found wrong while reading, for a person. Bounded: later notes are only counted. */
#ifndef AP_READER_NOTES_H_
#define AP_READER_NOTES_H_

#include <stdint.h>

#define AP_NOTES_MAX 64u

typedef struct ap__notes {
    char *lines[AP_NOTES_MAX];
    uint32_t count;
    uint64_t dropped; /* notes beyond AP_NOTES_MAX, or without memory */
} ap__notes;

/* A note that is there already is not repeated. */
void ap__note(ap__notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ap__notes_free(ap__notes *notes);

#endif
