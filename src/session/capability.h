/* SPDX-License-Identifier: Apache-2.0 */
/* Which chips have what: bits of dataTypeConfig, metrics, settings of aclprofSetConfig. */
#ifndef AP_SESSION_CAPABILITY_H_
#define AP_SESSION_CAPABILITY_H_

#include <stdbool.h>
#include <stdint.h>

/* Bits that aclprofStart knows, the internal one that aclprofCreateConfig adds among them. */
#define AP_AICPU_MODEL 0x4000000000000000ull
#define AP_KNOWN_BITS 0x4000000C0100FBFFull

/* The mask with what its bits imply. */
uint64_t ap__bits_expand(uint64_t requested);
/* Those of `data_types` that the chip does not have. */
uint64_t ap__bits_lacking(uint64_t data_types, int32_t chip);

bool ap__metric_known(int32_t metric);
bool ap__metric_on_chip(int32_t metric, int32_t chip);

/* Whether a device of this machine has the setting. Without a device: whether all chips, or the
 * host, have it. */
bool ap__setting_supported(int type);
/* Products that have the setting, for the text; NULL when all have. */
const char *ap__setting_chips(int type);
/* Highest frequency of ACL_PROF_SYS_HARDWARE_MEM_FREQ on this machine's devices. */
uint32_t ap__hardware_mem_max_hz(void);

#endif
