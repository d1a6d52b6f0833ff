/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks and their levels of detail, as base64 of varints: most events take 6 bytes. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analysis/bulk.h"
#include "tool/report.h"

#define AP_LOD_FIRST 1024u /* ns of a bucket of the first merged level; each next has 4 times */
#define AP_LAUNCH_LATEST 1000000u /* ns behind the task's start */
#define AP_LOD_ENOUGH 1000u       /* items; a coarser level would not be drawn faster */

/* ---- base64 of varints ---- */

typedef struct ap__packer {
    ap__out *o;
    uint8_t bytes[3];
    uint32_t used;
} ap__packer;

static void ap__pack_three(ap__packer *p)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t v = (uint32_t)p->bytes[0] << 16 | (uint32_t)p->bytes[1] << 8 | p->bytes[2];
    char text[4] = {digits[v >> 18], digits[v >> 12 & 63], p->used > 1 ? digits[v >> 6 & 63] : '=',
                    p->used > 2 ? digits[v & 63] : '='};

    ap__out_bytes(p->o, text, sizeof(text));
    memset(p->bytes, 0, sizeof(p->bytes));
    p->used = 0;
}

static void ap__pack_byte(ap__packer *p, uint8_t byte)
{
    p->bytes[p->used++] = byte;
    if (p->used == sizeof(p->bytes)) {
        ap__pack_three(p);
    }
}

static void ap__pack(ap__packer *p, uint64_t value)
{
    for (; value >= 128; value >>= 7) {
        ap__pack_byte(p, (uint8_t)(value | 128));
    }
    ap__pack_byte(p, (uint8_t)value);
}

/* ---- tracks ---- */

/* When and by which thread the task was launched: 0 without, else 1 and the time until it began,
 * zigzag: clocks of host and device agree to microseconds only. */
static void ap__launch(ap__packer *p, const ap__run *run, const ap__lod_item *item)
{
    const ap__track *t =
        item->launch < run->model.track_count ? &run->model.tracks[item->launch] : NULL;
    uint64_t start = run->base_ns + item->start;

    if (t == NULL || (t->time_ns > start && t->time_ns - start > AP_LAUNCH_LATEST)) {
        ap__pack(p, 0);
        return;
    }
    ap__pack(p, 1 + (t->time_ns > start ? (t->time_ns - start) * 2 - 1 : (start - t->time_ns) * 2));
    ap__pack(p, t->tid);
}

static void ap__level(ap__out *o, const ap__run *run, bool launches, const ap__lod_item *items,
                      uint32_t count, uint64_t width, uint32_t lanes, bool first)
{
    ap__packer p = {.o = o};
    uint32_t n[AP_REPORT_LANES] = {0};

    for (uint32_t i = 0; i < count; i++) {
        n[items[i].lane]++;
    }
    ap__out_printf(o, "%s{\"width\":%" PRIu64 ",\"lanes\":[", first ? "" : ",", width);
    for (uint32_t i = 0; i < lanes; i++) {
        ap__out_printf(o, "%s%" PRIu32, i != 0 ? "," : "", n[i]);
    }
    ap__out_text(o, "],\"items\":\"");
    for (uint32_t i = 0; i < count; i++) {
        const ap__lod_item *t = &items[i];
        uint64_t length = t->end - t->start;

        ap__pack(&p, t->start - (i != 0 && t[-1].lane == t->lane ? t[-1].start : 0));
        ap__pack(&p, length);
        ap__pack(&p, t->name);
        if (width == 0 && launches) {
            ap__launch(&p, run, t);
        }
        if (width != 0) {
            ap__pack(&p, t->count);
            ap__pack(&p, length == 0 || t->busy >= length
                             ? 100
                             : (uint64_t)(100.0 * (double)t->busy / (double)length));
        }
    }
    if (p.used != 0) {
        ap__pack_three(&p);
    }
    ap__out_text(o, "\"}");
}

static int ap__by_lane(const void *a, const void *b)
{
    const ap__lod_item *x = a;
    const ap__lod_item *y = b;

    if (x->lane != y->lane) {
        return x->lane < y->lane ? -1 : 1;
    }
    return x->start < y->start ? -1 : x->start > y->start;
}

static int ap__track_out(ap__out *o, const ap__run *run, uint32_t from, uint32_t count)
{
    static const char *const kinds[] = {"ranges", "spans", "calls", "comm", "tasks"};
    ap__lod_item *items = ap__bulk_make(count, sizeof(*items));
    uint64_t key = run->events[from].track;
    uint64_t span = run->end_ns - run->base_ns;
    uint64_t budget = (uint64_t)AP_REPORT_ITEMS * count / run->event_count + AP_LOD_ENOUGH;
    uint32_t n = count;
    uint32_t written = 0; /* items of the last level */
    uint32_t lanes = 0;
    int rc = 0;

    if (items == NULL) {
        return ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        const ap__event *e = &run->events[from + i];

        items[i] = (ap__lod_item){.start = e->start_ns - run->base_ns,
                                  .end = e->end_ns - run->base_ns,
                                  .busy = e->end_ns - e->start_ns,
                                  .name = e->name,
                                  .count = 1,
                                  .launch = e->launch};
    }
    lanes = ap__lod_lanes(items, count);
    rc = lanes > 1 ? ap__bulk_sort((void **)&items, count, sizeof(*items), ap__by_lane) : 0;
    if (rc != 0) {
        goto out;
    }
    ap__out_printf(o, "%s{\"kind\":\"%s\",\"device\":%" PRIu32 ",\"id\":%" PRIu32 ",\"levels\":[",
                   from != 0 ? "," : "", kinds[ap__track_kind_of(key)], ap__track_device_of(key),
                   ap__track_id_of(key));
    for (uint64_t width = 0;; width = width == 0 ? AP_LOD_FIRST : width * 4) {
        bool last = n <= AP_LOD_ENOUGH || width / 4 >= span || width >> 60 != 0;

        n = width != 0 ? ap__lod_merge(items, n, width) : n;
        /* each has half as many as the one before: all together are at most twice the first */
        if (written != 0 ? n <= written / 2 : n <= budget || last) {
            ap__level(o, run, ap__track_kind_of(key) == AP_TRACK_TASKS, items, n, width, lanes,
                      written == 0);
            written = n;
        }
        if (last) {
            break;
        }
    }
    ap__out_text(o, "]}");
out:
    ap__bulk_free(items);
    return rc;
}

int ap__report_tracks(ap__out *o, const ap__run *run)
{
    uint32_t from = 0;
    int rc = 0;

    ap__out_text(o, "\"tracks\":[");
    for (uint32_t i = 1; rc == 0 && i <= run->event_count; i++) {
        if (i == run->event_count || run->events[i].track != run->events[from].track) {
            rc = ap__track_out(o, run, from, i - from);
            from = i;
        }
    }
    ap__out_text(o, "],");
    return rc;
}
