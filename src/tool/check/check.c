/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/check/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ap__check_found(ap__check *c, ap__check_grade grade, const char *format, ...)
{
    ap__check_finding *f = NULL;
    va_list args;

    if (c->finding_count < AP_CHECK_FINDINGS) {
        void *bigger = realloc(c->findings, (c->finding_count + 1) * sizeof(*f));

        c->findings = bigger != NULL ? bigger : c->findings;
        f = bigger != NULL ? &c->findings[c->finding_count++] : NULL;
    }
    if (f == NULL) {
        /* the worst must not be among those that are dropped */
        f = c->finding_count != 0 ? &c->findings[c->finding_count - 1] : NULL;
        c->findings_dropped++;
        if (f == NULL || f->grade >= grade) {
            c->no_memory = c->no_memory || f == NULL;
            return;
        }
    }
    f->grade = grade;
    va_start(args, format);
    (void)vsnprintf(f->text, sizeof(f->text), format, args);
    va_end(args);
    for (unsigned char *p = (unsigned char *)f->text; *p != '\0'; p++) { /* names of files */
        *p = *p < 0x20 || *p == 0x7F ? '?' : *p;
    }
}

ap__check_grade ap__check_worst(const ap__check *c)
{
    ap__check_grade worst = c->no_memory ? AP_CHECK_BAD : AP_CHECK_NOTE;

    for (uint32_t i = 0; i < c->finding_count; i++) {
        worst = c->findings[i].grade > worst ? c->findings[i].grade : worst;
    }
    return worst;
}

static void ap__host_records(ap__check *c)
{
    ap__records *records =
        ap__records_open(c->reader, AP_RECORD_API | AP_RECORD_COMPACT | AP_RECORD_ADDITIONAL, NULL);
    ap__record_counts counts;
    ap__raw_record r;

    if (records == NULL) {
        ap__check_found(c, AP_CHECK_BAD, "no memory to read the host's records");
        return;
    }
    while (ap__records_next(records, &r)) {
    }
    ap__records_counts(records, &counts);
    ap__records_close(records);
    c->records = counts.records;
    if (counts.bad_records != 0 || counts.torn_bytes != 0 || counts.damaged_rings != 0) {
        ap__check_found(c, AP_CHECK_BAD,
                        "host: %" PRIu64 " damaged records, %" PRIu64 " torn bytes, %" PRIu64
                        " damaged rings",
                        counts.bad_records, counts.torn_bytes, counts.damaged_rings);
    }
}

static void ap__model_parts(ap__check *c)
{
    ap__model model;

    if (ap__model_load(&model, c->reader) != 0) {
        ap__check_found(c, AP_CHECK_BAD, "no memory for the devices' records");
        return;
    }
    c->devices = model.device_count;
    c->tasks = model.task_count;
    for (uint32_t i = 0; i < model.device_count; i++) {
        if (!model.devices[i].finished) {
            ap__check_found(c, AP_CHECK_BAD, "device_%" PRIu32 " has no end_info: aclprof recover",
                            model.devices[i].device);
        }
    }
    if (model.unfinished_tasks != 0) {
        ap__check_found(c, AP_CHECK_NOTE,
                        "%" PRIu64 " device tasks are cut by the capture's begin or end",
                        model.unfinished_tasks);
    }
    ap__check_files(c, model.devices, model.device_count);
    ap__check_names(c, &model);
    ap__model_free(&model);
}

void ap__check_run(ap__check *c, ap__reader *reader)
{
    ap__check_grade noted = AP_CHECK_BAD;

    memset(c, 0, sizeof(*c));
    c->reader = reader;
    if (ap__reader_state_of(reader) == AP_READER_UNFINISHED) {
        ap__check_found(c, AP_CHECK_BAD, "it was not finished: aclprof recover");
    }
    ap__host_records(c);
    ap__check_accounts(c);
    ap__model_parts(c);
    noted = ap__reader_state_of(reader) == AP_READER_RUNNING ? AP_CHECK_NOTE : AP_CHECK_BAD;
    for (uint32_t i = 0; ap__reader_note(reader, i) != NULL; i++) {
        ap__check_found(c, noted, "%s", ap__reader_note(reader, i));
    }
}

void ap__check_free(ap__check *c)
{
    free(c->findings);
    free(c->files);
    c->findings = NULL;
    c->files = NULL;
}
