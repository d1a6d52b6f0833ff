/* SPDX-License-Identifier: Apache-2.0 */
#include "writer/convert.h"

#define AP_FIRST_SPACING_NS 1000000000u
#define AP_STEER_NS 1000000000u /* a deviation is taken back over a second at least */
#define AP_TOLERANCE_NS 20u     /* beyond the snapshot's own error */

/* Every second knot of the older half goes, each line then leads to the next knot that is left:
 * ranges that began so long ago may move by what was steered meanwhile. */
static void ap__knots_thin(ap__convert *c)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < AP_CONVERT_KNOTS / 2; i += 2) {
        const ap__clock_line *next = &c->knots[i + 2];
        ap__clock_line line = c->knots[i];
        unsigned __int128 ns = (unsigned __int128)(next->ns0 - line.ns0) << 48;

        line.mult = (uint64_t)(ns / (next->cycles0 - line.cycles0));
        c->knots[kept++] = line;
    }
    for (uint32_t i = AP_CONVERT_KNOTS / 2; i < AP_CONVERT_KNOTS; i++) {
        c->knots[kept++] = c->knots[i];
    }
    c->knot_count = kept;
}

static void ap__knot_add(ap__convert *c)
{
    if (c->knot_count == AP_CONVERT_KNOTS) {
        ap__knots_thin(c);
    }
    c->knots[c->knot_count++] = c->line;
}

void ap__convert_init(ap__convert *c, const ap__clock_point *start, const ap__clock_point *ready,
                      uint32_t is_ns)
{
    c->is_ns = is_ns;
    c->start = *start;
    c->last = *start;
    c->frozen = start->cycles;
    c->knot_count = 0;
    c->points[0] = *start;
    c->point_count = 1;
    c->spacing_ns = AP_FIRST_SPACING_NS;
    ap__clock_line_make(&c->line, start, ready, is_ns);
    ap__knot_add(c);
}

/* Every second point goes; the spacing of what follows doubles. */
static void ap__points_thin(ap__convert *c)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < c->point_count; i += 2) {
        c->points[kept++] = c->points[i];
    }
    c->point_count = kept;
    c->spacing_ns *= 2;
}

static void ap__points_add(ap__convert *c, const ap__clock_point *now)
{
    if (now->mono_raw_ns < c->points[c->point_count - 1].mono_raw_ns + c->spacing_ns) {
        return;
    }
    if (c->point_count == AP_CONVERT_POINTS) {
        ap__points_thin(c);
    }
    c->points[c->point_count++] = *now;
}

/* A new line from the frozen end on: the rate since the start, and what takes the deviation at
 * `now` back. */
static void ap__steer(ap__convert *c, const ap__clock_point *now)
{
    uint64_t at = c->frozen;
    uint64_t ns = ap__convert_ns(c, at);
    uint64_t span = now->cycles - at;
    int64_t off = 0; /* of the new rate's prediction for now */
    uint64_t over = 0;
    __int128 mult = 0;
    ap__clock_line line;

    ap__clock_line_make(&line, &c->start, now, c->is_ns);
    line.cycles0 = at;
    line.ns0 = ns;
    off = (int64_t)(now->mono_raw_ns - ap__clock_line_ns(&line, now->cycles));
    over = now->mono_raw_ns - ns > AP_STEER_NS ? span
                                               : (uint64_t)(((unsigned __int128)AP_STEER_NS << 48) /
                                                            (line.mult == 0 ? 1 : line.mult));
    mult = (__int128)line.mult + ((__int128)off * ((__int128)1 << 48)) / (__int128)(over + 1);
    if (mult < (__int128)(line.mult / 2)) {
        mult = line.mult / 2; /* forwards whatever happens */
    }
    line.mult = (uint64_t)mult;
    c->line = line;
    ap__knot_add(c);
}

void ap__convert_note(ap__convert *c, const ap__clock_point *now)
{
    int64_t off = 0;
    int64_t allowed = (int64_t)now->error_ns + AP_TOLERANCE_NS;

    if (now->cycles <= c->frozen || now->mono_raw_ns <= c->start.mono_raw_ns) {
        return;
    }
    off = (int64_t)(now->mono_raw_ns - ap__convert_ns(c, now->cycles));
    if (c->is_ns == 0 && (off > allowed || off < -allowed)) {
        ap__steer(c, now);
    }
    c->frozen = now->cycles;
    c->last = *now;
    ap__points_add(c, now);
}

void ap__convert_advance(ap__convert *c)
{
    ap__clock_point now;

    ap__clock_read(&now);
    ap__convert_note(c, &now);
}

uint64_t ap__convert_old(const ap__convert *c, uint64_t cycles)
{
    uint32_t lo = 0;
    uint32_t hi = c->knot_count; /* first knot after cycles */

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if ((int64_t)(c->knots[mid].cycles0 - cycles) <= 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return ap__clock_line_ns(&c->knots[lo == 0 ? 0 : lo - 1], cycles);
}
