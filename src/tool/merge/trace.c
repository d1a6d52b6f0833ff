/* SPDX-License-Identifier: Apache-2.0 */
/* A trace of one set, packet by packet, with its own sequence, tracks, flows and processes, so that
 * several in one file do not meet. Fields that it does not know pass as they are. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/merge/merge.h"
#include "tool/protobuf.h"

#define AP_PACKET_MOST ((size_t)1 << 20)
#define AP_DEVICE_PIDS 0x70000000u /* as in pftrace_packets.c */
#define AP_DEVICES_OF_SET 1024u

typedef struct ap__rewriter {
    const ap__merge_set *set;
    uint32_t number;
    bool alone;
    bool drop; /* this packet */
    uint8_t *out;
    size_t used;
    int rc;
} ap__rewriter;

/* What to do with a field of a message. */
typedef enum ap__change {
    AP_KEEP,
    AP_SEQUENCE,
    AP_UUID,
    AP_FLOW,
    AP_PID,
    AP_LABEL, /* a name that gets the set's in front */
    AP_CLOCKS,
    AP_INTO_TRACK,
    AP_INTO_PROCESS,
    AP_INTO_THREAD,
    AP_INTO_EVENT,
    AP_TOP
} ap__change;

static const struct {
    ap__change in;
    uint32_t field;
    ap__change change;
} ap__changes[] = {
    {AP_TOP, 10, AP_SEQUENCE},           {AP_TOP, 6, AP_CLOCKS},
    {AP_TOP, 60, AP_INTO_TRACK},         {AP_TOP, 11, AP_INTO_EVENT},
    {AP_INTO_TRACK, 1, AP_UUID},         {AP_INTO_TRACK, 5, AP_UUID},
    {AP_INTO_TRACK, 3, AP_INTO_PROCESS}, {AP_INTO_TRACK, 4, AP_INTO_THREAD},
    {AP_INTO_PROCESS, 1, AP_PID},        {AP_INTO_PROCESS, 6, AP_LABEL},
    {AP_INTO_THREAD, 1, AP_PID},         {AP_INTO_EVENT, 11, AP_UUID},
    {AP_INTO_EVENT, 31, AP_UUID},        {AP_INTO_EVENT, 45, AP_UUID},
    {AP_INTO_EVENT, 47, AP_FLOW},        {AP_INTO_EVENT, 48, AP_FLOW},
};

static ap__change ap__change_of(ap__change in, uint32_t field)
{
    for (size_t i = 0; i < sizeof(ap__changes) / sizeof(ap__changes[0]); i++) {
        if (ap__changes[i].in == in && ap__changes[i].field == field) {
            return ap__changes[i].change;
        }
    }
    return AP_KEEP;
}

static bool ap__varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (uint32_t shift = 0; shift < 70 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;

        *value |= shift < 64 ? (uint64_t)(byte & 0x7F) << shift : 0;
        if ((byte & 0x80) == 0) {
            return true;
        }
    }
    return false;
}

static void ap__put(ap__rewriter *w, const void *bytes, size_t size)
{
    if (size > 2 * AP_PACKET_MOST - w->used) {
        w->rc = EBADMSG;
    } else if (size != 0) {
        memcpy(w->out + w->used, bytes, size);
        w->used += size;
    }
}

static void ap__put_varint(ap__rewriter *w, uint64_t value)
{
    uint8_t bytes[10];
    size_t n = 0;

    while (value >= 0x80) {
        bytes[n++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    bytes[n++] = (uint8_t)value;
    ap__put(w, bytes, n);
}

static uint64_t ap__changed(const ap__rewriter *w, ap__change change, uint64_t value)
{
    switch (change) {
    case AP_SEQUENCE:
        return value + w->number;
    case AP_UUID: /* the parent of a track may be none */
        return value == 0 ? 0 : value + w->number * 0x9E3779B97F4A7C15u;
    case AP_FLOW:
        return value + ((uint64_t)w->number << 40);
    case AP_PID:
        return value < AP_DEVICE_PIDS ? w->set->global_pid
                                      : value + (uint64_t)w->number * AP_DEVICES_OF_SET;
    default:
        return value;
    }
}

static void ap__message(ap__rewriter *w, ap__change in, const uint8_t *at, const uint8_t *end);

/* Puts its length in front of what has been written since `begin`. */
static void ap__put_length(ap__rewriter *w, size_t begin)
{
    size_t bytes = w->used - begin;
    uint8_t length[10];
    size_t head = 0;

    ap__put_varint(w, bytes);
    head = w->used - begin - bytes;
    if (w->rc == 0) {
        memcpy(length, w->out + w->used - head, head);
        memmove(w->out + begin + head, w->out + begin, bytes);
        memcpy(w->out + begin, length, head);
    }
}

static void ap__nested(ap__rewriter *w, ap__change change, const uint8_t *at, size_t size)
{
    size_t begin = w->used;

    if (change == AP_LABEL) {
        ap__put(w, w->set->label, strlen(w->set->label));
        ap__put(w, ": ", 2);
        ap__put(w, at, size);
    } else if (change >= AP_INTO_TRACK && change != AP_TOP) {
        ap__message(w, change, at, at + size);
    } else {
        ap__put(w, at, size);
    }
    ap__put_length(w, begin);
}

static void ap__message(ap__rewriter *w, ap__change in, const uint8_t *at, const uint8_t *end)
{
    while (at < end && w->rc == 0) {
        const uint8_t *begin = at;
        uint64_t key = 0;
        uint64_t value = 0;
        ap__change change = AP_KEEP;

        if (!ap__varint(&at, end, &key)) {
            w->rc = EBADMSG;
            return;
        }
        change = ap__change_of(in, (uint32_t)(key >> 3));
        w->drop = w->drop || (change == AP_CLOCKS && w->number != 0 && !w->alone);
        ap__put(w, begin, (size_t)(at - begin));
        switch (key & 7) {
        case 0:
            w->rc = ap__varint(&at, end, &value) ? w->rc : EBADMSG;
            ap__put_varint(w, ap__changed(w, change, value));
            break;
        case 2:
            if (!ap__varint(&at, end, &value) || value > (uint64_t)(end - at)) {
                w->rc = EBADMSG;
                return;
            }
            ap__nested(w, change, at, (size_t)value);
            at += value;
            break;
        case 1:
        case 5:
            value = (key & 7) == 1 ? 8 : 4;
            if (value > (uint64_t)(end - at)) {
                w->rc = EBADMSG;
                return;
            }
            if (value == 8 && change == AP_FLOW) {
                uint64_t flow = 0;

                memcpy(&flow, at, 8); /* both machines that we run on are little-endian */
                flow = ap__changed(w, change, flow);
                ap__put(w, &flow, 8);
            } else {
                ap__put(w, at, (size_t)value);
            }
            at += value;
            break;
        default:
            w->rc = EBADMSG;
        }
    }
}

static int ap__write_all(int fd, const uint8_t *data, size_t size)
{
    while (size != 0) {
        ssize_t n = write(fd, data, size);

        if (n < 0 && errno != EINTR) {
            return errno;
        }
        data += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* 1: a packet of *size bytes, 0: the end, -1: no trace. */
static int ap__next_packet(FILE *in, uint8_t *packet, size_t *size)
{
    int c = getc(in);

    *size = 0;
    if (c == EOF) {
        return 0;
    }
    if (c != 0x0A) {
        return -1;
    }
    for (uint32_t shift = 0; shift < 28; shift += 7) {
        c = getc(in);
        if (c == EOF) {
            return -1;
        }
        *size |= (size_t)(c & 0x7F) << shift;
        if ((c & 0x80) == 0) {
            return *size <= AP_PACKET_MOST && fread(packet, 1, *size, in) == *size ? 1 : -1;
        }
    }
    return -1;
}

static int ap__all_packets(ap__rewriter *w, FILE *in, uint8_t *packet, int out_fd)
{
    size_t size = 0;
    size_t begin = 0;
    int more = 0;

    while (w->rc == 0 && (more = ap__next_packet(in, packet, &size)) > 0) {
        uint8_t key = 0x0A;

        begin = w->used;
        w->drop = false;
        ap__put(w, &key, 1);
        ap__message(w, AP_TOP, packet, packet + size);
        ap__put_length(w, begin + 1);
        w->used = w->drop ? begin : w->used;
        if (w->used >= AP_PACKET_MOST / 2) {
            w->rc = w->rc != 0 ? w->rc : ap__write_all(out_fd, w->out, w->used);
            w->used = 0;
        }
    }
    w->rc = w->rc != 0 ? w->rc : more < 0 ? EBADMSG : ap__write_all(out_fd, w->out, w->used);
    return w->rc;
}

int ap__merge_rewrite(const ap__merge *m, uint32_t set, bool alone, int out_fd)
{
    ap__rewriter w = {.set = &m->sets[set], .number = set, .alone = alone};
    FILE *in = fopen(m->sets[set].trace, "re");
    uint8_t *packet = malloc(AP_PACKET_MOST);
    int rc = in != NULL ? ENOMEM : errno;

    w.out = malloc(2 * AP_PACKET_MOST);
    if (in != NULL && packet != NULL && w.out != NULL) {
        rc = ap__all_packets(&w, in, packet, out_fd);
    }
    if (in != NULL) {
        fclose(in);
    }
    free(w.out);
    free(packet);
    return rc;
}
