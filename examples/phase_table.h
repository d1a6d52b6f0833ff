/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the stamps of a PROF_* directory back and prints where the time went. Needs no library:
 * the records are read straight from the files. */
#ifndef PHASE_TABLE_H_
#define PHASE_TABLE_H_

#include <stdio.h>

/* The newest PROF_* directory of this process below `output`, for free(); NULL when there is
 * none. */
char *phase_table_find(const char *output);

/* Prints count and times of each name: push/pop spans indented under the span they lie in, then
 * ranges alike, and the number of marks. A name's share is that of all top-level time; a range
 * called `waiting` (may be NULL) is no work and has none.
 * Returns the number of records read; -1, with a line on stderr, when they cannot be read. */
long phase_table_print(FILE *out, const char *prof_dir, const char *waiting);

#endif
