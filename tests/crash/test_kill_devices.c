/* SPDX-License-Identifier: Apache-2.0 */
/* SIGKILL while devices of every class are captured: recovery cuts what is torn at the size of the
 * records, or at a line's end, and nothing else; the result can be exported. */
#define _GNU_SOURCE
#include "tests/compat/journey.h"

#include <signal.h>

#include "reader/recover.h"
#include "reader/sources.h"

#define MIN_MS 250u

static void set_if_there(aclprofConfigType type, const char *value)
{
    if (aclprofSetConfig(type, value, strlen(value)) != ACL_SUCCESS) {
        assert_non_null(strstr(aclprofGetLastError(), "support")); /* not on this chip */
    }
}

/* Captures whatever the chip has until it is killed. */
static void captured(void **state)
{
    static const uint64_t sets[] = {
        ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS | ACL_PROF_L2CACHE | ACL_PROF_AICPU,
        ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS | ACL_PROF_AICPU,
        ACL_PROF_TASK_TIME,
    };
    uint32_t devices[] = {0, 1};
    aclError code = ACL_ERROR_PROFILING_FAILURE;

    assert_ok(init_at(*state));
    set_if_there(ACL_PROF_SYS_HARDWARE_MEM_FREQ, "100");
    set_if_there(ACL_PROF_SYS_IO_FREQ, "100");
    set_if_there(ACL_PROF_SYS_INTERCONNECTION_FREQ, "50");
    set_if_there(ACL_PROF_DVPP_FREQ, "100");
    assert_ok(set_text(ACL_PROF_HOST_SYS, "cpu,mem,disk,network,osrt"));
    assert_ok(set_text(ACL_PROF_HOST_SYS_USAGE, "cpu,mem"));
    for (size_t i = 0; code != ACL_SUCCESS && i < sizeof(sets) / sizeof(sets[0]); i++) {
        code = aclprofStart(
            aclprofCreateConfig(devices, 2, ACL_AICORE_ARITHMETIC_UTILIZATION, NULL, sets[i]));
    }
    assert_ok(code);
    for (;;) {
        pause();
    }
}

static const role roles[] = {ROLE(captured)};

/* ---- what is there ---- */

typedef struct file {
    char dir[24]; /* "device_0/data" */
    char name[96];
    uint64_t bytes;
    uint32_t record; /* 0: lines */
    bool last;       /* slice of its stream */
} file;

typedef struct files {
    file list[600];
    size_t count;
} files;

static files seen;

/* Noted record sizes by "<name> <bytes>" lines; text of all devices. */
static uint32_t noted(const char *prof, unsigned device, const char *stream)
{
    char path[64];
    char line[128];
    char *text = NULL;
    const char *at = NULL;
    uint32_t bytes = 0;

    snprintf(path, sizeof(path), "host/.aclprof/device_files.%u", device);
    text = file_below(prof, path);
    assert_non_null(text);
    snprintf(line, sizeof(line), "%s ", stream);
    at = strstr(text, line);
    if (at == NULL) {
        fail_msg("%s is not noted", stream);
    }
    bytes = (uint32_t)strtoul(at + strlen(line), NULL, 10);
    free(text);
    return bytes;
}

static void list_dir(const char *prof, const char *dir, int device)
{
    char *path = below(prof, dir);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ap__sources sources;
    ap__notes notes = {0};

    assert_true(fd >= 0);
    assert_int_equal(ap__sources_list(fd, &sources, &notes), 0);
    for (uint32_t i = 0; i < sources.count; i++) {
        const ap__source *s = &sources.list[i];

        if (device < 0 && s->kind != AP_SOURCE_OTHER) {
            continue;
        }
        for (uint32_t k = 0; k < s->slice_count; k++) {
            file *f = &seen.list[seen.count++];

            assert_true(seen.count < sizeof(seen.list) / sizeof(seen.list[0]));
            snprintf(f->dir, sizeof(f->dir), "%s", dir);
            assert_true(ap__source_name_make(f->name, sizeof(f->name), s->name,
                                             s->slices[k].number));
            f->record = device >= 0 ? noted(prof, (unsigned)device, s->name) : 0;
            f->last = k + 1 == s->slice_count;
        }
    }
    ap__sources_free(&sources);
    ap__notes_free(&notes);
    close(fd);
    free(path);
}

static char *path_of(const char *prof, const file *f)
{
    char *path = NULL;

    assert_true(asprintf(&path, "%s/%s/%s", prof, f->dir, f->name) > 0);
    return path;
}

/* Every last slice gets a torn end if it has none, and `bytes` is what must remain. */
static void tear(const char *prof)
{
    for (size_t i = 0; i < seen.count; i++) {
        file *f = &seen.list[i];
        char *path = path_of(prof, f);
        char *text = file_text(path);
        struct stat st;
        int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

        assert_true(fd >= 0 && text != NULL);
        assert_int_equal(fstat(fd, &st), 0);
        f->bytes = (uint64_t)st.st_size;
        if (f->record > 1) {
            f->bytes -= f->bytes % f->record;
        } else if (f->record == 0) {
            const char *newline = strrchr(text, '\n');

            f->bytes = newline != NULL ? (uint64_t)(newline - text) + 1 : 0;
        }
        if (f->last && f->record != 1) {
            assert_int_equal(write(fd, "12", 2), 2);
            assert_int_equal(ftruncate(fd, (off_t)f->bytes + 2), 0); /* torn there already */
        }
        close(fd);
        free(text);
        free(path);
    }
}

static void check_whole(const char *prof)
{
    for (size_t i = 0; i < seen.count; i++) {
        char *path = path_of(prof, &seen.list[i]);
        char *done = NULL;
        struct stat st;

        assert_int_equal(stat(path, &st), 0);
        if ((uint64_t)st.st_size != seen.list[i].bytes) {
            fail_msg("%s: %lld bytes, not %llu", path, (long long)st.st_size,
                     (unsigned long long)seen.list[i].bytes);
        }
        assert_true(asprintf(&done, "%s.done", path) > 0);
        assert_true(there_is(done));
        free(done);
        free(path);
    }
}

static void export_it(const char *prof)
{
    pid_t pid = fork();

    if (pid == 0) {
        hush(STDOUT_FILENO);
        hush(STDERR_FILENO);
        execl(AP_TEST_TOOL, "aclprof", "export", prof, (char *)NULL);
        _exit(126);
    }
    assert_int_equal(process_end(pid), 0);
}

/* ---- one chip ---- */

static bool has_tasks(const char *prof, const char *stream)
{
    char *path = NULL;
    struct stat st;
    bool there = false;

    assert_true(asprintf(&path, "%s/device_1/data/%s.1.slice_0", prof, stream) > 0);
    there = stat(path, &st) == 0 && st.st_size > 0;
    free(path);
    return there;
}

static void kill_and_recover(void **state, const char *chip, const char *tasks)
{
    ap__recover_report *report = malloc(sizeof(*report));
    char *root = below(*state, chip);
    char *prof = NULL;
    char text[128];
    pid_t pid = 0;

    assert_non_null(report);
    snprintf(text, sizeof(text), "chip=%s,devices=2,pattern=flood,delay_ms=1,rate=20000", chip);
    setenv("ACLPROF_SIM", text, 1);
    pid = role_start("captured", root);
    for (unsigned ms = 0; prof == NULL || !has_tasks(prof, tasks); ms += 10) {
        paths found = {0};

        usleep(10000);
        assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
        if (ms > 20000) {
            fail_msg("%s: no %s", chip, tasks);
        }
        if (prof == NULL && there_is(root)) {
            found = prof_paths(root);
            prof = found.count == 1 ? strdup(found.list[0]) : NULL;
            paths_free(&found);
        }
    }
    usleep(MIN_MS * 1000);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(process_end(pid), -1);
    seen.count = 0;
    list_dir(prof, "device_0/data", 0);
    list_dir(prof, "device_1/data", 1);
    list_dir(prof, "host/data", -1);
    assert_true(seen.count >= 8);
    tear(prof);
    assert_int_equal(ap__recover(prof, report), 0);
    assert_int_equal(report->code, AP_RECOVER_DONE);
    ap__recover_report_free(report);
    check_whole(prof);
    assert_int_equal(ap__recover(prof, report), 0);
    assert_int_equal(report->code, AP_RECOVER_NOTHING);
    ap__recover_report_free(report);
    check_whole(prof);
    export_it(prof);
    free(report);
    free(prof);
    free(root);
}

static void test_910b(void **state)
{
    kill_and_recover(state, "910B", "stars_soc.data");
}

static void test_910(void **state)
{
    kill_and_recover(state, "910", "hwts.data");
}

static void test_310p(void **state)
{
    kill_and_recover(state, "310P", "hwts.data");
}

static void test_310(void **state)
{
    kill_and_recover(state, "310", "ts_track.data");
}

static void test_310b(void **state)
{
    kill_and_recover(state, "310B", "stars_soc.data");
}

static void test_950(void **state)
{
    kill_and_recover(state, "950", "stars_soc.data");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(test_910b), SCRATCH_TEST(test_910),  SCRATCH_TEST(test_310p),
        SCRATCH_TEST(test_310),  SCRATCH_TEST(test_310b), SCRATCH_TEST(test_950),
    };

    setenv("ACLPROF_DRIVER", "sim", 1);
    if (argc > 1) {
        return role_main(roles, sizeof(roles) / sizeof(roles[0]), argv);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
