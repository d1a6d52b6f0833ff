/* SPDX-License-Identifier: Apache-2.0 */
/* Perfetto traces of golden directories, read back with a decoder of our own: tracks, nesting,
 * flows, counters, clocks. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "scratch.h"
#include "tool/export.h"

#define PROF "PROF_000001_20250101000000000_00004242CPNEIILO"
#define MOST 256u

/* ---- protobuf ---- */

typedef struct message {
    const uint8_t *at;
    const uint8_t *end;
} message;

typedef struct field {
    uint32_t number;
    uint32_t wire;
    uint64_t value; /* of a varint or fixed64 */
    message bytes;
} field;

static uint64_t varint(message *m)
{
    uint64_t value = 0;

    for (uint32_t shift = 0;; shift += 7) {
        assert_true(m->at < m->end && shift < 70);
        value |= (uint64_t)(*m->at & 0x7F) << shift;
        if ((*m->at++ & 0x80) == 0) {
            return value;
        }
    }
}

static bool next_field(message *m, field *f)
{
    uint64_t key = 0;

    if (m->at == m->end) {
        return false;
    }
    key = varint(m);
    *f = (field){.number = (uint32_t)(key >> 3), .wire = key & 7};
    if (f->wire == 0) {
        f->value = varint(m);
    } else if (f->wire == 1) {
        assert_true(m->end - m->at >= 8);
        memcpy(&f->value, m->at, 8);
        m->at += 8;
    } else {
        assert_int_equal(f->wire, 2);
        f->value = varint(m);
        assert_true(f->value <= (uint64_t)(m->end - m->at));
        f->bytes = (message){m->at, m->at + f->value};
        m->at += f->value;
    }
    return true;
}

static bool find(message m, uint32_t number, field *out)
{
    while (next_field(&m, out)) {
        if (out->number == number) {
            return true;
        }
    }
    return false;
}

static uint64_t number_of(message m, uint32_t number)
{
    field f;

    return find(m, number, &f) ? f.value : 0;
}

static void text_of(message m, uint32_t number, char *out, size_t size)
{
    field f;
    size_t length = 0;

    if (find(m, number, &f)) {
        length = (size_t)(f.bytes.end - f.bytes.at);
        assert_true(length < size);
        memcpy(out, f.bytes.at, length);
    }
    out[length] = '\0';
}

/* ---- the trace ---- */

typedef struct track {
    uint64_t uuid;
    uint64_t parent;
    char name[64];
    uint64_t last_ns;
    uint32_t open;
    uint32_t events;
    bool is_counter;
} track;

typedef struct trace {
    track tracks[MOST];
    uint32_t track_count;
    char names[MOST][4200]; /* by iid */
    uint64_t started[MOST]; /* flows */
    uint64_t ended[MOST];
    uint32_t start_count;
    uint32_t end_count;
    uint32_t slices;
    uint32_t instants;
    uint32_t counters;
    uint64_t last_counter;
    uint64_t clocks[16];
    uint64_t primary_clock;
    uint64_t default_clock;
} trace;

static track *track_of(trace *t, uint64_t uuid)
{
    for (uint32_t i = 0; i < t->track_count; i++) {
        if (t->tracks[i].uuid == uuid) {
            return &t->tracks[i];
        }
    }
    return NULL;
}

static void take_track(trace *t, message m)
{
    track *k = &t->tracks[t->track_count++];
    field f;

    assert_true(t->track_count < MOST);
    k->parent = number_of(m, 5);
    k->uuid = number_of(m, 1);
    assert_int_not_equal(k->uuid, 0);
    assert_true(k->parent == 0 || track_of(t, k->parent) != NULL);
    text_of(m, 2, k->name, sizeof(k->name));
    if (find(m, 3, &f)) {
        text_of(f.bytes, 6, k->name, sizeof(k->name));
    } else if (find(m, 4, &f)) {
        text_of(f.bytes, 5, k->name, sizeof(k->name));
        assert_int_equal(number_of(f.bytes, 1), 4242);
    }
    k->is_counter = find(m, 8, &f);
}

static void take_event(trace *t, uint64_t ns, message m)
{
    uint64_t type = number_of(m, 9);
    track *k = track_of(t, number_of(m, 11));
    field f;

    assert_non_null(k);
    assert_true(ns >= k->last_ns); /* of one track in order */
    assert_true(ns >= 1735689600000000000u && ns <= 1735689602000000000u);
    k->last_ns = ns;
    k->events++;
    if (type == 4) {
        assert_true(k->is_counter);
        t->last_counter = number_of(m, 30);
        t->counters++;
        return;
    }
    if (type == 2) {
        assert_true(k->open > 0);
        k->open--;
        return;
    }
    assert_true(type == 1 || type == 3);
    assert_string_not_equal(t->names[number_of(m, 10)], ""); /* told before */
    k->open += type == 1;
    t->slices += type == 1;
    t->instants += type == 3;
    while (next_field(&m, &f)) {
        if (f.number == 47) {
            t->started[t->start_count++] = f.value;
        } else if (f.number == 48) {
            t->ended[t->end_count++] = f.value;
        }
    }
}

static void take_packet(trace *t, message m)
{
    field f;
    field inner;

    assert_int_equal(number_of(m, 10), 1);
    if (find(m, 6, &f)) {
        t->primary_clock = number_of(f.bytes, 2);
        while (next_field(&f.bytes, &inner)) {
            if (inner.number == 1) {
                assert_true(number_of(inner.bytes, 1) < 16);
                t->clocks[number_of(inner.bytes, 1)] = number_of(inner.bytes, 2);
            }
        }
    }
    if (find(m, 59, &f)) {
        assert_int_equal(number_of(m, 13), 3);
        t->default_clock = number_of(f.bytes, 58);
    }
    if (find(m, 12, &f) && find(f.bytes, 2, &inner)) {
        uint64_t iid = number_of(inner.bytes, 1);

        assert_true(iid > 0 && iid < MOST);
        text_of(inner.bytes, 2, t->names[iid], sizeof(t->names[iid]));
    }
    if (find(m, 60, &f)) {
        take_track(t, f.bytes);
    }
    if (find(m, 11, &f)) {
        assert_int_equal(number_of(m, 13), 2);
        take_event(t, number_of(m, 8), f.bytes);
    }
}

static void read_trace(const char *path, trace *t)
{
    static uint8_t bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    message m = {bytes, bytes};
    field f;

    memset(t, 0, sizeof(*t));
    assert_non_null(file);
    m.end += fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    while (next_field(&m, &f)) {
        assert_int_equal(f.number, 1);
        take_packet(t, f.bytes);
    }
    for (uint32_t i = 0; i < t->track_count; i++) {
        assert_int_equal(t->tracks[i].open, 0);
    }
}

static bool has_track(const trace *t, const char *parent, const char *name)
{
    for (uint32_t i = 0; i < t->track_count; i++) {
        const track *up = track_of((trace *)(uintptr_t)t, t->tracks[i].parent);

        if (strcmp(t->tracks[i].name, name) == 0 && up != NULL && strcmp(up->name, parent) == 0) {
            return t->tracks[i].events != 0;
        }
    }
    return false;
}

static bool has_name(const trace *t, const char *name)
{
    for (uint32_t i = 0; i < MOST; i++) {
        if (strcmp(t->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- the tests ---- */

static void unpack(const char *root)
{
    char command[4096];

    snprintf(command, sizeof(command), "tar -xJf '%s/../data/golden.tar.xz' -C '%s'",
             AP_TEST_SOURCE_DIR, root);
    assert_int_equal(system(command), 0);
}

static void export(const char *root, const char *directory, void (*change)(ap__model *), char *file,
                   size_t size)
{
    char path[4096];
    ap__reader_error error;
    ap__reader *reader = NULL;
    ap__model model;
    ap__export e;

    snprintf(path, sizeof(path), "%s/%s/" PROF, root, directory);
    reader = ap__reader_open(path, &error);
    assert_non_null(reader);
    assert_int_equal(ap__model_load(&model, reader), 0);
    if (change != NULL) {
        change(&model);
    }
    assert_int_equal(ap__export_open(&e, path, root), 0);
    assert_int_equal(ap__pftrace(&e, &model), 0);
    assert_string_equal(e.error, "");
    snprintf(file, size, "%s/%s", e.dir, e.files[0]);
    ap__export_close(&e);
    ap__model_free(&model);
    ap__reader_close(reader);
}

static void test_device(void **state)
{
    static trace t;
    const char *root = ((scratch *)*state)->path;
    char file[8192];
    char command[8400];

    unpack(root);
    export(root, "device_910b", NULL, file, sizeof(file));
    read_trace(file, &t);

    assert_int_equal(t.primary_clock, 1);
    assert_int_equal(t.default_clock, 1);
    assert_int_equal(t.clocks[1], 1735689600000000000u); /* the same moment on both */
    assert_int_equal(t.clocks[5], 1000000000000u);
    assert_true(has_track(&t, "demo", "Thread 4243"));
    assert_true(has_track(&t, "demo", "Ranges"));
    assert_true(has_track(&t, "NPU 0", "Stream 3"));
    assert_true(has_track(&t, "NPU 0", "Stream 7"));
    assert_true(has_track(&t, "NPU 0", "AI Core Freq"));
    assert_int_equal(t.slices, 20 + 9 + 4); /* calls, tasks, stamps that last */
    assert_int_equal(t.instants, 4);
    assert_int_equal(t.counters, 2);
    assert_int_equal(t.last_counter, 1800);
    assert_int_equal(t.start_count, 7); /* tasks that the host has submitted */
    assert_int_equal(t.end_count, 7);
    for (uint32_t i = 0; i < t.end_count; i++) {
        uint32_t found = 0;

        for (uint32_t k = 0; k < t.start_count; k++) {
            found += t.started[k] == t.ended[i];
        }
        assert_int_equal(found, 1);
    }
    assert_true(has_name(&t, "MatMul_2"));
    assert_true(has_name(&t, "acl_push_inner"));

    if (system("command -v protoc >/dev/null 2>&1") == 0) { /* a second opinion */
        snprintf(command, sizeof(command), "protoc --decode_raw <'%s' >/dev/null", file);
        assert_int_equal(system(command), 0);
    }
}

static void cross(ap__model *m)
{
    /* the first operator's call of the acl level now ends in the middle of the next one */
    m->calls[1].end_ns = m->calls[4].start_ns + 5000;
}

static void test_lanes(void **state)
{
    static trace t;
    const char *root = ((scratch *)*state)->path;
    char file[8192];

    unpack(root);
    export(root, "host_api", NULL, file, sizeof(file));
    read_trace(file, &t);
    assert_false(has_track(&t, "Thread 4243", "Overlapping"));
    export(root, "host_api", cross, file, sizeof(file));
    read_trace(file, &t);
    assert_true(has_track(&t, "Thread 4243", "Overlapping"));
    assert_int_equal(t.slices, 20 + 4);
    assert_int_equal(t.start_count, 0); /* no device: nothing to flow to */
}

static void test_without_calls(void **state)
{
    static trace t;
    const char *root = ((scratch *)*state)->path;
    char file[8192];

    unpack(root);
    export(root, "host_stamps_monotonic", NULL, file, sizeof(file));
    read_trace(file, &t);
    assert_int_equal(t.slices, 4);
    assert_int_equal(t.instants, 4);
    assert_int_equal(t.end_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_device, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_lanes, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_without_calls, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
