/* SPDX-License-Identifier: Apache-2.0 */
/* Records that a model subscription writes to the program's pipe: little-endian, packed. */
#ifndef AP_FORMAT_WIRE_OP_H_
#define AP_FORMAT_WIRE_OP_H_

#include <stddef.h>
#include <stdint.h>

#define AP_OP_FLAG_OP 0u
#define AP_OP_FLAG_SUBGRAPH 1u
#define AP_OP_FLAG_THREAD 2u

typedef struct __attribute__((packed)) ap__wire_op {
    uint32_t signature; /* CRC-32C of what follows */
    uint32_t model;
    uint32_t flag;
    uint32_t thread;
    uint64_t op; /* of subscribe/op_names.h */
    uint64_t duration_us;
    uint64_t start_ns; /* device's clock */
    uint64_t end_ns;
    uint64_t execution_ns;
    uint64_t cube_ops;
    uint64_t vector_ops;
    uint32_t device;
    uint32_t padding;
} ap__wire_op;

_Static_assert(sizeof(ap__wire_op) == 80, "op");
_Static_assert(offsetof(ap__wire_op, model) == 4, "op");
_Static_assert(offsetof(ap__wire_op, flag) == 8, "op");
_Static_assert(offsetof(ap__wire_op, thread) == 12, "op");
_Static_assert(offsetof(ap__wire_op, op) == 16, "op");
_Static_assert(offsetof(ap__wire_op, duration_us) == 24, "op");
_Static_assert(offsetof(ap__wire_op, start_ns) == 32, "op");
_Static_assert(offsetof(ap__wire_op, end_ns) == 40, "op");
_Static_assert(offsetof(ap__wire_op, execution_ns) == 48, "op");
_Static_assert(offsetof(ap__wire_op, cube_ops) == 56, "op");
_Static_assert(offsetof(ap__wire_op, vector_ops) == 64, "op");
_Static_assert(offsetof(ap__wire_op, device) == 72, "op");
_Static_assert(offsetof(ap__wire_op, padding) == 76, "op");

/* CRC-32C (Castagnoli, reflected), all ones to begin with, not inverted at the end. */
uint32_t ap__crc32c(const void *bytes, size_t length);

static inline uint32_t ap__op_signature(const ap__wire_op *record)
{
    return ap__crc32c((const char *)record + sizeof(record->signature),
                      sizeof(*record) - sizeof(record->signature));
}

#endif
