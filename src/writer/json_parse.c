/* SPDX-License-Identifier: Apache-2.0 */
#include "writer/json_parse.h"

#include <pthread.h>

static pthread_mutex_t ap__lock = PTHREAD_MUTEX_INITIALIZER;

void ap__json_lock(void)
{
    pthread_mutex_lock(&ap__lock);
}

void ap__json_unlock(void)
{
    pthread_mutex_unlock(&ap__lock);
}

cJSON *ap__json_parse(const char *text, size_t length)
{
    cJSON *root = NULL;

    ap__json_lock();
    root = cJSON_ParseWithLength(text, length);
    ap__json_unlock();
    return root;
}
