/* SPDX-License-Identifier: Apache-2.0 */
/* Data of the compact records that CANN's runtime and graph engine report: little-endian, packed. */
#ifndef AP_FORMAT_WIRE_REPORT_H_
#define AP_FORMAT_WIRE_REPORT_H_

#include <stddef.h>
#include <stdint.h>

/* type of a record of level AP_LEVEL_RUNTIME */
#define AP_TYPE_MEMCPY_INFO 801u
#define AP_TYPE_TASK_TRACK 802u
#define AP_TYPE_STREAM_SPEC 804u /* u32: not 0 when there are more streams than 2048 */
#define AP_TYPE_TASK_TRACK_V2 808u
/* … of AP_LEVEL_NODE */
#define AP_TYPE_NODE_BASIC 0u
#define AP_TYPE_LAUNCH 5u

/* ap__wire_task_track.task_type */
#define AP_TASK_AICORE 0u
#define AP_TASK_AICPU 1u
#define AP_TASK_EVENT_RECORD 2u
#define AP_TASK_EVENT_WAIT 3u
#define AP_TASK_MEMCPY 5u
#define AP_TASK_AIVEC 66u
#define AP_TASK_MIX_AIC 108u

/* ap__wire_node_basic.task_type */
#define AP_NODE_AI_CORE 0u
#define AP_NODE_AI_CPU 1u
#define AP_NODE_AI_VECTOR 2u
#define AP_NODE_MIX_AIC 4u
#define AP_NODE_COMMUNICATION 9u

typedef struct __attribute__((packed)) ap__wire_task_track {
    uint16_t device;
    uint16_t stream;
    uint16_t task;
    uint16_t batch; /* high half of a 32-bit task id on chips that have those */
    uint64_t task_type;
    uint64_t kernel_name; /* id in hash_dic */
    uint8_t extension[16];
} ap__wire_task_track;

typedef struct __attribute__((packed)) ap__wire_task_track_v2 {
    uint16_t device;
    uint8_t reserved[2];
    uint32_t stream;
    uint32_t task;
    uint32_t task_type;
    uint64_t kernel_name;
    uint8_t extension[16];
} ap__wire_task_track_v2;

typedef struct __attribute__((packed)) ap__wire_memcpy_info {
    uint64_t bytes;
    uint64_t reserved;
    uint16_t direction; /* 0 host to host, 1 host to device, 2 device to host, 3 device to device */
} ap__wire_memcpy_info;

typedef struct __attribute__((packed)) ap__wire_node_basic {
    uint64_t op_name;
    uint32_t task_type;
    uint64_t op_type;
    uint32_t blocks; /* low half; high half: ratio of a mixed kernel */
    uint32_t flags;  /* bit 0: HF32 */
} ap__wire_node_basic;

_Static_assert(sizeof(ap__wire_task_track) == 40, "task track");
_Static_assert(offsetof(ap__wire_task_track, device) == 0, "task track");
_Static_assert(offsetof(ap__wire_task_track, stream) == 2, "task track");
_Static_assert(offsetof(ap__wire_task_track, task) == 4, "task track");
_Static_assert(offsetof(ap__wire_task_track, batch) == 6, "task track");
_Static_assert(offsetof(ap__wire_task_track, task_type) == 8, "task track");
_Static_assert(offsetof(ap__wire_task_track, kernel_name) == 16, "task track");
_Static_assert(offsetof(ap__wire_task_track, extension) == 24, "task track");
_Static_assert(sizeof(ap__wire_task_track_v2) == 40, "task track");
_Static_assert(offsetof(ap__wire_task_track_v2, stream) == 4, "task track");
_Static_assert(offsetof(ap__wire_task_track_v2, task) == 8, "task track");
_Static_assert(offsetof(ap__wire_task_track_v2, kernel_name) == 16, "task track");
_Static_assert(sizeof(ap__wire_memcpy_info) == 18, "memcpy info");
_Static_assert(offsetof(ap__wire_memcpy_info, direction) == 16, "memcpy info");
_Static_assert(sizeof(ap__wire_node_basic) == 28, "node basic info");
_Static_assert(offsetof(ap__wire_node_basic, op_name) == 0, "node basic info");
_Static_assert(offsetof(ap__wire_node_basic, task_type) == 8, "node basic info");
_Static_assert(offsetof(ap__wire_node_basic, op_type) == 12, "node basic info");
_Static_assert(offsetof(ap__wire_node_basic, blocks) == 20, "node basic info");
_Static_assert(offsetof(ap__wire_node_basic, flags) == 24, "node basic info");

#endif
