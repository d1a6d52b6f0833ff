/* SPDX-License-Identifier: Apache-2.0 */
/* Our timelines of the golden directories against those that the vendor's parser made of them, as
 * sets of events: name, phase, process, thread, time, duration, category, arguments. Numbers that
 * no two runs agree on (connections, arrows) are compared by what they stand for. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <cjson/cJSON.h>
#include <dirent.h>
#include <fnmatch.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "scratch.h"
#include "tool/export.h"

#define PROF "PROF_000001_20250101000000000_00004242CPNEIILO"
#define MOST 600
#define LINE 900
#define MARKS 4000000001.0

/* of_python: of this chip the parser's Python half makes the timeline */
static const struct {
    const char *name;
    bool of_python;
} directories[] = {
    {"device_910", true}, {"device_910b", false},         {"device_910b_split", false},
    {"device_950", false}, {"host_api", false},           {"host_stamps_counter", false},
    {"host_stamps_monotonic", false},
};

static struct {
    char side; /* '+' ours, '-' theirs */
    const char *directory;
    const char *event; /* pattern */
    const char *why;
    unsigned used;
} different[] = {
    {'-', "*", "LLC|*", "what the eight events mean is not known: the golden values fit too much", 0},
    {'-', "device_910", "DDR|*", "bytes of a count are not known; the parser shows 0 throughout", 0},
    {'+', "*", "HBM|C|*", "bytes since the sample before", 0},
    {'-', "*", "HBM|C|*", "the parser shows 0 twice, then the third over the time of two", 0},
    {'+', "*", "HCCS|C|*|ts=1735689600060000.000|*", "the parser leaves out the last sample", 0},
    {'+', "*", "Ascend Hardware|X|MEMCPY_ASYNC|*size(B)=1048576*", "as the record has it", 0},
    {'-', "*", "Ascend Hardware|X|MEMCPY_ASYNC|*size(B)=0*", "the parser loses the size", 0},
    {'+', "device_950", "Ub|C|*|ts=17356896*", "the device's clock, converted", 0},
    {'-', "device_950", "Ub|C|*|ts=17363896*", "the parser adds the host's offset: 8 days late", 0},
    {'-', "device_910", "Ascend Hardware|X|MemcopyAsync|*", "is there as a task already", 0},
    {'+', "device_910", "Ascend Hardware|*|tid=70001|*", "70000 and the model, as on other chips", 0},
    {'-', "device_910", "Ascend Hardware|*|tid=74242|*", "the Python half adds the process", 0},
    {'-', "device_910", "CPU Usage|M|thread_name|*", "counters belong to no thread", 0},
    {'+', "device_910", "Communication|X|*relay=no*", "two more arguments, as on other chips", 0},
    {'-', "device_910", "Communication|X|*rank_size=2,}", "the Python half without them", 0},
};

typedef struct timeline {
    bool of_python;
    cJSON *events;
    char lines[MOST][LINE];
    unsigned count;
} timeline;

/* ---- what numbers stand for ---- */

static const char *text_of(const cJSON *event, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(event, key);

    return cJSON_IsString(item) ? item->valuestring : "";
}

static double number_of(const cJSON *event, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(event, key);

    return cJSON_IsNumber(item) ? item->valuedouble : cJSON_IsString(item)
                                                          ? strtod(item->valuestring, NULL)
                                                          : -1;
}

static const char *process_of(const timeline *t, double pid)
{
    const cJSON *e = NULL;

    cJSON_ArrayForEach(e, t->events)
    {
        if (strcmp(text_of(e, "name"), "process_name") == 0 && number_of(e, "pid") == pid) {
            return text_of(cJSON_GetObjectItemCaseSensitive(e, "args"), "name");
        }
    }
    fail_msg("process %.0f has no name", pid);
    return "";
}

/* The call with the connection. */
static void connection_text(const timeline *t, double id, char *out, size_t size)
{
    const cJSON *e = NULL;

    snprintf(out, size, "none");
    cJSON_ArrayForEach(e, t->events)
    {
        const cJSON *args = cJSON_GetObjectItemCaseSensitive(e, "args");

        if (strcmp(text_of(e, "ph"), "X") == 0 &&
            cJSON_GetObjectItemCaseSensitive(args, "Thread Id") != NULL &&
            number_of(args, "connection_id") == id) {
            snprintf(out, size, "%s@%s", text_of(e, "name"), text_of(e, "ts"));
        }
    }
}

/* The call that an arrow leaves: a launch, else one of the acl level. */
static void arrow_text(const timeline *t, const char *id, char *out, size_t size)
{
    const cJSON *from = NULL;
    const cJSON *e = NULL;
    bool launch = false;

    cJSON_ArrayForEach(e, t->events)
    {
        if (strcmp(text_of(e, "ph"), "s") == 0 && strcmp(text_of(e, "id"), id) == 0) {
            from = e;
        }
    }
    if (from == NULL) {
        fail_msg("arrow %s comes from nowhere", id);
    }
    out[0] = '\0';
    cJSON_ArrayForEach(e, t->events)
    {
        double ts = number_of(from, "ts");

        if (strcmp(text_of(e, "ph"), "X") == 0 && number_of(e, "pid") == number_of(from, "pid") &&
            number_of(e, "tid") == number_of(from, "tid") && number_of(e, "ts") <= ts &&
            number_of(e, "ts") + number_of(e, "dur") >= ts && !launch) {
            bool acl = strncmp(text_of(e, "name"), "AscendCL", 8) == 0;

            launch = strncmp(text_of(e, "name"), "Node", 4) == 0;
            if (launch || acl) {
                snprintf(out, size, "%s@%s", text_of(e, "name"), text_of(e, "ts"));
            }
        }
    }
    assert_string_not_equal(out, "");
}

/* ---- one event as a line ---- */

static void append(char *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char *line, const char *format, ...)
{
    size_t used = strlen(line);
    va_list args;

    va_start(args, format);
    assert_true(vsnprintf(line + used, LINE - used, format, args) < (int)(LINE - used));
    va_end(args);
}

static int by_key(const void *a, const void *b)
{
    return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

static void append_arguments(const timeline *t, char *line, const cJSON *args, bool counter)
{
    const cJSON *list[32];
    const cJSON *item = NULL;
    size_t count = 0;

    append(line, "{");
    cJSON_ArrayForEach(item, args)
    {
        assert_true(count < 32);
        list[count++] = item;
    }
    qsort(list, count, sizeof(list[0]), by_key);
    for (size_t i = 0; i < count; i++) {
        char text[300];

        if (strcmp(list[i]->string, "connection_id") == 0) {
            connection_text(t, list[i]->valuedouble, text, sizeof(text));
            append(line, "%s=%s,", list[i]->string, text);
        } else if (cJSON_IsString(list[i])) {
            append(line, "%s=%s,", list[i]->string, list[i]->valuestring);
        } else if (t->of_python && counter) { /* it rounds some of them */
            append(line, "%s=%.3f,", list[i]->string, list[i]->valuedouble);
        } else {
            append(line, "%s=%.12g,", list[i]->string, list[i]->valuedouble);
        }
    }
    append(line, "}");
}

static void append_arrow(const timeline *t, char *line, const cJSON *e)
{
    char text[300];
    double id = number_of(e, "id");

    if (strcmp(text_of(e, "cat"), "MsTx") == 0) {
        append(line, "|id=%.0f", t->of_python && id < MARKS ? id : id - MARKS);
        return;
    }
    snprintf(text, sizeof(text), "HostToDevice%s", text_of(e, "id"));
    assert_string_equal(text_of(e, "name"), text);
    arrow_text(t, text_of(e, "id"), text, sizeof(text));
    append(line, "|id=%s", text);
}

static void event_line(const timeline *t, const cJSON *e, char *line)
{
    const char *phase = text_of(e, "ph");
    bool arrow = phase[0] == 's' || phase[0] == 'f';

    line[0] = '\0';
    append(line, "%s|%s|%s", process_of(t, number_of(e, "pid")), phase,
           arrow ? text_of(e, "cat") : text_of(e, "name"));
    if (!t->of_python) {
        append(line, "|pid=%.0f", number_of(e, "pid"));
    }
    append(line, "|tid=%.0f", number_of(e, "tid"));
    if (phase[0] != 'M' && !(t->of_python && phase[0] == 's')) { /* there: when it was submitted */
        const cJSON *ts = cJSON_GetObjectItemCaseSensitive(e, "ts");

        append(line, "|ts=");
        if (cJSON_IsString(ts)) {
            append(line, "%s", ts->valuestring);
        } else {
            append(line, "%.3f", ts->valuedouble);
        }
    }
    if (phase[0] == 'X') {
        append(line, "|dur=%.9g|cat=%s", number_of(e, "dur"), text_of(e, "cat"));
    }
    if (arrow) {
        append_arrow(t, line, e);
        append(line, "|bp=%s", phase[0] == 'f' ? text_of(e, "bp") : "");
    }
    append(line, "|");
    append_arguments(t, line, cJSON_GetObjectItemCaseSensitive(e, "args"), phase[0] == 'C');
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void load(timeline *t, const char *path, bool of_python)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    const cJSON *e = NULL;
    unsigned kept = 0;

    assert_non_null(file);
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    fclose(file);
    t->of_python = of_python;
    t->count = 0;
    t->events = cJSON_Parse(text);
    if (!cJSON_IsArray(t->events)) {
        fail_msg("%s is no JSON list", path);
    }
    cJSON_ArrayForEach(e, t->events)
    {
        const char *name = text_of(e, "name");

        if (of_python && strstr(name, "_sort_index") != NULL) {
            continue; /* there devices' layers are numbered as they come */
        }
        assert_true(t->count < MOST);
        event_line(t, e, t->lines[t->count++]);
    }
    qsort(t->lines, t->count, LINE, by_text);
    for (unsigned i = 0; i < t->count; i++) { /* the parser repeats some: sets are compared */
        if (kept == 0 || strcmp(t->lines[kept - 1], t->lines[i]) != 0) {
            memmove(t->lines[kept++], t->lines[i], LINE);
        }
    }
    t->count = kept;
    free(text);
}

/* ---- the comparison ---- */

static void check_listed(char side, const char *directory, const char *file, const char *line)
{
    for (size_t i = 0; i < sizeof(different) / sizeof(different[0]); i++) {
        if (different[i].side == side && fnmatch(different[i].directory, directory, 0) == 0 &&
            fnmatch(different[i].event, line, 0) == 0) {
            different[i].used++;
            return;
        }
    }
    fail_msg("%s %s: only %s: %s", directory, file, side == '+' ? "ours" : "theirs", line);
}

static void compare(const char *directory, const char *file, const timeline *ours,
                    const timeline *theirs)
{
    unsigned i = 0;
    unsigned k = 0;
    unsigned same = 0;

    while (i < ours->count || k < theirs->count) {
        int order = i == ours->count     ? 1
                    : k == theirs->count ? -1
                                         : strcmp(ours->lines[i], theirs->lines[k]);

        if (order < 0) {
            check_listed('+', directory, file, ours->lines[i++]);
        } else if (order > 0) {
            check_listed('-', directory, file, theirs->lines[k++]);
        } else {
            same++;
            i++;
            k++;
        }
    }
    assert_true(same >= 2);
}

/* What readers rely on: torch_npu joins an arrow's end and the slice by pid, tid and the text of
 * ts; Perfetto wants the slice before the arrow. */
static void check_arrows(const timeline *t)
{
    const cJSON *e = NULL;

    cJSON_ArrayForEach(e, t->events)
    {
        const cJSON *slice = e->prev;
        const char *phase = text_of(e, "ph");

        if (phase[0] != 's' && phase[0] != 'f') {
            continue;
        }
        assert_string_equal(text_of(slice, "ph"), "X");
        assert_string_equal(text_of(slice, "ts"), text_of(e, "ts"));
        assert_true(number_of(slice, "pid") == number_of(e, "pid"));
        assert_true(number_of(slice, "tid") == number_of(e, "tid"));
    }
}

/* "<dir>/<type>_<14 digits>.json"; false: none. */
static bool find(const char *dir, const char *type, char *path, size_t size)
{
    DIR *list = opendir(dir);
    struct dirent *entry = NULL;
    size_t length = strlen(type);
    bool found = false;

    assert_non_null(list);
    while ((entry = readdir(list)) != NULL) {
        const char *rest = entry->d_name + length + 1;

        if (strncmp(entry->d_name, type, length) == 0 && entry->d_name[length] == '_' &&
            strspn(rest, "0123456789") == 14 && strcmp(rest + 14, ".json") == 0) {
            assert_false(found);
            found = true;
            snprintf(path, size, "%s/%s", dir, entry->d_name);
        }
    }
    closedir(list);
    return found;
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
    assert_int_equal(ap__export_open(&e, path, out), 0);
    assert_int_equal(ap__json_timeline(&e, &model), 0);
    assert_string_equal(e.error, "");
    ap__export_close(&e);
    ap__model_free(&model);
    ap__reader_close(reader);
}

static void test_timelines(void **state)
{
    static const char *const types[] = {"msprof", "msprof_tx", "step_trace"};
    const char *root = ((scratch *)*state)->path;
    timeline *ours = calloc(1, sizeof(*ours));
    timeline *theirs = calloc(1, sizeof(*theirs));
    char command[4096];
    unsigned files = 0;

    assert_non_null(ours);
    assert_non_null(theirs);
    snprintf(command, sizeof(command), "tar -xJf '%s/../data/golden.tar.xz' -C '%s'",
             AP_TEST_SOURCE_DIR, root);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
        export(root, directories[i].name);
        for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
            char dir[4096];
            char our_path[4200];
            char their_path[4200];
            bool made = false;

            snprintf(dir, sizeof(dir), "%s/out_%s/mindstudio_profiler_output", root,
                     directories[i].name);
            made = find(dir, types[k], our_path, sizeof(our_path));
            snprintf(dir, sizeof(dir), "%s/%s/exported_so", root, directories[i].name);
            assert_int_equal(made, find(dir, types[k], their_path, sizeof(their_path)));
            if (!made) {
                continue;
            }
            load(ours, our_path, directories[i].of_python);
            load(theirs, their_path, directories[i].of_python);
            compare(directories[i].name, types[k], ours, theirs);
            check_arrows(ours);
            cJSON_Delete(ours->events);
            cJSON_Delete(theirs->events);
            files++;
        }
    }
    assert_int_equal(files, 7 + 7 + 3);
    for (size_t i = 0; i < sizeof(different) / sizeof(different[0]); i++) {
        if (different[i].used == 0) { /* then the list is out of date */
            fail_msg("no event is %c %s", different[i].side, different[i].event);
        }
    }
    free(ours);
    free(theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_timelines, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
