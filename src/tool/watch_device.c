/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "analysis/device_layout.h"
#include "tool/watch.h"

typedef struct ap__watching {
    ap__watch_device *device;
    const ap__device_view *view;
    const ap__device_layout *layout;
    uint64_t first_ns;
} ap__watching;

/* Records come about in the order of their times: what is out of it counts as at the newest. */
static void ap__take_log(void *context, const uint8_t *record)
{
    ap__watching *x = context;
    ap__watch_device *d = x->device;
    ap__blob blob = {record, x->layout->log_bytes};
    ap__task_log log;
    uint64_t ns = 0;

    if (!x->layout->log(blob, &log) || log.part != AP_NONE) {
        return;
    }
    ns = ap__device_wall_ns(x->view, log.cycles);
    x->first_ns = x->first_ns == 0 || ns < x->first_ns ? ns : x->first_ns;
    if (d->active != 0 && ns > d->last_ns) {
        d->busy_ns += ns - d->last_ns;
    }
    d->last_ns = ns > d->last_ns ? ns : d->last_ns;
    if (!log.end) {
        d->active += d->active < AP_WATCH_FLOWS;
    } else {
        d->active -= d->active != 0;
        d->tasks++;
        d->fresh++;
    }
}

static void ap__watch_one(ap__watch *w, const ap__device_view *view, ap__watch_device *d)
{
    ap__watching x = {d, view, ap__device_layout_of(view->chip), 0};
    char name[128];
    uint64_t before = d->last_ns;
    size_t length = 0;

    d->fresh = 0;
    d->busy_ns = 0;
    d->span_ns = 0;
    d->seen = true;
    d->simulated = view->simulated;
    d->known = x.layout != NULL;
    if (!d->known || view->data_fd < 0) {
        return;
    }
    length = strlen(x.layout->log_file);
    if (length + 16 > sizeof(name)) {
        return;
    }
    (void)snprintf(name, sizeof(name), "%s.%u", x.layout->log_file, (unsigned)view->device);
    ap__watch_tail_read(view->data_fd, name, &d->tail, x.layout->log_bytes, NULL, &w->notes,
                        ap__take_log, &x);
    before = before != 0 ? before : x.first_ns;
    d->span_ns = d->last_ns > before ? d->last_ns - before : 0;
}

void ap__watch_devices(ap__watch *w)
{
    static ap__device_view views[AP_WATCH_DEVICES];
    uint32_t count = ap__device_views_open(w->reader, views, AP_WATCH_DEVICES);

    for (uint32_t i = 0; i < count; i++) {
        if (views[i].device < AP_WATCH_DEVICES) {
            ap__watch_one(w, &views[i], &w->devices[views[i].device]);
        }
    }
    ap__device_views_close(views, count);
}
