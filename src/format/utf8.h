/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting and repairing text: one bad byte makes the vendor's reader drop a whole slice. */
#ifndef AP_FORMAT_UTF8_H_
#define AP_FORMAT_UTF8_H_

#include <stdbool.h>
#include <stddef.h>

/* Length of the longest prefix of at most `max` bytes that does not end inside a character.
 * Bytes that belong to no character may be cut anywhere. */
size_t ap__utf8_cut(const char *s, size_t length, size_t max);

/* Whether ap__utf8_clean would change nothing. */
bool ap__utf8_is_clean(const char *s, size_t length);

/* Bytes that a byte may become in ap__utf8_clean, at most. */
#define AP_UTF8_GROWTH 3u

/* Copies text as valid UTF-8 of at most `cap` bytes, no NUL added: each invalid byte becomes
 * U+FFFD; cut at a character boundary. `src` and `dst` must not overlap. Returns bytes written. */
size_t ap__utf8_clean(char *dst, size_t cap, const char *src, size_t length);

#endif
