/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "writer/dict.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/utf8.h"
#include "format/wire_host.h"

void ap__dict_init(ap__dict *d, int data_fd, const char *name)
{
    memset(d, 0, sizeof(*d));
    ap__stream_init(&d->stream, data_fd, name, 0);
}

static uint64_t *ap__place(uint64_t *seen, size_t room, uint64_t key)
{
    /* keys are hashes or small numbers: the multiplication spreads both */
    size_t at = (size_t)((key * 0x9E3779B97F4A7C15u) >> 32) & (room - 1);

    while (seen[at] != 0 && seen[at] != key) {
        at = (at + 1) & (room - 1);
    }
    return &seen[at];
}

static int ap__seen_grow(ap__dict *d)
{
    size_t room = d->seen_room != 0 ? d->seen_room * 2 : 64;
    uint64_t *bigger = calloc(room, sizeof(*bigger));

    if (bigger == NULL) {
        return ENOMEM;
    }
    for (size_t i = 0; i < d->seen_room; i++) {
        if (d->seen[i] != 0) {
            *ap__place(bigger, room, d->seen[i]) = d->seen[i];
        }
    }
    free(d->seen);
    d->seen = bigger;
    d->seen_room = room;
    return 0;
}

static bool ap__seen(const ap__dict *d, uint64_t key)
{
    if (key == 0) {
        return d->seen_zero;
    }
    return d->seen_room != 0 && *ap__place(d->seen, d->seen_room, key) == key;
}

static int ap__remember(ap__dict *d, uint64_t key)
{
    if (key == 0) {
        d->seen_zero = true;
        return 0;
    }
    if (d->seen_count * 2 >= d->seen_room) {
        int err = ap__seen_grow(d);

        if (err != 0) {
            return err;
        }
    }
    *ap__place(d->seen, d->seen_room, key) = key;
    d->seen_count++;
    return 0;
}

static int ap__reserve(ap__dict *d, size_t more)
{
    size_t room = d->pending_room != 0 ? d->pending_room : 4096;
    char *bigger = NULL;

    if (more <= d->pending_room - d->pending_bytes) {
        return 0;
    }
    if (more > SIZE_MAX / 4 - d->pending_bytes) {
        return ENOMEM;
    }
    while (room < d->pending_bytes + more) {
        room *= 2;
    }
    bigger = realloc(d->pending, room);
    if (bigger == NULL) {
        return ENOMEM;
    }
    d->pending = bigger;
    d->pending_room = room;
    return 0;
}

/* Adds "<prefix>:<text>\n". */
static int ap__add_line(ap__dict *d, uint64_t key, const char *prefix, const char *text,
                        size_t length)
{
    size_t prefix_length = strlen(prefix);
    size_t n = 0;
    char *out = NULL;
    int err = 0;

    if (ap__seen(d, key)) {
        return 0;
    }
    if (length > SIZE_MAX / 16) {
        return ENOMEM;
    }
    err = ap__reserve(d, prefix_length + 3 * length + 2);
    if (err == 0) {
        err = ap__remember(d, key);
    }
    if (err != 0) {
        return err;
    }
    out = d->pending + d->pending_bytes;
    memcpy(out, prefix, prefix_length);
    out[prefix_length] = ':';
    out += prefix_length + 1;
    n = ap__utf8_clean(out, 3 * length, text, length);
    for (size_t i = 0; i < n; i++) {
        if (out[i] == '\n' || out[i] == '\r' || out[i] == '\0') {
            out[i] = ' ';
        }
    }
    out[n] = '\n';
    d->pending_bytes += prefix_length + 1 + n + 1;
    return 0;
}

int ap__dict_add_hash(ap__dict *d, uint64_t id, const char *text, size_t length)
{
    char prefix[24];

    (void)snprintf(prefix, sizeof(prefix), "%" PRIu64, id);
    return ap__add_line(d, id, prefix, text, length);
}

int ap__dict_add_type(ap__dict *d, uint32_t level, uint32_t type, const char *name)
{
    char prefix[24];

    (void)snprintf(prefix, sizeof(prefix), "%" PRIu32 "_%" PRIu32, level, type);
    return ap__add_line(d, (uint64_t)level << 32 | type, prefix, name, strlen(name));
}

static const struct {
    uint32_t level;
    uint32_t type;
    const char *name;
} ap__default_types[] = {{AP_LEVEL_TX, AP_TYPE_TX, "msproftx"},
                         {AP_LEVEL_MODEL, 0, "graph_id_map"},
                         {AP_LEVEL_NODE, 0, "node_basic_info"},
                         {AP_LEVEL_NODE, 1, "tensor_info"},
                         {AP_LEVEL_NODE, 2, "fusion_op_info"},
                         {AP_LEVEL_NODE, 4, "context_id_info"},
                         {AP_LEVEL_NODE, 5, "launch"},
                         {AP_LEVEL_NODE, 6, "task_memory_info"},
                         {AP_LEVEL_NODE, 9, "node_attr_info"},
                         {AP_LEVEL_NODE, 10, "hccl_op_info"},
                         {AP_LEVEL_NODE, 11, "static_op_mem"},
                         {AP_LEVEL_RUNTIME, 801, "memcpy_info"},
                         {AP_LEVEL_RUNTIME, 802, "task_track"},
                         {AP_LEVEL_RUNTIME, 803, "capture_stream_info"}};

#define AP_DEFAULT_TYPES (sizeof(ap__default_types) / sizeof(ap__default_types[0]))

int ap__dict_add_default_types(ap__dict *d)
{
    int err = 0;

    for (size_t i = 0; err == 0 && i < AP_DEFAULT_TYPES; i++) {
        err = ap__dict_add_type(d, ap__default_types[i].level, ap__default_types[i].type,
                                ap__default_types[i].name);
    }
    return err;
}

const char *ap__dict_default_type(uint32_t level, uint32_t type)
{
    for (size_t i = 0; i < AP_DEFAULT_TYPES; i++) {
        if (ap__default_types[i].level == level && ap__default_types[i].type == type) {
            return ap__default_types[i].name;
        }
    }
    return NULL;
}

int ap__dict_flush(ap__dict *d)
{
    size_t written = 0;
    int err = 0;

    if (d->pending_bytes == 0) {
        return 0;
    }
    err = ap__stream_append(&d->stream, d->pending, d->pending_bytes, &written);
    d->pending_bytes -= written;
    if (d->pending_bytes != 0) {
        memmove(d->pending, d->pending + written, d->pending_bytes);
    }
    return err;
}

static void ap__dict_free(ap__dict *d)
{
    free(d->pending);
    free(d->seen);
    d->pending = NULL;
    d->seen = NULL;
    d->pending_bytes = d->pending_room = 0;
    d->seen_count = d->seen_room = 0;
}

int ap__dict_finish(ap__dict *d)
{
    int err = ap__dict_flush(d);
    int finish_err = ap__stream_finish(&d->stream);

    ap__dict_free(d);
    return err != 0 ? err : finish_err;
}

void ap__dict_abandon(ap__dict *d)
{
    ap__stream_abandon(&d->stream);
    ap__dict_free(d);
}
