/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as JSON (--summary-format=json): of each CSV file a list of objects, from heading to
 * value. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/export.h"
#include "tool/json_events.h"
#include "tool/out_file.h"

#define AP_FIELDS 128u

/* What is being read: RFC 4180 as our writer has it. */
typedef struct ap__fields {
    char *text; /* of all fields of the row, NUL-terminated */
    size_t used;
    size_t room;
    size_t at[AP_FIELDS];
    bool quoted[AP_FIELDS];
    uint32_t count;
} ap__fields;

static int ap__put(ap__fields *f, char c)
{
    if (f->used == f->room) {
        size_t room = f->room != 0 ? f->room * 2 : 4096;
        char *bigger = realloc(f->text, room);

        if (bigger == NULL) {
            return ENOMEM;
        }
        f->text = bigger;
        f->room = room;
    }
    f->text[f->used++] = c;
    return 0;
}

/* The next row; 0, ENODATA at the end, or ENOMEM. */
static int ap__next_row(FILE *file, ap__fields *f)
{
    bool quotes = false;
    bool begins = true;
    int c = getc(file);

    f->used = 0;
    f->count = 0;
    if (c == EOF) {
        return ENODATA;
    }
    for (;; c = getc(file)) {
        bool ends = c == EOF || (!quotes && (c == ',' || c == '\n'));

        if (begins && f->count == AP_FIELDS) {
            return E2BIG;
        }
        if (begins) {
            f->quoted[f->count] = c == '"';
            f->at[f->count++] = f->used;
            begins = false;
            if (c == '"') {
                quotes = true;
                continue;
            }
        }
        if (quotes && c == '"') {
            int next = getc(file);

            if (next != '"') {
                quotes = false;
                if (next != EOF) {
                    ungetc(next, file);
                }
                continue;
            }
        }
        if (ap__put(f, ends ? '\0' : (char)c) != 0) {
            return ENOMEM;
        }
        if (c == EOF || (ends && c == '\n')) {
            return 0;
        }
        begins = ends;
    }
}

/* "-12.5", "7": as JSON has numbers, and short enough for a double to hold. */
static bool ap__is_number(const char *text)
{
    size_t length = strlen(text);
    size_t whole = 0;
    const char *p = text + (text[0] == '-');

    whole = strspn(p, "0123456789");
    if (whole == 0 || (whole > 1 && p[0] == '0') || length > 15) {
        return false;
    }
    p += whole;
    if (*p == '.') {
        size_t rest = strspn(p + 1, "0123456789");

        p += rest != 0 ? rest + 1 : 0;
    }
    return *p == '\0';
}

static void ap__value(ap__out *o, ap__fields *row, uint32_t i)
{
    char *text = row->text + row->at[i];
    size_t length = strlen(text);

    if (length > 1 && text[length - 1] == '\t' && text[length - 2] >= '0' &&
        text[length - 2] <= '9') {
        text[length - 1] = '\0'; /* it keeps spreadsheets from rounding times */
    }
    if (!row->quoted[i] && ap__is_number(text)) {
        ap__out_text(o, text);
    } else {
        ap__json_string(o, text);
    }
}

static int ap__rows(FILE *file, ap__out *o, ap__fields *header, ap__fields *row)
{
    bool first = true;
    int rc = ap__next_row(file, header);

    ap__out_text(o, "[");
    while (rc == 0 && (rc = ap__next_row(file, row)) == 0) {
        ap__out_text(o, first ? "{" : ",\n{");
        first = false;
        for (uint32_t i = 0; i < row->count && i < header->count; i++) {
            ap__out_text(o, i != 0 ? "," : "");
            ap__json_string(o, header->text + header->at[i]);
            ap__out_text(o, ":");
            ap__value(o, row, i);
        }
        ap__out_text(o, "}");
    }
    ap__out_text(o, "]");
    return rc == ENODATA ? 0 : rc;
}

/* "op_summary_….csv" becomes "op_summary_….json", which `name` then is. */
static int ap__convert(ap__export *e, ap__out *o, char *name, size_t size)
{
    ap__fields header = {.text = NULL};
    ap__fields row = {.text = NULL};
    char made[96];
    int fd = openat(e->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    int rc = file != NULL ? 0 : errno;

    (void)snprintf(made, sizeof(made), "%.*s.json", (int)(strlen(name) - 4), name);
    rc = rc != 0 ? rc : ap__out_open(o, e->dir_fd, made);
    if (rc == 0) {
        rc = ap__rows(file, o, &header, &row);
        if (rc == 0) {
            rc = ap__out_finish(o);
        } else {
            ap__out_drop(o);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    } else if (fd >= 0) {
        (void)close(fd);
    }
    free(header.text);
    free(row.text);
    if (rc == 0) {
        (void)unlinkat(e->dir_fd, name, 0);
        (void)snprintf(name, size, "%s", made);
    } else {
        ap__export_failed(e, made, rc);
    }
    return rc;
}

int ap__export_tables_as_json(ap__export *e)
{
    ap__out *o = malloc(sizeof(*o));
    int first = o != NULL ? 0 : ENOMEM;

    for (uint32_t i = 0; o != NULL && i < e->file_count; i++) {
        size_t length = strlen(e->files[i]);

        if (length > 4 && strcmp(e->files[i] + length - 4, ".csv") == 0) {
            int rc = ap__convert(e, o, e->files[i], sizeof(e->files[i]));

            first = first != 0 ? first : rc;
        }
    }
    free(o);
    return first;
}
