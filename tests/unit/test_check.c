/* SPDX-License-Identifier: Apache-2.0 */
/* What `aclprof check` finds in directories of the vendor's that somebody has changed. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <stdbool.h>

#include "scratch.h"
#include "tool/check/check.h"
#include "tool/verbs.h"

#define PROF "PROF_000001_20250101000000000_00004242CPNEIILO"
#define ACCOUNT(more, emitted, written, lost, full)                                                \
    "mkdir host/.aclprof; echo "                                                                   \
    "'{\"version\":1,\"state\":\"finished\",\"total\":{\"emitted\":" #emitted                      \
    ",\"written\":" #written ",\"lost_total\":" #lost ",\"lost_full\":" #full "}" more             \
    "}' >host/.aclprof/account.json"
#define DEVICES(fields, channel)                                                                   \
    ACCOUNT("", 65, 65, 0, 0)                                                                      \
    "; echo '{\"devices\":[{\"device\":0" fields                                                   \
    ",\"channels\":[{\"file\":\"stars_soc.data\"" channel "}]}]}' >host/.aclprof/devices.json"

static const struct {
    const char *change; /* shell, in the directory */
    ap__check_grade worst;
    const char *text;
} cases[] = {
    {":", AP_CHECK_NOTE, "no account"},
    {"rm host/data/aging.compact.task_track.slice_0.done", AP_CHECK_BAD,
     "host/data/aging.compact.task_track.slice_0 has no .done file"},
    {"printf x >>device_0/data/npu_mem.data.0.slice_0", AP_CHECK_BAD,
     "1 bytes that make no record of 32"},
    {"printf x >>device_0/data/npu_mem.data.0.slice_0", AP_CHECK_BAD, ".done file says"},
    {"echo >>host/info.json", AP_CHECK_BAD, "host/info.json has"},
    {"rm host/sample.json.done", AP_CHECK_BAD, "host/sample.json has no .done file"},
    {"cd host/data; for f in aging.compact.task_track.slice_0*; do mv $f ${f/slice_0/slice_2}; "
     "done",
     AP_CHECK_LOST, "slices before 2 are gone"},
    {"cd host/data; for f in aging.compact.task_track.slice_0*; do cp $f ${f/slice_0/slice_2}; "
     "done",
     AP_CHECK_BAD, "aging.compact.task_track: slices 1 to 1 are missing"},
    {"dd if=/dev/zero of=host/data/aging.compact.task_track.slice_0 bs=64 count=1 conv=notrunc "
     "2>/dev/null",
     AP_CHECK_BAD, "1 records without magic"},
    {"rm host/data/unaging.additional.hash_dic*", AP_CHECK_UNNAMED,
     "names and types of operators are not in hash_dic"},
    {"rm host/data/unaging.additional.hash_dic*", AP_CHECK_UNNAMED, "names of kernels"},
    {"rm host/data/unaging.additional.type_info_dic*", AP_CHECK_UNNAMED,
     "types of records are not in type_info_dic"},
    {"rm host/end_info*", AP_CHECK_BAD, "was not finished"},
    {"rm device_0/end_info*", AP_CHECK_BAD, "device_0 has no end_info"},
    {ACCOUNT("", 65, 65, 0, 0), AP_CHECK_NOTE, NULL},
    {ACCOUNT("", 70, 65, 5, 5), AP_CHECK_LOST, "5 of 70 records are lost"},
    {ACCOUNT("", 70, 65, 4, 4), AP_CHECK_BAD, "does not balance"},
    {ACCOUNT("", 70, 65, 5, 4), AP_CHECK_BAD, "does not balance"},
    {ACCOUNT("", 66, 66, 0, 0), AP_CHECK_BAD, "65 records are there, the account says 66"},
    {ACCOUNT(",\"threads\":[{\"tid\":9,\"emitted\":1,\"written\":2}]", 65, 65, 0, 0), AP_CHECK_BAD,
     "the account of thread 9"},
    {ACCOUNT(",\"threads\":[{\"tid\":9,\"emitted\":99,\"written\":99}]", 65, 65, 0, 0),
     AP_CHECK_BAD, "add up to more"},
    {DEVICES("", ",\"missingRecords\":7,\"tornBytes\":3"), AP_CHECK_LOST,
     "device 0, stars_soc.data: 7 records and 3 bytes are lost"},
    {DEVICES(",\"lost\":true", ""), AP_CHECK_LOST, "device 0 was lost"},
    {DEVICES(",\"agedBytes\":5", ""), AP_CHECK_LOST, "5 bytes were deleted"},
    {DEVICES("", ",\"duplicates\":2"), AP_CHECK_NOTE, "2 records twice"},
    {DEVICES("", ",\"state\":\"failed\""), AP_CHECK_NOTE, "did not start"},
    {DEVICES("", "") "; printf '{\"devices\":[' >host/.aclprof/devices.json", AP_CHECK_BAD,
     "devices.json is damaged or cut"},
};

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void shell(const char *format, ...)
{
    char command[4096];
    va_list args;

    va_start(args, format);
    assert_true(vsnprintf(command, sizeof(command), format, args) < (int)sizeof(command));
    va_end(args);
    if (system(command) != 0) {
        fail_msg("%s", command);
    }
}

/* The script has quotes of its own: it goes through a file. */
static void change(const scratch *s, const char *path, const char *text)
{
    char script[600];
    FILE *file = NULL;

    snprintf(script, sizeof(script), "%s/script", s->path);
    file = fopen(script, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    shell("cd '%s' && bash -e '%s'", path, script);
}

static void each_change_is_found(void **state)
{
    const scratch *s = *state;
    char path[700];

    shell("tar -xJf '%s/../data/golden.tar.xz' -C '%s' device_910b", AP_TEST_SOURCE_DIR, s->path);
    snprintf(path, sizeof(path), "%s/work/" PROF, s->path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ap__reader_error error;
        ap__reader *reader = NULL;
        ap__check c;
        bool found = cases[i].text == NULL;

        shell("cd '%s' && rm -rf work && mkdir work && cp -r device_910b/" PROF " work/", s->path);
        change(s, path, cases[i].change);
        reader = ap__reader_open(path, &error);
        assert_non_null(reader);
        ap__check_run(&c, reader);
        for (uint32_t k = 0; k < c.finding_count; k++) {
            found = found || strstr(c.findings[k].text, cases[i].text) != NULL;
        }
        if (!found || ap__check_worst(&c) != cases[i].worst) {
            for (uint32_t k = 0; k < c.finding_count; k++) {
                print_error("%d %s\n", (int)c.findings[k].grade, c.findings[k].text);
            }
            fail_msg("%s: %d, '%s'", cases[i].change, (int)ap__check_worst(&c), cases[i].text);
        }
        assert_true(c.records >= 50);
        ap__check_free(&c);
        ap__reader_close(reader);
    }
}

static void files_are_counted(void **state)
{
    const scratch *s = *state;
    ap__reader_error error;
    ap__reader *reader = NULL;
    ap__check c;
    char path[700];
    uint64_t records = 0;
    uint32_t known = 0;

    shell("tar -xJf '%s/../data/golden.tar.xz' -C '%s' device_910b_split", AP_TEST_SOURCE_DIR,
          s->path);
    snprintf(path, sizeof(path), "%s/device_910b_split/" PROF, s->path);
    reader = ap__reader_open(path, &error);
    assert_non_null(reader);
    ap__check_run(&c, reader);
    assert_true(c.file_count > 50);
    for (uint32_t i = 0; i < c.file_count; i++) {
        const ap__check_file *f = &c.files[i];

        assert_true(f->bad == 0 && f->torn == 0 && f->done);
        if (f->record_bytes != 0) {
            known++;
            assert_true(f->records <= f->bytes / f->record_bytes + 1);
        }
        if (strncmp(f->name, "host/data/", 10) == 0) {
            records += f->records;
        }
    }
    assert_true(known > 15);
    assert_int_equal(records, c.records);
    ap__check_free(&c);
    ap__reader_close(reader);
}

static void more_findings_than_are_kept(void **state)
{
    ap__check c = {0};

    (void)state;
    for (uint32_t i = 0; i < AP_CHECK_FINDINGS + 10; i++) {
        ap__check_found(&c, AP_CHECK_NOTE, "note %u\033", i);
    }
    assert_int_equal(c.finding_count, AP_CHECK_FINDINGS);
    assert_int_equal(c.findings_dropped, 10);
    assert_string_equal(c.findings[0].text, "note 0?");
    assert_int_equal(ap__check_worst(&c), AP_CHECK_NOTE);
    ap__check_found(&c, AP_CHECK_BAD, "bad");
    assert_int_equal(ap__check_worst(&c), AP_CHECK_BAD);
    ap__check_free(&c);
}

static void exit_codes(void **state)
{
    const scratch *s = *state;
    char path[700];
    char *check[] = {"check", path, NULL};
    char *json[] = {"check", "--json", path, NULL};
    char *files[] = {"check", "--files", path, NULL};
    char *wrong[] = {"check", "--wrong", path, NULL};
    char *none[] = {"check", NULL};

    shell("tar -xJf '%s/../data/golden.tar.xz' -C '%s' host_api", AP_TEST_SOURCE_DIR, s->path);
    snprintf(path, sizeof(path), "%s/host_api/" PROF, s->path);
    assert_int_equal(ap__verb_check(2, check), 0);
    assert_int_equal(ap__verb_check(3, json), 0);
    assert_int_equal(ap__verb_check(3, files), 0);
    assert_int_equal(ap__verb_check(3, wrong), 2);
    assert_int_equal(ap__verb_check(1, none), 2);
    shell("rm '%s'/host/data/unaging.additional.hash_dic*", path);
    assert_int_equal(ap__verb_check(2, check), 5);
    shell("rm '%s'/host/end_info", path);
    assert_int_equal(ap__verb_check(2, check), 4);
    shell("rm -r '%s'", path);
    assert_int_equal(ap__verb_check(2, check), 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_change_is_found),
        TEST(files_are_counted),
        cmocka_unit_test(more_findings_than_are_kept),
        TEST(exit_codes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
