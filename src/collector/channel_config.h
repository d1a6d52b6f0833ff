/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes that a channel's start takes, per kind of channel. */
#ifndef AP_COLLECTOR_CHANNEL_CONFIG_H_
#define AP_COLLECTOR_CHANNEL_CONFIG_H_

#include "collector/channels.h"
#include "collector/platform.h"

typedef enum ap__config_kind {
    AP_CONFIG_NONE,
    AP_CONFIG_BANDWIDTH, /* 1, 7 */
    AP_CONFIG_LLC,
    AP_CONFIG_TSCPU,
    AP_CONFIG_AICORE,
    AP_CONFIG_TSFW,
    AP_CONFIG_TAG,
    AP_CONFIG_L2,
    AP_CONFIG_SOCLOG,
    AP_CONFIG_SOCPROFILE,
    AP_CONFIG_COUNTERS, /* 53, 54 */
    AP_CONFIG_MEM_APP,
    AP_CONFIG_MEM_DEVICE,
    AP_CONFIG_MEM_MODULE,
    AP_CONFIG_LPM,
    AP_CONFIG_QOS,
    AP_CONFIG_SOCPMU,
    AP_CONFIG_INSTR,
    AP_CONFIG_NTS
} ap__config_kind;

/* Intervals of the request, in ms. */
typedef struct ap__intervals {
    uint32_t mem;
    uint32_t io;
    uint32_t link;
    uint32_t dvpp;
    uint32_t cpu;
    uint32_t sample;
    uint32_t power;
} ap__intervals;

void ap__intervals_of(const ap__channel_request *request, ap__intervals *out);

/* Ids of the memory service flows, from a comma list of numbers. Returns how many (≤ 20). */
uint32_t ap__qos_ids(const ap__settings *settings, uint8_t ids[20]);

/* Fills plan->config and config_bytes. `sampled`: by time, else per task. */
void ap__channel_config(ap__config_kind kind, bool sampled, const ap__channel_request *request,
                        const ap__platform *platform, const ap__intervals *intervals,
                        ap__channel_plan *plan);

#endif
