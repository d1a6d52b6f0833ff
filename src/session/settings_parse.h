/* SPDX-License-Identifier: Apache-2.0 */
/* Grammar of the values of aclprofSetConfig. Values are `length` bytes without NUL. Each returns
 * false, and leaves its result as it was, for a value that does not follow it. */
#ifndef AP_SESSION_SETTINGS_PARSE_H_
#define AP_SESSION_SETTINGS_PARSE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 1 ... max, digits only, no more of them than max has. */
bool ap__parse_hz(const char *value, size_t length, uint32_t max, uint32_t *out);

/* 200 ... 4294967295 and "MB". */
bool ap__parse_storage_mb(const char *value, size_t length, uint64_t *out);

/* Comma list of words; bit i for names[i]. At least one, none empty. */
bool ap__parse_words(const char *value, size_t length, const char *const *names, size_t count,
                     uint32_t *bits);

/* Comma list without empty items; duplicates are dropped. `out` has length + 1 bytes. */
bool ap__parse_list(const char *value, size_t length, char *out);

/* "PipeUtilization", or "Custom:" and 1 ... 10 events 0 ... 65535 (decimal, 0x or 0 octal). */
bool ap__parse_nts(const char *value, size_t length);

#endif
