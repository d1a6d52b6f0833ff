/* SPDX-License-Identifier: Apache-2.0 */
/* `aclprof check` and `aclprof recover`. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader/recover.h"
#include "tool/check/check.h"
#include "tool/verbs.h"
#include "writer/json_build.h"

ap__reader *ap__verb_open(const char *verb, const char *path)
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(path, &error);

    if (reader == NULL) {
        fprintf(stderr, "aclprof %s: %s\n", verb, error.text);
    }
    return reader;
}

/* ---- check ---- */

#define AP_CODE_LOSSES 3
#define AP_CODE_DAMAGED 4
#define AP_CODE_UNNAMED 5

static const char *const ap__states[] = {"finished", "recovered", "unfinished", "running"};
static const char *const ap__grades[] = {"note", "name", "lost", "bad"};

static const char *ap__verdict(ap__check_grade worst)
{
    return worst == AP_CHECK_BAD       ? "damaged or unfinished"
           : worst == AP_CHECK_LOST    ? "whole, with losses"
           : worst == AP_CHECK_UNNAMED ? "whole, names are missing"
                                       : "whole";
}

static void ap__print_check(const ap__check *c, bool files)
{
    const ap__reader_account *a = ap__reader_account_of(c->reader);

    printf("%s: %s\n", ap__reader_path(c->reader), ap__states[ap__reader_state_of(c->reader)]);
    printf("      %" PRIu64 " host records, %" PRIu32 " devices, %" PRIu64 " device tasks, %" PRIu32
           " files\n",
           c->records, c->devices, c->tasks, c->file_count);
    if (a != NULL) {
        printf("      emitted %" PRIu64 " = written %" PRIu64 " + lost %" PRIu64 "\n",
               a->total.emitted, a->total.written, a->total.lostTotal);
    }
    for (uint32_t i = 0; files && i < c->file_count; i++) {
        const ap__check_file *f = &c->files[i];

        printf("file  %-64s %12" PRIu64 " bytes", f->name, f->bytes);
        if (f->record_bytes != 0) {
            printf(", %" PRIu64 " records of %" PRIu32, f->records, f->record_bytes);
        }
        printf("%s\n", f->done ? "" : ", no .done");
    }
    for (uint32_t i = 0; i < c->finding_count; i++) {
        printf("%-5s %s\n", ap__grades[c->findings[i].grade], c->findings[i].text);
    }
    if (c->findings_dropped != 0) {
        printf("      and %" PRIu64 " more\n", c->findings_dropped);
    }
    printf("%s\n", ap__verdict(ap__check_worst(c)));
}

/* One line. 0 or 1. */
static int ap__print_check_json(const ap__check *c)
{
    cJSON *root = cJSON_CreateObject();
    bool ok = root != NULL;
    cJSON *list = NULL;
    char *text = NULL;

    ap__json_u64(&ok, root, "version", 1);
    ap__json_text(&ok, root, "path", ap__reader_path(c->reader));
    ap__json_text(&ok, root, "state", ap__states[ap__reader_state_of(c->reader)]);
    ap__json_text(&ok, root, "verdict", ap__verdict(ap__check_worst(c)));
    ap__json_u64(&ok, root, "hostRecords", c->records);
    ap__json_u64(&ok, root, "devices", c->devices);
    ap__json_u64(&ok, root, "deviceTasks", c->tasks);
    list = ap__json_array(&ok, root, "findings");
    for (uint32_t i = 0; i < c->finding_count; i++) {
        cJSON *item = ap__json_item(&ok, list);

        ap__json_text(&ok, item, "grade", ap__grades[c->findings[i].grade]);
        ap__json_text(&ok, item, "text", c->findings[i].text);
    }
    ap__json_u64(&ok, root, "moreFindings", c->findings_dropped);
    list = ap__json_array(&ok, root, "files");
    for (uint32_t i = 0; i < c->file_count; i++) {
        const ap__check_file *f = &c->files[i];
        cJSON *item = ap__json_item(&ok, list);

        ap__json_text(&ok, item, "name", f->name);
        ap__json_u64(&ok, item, "bytes", f->bytes);
        ap__json_u64(&ok, item, "recordBytes", f->record_bytes);
        ap__json_u64(&ok, item, "records", f->records);
        ap__json_u64(&ok, item, "badRecords", f->bad);
        ap__json_u64(&ok, item, "tornBytes", f->torn);
        ap__json_bool(&ok, item, "done", f->done);
    }
    text = ap__json_print(ok, root);
    if (text == NULL) {
        fprintf(stderr, "aclprof check: no memory\n");
        return 1;
    }
    puts(text);
    cJSON_free(text);
    return 0;
}

static int ap__check_one(const char *path, bool json, bool files)
{
    ap__reader *reader = ap__verb_open("check", path);
    ap__check_grade worst = AP_CHECK_NOTE;
    ap__check c;
    int failed = 0;

    if (reader == NULL) {
        return 1;
    }
    ap__check_run(&c, reader);
    worst = ap__check_worst(&c);
    if (json) {
        failed = ap__print_check_json(&c);
    } else {
        ap__print_check(&c, files);
    }
    ap__check_free(&c);
    ap__reader_close(reader);
    return failed != 0 || fflush(stdout) != 0 ? 1
           : worst == AP_CHECK_BAD            ? AP_CODE_DAMAGED
           : worst == AP_CHECK_LOST           ? AP_CODE_LOSSES
           : worst == AP_CHECK_UNNAMED        ? AP_CODE_UNNAMED
                                              : 0;
}

static void ap__check_usage(FILE *out)
{
    fprintf(out,
            "Usage: aclprof check [options] PROF_DIR\n\n"
            "Reads every record and compares: each file with its records and its .done file, the\n"
            "dictionaries with what refers to them, the accounts with themselves and with what is\n"
            "there.\n\n"
            "  --files     tell of each file\n"
            "  --json      one line of JSON, with all files\n"
            "  -h, --help  print this\n\n"
            "Exit codes: 0 whole, 1 cannot be read, 2 wrong options, %d whole but records were\n"
            "lost, %d damaged or unfinished, %d whole but names are missing.\n",
            AP_CODE_LOSSES, AP_CODE_DAMAGED, AP_CODE_UNNAMED);
}

int ap__verb_check(int argc, char **argv)
{
    static const struct option names[] = {{"files", no_argument, NULL, 'f'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    bool json = false;
    bool files = false;
    int option = 0;

    optind = 0;
    while ((option = getopt_long(argc, argv, "h", names, NULL)) != -1) {
        switch (option) {
        case 'f':
            files = true;
            break;
        case 'j':
            json = true;
            break;
        case 'h':
            ap__check_usage(stdout);
            return 0;
        default:
            ap__check_usage(stderr);
            return 2;
        }
    }
    if (optind != argc - 1) {
        ap__check_usage(stderr);
        return 2;
    }
    return ap__check_one(argv[optind], json, files);
}

/* ---- recover ---- */

int ap__verb_recover(int argc, char **argv)
{
    ap__recover_report *report = NULL;
    char text[4096];
    int code = 0;

    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        printf("Usage: aclprof recover PROF_DIR\n\n"
               "Makes a normal directory of one whose process was killed: what was left in its "
               "rings\nis written, files are finished. Doing it again changes nothing.\n"
               "Exit codes: 0 whole now, 1 it could not be (nothing is lost), 2 wrong options.\n");
        return 0;
    }
    if (argc != 2 || argv[1][0] == '-') {
        fprintf(stderr, "Usage: aclprof recover PROF_DIR\n");
        return 2;
    }
    report = malloc(sizeof(*report));
    if (report == NULL) {
        fprintf(stderr, "aclprof recover: no memory\n");
        return 1;
    }
    code = ap__recover(argv[1], report);
    (void)ap__recover_report_text(report, text, sizeof(text));
    fputs(text, code == 0 ? stdout : stderr);
    ap__recover_report_free(report);
    free(report);
    return code == 0 ? 0 : 1;
}
