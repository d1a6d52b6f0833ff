/* SPDX-License-Identifier: Apache-2.0 */
#include "format/raw_record.h"

#include <stdio.h>
#include <string.h>

static bool ap__fit(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t length = name != NULL ? strlen(name) : 0;

    return length != 0 && length < AP_RAW_TAG_MAX && strspn(name, allowed) == length;
}

const char *ap__raw_tag(uint32_t flags, const char *type_name)
{
    switch (flags & AP_RAW_CLASS) {
    case AP_RAW_API:
        return "data";
    case AP_RAW_VARIABLE:
        return "capture_op_info";
    default:
        return ap__fit(type_name) ? type_name : "invalid";
    }
}

void ap__raw_stream_name(uint32_t flags, const char *type_name, char out[AP_RAW_NAME_MAX])
{
    static const char *const classes[] = {"api_event", "compact", "additional", "variable"};
    const char *aging = (flags & AP_RAW_AGING) != 0 ? "aging" : "unaging";

    if ((flags & AP_RAW_CLASS) == AP_RAW_VARIABLE) {
        aging = "unaging";
    }
    (void)snprintf(out, AP_RAW_NAME_MAX, "%s.%s.%s", aging, classes[flags & AP_RAW_CLASS],
                   ap__raw_tag(flags, type_name));
}
