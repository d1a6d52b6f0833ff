/* SPDX-License-Identifier: Apache-2.0 */
/* Our CSV files of the golden directories against those that the vendor's parser made of them:
 * every table that is there, with the same columns, rows and cells, but for what is listed with a
 * reason. Two numbers are the same when their values are: the vendor's two programs write 30.0
 * and 30.000. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"
#include "tool/export.h"

#define PROF "PROF_000001_20250101000000000_00004242CPNEIILO"

static const char *const directories[] = {
    "device_910", "device_910b",         "device_910b_split",     "device_950",
    "host_api",   "host_stamps_counter", "host_stamps_monotonic",
};

/* Tables of theirs that we do not make. */
static const struct {
    const char *type;
    const char *why;
} missing[] = {
    {"llc_read_write", "what the eight events mean is not known: the golden values fit too much"},
    {"ddr", "bytes of a count are not known; the parser shows 0 throughout"},
};

/* Beginnings of lines that only one side has. */
static const struct {
    const char *type;
    const char *line;
    const char *why;
} different[] = {
    {"task_time", "0,MemcopyAsync,other,3,5,20,",
     "910 only: the copy is there as a task already; the parser shows it again from ts_track"},
    {"fusion_op", "host,,1,MatMul_2,",
     "the compiled parser leaves out the model's name, its Python half knows it"},
    {"fusion_op", "host,my_model,1,MatMul_2,", "the same, ours"},
    {"step_trace", "0,1,0.000\t,0.000\t,1735689600011100.000\t,1090.000,0.000,",
     "the compiled parser shows what is not known as 0"},
    {"step_trace", "0,1,N/A,N/A,1735689600011100.000\t,1090.000,N/A,N/A,N/A,1", "the same, ours"},
    {"step_trace", "0,1,N/A,N/A,1735689600011100.000\t,1090.0,N/A,N/A,N/A,1",
     "the Python half's N/A on the 910: equal but for the form of 1090"},
    {"hbm", "0,Average,0.763,0.763", "the parser shows 0 for the first two samples"},
    {"hbm", "0,0,0.763,0.763", "the same"},
    {"hbm", "0,1,0.763,0.763", "the same"},
    {"hbm", "0,Average,3.815,3.815", "ours: bytes since the sample before"},
    {"hbm", "0,0,3.815,3.815", "the same"},
    {"hbm", "0,1,3.815,3.815", "the same"},
    {"nic", "0,1735688600060000.000\t,", "a duration as a time, rates that no input explains"},
    {"nic", "0,1735689600060000.000\t,200000.0,0.0,11.5,0.25,0.0,0.0,21.5,0.2,0.0,0", "ours"},
    {"roce", "0,1735688600060000.000\t,", "as nic"},
    {"roce", "0,1735689600060000.000\t,200000.0,0.0,11.5,0.25,0.0,0.0,21.5,0.2,0.0,0", "ours"},
    {"ub", "0,1,17363896", "the parser adds the host's offset to the device's clock: 8 days late"},
    {"ub", "0,1,17356896", "the same, ours"},
};

/* First cells that are not the same. */
static const struct {
    const char *directory;
    const char *type;
    const char *ours;
    const char *theirs;
    const char *why;
} first_cells[] = {
    {"device_910", "api_statistic", "host", "0",
     "calls are the host's; the parser's Python half gives them to a device"},
};

static const char *why_missing(const char *type)
{
    for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
        if (strcmp(type, missing[i].type) == 0) {
            return missing[i].why;
        }
    }
    return NULL;
}

static bool is_listed(const char *type, const char *line)
{
    for (size_t i = 0; i < sizeof(different) / sizeof(different[0]); i++) {
        if (strcmp(type, different[i].type) == 0 &&
            strncmp(line, different[i].line, strlen(different[i].line)) == 0) {
            return true;
        }
    }
    return false;
}

/* "<dir>/<type>_<14 digits>.csv" */
static FILE *open_table(const char *dir, const char *type)
{
    DIR *list = opendir(dir);
    struct dirent *entry = NULL;
    char path[4096] = "";
    size_t length = strlen(type);

    assert_non_null(list);
    while ((entry = readdir(list)) != NULL) {
        if (strncmp(entry->d_name, type, length) == 0 && entry->d_name[length] == '_' &&
            strspn(entry->d_name + length + 1, "0123456789") == 14 &&
            strcmp(entry->d_name + length + 15, ".csv") == 0) {
            snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
        }
    }
    closedir(list);
    return path[0] != '\0' ? fopen(path, "r") : NULL;
}

/* The next line that is not listed, without its end; false: there is none. */
static bool next_line(FILE *file, const char *type, char *line, size_t size)
{
    while (fgets(line, (int)size, file) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        if (!is_listed(type, line)) {
            return true;
        }
    }
    return false;
}

/* The next cell, quotes and all but for a comma in them; NULL at the end. */
static char *cell(char **at)
{
    char *from = *at;
    bool quoted = false;
    char *p = from;

    if (from == NULL) {
        return NULL;
    }
    for (; *p != '\0' && (quoted || *p != ','); p++) {
        quoted ^= *p == '"';
    }
    *at = *p == ',' ? p + 1 : NULL;
    *p = '\0';
    return from;
}

static bool same_cell(const char *ours, const char *theirs)
{
    char *our_end = NULL;
    char *their_end = NULL;
    double x = strtod(ours, &our_end);
    double y = strtod(theirs, &their_end);

    if (strcmp(ours, theirs) == 0) {
        return true;
    }
    /* a time has 19 digits: those are compared as text */
    return our_end != ours && their_end != theirs && *our_end == '\0' && *their_end == '\0' &&
           strlen(ours) < 16 && fabs(x - y) <= 1e-9 * fabs(y);
}

static bool same_line(const char *directory, const char *type, const char *ours, const char *theirs)
{
    char *copies[2] = {strdup(ours), strdup(theirs)};
    char *a = copies[0];
    char *b = copies[1];
    bool same = true;

    assert_non_null(a);
    assert_non_null(b);
    for (bool first = true; same; first = false) {
        const char *x = cell(&a);
        const char *y = cell(&b);

        if (x == NULL || y == NULL) {
            same = x == NULL && y == NULL;
            break;
        }
        same = same_cell(x, y);
        for (size_t i = 0; first && i < sizeof(first_cells) / sizeof(first_cells[0]); i++) {
            same |= strcmp(directory, first_cells[i].directory) == 0 &&
                    strcmp(type, first_cells[i].type) == 0 && strcmp(x, first_cells[i].ours) == 0 &&
                    strcmp(y, first_cells[i].theirs) == 0;
        }
    }
    free(copies[0]);
    free(copies[1]);
    return same;
}

static void compare(const char *root, const char *directory, const char *reader, const char *type)
{
    char path[4096];
    char ours[8192];
    char theirs[8192];
    FILE *a = NULL;
    FILE *b = NULL;
    unsigned lines = 0;
    bool more = true;

    snprintf(path, sizeof(path), "%s/out_%s/mindstudio_profiler_output", root, directory);
    a = open_table(path, type);
    snprintf(path, sizeof(path), "%s/%s/%s", root, directory, reader);
    b = open_table(path, type);
    if (why_missing(type) != NULL) { /* else the list is out of date */
        assert_null(a);
        fclose(b);
        return;
    }
    if (a == NULL || b == NULL) {
        fail_msg("%s %s: ours %s, theirs %s", directory, type, a != NULL ? "there" : "missing",
                 b != NULL ? "there" : "missing");
    }
    while (more) {
        bool ours_more = next_line(a, type, ours, sizeof(ours));

        more = next_line(b, type, theirs, sizeof(theirs));
        if (more != ours_more || (more && !same_line(directory, type, ours, theirs))) {
            fail_msg("%s %s, line %u:\nours   %s\ntheirs %s", directory, type, lines + 1,
                     ours_more ? ours : "(end)", more ? theirs : "(end)");
        }
        lines += more;
    }
    assert_true(lines >= 1);
    fclose(a);
    fclose(b);
}

/* Every table of the reader; how many there are. */
static unsigned compare_all(const char *root, const char *directory, const char *reader)
{
    char path[4096];
    DIR *list = NULL;
    struct dirent *entry = NULL;
    unsigned count = 0;

    snprintf(path, sizeof(path), "%s/%s/%s", root, directory, reader);
    list = opendir(path);
    assert_non_null(list);
    while ((entry = readdir(list)) != NULL) {
        size_t length = strlen(entry->d_name);

        if (length > 19 && strcmp(entry->d_name + length - 4, ".csv") == 0) {
            entry->d_name[length - 19] = '\0';
            compare(root, directory, reader, entry->d_name);
            count++;
        }
    }
    closedir(list);
    return count;
}

static void export(const char *root, const char *directory)
{
    char path[4096];
    char out[4096];
    ap__reader_error error;
    ap__reader *reader = NULL;
    ap__model model;
    ap__export e;

    snprintf(path, sizeof(path), "%s/%s/" PROF, root, directory);
    snprintf(out, sizeof(out), "%s/out_%s", root, directory);
    assert_int_equal(mkdir(out, 0700), 0);
    reader = ap__reader_open(path, &error);
    assert_non_null(reader);
    assert_int_equal(ap__model_load(&model, reader), 0);
    assert_false(model.simulated);
    assert_int_equal(ap__export_open(&e, path, out), 0);
    assert_int_equal(ap__export_tables(&e, &model), 0);
    assert_int_equal(ap__json_timeline(&e, &model), 0);
    assert_string_equal(e.error, "");
    ap__export_close(&e);
    ap__model_free(&model);
    ap__reader_close(reader);
}

static void test_tables(void **state)
{
    const char *root = ((scratch *)*state)->path;
    char command[4096];
    unsigned count = 0;

    snprintf(command, sizeof(command), "tar -xJf '%s/../data/golden.tar.xz' -C '%s'",
             AP_TEST_SOURCE_DIR, root);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
        export(root, directories[i]);
        count += compare_all(root, directories[i], "exported_so");
    }
    assert_true(count > 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tables, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
