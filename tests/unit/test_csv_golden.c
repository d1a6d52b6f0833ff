/* SPDX-License-Identifier: Apache-2.0 */
/* Our CSV files of the golden directories against those that the vendor's parser made of them: equal
 * but for the lines that are listed with a reason. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"
#include "tool/export.h"

#define PROF "PROF_000001_20250101000000000_00004242CPNEIILO"

typedef struct table {
    const char *directory;
    const char *reader; /* whose file: the compiled one's where it writes it */
    const char *type;
} table;

static const table tables[] = {
    {"device_910b", "exported_so", "op_summary"},
    {"device_910b", "exported_so", "op_statistic"},
    {"device_910b", "exported_so", "task_time"},
    {"device_910b", "exported_so", "api_statistic"},
    {"device_910b", "exported_py", "msprof_tx"},
    {"device_910b_split", "exported_so", "op_summary"},
    {"device_910b_split", "exported_so", "op_statistic"},
    {"device_910b_split", "exported_so", "task_time"},
    {"device_910b_split", "exported_so", "api_statistic"},
    {"device_910b_split", "exported_py", "msprof_tx"},
    {"host_api", "exported_so", "api_statistic"},
    {"host_api", "exported_py", "msprof_tx"},
    {"host_stamps_counter", "exported_py", "msprof_tx"},
    {"host_stamps_monotonic", "exported_py", "msprof_tx"},
};

/* Beginnings of lines that only one side has. */
static const struct {
    const char *type;
    const char *line;
    const char *why;
} different[] = {
    {"op_summary", "0,1,N/A,N/A,hcom_allReduce__483_0_1,",
     "communication operators as a whole are not joined yet"},
    {"msprof_tx", "0,4242,4243,N/A,marker_ex,N/A,N/A,1735689600005200.000",
     "the device's side of a mark is not joined yet"},
    {"msprof_tx", "host,4242,4243,N/A,marker_ex,N/A,N/A,1735689600005200.000", "the same, ours"},
};

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

static void compare(const char *root, const table *t)
{
    char path[4096];
    char ours[8192];
    char theirs[8192];
    FILE *a = NULL;
    FILE *b = NULL;
    unsigned lines = 0;
    bool more = true;

    snprintf(path, sizeof(path), "%s/out_%s/mindstudio_profiler_output", root, t->directory);
    a = open_table(path, t->type);
    snprintf(path, sizeof(path), "%s/%s/%s", root, t->directory, t->reader);
    b = open_table(path, t->type);
    if (a == NULL || b == NULL) {
        fail_msg("%s %s: ours %s, theirs %s", t->directory, t->type, a != NULL ? "there" : "missing",
                 b != NULL ? "there" : "missing");
    }
    while (more) {
        bool ours_more = next_line(a, t->type, ours, sizeof(ours));

        more = next_line(b, t->type, theirs, sizeof(theirs));
        if (more != ours_more || (more && strcmp(ours, theirs) != 0)) {
            fail_msg("%s %s, line %u:\nours   %s\ntheirs %s", t->directory, t->type, lines + 1,
                     ours_more ? ours : "(end)", more ? theirs : "(end)");
        }
        lines += more;
    }
    assert_true(lines > 1);
    fclose(a);
    fclose(b);
}

static void export(const char *root, const char *directory)
{
    static int (*const all[])(ap__export *, const ap__model *) = {
        ap__csv_op_summary, ap__csv_task_time, ap__csv_op_statistic, ap__csv_api_statistic,
        ap__csv_msprof_tx, ap__json_timeline};
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
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        assert_int_equal(all[i](&e, &model), 0);
    }
    assert_string_equal(e.error, "");
    ap__export_close(&e);
    ap__model_free(&model);
    ap__reader_close(reader);
}

static void test_tables(void **state)
{
    const char *root = ((scratch *)*state)->path;
    char command[4096];
    const char *last = "";

    snprintf(command, sizeof(command), "tar -xJf '%s/../data/golden.tar.xz' -C '%s'",
             AP_TEST_SOURCE_DIR, root);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        if (strcmp(last, tables[i].directory) != 0) {
            last = tables[i].directory;
            export(root, last);
        }
        compare(root, &tables[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tables, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
