/* SPDX-License-Identifier: Apache-2.0 */
/* Records of CANN's host libraries: which files they go to. */
#ifndef AP_FORMAT_RAW_RECORD_H_
#define AP_FORMAT_RAW_RECORD_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Class of a record, and with AP_RAW_AGING added the flags of its ring record. */
enum ap__raw_class {
    AP_RAW_API = 0,        /* api and event records, 40 bytes */
    AP_RAW_COMPACT = 1,    /* 64 */
    AP_RAW_ADDITIONAL = 2, /* 256 */
    AP_RAW_VARIABLE = 3    /* any length, kept as it is */
};
#define AP_RAW_CLASS 0x03u
#define AP_RAW_AGING 0x04u
#define AP_RAW_KNOWN (AP_RAW_CLASS | AP_RAW_AGING)

#define AP_RAW_MAX_BYTES 65536u
#define AP_RAW_NAME_MAX 72u /* of a stream, with its end */
#define AP_RAW_TAG_MAX 40u  /* of a type's name in it */

/* Whether a record belongs to the stamps' stream. */
static inline bool ap__raw_is_tx(uint32_t flags, const void *record)
{
    const uint8_t *level = (const uint8_t *)record + 2;

    return (flags & AP_RAW_CLASS) == AP_RAW_ADDITIONAL && (level[0] | level[1] << 8) == 20500;
}

/* Bytes of a class's records; 1: any. */
static inline uint32_t ap__raw_bytes(uint32_t flags)
{
    static const uint32_t bytes[] = {40, 64, 256, 1};

    return bytes[flags & AP_RAW_CLASS];
}

/* Last part of the stream's name. */
const char *ap__raw_tag(uint32_t flags, const char *type_name);
/* "aging.compact.task_track"; type_name NULL or unfit for a file name: "invalid". */
void ap__raw_stream_name(uint32_t flags, const char *type_name, char out[AP_RAW_NAME_MAX]);

#endif
