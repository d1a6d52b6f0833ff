/* SPDX-License-Identifier: Apache-2.0 */
/* The first set's times stay. Sets of the same machine have one CLOCK_MONOTONIC_RAW: it puts them
 * in line whatever was done to the wall clock between them. Machines are put in line by stamps that
 * all ranks have at the same time (the end of a barrier), or left to their wall clocks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/merge/merge.h"

#define AP_SAME_BOOT_NS ((uint64_t)10 * 1000000000u) /* wall clocks are corrected while they run   \
                                                      */

static bool ap__same_machine(const ap__merge_set *a, const ap__merge_set *b)
{
    uint64_t apart = a->boot_ns > b->boot_ns ? a->boot_ns - b->boot_ns : b->boot_ns - a->boot_ns;

    return a->has_clock && b->has_clock && a->host[0] != '\0' && strcmp(a->host, b->host) == 0 &&
           apart < AP_SAME_BOOT_NS;
}

static void ap__groups(ap__merge *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        m->sets[i].group = i;
        for (uint32_t k = 0; k < i && !m->sets[i].failed; k++) {
            if (!m->sets[k].failed && m->sets[k].group == k &&
                ap__same_machine(&m->sets[k], &m->sets[i])) {
                m->sets[i].group = k;
                break;
            }
        }
    }
}

static int ap__by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* How much later the k-th stamp of a is than that of b: the median, and how far the others are from
 * it. false: they have none in common. */
static bool ap__stamps_apart(const ap__merge_set *a, const ap__merge_set *b, int64_t *median,
                             uint64_t *error)
{
    uint32_t count = a->sync_count < b->sync_count ? a->sync_count : b->sync_count;
    int64_t *apart = count != 0 ? malloc(count * sizeof(*apart)) : NULL;

    if (apart == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        apart[i] = (int64_t)(a->syncs[i] - b->syncs[i]);
    }
    qsort(apart, count, sizeof(*apart), ap__by_size);
    *median = apart[count / 2];
    *error = (uint64_t)(apart[count - 1] - *median) > (uint64_t)(*median - apart[0])
                 ? (uint64_t)(apart[count - 1] - *median)
                 : (uint64_t)(*median - apart[0]);
    free(apart);
    return true;
}

/* The shift of a machine, from whichever of its sets has the stamps. */
static void ap__align_group(ap__merge *m, uint32_t reference, uint32_t group)
{
    ap__merge_set *first = &m->sets[group];

    first->by = AP_MERGE_WALL;
    first->shift_ns = 0;
    first->error_ns = UINT64_MAX;
    for (uint32_t r = 0; r < m->count; r++) {
        for (uint32_t i = group; i < m->count; i++) {
            const ap__merge_set *set = &m->sets[i];
            int64_t apart = 0;
            uint64_t error = 0;

            if (set->group == group && m->sets[r].group == reference &&
                ap__stamps_apart(&m->sets[r], set, &apart, &error)) {
                /* both ends have been counted with their own machine's offset */
                first->by = AP_MERGE_STAMPS;
                first->shift_ns = apart + m->sets[r].shift_ns - (first->offset_ns - set->offset_ns);
                first->error_ns = error;
                return;
            }
        }
    }
}

void ap__merge_align(ap__merge *m)
{
    uint32_t reference = 0;

    ap__groups(m);
    while (reference < m->count && m->sets[reference].failed) {
        reference++;
    }
    for (uint32_t pass = 0; pass < 2; pass++) { /* the reference's machine, then the others */
        for (uint32_t i = 0; i < m->count; i++) {
            ap__merge_set *s = &m->sets[i];
            const ap__merge_set *first = &m->sets[s->group];

            if (s->failed || (s->group == reference) != (pass == 0)) {
                continue;
            }
            if (i == reference) {
                s->by = AP_MERGE_REFERENCE;
                s->shift_ns = 0;
            } else if (s->group == i) {
                ap__align_group(m, reference, i);
            } else {
                s->by = first->by == AP_MERGE_REFERENCE ? AP_MERGE_SAME_HOST : first->by;
                s->shift_ns = first->offset_ns + first->shift_ns - s->offset_ns;
                s->error_ns =
                    first->error_ns == UINT64_MAX ? UINT64_MAX : first->error_ns + s->error_ns;
            }
        }
    }
}

void ap__merge_by_text(const ap__merge_set *s, char *text, size_t size)
{
    static const char *const ways[] = {"reference", "same host", "wall clock of another host",
                                       "stamps"};

    if (s->error_ns == UINT64_MAX) {
        (void)snprintf(text, size, "%s, error not known", ways[s->by]);
    } else {
        (void)snprintf(text, size, "%s, within %" PRIu64 " ns", ways[s->by], s->error_ns);
    }
}
