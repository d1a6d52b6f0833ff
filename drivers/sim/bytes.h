/* SPDX-License-Identifier: Apache-2.0 */
/* Little-endian numbers at offsets of a record. */
#ifndef AP_SIM_BYTES_H_
#define AP_SIM_BYTES_H_

#include <stdint.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the simulator copies numbers as they lie in memory"
#endif

static inline void ap__put16(unsigned char *record, unsigned offset, uint64_t value)
{
    memcpy(record + offset, &(uint16_t){(uint16_t)value}, 2);
}

static inline void ap__put32(unsigned char *record, unsigned offset, uint64_t value)
{
    memcpy(record + offset, &(uint32_t){(uint32_t)value}, 4);
}

static inline void ap__put64(unsigned char *record, unsigned offset, uint64_t value)
{
    memcpy(record + offset, &value, 8);
}

#endif
