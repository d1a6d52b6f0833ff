/* SPDX-License-Identifier: Apache-2.0 */
/* `aclprof check` and `aclprof recover`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model.h"
#include "reader/recover.h"
#include "tool/verbs.h"

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

#define AP_CHECK_LOSSES 3
#define AP_CHECK_DAMAGED 4

typedef struct ap__findings {
    uint64_t records;
    uint64_t unnamed; /* texts that the dictionaries lack */
    bool damaged;
    bool lossy;
} ap__findings;

static void ap__bad(ap__findings *f, const char *text)
{
    printf("bad   %s\n", text);
    f->damaged = true;
}

static void ap__check_records(ap__reader *reader, ap__findings *f)
{
    ap__records *records =
        ap__records_open(reader, AP_RECORD_API | AP_RECORD_COMPACT | AP_RECORD_ADDITIONAL, NULL);
    ap__record_counts counts;
    ap__raw_record r;
    char text[128];

    if (records == NULL) {
        ap__bad(f, "no memory");
        return;
    }
    while (ap__records_next(records, &r)) {
        f->unnamed += r.type_name == NULL;
    }
    ap__records_counts(records, &counts);
    ap__records_close(records);
    f->records = counts.records;
    if (counts.bad_records != 0 || counts.torn_bytes != 0 || counts.damaged_rings != 0) {
        (void)snprintf(text, sizeof(text),
                       "%" PRIu64 " damaged records, %" PRIu64 " torn bytes, %" PRIu64
                       " damaged rings",
                       counts.bad_records, counts.torn_bytes, counts.damaged_rings);
        ap__bad(f, text);
    }
    printf("      %" PRIu64 " host records, %" PRIu64 " of types without a name\n", f->records,
           f->unnamed);
}

static void ap__check_account(const ap__reader *reader, ap__findings *f)
{
    const ap__reader_account *a = ap__reader_account_of(reader);
    char text[160];

    if (a == NULL) {
        printf("      no account (not written by this library, or unfinished)\n");
        return;
    }
    printf("      emitted %" PRIu64 " = written %" PRIu64 " + lost %" PRIu64 "\n", a->total.emitted,
           a->total.written, a->total.lostTotal);
    if (a->total.emitted != a->total.written + a->total.lostTotal) {
        ap__bad(f, "the account does not balance");
    }
    if (a->total.written != f->records) {
        (void)snprintf(text, sizeof(text),
                       "%" PRIu64 " records are there, the account says %" PRIu64, f->records,
                       a->total.written);
        ap__bad(f, text);
    }
    f->lossy = a->total.lostTotal != 0;
}

static void ap__check_devices(ap__reader *reader, ap__findings *f)
{
    ap__model model;
    char text[128];

    if (ap__model_load(&model, reader) != 0) {
        ap__bad(f, "no memory for the devices' records");
        return;
    }
    for (uint32_t i = 0; i < model.device_count; i++) {
        printf("      device %" PRIu32 "%s\n", model.devices[i].device,
               model.devices[i].simulated ? " (simulated)" : "");
        if (!model.devices[i].finished) {
            (void)snprintf(text, sizeof(text), "device_%" PRIu32 " has no end_info",
                           model.devices[i].device);
            ap__bad(f, text);
        }
    }
    if (model.device_count != 0) {
        printf("      %" PRIu32 " device tasks, %" PRIu64 " cut by the capture's begin or end\n",
               model.task_count, model.unfinished_tasks);
    }
    ap__model_free(&model);
}

static int ap__check(const char *path)
{
    static const char *const states[] = {"finished", "recovered", "unfinished", "running"};
    ap__reader *reader = ap__verb_open("check", path);
    ap__findings f = {0};

    if (reader == NULL) {
        return 1;
    }
    printf("%s: %s\n", ap__reader_path(reader), states[ap__reader_state_of(reader)]);
    if (ap__reader_state_of(reader) == AP_READER_UNFINISHED) {
        ap__bad(&f, "it was not finished: aclprof recover");
    }
    ap__check_records(reader, &f);
    ap__check_account(reader, &f);
    ap__check_devices(reader, &f);
    for (uint32_t i = 0; ap__reader_note(reader, i) != NULL; i++) {
        printf("note  %s\n", ap__reader_note(reader, i));
        f.damaged = f.damaged || ap__reader_state_of(reader) != AP_READER_RUNNING;
    }
    ap__reader_close(reader);
    printf("%s\n", f.damaged ? "damaged or unfinished" : f.lossy ? "whole, with losses" : "whole");
    return f.damaged ? AP_CHECK_DAMAGED : f.lossy ? AP_CHECK_LOSSES : 0;
}

int ap__verb_check(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        printf("Usage: aclprof check PROF_DIR\n\n"
               "Reads every record and compares with the account and the dictionaries.\n"
               "Exit codes: 0 whole, 1 cannot be read, 2 wrong options, %d whole but records were\n"
               "lost, %d damaged or unfinished.\n",
               AP_CHECK_LOSSES, AP_CHECK_DAMAGED);
        return 0;
    }
    if (argc != 2 || argv[1][0] == '-') {
        fprintf(stderr, "Usage: aclprof check PROF_DIR\n");
        return 2;
    }
    return ap__check(argv[1]);
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
