/* SPDX-License-Identifier: Apache-2.0 */
/* A whole result directory: reader, stamps, records, account, and what analysis makes of them. */
#include <assert.h>
#include <string.h>

#include "analysis/bulk.h"
#include "analysis/links.h"
#include "analysis/model.h"
#include "fuzz.h"
#include "tool/check/check.h"

static void read_stamps(ap__reader *reader)
{
    ap__stamp_record s;

    while (ap__reader_next_stamp(reader, &s)) {
        assert(s.message != NULL && strlen(s.message) == s.message_length);
        assert(s.segments != 0);
        (void)ap__reader_wall_ns(reader, s.start_ns);
        (void)ap__reader_category_name(reader, s.category);
    }
}

static void read_records(ap__reader *reader)
{
    ap__records *records =
        ap__records_open(reader, AP_RECORD_API | AP_RECORD_COMPACT | AP_RECORD_ADDITIONAL, NULL);
    ap__record_counts counts;
    ap__raw_record r;
    uint64_t seen = 0;
    uint8_t sum = 0;

    assert(records != NULL);
    while (ap__records_next(records, &r)) {
        assert(r.tag != NULL && r.payload.size <= r.record.size);
        for (size_t i = 0; i < r.payload.size; i++) {
            sum ^= r.payload.data[i];
        }
        seen++;
    }
    ap__records_counts(records, &counts);
    assert(counts.records == seen && sum == sum);
    ap__records_close(records);
}

static void analyse(ap__reader *reader)
{
    ap__model model;
    uint32_t *links = NULL;
    char name[256];

    assert(ap__model_load(&model, reader) == 0);
    for (uint32_t i = 0; i < model.task_count; i++) {
        const ap__task *t = &model.tasks[i];

        assert(t->device < model.device_count && t->start_ns <= t->end_ns);
        assert(t->track == AP_NONE || t->track < model.track_count);
        assert(t->counters == AP_NONE || t->counters < model.counters_count);
        assert(ap__task_type(&model, t) != NULL);
        (void)ap__task_name(&model, t);
        (void)ap__task_mhz(&model, t, true);
    }
    for (uint32_t i = 0; i < model.comm_op_count; i++) {
        ap__comm_op_name(&model, &model.comm_ops[i], name, sizeof(name));
    }
    links = ap__links_make(&model);
    for (uint32_t i = 0; links != NULL && i < model.track_count; i++) {
        assert(links[i] == AP_NONE || links[i] < model.call_count);
    }
    ap__bulk_free(links);
    ap__model_free(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(fuzz_tree(data, size), &error);
    ap__check check;

    if (reader == NULL) {
        assert(error.text[0] != '\0');
        return 0;
    }
    if (size % 2 != 0) { /* as for merging */
        ap__reader_align(reader, size % 4 == 1 ? -1000000 : INT64_MAX / 2);
    }
    read_stamps(reader);
    read_records(reader);
    analyse(reader);
    ap__check_run(&check, reader);
    assert(check.finding_count != 0 || check.files != NULL);
    ap__check_free(&check);
    for (uint32_t i = 0; ap__reader_note(reader, i) != NULL; i++) {
        assert(ap__reader_note(reader, i)[0] != '\0');
    }
    ap__reader_close(reader);
    return 0;
}
