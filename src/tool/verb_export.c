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
        "rows. Device tasks are read of the 910B class. Unfinished directories are exported as\n"
        "they are.\n\n"
        "  --output DIR   make mindstudio_profiler_output there\n"
        "  --type T       text (all, default), csv or json\n"
        "  --replace      delete earlier exports there first\n"
        "  --guard        texts that a spreadsheet would run get an apostrophe in front\n"
        "  -h, --help     print this\n");
}

static int ap__all(ap__export *e, const ap__model *m, const char *type)
{
    int failed = strcmp(type, "json") != 0 && ap__export_tables(e, m) != 0;

    if (strcmp(type, "csv") != 0) {
        failed |= ap__json_timeline(e, m) != 0;
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
        if (ap__export_open(&e, ap__reader_path(reader), output) == 0) {
            if (replace) {
                ap__export_remove_old(&e);
            }
            e.guard = guard;
            code = ap__all(&e, &model, type);
            for (uint32_t i = 0; i < e.file_count; i++) {
                printf("%s/%s\n", e.dir, e.files[i]);
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
    if (strcmp(type, "text") != 0 && strcmp(type, "csv") != 0 && strcmp(type, "json") != 0) {
        fprintf(stderr, "aclprof export: --type is '%s'; it can be text, csv or json\n", type);
        return 2;
    }
    if (optind != argc - 1) {
        ap__usage(stderr);
        return 2;
    }
    return ap__run(argv[optind], output, type, replace, guard);
}
