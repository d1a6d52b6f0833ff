/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/json_events.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bulk.h"

#define AP_LITERAL(o, text) ap__out_bytes((o), (text), sizeof(text) - 1)

/* ---- values ---- */

static void ap__string(ap__out *o, const char *text)
{
    static const char hex[] = "0123456789abcdef";

    AP_LITERAL(o, "\"");
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        size_t plain = 0;

        while (p[plain] >= 0x20 && p[plain] != '"' && p[plain] != '\\') {
            plain++; /* texts of the reader are valid UTF-8 */
        }
        ap__out_bytes(o, p, plain);
        p += plain;
        if (*p == '"' || *p == '\\') {
            AP_LITERAL(o, "\\");
            ap__out_bytes(o, p++, 1);
        } else if (*p != '\0') {
            char escape[6] = {'\\', 'u', '0', '0', hex[*p >> 4], hex[*p & 15]};

            ap__out_bytes(o, escape, sizeof(escape));
            p++;
        }
    }
    AP_LITERAL(o, "\"");
}

/* Nanoseconds as microseconds in the shortest way with at least one decimal. */
static void ap__microseconds(ap__out *o, uint64_t ns)
{
    uint32_t rest = (uint32_t)(ns % 1000);
    char text[4] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                    (char)('0' + rest % 10)};

    ap__out_u64(o, ns / 1000);
    ap__out_bytes(o, text, rest % 10 != 0 ? 4 : rest % 100 != 0 ? 3 : 2);
}

static void ap__double(ap__out *o, double value)
{
    char text[40];

    if (!isfinite(value)) { /* JSON has no word for it */
        value = 0;
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    ap__out_text(o, text);
    if (strpbrk(text, ".e") == NULL) {
        AP_LITERAL(o, ".0");
    }
}

/* ---- what has been named ---- */

static uint32_t ap__slot(const ap__json *j, uint64_t key)
{
    uint64_t hash = key * 0x9E3779B97F4A7C15ull;
    uint32_t at = (uint32_t)(hash >> 32) & (j->seen_room - 1);

    while (j->seen[at] != 0 && j->seen[at] != key + 1) {
        at = (at + 1) & (j->seen_room - 1);
    }
    return at;
}

static int ap__grow(ap__json *j)
{
    uint64_t *old = j->seen;
    uint32_t room = j->seen_room;

    j->seen_room = room != 0 ? room * 2 : 256;
    j->seen = calloc(j->seen_room, sizeof(*j->seen));
    if (j->seen == NULL) {
        j->seen = old;
        j->seen_room = room;
        return ENOMEM;
    }
    for (uint32_t i = 0; i < room; i++) {
        if (old[i] != 0) {
            j->seen[ap__slot(j, old[i] - 1)] = old[i];
        }
    }
    free(old);
    return 0;
}

/* Whether it has been asked for before. Without memory: yes, and rc is set. */
static bool ap__seen(ap__json *j, uint64_t key)
{
    uint32_t at = 0;

    if (j->last == key + 1) {
        return true;
    }
    if (j->seen_count * 2 >= j->seen_room && ap__grow(j) != 0) {
        j->rc = ENOMEM;
        return true;
    }
    at = ap__slot(j, key);
    j->last = key + 1;
    if (j->seen[at] != 0) {
        return true;
    }
    j->seen[at] = key + 1;
    j->seen_count++;
    return false;
}

/* ---- events ---- */

uint64_t ap__json_pid(const ap__json *j, uint32_t sort, uint32_t device)
{
    return ((uint64_t)j->process << 10) + ((uint64_t)sort << 5) + (device & 31u);
}

static void ap__begin(ap__json *j, const char *name, uint64_t pid, uint32_t tid)
{
    if (j->first) {
        AP_LITERAL(j->o, "{\"name\":");
    } else {
        AP_LITERAL(j->o, ",{\"name\":");
    }
    j->first = false;
    ap__bulk_step(); /* of all loops that make events */
    ap__string(j->o, name);
    AP_LITERAL(j->o, ",\"pid\":");
    ap__out_u64(j->o, pid);
    AP_LITERAL(j->o, ",\"tid\":");
    ap__out_u64(j->o, tid);
}

static void ap__metadata_text(ap__json *j, const char *what, uint64_t pid, uint32_t tid,
                              const char *key, const char *text)
{
    ap__begin(j, what, pid, tid);
    AP_LITERAL(j->o, ",\"ph\":\"M\",\"args\":{\"");
    ap__out_text(j->o, key);
    AP_LITERAL(j->o, "\":");
    ap__string(j->o, text);
    AP_LITERAL(j->o, "}}");
}

static void ap__metadata_order(ap__json *j, const char *what, uint64_t pid, uint32_t tid,
                               uint32_t order)
{
    ap__begin(j, what, pid, tid);
    AP_LITERAL(j->o, ",\"ph\":\"M\",\"args\":{\"sort_index\":");
    ap__out_u64(j->o, order);
    AP_LITERAL(j->o, "}}");
}

void ap__json_layer(ap__json *j, uint64_t pid, const char *name, const char *label, uint32_t sort)
{
    if (!ap__seen(j, pid << 32 | UINT32_MAX)) {
        ap__metadata_text(j, "process_name", pid, 0, "name", name);
        ap__metadata_text(j, "process_labels", pid, 0, "labels", label != NULL ? label : "CPU");
        ap__metadata_order(j, "process_sort_index", pid, 0, sort);
    }
}

void ap__json_thread_named(ap__json *j, uint64_t pid, uint32_t tid, const char *name, bool order)
{
    if (!ap__seen(j, pid << 32 | tid)) {
        ap__metadata_text(j, "thread_name", pid, tid, "name", name);
        if (order) {
            ap__metadata_order(j, "thread_sort_index", pid, tid, tid);
        }
    }
}

void ap__json_thread(ap__json *j, uint64_t pid, const char *word, uint32_t tid)
{
    char name[40];

    if (j->last != (pid << 32 | tid) + 1) {
        (void)snprintf(name, sizeof(name), "%s %u", word, (unsigned)tid);
        ap__json_thread_named(j, pid, tid, name, true);
    }
}

void ap__json_slice(ap__json *j, const char *name, uint64_t pid, uint32_t tid, uint64_t start_ns,
                    uint64_t end_ns, const char *category)
{
    ap__begin(j, name, pid, tid);
    AP_LITERAL(j->o, ",\"ts\":\"");
    ap__out_us(j->o, start_ns);
    AP_LITERAL(j->o, "\",\"dur\":");
    ap__microseconds(j->o, end_ns > start_ns ? end_ns - start_ns : 0);
    AP_LITERAL(j->o, ",\"ph\":\"X\"");
    if (category != NULL) {
        AP_LITERAL(j->o, ",\"cat\":");
        ap__string(j->o, category);
    }
    AP_LITERAL(j->o, ",\"args\":{");
    j->first_arg = true;
}

void ap__json_counter(ap__json *j, const char *name, uint64_t pid, uint32_t tid, uint64_t ns)
{
    ap__begin(j, name, pid, tid);
    AP_LITERAL(j->o, ",\"ts\":\"");
    ap__out_us(j->o, ns);
    AP_LITERAL(j->o, "\",\"ph\":\"C\",\"args\":{");
    j->first_arg = true;
}

static void ap__key(ap__json *j, const char *key)
{
    if (j->first_arg) {
        AP_LITERAL(j->o, "\"");
    } else {
        AP_LITERAL(j->o, ",\"");
    }
    j->first_arg = false;
    ap__out_text(j->o, key);
    AP_LITERAL(j->o, "\":");
}

void ap__arg_u64(ap__json *j, const char *key, uint64_t value)
{
    ap__key(j, key);
    ap__out_u64(j->o, value);
}

void ap__arg_i64(ap__json *j, const char *key, int64_t value)
{
    ap__key(j, key);
    if (value < 0) {
        AP_LITERAL(j->o, "-");
    }
    ap__out_u64(j->o, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void ap__arg_text(ap__json *j, const char *key, const char *text)
{
    ap__key(j, key);
    ap__string(j->o, text != NULL ? text : "N/A");
}

void ap__arg_number_text(ap__json *j, const char *key, uint64_t value)
{
    ap__key(j, key);
    AP_LITERAL(j->o, "\"");
    ap__out_u64(j->o, value);
    AP_LITERAL(j->o, "\"");
}

void ap__arg_time(ap__json *j, const char *key, uint64_t ns)
{
    ap__key(j, key);
    AP_LITERAL(j->o, "\"");
    ap__out_us(j->o, ns);
    AP_LITERAL(j->o, "\"");
}

void ap__arg_us(ap__json *j, const char *key, uint64_t ns)
{
    ap__key(j, key);
    ap__microseconds(j->o, ns);
}

void ap__arg_double(ap__json *j, const char *key, double value)
{
    ap__key(j, key);
    ap__double(j->o, value);
}

void ap__json_end(ap__json *j)
{
    AP_LITERAL(j->o, "}}");
}

void ap__json_flow(ap__json *j, const char *word, const char *category, uint64_t id, char phase,
                   uint64_t pid, uint32_t tid, uint64_t ns)
{
    if (j->first) {
        AP_LITERAL(j->o, "{\"name\":\"");
    } else {
        AP_LITERAL(j->o, ",{\"name\":\"");
    }
    j->first = false;
    ap__out_text(j->o, word);
    ap__out_u64(j->o, id);
    AP_LITERAL(j->o, "\",\"pid\":");
    ap__out_u64(j->o, pid);
    AP_LITERAL(j->o, ",\"tid\":");
    ap__out_u64(j->o, tid);
    AP_LITERAL(j->o, ",\"ph\":\"");
    ap__out_bytes(j->o, &phase, 1);
    AP_LITERAL(j->o, "\",\"cat\":\"");
    ap__out_text(j->o, category);
    AP_LITERAL(j->o, "\",\"id\":\"");
    ap__out_u64(j->o, id);
    AP_LITERAL(j->o, "\",\"ts\":\"");
    ap__out_us(j->o, ns);
    if (phase == 'f') {
        AP_LITERAL(j->o, "\",\"bp\":\"e\"}");
    } else {
        AP_LITERAL(j->o, "\"}");
    }
}

void ap__json_free(ap__json *j)
{
    free(j->seen);
    j->seen = NULL;
    j->seen_room = 0;
}
