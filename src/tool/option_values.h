/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options that several verbs have. */
#ifndef AP_TOOL_OPTION_VALUES_H_
#define AP_TOOL_OPTION_VALUES_H_

#include <stdbool.h>
#include <stdint.h>

/* "1.5" seconds in milliseconds, at most 32 bits of them. */
bool ap__option_ms(const char *text, uint64_t *ms);

/* "0,2" or "all": bit i for device i. */
bool ap__option_devices(const char *text, uint64_t *mask);

#endif
