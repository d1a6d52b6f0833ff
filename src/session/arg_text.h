/* SPDX-License-Identifier: Apache-2.0 */
/* Strings that callers pass with their length. */
#ifndef AP_SESSION_ARG_TEXT_H_
#define AP_SESSION_ARG_TEXT_H_

#include <stdbool.h>
#include <stddef.h>

/* Whether `length` is the string's: no NUL within, and none missing behind. The byte behind is
 * asked of the kernel, since a buffer without NUL may end where its mapping ends; one that cannot
 * be read counts as the end. */
bool ap__arg_length_fits(const char *text, size_t length);

#endif
