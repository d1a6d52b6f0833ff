/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of each chip when its driver does not say. */
#ifndef AP_COLLECTOR_PLATFORM_H_
#define AP_COLLECTOR_PLATFORM_H_

#include <stdbool.h>
#include <stdint.h>

/* How a chip reports its tasks. */
typedef enum ap__chip_class {
    AP_CLASS_MINI,     /* 310: channels 43 and 44 */
    AP_CLASS_HWTS,     /* 910, 310P, MDC: 43 and 45 */
    AP_CLASS_STARS,    /* 910B, 310B: 50 with 64-byte records, 53 with 8 counters */
    AP_CLASS_STARS_V6, /* 950 and later: 50 with 32-byte records, 53 with 10 counters */
    AP_CLASS_NANO      /* 150 */
} ap__chip_class;

typedef struct ap__platform {
    uint32_t chip;
    ap__chip_class kind;
    uint32_t counter_khz;
    uint32_t aic_mhz;
    uint32_t aic_num;
    uint32_t aiv_num;
    bool counter_fixed; /* the table's rate even when the driver says another */
} ap__platform;

#define AP_CHIP_BIT(n) (1u << (n))

/* Of an unknown chip: what its successors in the table have, with its own number. */
ap__platform ap__platform_of(uint32_t chip);

#endif
