/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/report.h"

uint32_t ap__lod_lanes(ap__lod_item *items, uint32_t count)
{
    uint64_t ends[AP_REPORT_LANES] = {0};
    uint32_t used = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t lane = 0;

        while (lane < used && ends[lane] > items[i].start) {
            lane++;
        }
        if (lane == AP_REPORT_LANES) {
            lane--;
        } else if (lane == used) {
            used++;
        }
        items[i].lane = lane;
        if (items[i].end > ends[lane]) {
            ends[lane] = items[i].end;
        }
    }
    return used;
}

uint32_t ap__lod_merge(ap__lod_item *items, uint32_t count, uint64_t width)
{
    uint32_t n = 0;
    uint64_t votes = 0;  /* for the open block's name */
    bool open = false;   /* items[n - 1] may take more */
    uint64_t bucket = 0; /* of the open block */

    for (uint32_t i = 0; i < count; i++) {
        const ap__lod_item item = items[i];
        uint64_t weight = item.busy != 0 ? item.busy : item.count;
        ap__lod_item *block = n != 0 ? &items[n - 1] : NULL;

        if (item.end - item.start >= width) {
            items[n++] = item;
            open = false;
            continue;
        }
        if (!open || block->lane != item.lane || bucket != item.start / width) {
            items[n++] = item;
            bucket = item.start / width;
            votes = weight;
            open = true;
            continue;
        }
        block->end = item.end > block->end ? item.end : block->end;
        block->busy += item.busy;
        block->count += item.count;
        if (block->name == item.name) {
            votes += weight;
        } else if (votes >= weight) {
            votes -= weight;
        } else {
            block->name = item.name;
            votes = weight - votes;
        }
    }
    return n;
}
