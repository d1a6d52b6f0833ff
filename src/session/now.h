/* SPDX-License-Identifier: Apache-2.0 */
/* What others may ask of the running capture without the session's lock. */
#ifndef AP_SESSION_NOW_H_
#define AP_SESSION_NOW_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begin and end of a capture. */
void ap__now_set(uint64_t data_types, const char *op_types, const char *path);
void ap__now_clear(void);

uint64_t ap__now_data_types(void); /* 0: nothing is captured */
/* Whether the operator is in the list of ACL_PROF_OPTYPE. */
bool ap__now_op_wanted(const char *op, size_t length);
/* Of the running or last capture; "" before one. Changes with the next. */
const char *ap__now_path(void);

/* fork: hold it over that */
void ap__now_lock(void);
void ap__now_unlock(void);

#endif
