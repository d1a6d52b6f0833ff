/* SPDX-License-Identifier: Apache-2.0 */
#include "format/wire_op.h"

uint32_t ap__crc32c(const void *bytes, size_t length)
{
    /* of the low four bits */
    static const uint32_t table[16] = {
        0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3,
        0x61C69362, 0x7198540D, 0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9,
        0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
    };
    const uint8_t *at = bytes;
    uint32_t crc = UINT32_MAX;

    for (; length > 0; length--, at++) {
        crc ^= *at;
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return crc;
}
