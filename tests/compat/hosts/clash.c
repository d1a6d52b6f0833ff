/* SPDX-License-Identifier: Apache-2.0 */
/* clash DIRECTORY: a program with a libuv and a cJSON of its own, of which every function dies, in
 * the dynamic symbol table (compile with -rdynamic). Profiles; the library must not find them. */
#include <stdlib.h>

#include "capture.h"

#define OWN(name)                                        \
    __attribute__((visibility("default"))) int name(void); \
    int name(void)                                       \
    {                                                    \
        fprintf(stderr, "the library calls %s\n", #name); \
        _Exit(99);                                       \
    }

OWN(uv_loop_init)
OWN(uv_loop_close)
OWN(uv_loop_fork)
OWN(uv_run)
OWN(uv_now)
OWN(uv_update_time)
OWN(uv_hrtime)
OWN(uv_close)
OWN(uv_is_closing)
OWN(uv_async_init)
OWN(uv_async_send)
OWN(uv_timer_init)
OWN(uv_timer_start)
OWN(uv_timer_stop)
OWN(uv_thread_create)
OWN(uv_thread_join)
OWN(uv_backend_fd)
OWN(uv_walk)
OWN(uv_once)
OWN(uv_mutex_init)
OWN(uv_signal_init)
OWN(uv__io_start)
OWN(uv__io_poll)
OWN(uv__malloc)
OWN(uv__free)
OWN(cJSON_Parse)
OWN(cJSON_ParseWithOpts)
OWN(cJSON_ParseWithLength)
OWN(cJSON_Print)
OWN(cJSON_PrintUnformatted)
OWN(cJSON_CreateObject)
OWN(cJSON_CreateArray)
OWN(cJSON_CreateString)
OWN(cJSON_CreateNumber)
OWN(cJSON_AddItemToArray)
OWN(cJSON_AddItemToObject)
OWN(cJSON_AddStringToObject)
OWN(cJSON_AddNumberToObject)
OWN(cJSON_AddObjectToObject)
OWN(cJSON_AddArrayToObject)
OWN(cJSON_AddBoolToObject)
OWN(cJSON_AddRawToObject)
OWN(cJSON_GetObjectItem)
OWN(cJSON_GetObjectItemCaseSensitive)
OWN(cJSON_Delete)
OWN(cJSON_malloc)
OWN(cJSON_free)
OWN(cJSON_InitHooks)
/* the names that the library gives to its own parts */
OWN(ap__capture_open)
OWN(ap__session_start)
OWN(ap__drain_pass)

int main(int argc, char **argv)
{
    int step = argc == 2 ? capture(RTLD_DEFAULT, argv[1], "clash", 1000) : 77;

    if (step != 0) {
        fprintf(stderr, "clash: step %d\n", step);
    }
    return step;
}
