/* SPDX-License-Identifier: Apache-2.0 */
/* Names of operators that records in a pipe refer to. They stay until the process ends, so that what
 * was read may be looked at later, and twice. Any thread; a child of fork inherits them. */
#ifndef AP_SUBSCRIBE_OP_NAMES_H_
#define AP_SUBSCRIBE_OP_NAMES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AP_OP_NAME_BYTES 256u /* longer ones are cut */

/* "MatMul_12" is an operator of the type "MatMul": how much of a name is the type. */
size_t ap__op_type_length(const char *name, size_t length);

/* Number of an operator, from 1; 0 without memory. type NULL: it is in the name. */
uint64_t ap__op_number(const char *name, const char *type);

/* Bytes of a name or type without its NUL, and as much of it as fits into out, always terminated.
 * 0: no such number. out may be NULL when size is 0. */
size_t ap__op_name(uint64_t number, char *out, size_t size);
size_t ap__op_type(uint64_t number, char *out, size_t size);

/* Around fork. */
void ap__op_names_lock(void);
void ap__op_names_unlock(void);

#endif
