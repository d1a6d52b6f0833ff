/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AP_SIM_OPTIONS_H_
#define AP_SIM_OPTIONS_H_

#include <stddef.h>
#include <stdint.h>

typedef enum ap__sim_mode { AP_SIM_DRIVER, AP_SIM_DROP, AP_SIM_BLOCK } ap__sim_mode;

#define AP_SIM_UNSET UINT32_MAX

/* The keys of sim.h. */
typedef struct ap__sim_options {
    char chip[16];
    uint32_t devices;
    uint32_t aic;
    uint32_t aiv;
    uint32_t mhz;
    uint32_t api;
    uint32_t seed;
    uint32_t mode; /* ap__sim_mode */
    uint32_t speed;
    uint32_t step;
    int32_t ppm;
    int32_t nsppm;
    uint32_t latency_us[2];
    uint32_t wrap;
    uint32_t batch_kib;
    uint32_t batch_ms;
    uint32_t tick_ms;
    uint32_t strict;
    uint32_t late;
    uint32_t disorder;
    uint32_t packing;
    uint32_t throttle_ms;
    char pattern[24];
    uint32_t delay_ms;
    uint32_t streams;
    uint32_t tasks;
    uint32_t rate;
    uint32_t dur_us;
    uint32_t gap_us;
    uint32_t blocks;
    char scenario[512];
    char truth[512];
    char fault[1024];
} ap__sim_options;

void ap__sim_options_default(ap__sim_options *options);
/* Adds the settings of a text. 0, or -1 with one sentence in error. */
int ap__sim_options_parse(ap__sim_options *options, const char *text, char *error, size_t size);

#endif
