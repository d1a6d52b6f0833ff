/* SPDX-License-Identifier: Apache-2.0 */
/* A CSV file of an export, cut into slices beyond a number of rows; made with its first row. */
#ifndef AP_TOOL_CSV_H_
#define AP_TOOL_CSV_H_

#include <stdbool.h>

#include "tool/export.h"
#include "tool/out_file.h"

typedef struct ap__csv {
    ap__export *e;
    const char *type;   /* "op_summary" */
    const char *header; /* without the line end */
    bool open;
    bool sliced; /* there is more than one file to come */
    bool many;   /* rows */
    uint32_t slice;
    uint64_t rows; /* of the open file */
    bool first_field;
    ap__out out;
} ap__csv;

/* total_rows (0: not known, and then one file) tells whether there will be slices. NULL without memory. */
ap__csv *ap__csv_begin(ap__export *e, const char *type, const char *header, uint64_t total_rows);
void ap__csv_row(ap__csv *c);
/* Fields of the row; free text is quoted when RFC 4180 wants it. */
void ap__csv_text(ap__csv *c, const char *text); /* NULL: N/A */
void ap__csv_raw(ap__csv *c, const char *text);  /* as it is */
void ap__csv_u64(ap__csv *c, uint64_t value);
void ap__csv_us(ap__csv *c, uint64_t ns);        /* a duration */
void ap__csv_time(ap__csv *c, uint64_t ns);      /* a time: with the tab that keeps Excel from it */
/* Fixed with three decimals, zeros and a bare point cut: 12.5, 7, 0. */
void ap__csv_short(ap__csv *c, double value);
/* Rounded to three decimals, at least one: 12.5, 7.0. */
void ap__csv_round(ap__csv *c, double value);
/* The same with six decimals. */
void ap__csv_six(ap__csv *c, double value);
/* 0 or errno; frees. */
int ap__csv_end(ap__csv *c);
/* The same after rows that may have failed: then what there is of the open file is dropped. NULL is
 * ENOMEM. */
int ap__csv_finish(ap__csv *c, int rc);

#endif
