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

void ap__raw_stream_name(uint32_t flags, const char *type_name, char out[AP_RAW_NAME_MAX])
{
    static const char *const classes[] = {"api_event", "compact", "additional", "variable"};
    const char *aging = (flags & AP_RAW_AGING) != 0 ? "aging" : "unaging";
    const char *tag = ap__fit(type_name) ? type_name : "invalid";

    if ((flags & AP_RAW_CLASS) == AP_RAW_API) {
        tag = "data";
    } else if ((flags & AP_RAW_CLASS) == AP_RAW_VARIABLE) {
        tag = "capture_op_info";
        aging = "unaging";
    }
    (void)snprintf(out, AP_RAW_NAME_MAX, "%s.%s.%s", aging, classes[flags & AP_RAW_CLASS], tag);
}
