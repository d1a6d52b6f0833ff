/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reader/recover.h"

typedef struct ap__text_out {
    char *buffer;
    size_t size;
    size_t length; /* of the whole text */
} ap__text_out;

static void ap__print(ap__text_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void ap__print(ap__text_out *out, const char *format, ...)
{
    size_t room = out->length < out->size ? out->size - out->length : 0;
    va_list args;
    int n = 0;

    va_start(args, format);
    n = vsnprintf(room != 0 ? out->buffer + out->length : NULL, room, format, args);
    va_end(args);
    out->length += n > 0 ? (size_t)n : 0;
}

static void ap__print_losses(ap__text_out *out, const aclprofStats *a)
{
    const struct {
        uint64_t count;
        const char *cause;
    } causes[] = {
        {a->lostRingFull, "ring full"},       {a->lostNoRing, "no ring"},
        {a->lostReentrant, "signal handler"}, {a->lostDisk, "disk"},
        {a->lostAged, "storage limit"},       {a->lostDamaged, "damaged"},
    };
    const char *before = " (";

    ap__print(out, "lost: %" PRIu64, a->lostTotal);
    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
        if (causes[i].count != 0) {
            ap__print(out, "%s%s %" PRIu64, before, causes[i].cause, causes[i].count);
            before = ", ";
        }
    }
    ap__print(out, "%s\n", before[0] == ',' ? ")" : "");
}

/* Messages are the program's: no control characters reach a terminal. */
static void ap__print_open(ap__text_out *out, const ap__open_push *p)
{
    char text[sizeof(p->message)];

    memcpy(text, p->message, sizeof(text));
    for (unsigned char *c = (unsigned char *)text; *c != '\0'; c++) {
        if (*c < 0x20 || *c == 0x7f) {
            *c = '?';
        }
    }
    ap__print(out, "  thread %u since %" PRIu64 ".%09" PRIu64 " s: %s\n", p->tid,
              p->since_ns / 1000000000u, p->since_ns % 1000000000u, text);
}

static void ap__print_done(ap__text_out *out, const ap__recover_report *r)
{
    ap__print(out, "recovered %s\n", r->path);
    ap__print(out, "events: %" PRIu64 " were on disk, %" PRIu64 " saved from memory\n", r->on_disk,
              r->saved);
    if (r->had_rings) {
        ap__print_losses(out, &r->account);
    } else {
        ap__print(out, "what was in memory is gone: nobody knows how many events that were\n");
    }
    if (r->devices != 0) {
        ap__print(out, "devices: %" PRIu32 " finished with what was on disk; what was on its way from "
                  "them is gone: nobody knows how much\n", r->devices);
    }
    if (r->in_flight != 0) {
        ap__print(out, "calls cut short by the end of the process: %" PRIu64 "\n", r->in_flight);
    }
    if (r->damaged_rings != 0) {
        ap__print(out, "damaged rings: %" PRIu64 ", %" PRIu64 " bytes of them lost\n",
                  r->damaged_rings, r->damaged_bytes);
    }
    if (r->open_count != 0) {
        ap__print(out, "pushed and not popped: %" PRIu64 "\n", r->open_count);
    }
    for (uint32_t i = 0; i < r->open_kept; i++) {
        ap__print_open(out, &r->open[i]);
    }
}

size_t ap__recover_report_text(const ap__recover_report *report, char *buffer, size_t size)
{
    ap__text_out out = {buffer, size, 0};

    if (size != 0) {
        buffer[0] = '\0';
    }
    if (report->code == AP_RECOVER_DONE) {
        ap__print_done(&out, report);
    } else if (report->code == AP_RECOVER_NOTHING) {
        ap__print(&out, "%s is finished: nothing to do\n", report->path);
    } else {
        ap__print(&out, "%s\n", report->error);
    }
    for (uint32_t i = 0; i < report->notes.count; i++) {
        ap__print(&out, "note: %s\n", report->notes.lines[i]);
    }
    if (report->notes.dropped != 0) {
        ap__print(&out, "note: %" PRIu64 " more\n", report->notes.dropped);
    }
    return out.length;
}
