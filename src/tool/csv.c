/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bulk.h"

#define AP_MANY_ROWS 50000u /* then it is worth a thread that writes */

ap__csv *ap__csv_begin(ap__export *e, const char *type, const char *header, uint64_t total_rows)
{
    ap__csv *c = calloc(1, sizeof(*c));

    if (c != NULL) {
        c->e = e;
        c->type = type;
        c->header = header;
        c->sliced = total_rows > e->slice_rows;
        c->many = total_rows > AP_MANY_ROWS;
        c->out.fd = -1;
    } else {
        ap__export_failed(e, type, ENOMEM);
    }
    return c;
}

static void ap__close_file(ap__csv *c)
{
    int rc = 0;

    ap__out_bytes(&c->out, "\n", 1);
    rc = ap__out_finish(&c->out);
    if (rc != 0) {
        ap__export_failed(c->e, c->out.name, rc);
        c->out.rc = rc;
    } else if (c->e->file_count < AP_EXPORT_FILES) {
        (void)snprintf(c->e->files[c->e->file_count++], sizeof(c->e->files[0]), "%s", c->out.name);
    }
    c->open = false;
}

static void ap__open_file(ap__csv *c)
{
    char name[96];
    int rc = 0;

    if (c->sliced) {
        (void)snprintf(name, sizeof(name), "%s_slice_%" PRIu32 "_%s.csv", c->type, c->slice++,
                       c->e->stamp);
    } else {
        (void)snprintf(name, sizeof(name), "%s_%s.csv", c->type, c->e->stamp);
    }
    rc = ap__out_open(&c->out, c->e->dir_fd, name);
    if (rc != 0) {
        ap__export_failed(c->e, name, rc);
    } else if (c->many) {
        ap__out_background(&c->out);
    }
    ap__out_text(&c->out, c->header);
    c->open = true;
    c->rows = 0;
}

void ap__csv_row(ap__csv *c)
{
    ap__bulk_step();
    if (c->open && c->sliced && c->rows == c->e->slice_rows) {
        ap__close_file(c);
    }
    if (!c->open) {
        ap__open_file(c);
    }
    ap__out_bytes(&c->out, "\n", 1);
    c->rows++;
    c->first_field = true;
}

static void ap__separate(ap__csv *c)
{
    if (!c->first_field) {
        ap__out_bytes(&c->out, ",", 1);
    }
    c->first_field = false;
}

void ap__csv_raw(ap__csv *c, const char *text)
{
    ap__separate(c);
    ap__out_text(&c->out, text);
}

void ap__csv_text(ap__csv *c, const char *text)
{
    bool formula = false;

    ap__separate(c);
    if (text == NULL) {
        ap__out_text(&c->out, "N/A");
        return;
    }
    formula = c->e->guard && strchr("=+-@\t\r", text[0]) != NULL && text[0] != '\0';
    if (strpbrk(text, ",\"\r\n") == NULL && !formula) {
        ap__out_text(&c->out, text);
        return;
    }
    ap__out_text(&c->out, formula ? "\"'" : "\"");
    for (const char *p = text; *p != '\0'; p++) {
        ap__out_bytes(&c->out, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    }
    ap__out_bytes(&c->out, "\"", 1);
}

void ap__csv_u64(ap__csv *c, uint64_t value)
{
    ap__separate(c);
    ap__out_u64(&c->out, value);
}

void ap__csv_us(ap__csv *c, uint64_t ns)
{
    ap__separate(c);
    ap__out_us(&c->out, ns);
}

void ap__csv_time(ap__csv *c, uint64_t ns)
{
    ap__csv_us(c, ns);
    ap__out_bytes(&c->out, "\t", 1);
}

/* Cuts zeros behind the point, down to `least` decimals. */
static void ap__cut_zeros(char *text, int least)
{
    char *point = strchr(text, '.');
    char *end = text + strlen(text);

    while (point != NULL && end - point - 1 > least && end[-1] == '0') {
        *--end = '\0';
    }
    if (point != NULL && least == 0 && end == point + 1) {
        *point = '\0';
    }
}

void ap__csv_short(ap__csv *c, double value)
{
    char text[352];

    (void)snprintf(text, sizeof(text), "%.3f", value);
    ap__cut_zeros(text, 0);
    ap__csv_raw(c, text);
}

void ap__csv_round(ap__csv *c, double value)
{
    double thousandths = floor(value * 1000.0 + 0.5);
    char text[352];

    if (thousandths >= 0 && thousandths < 9e15) { /* most of all fields: no printf */
        uint64_t whole = (uint64_t)thousandths / 1000;
        uint32_t rest = (uint32_t)((uint64_t)thousandths % 1000);
        size_t length = rest % 100 == 0 ? 1 : rest % 10 == 0 ? 2 : 3;

        text[0] = '.';
        text[1] = (char)('0' + rest / 100);
        text[2] = (char)('0' + rest / 10 % 10);
        text[3] = (char)('0' + rest % 10);
        ap__csv_u64(c, whole);
        ap__out_bytes(&c->out, text, length + 1);
        return;
    }
    (void)snprintf(text, sizeof(text), "%.3f", thousandths / 1000.0);
    ap__cut_zeros(text, 1);
    ap__csv_raw(c, text);
}

void ap__csv_six(ap__csv *c, double value)
{
    char text[352];

    (void)snprintf(text, sizeof(text), "%.6f", value);
    ap__cut_zeros(text, 1);
    ap__csv_raw(c, text);
}

int ap__csv_end(ap__csv *c)
{
    int rc = 0;

    if (!c->open && c->e->keep_empty && c->slice == 0) {
        ap__open_file(c);
    }
    if (c->open) {
        ap__close_file(c);
    }
    rc = c->out.rc;
    free(c);
    return rc;
}

int ap__csv_finish(ap__csv *c, int rc)
{
    if (c == NULL) {
        return ENOMEM;
    }
    if (rc == 0) {
        return ap__csv_end(c);
    }
    ap__export_failed(c->e, c->type, rc);
    if (c->open) {
        ap__out_drop(&c->out);
    }
    free(c);
    return rc;
}
