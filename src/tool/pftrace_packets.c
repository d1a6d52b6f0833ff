/* SPDX-License-Identifier: Apache-2.0 */
/* Field numbers are those of Perfetto's protos/perfetto/trace. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "tool/pftrace.h"

#define AP_CLOCK_REALTIME 1u
#define AP_CLOCK_MONOTONIC 3u
#define AP_CLOCK_MONOTONIC_RAW 5u
#define AP_DEVICE_PID 0x70000000u /* beyond every real one */

void ap__pf_begin(ap__pf *p)
{
    p->packet->used = 0;
    ap__pb_u64(p->packet, 10, 1); /* trusted_packet_sequence_id */
}

void ap__pf_end(ap__pf *p)
{
    ap__pb *b = p->packet;
    uint8_t head[12] = {0x0A}; /* Trace.packet */
    size_t used = 1;

    for (size_t length = b->used; used == 1 || length != 0; length >>= 7) {
        head[used++] = (uint8_t)((length & 0x7F) | (length > 0x7F ? 0x80 : 0));
    }
    ap__out_bytes(p->out, head, used);
    ap__out_bytes(p->out, b->bytes, b->used);
}

static void ap__clock(ap__pb *b, uint32_t id, uint64_t ns)
{
    size_t clock = ap__pb_open(b, 1);

    ap__pb_u64(b, 1, id);
    ap__pb_u64(b, 2, ns);
    ap__pb_close(b, clock);
}

static void ap__clocks(ap__pf *p)
{
    const ap__reader_account *account = ap__reader_account_of(p->m->reader);
    const ap__clock_point *point =
        account != NULL && account->point_count != 0 ? &account->points[0] : NULL;
    uint64_t raw =
        point != NULL ? point->mono_raw_ns : ap__reader_meta(p->m->reader)->begin_mono_ns;
    size_t snapshot = 0;

    ap__pf_begin(p);
    snapshot = ap__pb_open(p->packet, 6);
    ap__clock(p->packet, AP_CLOCK_REALTIME, ap__reader_wall_ns(p->m->reader, raw));
    ap__clock(p->packet, AP_CLOCK_MONOTONIC_RAW, raw);
    if (point != NULL) {
        ap__clock(p->packet, AP_CLOCK_MONOTONIC, point->mono_ns);
    }
    ap__pb_u64(p->packet, 2, AP_CLOCK_REALTIME); /* primary_trace_clock */
    ap__pb_close(p->packet, snapshot);
    ap__pf_end(p);
}

void ap__pf_head(ap__pf *p)
{
    size_t defaults = 0;

    ap__clocks(p);
    ap__pf_begin(p);
    ap__pb_u64(p->packet, 13, 3); /* sequence_flags: begins anew, and needs what is interned */
    ap__pb_u64(p->packet, 87, 1); /* first_packet_on_sequence */
    defaults = ap__pb_open(p->packet, 59);
    ap__pb_u64(p->packet, 58, AP_CLOCK_REALTIME);
    ap__pb_close(p->packet, defaults);
    ap__pf_end(p);
}

uint32_t ap__pf_name(ap__pf *p, const char *text)
{
    uint32_t id = 0;
    bool fresh = false;
    size_t interned = 0;
    size_t name = 0;

    text = text != NULL && text[0] != '\0' ? text : "N/A";
    if (p->rc == 0) {
        p->rc = ap__text_id(&p->names, text, &id, &fresh);
    }
    if (p->rc == 0 && fresh) {
        ap__pf_begin(p);
        ap__pb_u64(p->packet, 13, 2);
        interned = ap__pb_open(p->packet, 12);
        name = ap__pb_open(p->packet, 2);
        ap__pb_u64(p->packet, 1, id + 1); /* 0 is none */
        ap__pb_text(p->packet, 2, text);
        ap__pb_close(p->packet, name);
        ap__pb_close(p->packet, interned);
        ap__pf_end(p);
    }
    return id + 1;
}

/* ---- tracks ---- */

uint64_t ap__pf_process_uuid(uint32_t process)
{
    return (process + 1ull) << 48;
}

uint64_t ap__pf_track_uuid(const ap__slice *s, uint32_t lane)
{
    return ap__pf_process_uuid(s->process) | (s->track + 1ull) << 44 | (uint64_t)s->id << 8 | lane;
}

static void ap__process(ap__pf *p, uint32_t process, uint32_t pid, const char *name)
{
    size_t track = 0;
    size_t descriptor = 0;

    ap__pf_begin(p);
    track = ap__pb_open(p->packet, 60);
    ap__pb_u64(p->packet, 1, ap__pf_process_uuid(process));
    descriptor = ap__pb_open(p->packet, 3);
    ap__pb_u64(p->packet, 1, pid & 0x7FFFFFFF);
    ap__pb_text(p->packet, 6, name);
    ap__pb_close(p->packet, descriptor);
    ap__pb_close(p->packet, track);
    ap__pf_end(p);
}

void ap__pf_processes(ap__pf *p)
{
    const ap__meta *meta = ap__reader_meta(p->m->reader);
    char name[48];

    ap__process(p, 0, meta->pid, meta->process_name[0] != '\0' ? meta->process_name : "host");
    for (uint32_t i = 0; i < p->m->device_count; i++) {
        (void)snprintf(name, sizeof(name), "NPU %" PRIu32 "%s", p->m->devices[i].device,
                       p->m->devices[i].simulated ? " (simulated)" : "");
        ap__process(p, i + 1, AP_DEVICE_PID + i, name);
    }
}

/* Lanes above the first lie below the thread, or beside the first under the same name. */
void ap__pf_track(ap__pf *p, const ap__slice *s, uint32_t lane)
{
    ap__pb *b = p->packet;
    bool thread = s->track == AP_TRACK_THREAD;
    char name[32];
    size_t track = 0;
    size_t descriptor = 0;

    (void)snprintf(name, sizeof(name), "Stream %" PRIu32, s->id);
    ap__pf_begin(p);
    track = ap__pb_open(b, 60);
    ap__pb_u64(b, 1, ap__pf_track_uuid(s, lane));
    ap__pb_u64(b, 5,
               thread && lane != 0 ? ap__pf_track_uuid(s, 0) : ap__pf_process_uuid(s->process));
    if (thread && lane == 0) {
        descriptor = ap__pb_open(b, 4);
        ap__pb_u64(b, 1, ap__reader_meta(p->m->reader)->pid & 0x7FFFFFFF);
        ap__pb_u64(b, 2, s->id);
        (void)snprintf(name, sizeof(name), "Thread %" PRIu32, s->id);
        ap__pb_text(b, 5, name);
        ap__pb_close(b, descriptor);
    } else {
        ap__pb_text(b, 2, thread ? "Overlapping" : s->track == AP_TRACK_RANGES ? "Ranges" : name);
    }
    ap__pb_close(b, track);
    ap__pf_end(p);
}

/* ---- counters ---- */

static void ap__counter_track(ap__pf *p, uint32_t device, uint64_t uuid)
{
    size_t track = 0;
    size_t counter = 0;

    ap__pf_begin(p);
    track = ap__pb_open(p->packet, 60);
    ap__pb_u64(p->packet, 1, uuid);
    ap__pb_u64(p->packet, 5, ap__pf_process_uuid(device + 1));
    ap__pb_text(p->packet, 2, "AI Core Freq");
    counter = ap__pb_open(p->packet, 8);
    ap__pb_text(p->packet, 6, "MHz");
    ap__pb_close(p->packet, counter);
    ap__pb_close(p->packet, track);
    ap__pf_end(p);
}

void ap__pf_counters(ap__pf *p)
{
    for (uint32_t i = 0; i < p->m->frequency_count; i++) {
        const ap__frequency *f = &p->m->frequencies[i];
        uint64_t uuid = ap__pf_process_uuid(f->device + 1) | 1;
        size_t event = 0;

        if (i == 0 || f[-1].device != f->device) {
            ap__counter_track(p, f->device, uuid);
        }
        ap__pf_begin(p);
        ap__pb_u64(p->packet, 13, 2); /* the clock is one of the defaults */
        ap__pb_u64(p->packet, 8, ap__device_wall_ns(&p->m->devices[f->device], f->cycles));
        event = ap__pb_open(p->packet, 11);
        ap__pb_u64(p->packet, 9, 4);
        ap__pb_u64(p->packet, 11, uuid);
        ap__pb_u64(p->packet, 30, f->mhz);
        ap__pb_close(p->packet, event);
        ap__pf_end(p);
    }
}
