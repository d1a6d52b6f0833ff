/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the devices' task scheduler (STARS, 910B class): little-endian, packed. */
#ifndef AP_FORMAT_WIRE_DEVICE_H_
#define AP_FORMAT_WIRE_DEVICE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AP_STARS_MAGIC 0x6BD3u

/* First half-word: bits 0-5 function, 6-9 running number, 10-15 kind of the queue entry. */
#define AP_STARS_FUNCTION(head) ((head) & 0x3Fu)
#define AP_STARS_KIND(head) ((uint32_t)(head) >> 10)
#define AP_STARS_START 0u
#define AP_STARS_END 1u
#define AP_STARS_PART_START 0x22u /* 100010: part of an FFTS+ task */
#define AP_STARS_PART_END 0x23u
#define AP_STARS_TASK_PMU 0x28u /* 101000 */

/* AP_STARS_KIND */
#define AP_SQE_AICORE 0u
#define AP_SQE_AICPU 1u
#define AP_SQE_PLACE_HOLDER 3u
#define AP_SQE_EVENT_RECORD 4u
#define AP_SQE_NOTIFY_WAIT 7u
#define AP_SQE_SDMA 11u

typedef struct __attribute__((packed)) ap__wire_stars_log {
    uint16_t head;
    uint16_t magic;
    uint16_t stream;
    uint16_t task;
    uint64_t cycles;
    uint16_t sub_type; /* of a part: 0 cube, 1 vector, 6 and 7 mixed, 8 SDMA */
    uint16_t accelerator; /* of a part: its number */
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

/* The ids of 64-byte and 128-byte records as the program knows them: hardware has fewer bits for a
 * stream and puts it, or some of the task's bits, where the other one is. expanded: streams beyond
 * 2047 are in use. */
static inline void ap__stars_unpack(bool expanded, uint32_t kind, uint16_t *stream, uint16_t *task)
{
    uint32_t s = *stream;
    uint32_t t = *task;

    if (expanded) {
        if (kind == AP_SQE_PLACE_HOLDER || kind == AP_SQE_EVENT_RECORD) {
            return;
        }
        *stream = (uint16_t)(((s & 0x8000u) != 0 ? t : s) & 0x7FFFu);
        *task = (uint16_t)((s & 0x8000u) != 0 ? (t & 0x8000u) | (s & 0x7FFFu) : t);
        return;
    }
    if ((s & 0x1000u) != 0) {
        *task = (uint16_t)((t & 0x1FFFu) | (s & 0xE000u));
    } else if ((s & 0x2000u) != 0) {
        *task = (uint16_t)((s & 0xFFFu) | (t & 0xF000u));
        s = t & 0xFFFu;
    }
    *stream = (uint16_t)(s & 0x7FFu);
}

_Static_assert(sizeof(ap__wire_stars_log) == 64, "stars log");
_Static_assert(offsetof(ap__wire_stars_log, head) == 0, "stars log");
_Static_assert(offsetof(ap__wire_stars_log, magic) == 2, "stars log");
_Static_assert(offsetof(ap__wire_stars_log, stream) == 4, "stars log");
_Static_assert(offsetof(ap__wire_stars_log, task) == 6, "stars log");
_Static_assert(offsetof(ap__wire_stars_log, cycles) == 8, "stars log");
_Static_assert(offsetof(ap__wire_stars_log, accelerator) == 18, "stars log");
_Static_assert(offsetof(ap__wire_stars_log, sub_type) == 16, "stars log");
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

/* lpmFreqConv.data and lpmInfoConv.data: what changed, and when. */
#define AP_LPM_CHANGES 55u
#define AP_LPM_AIC_MHZ 0u /* ap__wire_lpm.kind; others are voltages */

typedef struct __attribute__((packed)) ap__wire_lpm_change {
    uint64_t cycles;
    uint32_t value;
    uint32_t reserved;
} ap__wire_lpm_change;

typedef struct __attribute__((packed)) ap__wire_lpm {
    uint32_t count;
    uint32_t kind;
    ap__wire_lpm_change changes[AP_LPM_CHANGES];
} ap__wire_lpm;

_Static_assert(sizeof(ap__wire_lpm_change) == 16, "lpm change");
_Static_assert(offsetof(ap__wire_lpm_change, value) == 8, "lpm change");
_Static_assert(sizeof(ap__wire_lpm) == 888, "lpm");
_Static_assert(offsetof(ap__wire_lpm, kind) == 4, "lpm");
_Static_assert(offsetof(ap__wire_lpm, changes) == 8, "lpm");

#endif
