/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the devices' task scheduler (STARS, 910B class): little-endian, packed. */
#ifndef AP_FORMAT_WIRE_DEVICE_H_
#define AP_FORMAT_WIRE_DEVICE_H_

#include <stddef.h>
#include <stdint.h>

#define AP_STARS_MAGIC 0x6BD3u

/* First half-word: bits 0-5 function, 6-9 running number, 10-15 kind of the queue entry. */
#define AP_STARS_FUNCTION(head) ((head) & 0x3Fu)
#define AP_STARS_KIND(head) ((uint32_t)(head) >> 10)
#define AP_STARS_START 0u
#define AP_STARS_END 1u
#define AP_STARS_TASK_PMU 0x28u /* 101000 */

/* AP_STARS_KIND */
#define AP_SQE_AICORE 0u
#define AP_SQE_AICPU 1u
#define AP_SQE_NOTIFY_WAIT 7u
#define AP_SQE_SDMA 11u

typedef struct __attribute__((packed)) ap__wire_stars_log {
    uint16_t head;
    uint16_t magic;
    uint16_t stream;
    uint16_t task;
    uint64_t cycles;
    uint16_t reserved0;
    uint16_t accelerator;
    uint8_t reserved1[44];
} ap__wire_stars_log;

typedef struct __attribute__((packed)) ap__wire_stars_pmu {
    uint16_t head;
    uint16_t magic;
    uint16_t stream;
    uint16_t task;
    uint64_t reserved0;
    uint16_t sub_type;
    uint16_t sub_task;
    uint16_t ffts_type; /* top three bits: 0 cube, 1 vector, 4 FFTS+ */
    uint16_t thread;
    uint64_t reserved1;
    uint64_t total_cycles;
    uint64_t reserved2;
    uint64_t counters[8];
    uint64_t start_cycles;
    uint64_t end_cycles;
} ap__wire_stars_pmu;

_Static_assert(sizeof(ap__wire_stars_log) == 64, "stars log");
_Static_assert(offsetof(ap__wire_stars_log, head) == 0, "stars log");
_Static_assert(offsetof(ap__wire_stars_log, magic) == 2, "stars log");
_Static_assert(offsetof(ap__wire_stars_log, stream) == 4, "stars log");
_Static_assert(offsetof(ap__wire_stars_log, task) == 6, "stars log");
_Static_assert(offsetof(ap__wire_stars_log, cycles) == 8, "stars log");
_Static_assert(offsetof(ap__wire_stars_log, accelerator) == 18, "stars log");
_Static_assert(sizeof(ap__wire_stars_pmu) == 128, "stars pmu");
_Static_assert(offsetof(ap__wire_stars_pmu, stream) == 4, "stars pmu");
_Static_assert(offsetof(ap__wire_stars_pmu, task) == 6, "stars pmu");
_Static_assert(offsetof(ap__wire_stars_pmu, sub_type) == 16, "stars pmu");
_Static_assert(offsetof(ap__wire_stars_pmu, sub_task) == 18, "stars pmu");
_Static_assert(offsetof(ap__wire_stars_pmu, ffts_type) == 20, "stars pmu");
_Static_assert(offsetof(ap__wire_stars_pmu, total_cycles) == 32, "stars pmu");
_Static_assert(offsetof(ap__wire_stars_pmu, counters) == 48, "stars pmu");
_Static_assert(offsetof(ap__wire_stars_pmu, start_cycles) == 112, "stars pmu");
_Static_assert(offsetof(ap__wire_stars_pmu, end_cycles) == 120, "stars pmu");

#endif
