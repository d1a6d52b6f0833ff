/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/device_clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "reader/reader_internal.h"
#include "reader/safe_file.h"

#define AP_DEVICES_NAME "devices.json"
#define AP_DEVICES_MOST ((size_t)64 << 20)
#define AP_POINTS_MOST 1000000u

static int ap__by_cycles(const void *a, const void *b)
{
    const ap__clock_pair *x = a;
    const ap__clock_pair *y = b;

    return x->device_cycles < y->device_cycles ? -1 : x->device_cycles > y->device_cycles;
}

static uint64_t ap__between(const ap__clock_pair *a, const ap__clock_pair *b, uint64_t cycles)
{
    __int128 ns = (__int128)(int64_t)(cycles - a->device_cycles) *
                  (__int128)(int64_t)(b->host_ns - a->host_ns);

    ns /= (__int128)(int64_t)(b->device_cycles - a->device_cycles);
    ns += (__int128)a->host_ns;
    return ns < 0 ? 0 : ns > (__int128)UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

uint64_t ap__device_clock_ns(const ap__device_clock *clock, uint64_t cycles)
{
    uint32_t low = 0;
    uint32_t high = clock->count - 1; /* the segment begins at low, before high */

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (clock->points[middle].device_cycles <= cycles) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return ap__between(&clock->points[low], &clock->points[low + 1], cycles);
}

/* Ends of the straight line that lies best between the points, tight ones counting more. */
static void ap__line(const ap__clock_pair *p, uint32_t count, ap__clock_pair ends[2])
{
    double w = 0, x = 0, y = 0, xx = 0, xy = 0, slope = 0, base = 0;
    double span = (double)(p[count - 1].device_cycles - p[0].device_cycles);
    double ns = (double)(p[count - 1].host_ns - p[0].host_ns);

    for (uint32_t i = 0; i < count; i++) { /* the distance from the chord, which is small */
        double at = (double)(p[i].device_cycles - p[0].device_cycles) / span;
        double off = (double)(int64_t)(p[i].host_ns - p[0].host_ns) - at * ns;
        double e = (double)p[i].error_ns + 1;
        double weight = 1 / (e * e);

        w += weight;
        x += weight * at;
        y += weight * off;
        xx += weight * at * at;
        xy += weight * at * off;
    }
    if (w * xx - x * x > 1e-12 * w * w) {
        slope = (w * xy - x * y) / (w * xx - x * x);
        base = (y - slope * x) / w;
    }
    ends[0] = p[0];
    ends[1] = p[count - 1];
    ends[0].host_ns += (uint64_t)(int64_t)base;
    ends[1].host_ns += (uint64_t)(int64_t)(base + slope);
}

static uint64_t ap__distance(const ap__clock_pair ends[2], const ap__clock_pair *p)
{
    int64_t d = (int64_t)(ap__between(&ends[0], &ends[1], p->device_cycles) - p->host_ns);

    return d < 0 ? (uint64_t)-d : (uint64_t)d;
}

/* A line's error grows evenly: what bounds it at one point of each half bounds it between them. */
static uint64_t ap__line_error(const ap__clock_pair ends[2], const ap__clock_pair *p,
                               uint32_t count, bool *even)
{
    uint64_t best[2] = {UINT64_MAX, UINT64_MAX};

    *even = true;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t off = ap__distance(ends, &p[i]);
        uint64_t *half = &best[i >= count / 2];

        *half = off + p[i].error_ns < *half ? off + p[i].error_ns : *half;
        *even = *even && off <= 2 * p[i].error_ns + 1;
    }
    return best[0] > best[1] ? best[0] : best[1];
}

int ap__device_clock_fit(ap__device_clock *clock, ap__clock_pair *points, uint32_t count)
{
    ap__clock_pair ends[2];
    uint32_t kept = 0;
    bool even = true;

    memset(clock, 0, sizeof(*clock));
    clock->snapshots = count;
    if (count != 0) {
        qsort(points, count, sizeof(*points), ap__by_cycles);
    }
    for (uint32_t i = 0; i < count; i++) { /* both clocks go forward, or one was set anew */
        if (kept == 0 || (points[i].device_cycles > points[kept - 1].device_cycles &&
                          points[i].host_ns > points[kept - 1].host_ns &&
                          points[i].host_ns - points[kept - 1].host_ns < INT64_MAX &&
                          points[i].device_cycles - points[0].device_cycles < INT64_MAX)) {
            points[kept++] = points[i];
        }
    }
    if (kept < 2) {
        free(points);
        return 0;
    }
    clock->points = points;
    clock->count = kept;
    ap__line(points, kept, ends);
    clock->error_ns = ap__line_error(ends, points, kept, &even);
    if (even) {
        points[0] = ends[0];
        points[1] = ends[1];
        clock->count = 2;
        return 0;
    }
    clock->error_ns = 0;
    for (uint32_t i = 0; i < kept; i++) {
        clock->error_ns =
            points[i].error_ns > clock->error_ns ? points[i].error_ns : clock->error_ns;
    }
    return 0;
}

static uint64_t ap__field(const cJSON *item, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, key);
    char *end = NULL;

    return cJSON_IsString(value) ? strtoull(value->valuestring, &end, 10) : 0;
}

static int ap__take(ap__device_clock *clock, const cJSON *list)
{
    int count = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
    ap__clock_pair *points = NULL;
    const cJSON *item = NULL;
    uint32_t n = 0;

    if (count < 2 || count > (int)AP_POINTS_MOST) {
        return 0;
    }
    points = calloc((size_t)count, sizeof(*points));
    if (points == NULL) {
        return ENOMEM;
    }
    cJSON_ArrayForEach(item, list)
    {
        points[n] = (ap__clock_pair){.device_cycles = ap__field(item, "deviceCycles"),
                                       .host_ns = ap__field(item, "hostNs"),
                                       .error_ns = ap__field(item, "errorNs")};
        n += points[n].device_cycles != 0 && points[n].host_ns != 0;
    }
    return ap__device_clock_fit(clock, points, n);
}

int ap__device_clock_read(ap__device_clock *clock, int ext_fd, uint32_t device, ap__notes *notes)
{
    size_t length = 0;
    int error = 0;
    int rc = 0;
    char *text = NULL;
    char *quoted = NULL;
    cJSON *json = NULL;
    const cJSON *item = NULL;

    memset(clock, 0, sizeof(*clock));
    if (ext_fd < 0) {
        return 0;
    }
    text = ap__read_whole(ext_fd, AP_DEVICES_NAME, AP_DEVICES_MOST, &length, notes, &error);
    quoted = text != NULL ? ap__quote_integers(text, length) : NULL;
    json = quoted != NULL ? cJSON_Parse(quoted) : NULL;
    if (text != NULL && json == NULL) {
        ap__note(notes, AP_DEVICES_NAME " is damaged or cut: device clocks as at the start");
    }
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "devices"))
    {
        if (ap__field(item, "device") == device && rc == 0 && clock->points == NULL) {
            rc = ap__take(clock, cJSON_GetObjectItemCaseSensitive(item, "clock"));
        }
    }
    cJSON_Delete(json);
    free(quoted);
    free(text);
    return error == ENOMEM ? ENOMEM : rc;
}

void ap__device_clock_free(ap__device_clock *clock)
{
    free(clock->points);
    memset(clock, 0, sizeof(*clock));
}
