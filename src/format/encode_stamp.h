/* SPDX-License-Identifier: Apache-2.0 */
/* A stamp's event ↔ the vendor's 256-byte msproftx record. */
#ifndef AP_FORMAT_ENCODE_STAMP_H_
#define AP_FORMAT_ENCODE_STAMP_H_

#include <stddef.h>
#include <stdint.h>

#include "format/wire_host.h"

typedef struct ap__stamp_fields {
    uint32_t event_type; /* AP_TX_* */
    uint32_t tid;
    uint32_t pid;
    uint32_t category;
    int32_t payload_type;
    uint64_t payload;
    uint64_t start_ns;
    uint64_t end_ns;
    const char *message;
    size_t length; /* bytes, without a NUL */
} ap__stamp_fields;

/* Writes all 256 bytes. The message ends at a NUL inside it; it is made valid UTF-8 and cut at a
 * character boundary to 155 bytes. */
void ap__encode_stamp(ap__wire_additional *out, const ap__stamp_fields *f);

/* The reverse; f->message points into *in. 0, or EBADMSG when *in is no msproftx record. */
int ap__decode_stamp(const ap__wire_additional *in, ap__stamp_fields *f);

#endif
