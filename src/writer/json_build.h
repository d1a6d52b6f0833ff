/* SPDX-License-Identifier: Apache-2.0 */
/* Building one-line JSON files: failures of single additions are collected in *ok. */
#ifndef AP_WRITER_JSON_BUILD_H_
#define AP_WRITER_JSON_BUILD_H_

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

/* Text is made valid UTF-8. Integers are written digit by digit: exact beyond 2^53 and the same
 * in every locale. */
void ap__json_text(bool *ok, cJSON *object, const char *key, const char *text);
void ap__json_i64(bool *ok, cJSON *object, const char *key, int64_t value);
void ap__json_u64(bool *ok, cJSON *object, const char *key, uint64_t value);
void ap__json_bool(bool *ok, cJSON *object, const char *key, bool value);
/* A new array in an object; a new object at the end of an array. NULL after a failure. */
cJSON *ap__json_array(bool *ok, cJSON *object, const char *key);
cJSON *ap__json_item(bool *ok, cJSON *array);
cJSON *ap__json_object(bool *ok, cJSON *object, const char *key);

/* Prints on one line and deletes `root`. To be freed with cJSON_free; NULL when out of memory,
 * then or earlier. */
char *ap__json_print(bool ok, cJSON *root);

#endif
