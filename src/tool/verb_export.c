/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/export.h"
#include "tool/reports.h"
#include "tool/verbs.h"

typedef struct ap__order {
    const char *output;
    const char *type;
    const char *reports;
    bool summary;
    bool timeline;
    bool replace;
    bool guard;
    uint64_t layers;
    ap__choice choice;
} ap__order;

static void ap__usage(FILE *out)
{
    fprintf(
        out,
        "Usage: aclprof export [options] PATH…\n\n"
        "PATH is a PROF_* directory or one that holds some. Tables (CSV), the timeline\n"
        "(msprof_*.json, msprof_tx_*.json, step_trace_*.json) and a Perfetto trace go to\n"
        "mindstudio_profiler_output in it, the database (msprof_*.db) beside that. There is a\n"
        "file of each kind that the capture has data for. Read are 910, 910B and 950, this\n"
        "library's results and the vendor's; unfinished ones are exported as they are.\n\n"
        "  --output DIR       make the files below DIR; without a PATH it is what is read, as\n"
        "                     with `msprof --export=on --output=PROF_DIR`\n"
        "  --type T           text (csv and json, default), csv, json, db, pftrace or all\n"
        "  --summary          the tables only          --timeline   the timeline only\n"
        "  --reports FILE     {\"json_process\": {\"hbm\": false, …}}: layers of the timeline\n"
        "  --device N         only this device\n"
        "  --model-id M --iteration-id I [--iteration-count N]\n"
        "                     only these iterations of a model (4294967295: of any)\n"
        "  --replace          delete earlier exports there first\n"
        "  --guard            texts that a spreadsheet would run get an apostrophe in front\n"
        "  --clear            accepted: no intermediate files are made\n"
        "  --python-path FILE accepted: no Python is needed\n"
        "  -h, --help         print this\n\n"
        "Options may have =on or =off where msprof wants it. Files appear when they are whole;\n"
        "what cannot be read or written is named, the rest is made, and the exit code is 1.\n");
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

static int ap__open(ap__export *e, const char *prof_dir, const ap__order *order)
{
    return strcmp(order->type, "db") == 0 ? ap__export_open_base(e, prof_dir, order->output)
                                          : ap__export_open(e, prof_dir, order->output);
}

static int ap__all(ap__export *e, const ap__model *m, const char *type)
{
    bool csv = ap__wanted(type, "csv");
    bool json = ap__wanted(type, "json");
    bool db = ap__wanted(type, "db");
    bool pftrace = ap__wanted(type, "pftrace");
    int failed = 0;

    e->steps = (csv ? AP_EXPORT_TABLES : 0) + (json ? AP_EXPORT_LAYERS : 0) +
               (db ? AP_EXPORT_DATABASE : 0) + pftrace;
    failed = csv && ap__export_tables(e, m) != 0;
    if (json) {
        failed |= ap__json_timeline(e, m) != 0;
    }
    if (csv || json) {
        failed |= ap__export_readme(e) != 0;
    }
    if (db) {
        failed |= ap__db_export(e, m) != 0;
    }
    if (pftrace) {
        ap__export_progress(e, "Perfetto trace");
        failed |= ap__pftrace(e, m) != 0;
    }
    ap__export_progress(e, NULL);
    return failed;
}

static int ap__write(ap__reader *reader, const ap__model *m, const ap__order *order)
{
    ap__export *e = malloc(sizeof(*e));
    int code = 1;

    if (e == NULL) {
        fprintf(stderr, "aclprof export: no memory\n");
        return 1;
    }
    if (ap__open(e, ap__reader_path(reader), order) == 0) {
        if (order->replace) {
            ap__export_remove_old(e);
        }
        e->guard = order->guard;
        e->layers = order->layers;
        e->progress = isatty(STDERR_FILENO) != 0;
        code = ap__all(e, m, order->type);
        for (uint32_t i = 0; i < e->file_count; i++) {
            printf("%s/%s\n", e->dir, e->files[i]);
        }
        if (e->database[0] != '\0') {
            printf("%s/%s\n", e->base, e->database);
        }
        ap__export_close(e);
    }
    if (e->error[0] != '\0') {
        fprintf(stderr, "aclprof export: %s\n", e->error);
    }
    free(e);
    return code;
}

static int ap__directory(const char *path, const ap__order *order)
{
    ap__reader *reader = ap__verb_open("export", path);
    ap__model model;
    int code = 1;
    int rc = 0;

    if (reader == NULL) {
        return 1;
    }
    rc = ap__model_load_part(&model, reader, &order->choice);
    if (rc == ENOENT) {
        fprintf(stderr, "aclprof export: %s has no such device or iteration\n", path);
    } else if (rc != 0) {
        fprintf(stderr, "aclprof export: no memory for the records of %s\n", path);
    } else {
        code = ap__write(reader, &model, order);
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

static int ap__is_prof(const struct dirent *entry)
{
    return strncmp(entry->d_name, "PROF_", 5) == 0;
}

/* A result, or all that lie in the directory: one that cannot be read stops no other. */
static int ap__path(const char *path, const ap__order *order)
{
    struct dirent **list = NULL;
    char child[4352];
    int count = 0;
    int code = 0;

    if (snprintf(child, sizeof(child), "%s/host", path) < (int)sizeof(child) &&
        access(child, F_OK) != 0) {
        count = scandir(path, &list, ap__is_prof, alphasort);
    }
    if (count < 2) { /* the reader finds a single one, and says what is wrong */
        code = ap__directory(path, order);
    } else if (order->output != NULL) {
        fprintf(stderr, "aclprof export: %s holds %d results: --output would mix them\n", path,
                count);
        code = 1;
    }
    for (int i = 0; i < count; i++) {
        if (count >= 2 && order->output == NULL) {
            (void)snprintf(child, sizeof(child), "%s/%s", path, list[i]->d_name);
            code |= ap__directory(child, order);
        }
        free(list[i]);
    }
    free(list);
    return code;
}

/* ---- options ---- */

/* "on", "off" or nothing. */
static bool ap__switch(const char *option, const char *value, bool *out)
{
    *out = value == NULL || strcmp(value, "off") != 0;
    if (value != NULL && strcmp(value, "on") != 0 && strcmp(value, "off") != 0) {
        fprintf(stderr, "aclprof export: %s is '%s'; it can be on or off\n", option, value);
        return false;
    }
    return true;
}

static bool ap__number(const char *option, const char *value, uint64_t max, int64_t *out)
{
    char *end = NULL;
    unsigned long long number = strtoull(value, &end, 10);

    if (end == value || *end != '\0' || value[0] == '-' || number > max) {
        fprintf(stderr, "aclprof export: %s is '%s'; it must be a number up to %" PRIu64 "\n",
                option, value, max);
        return false;
    }
    *out = (int64_t)number;
    return true;
}

static bool ap__option(int option, ap__order *order)
{
    bool ignored = false;
    int64_t count = 0;

    switch (option) {
    case 'o':
        order->output = optarg;
        return true;
    case 't':
        order->type = optarg;
        return true;
    case 'R':
        order->reports = optarg;
        return true;
    case 's':
        return ap__switch("--summary", optarg, &order->summary);
    case 'l':
        return ap__switch("--timeline", optarg, &order->timeline);
    case 'r':
        return ap__switch("--replace", optarg, &order->replace);
    case 'g':
        return ap__switch("--guard", optarg, &order->guard);
    case 'c':
        return ap__switch("--clear", optarg, &ignored);
    case 'e':
        return ap__switch("--export", optarg, &ignored);
    case 'p': /* --python-path */
        return true;
    case 'd':
        return ap__number("--device", optarg, 1023, &order->choice.device);
    case 'm':
        return ap__number("--model-id", optarg, UINT32_MAX, &order->choice.model);
    case 'i':
        return ap__number("--iteration-id", optarg, INT64_MAX, &order->choice.iteration);
    case 'n':
        if (!ap__number("--iteration-count", optarg, UINT32_MAX, &count)) {
            return false;
        }
        order->choice.count = (uint32_t)count;
        return true;
    default:
        ap__usage(stderr);
        return false;
    }
}

static bool ap__check(ap__order *order)
{
    char error[1400];

    if (!ap__is_type(order->type)) {
        fprintf(stderr,
                "aclprof export: --type is '%s'; it can be text, csv, json, db, pftrace or all\n",
                order->type);
        return false;
    }
    if (order->summary != order->timeline) {
        order->type = order->summary ? "csv" : "json";
    }
    if ((order->choice.model >= 0) != (order->choice.iteration >= 0)) {
        fprintf(stderr, "aclprof export: --model-id and --iteration-id want each other\n");
        return false;
    }
    if (order->reports != NULL &&
        ap__reports_read(order->reports, &order->layers, error, sizeof(error)) != 0) {
        fprintf(stderr, "aclprof export: %s\n", error);
        return false;
    }
    return true;
}

int ap__verb_export(int argc, char **argv)
{
    static const struct option names[] = {
        {"output", required_argument, NULL, 'o'},
        {"type", required_argument, NULL, 't'},
        {"reports", required_argument, NULL, 'R'},
        {"summary", optional_argument, NULL, 's'},
        {"timeline", optional_argument, NULL, 'l'},
        {"replace", optional_argument, NULL, 'r'},
        {"guard", optional_argument, NULL, 'g'},
        {"clear", optional_argument, NULL, 'c'},
        {"export", optional_argument, NULL, 'e'},
        {"python-path", required_argument, NULL, 'p'},
        {"device", required_argument, NULL, 'd'},
        {"model-id", required_argument, NULL, 'm'},
        {"iteration-id", required_argument, NULL, 'i'},
        {"iteration-count", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    ap__order order = {.type = "text",
                       .layers = UINT64_MAX,
                       .choice = {.device = -1, .iteration = -1, .model = -1, .count = 1}};
    int option = 0;
    int code = 0;

    ap__db_one_thread();
    optind = 0;
    while ((option = getopt_long(argc, argv, "h", names, NULL)) != -1) {
        if (option == 'h') {
            ap__usage(stdout);
            return 0;
        }
        if (!ap__option(option, &order)) {
            return 2;
        }
    }
    if (!ap__check(&order)) {
        return 2;
    }
    if (optind == argc && order.output != NULL) { /* as msprof has it */
        const char *path = order.output;

        order.output = NULL;
        return ap__path(path, &order);
    }
    if (optind == argc || (argc - optind > 1 && order.output != NULL)) {
        ap__usage(stderr);
        return 2;
    }
    for (int i = optind; i < argc; i++) {
        code |= ap__path(argv[i], &order);
    }
    return code;
}
