/* SPDX-License-Identifier: Apache-2.0 */
/* What a configuration file says, as a config and settings. */
#ifndef AP_SESSION_COMMAND_PARSE_H_
#define AP_SESSION_COMMAND_PARSE_H_

#include <stdbool.h>

#include "session/command.h"
#include "session/registry.h"
#include "session/settings.h"

#define AP_DOMAINS_TEXT_MAX 1024u

typedef struct ap__command_config {
    bool on;
    char mstx_include[AP_DOMAINS_TEXT_MAX + 1]; /* domains with commas; "": all */
    char mstx_exclude[AP_DOMAINS_TEXT_MAX + 1];
    ap__config config;
    ap__settings settings; /* path: the output, "" when not told */
} ap__command_config;

/* false: with the last error set. Devices that the text names are in the config. */
bool ap__command_parse(ap__command_source source, const char *json, size_t length,
                       ap__command_config *out);

#endif
