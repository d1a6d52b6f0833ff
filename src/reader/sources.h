/* SPDX-License-Identifier: Apache-2.0 */
/* The slices of a data directory, grouped into sources and ordered by slice number. */
#ifndef AP_READER_SOURCES_H_
#define AP_READER_SOURCES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reader/notes.h"

typedef enum ap__source_kind {
    AP_SOURCE_API_EVENT,  /* records of 40 bytes */
    AP_SOURCE_COMPACT,    /* 64 bytes */
    AP_SOURCE_ADDITIONAL, /* 256 bytes */
    AP_SOURCE_VARIABLE,
    AP_SOURCE_DICTIONARY, /* text: hash_dic, type_info_dic, data_format_dic */
    AP_SOURCE_OTHER
} ap__source_kind;

typedef struct ap__source_slice {
    uint32_t number;
    uint64_t size;
} ap__source_slice;

typedef struct ap__source {
    char *name;      /* as in the file name, without ".slice_<k>" */
    const char *tag; /* last part of the name */
    ap__source_kind kind;
    bool aging;
    uint32_t record_size; /* of a device's file, when somebody has told (AP_RECORD_LINES); else 0 */
    ap__source_slice *slices;
    uint32_t slice_count;
} ap__source;

typedef struct ap__sources {
    ap__source *list; /* by name */
    uint32_t count;
} ap__sources;

/* Lists directory fd. 0 or errno; what is no regular file makes a note and is left out. */
int ap__sources_list(int dirfd, ap__sources *sources, ap__notes *notes);
void ap__sources_free(ap__sources *sources);
/* NULL when there is none of this name. */
const ap__source *ap__sources_find(const ap__sources *sources, const char *name);

/* Bytes of one record, 0 for kinds without fixed records. */
uint32_t ap__source_record_size(ap__source_kind kind);

/* Splits "<source>.slice_<k>"; false when the name is of another shape (.done, .complete, …). */
bool ap__source_name_parse(const char *name, size_t *source_length, uint32_t *number);
/* "<source>.slice_<k>" into buffer; false when it does not fit. */
bool ap__source_name_make(char *buffer, size_t size, const char *source, uint32_t number);

#endif
