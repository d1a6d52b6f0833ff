/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AP_READER_PROCESS_H_
#define AP_READER_PROCESS_H_

#include <stdbool.h>
#include <stdint.h>

/* true when the process `pid` of this machine was already there at `since_wall_us` (wall clock,
 * 0: not known) and still lives. */
bool ap__process_lives(uint32_t pid, uint64_t since_wall_us);

#endif
