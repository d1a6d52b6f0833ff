/* SPDX-License-Identifier: Apache-2.0 */
#include "writer/convert.h"

#define AP_MIN_LINE_NS 20000u         /* shorter lines would magnify the snapshots' error */
#define AP_FIRST_SPACING_NS 1000000000u

void ap__convert_init(ap__convert *c, const ap__clock_point *start, uint32_t is_ns)
{
    c->is_ns = is_ns;
    c->from = *start;
    c->to = *start;
    c->points[0] = *start;
    c->point_count = 1;
    c->spacing_ns = AP_FIRST_SPACING_NS;
    ap__clock_line_make(&c->line, start, start, is_ns);
}

/* Every second point goes; the spacing of what follows doubles. */
static void ap__thin(ap__convert *c)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < c->point_count; i += 2) {
        c->points[kept++] = c->points[i];
    }
    c->point_count = kept;
    c->spacing_ns *= 2;
}

void ap__convert_note(ap__convert *c)
{
    if (c->from.mono_raw_ns < c->points[c->point_count - 1].mono_raw_ns + c->spacing_ns) {
        return;
    }
    if (c->point_count == AP_CONVERT_POINTS) {
        ap__thin(c);
    }
    c->points[c->point_count++] = c->from;
}

void ap__convert_advance(ap__convert *c)
{
    ap__clock_point now;

    ap__clock_read(&now);
    if (now.mono_raw_ns < c->to.mono_raw_ns + AP_MIN_LINE_NS && c->line.mult != 0) {
        return;
    }
    c->from = c->to;
    c->to = now;
    ap__clock_line_make(&c->line, &c->from, &c->to, c->is_ns);
    ap__convert_note(c);
}

uint64_t ap__convert_old(const ap__convert *c, uint64_t cycles)
{
    uint32_t lo = 0;
    uint32_t hi = c->point_count; /* first point after cycles */
    const ap__clock_point *next = NULL;
    ap__clock_line line;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if ((int64_t)(c->points[mid].cycles - cycles) <= 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    lo = lo == 0 ? 0 : lo - 1;
    next = lo + 1 < c->point_count ? &c->points[lo + 1] : &c->from;
    if (next->cycles == c->points[lo].cycles) {
        return ap__clock_line_ns(&c->line, cycles); /* before the first snapshot: extend */
    }
    ap__clock_line_make(&line, &c->points[lo], next, c->is_ns);
    return ap__clock_line_ns(&line, cycles);
}
