/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that write the tables of tasks have in common. */
#ifndef AP_TOOL_DB_TASK_H_
#define AP_TOOL_DB_TASK_H_

#include "tool/db.h"

/* What the runtime calls a task: "KERNEL_AICORE"; NULL: unknown. */
const char *ap__db_host_type(const ap__model *m, const ap__track *track);
/* An AI CPU kernel that serves communication and is no operator of the user's. NULL is none. */
bool ap__db_is_communication_server(const char *op);
/* TASK_PMU_INFO; a task's global id is its index. */
void ap__db_counters(ap__db *db, const ap__model *m);
/* MEMCPY_INFO; of each track the call that submitted it (links.h) and the global id of its task. */
void ap__db_copies(ap__db *db, const ap__model *m, const uint32_t *links, const uint32_t *ids);

#endif
