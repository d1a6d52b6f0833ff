/* SPDX-License-Identifier: Apache-2.0 */
/* The work that the golden directories tell of, done by simulated devices: our tables of it say what
 * the vendor's parser says of the golden ones, but for the time of day. */
#define _GNU_SOURCE
#include "journey.h"

#include <math.h>

#include "analysis/model.h"
#include "sim_runtime.h"
#include "tool/export.h"

#define ROWS 64u
#define COLUMNS 64u

/* A CSV file without quoted commas in the columns that are asked for. */
typedef struct table {
    char *text;
    char *cell[ROWS][COLUMNS];
    uint32_t columns;
    uint32_t rows; /* the heading is row 0 */
} table;

/* ---- the work ---- */

static const char device_lines[] = "0   3 1   aiv         30 8\n"
                                   "200 3 2   aic         55 20\n"
                                   "400 3 3   aicpu       80 1\n"
                                   "600 3 4   aiv         31 8\n"
                                   "800 3 5   memcpy      20 1\n"
                                   "900 7 101 memcpy      40 1\n"
                                   "950 7 102 notify_wait 15 1\n";

static const char kernel_lines[] = "kernel Add_1 30\n"
                                   "kernel MatMul_2 55\n"
                                   "kernel AiCpuOp_3 80\n"
                                   "kernel Add_4 31\n";

static aclprofConfig *begin(const char *dir)
{
    uint32_t device = 0;
    aclprofConfig *config = aclprofCreateConfig(
        &device, 1, ACL_AICORE_PIPE_UTILIZATION, NULL,
        ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS);

    assert_non_null(config);
    assert_ok(init_at(dir));
    assert_ok(aclprofStart(config));
    return config;
}

static void end(aclprofConfig *config)
{
    assert_ok(aclprofStop(config));
    assert_ok(aclprofDestroyConfig(config));
    assert_ok(aclprofFinalize());
}

static void of_devices(void **state)
{
    aclprofConfig *config = begin(*state);

    usleep(800000); /* it takes a millisecond, on a machine that is not busy */
    end(config);
}

static void of_a_program(void **state)
{
    static const simrtKernel kernels[] = {
        {sizeof(simrtKernel), "Add_1", SIMRT_VECTOR, 8, 1, 0},
        {sizeof(simrtKernel), "MatMul_2", SIMRT_CUBE, 20, 1, 0},
        {sizeof(simrtKernel), "AiCpuOp_3", SIMRT_AI_CPU, 1, 1, 0},
        {sizeof(simrtKernel), "Add_4", SIMRT_VECTOR, 8, 1, 0},
    };
    aclprofConfig *config = begin(*state);
    simrtStream stream;

    assert_int_equal(simrtSetDevice(0), SIMRT_OK);
    assert_int_equal(simrtCreateStream(&stream), SIMRT_OK);
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        assert_int_equal(simrtLaunchKernel(stream, &kernels[i], NULL), SIMRT_OK);
    }
    assert_int_equal(simrtSynchronizeStream(stream), SIMRT_OK);
    assert_int_equal(simrtDestroyStream(stream), SIMRT_OK);
    end(config);
}

static const role roles[] = {ROLE(of_devices), ROLE(of_a_program)};

/* ---- tables ---- */

static void table_split(table *t)
{
    char *line = t->text;

    t->rows = 0;
    while (line != NULL && *line != '\0') {
        char *next = strchr(line, '\n');
        uint32_t column = 0;
        bool quoted = false;

        if (next != NULL) {
            *next++ = '\0';
        }
        assert_true(t->rows < ROWS);
        t->cell[t->rows][column++] = line;
        for (char *p = line; *p != '\0'; p++) {
            quoted ^= *p == '"';
            if (*p == ',' && !quoted) {
                *p = '\0';
                assert_true(column < COLUMNS);
                t->cell[t->rows][column++] = p + 1;
            } else if (*p == '\t' || *p == '\r') {
                *p = '\0'; /* behind a time */
                if (p[1] == ',') {
                    assert_true(column < COLUMNS);
                    t->cell[t->rows][column++] = p + 2;
                    p++;
                }
            }
        }
        t->columns = t->rows == 0 ? column : t->columns;
        t->rows++;
        line = next;
    }
}

static const char *cell(const table *t, uint32_t row, const char *heading)
{
    for (uint32_t i = 0; i < t->columns; i++) {
        if (strcmp(t->cell[0][i], heading) == 0) {
            return t->cell[row][i];
        }
    }
    fail_msg("no column %s", heading);
    return NULL;
}

static long double number(const table *t, uint32_t row, const char *heading)
{
    return strtold(cell(t, row, heading), NULL); /* a double has no ns in 2025 */
}

static table *table_read(const char *path)
{
    table *t = calloc(1, sizeof(*t));

    assert_non_null(t);
    t->text = file_text(path);
    if (t->text == NULL) {
        fail_msg("no %s", path);
    }
    table_split(t);
    return t;
}

static void table_free(table *t)
{
    free(t->text);
    free(t);
}

/* Of the vendor's parser: <directory>/exported_py/<name>_<stamp>.csv */
static table *golden_table(const char *root, const char *directory, const char *name)
{
    char path[1024];
    DIR *dir = NULL;
    struct dirent *entry = NULL;
    table *t = NULL;

    snprintf(path, sizeof(path), "%s/%s/exported_py", root, directory);
    dir = opendir(path);
    assert_non_null(dir);
    while (t == NULL && (entry = readdir(dir)) != NULL) {
        if (strncmp(entry->d_name, name, strlen(name)) == 0 && entry->d_name[strlen(name)] == '_' &&
            strstr(entry->d_name, ".csv") != NULL) {
            char *file = below(path, entry->d_name);

            t = table_read(file);
            free(file);
        }
    }
    closedir(dir);
    assert_non_null(t);
    return t;
}

static table *our_table(const char *dir, int (*make)(ap__export *, const ap__model *))
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(dir, &error);
    ap__model model;
    ap__export e;
    char path[5000];

    assert_non_null(reader);
    assert_int_equal(ap__model_load(&model, reader), 0);
    assert_int_equal(ap__export_open(&e, dir, dir), 0);
    assert_int_equal(make(&e, &model), 0);
    assert_int_equal(e.file_count, 1);
    snprintf(path, sizeof(path), "%s/%s", e.dir, e.files[0]);
    ap__export_close(&e);
    ap__model_free(&model);
    ap__reader_close(reader);
    return table_read(path);
}

/* ---- comparing ---- */

static char *simulate(const char *root, const char *role, const char *chip, const char *lines)
{
    char *scenario = NULL;
    char *dir = NULL;
    char options[1024];
    FILE *file = NULL;

    assert_true(asprintf(&scenario, "%s/%s_%s.scenario", root, role, chip) > 0);
    assert_true(asprintf(&dir, "%s/%s_%s", root, role, chip) > 0);
    file = fopen(scenario, "w");
    assert_non_null(file);
    fputs(lines, file);
    assert_int_equal(fclose(file), 0);
    snprintf(options, sizeof(options), "chip=%s,scenario=%s,delay_ms=5,ppm=0,nsppm=0", chip,
             scenario);
    setenv("ACLPROF_SIM", options, 1);
    (void)role_run(role, dir);
    free(scenario);
    return dir;
}

static void near(const char *what, uint32_t row, long double ours, long double theirs)
{
    if (fabsl(ours - theirs) > 0.1L) { /* the counter's own steps are 0.052 us at most */
        fail_msg("row %u: %s is %.3Lf, not %.3Lf", row, what, ours, theirs);
    }
}

/* When and how long, task by task; ids of 32 bits name no stream without a program. */
static void check_task_time(const char *root, const char *chip, const char *directory,
                            bool long_ids)
{
    char *dir = simulate(root, "of_devices", chip, device_lines);
    table *golden = golden_table(root, directory, "task_time");
    table *ours = our_table(dir, ap__csv_task_time);

    assert_int_equal(ours->rows, 1 + 7);
    assert_true(golden->rows >= 1 + 7);
    for (uint32_t r = 1; r <= 7; r++) {
        if (!long_ids) {
            assert_string_equal(cell(ours, r, "stream_id"), cell(golden, r, "stream_id"));
        }
        assert_string_equal(cell(ours, r, "task_id"), cell(golden, r, "task_id"));
        near("task_time(us)", r, number(ours, r, "task_time(us)"),
             number(golden, r, "task_time(us)"));
        near("task_start(us)", r, number(ours, r, "task_start(us)") -
                                      number(ours, 1, "task_start(us)"),
             number(golden, r, "task_start(us)") - number(golden, 1, "task_start(us)"));
    }
    table_free(ours);
    table_free(golden);
    free(dir);
}

/* Which operators, where, on how many blocks and how long. */
static void check_op_summary(const char *root, const char *chip, const char *directory)
{
    static const char *const same[] = {"Op Name", "OP State", "Task Type", "Block Num"};
    char *dir = simulate(root, "of_a_program", chip, kernel_lines);
    table *golden = golden_table(root, directory, "op_summary");
    table *ours = our_table(dir, ap__csv_op_summary);

    assert_int_equal(ours->rows, 1 + 4);
    assert_true(golden->rows >= 1 + 4);
    assert_int_equal(ours->columns, golden->columns);
    for (uint32_t i = 0; i < ours->columns; i++) {
        assert_string_equal(ours->cell[0][i], golden->cell[0][i]);
    }
    for (uint32_t r = 1; r <= 4; r++) {
        for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
            assert_string_equal(cell(ours, r, same[i]), cell(golden, r, same[i]));
        }
        near("Task Duration(us)", r, number(ours, r, "Task Duration(us)"),
             number(golden, r, "Task Duration(us)"));
    }
    table_free(ours);
    table_free(golden);
    free(dir);
}

static void test_as_golden(void **state)
{
    static const struct {
        const char *chip;
        const char *directory;
    } cases[] = {{"910B", "device_910b"}, {"910", "device_910"}, {"950", "device_950"}};
    char command[4096];

    snprintf(command, sizeof(command), "tar -xJf '%s/../data/golden.tar.xz' -C '%s'",
             AP_TEST_SOURCE_DIR, (const char *)*state);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        print_message("%s\n", cases[i].directory);
        check_task_time(*state, cases[i].chip, cases[i].directory, i == 2);
        check_op_summary(*state, cases[i].chip, cases[i].directory);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {SCRATCH_TEST(test_as_golden)};

    setenv("ACLPROF_DRIVER", "sim", 1);
    if (argc > 1) {
        return role_main(roles, sizeof(roles) / sizeof(roles[0]), argv);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
