/* SPDX-License-Identifier: Apache-2.0 */
#include "writer/json_build.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/utf8.h"

void ap__json_text(bool *ok, cJSON *object, const char *key, const char *text)
{
    size_t length = strlen(text);
    char *clean = malloc(3 * length + 1);

    if (clean == NULL) {
        *ok = false;
        return;
    }
    clean[ap__utf8_clean(clean, 3 * length, text, length)] = '\0';
    if (cJSON_AddStringToObject(object, key, clean) == NULL) {
        *ok = false;
    }
    free(clean);
}

void ap__json_i64(bool *ok, cJSON *object, const char *key, int64_t value)
{
    char digits[24];

    (void)snprintf(digits, sizeof(digits), "%" PRId64, value);
    if (cJSON_AddRawToObject(object, key, digits) == NULL) {
        *ok = false;
    }
}

void ap__json_u64(bool *ok, cJSON *object, const char *key, uint64_t value)
{
    char digits[24];

    (void)snprintf(digits, sizeof(digits), "%" PRIu64, value);
    if (cJSON_AddRawToObject(object, key, digits) == NULL) {
        *ok = false;
    }
}

void ap__json_bool(bool *ok, cJSON *object, const char *key, bool value)
{
    if (cJSON_AddBoolToObject(object, key, value) == NULL) {
        *ok = false;
    }
}

cJSON *ap__json_array(bool *ok, cJSON *object, const char *key)
{
    cJSON *array = cJSON_AddArrayToObject(object, key);

    if (array == NULL) {
        *ok = false;
    }
    return array;
}

cJSON *ap__json_object(bool *ok, cJSON *object, const char *key)
{
    cJSON *inner = cJSON_AddObjectToObject(object, key);

    if (inner == NULL) {
        *ok = false;
    }
    return inner;
}

cJSON *ap__json_item(bool *ok, cJSON *array)
{
    cJSON *item = cJSON_CreateObject();

    if (item == NULL || array == NULL || !cJSON_AddItemToArray(array, item)) {
        cJSON_Delete(item);
        *ok = false;
        return NULL;
    }
    return item;
}

char *ap__json_print(bool ok, cJSON *root)
{
    char *text = ok && root != NULL ? cJSON_PrintUnformatted(root) : NULL;

    cJSON_Delete(root);
    return text;
}
