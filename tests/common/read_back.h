/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: reads back what a run has left, with the library's own reader. */
#ifndef AP_TESTS_READ_BACK_H_
#define AP_TESTS_READ_BACK_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

typedef struct read_back {
    ap__reader *reader;
    ap__stamp_record *stamps; /* texts are copies */
    size_t count;
} read_back;

/* Opens `dir`: a PROF_* directory, or one with exactly one PROF_* below it; loads all stamps.
 * NULL, with the reason on stderr, when it cannot be opened. */
read_back *read_back_open(const char *dir);
void read_back_close(read_back *back);

/* Stamps with this message; NULL: all. */
size_t read_back_count(const read_back *back, const char *message);
/* Stamps with this message and event (AP_TX_*). */
size_t read_back_count_event(const read_back *back, const char *message, uint32_t event);
/* The n-th (from 0) with this message, NULL when there are fewer. */
const ap__stamp_record *read_back_find(const read_back *back, const char *message, size_t n);
/* true when some note of the reader contains `text`. */
bool read_back_has_note(const read_back *back, const char *text);
/* emitted == written + lost by cause, in all and per thread, and written == stamps read. Writes
 * what is wrong to stderr. */
bool read_back_account_balances(const read_back *back);
/* Everything that the reader found wrong, to stderr. */
void read_back_print_notes(const read_back *back);

/* The only PROF_* directory below `dir` as a malloc'ed path; NULL: there are none or several. */
char *read_back_prof_path(const char *dir);

#endif
