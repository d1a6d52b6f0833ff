/* SPDX-License-Identifier: Apache-2.0 */
/* The id of a text in the vendor's dictionaries. */
#ifndef AP_FORMAT_HASH_H_
#define AP_FORMAT_HASH_H_

#include <stddef.h>
#include <stdint.h>

/* Two polynomial hashes of the bytes, taken as unsigned on every machine: step 29 in the high
 * word, step 131 in the low. Length 0 gives UINT64_MAX. */
uint64_t ap__hash_id(const char *text, size_t length);

#endif
