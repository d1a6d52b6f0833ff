/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "format/encode_stamp.h"

#include <errno.h>
#include <string.h>

#include "format/utf8.h"

#define MESSAGE_MAX (AP_TX_MESSAGE_BYTES - 1u) /* the reader takes the last byte for a NUL */

_Static_assert(sizeof(ap__wire_tx) == sizeof(((ap__wire_additional *)0)->data), "fits exactly");

/* In pieces that compilers turn into plain stores: for 256 bytes at once they choose `rep stos`,
 * whose start alone takes as long as the rest of the encoder. */
static void ap__zero_record(ap__wire_additional *out)
{
    char *p = (char *)out;

    memset(p, 0, 64);
    memset(p + 64, 0, 64);
    memset(p + 128, 0, 64);
    memset(p + 192, 0, 64);
}

void ap__encode_stamp(ap__wire_additional *out, const ap__stamp_fields *f)
{
    ap__wire_tx *tx = (ap__wire_tx *)out->data;
    size_t length = f->length;

    ap__zero_record(out);
    out->magic = AP_WIRE_MAGIC;
    out->level = AP_LEVEL_TX;
    out->type = AP_TYPE_TX;
    out->thread_id = f->tid;
    out->data_length = AP_TX_DATA_BYTES;
    out->time_stamp = f->start_ns;

    tx->info_type = AP_TX_INFO_STAMP;
    tx->magic = AP_WIRE_MAGIC;
    tx->data_tag = AP_TX_DATA_TAG;
    tx->process_id = f->pid;
    tx->thread_id = f->tid;
    tx->category = f->category;
    tx->event_type = f->event_type;
    tx->payload_type = f->payload_type;
    tx->payload = f->payload;
    tx->start_time = f->start_ns;
    tx->end_time = f->end_ns;

    if (length != 0) {
        /* repairing never shortens text, so input beyond the record's room cannot matter */
        size_t room = ap__utf8_cut(f->message, length, MESSAGE_MAX);

        ap__utf8_clean(tx->message, MESSAGE_MAX, f->message, strnlen(f->message, room));
    }
}

int ap__decode_stamp(const ap__wire_additional *in, ap__stamp_fields *f)
{
    const ap__wire_tx *tx = (const ap__wire_tx *)in->data;

    if (in->magic != AP_WIRE_MAGIC || in->level != AP_LEVEL_TX) {
        return EBADMSG;
    }
    f->event_type = tx->event_type;
    f->tid = tx->thread_id;
    f->pid = tx->process_id;
    f->category = tx->category;
    f->payload_type = tx->payload_type;
    f->payload = tx->payload;
    f->start_ns = tx->start_time;
    f->end_ns = tx->end_time;
    f->message = tx->message;
    f->length = strnlen(tx->message, MESSAGE_MAX);
    return 0;
}
