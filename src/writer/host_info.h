/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about this machine and process for info.json. */
#ifndef AP_WRITER_HOST_INFO_H_
#define AP_WRITER_HOST_INFO_H_

#include <stdint.h>

#define AP_NET_CARDS_MAX 64u

typedef struct ap__net_card {
    char name[64];
    uint32_t speed; /* Mbit/s, 0 unknown */
} ap__net_card;

typedef struct ap__host_info {
    char os[140]; /* Linux-<release> */
    char host_name[65];
    char hardware[65];
    char cpu_name[64]; /* maker */
    char cpu_type[128];
    char up_time[64];
    char pid_name[256];
    char cann_version[64]; /* "" when no CANN is found */
    uint32_t cpu_count;    /* logical, on-line */
    uint64_t memory_kb;
    uint32_t clock_ticks; /* per second */
    int32_t rank;         /* -1: not started by a launcher */
    uint32_t pid;
    uint32_t net_card_count;
    ap__net_card net_cards[AP_NET_CARDS_MAX];
} ap__host_info;

/* Texts are valid UTF-8. What cannot be read is "" or 0. */
void ap__host_info_read(ap__host_info *out);

#endif
