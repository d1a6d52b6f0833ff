/* SPDX-License-Identifier: Apache-2.0 */
/* The vendor's host records as they lie on disk: little-endian, packed. */
#ifndef AP_FORMAT_WIRE_HOST_H_
#define AP_FORMAT_WIRE_HOST_H_

#include <stddef.h>
#include <stdint.h>

#define AP_WIRE_MAGIC 0x5A5Au
#define AP_WIRE_EVENT_END UINT64_MAX /* in ap__wire_event.end: tells an event from an api record */

/* level of a record: which layer reports it */
#define AP_LEVEL_AICPU 6000u
#define AP_LEVEL_HCCL 5500u
#define AP_LEVEL_RUNTIME 5000u
#define AP_LEVEL_NODE 10000u
#define AP_LEVEL_MODEL 15000u
#define AP_LEVEL_ACL 20000u
#define AP_LEVEL_TX 20500u
#define AP_TYPE_TX 0u

/* ap__wire_tx.event_type */
#define AP_TX_MARK 0u
#define AP_TX_PUSH_POP 1u
#define AP_TX_RANGE 2u
#define AP_TX_MARK_EX 3u

#define AP_TX_INFO_STAMP 0u /* ap__wire_tx.info_type: a plain stamp */
#define AP_TX_INFO_EX 1u    /* with mark id, domain and segments (mstx, MarkEx) */
#define AP_TX_DATA_TAG 120u
#define AP_TX_DATA_BYTES 232u
#define AP_TX_MESSAGE_BYTES 156u

#define AP_WIRE_COMPACT_DATA 40u
#define AP_WIRE_ADDITIONAL_DATA 232u

typedef struct __attribute__((packed)) ap__wire_api {
    uint16_t magic;
    uint16_t level;
    uint32_t type;
    uint32_t thread_id;
    uint32_t reserved;
    uint64_t begin;
    uint64_t end;
    uint64_t item_id;
} ap__wire_api;

typedef struct __attribute__((packed)) ap__wire_event {
    uint16_t magic;
    uint16_t level;
    uint32_t type;
    uint32_t thread_id;
    uint32_t request_id;
    uint64_t time_stamp;
    uint64_t end; /* AP_WIRE_EVENT_END */
    uint64_t item_id;
} ap__wire_event;

typedef struct __attribute__((packed)) ap__wire_compact {
    uint16_t magic;
    uint16_t level;
    uint32_t type;
    uint32_t thread_id;
    uint32_t data_length;
    uint64_t time_stamp;
    uint8_t data[AP_WIRE_COMPACT_DATA];
} ap__wire_compact;

typedef struct __attribute__((packed)) ap__wire_additional {
    uint16_t magic;
    uint16_t level;
    uint32_t type;
    uint32_t thread_id;
    uint32_t data_length;
    uint64_t time_stamp;
    uint8_t data[AP_WIRE_ADDITIONAL_DATA];
} ap__wire_additional;

/* The data of an additional record of level AP_LEVEL_TX. */
typedef struct __attribute__((packed)) ap__wire_tx {
    uint16_t info_type;
    uint16_t segment;
    uint32_t reserved;
    uint16_t magic;
    uint16_t data_tag;
    uint32_t process_id;
    uint32_t thread_id;
    uint32_t category;
    uint32_t event_type;
    int32_t payload_type;
    uint64_t payload;
    uint64_t start_time;
    uint64_t end_time;
    uint64_t mark_id;
    uint64_t domain;
    int32_t message_type;
    char message[AP_TX_MESSAGE_BYTES]; /* NUL-terminated */
} ap__wire_tx;

#define AP_AT_(type, field, offset) \
    _Static_assert(offsetof(type, field) == (offset), #type "." #field)

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are little-endian");

_Static_assert(sizeof(ap__wire_api) == 40, "api record");
AP_AT_(ap__wire_api, magic, 0);
AP_AT_(ap__wire_api, level, 2);
AP_AT_(ap__wire_api, type, 4);
AP_AT_(ap__wire_api, thread_id, 8);
AP_AT_(ap__wire_api, reserved, 12);
AP_AT_(ap__wire_api, begin, 16);
AP_AT_(ap__wire_api, end, 24);
AP_AT_(ap__wire_api, item_id, 32);

_Static_assert(sizeof(ap__wire_event) == 40, "event record");
AP_AT_(ap__wire_event, magic, 0);
AP_AT_(ap__wire_event, level, 2);
AP_AT_(ap__wire_event, type, 4);
AP_AT_(ap__wire_event, thread_id, 8);
AP_AT_(ap__wire_event, request_id, 12);
AP_AT_(ap__wire_event, time_stamp, 16);
AP_AT_(ap__wire_event, end, 24);
AP_AT_(ap__wire_event, item_id, 32);

_Static_assert(sizeof(ap__wire_compact) == 64, "compact record");
AP_AT_(ap__wire_compact, magic, 0);
AP_AT_(ap__wire_compact, level, 2);
AP_AT_(ap__wire_compact, type, 4);
AP_AT_(ap__wire_compact, thread_id, 8);
AP_AT_(ap__wire_compact, data_length, 12);
AP_AT_(ap__wire_compact, time_stamp, 16);
AP_AT_(ap__wire_compact, data, 24);

_Static_assert(sizeof(ap__wire_additional) == 256, "additional record");
AP_AT_(ap__wire_additional, magic, 0);
AP_AT_(ap__wire_additional, level, 2);
AP_AT_(ap__wire_additional, type, 4);
AP_AT_(ap__wire_additional, thread_id, 8);
AP_AT_(ap__wire_additional, data_length, 12);
AP_AT_(ap__wire_additional, time_stamp, 16);
AP_AT_(ap__wire_additional, data, 24);

_Static_assert(sizeof(ap__wire_tx) == AP_TX_DATA_BYTES, "msproftx data");
AP_AT_(ap__wire_tx, info_type, 0);
AP_AT_(ap__wire_tx, segment, 2);
AP_AT_(ap__wire_tx, reserved, 4);
AP_AT_(ap__wire_tx, magic, 8);
AP_AT_(ap__wire_tx, data_tag, 10);
AP_AT_(ap__wire_tx, process_id, 12);
AP_AT_(ap__wire_tx, thread_id, 16);
AP_AT_(ap__wire_tx, category, 20);
AP_AT_(ap__wire_tx, event_type, 24);
AP_AT_(ap__wire_tx, payload_type, 28);
AP_AT_(ap__wire_tx, payload, 32);
AP_AT_(ap__wire_tx, start_time, 40);
AP_AT_(ap__wire_tx, end_time, 48);
AP_AT_(ap__wire_tx, mark_id, 56);
AP_AT_(ap__wire_tx, domain, 64);
AP_AT_(ap__wire_tx, message_type, 72);
AP_AT_(ap__wire_tx, message, 76);

#undef AP_AT_

#endif
