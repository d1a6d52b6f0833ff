/* SPDX-License-Identifier: Apache-2.0 */
/* Durations by key: one entry for each key, however many samples there are. */
#ifndef AP_ANALYSIS_STATS_H_
#define AP_ANALYSIS_STATS_H_

#include <stdint.h>

typedef struct ap__stat {
    uint64_t key[3]; /* what they mean is the caller's */
    uint64_t count;
    uint64_t total_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    double squares; /* sum of squared distances from the mean, ns² */
    double mean_ns;
} ap__stat;

typedef struct ap__stats {
    ap__stat *list;
    uint32_t count;
    uint32_t *slots; /* index in list + 1 */
    uint32_t slot_count;
} ap__stats;

/* 0 or ENOMEM. *stats is zeroed before the first. */
int ap__stats_add(ap__stats *stats, const uint64_t key[3], uint64_t ns);
/* Adds what `from` has seen; the key stays. */
void ap__stat_merge(ap__stat *into, const ap__stat *from);
void ap__stats_free(ap__stats *stats);

#endif
