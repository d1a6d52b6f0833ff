/* SPDX-License-Identifier: Apache-2.0 */
#include "session/settings_parse.h"

#include <string.h>

#define AP_STORAGE_MIN_MB 200u
#define AP_STORAGE_MAX_MB 4294967295u
#define AP_STORAGE_DIGITS 10u
#define AP_NTS_EVENTS 10u
#define AP_NTS_EVENT_MAX 65535u
#define AP_NTS_DIGITS 16u

/* Digits of the base only, at least one. No more than 19 may be passed, they cannot overflow. */
static bool ap__digits(const char *value, size_t length, unsigned base, uint64_t *out)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < length; i++) {
        char c = value[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : base;

        if (digit >= base) {
            return false;
        }
        sum = sum * base + digit;
    }
    *out = sum;
    return length != 0;
}

bool ap__parse_hz(const char *value, size_t length, uint32_t max, uint32_t *out)
{
    uint64_t hz = 0;
    size_t digits = 0;

    for (uint32_t rest = max; rest != 0; rest /= 10) {
        digits++;
    }
    if (length > digits || !ap__digits(value, length, 10, &hz) || hz == 0 || hz > max) {
        return false;
    }
    *out = (uint32_t)hz;
    return true;
}

bool ap__parse_storage_mb(const char *value, size_t length, uint64_t *out)
{
    uint64_t mb = 0;

    if (length < 2 || length > AP_STORAGE_DIGITS + 2 || memcmp(value + length - 2, "MB", 2) != 0 ||
        !ap__digits(value, length - 2, 10, &mb) || mb < AP_STORAGE_MIN_MB ||
        mb > AP_STORAGE_MAX_MB) {
        return false;
    }
    *out = mb;
    return true;
}

/* The next item of a comma list: bytes up to the comma or the end. */
static size_t ap__item(const char *value, size_t length, size_t at)
{
    const char *comma = memchr(value + at, ',', length - at);

    return comma != NULL ? (size_t)(comma - (value + at)) : length - at;
}

bool ap__parse_words(const char *value, size_t length, const char *const *names, size_t count,
                     uint32_t *bits)
{
    uint32_t found = 0;

    for (size_t at = 0; at <= length;) {
        size_t n = ap__item(value, length, at);
        size_t i = 0;

        while (i < count && (strlen(names[i]) != n || memcmp(names[i], value + at, n) != 0)) {
            i++;
        }
        if (i == count) {
            return false;
        }
        found |= 1u << i;
        at += n + 1;
    }
    *bits = found;
    return true;
}

static bool ap__listed(const char *list, size_t length, const char *item, size_t n)
{
    for (size_t at = 0; at < length;) {
        size_t m = ap__item(list, length, at);

        if (m == n && memcmp(list + at, item, n) == 0) {
            return true;
        }
        at += m + 1;
    }
    return false;
}

bool ap__parse_list(const char *value, size_t length, char *out)
{
    size_t used = 0;

    for (size_t at = 0; at <= length;) {
        size_t n = ap__item(value, length, at);

        if (n == 0) {
            return false;
        }
        at += n + 1;
    }
    for (size_t at = 0; at < length;) {
        size_t n = ap__item(value, length, at);

        if (!ap__listed(out, used, value + at, n)) {
            if (used != 0) {
                out[used++] = ',';
            }
            memcpy(out + used, value + at, n);
            used += n;
        }
        at += n + 1;
    }
    out[used] = '\0';
    return true;
}

static bool ap__nts_event(const char *item, size_t n)
{
    uint64_t event = 0;
    unsigned base = 10;

    if (n > 2 && item[0] == '0' && (item[1] == 'x' || item[1] == 'X')) {
        base = 16;
        item += 2;
        n -= 2;
    } else if (n > 1 && item[0] == '0') {
        base = 8;
    }
    return n <= AP_NTS_DIGITS && ap__digits(item, n, base, &event) && event <= AP_NTS_EVENT_MAX;
}

bool ap__parse_nts(const char *value, size_t length)
{
    static const char pipe[] = "PipeUtilization";
    static const char custom[] = "Custom:";
    size_t events = 0;

    if (length == sizeof(pipe) - 1 && memcmp(value, pipe, length) == 0) {
        return true;
    }
    if (length < sizeof(custom) - 1 || memcmp(value, custom, sizeof(custom) - 1) != 0) {
        return false;
    }
    for (size_t at = sizeof(custom) - 1; at <= length; events++) {
        size_t n = ap__item(value, length, at);

        if (!ap__nts_event(value + at, n)) {
            return false;
        }
        at += n + 1;
    }
    return events <= AP_NTS_EVENTS;
}
