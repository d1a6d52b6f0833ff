/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that write the tables of tasks have in common. */
#ifndef AP_TOOL_DB_TASK_H_
#define AP_TOOL_DB_TASK_H_

#include "tool/db.h"

/* TASK_PMU_INFO; a task's global id is its index. */
void ap__db_counters(ap__db *db, const ap__model *m);
/* MEMCPY_INFO; of each track the call that submitted it (links.h) and the global id of its task. */
void ap__db_copies(ap__db *db, const ap__model *m, const uint32_t *links, const uint32_t *ids);

#endif
