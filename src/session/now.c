/* SPDX-License-Identifier: Apache-2.0 */
#include "session/now.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "session/settings.h"

static pthread_mutex_t ap__mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t ap__data_types;
static char ap__op_types[AP_CONFIG_TEXT_MAX + 1]; /* under the lock, as the path */
static char ap__path[AP_PATH_MAX];

void ap__now_lock(void)
{
    pthread_mutex_lock(&ap__mutex);
}

void ap__now_unlock(void)
{
    pthread_mutex_unlock(&ap__mutex);
}

void ap__now_set(uint64_t data_types, const char *op_types, const char *path)
{
    ap__now_lock();
    (void)snprintf(ap__op_types, sizeof(ap__op_types), "%s", op_types);
    (void)snprintf(ap__path, sizeof(ap__path), "%s", path);
    ap__now_unlock();
    atomic_store_explicit(&ap__data_types, data_types, memory_order_release);
}

void ap__now_clear(void)
{
    atomic_store_explicit(&ap__data_types, 0, memory_order_release);
}

uint64_t ap__now_data_types(void)
{
    return atomic_load_explicit(&ap__data_types, memory_order_acquire);
}

bool ap__now_op_wanted(const char *op, size_t length)
{
    bool found = false;

    if (ap__now_data_types() == 0) {
        return false;
    }
    ap__now_lock();
    for (const char *at = ap__op_types; *at != '\0' && !found;) {
        size_t n = strcspn(at, ",");

        found = n == length && memcmp(at, op, n) == 0;
        at += n + (at[n] == ',');
    }
    ap__now_unlock();
    return found;
}

const char *ap__now_path(void)
{
    return ap__path;
}
