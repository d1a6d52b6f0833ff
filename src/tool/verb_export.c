/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "tool/export.h"
#include "tool/verbs.h"

static void ap__usage(FILE *out)
{
    fprintf(
        out,
        "Usage: aclprof export [options] PROF_DIR\n\n"
        "Writes op_summary, op_statistic, task_time, api_statistic and msprof_tx (CSV) and the\n"
        "timeline (msprof_*.json) to PROF_DIR/mindstudio_profiler_output, as far as there are\n"
        "rows, or a Perfetto trace there; the database (msprof_*.db) goes to PROF_DIR itself.\n"
        "Device tasks are read of the\n"
        "910B class. Unfinished directories are exported as they are.\n\n"
        "  --output DIR   make mindstudio_profiler_output and the database there\n"
        "  --type T       text (csv and json, default), csv, json, db, pftrace or all\n"
        "  --replace      delete earlier exports there first\n"
        "  --guard        texts that a spreadsheet would run get an apostrophe in front\n"
        "  -h, --help     print this\n");
}

static bool ap__wanted(const char *type, const char *what)
{
    return strcmp(type, what) == 0 || strcmp(type, "all") == 0 ||
           (strcmp(type, "text") == 0 && (strcmp(what, "csv") == 0 || strcmp(what, "json") == 0));
}

static bool ap__is_type(const char *type)
{
    static const char *const types[] = {"text", "all", "csv", "json", "db", "pftrace"};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(type, types[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int ap__open(ap__export *e, const char *prof_dir, const char *output, const char *type)
{
    return strcmp(type, "db") == 0 ? ap__export_open_base(e, prof_dir, output)
                                   : ap__export_open(e, prof_dir, output);
}

static int ap__all(ap__export *e, const ap__model *m, const char *type)
{
    int failed = ap__wanted(type, "csv") && ap__export_tables(e, m) != 0;

    if (ap__wanted(type, "json")) {
        failed |= ap__json_timeline(e, m) != 0;
    }
    if (ap__wanted(type, "db")) {
        failed |= ap__db_export(e, m) != 0;
    }
    if (ap__wanted(type, "pftrace")) {
        failed |= ap__pftrace(e, m) != 0;
    }
    return failed;
}

static int ap__run(const char *path, const char *output, const char *type, bool replace, bool guard)
{
    ap__reader *reader = ap__verb_open("export", path);
    ap__model model;
    ap__export e;
    int code = 1;

    if (reader == NULL) {
        return 1;
    }
    if (ap__model_load(&model, reader) != 0) {
        fprintf(stderr, "aclprof export: no memory for the records of %s\n", path);
    } else {
        if (ap__open(&e, ap__reader_path(reader), output, type) == 0) {
            if (replace) {
                ap__export_remove_old(&e);
            }
            e.guard = guard;
            code = ap__all(&e, &model, type);
            for (uint32_t i = 0; i < e.file_count; i++) {
                printf("%s/%s\n", e.dir, e.files[i]);
            }
            if (e.database[0] != '\0') {
                printf("%s/%s\n", e.base, e.database);
            }
            ap__export_close(&e);
        }
        if (e.error[0] != '\0') {
            fprintf(stderr, "aclprof export: %s\n", e.error);
        }
        if (model.simulated) {
            fprintf(stderr, "aclprof export: the device data are simulated\n");
        }
        ap__model_free(&model);
    }
    for (uint32_t i = 0; ap__reader_note(reader, i) != NULL; i++) {
        fprintf(stderr, "aclprof export: %s\n", ap__reader_note(reader, i));
    }
    ap__reader_close(reader);
    return code;
}

int ap__verb_export(int argc, char **argv)
{
    static const struct option names[] = {
        {"output", required_argument, NULL, 'o'}, {"type", required_argument, NULL, 't'},
        {"replace", no_argument, NULL, 'r'},      {"guard", no_argument, NULL, 'g'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    const char *output = NULL;
    const char *type = "text";
    bool replace = false;
    bool guard = false;
    int option = 0;

    optind = 0;
    while ((option = getopt_long(argc, argv, "h", names, NULL)) != -1) {
        switch (option) {
        case 'o':
            output = optarg;
            break;
        case 't':
            type = optarg;
            break;
        case 'r':
            replace = true;
            break;
        case 'g':
            guard = true;
            break;
        case 'h':
            ap__usage(stdout);
            return 0;
        default:
            ap__usage(stderr);
            return 2;
        }
    }
    if (!ap__is_type(type)) {
        fprintf(stderr,
                "aclprof export: --type is '%s'; it can be text, csv, json, db, pftrace or all\n",
                type);
        return 2;
    }
    if (optind != argc - 1) {
        ap__usage(stderr);
        return 2;
    }
    return ap__run(argv[optind], output, type, replace, guard);
}
