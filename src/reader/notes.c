/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reader/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AP_NOTE_BYTES 512u

/* File names come from the directory: no control characters reach a terminal. */
static void ap__defuse(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p != '\0'; p++) {
        if (*p < 0x20 || *p == 0x7f) {
            *p = '?';
        }
    }
}

void ap__note(ap__notes *notes, const char *format, ...)
{
    char text[AP_NOTE_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    ap__defuse(text);
    for (uint32_t i = 0; i < notes->count; i++) {
        if (strcmp(notes->lines[i], text) == 0) {
            return;
        }
    }
    if (notes->count < AP_NOTES_MAX) {
        notes->lines[notes->count] = strdup(text);
        if (notes->lines[notes->count] != NULL) {
            notes->count++;
            return;
        }
    }
    notes->dropped++;
}

void ap__notes_free(ap__notes *notes)
{
    for (uint32_t i = 0; i < notes->count; i++) {
        free(notes->lines[i]);
    }
    memset(notes, 0, sizeof(*notes));
}
