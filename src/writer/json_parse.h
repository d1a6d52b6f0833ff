/* SPDX-License-Identifier: Apache-2.0 */
/* cJSON's parser keeps the place of the last error in a global: all that the library parses in the
 * program's process goes through here, one at a time. */
#ifndef AP_WRITER_JSON_PARSE_H_
#define AP_WRITER_JSON_PARSE_H_

#include <stddef.h>

#include <cjson/cJSON.h>

/* As cJSON_ParseWithLength. */
cJSON *ap__json_parse(const char *text, size_t length);

/* Around fork: nobody parses meanwhile. */
void ap__json_lock(void);
void ap__json_unlock(void);

#endif
